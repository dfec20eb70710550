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

func TestViewOf_ReadsCallsAndResults(t *testing.T) {
	t.Run("plain", testViewOf[*schema.Message])
	t.Run("agentic", testViewOf[*schema.AgenticMessage])
}

func testViewOf[M adk.MessageType](t *testing.T) {
	call := message.New[M](schema.Assistant, message.NewCall("1", "shell", "{}"), message.NewCall("2", "read", `{"a":1}`))
	v := ViewOf(Apply(call, Edit{Mark: true}), View{})
	require.True(t, v.processed && v.ours)
	require.Empty(t, v.Results)
	require.Len(t, v.Calls, 2)
	require.Equal(t, []string{"2", "read", `{"a":1}`}, []string{v.Calls[1].ID, v.Calls[1].Name, v.Calls[1].Args})

	result := message.New[M](schema.Tool, message.NewResult("1", "shell", message.NewText("text")))
	v = ViewOf(result, v)
	require.False(t, v.processed || v.ours)
	require.Empty(t, v.Calls)
	require.Len(t, v.Results, 1)
	r := v.Results[0]
	require.Equal(t, "1", r.ID)
	require.Equal(t, []string{"text"}, r.Texts)
	require.False(t, r.ReplacedByHandler || r.IsToolSearch)
	marked := Apply(result, Edit{Results: []Replacement{{Index: r.Index, KeepContent: true, Mark: true}}})
	require.True(t, ViewOf(marked, View{}).Results[0].ReplacedByHandler)

	reference := "<persisted-output>image (9 bytes), saved in full to: /tmp/clear/media-x</persisted-output>"
	medium := message.New[M](schema.Tool, message.NewResult("2", "read", message.NewText(reference)))
	r = ViewOf(medium, View{}).Results[0]
	require.Empty(t, r.Texts)
	require.Equal(t, []string{reference}, r.MediaRefs)

	pairs := Split([]M{call, result})[0].Pairs
	require.True(t, pairs[0].HasResult)
	require.False(t, pairs[1].HasResult)
}

func TestDeepCopy_SharesOnlyForeignValues(t *testing.T) {
	shared := &foreignTool{1}
	result := &schema.ToolResult{Parts: []schema.ToolOutputPart{{
		Type: schema.ToolPartTypeImage, Text: "text", Extra: map[string]any{"foreign": shared},
		Image: &schema.ToolOutputImage{},
	}}}
	next := DeepCopy(result)
	require.Equal(t, result, next)
	next.Parts[0].Text, next.Parts[0].Extra["new"] = "other", 1
	next.Parts[0].Image.MIMEType = "image/png"
	require.Equal(t, "text", result.Parts[0].Text)
	require.Len(t, result.Parts[0].Extra, 1)
	require.Empty(t, result.Parts[0].Image.MIMEType)
	require.Same(t, shared, next.Parts[0].Extra["foreign"])

	found := &schema.ToolSearchResult{}
	require.Same(t, found, DeepCopy(found), "tools that a search has found are shared")
	require.Nil(t, DeepCopy((*schema.Message)(nil)))
}

// foreignTool is of this package, which is not that of messages.
type foreignTool struct{ N int }

func TestDeepCopy_SharesPointersToOtherPackages(t *testing.T) {
	in := &schema.Message{Content: "text"}
	require.NotSame(t, in, DeepCopy(in))
	other := &foreignTool{1}
	require.Same(t, other, DeepCopy(other))
}
