// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package continuation

import (
	"context"
	"maps"
	"testing"

	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"
)

// A conversation that the provider stores has no thinking, so only answers with provider state are marked, as stored ones.
func TestGuard_MarksStoredAnswersAsStored(t *testing.T) {
	var marked []Continuation
	guard := Guard[*schema.Message]{
		Key: "k", Mark: func(_ []*schema.Message, state Continuation) string { marked = append(marked, state); return "m" },
		Stale: func([]*schema.Message) func(int, Continuation, string) bool {
			return func(int, Continuation, string) bool { return false }
		},
		Changed: func(context.Context) {},
	}
	stored := &schema.Message{Role: schema.Assistant, Content: "a", Extra: maps.Clone(extras["ark"])}
	history := []*schema.Message{schema.UserMessage("hi"), stored, schema.UserMessage("and?")}
	for _, answer := range []*schema.Message{stored, schema.AssistantMessage("no state", nil)} {
		_, err := guard.Model(&recording{answer: answer}).Generate(t.Context(), history)
		require.NoError(t, err)
	}
	require.Equal(t, []Continuation{StoredWithTools}, marked)
}
