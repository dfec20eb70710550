// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package together

import (
	"context"
	"encoding/json"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/adktest"
	"github.com/einolean/einolean/internal/formats"
	"github.com/einolean/einolean/reduction"
	"github.com/einolean/einolean/store"
	"github.com/einolean/einolean/toolsearch"
)

// A conversation of an earlier build continues in this one: found tools are there, the provider continues
// what it stores, and files of the store are read and kept. The samples are of package formats.
func TestConversation_OfAnotherBuildContinues(t *testing.T) {
	adktest.EachType(t, talkOn[message]("plain"), talkOn[agenticMessage]("agentic"))
}

func talkOn[M adk.MessageType](kind string) func(t *testing.T) {
	return func(t *testing.T) {
		searches := searches()
		for _, way := range slices.Sorted(maps.Keys(searches)) {
			t.Run(way, func(t *testing.T) {
				s := searches[way]
				for name, text := range formats.Samples(t, "search-"+way+"-"+kind, ".json", func() string { return begin[M](t, s) }) {
					var c conversation[M]
					require.NoError(t, json.Unmarshal([]byte(text), &c), name)
					c.goesOn(t, s, false)
				}
				var own conversation[M]
				require.NoError(t, json.Unmarshal([]byte(begin[M](t, s)), &own))
				own.goesOn(t, s, true)
			})
		}
	}
}

// Tools that the provider's own search found, as its adapter recorded them, are loaded in an agent that searches
// itself.
func TestConversation_KeepsToolsFoundByProvider(t *testing.T) {
	adktest.EachType(t, findsAgain("plain", plainFinds), findsAgain("agentic", agenticFinds))
}

func findsAgain[M adk.MessageType](kind string, found func() []M) func(t *testing.T) {
	return func(t *testing.T) {
		for name, text := range formats.Samples(t, "search-native-"+kind, ".json", func() string { return conversation[M]{Messages: found()}.text(t) }) {
			var c conversation[M]
			require.NoError(t, json.Unmarshal([]byte(text), &c), name)
			s := searches()["keyword"]
			model := adktest.Script[M](s.after...)
			require.NoError(t, runWith[M](t, s, t.TempDir(), model, append(c.Messages, adktest.User[M]("go on"))).Err)
			requests := model.Wires()
			for _, found := range []string{names()[7], names()[9]} {
				require.Contains(t, requests[0].ToolNames, found, name)
			}
			require.NotContains(t, requests[0].ToolNames, names()[8], name)
			require.Contains(t, resultIn(requests[1].Messages, "use"), "echo", name)
			all := strings.Join(requests[0].MessagesDump, "\n")
			require.NotContains(t, all, "openai-tool-search-tool-call", "%s: another adapter takes it for a search of its own", name)
			require.NotContains(t, all, "_eino_claude_tool_search_events", "%s: it refers to what the request does not have", name)
		}
	}
}

// plainFinds is a conversation in which the provider found a tool and called it, and the agent found another one for it.
func plainFinds() []message {
	hosted := schema.AssistantMessage("It is there.", []schema.ToolCall{{ID: "h", Function: schema.FunctionCall{Name: names()[7], Arguments: "{}"}}})
	hosted.Extra = map[string]any{"_eino_claude_tool_search_events": []map[string]any{
		{"Type": "server_tool_use", "ID": "s", "Input": map[string]any{}},
		{"Type": "tool_search_tool_result", "ToolUseID": "s", "Content": map[string]any{"ToolReferences": []map[string]any{{"ToolName": names()[7]}}}},
	}}
	asked := schema.AssistantMessage("", []schema.ToolCall{{ID: "c", Function: schema.FunctionCall{Name: "tool_search", Arguments: "{}"}, Extra: map[string]any{"openai-tool-search-tool-call": true}}})
	result := schema.ToolMessage("", "c", schema.WithToolName("tool_search"))
	result.UserInputMultiContent = []schema.MessageInputPart{{Type: schema.ChatMessagePartTypeToolSearchResult,
		ToolSearchResult: &schema.ToolSearchResult{Tools: []*schema.ToolInfo{{Name: names()[9], Desc: "as it was"}}}}}
	return []message{schema.UserMessage("begin"), hosted, schema.ToolMessage("ok", "h", schema.WithToolName(names()[7])), schema.UserMessage("and then"), asked, result, schema.AssistantMessage("done", nil)}
}

