// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package tokencount

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/adktest"
	"github.com/einolean/einolean/internal/dev/race"
	"github.com/einolean/einolean/internal/tokens"
)

func count[M adk.MessageType](t *testing.T, msgs []M, tools ...*schema.ToolInfo) int64 {
	t.Helper()
	return new(Estimator[M]).Count(msgs, tools)
}

// exactly is the exact size of a request.
func exactly[M adk.MessageType](e *Estimator[M], run *Tracker, msgs []M, tools []*schema.ToolInfo, threshold int64) (int64, float64) {
	s := e.Size(run, msgs, tools, threshold, -1)
	return s.Tokens, s.Factor
}

func TestCount_EverythingThatModelReads_R16(t *testing.T) {
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

func TestSchemaSizes_AreBounded(t *testing.T) {
	s := &schemaSizes{}
	for range maxSchemas + 10 {
		s.sizeOf(new(int), func() int64 { return 1 })
	}
	n := 0
	s.byAddress.Range(func(any, any) bool { n++; return true })
	require.LessOrEqual(t, n, maxSchemas)
}

func TestCount_TextAsEstimated(t *testing.T) {
	text := `{"id": "3fa85f64", "price": 17.5}`
	require.EqualValues(t, messageOverhead+tokens.Estimate(text), count(t, []*schema.Message{schema.UserMessage(text)}))
}

// A schema can be part of itself. Counting must survive it: an overflowing stack
// ends the process.
//
//claim:security-19
func TestCount_RecursiveSchema(t *testing.T) {
	self := &schema.ParameterInfo{Type: schema.Object, Desc: "a tree"}
	self.SubParams = map[string]*schema.ParameterInfo{"child": self}
	described := schema.NewParamsOneOfByParams(map[string]*schema.ParameterInfo{"tree": self})
	made, err := schema.NewParamsOneOfByParams(map[string]*schema.ParameterInfo{"a": {Type: schema.String}}).ToJSONSchema()
	require.NoError(t, err)
	made.Properties.Set("again", made)
	mcp := schema.NewContentBlock(&schema.MCPListToolsResult{Tools: []*schema.MCPListToolsItem{{Name: "mcp", InputSchema: made}}})
	tools := []*schema.ToolInfo{{Name: "described", ParamsOneOf: described}, {Name: "made", ParamsOneOf: schema.NewParamsOneOfByJSONSchema(made)}}

	n := new(Estimator[*schema.Message]).Count(nil, tools)
	require.Positive(t, n)
	agentic := []*schema.AgenticMessage{{Role: schema.AgenticRoleTypeAssistant, ContentBlocks: []*schema.ContentBlock{mcp,
		schema.NewContentBlock(&schema.ServerToolCall{Name: "s", Arguments: panicking{}})}}}
	require.Greater(t, new(Estimator[*schema.AgenticMessage]).Count(agentic, tools), n)
}

type panicking struct{}

func (panicking) MarshalJSON() ([]byte, error) { panic("not today") }

// charged is a conversation of n rounds with a provider that counts ratio times the
// estimate.
func charged[M adk.MessageType](n int, ratio float64) []M {
	e := new(Estimator[M])
	return adktest.Charged(n, ratio, func(msgs []M) int64 { return e.Count(msgs, nil) })
}

// A text is known by where it is: whatever happens to a history, the estimate in a run
// is that of the same messages outside of one.
func TestTracker_EstimatesLikeCount(t *testing.T) {
	adktest.EachType(t, testTrackerEstimatesLikeCount[*schema.Message], testTrackerEstimatesLikeCount[*schema.AgenticMessage])
}

func testTrackerEstimatesLikeCount[M adk.MessageType](t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 1))
	e := new(Estimator[M])
	next := func() M {
		text := strings.Repeat(fmt.Sprint("word ", r.IntN(1000), " "), 1+r.IntN(5))
		switch r.IntN(3) {
		case 0:
			return adktest.User[M](text)
		case 1:
			return adktest.Reporting(adktest.Assistant[M](text, adktest.ToolCall{ID: "c", Name: "shell", Args: fmt.Sprintf(`{"n":%d}`, r.IntN(100))}), r.IntN(150))
		}
		return adktest.Result[M]("c", "shell", text)
	}
	corrected := 0
	for range race.Cases(2000) {
		run, whole := &Tracker{}, &Tracker{}
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
				require.Equal(t, e.Count(msgs, tools), got, "seed %d", seed)
			} else {
				corrected++
			}
			whole.messages = nil // it looks at every message
			want, wanted := exactly(e, whole, msgs, tools, threshold)
			require.Equal(t, []any{want, wanted}, []any{got, factor}, "seed %d", seed)
			if r.IntN(10) == 0 {
				run.Fix(1.25)
				whole.Fix(1.25)
			}
		}
	}
	require.NotZero(t, corrected)
}

