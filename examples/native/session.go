// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"slices"

	"github.com/cloudwego/eino/adk"

	"github.com/einolean/einolean/demo/lab"
	"github.com/einolean/einolean/demo/offline"
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
	s.history = append(s.history, offline.User[M](text))
	answer, err := lab.Collect(runner.Run(ctx, slices.Clone(s.history)))
	if err == nil {
		s.history = append(s.history, answer...)
	}
	return answer, err
}
