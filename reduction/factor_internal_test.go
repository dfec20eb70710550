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
	require.True(t, isEdited(after))
	require.Equal(t, 1., storedFactor(after))
	require.Empty(t, summary.Extra, "the rewriter's message is not modified")

	after = []*schema.Message{question, marked, summary}
	rememberFactor([]*schema.Message{question, marked, question}, after, 1)
	require.Same(t, summary, after[2], "another mark shows it")
}
