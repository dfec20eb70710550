// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package reduction

// The estimate of tokens, and how it is corrected by what models report.

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean"
	"github.com/einolean/einolean/internal/dev/adktest"
	"github.com/einolean/einolean/internal/dev/race"
	"github.com/einolean/einolean/internal/einorun"
	"github.com/einolean/einolean/reduction/internal/report"
	"github.com/einolean/einolean/reduction/internal/tokencount"
	"github.com/einolean/einolean/store"
)

func conversation[M adk.MessageType](n, size int) []M {
	var out []any
	text := strings.Repeat("x", size)
	for i := range n {
		id := fmt.Sprint("call_", i)
		switch any(*new(M)).(type) {
		case *schema.Message:
			out = append(out, []any{schema.UserMessage(text), schema.AssistantMessage(text, []schema.ToolCall{{ID: id, Function: schema.FunctionCall{Name: "t", Arguments: "{}"}}}), schema.ToolMessage(text, id)}[i%3])
		default:
			out = append(out, &schema.AgenticMessage{Role: schema.AgenticRoleTypeUser, ContentBlocks: []*schema.ContentBlock{[]*schema.ContentBlock{
				schema.NewContentBlock(&schema.UserInputText{Text: text}), schema.NewContentBlock(&schema.AssistantGenText{Text: text}),
				schema.NewContentBlock(&schema.FunctionToolResult{CallID: id, Content: []*schema.FunctionToolResultContentBlock{{Text: &schema.UserInputText{Text: text}}}}),
			}[i%3]}})
		}
	}
	msgs := make([]M, n)
	for i := range out {
		msgs[i] = out[i].(M)
	}
	return msgs
}

func TestBeforeModelRewriteState_AllocatesNothingBelowThreshold(t *testing.T) {
	race.Skip(t, "it counts allocations")
	adktest.EachType(t, allocates[*schema.Message], allocates[*schema.AgenticMessage])
}

func allocates[M adk.MessageType](t *testing.T) {
	mw, err := NewTyped(context.Background(), &TypedConfig[M]{Backend: store.NewMemory(0), ProvideReadTool: true, MaxTokensForClear: 1 << 40})
	require.NoError(t, err)
	var tools []*schema.ToolInfo
	for i := range 50 {
		tools = append(tools, &schema.ToolInfo{Name: fmt.Sprint("tool", i), ParamsOneOf: schema.NewParamsOneOfByParams(map[string]*schema.ParameterInfo{"p": {Type: schema.String}})})
	}
	ctx, err := einorun.Begin(context.Background(), mw, &einorun.RunContext{})
	require.NoError(t, err)
	state := &adk.TypedChatModelAgentState[M]{Messages: conversation[M](1000, 4096), ToolInfos: tools}
	require.Zero(t, race.Allocations(20, func() {
		_, out, err := mw.BeforeModelRewriteState(ctx, state, nil)
		if err != nil || out != state {
			t.Error("the state is not the one that came in")
		}
	}))
}

// exactly is the exact size of a request.
func exactly[M adk.MessageType](e *tokencount.Estimator[M], run *tokencount.Tracker, msgs []M, tools []*schema.ToolInfo, threshold int64) (int64, float64) {
	s := e.Size(run, msgs, tools, threshold, -1)
	return s.Tokens, s.Factor
}

// charged is a conversation of n rounds with a provider that counts ratio times the
// estimate.
func charged[M adk.MessageType](n int, ratio float64) []M {
	e := new(tokencount.Estimator[M])
	return adktest.Charged(n, ratio, func(msgs []M) int64 { return e.Count(msgs, nil) })
}

// looked runs the hook in a new run and returns the messages and what the pass said.
func looked[M adk.MessageType](t *testing.T, c *TypedConfig[M], msgs []M) ([]M, *einolean.Pass) {
	t.Helper()
	var pass *einolean.Pass
	c.Backend = store.NewMemory(0)
	c.OnEvent = func(_ context.Context, e einolean.Event) {
		if e.Pass != nil {
			pass = e.Pass
		}
	}
	mw, err := NewTyped(context.Background(), c)
	require.NoError(t, err)
	ctx, err := einorun.Begin(context.Background(), mw, &einorun.RunContext{})
	require.NoError(t, err)
	_, state, err := mw.BeforeModelRewriteState(ctx, &adk.TypedChatModelAgentState[M]{Messages: msgs}, nil)
	require.NoError(t, err)
	return state.Messages, pass
}

