// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package reduction

// The estimate of tokens, and how it is corrected by what models report.

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean"
	"github.com/einolean/einolean/internal/adkrun"
	"github.com/einolean/einolean/internal/dev/adktest"
	"github.com/einolean/einolean/internal/race"
	"github.com/einolean/einolean/internal/tokens"
	"github.com/einolean/einolean/store"
)

func count[M adk.MessageType](t *testing.T, msgs []M, tools ...*schema.ToolInfo) int64 {
	t.Helper()
	return new(estimator[M]).count(msgs, tools)
}

// exactly is the exact size of a request.
func exactly[M adk.MessageType](e *estimator[M], run *counted, msgs []M, tools []*schema.ToolInfo, threshold int64) (int64, float64) {
	s := e.compared(run, msgs, tools, threshold, -1)
	return s.tokens, s.factor
}

func TestR16_EverythingThatAModelReadsIsCounted(t *testing.T) {
	big := strings.Repeat("some words of a text ", 1000)
	whole := float64(tokens.Estimate(big))
	data := strings.Repeat("A", 4<<20)
	common := schema.MessagePartCommon{Base64Data: &data}
	search := &schema.ToolSearchResult{Tools: []*schema.ToolInfo{{Name: "found", Desc: big}}}
	plainMessages := map[string]*schema.Message{
		"content":     {Role: schema.User, Content: big},
		"reasoning":   {Role: schema.Assistant, ReasoningContent: big},
		"arguments":   {Role: schema.Assistant, ToolCalls: []schema.ToolCall{{Function: schema.FunctionCall{Arguments: big}}}},
		"input text":  {Role: schema.Tool, UserInputMultiContent: []schema.MessageInputPart{{Type: schema.ChatMessagePartTypeText, Text: big}}},
		"output text": {Role: schema.Assistant, AssistantGenMultiContent: []schema.MessageOutputPart{{Type: schema.ChatMessagePartTypeText, Text: big}}},
		"output thought": {Role: schema.Assistant, AssistantGenMultiContent: []schema.MessageOutputPart{
			{Type: schema.ChatMessagePartTypeReasoning, Reasoning: &schema.MessageOutputReasoning{Text: big}}, {Type: schema.ChatMessagePartTypeReasoning}}},
		//lint:ignore SA1019 it still counts
		"old text":      {Role: schema.User, MultiContent: []schema.ChatMessagePart{{Type: schema.ChatMessagePartTypeText, Text: big}}},
		"found schemas": {Role: schema.Tool, UserInputMultiContent: []schema.MessageInputPart{{Type: schema.ChatMessagePartTypeToolSearchResult, ToolSearchResult: search}}},
	}
	for name, m := range plainMessages {
		require.InDelta(t, whole, count(t, []*schema.Message{m, nil}), 20, name)
	}
	for name, m := range map[string]*schema.Message{
		"image":  {Role: schema.Tool, UserInputMultiContent: []schema.MessageInputPart{{Type: schema.ChatMessagePartTypeImageURL, Image: &schema.MessageInputImage{MessagePartCommon: common}}}},
		"output": {Role: schema.Assistant, AssistantGenMultiContent: []schema.MessageOutputPart{{Type: schema.ChatMessagePartTypeImageURL}}},
		//lint:ignore SA1019 it still counts
		"old": {Role: schema.User, MultiContent: []schema.ChatMessagePart{{Type: schema.ChatMessagePartTypeImageURL}}},
	} {
		require.InDelta(t, mediaTokens, count(t, []*schema.Message{m}), 20, name)
	}
	tools := []*schema.ToolInfo{nil, {Name: "t", Desc: "d", ParamsOneOf: schema.NewParamsOneOfByParams(map[string]*schema.ParameterInfo{"p": {Type: schema.String, Desc: big}})}}
	require.InDelta(t, whole, count(t, []*schema.Message(nil), tools...), 50)
	js, err := tools[1].ToJSONSchema()
	require.NoError(t, err)
	require.InDelta(t, whole, count(t, []*schema.Message(nil), &schema.ToolInfo{ParamsOneOf: schema.NewParamsOneOfByJSONSchema(js)}), 50)

	item := &schema.MCPListToolsItem{Name: "x", Description: big[:len(big)/2], InputSchema: js}
	for name, b := range map[string]*schema.ContentBlock{
		"user":       schema.NewContentBlock(&schema.UserInputText{Text: big}),
		"assistant":  schema.NewContentBlock(&schema.AssistantGenText{Text: big}),
		"reasoning":  schema.NewContentBlock(&schema.Reasoning{Text: big}),
		"call":       schema.NewContentBlock(&schema.FunctionToolCall{Arguments: big}),
		"result":     schema.NewContentBlock(&schema.FunctionToolResult{Content: []*schema.FunctionToolResultContentBlock{nil, {Text: &schema.UserInputText{Text: big}}}}),
		"search":     schema.NewContentBlock(&schema.ToolSearchFunctionToolResult{Result: search}),
		"server":     schema.NewContentBlock(&schema.ServerToolResult{Content: map[string]any{"k": big}}),
		"server raw": schema.NewContentBlock(&schema.ServerToolResult{Content: json.RawMessage(big)}),
		"asked":      schema.NewContentBlock(&schema.ServerToolCall{Arguments: big}),
		"mcp":        schema.NewContentBlock(&schema.MCPToolResult{Content: big}),
		"mcp call":   schema.NewContentBlock(&schema.MCPToolCall{Arguments: big}),
		"mcp ask":    schema.NewContentBlock(&schema.MCPToolApprovalRequest{Arguments: big}),
		"mcp answer": schema.NewContentBlock(&schema.MCPToolApprovalResponse{Reason: big}),
	} {
		require.InDelta(t, whole, count(t, []*schema.AgenticMessage{nil, {ContentBlocks: []*schema.ContentBlock{nil, b}}}), 50, name)
	}
	require.InDelta(t, whole*3/2, count(t, []*schema.AgenticMessage{{ContentBlocks: []*schema.ContentBlock{schema.NewContentBlock(&schema.MCPListToolsResult{Tools: []*schema.MCPListToolsItem{nil, item}})}}}), 50)
	media := []*schema.ContentBlock{
		schema.NewContentBlock(&schema.UserInputImage{Base64Data: data}), schema.NewContentBlock(&schema.AssistantGenVideo{}),
		schema.NewContentBlock(&schema.FunctionToolResult{Content: []*schema.FunctionToolResultContentBlock{{Image: &schema.UserInputImage{Base64Data: data}}}}),
	}
	require.InDelta(t, 3*mediaTokens, count(t, []*schema.AgenticMessage{{ContentBlocks: media}}), 20)
}

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

