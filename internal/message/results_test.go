// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package message

import (
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"
)

// TestHasResult_AgreesWithParts holds for random messages of both types, and for nil ones.
func TestHasResult_AgreesWithParts(t *testing.T) {
	random(t, testHasResult[*schema.Message], testHasResult[*schema.AgenticMessage])
	testHasResult[*schema.Message](t, nil)
	testHasResult[*schema.AgenticMessage](t, nil)
	testHasResult(t, &schema.AgenticMessage{ContentBlocks: []*schema.ContentBlock{nil}})
}

func testHasResult[M adk.MessageType](t *testing.T, m M) {
	require.Equal(t, len(Results(m)) > 0, HasResult(m))
}

// TestResultText_AgreesWithParts holds for random messages: the result is the only part, and the text its only part.
func TestResultText_AgreesWithParts(t *testing.T) {
	random(t, testResultText[*schema.Message], testResultText[*schema.AgenticMessage])
	testResultText[*schema.Message](t, nil)
	testResultText[*schema.AgenticMessage](t, nil)
	testResultText(t, &schema.AgenticMessage{ContentBlocks: []*schema.ContentBlock{nil}})
	noContent := &schema.FunctionToolResultContentBlock{Type: schema.FunctionToolResultContentBlockTypeText}
	for _, content := range [][]*schema.FunctionToolResultContentBlock{nil, {nil}, {noContent}} {
		block := schema.NewContentBlock(&schema.FunctionToolResult{CallID: "1", Content: content})
		testResultText(t, &schema.AgenticMessage{ContentBlocks: []*schema.ContentBlock{block}})
	}
	for _, text := range []string{"", "text"} {
		for _, m := range []*schema.Message{schema.ToolMessage(text, "1"), schema.UserMessage(text)} {
			testResultText(t, m)
		}
		testResultText(t, New[*schema.AgenticMessage](schema.Tool, NewResult("1", "f", NewText(text))))
		testResultText(t, New[*schema.AgenticMessage](schema.Tool, NewResult("1", "f", NewText(text), NewText(text))))
	}
}

func testResultText[M adk.MessageType](t *testing.T, m M) {
	parts := Parts(m).All()
	var items []Part
	if len(parts) == 1 {
		items = parts[0].Parts().All() // none unless it is a result
	}
	want := ""
	isText := len(items) == 1 && items[0].Kind == Text
	if isText {
		want = items[0].Text()
	}
	text, ok := ResultText(m)
	if !ok && !IsAgentic[M]() { // the text may be in a list
		want, isText = "", false
	}
	require.Equal(t, want, text)
	require.Equal(t, isText, ok)
}
