// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch_test

// Native search by the model's provider: UseModelToolSearch and Native.

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/adktest"
	"github.com/einolean/einolean/internal/dev/race"
	"github.com/einolean/einolean/internal/einorun"
	"github.com/einolean/einolean/toolsearch"
)

// What adapters leave in Extra.
const (
	markKey   = "openai-tool-search-tool-call"
	eventsKey = "_eino_claude_tool_search_events"
)

// past is one turn of a history: an answer of the model, and the results of its calls.
type past struct {
	text   string
	calls  []pastCall
	hosted []string // found by the provider's own search; nil: it did not search
}

func (p past) plainAnswer() *schema.Message {
	var calls []schema.ToolCall
	for _, c := range p.calls {
		calls = append(calls, schema.ToolCall{ID: c.id, Function: schema.FunctionCall{Name: c.name, Arguments: "{}"}})
	}
	m := schema.AssistantMessage(p.text, calls)
	m.Extra = map[string]any{"other": 1}
	if p.hosted != nil {
		found := &claudeContent{}
		for _, n := range p.hosted {
			found.ToolReferences = append(found.ToolReferences, struct{ ToolName string }{n})
		}
		m.Extra[eventsKey] = []claudeEvent{{Type: "server_tool_use", ID: "s", Input: json.RawMessage("{}")}, {Type: "tool_search_tool_result", ToolUseID: "s", Content: found}}
	}
	return m
}

func (p past) agenticAnswer() *schema.AgenticMessage {
	m := &schema.AgenticMessage{Role: schema.AgenticRoleTypeAssistant}
	if p.hosted != nil {
		tools := []any{}
		for _, n := range p.hosted {
			tools = append(tools, map[string]any{"name": n})
		}
		m.ContentBlocks = append(m.ContentBlocks,
			schema.NewContentBlock(&schema.ServerToolCall{Arguments: map[string]any{"tool_search": map[string]any{"arguments": map[string]any{}}}}),
			schema.NewContentBlock(&schema.ServerToolResult{Content: map[string]any{"tool_search": map[string]any{"tools": tools}}}))
	}
	if p.text != "" {
		m.ContentBlocks = append(m.ContentBlocks, schema.NewContentBlock(&schema.AssistantGenText{Text: p.text}))
	}
	for _, c := range p.calls {
		b := schema.NewContentBlock(&schema.FunctionToolCall{CallID: c.id, Name: c.name, Arguments: "{}"})
		if c.marked {
			b.Extra = map[string]any{markKey: true, "openai-item-id": "tsc_" + c.id}
		}
		m.ContentBlocks = append(m.ContentBlocks, b)
	}
	return m
}

type pastCall struct {
	id, name string
	marked   bool
	found    []string // what a search returned
	native   bool     // as tools and not as text
	parts    int      // of a native result
	bare     bool     // a native result that is nil
}

func (c pastCall) plainResult() *schema.Message {
	m := schema.ToolMessage("ok", c.id, schema.WithToolName(c.name))
	switch {
	case c.native:
		m.Content = ""
		for i := range c.parts {
			m.UserInputMultiContent = append(m.UserInputMultiContent, schema.MessageInputPart{
				Type: schema.ChatMessagePartTypeToolSearchResult, ToolSearchResult: c.result(i),
			})
		}
	case c.found != nil:
		m.Content = c.matches()
	}
	return m
}

// result is a part of the result; the first part holds the tools.
func (c pastCall) result(part int) *schema.ToolSearchResult {
	if part > 0 || c.bare {
		return nil
	}
	r := &schema.ToolSearchResult{Tools: []*schema.ToolInfo{nil}}
	for _, n := range c.found {
		r.Tools = append(r.Tools, &schema.ToolInfo{Name: n, Desc: "as it was"})
	}
	return r
}

func (c pastCall) matches() string {
	text, err := json.Marshal(map[string]any{"matches": c.found})
	if err != nil {
		panic(err)
	}
	return string(text)
}

func (c pastCall) agenticResult() *schema.AgenticMessage {
	text := "ok"
	if c.found != nil {
		text = c.matches()
	}
	b := schema.NewContentBlock(&schema.FunctionToolResult{CallID: c.id, Name: c.name, Content: []*schema.FunctionToolResultContentBlock{
		{Type: schema.FunctionToolResultContentBlockTypeText, Text: &schema.UserInputText{Text: text}},
	}})
	if c.native {
		b = schema.NewContentBlock(&schema.ToolSearchFunctionToolResult{CallID: c.id, Name: c.name, Result: c.result(0)})
	}
	return &schema.AgenticMessage{Role: schema.AgenticRoleTypeUser, ContentBlocks: []*schema.ContentBlock{b}}
}