func TestTheHookAllocatesNothingBelowTheThreshold(t *testing.T) {
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
	ctx, err := adkrun.Begin(context.Background(), mw, &adkrun.Run{})
	require.NoError(t, err)
	state := &adk.TypedChatModelAgentState[M]{Messages: conversation[M](1000, 4096), ToolInfos: tools}
	require.Zero(t, race.Allocations(20, func() {
		_, out, err := mw.BeforeModelRewriteState(ctx, state, nil)
		if err != nil || out != state {
			t.Error("the state is not the one that came in")
		}
	}))
}

func TestOnlySoManySchemasAreRemembered(t *testing.T) {
	s := &schemaSizes{}
	for range maxSchemas + 10 {
		s.of(new(int), func() int64 { return 1 })
	}
	n := 0
	s.known.Range(func(any, any) bool { n++; return true })
	require.LessOrEqual(t, n, maxSchemas)
}

func TestATextCountsAsItIsEstimated(t *testing.T) {
	text := `{"id": "3fa85f64", "price": 17.5}`
	require.EqualValues(t, messageOverhead+tokens.Estimate(text), count(t, []*schema.Message{schema.UserMessage(text)}))
}

// A schema can be part of itself. Counting must survive it: an overflowing stack
// ends the process.
func TestAToolWhoseSchemaContainsItselfIsCounted(t *testing.T) {
	self := &schema.ParameterInfo{Type: schema.Object, Desc: "a tree"}
	self.SubParams = map[string]*schema.ParameterInfo{"child": self}
	described := schema.NewParamsOneOfByParams(map[string]*schema.ParameterInfo{"tree": self})
	made, err := schema.NewParamsOneOfByParams(map[string]*schema.ParameterInfo{"a": {Type: schema.String}}).ToJSONSchema()
	require.NoError(t, err)
	made.Properties.Set("again", made)
	mcp := schema.NewContentBlock(&schema.MCPListToolsResult{Tools: []*schema.MCPListToolsItem{{Name: "mcp", InputSchema: made}}})
	tools := []*schema.ToolInfo{{Name: "described", ParamsOneOf: described}, {Name: "made", ParamsOneOf: schema.NewParamsOneOfByJSONSchema(made)}}

	n := new(estimator[*schema.Message]).count(nil, tools)
	require.Positive(t, n)
	agentic := []*schema.AgenticMessage{{Role: schema.AgenticRoleTypeAssistant, ContentBlocks: []*schema.ContentBlock{mcp,
		schema.NewContentBlock(&schema.ServerToolCall{Name: "s", Arguments: panicking{}})}}}
	require.Greater(t, new(estimator[*schema.AgenticMessage]).count(agentic, tools), n)
}

