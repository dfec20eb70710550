// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package main

// Every contract with its real adapter, over several model calls and runs.

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/cloudwego/eino-ext/components/model/claude"
	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	mended "github.com/einolean/einolean/adapters/claude"
	"github.com/einolean/einolean/internal/dev/provider"
	"github.com/einolean/einolean/toolsearch"
)

func TestAdapters_WorkOverManyCallsAndRuns(t *testing.T) {
	on(t, severalRuns[*schema.Message], severalRuns[*schema.AgenticMessage])
}

func severalRuns[M adk.MessageType](t *testing.T, s side, stream bool) {
	c := newAgent[M](t, s.api, stream, "own")
	c.search(*native(s.contract))
	if s.hosted() {
		c.ask("Weather, then a mail?",
			provider.Turn{Search: "weather", Text: "Looking.", Calls: []provider.Call{call("weather__forecast", `{"value": "Oslo"}`)}},
			provider.Turn{Search: "nothing like it", Calls: []provider.Call{call("own", "")}},
			provider.Turn{Search: "mail", Calls: []provider.Call{call("mail__send", `{"value": "x"}`), call("own", "")}},
			says("Done."))
	} else {
		c.ask("Weather, then a mail?",
			calls(find("weather"), find("nothing like it")),
			calls(call("weather__forecast", `{"value": "Oslo"}`), find("forecast"), call("own", "")),
			calls(find("zzz")),
			calls(find("+mail send"), find("select:mail__send")),
			calls(call("mail__send", `{"value": "x"}`), call("own", "")),
			says("Done."))
	}
	require.ElementsMatch(t, []string{"weather__forecast", "own", "mail__send", "own"}, c.ran.list())
	first := c.server.Requests()
	requireGrowing(t, first)

	c.ask("And the weather so far?", calls(call("weather__history", `{"value": "Oslo"}`)), says("Fine."))
	requireGrowing(t, c.server.Requests()[len(first):])

	c.store()
	if s.hosted() { // what Claude's search found does not survive every store
		c.ask("Any mail?", provider.Turn{Search: "mail", Calls: []provider.Call{call("mail__list", "")}}, says("None."))
	} else {
		c.ask("Any mail?", calls(call("weather__forecast", ""), find("mail")), calls(call("mail__list", "")), says("None."))
	}
	require.Contains(t, c.ran.list(), "weather__history")
	require.Contains(t, c.ran.list(), "mail__list")
	for _, r := range c.server.Requests() {
		requireContract(t, s, r)
	}
}

// requireContract checks a request against the contract.
func requireContract(t *testing.T, s side, r provider.Request) {
	t.Helper()
	require.Empty(t, r.Refused)
	full, later := []string{"own"}, []string{}
	if s.contract == toolsearch.ClaudeClient || s.contract == toolsearch.AgenticClaudeClient {
		full = append(full, "tool_search")
	}
	switch s.contract {
	case toolsearch.ClaudeClient:
		later = provider.Names(r.Loaded)
	case toolsearch.ClaudeHosted, toolsearch.OpenAIHosted, toolsearch.AgenticClaudeClient:
		later = hidden
	}
	search := map[toolsearch.Adapter]string{toolsearch.ClaudeHosted: "hosted", toolsearch.OpenAIHosted: "hosted", toolsearch.OpenAIClient: "client"}
	require.Equal(t, full, inFull(r))
	require.Equal(t, later, deferred(r))
	require.Equal(t, search[s.contract], r.Search)
}

// requireGrowing checks that the requests of a run suit a prompt cache: each repeats the
// one before it, and adds to its end.
func requireGrowing(t *testing.T, list []provider.Request) {
	t.Helper()
	before := []json.RawMessage{}
	for i, r := range list {
		var body struct {
			Messages, Input []json.RawMessage
		}
		require.NoError(t, json.Unmarshal(r.Body, &body))
		now := append(body.Messages, body.Input...)
		require.Greater(t, len(now), len(before), "request %d", i)
		require.Equal(t, before, now[:len(before):len(before)], "request %d", i)
		if before = now; i > 0 {
			require.Equal(t, inFull(list[i-1]), inFull(r))
			require.Equal(t, deferred(list[i-1]), deferred(r)[:len(list[i-1].Deferred())])
		}
	}
}

func TestAdapters_WorkWithoutOwnTools(t *testing.T) {
	on(t, noOwnTools[*schema.Message], noOwnTools[*schema.AgenticMessage])
}

