// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package reduction_test

// TruncHandler and ClearHandler, and errors of the user's callbacks.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean"
	"github.com/einolean/einolean/internal/backend"
	"github.com/einolean/einolean/internal/dev/adktest"
	"github.com/einolean/einolean/reduction"
)

func TestClearHandler_AskedOncePerResult(t *testing.T) {
	adktest.EachType(t, testClearHandlerAskedOncePerResult[*schema.Message], testClearHandlerAskedOncePerResult[*schema.AgenticMessage])
}

func testClearHandlerAskedOncePerResult[M adk.MessageType](t *testing.T) {
	store := backend.NewMemory(0)
	asked := map[string]int{}
	mw := typed(t, &reduction.TypedConfig[M]{Backend: store, MaxTokensForClear: 1, ToolConfig: map[string]*reduction.ToolReductionConfig{"shell": {
		ClearHandler: func(_ context.Context, d *reduction.ToolDetail) (*reduction.ClearResult, error) {
			asked[d.ToolContext.CallID]++
			return &reduction.ClearResult{NeedClear: true, ToolArgument: &schema.ToolArgument{Text: `{"gone":true}`}, ToolResult: resultOf("see /mine/" + d.ToolContext.CallID),
				NeedOffload: true, OffloadFilePath: "/mine/" + d.ToolContext.CallID, OffloadContent: d.ToolArgument.Text + textsIn(d.ToolResult)}, nil
		},
	}}})
	msgs := rounds[M](3, 900)
	given := copyAll(msgs)
	out := msgs
	for range 3 {
		out = before(t, mw, out)
		out = resumed(t, out)
	}
	require.Equal(t, given, msgs)
	require.Equal(t, map[string]int{"call_0": 1, "call_1": 1}, asked)
	require.Equal(t, `{"gone":true}`, adktest.Calls(out[1])[0].Args)
	require.Equal(t, "see /mine/call_0", adktest.Text(out[2]))
	require.Equal(t, `{}`+adktest.Text(given[2]), stored(t, store, "/mine/call_0"))
	require.Equal(t, true, adktest.Extra(out[1])[processedKey])

	// What Eino's package has marked is not asked about: it may be done already.
	asked = map[string]int{}
	for i := 1; i < len(msgs); i += 2 {
		msgs[i] = withExtra(msgs[i], processedKey, true)
	}
	require.Equal(t, msgs, before(t, mw, msgs))
	require.Empty(t, asked)
}

func TestClearHandler_ReplacesWholeResult(t *testing.T) {
	adktest.EachType(t, testClearHandlerReplacesWholeResult[*schema.Message], testClearHandlerReplacesWholeResult[*schema.AgenticMessage])
}

func testClearHandlerReplacesWholeResult[M adk.MessageType](t *testing.T) {
	s := shapeOf[M]()
	for shapeName, given := range resultShapes[M]() {
		for name, a := range handlerAnswers() {
			what := shapeName + ", " + name
			asked := 0
			mw := typed(t, &reduction.TypedConfig[M]{Backend: backend.NewMemory(0), MaxTokensForClear: 1, ToolConfig: map[string]*reduction.ToolReductionConfig{"shell": {
				ClearHandler: func(_ context.Context, d *reduction.ToolDetail) (*reduction.ClearResult, error) {
					asked++
					if shapeName != "media" {
						require.Equal(t, "the whole text", textsIn(d.ToolResult), what)
					}
					require.Equal(t, strings.Contains("media both old multipart field", shapeName), len(d.ToolResult.Parts) > len(s.answers(given)[0].texts) || shapeName == "old multipart field", what)
					return a.result, nil
				},
			}}})
			msgs := append([]M{adktest.User[M]("hello"), adktest.Assistant[M]("", adktest.ToolCall{ID: "call", Name: "shell", Args: `{}`}), deepCopy(given)}, rounds[M](1, 10)...)
			unchanged := copyAll(msgs)
			out := before(t, mw, msgs)
			require.Equal(t, unchanged, msgs, "%s: what was given is unchanged", what)
			require.Equal(t, a.args, adktest.Calls(out[1])[0].Args, what)
			if a.stays {
				require.Equal(t, s.answers(given), s.answers(out[2]), what)
				require.Equal(t, restOf(given), restOf(out[2]), what)
			} else {
				is := s.answers(out[2])[0]
				require.Equal(t, a.texts, is.joined(), what)
				require.Equal(t, a.image, strings.Contains(render(out[2]), newImage), what)
				for _, gone := range []string{png, "example.com", "the whole", "report.pdf"} {
					require.NotContains(t, render(out[2]), gone, what)
				}
			}
			before(t, mw, resumed(t, out))
			if a.result == nil || !a.result.NeedClear {
				require.Equal(t, 2, asked, "%s: it may decide otherwise next time", what)
				require.Equal(t, unchanged, out, what)
			} else {
				require.Equal(t, 1, asked, "%s: it has decided", what)
			}
		}
	}
}

