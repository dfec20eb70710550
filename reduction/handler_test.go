// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package reduction_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/backend"
	"github.com/einolean/einolean/internal/dev/adktest"
	"github.com/einolean/einolean/reduction"
)

func TestAClearHandlerIsAskedOnceAboutEachResult(t *testing.T) {
	adktest.EachType(t, handlerOnce[*schema.Message], handlerOnce[*schema.AgenticMessage])
}

func handlerOnce[M adk.MessageType](t *testing.T) {
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

func TestWhatAHandlerWantsStoredIsNotWrittenOverAnythingElse(t *testing.T) {
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

func TestATruncHandlerMayStream(t *testing.T) {
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

func TestTheOriginalStreamGoesOnWhenAHandlersContentCannotBeStored(t *testing.T) {
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

func TestErrorsAndMissingResultsOfToolsPassThrough(t *testing.T) {
	ctx, boom := context.Background(), errors.New("boom")
	mw := typed(t, &reduction.Config{Backend: backend.NewMemory(0)})
	invokable, err := mw.WrapInvokableToolCall(ctx, func(context.Context, string, ...tool.Option) (string, error) { return "partial", boom }, callC)
	require.NoError(t, err)
	_, err = invokable(ctx, `{}`)
	require.Equal(t, boom, err)
	streamable, err := mw.WrapStreamableToolCall(ctx, func(context.Context, string, ...tool.Option) (*schema.StreamReader[string], error) { return nil, boom }, callC)
	require.NoError(t, err)
	_, err = streamable(ctx, `{}`)
	require.Equal(t, boom, err)
	enhanced, err := mw.WrapEnhancedInvokableToolCall(ctx, func(context.Context, *schema.ToolArgument, ...tool.Option) (*schema.ToolResult, error) {
		return nil, nil
	}, callC)
	require.NoError(t, err)
	out, err := enhanced(ctx, nil)
	require.NoError(t, err)
	require.Nil(t, out)
	enhancedStream, err := mw.WrapEnhancedStreamableToolCall(ctx, func(context.Context, *schema.ToolArgument, ...tool.Option) (*schema.StreamReader[*schema.ToolResult], error) {
		return nil, boom
	}, callC)
	require.NoError(t, err)
	_, err = enhancedStream(ctx, nil)
	require.Equal(t, boom, err)

	none, err := mw.WrapInvokableToolCall(ctx, nil, nil)
	require.NoError(t, err)
	require.Nil(t, none)
}

func TestAPathThatCannotBeShownGivesWayToTheDefaultOne(t *testing.T) {
	for _, path := range []string{"", "a\nb", "x</persisted-output>", "\xff", "a\u2028b", strings.Repeat("a", 5000), strings.Repeat("a", 900)} {
		gen := func(context.Context, *reduction.ToolDetail) (string, error) { return path, nil }
		mw := typed(t, &reduction.Config{Backend: backend.NewMemory(0), MaxLengthForTrunc: 1000, MaxTokensForClear: 1, GenTruncOffloadFilePath: gen, GenClearOffloadFilePath: gen})
		for _, f := range forms {
			content := strings.Repeat("x", 3000)
			out, err := f.run(context.Background(), mw, callC, `{}`, []string{content})
			require.NoError(t, err)
			require.Equal(t, "/tmp/trunc/c", pathIn(out), "%q, %s", path, f.name)
			require.LessOrEqual(t, len(out), 1000)
		}
		msgs := rounds[*schema.Message](3, 900)
		require.Equal(t, msgs, before(t, mw, msgs), "%q", path)
	}
}

// Every other path is shown as it is, and leads to the content: one with a space, with a dot
// at which a sentence could end, in another script, or that looks like half a notice.
func TestAPathThatCanBeShownIsKept(t *testing.T) {
	for _, path := range []string{"/my results/a b", "/a. b", "/a.b.", "/結果/一", "/a: /b", "/persisted-output", "/<persisted", "/a~b\u00a0c", "/" + strings.Repeat("a", 200)} {
		for _, f := range forms {
			memory := backend.NewMemory(0)
			gen := func(context.Context, *reduction.ToolDetail) (string, error) { return path, nil }
			mw := typed(t, &reduction.Config{Backend: memory, MaxLengthForTrunc: 1000, MaxTokensForClear: 1, GenTruncOffloadFilePath: gen})
			content := strings.Repeat("x", 3000)
			out, err := f.run(context.Background(), mw, callC, `{}`, []string{content})
			require.NoError(t, err)
			require.Contains(t, out, "saved to: "+path+"\n", "%s", f.name)
			require.Equal(t, content, stored(t, memory, path), "%q, %s", path, f.name)
			msgs := rounds[*schema.Message](3, 10)
			msgs[2].Content = out
			require.Contains(t, before(t, mw, msgs)[2].Content, path, "the notice of what is cleared names the same file")
			require.Equal(t, content, stored(t, memory, path), "%q, %s", path, f.name)
		}
	}
}

func TestAGeneratedPathThatIsTakenGetsASuffix(t *testing.T) {
	gen := func(_ context.Context, d *reduction.ToolDetail) (string, error) {
		return "/results/" + d.ToolContext.Name, nil
	}
	for kind, open := range storeKinds {
		store, memory := open(t)
		mw := typed(t, &reduction.Config{Backend: store, MaxLengthForTrunc: 1000, MaxTokensForClear: 1, GenTruncOffloadFilePath: gen, GenClearOffloadFilePath: gen})
		seen := map[string]bool{}
		for i, f := range forms {
			content := strings.Repeat(fmt.Sprint("content ", i, "\n"), 500)
			out, err := f.run(context.Background(), mw, callC, `{}`, []string{content})
			require.NoError(t, err)
			path := pathIn(out)
			require.True(t, strings.HasPrefix(path, "/results/shell"), "%s: %q", kind, path)
			require.False(t, seen[path])
			seen[path] = true
			require.Equal(t, content, stored(t, memory, path))
		}
		msgs := rounds[*schema.Message](4, 900)
		for i, m := range before(t, mw, msgs) {
			if p := pathIn(m.Content); p != "" {
				require.Equal(t, msgs[i].Content, stored(t, memory, p))
			}
		}
	}
}

func TestRewritersAndClearingGoTogether(t *testing.T) {
	adktest.EachType(t, rewriteAndClear[*schema.Message], rewriteAndClear[*schema.AgenticMessage])
}

func rewriteAndClear[M adk.MessageType](t *testing.T) {
	store := backend.NewMemory(0)
	calls := 0
	cfg := &reduction.TypedConfig[M]{Backend: store, MaxTokensForClear: 1, ClearMessageRewriter: func(_ context.Context, call M, results []M) ([]M, error) {
		calls++
		if adktest.Calls(call)[0].ID == "call_0" {
			return nil, nil
		}
		return append([]M{adktest.User[M]("a reminder"), call}, results...), nil
	}}
	msgs := rounds[M](4, 900)
	given := copyAll(msgs)
	mw := typed(t, cfg)
	out := before(t, mw, msgs)
	require.Equal(t, given, msgs)
	require.Len(t, out, len(msgs)) // two less, two more
	require.Equal(t, "a reminder", adktest.Text(out[1]))
	require.Equal(t, adktest.Text(given[4]), stored(t, store, pathIn(adktest.Text(out[3]))))
	require.Equal(t, 3, calls)
	require.Equal(t, out, before(t, mw, out))
	require.Equal(t, 3, calls)

	cfg.ClearAtLeastTokens, cfg.TokenCounter = 1, over[M]
	require.Equal(t, given, before(t, typed(t, cfg), copyAll(given)), "a rewriting that saves too little is undone")
	cfg.ClearAtLeastTokens, cfg.ClearTargetTokens, cfg.TokenCounter = 0, 1, nil
	require.Len(t, before(t, typed(t, cfg), copyAll(given)), len(msgs))
}

func TestARoundWhoseResultsAreSpreadIsNotRewritten(t *testing.T) {
	s := shapeOf[*schema.AgenticMessage]()
	type M = *schema.AgenticMessage
	mixed, _ := s.merge(s.result("1", "a", text("one")), s.result("2", "a", text("two")))
	msgs := append([]M{adktest.Assistant[M]("", adktest.ToolCall{ID: "1", Name: "a"}), adktest.Assistant[M]("", adktest.ToolCall{ID: "2", Name: "a"}), mixed,
		adktest.Assistant[M]("", adktest.ToolCall{ID: "3", Name: "a"})}, append(rounds[M](1, 10), s.result("3", "a", text("three")))...)
	mw := typed(t, &reduction.TypedConfig[M]{SkipTruncation: true, MaxTokensForClear: 1, ClearMessageRewriter: func(context.Context, M, []M) ([]M, error) {
		return nil, errors.New("called")
	}})
	require.Equal(t, msgs, before(t, mw, msgs))
}

func TestAStreamEndsOnceAndForAll(t *testing.T) {
	mw := typed(t, &reduction.Config{Backend: backend.NewMemory(0), MaxLengthForTrunc: 1000})
	for _, size := range []int{10, 900, 5000} {
		out := streamOf(t, mw, pipe(strings.Repeat("x", size/2), strings.Repeat("y", size/2)))
		for {
			if _, err := out.Recv(); err != nil {
				require.Equal(t, io.EOF, err)
				break
			}
		}
		for range 3 {
			_, err := out.Recv()
			require.Equal(t, io.EOF, err)
		}
		out.Close()
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

func TestWhatAHandlerReturnsIsAllThatIsLeft(t *testing.T) {
	adktest.EachType(t, handlerTable[*schema.Message], handlerTable[*schema.AgenticMessage])
}

func handlerTable[M adk.MessageType](t *testing.T) {
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

// An agentic message may hold results and what the user said. The rewriter decides
// on the round; what the user said is not of the round.
func TestARewriterNeitherSeesNorDropsWhatStandsBesideTheResults(t *testing.T) {
	type M = *schema.AgenticMessage
	s := shapeOf[M]()
	for _, keep := range []bool{false, true} {
		mixed := s.result("1", "a", text("the result"))
		mixed.ContentBlocks = append([]*schema.ContentBlock{schema.NewContentBlock(&schema.UserInputText{Text: "before"}), nil}, mixed.ContentBlocks...)
		mixed.ContentBlocks = append(mixed.ContentBlocks,
			schema.NewContentBlock(&schema.UserInputText{Text: "after"}),
			schema.NewContentBlock(&schema.UserInputImage{URL: "https://example.com/a.png"}))
		mixed.Extra = map[string]any{"from": "user"}
		history := append([]M{adktest.User[M]("start"), adktest.Assistant[M]("", adktest.ToolCall{ID: "1", Name: "a"}), mixed}, rounds[M](1, 10)...)
		given := copyAll(history)
		mw := typed(t, &reduction.TypedConfig[M]{SkipTruncation: true, MaxTokensForClear: 1,
			ClearMessageRewriter: func(_ context.Context, call M, results []M) ([]M, error) {
				require.Len(t, results, 1)
				require.Len(t, results[0].ContentBlocks, 1, "the result alone")
				require.NotNil(t, results[0].ContentBlocks[0].FunctionToolResult)
				results[0].ContentBlocks[0].FunctionToolResult.Name = "changed"
				results[0].Extra["from"] = "changed"
				if keep {
					return append([]M{call}, results...), nil
				}
				return nil, nil
			}})
		out := before(t, mw, history)
		require.Equal(t, given, history, "the caller's messages do not change")
		rest := out[1]
		if keep {
			require.Len(t, out, len(history)+1)
			require.Equal(t, "1", adktest.Calls(out[1])[0].ID)
			require.Len(t, s.answers(out[2]), 1)
			rest = out[3]
		} else {
			require.Len(t, out, len(history)-1)
		}
		require.Equal(t, map[string]any{"from": "user"}, rest.Extra)
		require.Equal(t, schema.AgenticRoleTypeUser, rest.Role)
		var said []string
		for _, b := range rest.ContentBlocks {
			require.False(t, b != nil && b.FunctionToolResult != nil)
			if b != nil && b.UserInputText != nil {
				said = append(said, b.UserInputText.Text)
			}
		}
		require.Equal(t, []string{"before", "after"}, said)
		require.NotNil(t, rest.ContentBlocks[len(rest.ContentBlocks)-1].UserInputImage)
		require.Equal(t, out, before(t, mw, out), "a second pass changes nothing")
	}
}
