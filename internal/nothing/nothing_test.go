// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package nothing

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/adktest"
	"github.com/einolean/einolean/internal/message"
)

const silence = "(no output)"

// piece is a part of a result, and what should go out of it.
type piece struct {
	output schema.ToolOutputPart
	stays  bool
}

func pieces() []piece {
	url, data := "https://example.com/a.png", "aGk="
	text := func(s string) schema.ToolOutputPart {
		return schema.ToolOutputPart{Type: schema.ToolPartTypeText, Text: s}
	}
	image := func(c schema.MessagePartCommon) schema.ToolOutputPart {
		return schema.ToolOutputPart{Type: schema.ToolPartTypeImage, Image: &schema.ToolOutputImage{MessagePartCommon: c}}
	}
	return []piece{
		{text(""), false}, {text(" \n\t\u3000"), false}, {text("0"), true}, {text(" a "), true},
		{image(schema.MessagePartCommon{URL: &url}), true},
		{image(schema.MessagePartCommon{Base64Data: &data, MIMEType: "image/png"}), true},
		{image(schema.MessagePartCommon{Extra: map[string]any{"file_id": "f"}}), true}, // the provider has its bytes
		{schema.ToolOutputPart{Type: schema.ToolPartTypeFile, File: &schema.ToolOutputFile{}}, true},
	}
}

// result is a message with a result of these parts.
func result[M adk.MessageType](id string, parts ...message.Part) M {
	return message.New[M](schema.Tool, message.NewResult(id, "f", append([]message.Part{}, parts...)...))
}

// Of any conversation, what says something goes out as it is, and nothing that is empty does.
func TestOnlyWhatSaysSomethingGoesOut(t *testing.T) {
	adktest.EachType(t, onlySomething[*schema.Message], onlySomething[*schema.AgenticMessage])
}

func onlySomething[M adk.MessageType](t *testing.T) {
	seed := rand.Uint64()
	t.Log("seed", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	of := pieces()
	for range 10_000 {
		var parts, want []message.Part
		for range r.IntN(4) {
			each := of[r.IntN(len(of))]
			p, ok := message.FromOutput(each.output)
			require.True(t, ok)
			parts = append(parts, p)
			if each.stays {
				want = append(want, p)
			}
		}
		if len(want) == 0 {
			want = []message.Part{message.NewText(silence)}
		}
		given := []M{
			adktest.User[M](""), *new(M), adktest.Assistant[M](" ", adktest.ToolCall{ID: "1", Name: "f"}), result[M]("1", parts...),
		}
		before := encode(t, given)
		out := Said(given)
		require.Equal(t, before, encode(t, given), "what is handed in never changes")
		require.Equal(t, before[:3], encode(t, out)[:3], "only results of tools are looked at")
		require.Equal(t, outputs(result[M]("1", want...)), outputs(out[3]))
		again := Said(out)
		require.Same(t, &out[0], &again[0], "a second handler has nothing to say")
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
func TestAnEmptyResultKeepsItsCall(t *testing.T) {
	plain := &schema.Message{Role: schema.Tool, ToolCallID: "1", ToolName: "f", Name: "n", Extra: map[string]any{"k": "v"}}
	out := Said([]*schema.Message{plain})
	want := *plain
	want.Content = silence
	require.Equal(t, &want, out[0])

	block := schema.NewContentBlock(&schema.FunctionToolResult{CallID: "1", Name: "f", Content: []*schema.FunctionToolResultContentBlock{nil}})
	block.Extra = map[string]any{"k": "v"}
	beside := schema.NewContentBlock(&schema.UserInputText{Text: ""})
	agentic := Said([]*schema.AgenticMessage{{Role: schema.AgenticRoleTypeUser, ContentBlocks: []*schema.ContentBlock{beside, block, nil}}})[0]
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
func TestFoundToolsAreNotNothing(t *testing.T) {
	found := schema.NewContentBlock(&schema.ToolSearchFunctionToolResult{CallID: "1", Result: &schema.ToolSearchResult{}})
	given := []*schema.AgenticMessage{{Role: schema.AgenticRoleTypeUser, ContentBlocks: []*schema.ContentBlock{found}}}
	out := Said(given)
	require.Same(t, &given[0], &out[0])
	plain := []*schema.Message{{Role: schema.Tool, ToolCallID: "1", UserInputMultiContent: []schema.MessageInputPart{{Type: schema.ChatMessagePartTypeToolSearchResult, ToolSearchResult: &schema.ToolSearchResult{}}}}}
	said := Said(plain)
	require.Same(t, &plain[0], &said[0])
}

func TestTheWordsAreInTheLanguageOfTheModel(t *testing.T) {
	given := []*schema.Message{{Role: schema.Tool, ToolCallID: "1"}}
	require.NoError(t, adk.SetLanguage(adk.LanguageChinese))
	defer func() { require.NoError(t, adk.SetLanguage(adk.LanguageEnglish)) }()
	require.Equal(t, "（无输出）", Said(given)[0].Content)
	require.Empty(t, given[0].Content)
}

func TestAStreamHasAChunkOrAnError(t *testing.T) {
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
			call := Streamed(func(context.Context, string, ...tool.Option) (*schema.StreamReader[string], error) { return c.src, nil })
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
	none := Streamed(func(context.Context, string, ...tool.Option) (*schema.StreamReader[string], error) { return nil, boom })
	out, err := none(t.Context(), "{}")
	require.Nil(t, out)
	require.ErrorIs(t, err, boom)
	enhanced := Streamed(func(context.Context, *schema.ToolArgument, ...tool.Option) (*schema.StreamReader[*schema.ToolResult], error) {
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
func TestAModelThatReadsNothingAnswersAsEver(t *testing.T) {
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