type panicking struct{}

func (panicking) MarshalJSON() ([]byte, error) { panic("not today") }

// reporting returns a copy of an answer with the provider's count in it.
func reporting[M adk.MessageType](m M, prompt int) M {
	switch m := any(m).(type) {
	case *schema.Message:
		out := *m
		out.ResponseMeta = &schema.ResponseMeta{Usage: &schema.TokenUsage{PromptTokens: prompt}}
		return any(&out).(M)
	case *schema.AgenticMessage:
		out := *m
		out.ResponseMeta = &schema.AgenticResponseMeta{TokenUsage: &schema.TokenUsage{PromptTokens: prompt}}
		return any(&out).(M)
	}
	panic("no such type")
}

// charged is a conversation of n rounds with a provider that counts ratio times the
// estimate.
func charged[M adk.MessageType](n int, ratio float64) []M {
	e, out := new(estimator[M]), []M{adktest.User[M]("look into it")}
	sent := e.count(out, nil)
	for i := range n {
		id := fmt.Sprint("call_", i)
		round := []M{
			reporting(adktest.Assistant[M]("", adktest.ToolCall{ID: id, Name: "shell", Args: `{}`}), int(ratio*float64(sent))),
			adktest.Result[M](id, "shell", strings.Repeat(fmt.Sprintf("line %d of what the tool says\n", i), 200)),
		}
		sent += e.count(round, nil)
		out = append(out, round...)
	}
	return out
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
	ctx, err := adkrun.Begin(context.Background(), mw, &adkrun.Run{})
	require.NoError(t, err)
	_, state, err := mw.BeforeModelRewriteState(ctx, &adk.TypedChatModelAgentState[M]{Messages: msgs}, nil)
	require.NoError(t, err)
	return state.Messages, pass
}

func TestWhatTheProviderReportsCorrectsTheEstimate(t *testing.T) {
	adktest.EachType(t, corrects[*schema.Message], corrects[*schema.AgenticMessage])
}