// resultShapes are the ways in which a result can stand in a message.
func resultShapes[M adk.MessageType]() map[string]M {
	s := shapeOf[M]()
	out := map[string]M{
		"text":          s.result("call", "shell", text("the whole text")),
		"several texts": s.result("call", "shell", text("the whole "), text("text")),
		"media":         s.result("call", "shell", part{medium: "image"}, part{medium: "file"}),
		"both":          s.result("call", "shell", text("the whole text"), part{medium: "image"}),
	}
	if old, ok := any(schema.ToolMessage("", "call", schema.WithToolName("shell"))).(M); ok {
		//lint:ignore SA1019 stored histories have it
		any(old).(*schema.Message).MultiContent = []schema.ChatMessagePart{
			{Type: schema.ChatMessagePartTypeText, Text: "the whole text"},
			//lint:ignore SA1019 as above
			{Type: schema.ChatMessagePartTypeImageURL, ImageURL: &schema.ChatMessageImageURL{URL: "https://example.com/a.png"}},
		}
		out["old multipart field"] = old
	}
	return out
}

var newImage = "bmV3"

func imageOf(data *string) schema.ToolOutputPart {
	return schema.ToolOutputPart{Type: schema.ToolPartTypeImage, Image: &schema.ToolOutputImage{MessagePartCommon: schema.MessagePartCommon{Base64Data: data, MIMEType: "image/png"}}}
}

// handlerAnswer is what a handler returns, and what the message must then hold.
type handlerAnswer struct {
	result *reduction.ClearResult
	texts  string
	image  bool // only the new image is there
	stays  bool // the result is as it was
	args   string
}

func handlerAnswers() map[string]handlerAnswer {
	instead := func(parts ...schema.ToolOutputPart) *reduction.ClearResult {
		return &reduction.ClearResult{NeedClear: true, ToolResult: &schema.ToolResult{Parts: parts}}
	}
	short := schema.ToolOutputPart{Type: schema.ToolPartTypeText, Text: "short"}
	return map[string]handlerAnswer{
		"nil":            {nil, "", false, true, `{}`},
		"keep":           {&reduction.ClearResult{ToolResult: resultOf("ignored")}, "", false, true, `{}`},
		"text":           {instead(short), "short", false, false, `{}`},
		"parts":          {instead(short, imageOf(&newImage)), "short", true, false, `{}`},
		"another image":  {instead(imageOf(&newImage)), "", true, false, `{}`},
		"arguments only": {&reduction.ClearResult{NeedClear: true, ToolArgument: &schema.ToolArgument{Text: `{"new":1}`}}, "", false, true, `{"new":1}`},
		"nothing":        {&reduction.ClearResult{NeedClear: true}, "", false, true, `{}`},
		"no parts":       {&reduction.ClearResult{NeedClear: true, ToolResult: &schema.ToolResult{}}, "", false, true, `{}`},
	}
}