func TestTokenEstimate_CorrectedByReportedUsage(t *testing.T) {
	adktest.EachType(t, corrects[*schema.Message], corrects[*schema.AgenticMessage])
}

func corrects[M adk.MessageType](t *testing.T) {
	for _, ratio := range []float64{.7, .9, 1, 1.3, 1.7} {
		msgs := charged[M](12, ratio)
		want := ratio * float64(new(tokencount.Estimator[M]).Count(msgs, nil))
		_, pass := looked(t, &TypedConfig[M]{MaxTokensForClear: int64(want * 1.02)}, msgs)
		require.Nil(t, pass, "below the threshold in the provider's tokens: %v", ratio)
		_, pass = looked(t, &TypedConfig[M]{MaxTokensForClear: int64(want * .98)}, msgs)
		require.NotNil(t, pass, "above it: %v", ratio)
		require.InEpsilon(t, want, pass.Before, .01)
		// What clearing saves is in the same tokens.
		_, pass = looked(t, &TypedConfig[M]{MaxTokensForClear: int64(want * .98), ClearTargetTokens: int64(want / 2)}, msgs)
		require.Less(t, float64(pass.After), want/2)
		require.Greater(t, float64(pass.After), want*.4)
		require.EqualValues(t, 7, pass.Cleared, "of 12: %v", ratio)
	}
}

func TestTokenEstimate_IgnoresUsageOfOtherRequest(t *testing.T) {
	adktest.EachType(t, ofOthers[*schema.Message], ofOthers[*schema.AgenticMessage])
}

func ofOthers[M adk.MessageType](t *testing.T) {
	e := new(tokencount.Estimator[M])
	whole := charged[M](40, 1)
	all := float64(e.Count(whole, nil))
	factor := func(msgs []M, threshold float64) float64 {
		_, f := exactly(e, &tokencount.Tracker{}, msgs, nil, int64(threshold))
		return f
	}
	// A history that was kept whole, of a conversation in which old results were
	// cleared when it had half of its tokens: later answers report what was left.
	kept := slices.Clone(whole)
	for i := len(kept) / 2; i < len(kept); i++ {
		if strings.Contains(fmt.Sprint(adktest.Calls(kept[i])), "call_") {
			kept[i] = adktest.Reporting(kept[i], int(all/4))
		}
	}
	require.InDelta(t, 1, factor(kept, all/2), .01)
	// The same, kept as it was sent.
	sent, pass := looked(t, &TypedConfig[M]{MaxTokensForClear: int64(all / 2)}, charged[M](40, 1.4))
	require.Positive(t, pass.Cleared)
	require.Equal(t, 1., factor(sent, all*2), "after a notice no request stands as it was sent")
	// Reports of something else, and of one answer.
	require.Equal(t, 1., factor(charged[M](10, 3), all*2))
	require.Equal(t, 1., factor(charged[M](10, .1), all*2))
	require.Equal(t, 1., factor(charged[M](1, 1.4), all*2))
	require.InDelta(t, 1.4, factor(charged[M](2, 1.4), all*2), .05)
	// One that is off among three.
	odd := charged[M](10, 1.2)
	odd[19] = adktest.Reporting(odd[19], int(1.7*float64(e.Count(odd[:19], nil))))
	require.InDelta(t, 1.2, factor(odd, all*2), .05)
}

// What providers report after a clearing is of requests that no later run can see. So it changes nothing, and every
// run of the conversation decides alike.
func TestTokenEstimate_FactorStaysAfterClearing(t *testing.T) {
	adktest.EachType(t, afterAClearing[*schema.Message], afterAClearing[*schema.AgenticMessage])
}