func corrects[M adk.MessageType](t *testing.T) {
	for _, ratio := range []float64{.7, .9, 1, 1.3, 1.7} {
		msgs := charged[M](12, ratio)
		want := ratio * float64(new(estimator[M]).count(msgs, nil))
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

func TestACountOfAnotherRequestCorrectsNothing(t *testing.T) {
	adktest.EachType(t, ofOthers[*schema.Message], ofOthers[*schema.AgenticMessage])
}

func ofOthers[M adk.MessageType](t *testing.T) {
	e := new(estimator[M])
	whole := charged[M](40, 1)
	all := float64(e.count(whole, nil))
	factor := func(msgs []M, threshold float64) float64 {
		_, f := exactly(e, &counted{}, msgs, nil, int64(threshold))
		return f
	}
	// A history that was kept whole, of a conversation in which old results were
	// cleared when it had half of its tokens: later answers report what was left.
	kept := slices.Clone(whole)
	for i := len(kept) / 2; i < len(kept); i++ {
		if strings.Contains(fmt.Sprint(adktest.Calls(kept[i])), "call_") {
			kept[i] = reporting(kept[i], int(all/4))
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
	odd[19] = reporting(odd[19], int(1.7*float64(e.count(odd[:19], nil))))
	require.InDelta(t, 1.2, factor(odd, all*2), .05)
}

func TestAnswersAfterAClearingInTheSameRunCount(t *testing.T) {
	adktest.EachType(t, afterAClearing[*schema.Message], afterAClearing[*schema.AgenticMessage])
}

func afterAClearing[M adk.MessageType](t *testing.T) {
	e := new(estimator[M])
	msgs := charged[M](10, 1)
	mw, err := NewTyped(context.Background(), &TypedConfig[M]{Backend: store.NewMemory(0), MaxTokensForClear: e.count(msgs, nil)})
	require.NoError(t, err)
	ctx, err := adkrun.Begin(context.Background(), mw, &adkrun.Run{})
	require.NoError(t, err)
	hook := func(msgs []M) []M {
		_, state, err := mw.BeforeModelRewriteState(ctx, &adk.TypedChatModelAgentState[M]{Messages: msgs}, nil)
		require.NoError(t, err)
		return state.Messages
	}
	out := hook(msgs)
	require.NotEqual(t, msgs, out)
	run := mw.(interface{ Unwrap() adkrun.Handler[M] }).Unwrap().(*middleware[M]).policy.runOf(ctx)
	for i := range 3 {
		id := fmt.Sprint("later_", i)
		out = append(slices.Clone(out), reporting(adktest.Assistant[M]("", adktest.ToolCall{ID: id, Name: "shell", Args: `{}`}), int(1.5*float64(e.count(out, nil)))), adktest.Result[M](id, "shell", "done"))
		out = hook(out)
	}
	_, factor := exactly(e, &run.counts, out, nil, 1<<40)
	require.InDelta(t, 1.5, factor, .02)
}

// A text is known by where it is: whatever happens to a history, the estimate in a run
// is that of the same messages outside of one.
func TestWhatARunKnowsOfItsTextsIsRight(t *testing.T) {
	adktest.EachType(t, knows[*schema.Message], knows[*schema.AgenticMessage])
}

func knows[M adk.MessageType](t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 1))
	e := new(estimator[M])
	next := func() M {
		text := strings.Repeat(fmt.Sprint("word ", r.IntN(1000), " "), 1+r.IntN(5))
		switch r.IntN(3) {
		case 0:
			return adktest.User[M](text)
		case 1:
			return reporting(adktest.Assistant[M](text, adktest.ToolCall{ID: "c", Name: "shell", Args: fmt.Sprintf(`{"n":%d}`, r.IntN(100))}), r.IntN(150))
		}
		return adktest.Result[M]("c", "shell", text)
	}
	corrected := 0
	for range race.Cases(2000) {
		run, whole := &counted{}, &counted{}
		var msgs []M
		for range 6 + r.IntN(20) {
			switch at := r.IntN(len(msgs) + 1); r.IntN(8) {
			case 0:
				msgs = slices.Insert(slices.Clone(msgs), at, next())
			case 1:
				msgs = slices.Delete(slices.Clone(msgs), at, min(len(msgs), at+r.IntN(4)))
			case 2:
				if at < len(msgs) {
					msgs = slices.Clone(msgs)
					msgs[at] = next()
				}
			default:
				msgs = append(msgs, next())
			}
			tools := []*schema.ToolInfo{{Name: "shell", Desc: "runs"}, {Name: fmt.Sprint("tool ", r.IntN(3))}}[:r.IntN(3)]
			threshold := []int64{20, 100, 1 << 40}[r.IntN(3)]
			got, factor := exactly(e, run, msgs, tools, threshold)
			if factor == 1 {
				require.Equal(t, e.count(msgs, tools), got, "seed %d", seed)
			} else {
				corrected++
			}
			whole.messages = nil // it looks at every message
			want, wanted := exactly(e, whole, msgs, tools, threshold)
			require.Equal(t, []any{want, wanted}, []any{got, factor}, "seed %d", seed)
			if r.IntN(10) == 0 {
				run.edited(len(msgs))
				whole.edited(len(msgs))
			}
		}
	}
	require.NotZero(t, corrected)
}

// Whoever changes a message in its place is noticed before anything is cleared, and after
// a few requests.
func TestAMessageThatIsChangedInItsPlaceIsNoticed(t *testing.T) {
	long := strings.Repeat("some words of a long text ", 500)
	e, run := new(estimator[*schema.Message]), &counted{}
	msgs := []*schema.Message{schema.UserMessage("look"), schema.UserMessage(long), schema.UserMessage("and go")}
	whole, _ := exactly(e, run, msgs, nil, 1<<40)
	msgs[1].Content = "short"
	want := e.count(msgs, nil)
	got, _ := exactly(e, run, msgs, nil, whole)
	require.Equal(t, want, got, "one that would be over the threshold")

	msgs[1].Content = long
	walks := 0
	for got != whole {
		got, _ = exactly(e, run, msgs, nil, 1<<40)
		walks++
	}
	require.LessOrEqual(t, walks, verifyEvery)
	require.Greater(t, walks, 1, "messages are not looked at each time")
}

// One context may serve several model calls at once: each counts right, with the run's
// knowledge or without.
func TestModelCallsOfOneRunMayCountAtTheSameTime(t *testing.T) {
	adktest.EachType(t, atOnce[*schema.Message], atOnce[*schema.AgenticMessage])
}

func atOnce[M adk.MessageType](t *testing.T) {
	e, run := new(estimator[M]), &counted{}
	var wg sync.WaitGroup
	for i := range 8 {
		msgs := charged[M](10+i, 0)
		want := e.count(msgs, nil)
		wg.Go(func() {
			for range 20 {
				if got, _ := exactly(e, run, msgs, nil, 1<<40); got != want {
					t.Errorf("%d tokens, want %d", got, want)
				}
				run.edited(len(msgs))
			}
		})
	}
	wg.Wait()
}

func TestATextIsReadOnceInARun(t *testing.T) {
	adktest.EachType(t, readOnce[*schema.Message], readOnce[*schema.AgenticMessage])
}

func readOnce[M adk.MessageType](t *testing.T) {
	e, run, msgs := new(estimator[M]), &counted{}, charged[M](20, 0)
	first, _ := exactly(e, run, msgs, nil, 1<<40)
	for i := range run.messages {
		run.messages[i].tokens += 1000 // a message that is read again counts less
	}
	known := int64(len(run.messages)) * 1000
	again, _ := exactly(e, run, msgs, nil, 1<<40)
	require.Equal(t, first+known, again)
	hello := adktest.User[M]("hello")
	for name, changed := range map[string][]M{
		"after": append(slices.Clone(msgs), hello), "before": append([]M{hello}, msgs...), "between": slices.Insert(slices.Clone(msgs), 7, hello),
	} {
		got, _ := exactly(e, run, changed, nil, 1<<40)
		require.Equal(t, again+e.count([]M{hello}, nil), got, name)
		got, _ = exactly(e, run, msgs, nil, 1<<40)
		require.Equal(t, again, got, name)
	}
}

// Whatever is decided without reading all texts is what reading them decides.
func TestALimitIsComparedWithAsLittleReadingAsPossible(t *testing.T) {
	adktest.EachType(t, compares[*schema.Message], compares[*schema.AgenticMessage])
}

func compares[M adk.MessageType](t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 7))
	kinds := []string{"some words of a text, ", `{"id":"3fa85f64-5717-4562","total":118.5},`, "9f86d081884c7d659a2feaa0c55ad015", "工具的结果会保存到存储中", "\n        \t"}
	e, unread := new(estimator[M]), 0
	for range race.Cases(150) {
		var msgs []M
		ratio := []float64{0, 0, .7, 1.5}[r.IntN(4)]
		sent := int64(0)
		for i := range 1 + r.IntN(12) {
			text := fmt.Sprint(r.Uint64()) + strings.Repeat(kinds[r.IntN(len(kinds))], 1+r.IntN(4000))
			m := adktest.User[M](text)
			if i%2 == 1 {
				m = reporting(adktest.Assistant[M](text), int(ratio*float64(sent)))
			}
			msgs, sent = append(msgs, m), sent+e.count([]M{m}, nil)
		}
		limit := int64(float64(sent) * (.2 + 3*r.Float64()))
		run := &counted{}
		for range 3 {
			got := e.compared(run, msgs, nil, limit, limit)
			want, factor := exactly(e, &counted{}, msgs, nil, limit)
			require.Equal(t, want < limit, got.tokens < limit, "seed %d: %d of %d, %+v", seed, want, limit, got)
			if got.exact {
				require.Equal(t, []any{want, factor}, []any{got.tokens, got.factor}, "seed %d", seed)
			} else {
				unread++
			}
			msgs = append(msgs, adktest.User[M](strings.Repeat("more of it ", r.IntN(100))))
		}
	}
	require.NotZero(t, unread)
}

