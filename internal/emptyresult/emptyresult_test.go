// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package emptyresult

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/adktest"
	"github.com/einolean/einolean/internal/dev/race"
	"github.com/einolean/einolean/internal/message"
)

const silence = "(no output)"

// outputText is a text part of a tool's result.
func outputText(text string) schema.ToolOutputPart {
	return schema.ToolOutputPart{Type: schema.ToolPartTypeText, Text: text}
}

// textParts are the texts that the property test puts a result together from.
func textParts() []schema.ToolOutputPart {
	return []schema.ToolOutputPart{
		outputText(""), outputText("\n"), outputText(" \n\t\u3000"), outputText("0"), outputText(" a "), outputText("b\n"),
	}
}

// mediaParts are the media beside them.
func mediaParts() []schema.ToolOutputPart {
	url, data := "https://example.com/a.png", "aGk="
	image := func(c schema.MessagePartCommon) schema.ToolOutputPart {
		return schema.ToolOutputPart{Type: schema.ToolPartTypeImage, Image: &schema.ToolOutputImage{MessagePartCommon: c}}
	}
	return []schema.ToolOutputPart{
		image(schema.MessagePartCommon{URL: &url}),
		image(schema.MessagePartCommon{Base64Data: &data, MIMEType: "image/png"}),
		image(schema.MessagePartCommon{Extra: map[string]any{"file_id": "f"}}), // the provider has its bytes
		{Type: schema.ToolPartTypeFile, File: &schema.ToolOutputFile{}},
	}
}

// result is a message with a result of these parts.
func result[M adk.MessageType](id string, parts ...message.Part) M {
	return message.New[M](schema.Tool, message.NewResult(id, "f", append([]message.Part{}, parts...)...))
}

// A result keeps its text, its media and their order. Providers reject blank texts, so none goes out.
func TestFillEmpty_KeepsTextAndMedia(t *testing.T) {
	adktest.EachType(t, keepsTextAndMedia[*schema.Message], keepsTextAndMedia[*schema.AgenticMessage])
}