// anyPast is a random history over tools that are hidden, gone, or the agent's own.
func anyPast(r *rand.Rand) (turns []past) {
	names := []string{"alpha", "beta", "gamma", "gone", "own"}
	some := func(most int) (list []string) {
		list = []string{}
		for range r.IntN(most + 1) {
			list = append(list, names[r.IntN(len(names))])
		}
		return list
	}
	for i := range 1 + r.IntN(6) {
		p := past{text: []string{"", "so"}[r.IntN(2)]}
		if r.IntN(4) == 0 {
			p.hosted = some(2)
		}
		for j := range r.IntN(3) {
			c := pastCall{id: fmt.Sprintf("c%d_%d", i, j), name: "tool_search", marked: r.IntN(2) == 0, native: r.IntN(2) == 0, found: some(3), parts: 1 + r.IntN(2)}
			if c.native && r.IntN(6) == 0 {
				c.bare, c.found = true, []string{}
			}
			if r.IntN(3) == 0 {
				c = pastCall{id: c.id, name: names[r.IntN(3)]}
			}
			p.calls = append(p.calls, c)
		}
		if p.text == "" && len(p.calls) == 0 {
			p.text = "hm"
		}
		turns = append(turns, p)
	}
	return turns
}

// write makes messages of a history.
func write[M adk.MessageType](turns []past) (list []M) {
	add := func(m any) { list = append(list, m.(M)) }
	_, agentic := any(*new(M)).(*schema.AgenticMessage)
	if agentic {
		add(schema.UserAgenticMessage("please"))
	} else {
		add(schema.UserMessage("please"))
	}
	for _, p := range turns {
		if agentic {
			add(p.agenticAnswer())
		} else {
			add(p.plainAnswer())
		}
		for _, c := range p.calls {
			if agentic {
				add(c.agenticResult())
			} else {
				add(c.plainResult())
			}
		}
	}
	return list
}

// claudeEvent has the fields of the claude adapter's own.
type claudeEvent struct {
	Type, ID, ToolUseID string
	Input               json.RawMessage
	Content             *claudeContent
}

type claudeContent struct {
	ToolReferences []struct{ ToolName string }
}

// reading is what a history says, in order.
type reading struct {
	calls, results []string        // ids
	marked, native map[string]bool // by id
	returned       []string        // names in native results
	texts          map[string]string
	hosted         []string // names that hosted searches refer to
	searches       int      // hosted searches
	empty          int      // messages that hold nothing
}

func (r *reading) plain(m *schema.Message) {
	if events, ok := m.Extra[eventsKey].([]claudeEvent); ok {
		r.searches++
		for _, ref := range events[1].Content.ToolReferences {
			r.hosted = append(r.hosted, ref.ToolName)
		}
	}
	for _, c := range m.ToolCalls {
		r.calls = append(r.calls, c.ID)
	}
	if m.Content == "" && len(m.ToolCalls)+len(m.UserInputMultiContent) == 0 && m.Extra[eventsKey] == nil {
		r.empty++
	}
	if m.Role != schema.Tool {
		return
	}
	r.results = append(r.results, m.ToolCallID)
	r.texts[m.ToolCallID] = m.Content
	for _, p := range m.UserInputMultiContent {
		if p.Type == schema.ChatMessagePartTypeToolSearchResult {
			r.tools(m.ToolCallID, p.ToolSearchResult)
		}
	}
}

func (r *reading) tools(id string, result *schema.ToolSearchResult) {
	if r.native[id] {
		r.texts[id] += "twice" // no adapter takes two
	}
	r.native[id] = true
	if result == nil {
		r.texts[id] += "nil"
		return
	}
	for _, t := range result.Tools {
		if t == nil {
			r.texts[id] += "nil"
			continue
		}
		r.returned = append(r.returned, t.Name)
	}
}