func afterAClearing[M adk.MessageType](t *testing.T) {
	e := new(tokencount.Estimator[M])
	msgs := charged[M](10, 1.4)
	mw, err := NewTyped(context.Background(), &TypedConfig[M]{Backend: store.NewMemory(0), MaxTokensForClear: e.Count(msgs, nil)})
	require.NoError(t, err)
	ctx, err := einorun.Begin(context.Background(), mw, &einorun.RunContext{})
	require.NoError(t, err)
	hook := func(msgs []M) []M {
		_, state, err := mw.BeforeModelRewriteState(ctx, &adk.TypedChatModelAgentState[M]{Messages: msgs}, nil)
		require.NoError(t, err)
		return state.Messages
	}
	out := hook(msgs)
	require.NotEqual(t, msgs, out)
	run := runFrom(ctx, mw.(interface{ Unwrap() einorun.Handler[M] }).Unwrap().(*middleware[M]).settings)
	for i := range 3 {
		id := fmt.Sprint("later_", i)
		call := adktest.Assistant[M]("", adktest.ToolCall{ID: id, Name: "shell", Args: `{}`})
		reported := int(1.7 * float64(e.Count(out, nil)))
		out = append(slices.Clone(out), adktest.Reporting(call, reported), adktest.Result[M](id, "shell", "done"))
		out = hook(out)
	}
	_, factor := exactly(e, &run.sizes, out, nil, 1<<40)
	require.InDelta(t, 1.4, factor, .05)
	require.Equal(t, factor, storedFactor(out), "a message remembers it")
}

// A pass rewrites everything behind the first result that it clears. One that saves next to
// nothing of that would cost more than it saves.
func TestClear_WaitsWhenCacheLossExceedsSaving(t *testing.T) {
	adktest.EachType(t, breaksLittle[*schema.Message], breaksLittle[*schema.AgenticMessage])
}

func breaksLittle[M adk.MessageType](t *testing.T) {
	msgs := []M{adktest.User[M]("look")}
	add := func(size int) {
		id := fmt.Sprint("call_", len(msgs))
		msgs = append(msgs, adktest.Assistant[M](strings.Repeat("what I think of it. ", size), adktest.ToolCall{ID: id, Name: "shell", Args: `{}`}),
			adktest.Result[M](id, "shell", strings.Repeat("what the tool says. ", 31)))
	}
	for range 12 {
		add(150)
	}
	n := new(tokencount.Estimator[M]).Count(msgs, nil)
	out, pass := looked(t, &TypedConfig[M]{MaxTokensForClear: n - 10}, msgs)
	require.Equal(t, msgs, out, "it would save a few bytes of each")
	require.NotNil(t, pass)
	require.Zero(t, pass.Cleared)
	require.Positive(t, pass.Kept[string(ReasonTooFewTokens)])
	// It does not wait for ever, and a result that is worth it does not wait.
	_, pass = looked(t, &TypedConfig[M]{MaxTokensForClear: n * 88 / 100}, msgs)
	require.Positive(t, pass.Cleared)
	large := slices.Clone(msgs)
	large[2] = adktest.Result[M]("call_1", "shell", strings.Repeat("a result that is long ", 3000))
	_, pass = looked(t, &TypedConfig[M]{MaxTokensForClear: new(tokencount.Estimator[M]).Count(large, nil) - 10}, large)
	require.Positive(t, pass.Cleared)
}

// A caller that passes the whole history each time has old results cleared again each time. A new
// one that saves next to nothing must not be cleared with them: the cache holds up to it.
func TestClear_KeepsNewResultsWithLittleSaving(t *testing.T) {
	adktest.EachType(t, clearsAgain[*schema.Message], clearsAgain[*schema.AgenticMessage])
}

func clearsAgain[M adk.MessageType](t *testing.T) {
	const short = "sixteen letters "
	msgs := []M{adktest.User[M]("look")}
	add := func(result string) {
		id := fmt.Sprint("call_", len(msgs))
		msgs = append(msgs, adktest.Assistant[M](strings.Repeat("what I think of it. ", 300), adktest.ToolCall{ID: id, Name: "shell", Args: `{}`}),
			adktest.Result[M](id, "shell", result))
	}
	add(strings.Repeat("a result that is long ", 9000))
	add("the end")
	store := store.NewMemory(0)
	out, _ := looked(t, &TypedConfig[M]{MaxTokensForClear: 20_000, Backend: store}, msgs)
	few := strings.Repeat(short, len(adktest.Text(out[2]))/len(short)+4) // little longer than a notice
	for range 3 {
		add(few)
	}
	c := &TypedConfig[M]{MaxTokensForClear: 20_000, Backend: store}
	before, _ := looked(t, c, msgs)
	for range 5 {
		add(few)
		next, _ := looked(t, c, msgs)
		require.Equal(t, before, next[:len(before)])
		before = next
	}
	// They are cleared with one that is worth it.
	add(strings.Repeat("another that is long ", 9000))
	add("the end")
	_, pass := looked(t, &TypedConfig[M]{MaxTokensForClear: 40_000, Backend: store}, msgs)
	require.Zero(t, pass.Kept[string(ReasonTooFewTokens)])
}

