// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package reduction

import (
	"testing"

	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"
)

// A ClearMessageRewriter may remove the messages that showed earlier changes. The history must show that it has changed
// all the same: otherwise the next run decides again, with another factor.
func TestRememberFactor_MarksWhatARewriterLeaves(t *testing.T) {
	marked := schema.AssistantMessage("a call", nil)
	marked.Extra = map[string]any{factorKey: 1.}
	question, summary := schema.UserMessage("question"), schema.AssistantMessage("1 result was read.", nil)

	after := []*schema.Message{question, summary}
	rememberFactor([]*schema.Message{question, marked}, after, 1)
	require.True(t, hasMarks(after))
	require.Equal(t, 1., storedFactor(after))
	require.Empty(t, summary.Extra, "the rewriter's message is not modified")

	after = []*schema.Message{question, marked, summary}
	rememberFactor([]*schema.Message{question, marked, question}, after, 1)
	require.Same(t, summary, after[2], "another mark shows it")
	// The rewriter's message is shorter than what the provider has counted later: the reports no longer show that
	// the factor was 1.
	counted := schema.AssistantMessage("an answer", nil)
	counted.ResponseMeta = &schema.ResponseMeta{Usage: &schema.TokenUsage{PromptTokens: 1000}}
	cleared := schema.AssistantMessage("another call", nil)
	cleared.Extra = map[string]any{"__einolean_reduction__": true}
	after = []*schema.Message{question, summary, counted, cleared}
	require.True(t, hasMarks(after))
	rememberFactor([]*schema.Message{question, marked, counted, cleared}, after, 1)
	require.Equal(t, 1., storedFactor(after))
}