func (r *reading) agentic(m *schema.AgenticMessage) {
	if len(m.ContentBlocks) == 0 {
		r.empty++
	}
	for _, b := range m.ContentBlocks {
		switch {
		case b.FunctionToolCall != nil:
			r.calls = append(r.calls, b.FunctionToolCall.CallID)
			r.marked[b.FunctionToolCall.CallID] = b.Extra[markKey] == true
		case b.FunctionToolResult != nil:
			r.results = append(r.results, b.FunctionToolResult.CallID)
			r.texts[b.FunctionToolResult.CallID] = b.FunctionToolResult.Content[0].Text.Text
		case b.ToolSearchFunctionToolResult != nil:
			s := b.ToolSearchFunctionToolResult
			r.results = append(r.results, s.CallID)
			r.tools(s.CallID, s.Result)
		case b.ServerToolCall != nil:
			r.searches++
		case b.ServerToolResult != nil:
			for _, t := range strings.Split(dump(b.ServerToolResult.Content), `"name":"`)[1:] {
				r.hosted = append(r.hosted, t[:strings.Index(t, `"`)])
			}
		}
	}
}

func read[M adk.MessageType](list []M) reading {
	r := reading{marked: map[string]bool{}, native: map[string]bool{}, texts: map[string]string{}}
	for _, m := range list {
		switch m := any(m).(type) {
		case *schema.Message:
			r.plain(m)
		case *schema.AgenticMessage:
			r.agentic(m)
		}
	}
	return r
}

func dump(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(text)
}

func TestNative_AdapterFollowsModel(t *testing.T) {
	const client, hosted, refused = "client", "hosted", "refused"
	wrapped := struct{ inner any }{modelType("Claude")}
	for _, c := range []struct {
		name    string
		model   any
		native  toolsearch.Adapter
		agentic bool
		want    string
	}{
		{"Claude alone", modelType("Claude"), "", false, client},
		{"Claude, hosted", modelType("Claude"), toolsearch.Hosted, false, hosted},
		{"Claude, its hosted contract", modelType("Claude"), toolsearch.ClaudeHosted, false, hosted},
		{"Claude, its client contract", modelType("Claude"), toolsearch.ClaudeClient, false, client},
		{"Responses alone", modelType("AgenticOpenAI/Responses"), "", true, client},
		{"Responses, hosted", modelType("AgenticOpenAI/Responses"), toolsearch.Hosted, true, hosted},
		{"Responses, its hosted contract", modelType("AgenticOpenAI/Responses"), toolsearch.OpenAIHosted, true, hosted},
		{"agentic Claude alone", modelType("AgenticClaude"), "", true, client},
		{"agentic Claude has no hosted search", modelType("AgenticClaude"), toolsearch.Hosted, true, refused},
		{"OpenAI's chat alone", modelType("OpenAI"), "", false, refused},
		{"OpenAI's chat, hosted", modelType("OpenAI"), toolsearch.Hosted, false, refused},
		{"OpenAI's chat with Claude's contract", modelType("OpenAI"), toolsearch.ClaudeHosted, false, refused},
		{"Ollama with Claude's contract", modelType("Ollama"), toolsearch.ClaudeClient, false, refused},
		{"Responses with Claude's contract", modelType("AgenticOpenAI/Responses"), toolsearch.AgenticClaudeClient, true, refused},
		{"Claude with OpenAI's contract", modelType("AgenticClaude"), toolsearch.OpenAIClient, true, refused},
		{"a wrapped model alone", wrapped, "", false, refused},
		{"a wrapped model, hosted", wrapped, toolsearch.Hosted, false, refused},
		{"a wrapped model with a contract", wrapped, toolsearch.ClaudeHosted, false, hosted},
		{"an unknown type with a contract", modelType("Wrapper"), toolsearch.ClaudeClient, false, client},
		{"no model, hosted", nil, toolsearch.Hosted, false, refused},
		{"no model with a contract", nil, toolsearch.ClaudeHosted, false, hosted},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg := &toolsearch.Config{DynamicTools: officeTools(), UseModelToolSearch: true, Model: c.model, Native: c.native}
			if c.agentic {
				testNativeAdapterFollowsModel[*schema.AgenticMessage](t, cfg, c.want)
			} else {
				testNativeAdapterFollowsModel[*schema.Message](t, cfg, c.want)
			}
		})
	}
}

