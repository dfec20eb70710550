// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

//lint:file-ignore SA1019 stored histories have parts of the deprecated kind

package message

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"
)

// maker makes random messages. Each text is another one.
type maker struct {
	*rand.Rand
	n int
}

func (r *maker) some(make func()) {
	for range r.IntN(3) {
		make()
	}
}

func (r *maker) text() string {
	r.n++
	return fmt.Sprint("text ", r.n)
}

func (r *maker) common() schema.MessagePartCommon {
	url := "https://" + r.text()
	return schema.MessagePartCommon{URL: &url, MIMEType: "image/png"}
}

func (r *maker) input() []schema.MessageInputPart {
	return []schema.MessageInputPart{
		{Type: schema.ChatMessagePartTypeText, Text: r.text(), Extra: map[string]any{"k": r.text()}},
		{Type: schema.ChatMessagePartTypeImageURL, Image: &schema.MessageInputImage{MessagePartCommon: r.common(), Detail: schema.ImageURLDetailHigh}},
		{Type: schema.ChatMessagePartTypeFileURL, File: &schema.MessageInputFile{MessagePartCommon: r.common(), Name: r.text()}},
		{Type: schema.ChatMessagePartTypeToolSearchResult, ToolSearchResult: &schema.ToolSearchResult{Tools: []*schema.ToolInfo{{Name: r.text()}}}},
	}
}

func (r *maker) plain() *schema.Message {
	m := &schema.Message{Role: schema.User, Extra: map[string]any{"k": r.text()}}
	switch r.IntN(3) {
	case 0:
		m.Role, m.ToolCallID, m.ToolName = schema.Tool, r.text(), r.text()
		if all := r.input(); r.IntN(2) == 0 {
			m.UserInputMultiContent = all[:1+r.IntN(len(all))]
		} else {
			m.Content = r.text()
		}
	case 1:
		m.Role, m.Content, m.ReasoningContent = schema.Assistant, r.text(), r.text()
		r.some(func() {
			m.ToolCalls = append(m.ToolCalls, schema.ToolCall{ID: r.text(), Type: "function", Function: schema.FunctionCall{Name: r.text(), Arguments: "{}"}, Extra: map[string]any{"k": 1}})
		})
		r.some(func() {
			m.AssistantGenMultiContent = append(m.AssistantGenMultiContent, schema.MessageOutputPart{Type: schema.ChatMessagePartTypeText, Text: r.text()},
				schema.MessageOutputPart{Type: schema.ChatMessagePartTypeReasoning, Reasoning: &schema.MessageOutputReasoning{Text: r.text()}},
				schema.MessageOutputPart{Type: schema.ChatMessagePartTypeImageURL, Image: &schema.MessageOutputImage{MessagePartCommon: r.common()}})
		})
	default:
		m.Content = r.text()
		r.some(func() { m.UserInputMultiContent = append(m.UserInputMultiContent, r.input()...) })
		r.some(func() {
			m.MultiContent = append(m.MultiContent, schema.ChatMessagePart{Type: schema.ChatMessagePartTypeText, Text: r.text()},
				schema.ChatMessagePart{Type: schema.ChatMessagePartTypeImageURL, ImageURL: &schema.ChatMessageImageURL{URL: r.text()}})
		})
	}
	return m
}