func TestTheStartOfARunReadsNoText(t *testing.T) {
	adktest.EachType(t, startsUnread[*schema.Message], startsUnread[*schema.AgenticMessage])
}

func startsUnread[M adk.MessageType](t *testing.T) {
	e, seed := new(estimator[M]), rand.Uint64() // no other test has these texts
	var msgs []M
	for i := range 100 {
		msgs = append(msgs, adktest.User[M](strings.Repeat(fmt.Sprintf("line %d of the text %020d that no other one repeats\n", i, seed), 100)))
	}
	const bytes = 100 * 100 * 70
	for _, limit := range []int64{2 * bytes, bytes * 3 / 4, 1} {
		run := &counted{}
		require.False(t, e.compared(run, msgs, nil, limit, limit).exact, "limit %d", limit)
		require.Len(t, run.messages, 100)
		for _, k := range run.messages {
			require.Negative(t, k.tokens, "limit %d", limit)
		}
	}
	// Read once, they are known to the next run, whose limit is too near for a sample.
	near := e.count(msgs, nil)
	require.True(t, e.compared(&counted{}, msgs, nil, near+1, near+1).exact)
	require.True(t, tokens.Known(adktest.Text(msgs[50])))
}

// A pass rewrites everything behind the first result that it clears. One that saves next to
// nothing of that would cost more than it saves.
func TestAPassThatBreaksMuchMoreThanItSavesWaits(t *testing.T) {
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
	n := new(estimator[M]).count(msgs, nil)
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
	_, pass = looked(t, &TypedConfig[M]{MaxTokensForClear: new(estimator[M]).count(large, nil) - 10}, large)
	require.Positive(t, pass.Cleared)
}