func agenticFinds() []agenticMessage {
	answer := func(blocks ...*schema.ContentBlock) agenticMessage {
		return &schema.AgenticMessage{Role: schema.AgenticRoleTypeAssistant, ContentBlocks: blocks}
	}
	call := schema.NewContentBlock(&schema.FunctionToolCall{CallID: "c", Name: "tool_search", Arguments: "{}"})
	call.Extra = map[string]any{"openai-tool-search-tool-call": true, "openai-item-id": "tsc_c"}
	result := schema.NewContentBlock(&schema.ToolSearchFunctionToolResult{CallID: "c", Name: "tool_search",
		Result: &schema.ToolSearchResult{Tools: []*schema.ToolInfo{{Name: names()[9], Desc: "as it was"}}}})
	return []agenticMessage{
		schema.UserAgenticMessage("begin"),
		answer(schema.NewContentBlock(&schema.ServerToolCall{Arguments: map[string]any{"tool_search": map[string]any{"arguments": map[string]any{}}}}),
			schema.NewContentBlock(&schema.ServerToolResult{Content: map[string]any{"tool_search": map[string]any{"tools": []any{map[string]any{"name": names()[7]}}}}}),
			schema.NewContentBlock(&schema.ServerToolResult{Content: map[string]any{"search_result": map[string]any{"tool_references": []any{map[string]any{"tool_name": names()[7]}}}}}),
			schema.NewContentBlock(&schema.AssistantGenText{Text: "It is there."}),
			schema.NewContentBlock(&schema.FunctionToolCall{CallID: "h", Name: names()[7], Arguments: "{}"})),
		adktest.Result[agenticMessage]("h", names()[7], "ok"),
		schema.UserAgenticMessage("and then"), answer(call),
		{Role: schema.AgenticRoleTypeUser, ContentBlocks: []*schema.ContentBlock{result}}, answer(schema.NewContentBlock(&schema.AssistantGenText{Text: "done"})),
	}
}

// conversation is what a user keeps of one: the messages, and the files of the store.
type conversation[M adk.MessageType] struct {
	Messages []M
	Files    map[string]string
}

// search is how an agent finds its tools, and what its model does in the first run and in the next.
type search struct {
	config        toolsearch.Config
	before, after []adktest.Turn
	tied          int // answers that the provider continues in the next run
}

func searches() map[string]search {
	call := func(id, name, args string) adktest.Turn {
		return adktest.Do(adktest.ToolCall{ID: id, Name: name, Args: args})
	}
	direct, through := call("use", names()[7], "{}"), call("use", "call_tool", `{"name":"`+names()[7]+`","arguments":{}}`)
	return map[string]search{
		"keyword": {config: toolsearch.Config{CatalogLimit: 10},
			before: []adktest.Turn{find(names()[7]), direct, call("big", "big", "{}"), adktest.Say("done")}, after: []adktest.Turn{direct}, tied: 3}, // a tool was loaded between the first and the second
		"call": {config: toolsearch.Config{Protocol: toolsearch.SearchCall, Prefetch: 2},
			before: []adktest.Turn{find(names()[7]), through, call("big", "big", "{}"), adktest.Say("done")}, after: []adktest.Turn{through}, tied: 4},
	}
}

// ties are the keys with which adapters say that a provider continues an answer, in the order in which a run of
// begin uses them.
var ties = []map[string]any{
	{"ark-response-id": "r", "ark-response-cache-expire-at": 9999999999, "ark-response-caching": "enabled"},
	{"_eino_ext_agenticopenai_auto_cached": true},
	{"_eino_claude_thinking_signature": "s"},
	{"_einolean_claude_thinking": "[]"},
}

// tiesIn counts the answers that a provider continues.
func tiesIn[M adk.MessageType](msgs []M) (n int) {
	for _, m := range msgs {
		for key := range adktest.Extra(m) {
			if slices.Contains([]string{"ark-response-id", "_eino_ext_agenticopenai_auto_cached", "_eino_claude_thinking_signature", "_einolean_claude_thinking"}, key) {
				n++
			}
		}
	}
	return n
}

// tied is a model whose answers have these keys.
type tied[M adk.MessageType] struct{ *adktest.Model[M] }

func (m tied[M]) Generate(ctx context.Context, input []M, opts ...model.Option) (M, error) {
	n := len(m.Wires())
	out, err := m.Model.Generate(ctx, input, opts...)
	return adktest.WithExtra(out, maps.Clone(ties[n%len(ties)])), err
}

