// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package reduction_test

// Callbacks may write to what they get: it is theirs.

import (
	"context"
	"encoding/json"
	"reflect"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/backend"
	"github.com/einolean/einolean/internal/dev/adktest"
	"github.com/einolean/einolean/reduction"
)

// scribble writes to everything that can be reached from v, in its place.
func scribble(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() && v.Type() != reflect.TypeFor[*schema.ToolSearchResult]() { // of the tools, not of the message
			scribble(v.Elem())
		}
	case reflect.Slice:
		for i := range v.Len() {
			scribble(v.Index(i))
		}
	case reflect.Map:
		for _, k := range v.MapKeys() {
			v.SetMapIndex(k, reflect.ValueOf("scribbled"))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				scribble(v.Field(i))
			}
		}
	case reflect.String:
		v.SetString("scribbled")
	}
}

// everyShape are results of every kind of part, and what else may stand beside them.
func everyShape[M adk.MessageType]() map[string]M {
	s := shapeOf[M]()
	out := resultShapes[M]()
	for _, kind := range []string{"image", "audio", "video", "file"} {
		out[kind] = s.result("call", "shell", text("the whole text"), part{medium: kind})
	}
	switch m := any(out["image"]).(type) {
	case *schema.AgenticMessage:
		c := &m.ContentBlocks[0].FunctionToolResult.Content
		*c = append(*c, nil)
		m.ContentBlocks = append(m.ContentBlocks, nil, schema.NewContentBlock(&schema.UserInputImage{URL: "https://example.com/b.png"}))
	case *schema.Message:
		old := oldResult()
		out["every old part"] = any(old).(M)
	}
	return out
}

// oldResult has every kind of part in the deprecated field, and one that has nothing. It is
// written as histories store it.
func oldResult() *schema.Message {
	m := schema.ToolMessage("", "call", schema.WithToolName("shell"))
	err := json.Unmarshal([]byte(`{"multi_content":[
		{"type":"text","text":"the whole text"},
		{"type":"image_url","image_url":{"url":"https://example.com/a.png","mime_type":"image/png","detail":"high"}},
		{"type":"audio_url","audio_url":{"url":"https://example.com/a.wav","mime_type":"audio/wav"}},
		{"type":"video_url","video_url":{"url":"https://example.com/a.mp4","mime_type":"video/mp4"}},
		{"type":"file_url","file_url":{"url":"https://example.com/a.pdf","mime_type":"application/pdf","name":"a.pdf"}},
		{"type":"image_url"}]}`), m)
	if err != nil {
		panic(err)
	}
	return m
}

//claim:security-53
func TestCallbacksMayWriteToWhatTheyGet(t *testing.T) {
	adktest.EachType(t, scribbling[*schema.Message], scribbling[*schema.AgenticMessage])
}

func scribbling[M adk.MessageType](t *testing.T) {
	for shape, given := range everyShape[M]() {
		called := 0
		write := func(all ...any) {
			called++
			for _, v := range all {
				scribble(reflect.ValueOf(v))
			}
		}
		for what, c := range map[string]*reduction.TypedConfig[M]{
			"ClearHandler": {ToolConfig: map[string]*reduction.ToolReductionConfig{"shell": {
				ClearHandler: func(_ context.Context, d *reduction.ToolDetail) (*reduction.ClearResult, error) {
					write(d)
					return nil, nil
				}}}},
			"GenClearOffloadFilePath": {GenClearOffloadFilePath: func(_ context.Context, d *reduction.ToolDetail) (string, error) {
				write(d)
				return "/tmp/clear/here", nil
			}},
			"ClearMessageRewriter": {ClearMessageRewriter: func(_ context.Context, call M, results []M) ([]M, error) {
				write(call, results)
				return nil, nil
			}},
		} {
			called = 0
			c.Backend, c.SkipTruncation, c.MaxTokensForClear = backend.NewMemory(0), true, 1
			mine := deepCopy(given)
			msgs := append([]M{adktest.User[M]("hello"), adktest.Assistant[M]("", adktest.ToolCall{ID: "call", Name: "shell", Args: `{"a":1}`}), mine}, rounds[M](1, 10)...)
			unchanged := copyAll(msgs)
			before(t, typed(t, c), msgs)
			require.Equal(t, unchanged, msgs, "%s, %s: what was given is unchanged", shape, what)
			require.True(t, called > 0 || what == "GenClearOffloadFilePath", "%s, %s", shape, what)
		}
	}
}

// What a handler returns of a result keeps everything that a tool's result cannot express.
func TestAHandlerKeepsEveryMediumOfAnOldResult(t *testing.T) {
	mw := typed(t, &reduction.Config{Backend: backend.NewMemory(0), MaxTokensForClear: 1, ToolConfig: map[string]*reduction.ToolReductionConfig{"shell": {
		ClearHandler: func(_ context.Context, d *reduction.ToolDetail) (*reduction.ClearResult, error) {
			require.Len(t, d.ToolResult.Parts, 6)
			kinds := []schema.ToolPartType{}
			for _, p := range d.ToolResult.Parts {
				kinds = append(kinds, p.Type)
			}
			require.Equal(t, []schema.ToolPartType{schema.ToolPartTypeText, schema.ToolPartTypeImage, schema.ToolPartTypeAudio, schema.ToolPartTypeVideo, schema.ToolPartTypeFile,
				schema.ToolPartType(schema.ChatMessagePartTypeImageURL)}, kinds)
			d.ToolResult.Parts[0].Text = "short"
			return &reduction.ClearResult{NeedClear: true, ToolResult: &schema.ToolResult{Parts: d.ToolResult.Parts[:5]}}, nil
		}}}})
	msgs := append([]*schema.Message{schema.UserMessage("hello"), adktest.Assistant[*schema.Message]("", adktest.ToolCall{ID: "call", Name: "shell", Args: `{}`}), oldResult()}, rounds[*schema.Message](1, 10)...)
	got := before(t, mw, msgs)[2]
	require.NotContains(t, render(got), `"multi_content"`)
	require.Empty(t, got.Content)
	p := got.UserInputMultiContent
	require.Len(t, p, 5)
	require.Equal(t, "short", p[0].Text)
	require.Equal(t, &schema.MessageInputImage{MessagePartCommon: at("https://example.com/a.png", "image/png"), Detail: schema.ImageURLDetailHigh}, p[1].Image)
	require.Equal(t, &schema.MessageInputAudio{MessagePartCommon: at("https://example.com/a.wav", "audio/wav")}, p[2].Audio)
	require.Equal(t, &schema.MessageInputVideo{MessagePartCommon: at("https://example.com/a.mp4", "video/mp4")}, p[3].Video)
	require.Equal(t, &schema.MessageInputFile{MessagePartCommon: at("https://example.com/a.pdf", "application/pdf"), Name: "a.pdf"}, p[4].File)
	for i, kind := range []schema.ChatMessagePartType{schema.ChatMessagePartTypeText, schema.ChatMessagePartTypeImageURL, schema.ChatMessagePartTypeAudioURL, schema.ChatMessagePartTypeVideoURL, schema.ChatMessagePartTypeFileURL} {
		require.Equal(t, kind, p[i].Type)
	}
}

func at(url, mime string) schema.MessagePartCommon {
	return schema.MessagePartCommon{URL: &url, MIMEType: mime}
}