// testNativeAdapterFollowsModel tells the contracts apart by who searches: where the provider does, calls of
// tools that were not loaded run, and the agent has no search tool of the model's.
func testNativeAdapterFollowsModel[M adk.MessageType](t *testing.T, cfg *toolsearch.Config, want string) {
	h, err := toolsearch.NewTyped[M](context.Background(), cfg)
	if want == "refused" {
		require.ErrorIs(t, err, toolsearch.ErrNativeUnsupported)
		cfg.DynamicTools, cfg.DeferMarkedTools = nil, true
		h, err = toolsearch.NewTyped[M](context.Background(), cfg)
		require.NoError(t, err, "there is nothing to hide")
		rc := &einorun.RunContext{Tools: simpleTools("own")}
		_, err := einorun.Begin(context.Background(), h, rc)
		require.NoError(t, err)
		require.Len(t, rc.Tools, 1)
		return
	}
	require.NoError(t, err)
	rc := &einorun.RunContext{}
	_, err = einorun.Begin(context.Background(), h, rc)
	require.NoError(t, err)
	require.Equal(t, want == "client", rc.ToolSearchTool != nil)
}

// modelType is a model as far as its type goes.
type modelType string

func (m modelType) GetType() string { return string(m) }

func TestNative_AnyHistoryFitsAnyAdapter(t *testing.T) {
	t.Run("Message", func(t *testing.T) { testNativeAnyHistoryFitsAnyAdapter[*schema.Message](t, false) })
	t.Run("AgenticMessage", func(t *testing.T) { testNativeAnyHistoryFitsAnyAdapter[*schema.AgenticMessage](t, true) })
}

func testNativeAnyHistoryFitsAnyAdapter[M adk.MessageType](t *testing.T, agentic bool) {
	r := newRand(t)
	for range race.Cases(300) {
		turns := anyPast(r)
		for _, c := range contractsOf[agentic] {
			h := letterTools[M](t, c)
			before := write[M](turns)
			kept := dump(before)
			out := next(t, h, before)
			require.Equal(t, kept, dump(before), "what was handed in changed under %q", c)
			requireFit(t, c, turns, read(before), read(out.Messages), out)

			again := next(t, h, out.Messages)
			require.True(t, slices.Equal(out.Messages, again.Messages), "under %q, a second pass changed %s", c, dump(out.Messages))
			require.Equal(t, adktest.Names(out.ToolInfos), adktest.Names(again.ToolInfos))
		}
	}
}

const keywordContract toolsearch.Adapter = "keyword" // no contract at all

var contractsOf = map[bool][]toolsearch.Adapter{
	false: {keywordContract, "", toolsearch.ClaudeHosted, toolsearch.ClaudeClient},
	true:  {keywordContract, "", toolsearch.OpenAIHosted, toolsearch.OpenAIClient, toolsearch.AgenticClaudeClient},
}

func letterTools[M adk.MessageType](t *testing.T, c toolsearch.Adapter) adk.TypedChatModelAgentMiddleware[M] {
	t.Helper()
	cfg := toolsearch.Config{DynamicTools: []tool.BaseTool{adktest.Simple("alpha", "a"), adktest.Simple("beta", "b"), adktest.Simple("gamma", "c")}}
	if c != keywordContract {
		cfg.UseModelToolSearch, cfg.Native = true, c
	}
	h, err := toolsearch.NewTyped[M](context.Background(), &cfg)
	require.NoError(t, err)
	return h
}

// next is what a model call sends after a history.
func next[M adk.MessageType](t *testing.T, h adk.TypedChatModelAgentMiddleware[M], list []M) *adk.TypedChatModelAgentState[M] {
	t.Helper()
	_, out, err := h.BeforeModelRewriteState(context.Background(), &adk.TypedChatModelAgentState[M]{Messages: list, ToolInfos: []*schema.ToolInfo{{Name: "own"}}}, nil)
	require.NoError(t, err)
	return out
}

func requireFit[M adk.MessageType](t *testing.T, c toolsearch.Adapter, turns []past, was, is reading, out *adk.TypedChatModelAgentState[M]) {
	t.Helper()
	about := "under " + string(c) + ": " + dump(out.Messages)
	require.Equal(t, was.calls, is.calls, about)
	require.Equal(t, was.results, is.results, about)
	require.Zero(t, is.empty, about)
	full, later := adktest.Names(out.ToolInfos), adktest.Names(out.DeferredToolInfos)
	requireDisjoint(t, full, later, about)
	if c == "" {
		return // Eino's own behaviour, as far as a provider goes
	}
	for id, text := range is.texts {
		require.NotContains(t, text, "twice", about)
		require.NotContains(t, text, "nil", about)
		require.True(t, is.native[id] || text != "", about)
	}
	requireDisjoint(t, full, is.returned, about)
	switch c {
	case keywordContract, toolsearch.ClaudeHosted, toolsearch.OpenAIHosted:
		require.Empty(t, is.native, about)
	case toolsearch.ClaudeClient, toolsearch.AgenticClaudeClient:
		for id := range is.native {
			require.NotEmpty(t, is.returned, "an empty result of %s: %s", id, about)
		}
	}
	if c == toolsearch.ClaudeClient {
		require.Len(t, slices.Compact(slices.Sorted(slices.Values(is.returned))), len(is.returned), about)
	}
	for id, marked := range is.marked {
		require.True(t, is.native[id] || !marked, "a marked call with text, %s %s", id, about)
		require.True(t, marked || !is.native[id] || c != toolsearch.OpenAIClient, "a call without mark with tools, %s %s", id, about)
	}
	requireHosted(t, c, is, later, full, about)
	requireSeen(t, c, turns, is, full, about)
}