// Whoever changes a message in its place is noticed before anything is cleared, and after
// a few requests.
func TestTracker_NoticesMessageChangedInPlace(t *testing.T) {
	long := strings.Repeat("some words of a long text ", 500)
	e, run := new(Estimator[*schema.Message]), &Tracker{}
	msgs := []*schema.Message{schema.UserMessage("look"), schema.UserMessage(long), schema.UserMessage("and go")}
	whole, _ := exactly(e, run, msgs, nil, 1<<40)
	msgs[1].Content = "short"
	want := e.Count(msgs, nil)
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
func TestTracker_ConcurrentModelCalls(t *testing.T) {
	adktest.EachType(t, testTrackerConcurrentModelCalls[*schema.Message], testTrackerConcurrentModelCalls[*schema.AgenticMessage])
}

func testTrackerConcurrentModelCalls[M adk.MessageType](t *testing.T) {
	e, run := new(Estimator[M]), &Tracker{}
	var wg sync.WaitGroup
	for i := range 8 {
		msgs := charged[M](10+i, 0)
		want := e.Count(msgs, nil)
		wg.Go(func() {
			for range 20 {
				if got, _ := exactly(e, run, msgs, nil, 1<<40); got != want {
					t.Errorf("%d tokens, want %d", got, want)
				}
				run.Fix(1)
			}
		})
	}
	wg.Wait()
}

func TestTracker_ReadsTextOnce(t *testing.T) {
	adktest.EachType(t, testTrackerReadsTextOnce[*schema.Message], testTrackerReadsTextOnce[*schema.AgenticMessage])
}

func testTrackerReadsTextOnce[M adk.MessageType](t *testing.T) {
	e, run, msgs := new(Estimator[M]), &Tracker{}, charged[M](20, 0)
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
		require.Equal(t, again+e.Count([]M{hello}, nil), got, name)
		got, _ = exactly(e, run, msgs, nil, 1<<40)
		require.Equal(t, again, got, name)
	}
}

// Whatever is decided without reading all texts is what reading them decides.
func TestSize_DecidesLikeExactSize(t *testing.T) {
	adktest.EachType(t, testSizeDecidesLikeExactSize[*schema.Message], testSizeDecidesLikeExactSize[*schema.AgenticMessage])
}

func testSizeDecidesLikeExactSize[M adk.MessageType](t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 7))
	kinds := []string{"some words of a text, ", `{"id":"3fa85f64-5717-4562","total":118.5},`, "9f86d081884c7d659a2feaa0c55ad015", "工具的结果会保存到存储中", "\n        \t"}
	e, unread := new(Estimator[M]), 0
	for n := 0; n < race.Cases(150) || n < 1000 && unread == 0; n++ {
		var msgs []M
		ratio := []float64{0, 0, .7, 1.5}[r.IntN(4)]
		sent := int64(0)
		for i := range 1 + r.IntN(12) {
			text := fmt.Sprint(r.Uint64()) + strings.Repeat(kinds[r.IntN(len(kinds))], 1+r.IntN(4000))
			m := adktest.User[M](text)
			if i%2 == 1 {
				m = adktest.Reporting(adktest.Assistant[M](text), int(ratio*float64(sent)))
			}
			msgs, sent = append(msgs, m), sent+e.Count([]M{m}, nil)
		}
		limit := int64(float64(sent) * (.2 + 3*r.Float64()))
		run := &Tracker{}
		for range 3 {
			got := e.Size(run, msgs, nil, limit, limit)
			want, factor := exactly(e, &Tracker{}, msgs, nil, limit)
			require.Equal(t, want < limit, got.Tokens < limit, "seed %d: %d of %d, %+v", seed, want, limit, got)
			if got.Exact {
				require.Equal(t, []any{want, factor}, []any{got.Tokens, got.Factor}, "seed %d", seed)
			} else {
				unread++
			}
			msgs = append(msgs, adktest.User[M](strings.Repeat("more of it ", r.IntN(100))))
		}
	}
	require.NotZero(t, unread)
}

func TestSize_FirstRequestReadsNoText(t *testing.T) {
	adktest.EachType(t, testSizeFirstRequestReadsNoText[*schema.Message], testSizeFirstRequestReadsNoText[*schema.AgenticMessage])
}

func testSizeFirstRequestReadsNoText[M adk.MessageType](t *testing.T) {
	e, seed := new(Estimator[M]), rand.Uint64() // no other test has these texts
	var msgs []M
	for i := range 100 {
		msgs = append(msgs, adktest.User[M](strings.Repeat(fmt.Sprintf("line %d of the text %020d that no other one repeats\n", i, seed), 100)))
	}
	const bytes = 100 * 100 * 70
	for _, limit := range []int64{2 * bytes, bytes * 3 / 4, 1} {
		run := &Tracker{}
		require.False(t, e.Size(run, msgs, nil, limit, limit).Exact, "limit %d", limit)
		require.Len(t, run.messages, 100)
		for _, k := range run.messages {
			require.Negative(t, k.tokens, "limit %d", limit)
		}
	}
	// Read once, they are known to the next run, whose limit is too near for a sample.
	near := e.Count(msgs, nil)
	require.True(t, e.Size(&Tracker{}, msgs, nil, near+1, near+1).Exact)
	require.True(t, tokens.Known(adktest.Text(msgs[50])))
}
