// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

// Package lab runs an agent of an example over a conversation, records what its
// model was sent, and holds what all the examples print.
package lab

// This file reads the command line and runs agents.

import (
	"context"
	"flag"
	"slices"
	"strings"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/model"

	"github.com/leanctx/leanctx/examples/offline"
)

// Flags parses the command line of a demo, with the flags that all of them have.
func Flags() (agentic, streaming, verbose bool) {
	flag.BoolVar(&agentic, "agentic", false, "use Eino's AgenticMessage instead of Message")
	flag.BoolVar(&streaming, "stream", true, "have the model answer in chunks")
	flag.BoolVar(&verbose, "v", false, "show every model call of every question")
	flag.Parse()
	return agentic, streaming, verbose
}

// Agent is an agent under observation. It is not safe for concurrent use.
type Agent[M adk.MessageType] struct {
	model  *Recorder[M]
	runner *adk.TypedRunner[M]
}

// New makes an agent by the given function, which gets the model to use.
func New[M adk.MessageType](streaming bool, newAgent func(model.BaseModel[M]) (*adk.TypedChatModelAgent[M], error)) (*Agent[M], error) {
	return Watch(func(chat model.BaseModel[M]) (*adk.TypedRunner[M], error) {
		agent, err := newAgent(chat)
		if err != nil {
			return nil, err
		}
		return adk.NewTypedRunner(adk.TypedRunnerConfig[M]{Agent: agent, EnableStreaming: streaming}), nil
	})
}

// Watch is New for a function that makes the whole runner.
func Watch[M adk.MessageType](newRunner func(model.BaseModel[M]) (*adk.TypedRunner[M], error)) (*Agent[M], error) {
	recorder := &Recorder[M]{BaseModel: offline.New[M]()}
	runner, err := newRunner(recorder)
	if err != nil {
		return nil, err
	}
	return &Agent[M]{recorder, runner}, nil
}

// BeforeCalls has a function called before each model call. It must be set before
// the first run.
func (a *Agent[M]) BeforeCalls(call func()) { a.model.before = call }

// Outcome is what one run did.
type Outcome[M adk.MessageType] struct {
	Messages []M            // the history with the run's own messages
	Turns    []offline.Turn // the run's own messages
	Requests []Request[M]   // one for each model call
}

// Answer is what the agent said last.
func (o Outcome[M]) Answer() string {
	if len(o.Turns) == 0 {
		return ""
	}
	return o.Turns[len(o.Turns)-1].Text
}

// Ask runs the agent on a history and a new request. The history stays as it was.
func (a *Agent[M]) Ask(ctx context.Context, history []M, request string) (Outcome[M], error) {
	input := append(slices.Clone(history), offline.User[M](request))
	events := a.runner.Run(ctx, input)
	var said []M
	for {
		event, ok := events.Next()
		if !ok {
			return newOutcome(input, inOrder(said), a.model.take()), nil
		}
		if event.Err != nil {
			return Outcome[M]{}, event.Err
		}
		if event.Output == nil || event.Output.MessageOutput == nil {
			continue
		}
		m, err := event.Output.MessageOutput.GetMessage()
		if err != nil {
			return Outcome[M]{}, err
		}
		said = append(said, m)
	}
}

func newOutcome[M adk.MessageType](input, said []M, requests []Request[M]) Outcome[M] {
	o := Outcome[M]{Messages: append(input, said...), Requests: requests}
	for _, m := range said {
		o.Turns = append(o.Turns, offline.Read(m))
	}
	return o
}

// inOrder puts the results of calls that ran at once into the order of the calls.
func inOrder[M adk.MessageType](messages []M) []M {
	rank := map[string]int{} // of each call
	for _, m := range messages {
		for _, c := range offline.Read(m).Calls {
			rank[c.ID] = len(rank)
		}
	}
	first := func(m M) (int, bool) {
		results := offline.Read(m).Results
		if len(results) == 0 {
			return 0, false
		}
		return rank[results[0].ID], true
	}
	for from := 0; from < len(messages); from++ {
		to := from
		for ; to < len(messages); to++ {
			if _, ok := first(messages[to]); !ok {
				break
			}
		}
		slices.SortStableFunc(messages[from:to], func(a, b M) int {
			left, _ := first(a)
			right, _ := first(b)
			return left - right
		})
		from = to
	}
	return messages
}

// Question is one request of a conversation.
type Question struct {
	Text  string
	Truth func() []string // what the answer must hold
}

// Holds tells whether an answer has every truth in it. What it only repeats of
// the question does not count.
func (q Question) Holds(answer string) bool {
	answer = strings.ReplaceAll(answer, strings.TrimRight(q.Text, ".?"), "")
	return !slices.ContainsFunc(q.Truth(), func(t string) bool { return !strings.Contains(answer, t) })
}
