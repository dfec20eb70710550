// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package einoleantest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean/internal/dev/adktest"
)

// Turn is one answer of a [Model]: text, tool calls, or an error. It is a value; its
// methods return a changed copy.
type Turn struct{ turn adktest.Turn }

// Say is a turn of text. Without a call after it, it ends the run.
func Say(text string) Turn { return Turn{adktest.Say(text)} }

// Call is a turn that calls a tool with JSON arguments. The model makes up the ID of
// the call.
func Call(tool, args string) Turn { return Turn{}.And(tool, args) }

// Fail is a turn that returns an error instead of an answer.
func Fail(err error) Turn { return Turn{adktest.Turn{Err: err}} }

// And returns the turn with one more tool call.
func (t Turn) And(tool, args string) Turn {
	t.turn.Calls = append(slices.Clip(t.turn.Calls), adktest.ToolCall{Name: tool, Args: args})
	return t
}

// WithUsage returns the turn with the usage that the model reports for it.
func (t Turn) WithUsage(u schema.TokenUsage) Turn {
	t.turn.Usage = &u
	return t
}

// BreakAfter returns the turn with a stream that fails with err after that many
// chunks. An answer that is not streamed fails with err as a whole.
func (t Turn) BreakAfter(chunks int, err error) Turn {
	t.turn.Breaks, t.turn.BreakAfter = err, chunks
	return t
}

// Request is one model call's request.
type Request[M adk.MessageType] struct {
	Messages []M                // what the model saw; shared with the agent, so do not change them
	Tools    []*schema.ToolInfo // given with model.WithTools
	Deferred []*schema.ToolInfo // given with model.WithDeferredTools
}

// ToolNames lists the names of Tools, in order.
func (r Request[M]) ToolNames() []string { return adktest.Names(r.Tools) }

// String has a line for each message: its role, its calls and its text.
func (r Request[M]) String() string {
	var b strings.Builder
	for _, m := range r.Messages {
		b.WriteString(adktest.Dump(m))
		b.WriteByte('\n')
	}
	return b.String()
}

// Result is a tool call's result, as the request shows it.
type Result struct {
	// Tool is that of the call.
	Tool string
	// Text is the text of the result, without its media.
	Text string
}

// Results returns the results of tools in the messages, oldest first, as the model saw
// them: cut or cleared.
func (r Request[M]) Results() (all []Result) {
	for _, m := range r.Messages {
		for _, c := range adktest.Results(m) {
			all = append(all, Result{Tool: c.Name, Text: c.Args})
		}
	}
	return all
}

// Model is a chat model without a provider. It streams if the agent asks for a stream,
// and is safe for concurrent use.
type Model[M adk.MessageType] struct {
	respond func(n int, r Request[M]) Turn

	mu       sync.Mutex
	requests []Request[M]
	calls    int // tool calls so far, for their ids
}

// Script returns a model that answers with the turns in order. A request after the
// last turn fails.
func Script[M adk.MessageType](turns ...Turn) *Model[M] {
	return &Model[M]{respond: func(n int, _ Request[M]) Turn {
		if n >= len(turns) {
			return Fail(fmt.Errorf("einoleantest: script exhausted: request %d of %d", n+1, len(turns)))
		}
		return turns[n]
	}}
}

// Respond returns a model that calls answer for each turn, on the goroutine on which
// the agent calls the model.
func Respond[M adk.MessageType](answer func(Request[M]) Turn) *Model[M] {
	return &Model[M]{respond: func(_ int, r Request[M]) Turn { return answer(r) }}
}

// Requests returns the requests so far, oldest first.
func (m *Model[M]) Requests() []Request[M] {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.requests)
}

// Generate answers in one piece.
func (m *Model[M]) Generate(_ context.Context, input []M, opts ...model.Option) (M, error) {
	return adktest.Whole[M](m.next(input, opts))
}

// Stream answers in chunks: a text of more than one character comes in two.
func (m *Model[M]) Stream(_ context.Context, input []M, opts ...model.Option) (*schema.StreamReader[M], error) {
	return adktest.InChunks[M](m.next(input, opts))
}

func (m *Model[M]) next(input []M, opts []model.Option) adktest.Turn {
	r := requestOf(input, opts)
	m.mu.Lock()
	n := len(m.requests)
	m.requests = append(m.requests, r)
	m.mu.Unlock()
	turn := m.respond(n, r).turn
	turn.Calls = slices.Clone(turn.Calls)
	m.mu.Lock()
	defer m.mu.Unlock()
	for i := range turn.Calls {
		m.calls++
		turn.Calls[i].ID = fmt.Sprintf("call_%d", m.calls)
	}
	return turn
}

func requestOf[M adk.MessageType](input []M, opts []model.Option) Request[M] {
	o := model.GetCommonOptions(&model.Options{}, opts...)
	return Request[M]{Messages: slices.Clone(input), Tools: slices.Clone(o.Tools), Deferred: slices.Clone(o.DeferredTools)}
}
