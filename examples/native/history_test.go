// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package main

// A history written under one contract, or by one provider, that another continues.

import (
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/provider"
	"github.com/einolean/einolean/toolsearch"
)

// keyword is the side without a contract: search as a plain tool, which any model can do.
func keyword(api provider.API, agentic bool) side { return side{"", api, agentic} }

func (s side) String() string {
	api := map[provider.API]string{provider.Anthropic: "messages", provider.OpenAI: "responses", provider.Chat: "chat"}[s.api]
	if s.contract == "" {
		return "keyword on " + api
	}
	return string(s.contract)
}

func (s side) config() toolsearch.Config {
	if s.contract == "" {
		return toolsearch.Config{}
	}
	return *native(s.contract)
}

func TestHistory_FitsEveryOtherAdapter(t *testing.T) {
	plain := append(sides[:2:2], keyword(provider.Anthropic, false), keyword(provider.Chat, false))
	agentic := append(sides[2:5:5], keyword(provider.Anthropic, true), keyword(provider.OpenAI, true))
	for name, both := range map[string]bool{"in memory, in one piece/": false, "stored as JSON, streaming/": true} {
		for _, from := range plain {
			for _, to := range plain {
				t.Run(name+from.String()+" to "+to.String(), func(t *testing.T) { handOver[*schema.Message](t, from, to, both, both) })
			}
		}
		for _, from := range agentic {
			for _, to := range agentic {
				t.Run(name+from.String()+" to "+to.String(), func(t *testing.T) { handOver[*schema.AgenticMessage](t, from, to, both, both) })
			}
		}
	}
}

// handOver has the first run on one side and the others on another, and then goes back.
func handOver[M adk.MessageType](t *testing.T, from, to side, stream, stored bool) {
	c := newAgent[M](t, from.api, stream, "own")
	c.agent.Model = taking(from, c.agent.Model)
	c.search(from.config())
	c.meets(from, "weather", "weather__forecast")
	again := func(s side) {
		if stored {
			c.store()
		}
		c.moves(s)
		c.agent.Model = taking(s, c.agent.Model)
		if stored && s.contract == toolsearch.ClaudeHosted { // its record does not survive JSON
			c.ask("And now?", provider.Turn{Search: "weather", Calls: []provider.Call{call("weather__forecast", "")}}, says("Dry."))
		} else {
			c.ask("And now?", calls(call("weather__forecast", "")), says("Dry."))
		}
	}
	again(to)
	c.meets(to, "mail", "mail__send")
	again(from)
	c.meets(from, "calendar", "calendar__add")
	require.Equal(t, []string{"weather__forecast", "weather__forecast", "mail__send", "weather__forecast", "calendar__add"}, c.ran.list())
}

// meets lets the model find a tool and call it.
func (c *chat[M]) meets(s side, words, name string) {
	c.t.Helper()
	if s.hosted() {
		c.ask("Find it.", provider.Turn{Search: words, Text: "Here.", Calls: []provider.Call{call(name, "")}}, says("Found."))
		return
	}
	c.ask("Find it.", calls(find(words)), calls(find(words+" nothing"), call(name, "")), says("Found."))
}

// moves takes the conversation to another side.
func (c *chat[M]) moves(s side) {
	c.t.Helper()
	server := provider.Start(s.api)
	c.t.Cleanup(server.Close)
	c.server, c.agent.Model = server, modelOn[M](c.t, s.api, server.URL())
	c.search(s.config())
}

// taking is a model that takes calls without arguments, which other adapters leave
// behind as empty texts.
func taking[M adk.MessageType](s side, m model.BaseModel[M]) model.BaseModel[M] {
	if s.api == provider.Chat {
		return toolsearch.Portable(m)
	}
	return m
}

// The turns of one run may already mix both kinds: a store may have dropped the marks of some calls, and another
// handler may have replaced a result.
func TestHistory_HalfConvertedIsRepaired(t *testing.T) {
	for name, change := range map[string]func(b *schema.ContentBlock){
		"the adapter's marks are gone": func(b *schema.ContentBlock) { b.Extra = nil },
		"a result became text": func(b *schema.ContentBlock) {
			if r := b.ToolSearchFunctionToolResult; r != nil {
				*b = *schema.NewContentBlock(&schema.FunctionToolResult{CallID: r.CallID, Name: r.Name, Content: []*schema.FunctionToolResultContentBlock{
					{Type: schema.FunctionToolResultContentBlockTypeText, Text: &schema.UserInputText{Text: `{"matches":["weather__forecast"]}`}},
				}})
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := newAgent[*schema.AgenticMessage](t, provider.OpenAI, false, "own")
			c.search(*native(toolsearch.OpenAIClient))
			c.ask("Find it.", calls(find("forecast")), calls(call("weather__forecast", "")), says("Found."))
			for _, m := range c.history {
				for _, b := range m.ContentBlocks {
					change(b)
				}
			}
			c.ask("Again.", calls(call("weather__forecast", "")), calls(find("mail")), calls(call("mail__send", "")), says("Found."))
			require.Equal(t, []string{"weather__forecast", "weather__forecast", "mail__send"}, c.ran.list())
		})
	}
}

// A tool that the history found may be gone, or may now be one of the agent's own.
func TestHistory_ToolsMayHaveChanged(t *testing.T) {
	on(t, changedTools[*schema.Message], changedTools[*schema.AgenticMessage])
}

func changedTools[M adk.MessageType](t *testing.T, s side, stream bool) {
	c := newAgent[M](t, s.api, stream, "own")
	c.search(s.config())
	c.meets(s, "weather", "weather__forecast")

	later := newAgent[M](t, s.api, stream, "own", "weather__forecast")
	cfg := s.config()
	cfg.DynamicTools = later.ran.tools("mail__send", "ping")
	later.search(cfg)
	later.history = c.history
	later.ask("And now?", calls(call("weather__forecast", "")), says("Dry."))
	require.Equal(t, []string{"own", "weather__forecast"}, inFull(later.last())[:2])
	require.NotContains(t, provider.Names(later.last().Visible()), "weather__history")
	later.meets(s, "mail", "mail__send")
	require.Equal(t, []string{"weather__forecast", "mail__send"}, later.ran.list())
}

// A model may copy a call of the search tool from a history, where it no longer exists.
func TestHistory_CopiedSearchIsAnswered(t *testing.T) {
	for _, s := range sides[:4] {
		t.Run(s.String(), func(t *testing.T) {
			if s.agentic {
				copiedSearch[*schema.AgenticMessage](t, s)
			} else {
				copiedSearch[*schema.Message](t, s)
			}
		})
	}
}

func copiedSearch[M adk.MessageType](t *testing.T, s side) {
	if !s.hosted() {
		t.Skip("the search tool is there")
	}
	c := newAgent[M](t, s.api, false, "own")
	c.search(s.config())
	c.ask("Find it.", calls(blind("tool_search")), calls(provider.Call{Name: "tool_search", Args: `{"query": "ping"}`, Unseen: true}), calls(call("ping", "")), says("Found."))
	require.Equal(t, []string{"ping"}, c.ran.list())
}