func keepsTextAndMedia[M adk.MessageType](t *testing.T) {
	seed := rand.Uint64()
	t.Log("seed", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	texts, media := textParts(), mediaParts()
	for range 10_000 {
		var parts []message.Part
		for range r.IntN(6) {
			from := texts
			if r.IntN(4) == 0 {
				from = media
			}
			p, ok := message.FromOutput(from[r.IntN(len(from))])
			require.True(t, ok)
			parts = append(parts, p)
		}
		given := []M{
			adktest.User[M](""), *new(M), adktest.Assistant[M](" ", adktest.ToolCall{ID: "1", Name: "f"}), result[M]("1", parts...),
		}
		before := encode(t, given)
		out := FillEmpty(given)
		require.Equal(t, before, encode(t, given), "inputs are never modified")
		require.Equal(t, before[:3], encode(t, out)[:3], "only results of tools change")
		requireSameContent(t, outputs(given[3]), outputs(out[3]))
		again := FillEmpty(out)
		require.Same(t, &out[0], &again[0], "a second pass changes nothing")
	}
}

// requireSameContent checks the parts of a result in a request against those in the conversation.
func requireSameContent(t *testing.T, given, sent []schema.ToolOutputPart) {
	t.Helper()
	givenText, givenMedia := contentOf(given)
	sentText, sentMedia := contentOf(sent)
	require.Equal(t, givenMedia, sentMedia, "of %q", given)
	switch visible := strings.TrimSpace(givenText) != ""; {
	case visible:
		require.Equal(t, givenText, sentText, "of %q", given)
	case len(givenMedia) > 0:
		require.Empty(t, sentText, "of %q", given)
	default:
		require.Equal(t, silence, sentText, "of %q", given)
	}
	for _, p := range sent {
		require.False(t, p.Type == schema.ToolPartTypeText && strings.TrimSpace(p.Text) == "", "%q has a blank text", sent)
	}
}

// contentOf returns the concatenated text of parts, and the media.
func contentOf(parts []schema.ToolOutputPart) (text string, media []schema.ToolOutputPart) {
	for _, p := range parts {
		if p.Type == schema.ToolPartTypeText {
			text += p.Text
			continue
		}
		media = append(media, p)
	}
	return text, media
}

// Texts between which white space stands stay apart, and each keeps its Extra.
func TestFillEmpty_JoinsBlankTextToNeighbor(t *testing.T) {
	adktest.EachType(t, joinsBlankText[*schema.Message], joinsBlankText[*schema.AgenticMessage])
}

func joinsBlankText[M adk.MessageType](t *testing.T) {
	image := mediaParts()[0]
	withExtra := outputText("45")
	withExtra.Extra = map[string]any{"k": "v"}
	joined := withExtra
	joined.Text = "45 \n"
	for _, c := range []struct{ given, want []schema.ToolOutputPart }{
		{[]schema.ToolOutputPart{outputText("3"), outputText("\n"), outputText("45")}, []schema.ToolOutputPart{outputText("3\n"), outputText("45")}},
		{[]schema.ToolOutputPart{outputText("\n"), outputText(" "), outputText("3")}, []schema.ToolOutputPart{outputText("\n 3")}},
		{[]schema.ToolOutputPart{outputText("3"), withExtra, outputText(" "), outputText("\n")}, []schema.ToolOutputPart{outputText("3"), joined}},
		{[]schema.ToolOutputPart{outputText("3"), image, outputText("\n"), outputText("4")}, []schema.ToolOutputPart{outputText("3\n"), image, outputText("4")}},
		{[]schema.ToolOutputPart{outputText("\n"), image, outputText("4")}, []schema.ToolOutputPart{image, outputText("\n4")}},
		{[]schema.ToolOutputPart{outputText("\n"), image, outputText(" ")}, []schema.ToolOutputPart{image}},
	} {
		var parts []message.Part
		for _, each := range c.given {
			p, ok := message.FromOutput(each)
			require.True(t, ok)
			parts = append(parts, p)
		}
		require.Equal(t, c.want, outputs(FillEmpty([]M{result[M]("1", parts...)})[0]), "of %q", c.given)
	}
}

func encode[M any](t *testing.T, msgs []M) (out []string) {
	for _, m := range msgs {
		text, err := json.Marshal(m)
		require.NoError(t, err)
		out = append(out, string(text))
	}
	return out
}

// outputs are the parts of a result as tools return them.
func outputs[M adk.MessageType](m M) (out []schema.ToolOutputPart) {
	c := message.Parts(m)
	c.Next()
	for _, p := range c.Part.Parts().All() {
		out = append(out, p.Output())
	}
	return out
}

// Everything else of a message stays with it.
func TestFillEmpty_KeepsCallID(t *testing.T) {
	plain := &schema.Message{Role: schema.Tool, ToolCallID: "1", ToolName: "f", Name: "n", Extra: map[string]any{"k": "v"}}
	out := FillEmpty([]*schema.Message{plain})
	want := *plain
	want.Content = silence
	require.Equal(t, &want, out[0])

	block := schema.NewContentBlock(&schema.FunctionToolResult{CallID: "1", Name: "f", Content: []*schema.FunctionToolResultContentBlock{nil}})
	block.Extra = map[string]any{"k": "v"}
	beside := schema.NewContentBlock(&schema.UserInputText{Text: ""})
	agentic := FillEmpty([]*schema.AgenticMessage{{Role: schema.AgenticRoleTypeUser, ContentBlocks: []*schema.ContentBlock{beside, block, nil}}})[0]
	require.Same(t, beside, agentic.ContentBlocks[0])
	require.Nil(t, agentic.ContentBlocks[2])
	got := agentic.ContentBlocks[1]
	require.Equal(t, block.Extra, got.Extra)
	require.Equal(t, "1", got.FunctionToolResult.CallID)
	require.Equal(t, "f", got.FunctionToolResult.Name)
	require.Equal(t, silence, got.FunctionToolResult.Content[0].Text.Text)
	require.Equal(t, []*schema.FunctionToolResultContentBlock{nil}, block.FunctionToolResult.Content)
}

// A search that found no tools is answered in the provider's own form.
func TestFillEmpty_KeepsSearchResults(t *testing.T) {
	found := schema.NewContentBlock(&schema.ToolSearchFunctionToolResult{CallID: "1", Result: &schema.ToolSearchResult{}})
	given := []*schema.AgenticMessage{{Role: schema.AgenticRoleTypeUser, ContentBlocks: []*schema.ContentBlock{found}}}
	out := FillEmpty(given)
	require.Same(t, &given[0], &out[0])
	plain := []*schema.Message{{Role: schema.Tool, ToolCallID: "1", UserInputMultiContent: []schema.MessageInputPart{{Type: schema.ChatMessagePartTypeToolSearchResult, ToolSearchResult: &schema.ToolSearchResult{}}}}}
	said := FillEmpty(plain)
	require.Same(t, &plain[0], &said[0])
}

// TestFillEmpty_AllocatesNothingForFullResults, however long the history is: it runs before every model call.
func TestFillEmpty_AllocatesNothingForFullResults(t *testing.T) {
	adktest.EachType(t, testAllocatesNothing[*schema.Message], testAllocatesNothing[*schema.AgenticMessage])
}

func testAllocatesNothing[M adk.MessageType](t *testing.T) {
	msgs := fullHistory[M](1000)
	require.Zero(t, race.Allocations(10, func() { FillEmpty(msgs) }))
}

// TestModel_FillsResultThatBecomesEmpty: a handler may edit a message in place that an earlier request had.
func TestModel_FillsResultThatBecomesEmpty(t *testing.T) {
	plain := fullHistory[*schema.Message](9)
	testBecomesEmpty(t, plain, func() { plain[2].Content = " \n" })
	agentic := fullHistory[*schema.AgenticMessage](9)
	testBecomesEmpty(t, agentic, func() { agentic[2].ContentBlocks[0].FunctionToolResult.Content[0].Text.Text = " \n" })
	agentic = fullHistory[*schema.AgenticMessage](9)
	testBecomesEmpty(t, agentic, func() { agentic[2].ContentBlocks[0].FunctionToolResult.Content = nil })
}

func testBecomesEmpty[M adk.MessageType](t *testing.T, msgs []M, edit func()) {
	m := adktest.Script[M](adktest.Say("one"), adktest.Say("two"))
	wrapped := Model[M](m)
	_, err := wrapped.Generate(t.Context(), msgs)
	require.NoError(t, err)
	edit()
	_, err = wrapped.Generate(t.Context(), msgs)
	require.NoError(t, err)
	require.NotEqual(t, silence, adktest.Text(m.Wires()[0].Messages[2]))
	require.Equal(t, silence, adktest.Text(m.Wires()[1].Messages[2]))
}

// fullHistory is n messages, of which every third is the result of a tool, and none is empty.
func fullHistory[M adk.MessageType](n int) (msgs []M) {
	for i := range n {
		id := fmt.Sprint("call", i/3)
		switch i % 3 {
		case 0:
			msgs = append(msgs, adktest.User[M]("please"))
		case 1:
			msgs = append(msgs, adktest.Assistant[M]("I will call it.", adktest.ToolCall{ID: id, Name: "f", Args: "{}"}))
		default:
			msgs = append(msgs, adktest.Result[M](id, "f", "a result of some length, as tools return it"))
		}
	}
	return msgs
}

func BenchmarkFillEmpty(b *testing.B) {
	for _, n := range []int{100, 1_000, 10_000} {
		b.Run(fmt.Sprintf("Message/messages=%d", n), func(b *testing.B) { benchFillEmpty(b, fullHistory[*schema.Message](n)) })
		b.Run(fmt.Sprintf("AgenticMessage/messages=%d", n), func(b *testing.B) {
			benchFillEmpty(b, fullHistory[*schema.AgenticMessage](n))
		})
	}
}

func benchFillEmpty[M adk.MessageType](b *testing.B, msgs []M) {
	b.ReportAllocs()
	for b.Loop() {
		FillEmpty(msgs)
	}
}

func TestFillEmpty_UsesEinoLanguage(t *testing.T) {
	given := []*schema.Message{{Role: schema.Tool, ToolCallID: "1"}}
	require.NoError(t, adk.SetLanguage(adk.LanguageChinese))
	defer func() { require.NoError(t, adk.SetLanguage(adk.LanguageEnglish)) }()
	require.Equal(t, "（无输出）", FillEmpty(given)[0].Content)
	require.Empty(t, given[0].Content)
}

func TestEnsureChunk_StreamHasChunkOrError(t *testing.T) {
	boom := errors.New("boom")
	failing := func() *schema.StreamReader[string] {
		r, w := schema.Pipe[string](1)
		w.Send("", boom)
		w.Close()
		return r
	}
	merged := func(parts ...[]string) *schema.StreamReader[string] {
		all := map[string]*schema.StreamReader[string]{}
		for i, p := range parts {
			all[string(rune('a'+i))] = schema.StreamReaderFromArray(p)
		}
		return schema.MergeNamedStreamReaders(all)
	}
	for name, c := range map[string]struct {
		src  *schema.StreamReader[string]
		want []string
		err  error
	}{
		"without a chunk":                {schema.StreamReaderFromArray[string](nil), []string{""}, nil},
		"with chunks":                    {schema.StreamReaderFromArray([]string{"a", "b"}), []string{"a", "b"}, nil},
		"with an empty chunk":            {schema.StreamReaderFromArray([]string{""}), []string{""}, nil},
		"with an error":                  {failing(), nil, boom},
		"merged of nothing":              {merged(nil, nil), nil, nil},
		"merged of nothing and one more": {merged(nil, []string{"a"}), []string{"a"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			call := EnsureChunk(func(context.Context, string, ...tool.Option) (*schema.StreamReader[string], error) { return c.src, nil })
			out, err := call(t.Context(), "{}")
			require.NoError(t, err)
			out.SetAutomaticClose()
			got, err := read(out)
			require.Equal(t, c.want, got)
			require.ErrorIs(t, err, c.err)
			out.Close()
		})
	}
	adktest.Finalize()
	none := EnsureChunk(func(context.Context, string, ...tool.Option) (*schema.StreamReader[string], error) { return nil, boom })
	out, err := none(t.Context(), "{}")
	require.Nil(t, out)
	require.ErrorIs(t, err, boom)
	enhanced := EnsureChunk(func(context.Context, *schema.ToolArgument, ...tool.Option) (*schema.StreamReader[*schema.ToolResult], error) {
		return schema.StreamReaderFromArray[*schema.ToolResult](nil), nil
	})
	parts, err := enhanced(t.Context(), nil)
	require.NoError(t, err)
	got, err := read(parts)
	require.NoError(t, err)
	require.Equal(t, []*schema.ToolResult{{}}, got)
}

// read reads a stream to its end, without the ends of its sources.
func read[T any](s *schema.StreamReader[T]) (all []T, failed error) {
	for {
		chunk, err := s.Recv()
		if _, isEnd := schema.GetSourceName(err); isEnd {
			continue
		}
		if errors.Is(err, io.EOF) {
			return all, failed
		}
		if err != nil {
			return all, err
		}
		all = append(all, chunk)
	}
}

// The model's error and its answer pass.
func TestModel_PassesAnswersThrough(t *testing.T) {
	adktest.EachType(t, passes[*schema.Message], passes[*schema.AgenticMessage])
}

func passes[M adk.MessageType](t *testing.T) {
	boom := errors.New("boom")
	given := []M{adktest.User[M]("hi"), result[M]("1")}
	m := adktest.Script[M](adktest.Say("one"), adktest.Say("two"), adktest.Turn{Err: boom}, adktest.Turn{Err: boom})
	wrapped := Model[M](m)
	out, err := wrapped.Generate(t.Context(), given)
	require.NoError(t, err)
	require.Equal(t, "one", adktest.Text(out))
	stream, err := wrapped.Stream(t.Context(), given, model.WithTools([]*schema.ToolInfo{{Name: "f"}}))
	require.NoError(t, err)
	chunks, err := read(stream)
	require.NoError(t, err)
	whole, err := adktest.Join(chunks)
	require.NoError(t, err)
	require.Equal(t, "two", adktest.Text(whole))
	_, err = wrapped.Generate(t.Context(), given)
	require.ErrorIs(t, err, boom)
	_, err = wrapped.Stream(t.Context(), given)
	require.ErrorIs(t, err, boom)
	for _, w := range m.Wires() {
		require.Equal(t, silence, adktest.Text(w.Messages[1]))
	}
	require.Equal(t, []string{"f"}, m.Wires()[1].ToolNames, "options pass")
}