// A handler that changes arguments is reported like one that changes a result, also where
// SkipClear leaves all other tools alone.
func TestClearHandler_ArgumentChangesAreReported(t *testing.T) {
	adktest.EachType(t, changesArguments[*schema.Message], changesArguments[*schema.AgenticMessage])
}

func changesArguments[M adk.MessageType](t *testing.T) {
	msgs := charged[M](4, 0)
	for _, skips := range []bool{false, true} {
		var cleared int
		c := &TypedConfig[M]{Backend: store.NewMemory(0), MaxTokensForClear: 1, SkipClear: skips, ToolConfig: map[string]*ToolReductionConfig{"shell": {
			ClearHandler: func(context.Context, *ToolDetail) (*ClearResult, error) {
				return &ClearResult{NeedClear: true, ToolArgument: &schema.ToolArgument{Text: `{"shorter":true}`}}, nil
			},
		}}, OnEvent: func(_ context.Context, e einolean.Event) {
			if e.Kind == einolean.KindResultCleared {
				cleared++
				require.Equal(t, report.ByHandler, e.Output.Rule)
			}
		}}
		mw, err := NewTyped(context.Background(), c)
		require.NoError(t, err)
		_, state, err := mw.BeforeModelRewriteState(context.Background(), &adk.TypedChatModelAgentState[M]{Messages: msgs}, nil)
		require.NoError(t, err)
		require.Equal(t, 3, cleared)
		for i := range 3 {
			require.Equal(t, `{"shorter":true}`, adktest.Calls(state.Messages[1+2*i])[0].Args)
			require.Equal(t, adktest.Text(msgs[2+2*i]), adktest.Text(state.Messages[2+2*i]), "the result stays")
			require.Equal(t, `{}`, adktest.Calls(msgs[1+2*i])[0].Args, "what came in stays")
		}
	}
}

// A tool that call_tool runs is excluded under its own name: whole, streamed or not, and later too.
func TestExcludeTools_ApplyInsideCallTool(t *testing.T) {
	adktest.Both(t, excludesCalled[*schema.Message], excludesCalled[*schema.AgenticMessage])
}

func excludesCalled[M adk.MessageType](t *testing.T, streaming bool) {
	long := strings.Repeat("the steps of a skill ", 200)
	for _, form := range adktest.Forms {
		through := adktest.Tool(form, &schema.ToolInfo{Name: "call_tool", Desc: "d"}, func(context.Context, string) (string, error) { return long, nil })
		call := func(id, key, name string) adktest.Turn {
			return adktest.Do(adktest.ToolCall{ID: id, Name: "call_tool", Args: fmt.Sprintf(`{%q:%q,"arguments":{}}`, key, name)})
		}
		m := adktest.Script[M](call("kept", "name", "skill__pdf"), call("kept too", "tool_name", "skill__pdf"), call("cut", "name", "other"), call("last", "name", "other"), adktest.Say("done"))
		mw, err := NewTyped(context.Background(), &TypedConfig[M]{
			Backend: store.NewMemory(0), MaxLengthForTrunc: 1000, MaxTokensForClear: 1, TruncExcludeTools: []string{"skill__*"}, ClearExcludeTools: []string{"skill__*"},
		})
		require.NoError(t, err)
		out := adktest.Agent[M]{Model: m, Tools: []tool.BaseTool{through}, Handlers: adktest.Handlers(mw), Streaming: streaming}.Run(context.Background(), []M{adktest.User[M]("x")})
		require.NoError(t, out.Err)
		results := map[string]string{}
		for _, msg := range m.Wires()[4].Messages {
			for _, r := range adktest.Results(msg) {
				results[r.ID] = r.Args
			}
		}
		require.Equal(t, long, results["kept"])
		require.Equal(t, long, results["kept too"], "as models write it by mistake, and package toolsearch reads it")
		require.Less(t, len(results["cut"]), 300, "cleared")
		require.Less(t, len(results["last"]), 1500, "cut")
	}
}
