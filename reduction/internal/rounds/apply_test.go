// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package rounds

import (
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/message"
)

// TestApply_KeepsExtraOfOthers: an edit adds its marks to what users and other handlers left in
// messages and results.
func TestApply_KeepsExtraOfOthers(t *testing.T) {
	t.Run("plain", keepsExtra[*schema.Message])
	t.Run("agentic", keepsExtra[*schema.AgenticMessage])
}

func keepsExtra[M adk.MessageType](t *testing.T) {
	extra := func() map[string]any { return map[string]any{"user": "kept", "handler": map[string]any{"a": 1}} }
	result := message.NewResult("c", "tool", message.NewText("long")).WithExtra(extra())
	for name, c := range map[string]struct {
		m     M
		edit  Edit
		marks []string
	}{
		"call": {
			message.New[M](schema.Assistant, message.NewCall("c", "tool", "{}").WithExtra(extra())),
			Edit{Mark: true, Args: map[int]string{0: "short"}}, []string{ProcessedKey, oursKey},
		},
		"result": {
			message.New[M](schema.Tool, result),
			Edit{Mark: true, Results: []Replacement{{Text: "short", Mark: true}}}, []string{ProcessedKey, oursKey},
		},
		"result that stays": {
			message.New[M](schema.Tool, result),
			Edit{Results: []Replacement{{KeepContent: true, Mark: true}}}, nil,
		},
		"nothing": {message.New[M](schema.Assistant, message.NewText("text")), Edit{}, nil},
	} {
		m := message.WithExtra(c.m, extra())
		partExtra := func(m M) map[string]any {
			for p := message.Parts(m); p.Next(); {
				return p.Extra()
			}
			return nil
		}
		part := partExtra(m)
		next := Apply(m, c.edit)
		got := message.Extra(next)
		for _, k := range c.marks {
			require.Equal(t, true, got[k], name)
		}
		if len(c.edit.Results) > 0 && c.edit.Results[0].Mark {
			require.Equal(t, true, partExtra(next)[ProcessedKey], name)
		}
		for k, v := range extra() {
			require.Equal(t, v, got[k], name)
		}
		for k, v := range part {
			require.Equal(t, v, partExtra(next)[k], "%s: the part's %s", name, k)
		}
		require.Equal(t, extra(), message.Extra(m), "%s: the message that it was given changed", name)
	}
}

// TestReplacement_UnknownPartKeepsResult: a message cannot hold such a part.
func TestReplacement_UnknownPartKeepsResult(t *testing.T) {
	items := []message.Part{message.NewText("content")}
	r := Replacement{Parts: []schema.ToolOutputPart{{Type: schema.ToolPartTypeText, Text: "new"}, {Type: "unknown"}}}
	require.Equal(t, items, r.apply(items))
}