func noOwnTools[M adk.MessageType](t *testing.T, s side, stream bool) {
	c := newAgent[M](t, s.api, stream)
	c.search(*native(s.contract))
	if s.hosted() {
		c.ask("Ping?", provider.Turn{Search: "ping", Calls: []provider.Call{call("ping", "")}}, says("Pong."))
	} else {
		c.ask("Ping?", calls(find("ping")), calls(call("ping", "")), says("Pong."))
	}
	require.Equal(t, []string{"ping"}, c.ran.list())
	for _, r := range c.server.Requests() {
		for _, name := range hidden {
			require.NotContains(t, inFull(r), name)
		}
	}
}

func TestUseModelToolSearch_PicksAdapterOfModel(t *testing.T) {
	c := newAgent[*schema.Message](t, provider.Anthropic, false, "own")
	c.search(toolsearch.Config{UseModelToolSearch: true, Model: c.agent.Model})
	c.ask("Ping?", calls(find("ping")), calls(call("ping", "")), says("Pong."))
	require.Equal(t, []string{"ping"}, deferred(c.last()))

	for _, api := range []provider.API{provider.OpenAI, provider.Anthropic} {
		c := newAgent[*schema.AgenticMessage](t, api, false, "own")
		c.search(toolsearch.Config{UseModelToolSearch: true, Model: c.agent.Model})
		c.ask("Ping?", calls(find("ping")), calls(call("ping", "")), says("Pong."))
		require.Equal(t, []string{"ping"}, provider.Names(c.last().Loaded))
	}
}

func TestUseModelToolSearch_RejectsModelWithoutToolSearch(t *testing.T) {
	m := modelOn[*schema.Message](t, provider.Chat, "http://127.0.0.1:1")
	_, err := toolsearch.New(t.Context(), &toolsearch.Config{UseModelToolSearch: true, Model: m, DynamicTools: (&runs{}).tools("ping")})
	require.ErrorIs(t, err, toolsearch.ErrNativeUnsupported)
	_, other := toolsearch.New(t.Context(), &toolsearch.Config{UseModelToolSearch: true, Model: m, SearchableTools: []string{"own"}})
	require.EqualError(t, other, err.Error())
	for _, name := range []string{"*openai.ChatModel", "OpenAI", "Claude", "AgenticClaude", "AgenticOpenAI/Responses"} {
		require.ErrorContains(t, err, name)
	}
}

func TestUseModelToolSearch_NothingToHideKeepsRequest(t *testing.T) {
	plain := newAgent[*schema.Message](t, provider.Chat, false, "own")
	plain.ask("Hello?", says("Hello."))
	c := newAgent[*schema.Message](t, provider.Chat, false, "own")
	c.search(toolsearch.Config{UseModelToolSearch: true, Model: c.agent.Model, DynamicTools: []tool.BaseTool{}, DeferMarkedTools: true})
	c.ask("Hello?", says("Hello."))
	require.Equal(t, string(plain.last().Body), string(c.last().Body))
}

func TestGate_UnloadedToolDoesNotRun(t *testing.T) {
	on(t, gated[*schema.Message], gated[*schema.AgenticMessage])
}

func gated[M adk.MessageType](t *testing.T, s side, stream bool) {
	c := newAgent[M](t, s.api, stream, "own")
	c.search(*native(s.contract))
	if s.hosted() {
		// The provider loads tools unseen by the middleware, so calls are not held back.
		c.ask("Add it.", calls(blind("calendar__add")), says("Added."))
		require.Equal(t, []string{"calendar__add"}, c.ran.list())
		return
	}
	c.ask("Add it.", calls(blind("calendar__add"), find("weather")), says("Hm."))
	require.Empty(t, c.ran.list())
	require.Contains(t, c.wire(1), "did not run")
	require.Contains(t, c.wire(1), `what to use`, "the schema")
	// From now on the model sees the tool, and a search finds it loaded.
	c.ask("Again.", calls(call("calendar__add", "")), calls(find("calendar add")), calls(call("calendar__add", "")), says("Added."))
	require.Equal(t, []string{"calendar__add", "calendar__add"}, c.ran.list())
	require.Contains(t, inFull(c.server.Requests()[1]), "calendar__add")
}

func TestSearch_EmptyResultSaysWhatToDo(t *testing.T) {
	on(t, emptySearch[*schema.Message], emptySearch[*schema.AgenticMessage])
}

func emptySearch[M adk.MessageType](t *testing.T, s side, stream bool) {
	if s.hosted() {
		t.Skip("the provider answers")
	}
	c := newAgent[M](t, s.api, stream, "own")
	c.search(*native(s.contract))
	for i, query := range []string{"wether__forcast", "", "select:mail__sent"} {
		from := len(c.server.Requests())
		c.ask("Go.", calls(find(query)), says("Hm."))
		text := c.wire(from + 1)
		require.Contains(t, text, []string{"weather__forecast", "non-empty", "mail__send"}[i])
		if s.contract == toolsearch.OpenAIClient {
			require.Contains(t, text, `"tools":[]`)
		}
	}
}