// A caller that passes the whole history each time has old results cleared again each time. A new
// one that saves next to nothing must not be cleared with them: the cache holds up to it.
func TestNewResultsStayWhereClearingThemSavesNextToNothing(t *testing.T) {
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
	before, pass := looked(t, c, msgs)
	require.Equal(t, 2, pass.Kept[string(ReasonTooFewTokens)])
	for range 5 {
		add(few)
		next, _ := looked(t, c, msgs)
		require.Equal(t, before, next[:len(before)])
		before = next
	}
	// Without room they are cleared, and so they are with one that is worth it.
	_, pass = looked(t, &TypedConfig[M]{MaxTokensForClear: 5000, Backend: store}, msgs)
	require.Zero(t, pass.Kept[string(ReasonTooFewTokens)])
	add(strings.Repeat("another that is long ", 9000))
	add("the end")
	_, pass = looked(t, &TypedConfig[M]{MaxTokensForClear: 40_000, Backend: store}, msgs)
	require.Zero(t, pass.Kept[string(ReasonTooFewTokens)])
}

// A handler that changes arguments is reported like one that changes a result, also where
// SkipClear leaves all other tools alone.
func TestAHandlerThatChangesArgumentsIsReported(t *testing.T) {
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
				require.Equal(t, byHandler, e.Output.Rule)
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
func TestExclusionsCountThroughCallTool(t *testing.T) {
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