func (r *maker) block() *schema.ContentBlock {
	content := []*schema.FunctionToolResultContentBlock{
		{Type: schema.FunctionToolResultContentBlockTypeText, Text: &schema.UserInputText{Text: r.text()}, Extra: map[string]any{"k": 1}},
		{Type: schema.FunctionToolResultContentBlockTypeFile, File: &schema.UserInputFile{URL: r.text(), Name: r.text()}},
	}
	all := []*schema.ContentBlock{
		nil,
		{Type: "new"},
		schema.NewContentBlock(&schema.UserInputText{Text: r.text()}),
		schema.NewContentBlock(&schema.AssistantGenText{Text: r.text(), Extension: r.text()}),
		schema.NewContentBlock(&schema.Reasoning{Text: r.text(), Signature: r.text()}),
		schema.NewContentBlock(&schema.UserInputImage{URL: r.text(), Detail: schema.ImageURLDetailLow}),
		schema.NewContentBlock(&schema.FunctionToolCall{CallID: r.text(), Name: r.text(), Arguments: "{}"}),
		schema.NewContentBlock(&schema.FunctionToolResult{CallID: r.text(), Name: r.text(), Content: content[:r.IntN(len(content)+1)]}),
		schema.NewContentBlock(&schema.ToolSearchFunctionToolResult{CallID: r.text(), Name: r.text(), Result: &schema.ToolSearchResult{Tools: []*schema.ToolInfo{{Name: r.text()}}}}),
		schema.NewContentBlock(&schema.ServerToolCall{Name: r.text(), Arguments: r.text()}),
		schema.NewContentBlock(&schema.ServerToolResult{Name: r.text(), Content: map[string]any{"x": r.text()}}),
		schema.NewContentBlock(&schema.MCPToolCall{Name: r.text(), Arguments: "{}"}),
		schema.NewContentBlock(&schema.MCPToolResult{Name: r.text(), Content: r.text()}),
	}
	b := all[r.IntN(len(all))]
	if b != nil && r.IntN(2) == 0 {
		b.Extra, b.StreamingMeta = map[string]any{"k": r.text()}, &schema.StreamingMeta{Index: 3}
	}
	return b
}

func (r *maker) agentic() *schema.AgenticMessage {
	m := &schema.AgenticMessage{Role: schema.AgenticRoleTypeAssistant, ContentBlocks: []*schema.ContentBlock{}, Extra: map[string]any{"k": 1}}
	for range r.IntN(6) {
		m.ContentBlocks = append(m.ContentBlocks, r.block())
	}
	return m
}

// random runs a law for many messages of both types.
func random(t *testing.T, plain func(*testing.T, *schema.Message), agentic func(*testing.T, *schema.AgenticMessage)) {
	r := &maker{Rand: rand.New(rand.NewPCG(1, 2))}
	for range 500 {
		plain(t, r.plain())
		agentic(t, r.agentic())
	}
}

func encoded(t *testing.T, v any) string {
	text, err := json.Marshal(v)
	require.NoError(t, err)
	return string(text)
}

// A message that is built again from its parts, and its results from theirs, is equal.
func TestParts_HoldWholeMessage(t *testing.T) {
	random(t, testPartsHoldWholeMessage[*schema.Message], testPartsHoldWholeMessage[*schema.AgenticMessage])
}

func testPartsHoldWholeMessage[M adk.MessageType](t *testing.T, m M) {
	next := Edit(m, func(p Part) (Part, bool) {
		if p.Kind == Result {
			p = p.With(p.Parts().All()...)
		}
		return p, true
	})
	if IsNil(next) {
		require.False(t, hasContent(Parts(m).All()))
		return
	}
	was, ok := encoded(t, m), encoded(t, next)
	require.JSONEq(t, was, ok)
}

// An edit changes only the parts that it returns, in their places, and never the given message.
func TestEdit_ChangesOnlyReturnedPartsInCopy(t *testing.T) {
	random(t, testEditChangesOnlyReturnedPartsInCopy[*schema.Message],
		testEditChangesOnlyReturnedPartsInCopy[*schema.AgenticMessage])
}

func testEditChangesOnlyReturnedPartsInCopy[M adk.MessageType](t *testing.T, m M) {
	require.True(t, Edit(m, func(p Part) (Part, bool) { return Part{}, false }) == m, "nothing changes")
	before := encoded(t, m)
	for at := range Parts(m).All() {
		i := -1
		next := Edit(m, func(p Part) (Part, bool) {
			i++
			switch p.Kind {
			case Call:
				p = p.WithCall("id", "name", "[]").WithExtra(map[string]any{"new": true})
			case Result:
				p = p.With(NewText("new"))
			case Text, Medium:
				p = p.WithText("new")
			case ServerCall, ServerResult:
				p = p.WithValue(p.Value())
			default:
				return p, false
			}
			return p, i == at
		})
		require.Equal(t, before, encoded(t, m), "the message itself stays")
		was, ok := Parts(m).All(), Parts(next).All()
		require.Len(t, ok, len(was))
		for i := range was {
			switch kind := was[i].Kind; {
			case i != at:
				require.Equal(t, fields(was[i]), fields(ok[i]))
			case kind == Call:
				require.Equal(t, []string{"id", "name", "[]"}, []string{ok[i].ID(), ok[i].Name(), ok[i].Text()})
				require.Equal(t, map[string]any{"new": true}, ok[i].Extra())
			case kind == Result:
				items := ok[i].Parts().All()
				require.Len(t, items, 1)
				require.Equal(t, "new", items[0].Text())
				require.Equal(t, was[i].ID(), ok[i].ID())
			case kind == Text, kind == Medium:
				require.Equal(t, Text, ok[i].Kind)
				require.Equal(t, "new", ok[i].Text())
			}
		}
	}
}