func begin[M adk.MessageType](t *testing.T, s search) string {
	dir, model := t.TempDir(), adktest.Script[M](s.before...)
	out := runWith[M](t, s, dir, tied[M]{model}, []M{adktest.System[M]("Help."), adktest.User[M]("update the item " + names()[7])})
	require.NoError(t, out.Err)
	requests := model.Wires()
	c := conversation[M]{append(requests[len(requests)-1].Messages, out.Messages[len(out.Messages)-1]), filesBelow(t, dir)}
	return c.text(t)
}

func (c conversation[M]) text(t *testing.T) string {
	text, err := json.MarshalIndent(c, "", " ")
	require.NoError(t, err)
	return string(text) + "\n"
}

// runWith runs an agent with a model on a history, with its store in a directory.
func runWith[M adk.MessageType](t *testing.T, s search, dir string, m model.BaseModel[M], history []M) adktest.Outcome[M] {
	files, err := store.NewDir(dir)
	require.NoError(t, err)
	defer files.Close()
	s.config.DynamicTools, s.config.Backend = dynamicTools(), files
	handlers := adktest.Handlers(searchOf[M](t, s.config), reductionOf(t, reduction.TypedConfig[M]{Backend: files, MaxLengthForTrunc: limit, MaxTokensForClear: 100_000}))
	agent := adktest.Agent[M]{Tools: []tool.BaseTool{big()}, Handlers: handlers, Configure: func(c *adk.TypedChatModelAgentConfig[M]) { c.Model = m }}
	return agent.Run(t.Context(), history)
}

// goesOn continues the conversation, unchanged and with another beginning. A provider's state stays valid if this build made
// the conversation: another build may describe the tools in other words.
func (c conversation[M]) goesOn(t *testing.T, s search, isOwn bool) {
	for _, changed := range []bool{false, true} {
		dir, model := c.unpacked(t), adktest.Script[M](s.after...)
		history := append(slices.Clone(c.Messages), adktest.User[M]("go on"))
		if changed {
			history[0] = adktest.System[M]("Help somebody else.")
		}
		require.NoError(t, runWith[M](t, s, dir, model, history).Err)
		requests := model.Wires()
		require.Len(t, requests, 2)
		first := requests[0].Messages
		described := slices.ContainsFunc(requests[0].Tools, func(info *schema.ToolInfo) bool { return strings.Contains(info.Desc, " zz ") })
		require.Equal(t, os.Getenv("EINOLEAN_OTHER_WORDS") != "", described, "the build has the words that it should have")
		require.Contains(t, resultIn(first, "use"), "echo")
		require.Contains(t, resultIn(requests[1].Messages, "use"), "echo", "what had been found can be called")
		require.Equal(t, 1, strings.Count(strings.Join(requests[0].MessagesDump, "\n"), "</available-deferred-tools>"))
		if left := tiesIn(first); changed {
			require.Zero(t, left, "what was before it is another")
		} else if isOwn {
			require.Equal(t, s.tied, left, "the provider goes on with it")
		} else {
			require.LessOrEqual(t, left, s.tied)
		}
		c.cleaned(t, dir)
	}
}

// cleaned deletes what has not been used for a month: nothing of the conversation.
func (c conversation[M]) cleaned(t *testing.T, dir string) {
	files, err := store.NewDir(dir)
	require.NoError(t, err)
	defer files.Close()
	_, _, err = files.DeleteUnused(t.Context(), "", time.Now().Add(-30*24*time.Hour))
	require.NoError(t, err)
	left := filesBelow(t, dir)
	for name, text := range c.Files {
		require.Equal(t, text, left[name], "%s belongs to a living conversation", name)
	}
}

// unpacked is a directory with the files, which nobody has used for two months.
func (c conversation[M]) unpacked(t *testing.T) string {
	dir, past := t.TempDir(), time.Now().Add(-60*24*time.Hour)
	for name, text := range c.Files {
		file := filepath.Join(dir, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o700))
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		require.NoError(t, os.Chtimes(file, past, past))
	}
	return dir
}

func filesBelow(t *testing.T, dir string) map[string]string {
	out := map[string]string{}
	require.NoError(t, fs.WalkDir(os.DirFS(dir), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
		out[name] = string(text)
		return err
	}))
	return out
}