func requireDisjoint(t *testing.T, a, b []string, about string) {
	t.Helper()
	for _, name := range a {
		require.NotContains(t, b, name, about)
	}
}

// requireHosted: searches of the provider stay where it searches, if all they refer to is
// declared.
func requireHosted(t *testing.T, c toolsearch.Adapter, is reading, later, full []string, about string) {
	t.Helper()
	if c != toolsearch.ClaudeHosted && c != toolsearch.OpenAIHosted {
		require.Zero(t, is.searches, about)
	}
	require.Subset(t, append(later, full...), is.hosted, about)
	if c == toolsearch.AgenticClaudeClient {
		require.Subset(t, later, is.returned, about)
	}
	require.NotContains(t, is.returned, "gone", about)
	require.NotContains(t, is.returned, "own", about)
}

// requireSeen: what the history loaded, the model sees; where the provider searches, as far
// as it was loaded by somebody else.
func requireSeen(t *testing.T, c toolsearch.Adapter, turns []past, is reading, full []string, about string) {
	t.Helper()
	hosted := c == toolsearch.ClaudeHosted || c == toolsearch.OpenAIHosted
	for _, p := range turns {
		for _, x := range p.calls {
			names := x.found
			if !hosted {
				names = append(slices.Clone(names), x.name)
			}
			for _, n := range names {
				if n == "alpha" || n == "beta" || n == "gamma" {
					require.Contains(t, append(slices.Clone(is.returned), full...), n, about)
				}
			}
		}
	}
}

// While a run may stop, what a provider searched is text, which any checkpoint can hold;
// the next model call sends what it was.
func TestNative_ProviderSearchIsTextInCheckpoint(t *testing.T) {
	t.Run("Message", func(t *testing.T) {
		testNativeProviderSearchIsTextInCheckpoint[*schema.Message](t, toolsearch.ClaudeHosted)
	})
	t.Run("AgenticMessage", func(t *testing.T) {
		testNativeProviderSearchIsTextInCheckpoint[*schema.AgenticMessage](t, toolsearch.OpenAIHosted)
	})
}

func testNativeProviderSearchIsTextInCheckpoint[M adk.MessageType](t *testing.T, c toolsearch.Adapter) {
	r := newRand(t)
	h := letterTools[M](t, c)
	searches := 0
	for n := 0; n < race.Cases(200) || n < 1000 && searches == 0; n++ {
		called := next(t, h, write[M](anyPast(r)))
		sent, kept := read(called.Messages), dump(called.Messages)
		_, rests, err := h.AfterModelRewriteState(context.Background(), called, nil)
		require.NoError(t, err)
		require.Equal(t, kept, dump(called.Messages), "what was handed in changed")
		require.Empty(t, rests.DeferredToolInfos)
		for _, m := range rests.Messages {
			requirePacked(t, m)
		}
		_, twice, err := h.AfterModelRewriteState(context.Background(), rests, nil)
		require.NoError(t, err)
		require.True(t, slices.Equal(rests.Messages, twice.Messages))

		again := next(t, h, rests.Messages)
		require.Equal(t, sent, read(again.Messages))
		require.JSONEq(t, kept, dump(again.Messages))
		searches += sent.searches
	}
	require.Positive(t, searches)
}

func requirePacked(t *testing.T, m any) {
	t.Helper()
	switch m := m.(type) {
	case *schema.Message:
		if events := m.Extra[eventsKey]; events != nil {
			require.IsType(t, "", events)
		}
	case *schema.AgenticMessage:
		for _, b := range m.ContentBlocks {
			if b.ServerToolCall != nil {
				require.IsType(t, "", b.ServerToolCall.Arguments)
			}
			if b.ServerToolResult != nil {
				require.IsType(t, "", b.ServerToolResult.Content)
			}
		}
	}
}