// fields is a part as others see it.
func fields(p Part) []any { return []any{p.Kind, p.ID(), p.Name(), p.Text()} }

// Each method works for each kind of part, also for nil ones.
func TestPart_EveryMethodAnswersForEveryKind(t *testing.T) {
	random(t, testPartEveryMethodAnswersForEveryKind[*schema.Message],
		testPartEveryMethodAnswersForEveryKind[*schema.AgenticMessage])
}

func testPartEveryMethodAnswersForEveryKind[M adk.MessageType](t *testing.T, m M) {
	var ask func(p Part)
	ask = func(p Part) {
		out := p.Output()
		if p.Kind == Text && out.Type == schema.ToolPartTypeText {
			require.Equal(t, p.Text(), out.Text)
		}
		_, _, _, _ = p.MediaType(), p.FoundTools(), p.Extra(), p.Raw()
		if p.Kind != Other && p.Raw() != nil {
			_, isText := p.Raw().(*string)
			_, isMessage := p.Raw().(*schema.Message)
			_, isCall := p.Raw().(*schema.ToolCall)
			require.Equal(t, isText || isMessage || isCall, p.Type() == "", "%#v", p.Raw())
		}
		for item := p.Parts(); item.Next(); {
			ask(item.Part)
		}
	}
	for p := Parts(m); p.Next(); {
		ask(p.Part)
	}
}

// A message that would be empty without the removed parts gets a text, or is nil.
func TestWithout_LeavesNoEmptyMessage(t *testing.T) {
	random(t, testWithoutLeavesNoEmptyMessage[*schema.Message], testWithoutLeavesNoEmptyMessage[*schema.AgenticMessage])
}

func testWithoutLeavesNoEmptyMessage[M adk.MessageType](t *testing.T, m M) {
	before := encoded(t, m)
	left := Without(m, func(p Part) bool { return p.Kind != Reasoning }, "")
	require.True(t, IsNil(left) || !hasContent(Parts(m).All()))
	if Role(m) != schema.Tool {
		left = Without(m, func(p Part) bool { return p.Kind == Text }, "…")
		texts := slices.DeleteFunc(Parts(left).All(), func(p Part) bool { return p.Kind != Text })
		require.LessOrEqual(t, len(texts), 1)
		require.True(t, hasContent(Parts(left).All()))
	}
	require.Equal(t, before, encoded(t, m))
}

func TestNew_MakesSamePartsInBothTypes(t *testing.T) {
	t.Run("plain", testNewMakesSamePartsInBothTypes[*schema.Message])
	t.Run("agentic", testNewMakesSamePartsInBothTypes[*schema.AgenticMessage])
}

func testNewMakesSamePartsInBothTypes[M adk.MessageType](t *testing.T) {
	said := New[M](schema.User, NewText("hi"))
	require.Equal(t, schema.User, Role(said))
	require.Equal(t, [][]any{{Text, "", "", "hi"}}, all(said))
	require.Equal(t, [][]any{{Call, "1", "f", "{}"}}, all(New[M](schema.Assistant, NewCall("1", "f", "{}"))))
	result := New[M](schema.Tool, NewResult("1", "f", NewText("ok")))
	for p := Parts(result); p.Next(); {
		require.Equal(t, []any{Result, "1", "f", ""}, fields(p.Part))
		require.Equal(t, "ok", p.Parts().All()[0].Text())
	}
	require.NotNil(t, Event(result, "f").Output)

	own := Copy(WithExtra(said, map[string]any{"k": 1}))
	maps.Copy(Extra(own), map[string]any{"k": 2})
	require.Empty(t, Extra(said))
	whole, err := Join([]M{New[M](schema.Assistant, NewText("a")), New[M](schema.Assistant, NewText("b"))})
	require.NoError(t, err)
	require.NotEmpty(t, all(whole))

	var none M
	require.Empty(t, all(none))
	require.Empty(t, Role(none))
	require.Nil(t, Extra(none))
	require.Nil(t, Usage(none))
	require.True(t, IsNil(Copy(none)))
	require.False(t, IsFromClaude(none))
	require.True(t, IsNil(Without(none, func(Part) bool { return true }, "…")))
}

