// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

// Package lab runs an agent of an example over a conversation, records what its
// model was sent, and holds what all the examples print.
package lab

import (
	"context"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/compose"

	"github.com/einolean/einolean/demo/offline"
)

// Demo runs a demo on one of the two message types.
type Demo func(ctx context.Context, screen *Screen, streaming bool) error

// Main parses the command line, with the flags that all demos have, and runs the demo. If it
// fails, the exit code is 1.
func Main(name string, message, agenticMessage Demo) {
	agentic := flag.Bool("agentic", false, "use Eino's AgenticMessage instead of Message")
	streaming := flag.Bool("stream", true, "have the model answer in chunks")
	verbose := flag.Bool("v", false, "show every model call of every question")
	flag.Parse()
	demo := message
	if *agentic {
		demo = agenticMessage
	}
	if err := demo(context.Background(), NewScreen(os.Stdout, *verbose), *streaming); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
		os.Exit(1)
	}
}

// Agent is an agent under observation. It is not safe for concurrent use.
type Agent[M adk.MessageType] struct {
	model  *Recorder[M]
	runner *adk.TypedRunner[M]
}

// New makes an agent by the given function, which gets the model to use.
func New[M adk.MessageType](streaming bool, newAgent func(model.BaseModel[M]) (*adk.TypedChatModelAgent[M], error)) (*Agent[M], error) {
	recorder := &Recorder[M]{BaseModel: offline.New[M]()}
	agent, err := newAgent(recorder)
	if err != nil {
		return nil, err
	}
	return &Agent[M]{recorder, adk.NewTypedRunner(adk.TypedRunnerConfig[M]{Agent: agent, EnableStreaming: streaming})}, nil
}

// PlainAgent makes an agent without middlewares: every tool goes to the model with every
// call, and every result stays in the conversation.
func PlainAgent[M adk.MessageType](ctx context.Context, chat model.BaseModel[M], tools []tool.BaseTool) (*adk.TypedChatModelAgent[M], error) {
	return adk.NewTypedChatModelAgent(ctx, &adk.TypedChatModelAgentConfig[M]{
		Name:        "assistant",
		Description: "answers with the help of tools",
		Instruction: "Use tools for whatever they can do. Say so if there is none.",
		Model:       chat,
		ToolsConfig: adk.ToolsConfig{ToolsNodeConfig: compose.ToolsNodeConfig{Tools: tools}},
	})
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
	said, err := Collect(a.runner.Run(ctx, input))
	if err != nil {
		return Outcome[M]{}, err
	}
	return newOutcome(input, said, a.model.take()), nil
}

// Collect reads the events of a run to their end and returns the run's messages. Results of
// calls that ran at once come in the order in which the tools are ready; here they are in the
// order of the calls. If the run fails, Collect returns what it has read so far.
func Collect[M adk.MessageType](events *adk.AsyncIterator[*adk.TypedAgentEvent[M]]) (said []M, err error) {
	for {
		event, ok := events.Next()
		if !ok {
			return inOrder(said), nil
		}
		if event.Err != nil {
			return said, event.Err
		}
		if event.Output == nil || event.Output.MessageOutput == nil {
			continue
		}
		m, err := event.Output.MessageOutput.GetMessage()
		if err != nil {
			return said, err
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

// Is returns a truth that is known beforehand.
func Is(lines ...string) func() []string { return func() []string { return lines } }

// Holds reports whether an answer has every truth in it. What it only repeats of
// the question does not count.
func (q Question) Holds(answer string) bool {
	answer = strings.ReplaceAll(answer, strings.TrimRight(q.Text, ".?"), "")
	return !slices.ContainsFunc(q.Truth(), func(t string) bool { return !strings.Contains(answer, t) })
}