// What a handler returns of a result keeps everything that a tool's result cannot express.
func TestClearHandler_KeepsMedia(t *testing.T) {
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

func at(url, mime string) schema.MessagePartCommon {
	return schema.MessagePartCommon{URL: &url, MIMEType: mime}
}

func TestTruncHandler_OverwritesNoOtherFile(t *testing.T) {
	for kind, open := range storeKinds {
		store, memory := open(t)
		mw := typed(t, &reduction.Config{Backend: store, MaxTokensForClear: 1, ToolConfig: map[string]*reduction.ToolReductionConfig{"shell": {
			TruncHandler: func(_ context.Context, d *reduction.ToolDetail) (*reduction.TruncResult, error) {
				return &reduction.TruncResult{NeedTrunc: true, ToolResult: resultOf("see /one"), NeedOffload: true, OffloadFilePath: "/one", OffloadContent: textsIn(d.ToolResult)}, nil
			},
			ClearHandler: func(_ context.Context, d *reduction.ToolDetail) (*reduction.ClearResult, error) {
				return &reduction.ClearResult{NeedClear: true, ToolResult: resultOf("see /two"), NeedOffload: true, OffloadFilePath: "/two", OffloadContent: textsIn(d.ToolResult)}, nil
			},
		}}})
		for i, want := range []string{"see /one", "content 1", "see /one"} {
			out, err := runInvokable(context.Background(), mw, callC, `{}`, []string{fmt.Sprint("content ", i%2)})
			require.NoError(t, err)
			require.Equal(t, want, out, "%s, call %d", kind, i)
		}
		require.Equal(t, "content 0", stored(t, memory, "/one"))
		out := before(t, mw, rounds[*schema.Message](4, 900))
		require.Equal(t, "see /two", out[2].Content)
		require.Contains(t, out[4].Content, "result 1")
		require.Contains(t, stored(t, memory, "/two"), "result 0")
	}
}

func TestTruncHandler_MayStream(t *testing.T) {
	for _, lazy := range []bool{false, true} {
		mw := typed(t, &reduction.Config{Backend: backend.NewMemory(0), ToolConfig: map[string]*reduction.ToolReductionConfig{"shell": {
			TruncHandler: func(_ context.Context, d *reduction.ToolDetail) (*reduction.TruncResult, error) {
				if lazy { // what it returns reads what it got
					return &reduction.TruncResult{NeedTrunc: true, StreamToolResult: schema.StreamReaderWithConvert(d.StreamToolResult, func(r *schema.ToolResult) (*schema.ToolResult, error) {
						return resultOf(strings.ToUpper(textsIn(r))), nil
					})}, nil
				}
				got, err := adktest.Drain(d.StreamToolResult)
				return &reduction.TruncResult{NeedTrunc: true, StreamToolResult: pipe(resultOf(strings.ToUpper(textsIn(got...))))}, err
			},
		}}})
		for _, f := range forms {
			if !f.stream {
				continue
			}
			out, err := f.run(context.Background(), mw, callC, `{}`, []string{"one ", "two ", "three"})
			require.NoError(t, err)
			require.Equal(t, "ONE TWO THREE", out)
		}
	}
}

func TestTruncHandler_StoreFailurePassesOriginalStream(t *testing.T) {
	mw := typed(t, &reduction.Config{Backend: &failing{errors.New("down")}, ToolConfig: map[string]*reduction.ToolReductionConfig{"shell": {
		TruncHandler: func(context.Context, *reduction.ToolDetail) (*reduction.TruncResult, error) {
			return &reduction.TruncResult{NeedTrunc: true, ToolResult: resultOf("short"), StreamToolResult: pipe(resultOf("short")), NeedOffload: true, OffloadFilePath: "/x", OffloadContent: "all"}, nil
		},
	}}})
	for _, f := range forms {
		out, err := f.run(context.Background(), mw, callC, `{}`, []string{"one ", "two ", "three"})
		require.NoError(t, err)
		require.Equal(t, "one two three", out, f.name)
	}
}

// A handler may leave a result to the middleware, which then does what it would do
// without the handler.
func TestTruncHandler_MayLeaveResultToMiddleware(t *testing.T) {
	content := strings.Repeat("a line of the result\n", 400)
	wrapped := func(read int) func(context.Context, *reduction.ToolDetail) (*reduction.TruncResult, error) {
		return func(_ context.Context, d *reduction.ToolDetail) (*reduction.TruncResult, error) {
			for range read {
				_, _ = d.StreamToolResult.Recv()
			}
			return &reduction.TruncResult{NeedTrunc: true, ToolResult: resultOf("ignored")}, fmt.Errorf("too hard: %w", reduction.UseDefault)
		}
	}
	for _, f := range forms {
		for _, read := range []int{0, 1, 3} {
			if !f.stream && read > 0 {
				continue
			}
			own := map[string]*reduction.ToolReductionConfig{"shell": {TruncHandler: wrapped(read)}, "read_file": {TruncHandler: wrapped(read)}, "large": {TruncHandler: wrapped(read), MaxLengthForTrunc: 9000}}
			files := backend.NewMemory(0)
			var events []einolean.Event
			mw := typed(t, &reduction.Config{Backend: files, MaxLengthForTrunc: 1000, ToolConfig: own,
				OnEvent: func(_ context.Context, e einolean.Event) { events = append(events, e) }})
			run := func(mw wrapper, name string) string {
				out, err := f.run(context.Background(), mw, &adk.ToolContext{Name: name, CallID: "c"}, `{}`, []string{content[:2000], content[2000:]})
				require.NoError(t, err)
				return out
			}
			out := run(mw, "shell")
			require.LessOrEqual(t, len(out), 1000)
			require.Equal(t, content, stored(t, files, pathIn(out)))
			require.Equal(t, content, run(mw, "read_file"))
			require.Equal(t, content, run(mw, "large"))
			require.Len(t, events, 1, "nothing else was longer than its limit")
			require.Equal(t, einolean.KindResultTruncated, events[0].Kind)
			skipping := typed(t, &reduction.Config{Backend: files, MaxLengthForTrunc: 1000, SkipTruncation: true, ToolConfig: own})
			require.Equal(t, content, run(skipping, "shell"))
		}
	}
	adktest.EachType(t, testTruncHandlerMayLeaveResultToMiddleware[*schema.Message], testTruncHandlerMayLeaveResultToMiddleware[*schema.AgenticMessage])
}

func testTruncHandlerMayLeaveResultToMiddleware[M adk.MessageType](t *testing.T) {
	asked := 0
	handler := func(context.Context, *reduction.ToolDetail) (*reduction.ClearResult, error) {
		asked++
		return nil, reduction.UseDefault
	}
	msgs := rounds[M](4, 900)
	own := map[string]*reduction.ToolReductionConfig{"shell": {ClearHandler: handler}}
	plain := before(t, typed(t, &reduction.TypedConfig[M]{Backend: backend.NewMemory(0), MaxTokensForClear: 1}), msgs)
	files := backend.NewMemory(0)
	mw := typed(t, &reduction.TypedConfig[M]{Backend: files, MaxTokensForClear: 1, ToolConfig: own})
	out := before(t, mw, msgs)
	require.Equal(t, plain, out)
	require.Equal(t, 3, asked)
	require.Equal(t, out, before(t, mw, out), "a second pass changes nothing")
	require.Equal(t, 3, asked, "a handler is not asked about notices")
	require.Equal(t, msgs, before(t, typed(t, &reduction.TypedConfig[M]{Backend: files, MaxTokensForClear: 1, SkipClear: true, ToolConfig: own}), msgs))
}

func TestCallbacks_ErrorIsReturnedUnchanged(t *testing.T) {
	mine := errors.New("mine")
	msgs := rounds[*schema.Message](3, 500)
	for name, c := range map[string]*reduction.Config{
		"counter": {TokenCounter: func(context.Context, []*schema.Message, []*schema.ToolInfo) (int64, error) { return 0, mine }},
		"rewriter": {ClearMessageRewriter: func(context.Context, *schema.Message, []*schema.Message) ([]*schema.Message, error) {
			return nil, mine
		}},
		"path": {GenClearOffloadFilePath: func(context.Context, *reduction.ToolDetail) (string, error) { return "", mine }},
		"handler": {ToolConfig: map[string]*reduction.ToolReductionConfig{"shell": {ClearHandler: func(context.Context, *reduction.ToolDetail) (*reduction.ClearResult, error) {
			return nil, mine
		}}}},
	} {
		c.Backend, c.MaxTokensForClear = backend.NewMemory(0), 1
		_, _, err := typed(t, c).BeforeModelRewriteState(context.Background(), &adk.ChatModelAgentState{Messages: msgs}, nil)
		require.Equal(t, mine, err, name)
	}
	for _, f := range forms {
		for name, c := range map[string]*reduction.Config{
			"path": {GenTruncOffloadFilePath: func(context.Context, *reduction.ToolDetail) (string, error) { return "", mine }},
			"handler": {ToolConfig: map[string]*reduction.ToolReductionConfig{"shell": {TruncHandler: func(context.Context, *reduction.ToolDetail) (*reduction.TruncResult, error) {
				return nil, mine
			}}}},
		} {
			c.Backend, c.MaxLengthForTrunc = backend.NewMemory(0), 1000
			_, err := f.run(context.Background(), typed(t, c), callC, `{}`, []string{strings.Repeat("x", 2000)})
			require.Equal(t, mine, err, "%s, %s", name, f.name)
		}
	}
}

//claim:security-53
func TestCallbacks_MayModifyTheirInput(t *testing.T) {
	adktest.EachType(t, testCallbacksMayModifyTheirInput[*schema.Message], testCallbacksMayModifyTheirInput[*schema.AgenticMessage])
}

func testCallbacksMayModifyTheirInput[M adk.MessageType](t *testing.T) {
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