func all[M adk.MessageType](m M) (parts [][]any) {
	for p := Parts(m); p.Next(); {
		parts = append(parts, fields(p.Part))
	}
	return parts
}

// A tool's output is the same after it was put into a message and read again.
func TestOutput_IsWhatToolReturned(t *testing.T) {
	t.Run("plain", testOutputIsWhatToolReturned[*schema.Message])
	t.Run("agentic", testOutputIsWhatToolReturned[*schema.AgenticMessage])
}

func testOutputIsWhatToolReturned[M adk.MessageType](t *testing.T) {
	url, data := "https://x", "QUJD"
	common := schema.MessagePartCommon{URL: &url, MIMEType: "a/b"}
	given := []schema.ToolOutputPart{
		{Type: schema.ToolPartTypeText, Text: "hello"},
		{Type: schema.ToolPartTypeImage, Image: &schema.ToolOutputImage{MessagePartCommon: common}},
		{Type: schema.ToolPartTypeAudio, Audio: &schema.ToolOutputAudio{MessagePartCommon: common}},
		{Type: schema.ToolPartTypeVideo, Video: &schema.ToolOutputVideo{MessagePartCommon: common}},
		{Type: schema.ToolPartTypeFile, File: &schema.ToolOutputFile{MessagePartCommon: schema.MessagePartCommon{Base64Data: &data, MIMEType: "a/b"}}},
	}
	var parts []Part
	for _, out := range given {
		p, ok := FromOutput(out)
		require.True(t, ok)
		parts = append(parts, p)
	}
	_, ok := FromOutput(schema.ToolOutputPart{Type: schema.ToolPartTypeImage})
	require.False(t, ok, "there is no image")
	m := New[M](schema.Tool, NewResult("1", "", parts...))
	for p := Parts(m); p.Next(); {
		var got []schema.ToolOutputPart
		for item := p.Parts(); item.Next(); {
			if got = append(got, item.Output()); item.Kind == Medium {
				require.Equal(t, "a/b", item.MediaType())
				require.NotEmpty(t, item.Type())
			}
		}
		require.Equal(t, given, got)
	}
	require.True(t, SameMedium(&given[1], &given[1]))
	require.False(t, SameMedium(&given[1], &given[2]))
}

// The parts of the deprecated field are those of a result if there are no others.
func TestEdit_ReadsMultiContent(t *testing.T) {
	m := &schema.Message{Role: schema.Tool, ToolCallID: "1", MultiContent: []schema.ChatMessagePart{
		{Type: schema.ChatMessagePartTypeText, Text: "one"},
		{Type: schema.ChatMessagePartTypeImageURL, ImageURL: &schema.ChatMessageImageURL{URL: "https://x"}},
		{Type: schema.ChatMessagePartTypeFileURL, FileURL: &schema.ChatMessageFileURL{URL: "https://y", Name: "f"}},
	}}
	next := Edit(m, func(p Part) (Part, bool) {
		items := p.Parts().All()
		require.Len(t, items, 3)
		return p.With(NewText("two"), items[1], items[2]), true
	})
	require.Empty(t, next.MultiContent)
	require.Len(t, next.UserInputMultiContent, 3)
	require.Equal(t, "two", next.UserInputMultiContent[0].Text)
	require.Equal(t, "https://x", *next.UserInputMultiContent[1].Image.URL)
	require.Equal(t, "f", next.UserInputMultiContent[2].File.Name)
	require.Len(t, m.MultiContent, 3)
}