// A hidden tool may have the adapter's mark of a cache breakpoint, which Anthropic rejects on a deferred tool.
func TestClaude_HiddenToolsHaveNoCacheBreakpoint(t *testing.T) {
	for _, contract := range []toolsearch.Adapter{toolsearch.ClaudeClient, toolsearch.ClaudeHosted} {
		c := newAgent[*schema.Message](t, provider.Anthropic, false, "own")
		marked := c.ran.tools("ping")[0].(echo)
		marked.info = claude.SetToolInfoCacheControl(marked.info, &claude.CacheControl{TTL: claude.CacheTTL1h})
		cfg := native(contract)
		cfg.DynamicTools = []tool.BaseTool{marked}
		c.search(*cfg)
		if contract == toolsearch.ClaudeHosted {
			c.ask("Ping?", provider.Turn{Search: "ping", Calls: []provider.Call{call("ping", "")}}, says("Pong."))
		} else {
			c.ask("Ping?", calls(find("ping")), calls(call("ping", "")), says("Pong."))
		}
		require.Equal(t, []string{"ping"}, c.ran.list())
	}
}

// Automatic cache control marks the last tool, which is deferred if the provider searches. A mark on one of the
// agent's own tools prevents that.
func TestClaude_HostedCacheControlNeedsMark(t *testing.T) {
	for name, c := range map[string]struct {
		contract toolsearch.Adapter
		mark     bool
		want     string // of the error
	}{
		"ClaudeClient": {toolsearch.ClaudeClient, false, ""},
		"ClaudeHosted": {toolsearch.ClaudeHosted, false, "cannot have both defer_loading=true and cache_control"},
		"ClaudeHosted with a mark on an own tool": {toolsearch.ClaudeHosted, true, ""},
	} {
		t.Run(name, func(t *testing.T) {
			a := newAgent[*schema.Message](t, provider.Anthropic, false)
			a.agent.Model = newCachingClaude(t, a.server.URL())
			own := a.ran.tools("own")[0].(echo)
			if c.mark {
				own.info = claude.SetToolInfoCacheControl(own.info, nil)
			}
			a.agent.ToolsConfig = adk.ToolsConfig{ToolsNodeConfig: compose.ToolsNodeConfig{Tools: []tool.BaseTool{own}}}
			a.search(*native(c.contract))
			a.server.Then(says("Hello."))
			_, err := a.say(t.Context(), "Hello?")
			if c.want != "" {
				require.ErrorContains(t, err, c.want)
				return
			}
			require.NoError(t, err)
			require.Contains(t, string(a.last().Body), "cache_control")
		})
	}
}

func newCachingClaude(t *testing.T, url string) *mended.ChatModel {
	t.Helper()
	m, err := mended.NewChatModel(t.Context(), &claude.Config{
		BaseURL: &url, APIKey: key, Model: "claude-on-loopback", MaxTokens: 1000, AutoCacheControl: &claude.CacheControl{},
	})
	require.NoError(t, err)
	return m
}

// If toolsearch searches, a loaded tool that is not used for a while is hidden again.
func TestUnloadAfter_HidesUnusedTool(t *testing.T) {
	on(t, hiddenAgain[*schema.Message], hiddenAgain[*schema.AgenticMessage])
}

func hiddenAgain[M adk.MessageType](t *testing.T, s side, stream bool) {
	if s.hosted() {
		t.Skip("the provider loads")
	}
	c := newAgent[M](t, s.api, stream, "own")
	cfg := *native(s.contract)
	cfg.UnloadAfter = 2
	c.search(cfg)
	own := calls(call("own", ""))
	c.ask("Ping?", calls(find("ping"), find("weather")), calls(call("ping", ""), call("weather__forecast", "")), own, own,
		calls(blind("ping"), find("weather")), calls(call("ping", ""), call("weather__history", "")), says("Pong."))
	require.Equal(t, []string{"own", "own", "ping"}, withoutWeather(c.ran.list())[1:])
	list := c.server.Requests()
	require.Contains(t, provider.Names(list[2].Visible()), "ping")
	require.NotContains(t, provider.Names(list[4].Visible()), "ping")
	require.Contains(t, provider.Names(list[5].Visible()), "ping")
}

func withoutWeather(names []string) []string {
	return slices.DeleteFunc(names, func(n string) bool { return strings.HasPrefix(n, "weather") })
}
