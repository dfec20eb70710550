// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package main

// This file runs an agent and records what its model was sent.

import (
	"context"
	"os"
	"slices"
	"sync"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"

	"github.com/leanctx/leanctx/examples/offline"
)

type makeRunner[M adk.MessageType] func(context.Context, model.BaseModel[M], []tool.BaseTool, bool) (*adk.TypedRunner[M], error)

// lab is an agent with a folder of its own.
type lab[M adk.MessageType] struct {
	root   string
	tools  int // in its library
	model  *recorder[M]
	runner *adk.TypedRunner[M]
}

func (l *lab[M]) close() { _ = os.RemoveAll(l.root) }

// wire is what one model call cost, in tokens.
type wire struct{ tools, definitions, text int }

func (w wire) total() int { return w.definitions + w.text }

// recorder measures each request before it passes it on.
type recorder[M adk.MessageType] struct {
	model.BaseModel[M]
	mu    sync.Mutex
	wires []wire
}

// Generate records and passes on.
func (r *recorder[M]) Generate(ctx context.Context, input []M, opts ...model.Option) (M, error) {
	r.record(input, opts)
	return r.BaseModel.Generate(ctx, input, opts...)
}

// Stream records and passes on.
func (r *recorder[M]) Stream(ctx context.Context, input []M, opts ...model.Option) (*schema.StreamReader[M], error) {
	r.record(input, opts)
	return r.BaseModel.Stream(ctx, input, opts...)
}

func (r *recorder[M]) record(input []M, opts []model.Option) {
	tools := model.GetCommonOptions(&model.Options{}, opts...).Tools
	text, definitions := offline.Cost(input, tools)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.wires = append(r.wires, wire{len(tools), definitions, text})
}

// take returns what was recorded since the last time.
func (r *recorder[M]) take() []wire {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := r.wires
	r.wires = nil
	return out
}

// outcome is what one run did.
type outcome[M adk.MessageType] struct {
	messages []M            // the history with the run's own messages
	turns    []offline.Turn // the run's own messages
	wires    []wire         // one for each model call
}

func newOutcome[M adk.MessageType](input, said []M, wires []wire) outcome[M] {
	o := outcome[M]{messages: append(input, said...), wires: wires}
	for _, m := range said {
		o.turns = append(o.turns, offline.Read(m))
	}
	return o
}

// answer is what the agent said last.
func (o outcome[M]) answer() string {
	if len(o.turns) == 0 {
		return ""
	}
	return o.turns[len(o.turns)-1].Text
}

// inOrder puts the results of calls that ran at once into the order of the calls.
func inOrder[M adk.MessageType](messages []M) []M {
	place := map[string]int{} // of a call
	key := func(i int) int {
		t := offline.Read(messages[i])
		for n, c := range t.Calls {
			place[c.ID] = 1000*i + n + 1
		}
		if len(t.Results) > 0 {
			return place[t.Results[0].ID]
		}
		return 1000 * i
	}
	keys := map[any]int{}
	for i, m := range messages {
		keys[m] = key(i)
	}
	slices.SortStableFunc(messages, func(a, b M) int { return keys[a] - keys[b] })
	return messages
}

// ask runs the agent on a history and a new request.
func (l *lab[M]) ask(ctx context.Context, history []M, request string) (outcome[M], error) {
	input := append(slices.Clone(history), offline.User[M](request))
	events := l.runner.Run(ctx, input)
	var said []M
	for {
		event, ok := events.Next()
		if !ok {
			return newOutcome(input, inOrder(said), l.model.take()), nil
		}
		if event.Err != nil {
			return outcome[M]{}, event.Err
		}
		if event.Output == nil || event.Output.MessageOutput == nil {
			continue
		}
		m, err := event.Output.MessageOutput.GetMessage()
		if err != nil {
			return outcome[M]{}, err
		}
		said = append(said, m)
	}
}
