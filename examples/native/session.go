// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package main

// This file holds a conversation with an agent.

import (
	"context"
	"slices"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"
)

// session is a conversation with an agent over several runs.
type session[M adk.MessageType] struct {
	agent   adk.TypedChatModelAgentConfig[M]
	stream  bool
	history []M
}

// say runs the agent on what was said so far and a new text of the user. What the agent
// answers becomes part of the history, unless the run fails.
func (s *session[M]) say(ctx context.Context, text string) ([]M, error) {
	agent, err := adk.NewTypedChatModelAgent(ctx, &s.agent)
	if err != nil {
		return nil, err
	}
	runner := adk.NewTypedRunner(adk.TypedRunnerConfig[M]{Agent: agent, EnableStreaming: s.stream})
	s.history = append(s.history, user[M](text))
	answer, err := collect(runner.Run(ctx, slices.Clone(s.history)))
	if err == nil {
		s.history = append(s.history, answer...)
	}
	return answer, err
}

// collect reads the events of a run to their end.
func collect[M adk.MessageType](events *adk.AsyncIterator[*adk.TypedAgentEvent[M]]) (answer []M, err error) {
	for {
		ev, ok := events.Next()
		if !ok || ev.Err != nil {
			if ok {
				err = ev.Err
			}
			return answer, err
		}
		if ev.Output == nil || ev.Output.MessageOutput == nil {
			continue
		}
		m, err := ev.Output.MessageOutput.GetMessage()
		if err != nil {
			return answer, err
		}
		answer = append(answer, m)
	}
}

// user makes a message of the user.
func user[M adk.MessageType](text string) M {
	var m any = schema.UserMessage(text)
	if _, agentic := any(*new(M)).(*schema.AgenticMessage); agentic {
		m = schema.UserAgenticMessage(text)
	}
	return m.(M)
}
