// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package reduction

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/leanctx/leanctx/internal/race"
	"github.com/leanctx/leanctx/internal/tokens"
)

func count[M adk.MessageType](t *testing.T, msgs []M, tools ...*schema.ToolInfo) int64 {
	t.Helper()
	n, err := newEstimator[M]().counter(context.Background(), msgs, tools)
	require.NoError(t, err)
	return n
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
	t.Run("Message", allocates[*schema.Message])
	t.Run("AgenticMessage", allocates[*schema.AgenticMessage])
}

func allocates[M adk.MessageType](t *testing.T) {
	mw, err := NewTyped(context.Background(), &TypedConfig[M]{Backend: NewMemoryBackend(0), ProvideReadTool: true, MaxTokensForClear: 1 << 40})
	require.NoError(t, err)
	var tools []*schema.ToolInfo
	for i := range 50 {
		tools = append(tools, &schema.ToolInfo{Name: fmt.Sprint("tool", i), ParamsOneOf: schema.NewParamsOneOfByParams(map[string]*schema.ParameterInfo{"p": {Type: schema.String}})})
	}
	ctx, _, err := mw.BeforeAgent(context.Background(), &adk.ChatModelAgentContext{})
	require.NoError(t, err)
	state := &adk.TypedChatModelAgentState[M]{Messages: conversation[M](1000, 4096), ToolInfos: tools}
	require.Zero(t, testing.AllocsPerRun(20, func() {
		_, out, err := mw.BeforeModelRewriteState(ctx, state, nil)
		if err != nil || out != state {
			t.Error("the state is not the one that came in")
		}
	}))
}

func TestOnlySoManySchemasAreRemembered(t *testing.T) {
	s := &schemaSizes{}
	for range maxSchemas + 10 {
		s.params(schema.NewParamsOneOfByParams(nil))
	}
	n := 0
	s.known.Range(func(any, any) bool { n++; return true })
	require.LessOrEqual(t, n, maxSchemas)
	require.Zero(t, s.params(nil))
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

	n, err := newEstimator[*schema.Message]().counter(context.Background(), nil, tools)
	require.NoError(t, err)
	require.Positive(t, n)
	agentic := []*schema.AgenticMessage{{Role: schema.AgenticRoleTypeAssistant, ContentBlocks: []*schema.ContentBlock{mcp,
		schema.NewContentBlock(&schema.ServerToolCall{Name: "s", Arguments: panicking{}})}}}
	m, err := newEstimator[*schema.AgenticMessage]().counter(context.Background(), agentic, tools)
	require.NoError(t, err)
	require.Greater(t, m, n)
}

type panicking struct{}

func (panicking) MarshalJSON() ([]byte, error) { panic("not today") }