func TestNative_ProviderSearchCanBeSaved_TS33(t *testing.T) {
	playAll(t, scenariosTS33())
}

func scenariosTS33() []scenario {
	return []scenario{
		{"TS-33", "what a provider's own search left in a message", leftBySearch, nil, "the adapter's type", "text"},
	}
}

// leftBySearch asks what the state holds after a model call in which the provider searched.
func leftBySearch(t *testing.T, s implementation[*schema.Message]) string {
	type event struct{ Name string }
	m := adktest.Assistant[*schema.Message]("found")
	m.Extra = map[string]any{"_eino_claude_tool_search_events": []event{{"a1"}}}
	state := &adk.ChatModelAgentState{Messages: []*schema.Message{m}}
	_, next, err := s.mustBuildNative(t, simpleTools("a1")...).AfterModelRewriteState(context.Background(), state, nil)
	require.NoError(t, err)
	require.IsType(t, []event{}, m.Extra["_eino_claude_tool_search_events"], "the message itself is as it was")
	if _, is := next.Messages[0].Extra["_eino_claude_tool_search_events"].(string); is {
		return "text"
	}
	return "the adapter's type"
}

// Server tools that have nothing to do with searching for tools are not touched.
func TestNative_KeepsOtherServerTools(t *testing.T) {
	type private struct{ A int }
	m := &schema.AgenticMessage{Role: schema.AgenticRoleTypeAssistant, ContentBlocks: []*schema.ContentBlock{
		schema.NewContentBlock(&schema.ServerToolCall{Name: "web_search", Arguments: &private{1}}),
		schema.NewContentBlock(&schema.ServerToolResult{Name: "web_search", Content: "plain text"}),
		schema.NewContentBlock(&schema.ServerToolCall{Name: "odd", Arguments: func() {}}),
		nil,
	}}
	for _, c := range contractsOf[true] {
		h := letterTools[*schema.AgenticMessage](t, c)
		out := next(t, h, []*schema.AgenticMessage{m})
		_, out, err := h.AfterModelRewriteState(context.Background(), out, nil)
		require.NoError(t, err)
		require.Same(t, m, out.Messages[len(out.Messages)-1], string(c))
	}
}

func TestNative_HiddenToolsDoNotLeak_TS08(t *testing.T) {
	playAll(t, scenariosTS08())
}

func scenariosTS08() []scenario {
	return []scenario{
		{"TS-08", "native search without own tools", nativeAlone[*schema.Message], nativeAlone[*schema.AgenticMessage],
			"0: deferred:a1,a2 1:tool_search,a1,a2 deferred:a1,a2 2:tool_search,a1,a2 deferred:a1,a2",
			"0: deferred:a1,a2 1: deferred:a1,a2 2: deferred:a1,a2"},
	}
}

func nativeAlone[M adk.MessageType](t *testing.T, s implementation[M]) string {
	tr := s.run(userRequest[M](), nil, []adktest.Turn{adktest.Do(searchCall("1", "a1")), adktest.Do(toolCall("2", "a1"))}, s.mustBuildNative(t, simpleTools("a1", "a2")...))
	require.NoError(t, tr.Err)
	return tr.tools()
}

func TestNative_ReportsEmptySearch_TS27(t *testing.T) {
	playAll(t, scenariosTS27())
}

func scenariosTS27() []scenario {
	return []scenario{
		{"TS-27", "the model's own search finds nothing", searchesNatively[*schema.Message](`{"query":"volcano"}`), searchesNatively[*schema.AgenticMessage](`{"query":"volcano"}`), "[found ]", "a text"},
	}
}

// A native search that finds only tools which the model sees says so: an empty result would be rejected.
func TestNative_ReportsLoadedTools(t *testing.T) {
	for _, streaming := range []bool{false, true} {
		s := newScene[*schema.Message](t, streaming, toolsearch.Keyword)
		s.cfg.UseModelToolSearch, s.cfg.Native = true, toolsearch.ClaudeClient
		s.cfg.AlwaysVisible = []string{"slack__send_message"}
		p := s.begin(oneCall("1", "tool_search", `{"query":"select:slack__send_message"}`))
		require.Equal(t, "Loaded already, call directly: slack__send_message.", p.answer(t, "1"))
	}
}
