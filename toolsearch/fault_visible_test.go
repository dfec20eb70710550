// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch_test

// This file tests what stays visible for how long, and what the reminder lists.

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/adk/filesystem"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/leanctx/leanctx"
	"github.com/leanctx/leanctx/internal/adktest"
	"github.com/leanctx/leanctx/toolsearch"
)

func TestTS19_ToolsThatAreNotUsedAreHiddenAgain(t *testing.T) {
	adktest.Both(t, unloads[*schema.Message], unloads[*schema.AgenticMessage])
}

func unloads[M adk.MessageType](t *testing.T, streaming bool) {
	var mu sync.Mutex
	var gone []string
	h := with[M](t, &toolsearch.Config{DynamicTools: simples("a1", "a2", "a3"), UnloadAfter: 2, OnEvent: func(_ context.Context, e leanctx.Event) {
		mu.Lock()
		defer mu.Unlock()
		if e.Kind == leanctx.KindToolsUnloaded {
			gone = append(gone, e.Tools.Removed...)
		}
	}})
	tr := ourSide[M](streaming).run(ask[M](), nil, []adktest.Turn{
		adktest.Do(searchFor("1", "select:a1,a2,a3")), // 1: all three
		adktest.Do(callOf("2", "a2")),                 // 2: a1 and a3 have not been used for one call
		adktest.Do(callOf("3", "a2")),                 // 3: ... for two: hidden
		adktest.Do(searchFor("4", "select:a1")),       // 4: found again, behind a2
		adktest.Do(callOf("5", "a3")),                 // 5: gated, and loaded
		adktest.Do(callOf("6", "a3")),                 // 6: a2 is hidden
	}, h)
	require.NoError(t, tr.Err)
	require.Equal(t, "0:tool_search 1:tool_search,a1,a2,a3 2:tool_search,a1,a2,a3 3:tool_search,a2 4:tool_search,a2,a1 5:tool_search,a1,a3 6:tool_search,a3", tr.tools())
	require.Contains(t, tr.result("5"), "did not run")
	require.Contains(t, tr.result("6"), "echo")
	require.Equal(t, []string{"a1", "a3", "a2", "a1"}, gone)
}

func TestTS19_WhatIsHiddenAgainStaysSoAfterAResume(t *testing.T) {
	adktest.Both(t, unloadsAcrossResume[*schema.Message], unloadsAcrossResume[*schema.AgenticMessage])
}

// unloadsAcrossResume counts on after a resume, also where no message speaks of a tool any
// more: a handler cuts the history down to the last three messages.
func unloadsAcrossResume[M adk.MessageType](t *testing.T, streaming bool) {
	agent := func() adktest.Agent[M] {
		tools := append(simples("a1", "a2"), adktest.Tool(adktest.Invokable, &schema.ToolInfo{Name: "waits"}, waits))
		cut := rewriting[M]{rewrite: func(_ context.Context, state *adk.TypedChatModelAgentState[M]) {
			if n := len(state.Messages); n > 3 {
				state.Messages = state.Messages[n-3:]
			}
		}}
		return adktest.Agent[M]{Handlers: adktest.Handlers(cut, with[M](t, &toolsearch.Config{DynamicTools: tools, UnloadAfter: 4}))}
	}
	s := ourSide[M](streaming)
	tr, store, _ := s.interrupts(t, agent(), adktest.Do(searchFor("1", "select:a1,waits")), adktest.Do(callOf("2", "waits")))
	require.NoError(t, tr.Err)
	require.NotNil(t, tr.Interrupted)
	next := agent()
	next.Store, next.Streaming = store, streaming
	next.Model = adktest.Script[M](adktest.Do(searchFor("3", "a2")), adktest.Do(callOf("4", "a2")), adktest.Do(callOf("5", "a2")))
	r, err := next.Runner(context.Background())
	require.NoError(t, err)
	it, err := r.Resume(context.Background(), "c")
	require.NoError(t, err)
	require.NoError(t, adktest.Collect(it).Err)
	require.Equal(t, "0:tool_search,a1,waits 1:tool_search,a1,waits,a2 2:tool_search,a1,waits,a2 3:tool_search,waits,a2", trial[M]{wires: next.Model.Wires()}.tools())
}

func servers(sizes map[string]int) (tools []tool.BaseTool) {
	for _, s := range []string{"git", "mail", "x"} {
		for i := range sizes[s] {
			tools = append(tools, adktest.Simple(fmt.Sprintf("%s__t%02d", s, i), ""))
		}
	}
	return tools
}

// shelf is a store in memory that can be broken.
type shelf struct {
	mu    sync.Mutex
	files map[string]string
	err   error
	panic bool
}

func (s *shelf) Write(_ context.Context, w *filesystem.WriteRequest) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.panic {
		panic("broken")
	}
	if s.files == nil {
		s.files = map[string]string{}
	}
	s.files[w.FilePath] = w.Content
	return s.err
}

func TestTS12_ALimitGivesEveryServerItsShare(t *testing.T) {
	adktest.Both(t, limited[*schema.Message], limited[*schema.AgenticMessage])
}

func TestTS12_ALimitIsKeptWhateverTheServers(t *testing.T) {
	for limit := 1; limit < 40; limit++ {
		s := ourSide[*schema.Message](false)
		tr := s.run(ask[*schema.Message](), nil, nil, with[*schema.Message](t, &toolsearch.Config{DynamicTools: servers(map[string]int{"git": 30, "mail": 2, "x": 5}), CatalogLimit: limit}))
		_, text := reminders(tr.wires[0])
		require.Equal(t, min(limit, 37), strings.Count(text, "__t"), text)
	}
}

func limited[M adk.MessageType](t *testing.T, streaming bool) {
	for what, store := range map[string]*shelf{"stored": {}, "broken": {err: errors.New("full")}, "panicking": {panic: true}} {
		c := &toolsearch.Config{DynamicTools: servers(map[string]int{"git": 30, "mail": 2, "x": 5}), CatalogLimit: 8, Backend: store}
		tr := ourSide[M](streaming).run(ask[M](), nil, []adktest.Turn{adktest.Do(searchFor("1", "select:git__t29"))}, with[M](t, c))
		require.NoError(t, tr.Err)
		require.Equal(t, []string{"tool_search", "git__t29"}, tr.wires[1].ToolNames, "what is not listed can be found")
		n, text := reminders(tr.wires[1])
		require.Equal(t, 1, n)
		lines := strings.Split(text, "\n")
		require.Equal(t, []string{"git__t00", "git__t01", "git__t02", "mail__t00", "mail__t01", "x__t00", "x__t01", "x__t02"}, lines[1:9])
		for _, part := range []string{"8 of 37", "git: 30", "mail: 2", "x: 5"} {
			require.Contains(t, lines[9], part)
		}
		path, ok := "", strings.Contains(text, "/toolsearch/catalog-")
		require.Equal(t, what == "stored", ok, "a path is shown only where the list was stored: %s", text)
		for p, content := range store.files {
			path = p
			require.Equal(t, 37, strings.Count(content, "\n"))
		}
		if ok {
			require.Contains(t, text, path)
		}
	}
}

// The reminder is the same in each request, byte for byte, so that a provider's cache holds.
func TestTS12_TheReminderDoesNotChangeWithinAConversation(t *testing.T) {
	bothSides(t, steadyReminder[*schema.Message], steadyReminder[*schema.AgenticMessage])
}

func steadyReminder[M adk.MessageType](t *testing.T, eino, ours side[M]) {
	for _, s := range []side[M]{eino, ours} {
		h := s.mustBuild(t, simples(numbered(20)...)...)
		turns := []adktest.Turn{adktest.Do(searchFor("1", "select:tool_003")), adktest.Do(callOf("2", "tool_003"))}
		history := append([]M{adktest.System[M]("Be brief."), adktest.System[M]("Be kind.")}, ask[M]()...)
		first := s.run(history, nil, turns, h)
		require.NoError(t, first.Err)
		wires := append(first.wires, s.run(kept(first), nil, nil, h).wires...)
		for _, w := range wires {
			require.Equal(t, wires[0].MessagesDump[2], w.MessagesDump[2], "behind the system messages")
			n, text := reminders(w)
			require.Equal(t, 1, n)
			require.Equal(t, "<available-deferred-tools>\n"+strings.Join(numbered(20), "\n")+"\n</available-deferred-tools>", text)
		}
		require.Len(t, history, 3)
	}
}

// A store that drops Extra, and one that keeps two lists, each go on with one.
func TestTS12_OneReminderIsLeftOfMany(t *testing.T) {
	adktest.Both(t, oneOfMany[*schema.Message], oneOfMany[*schema.AgenticMessage])
}

func oneOfMany[M adk.MessageType](t *testing.T, streaming bool) {
	s := ourSide[M](streaming)
	old := func(names string) M {
		return adktest.User[M]("<available-deferred-tools>\n" + names + "\n</available-deferred-tools>\n")
	}
	marked := s.run(ask[M](), nil, nil, s.mustBuild(t, simples("m1")...)).wires[0].Messages[0]
	require.Equal(t, true, adktest.Extra(marked)["__toolsearch_reminder__"])
	history := []M{adktest.System[M]("Be brief."), adktest.User[M]("one"), old("o1"), adktest.Assistant[M]("two"), marked, adktest.User[M]("three"), old("o2")}
	before := adktest.Text(marked)
	tr := s.run(history, nil, nil, s.mustBuild(t, simples("a1")...))
	require.NoError(t, tr.Err)
	require.Equal(t, []string{"system: Be brief.", "user: one", "user: <available-deferred-tools>\na1\n</available-deferred-tools>", "assistant: two", "user: three"},
		withoutCalls(tr.wires[0].MessagesDump))
	require.Equal(t, before, adktest.Text(marked), "the history is as it was")
	require.Len(t, history, 7)
}

func withoutCalls(dumps []string) (out []string) {
	for _, d := range dumps {
		out = append(out, strings.TrimSpace(d))
	}
	return out
}

// What holds more than a list of names is not taken for one.
func TestTS12_AMessageThatHoldsMoreThanAReminderStays(t *testing.T) {
	const list = "<available-deferred-tools>\nx\n</available-deferred-tools>"
	image := schema.MessageInputPart{Type: schema.ChatMessagePartTypeImageURL, Image: &schema.MessageInputImage{MessagePartCommon: schema.MessagePartCommon{Base64Data: new(string)}}}
	text := schema.MessageInputPart{Type: schema.ChatMessagePartTypeText, Text: list}
	pictures := schema.UserMessage("")
	pictures.UserInputMultiContent = []schema.MessageInputPart{text, image}
	both := schema.UserMessage(list)
	both.UserInputMultiContent = []schema.MessageInputPart{image}
	staysWhole(t, schema.UserMessage(list+"\nWhat are these?\n"+list), pictures, both)

	blocks := func(more ...*schema.ContentBlock) *schema.AgenticMessage {
		m := schema.UserAgenticMessage(list)
		m.ContentBlocks = append(m.ContentBlocks, more...)
		return m
	}
	staysWhole(t, schema.UserAgenticMessage(list+"\nWhat are these?\n"+list), blocks(schema.NewContentBlock(&schema.UserInputImage{URL: "x"})),
		blocks(schema.NewContentBlock(&schema.UserInputText{Text: "What are these?"})))
}

func staysWhole[M adk.MessageType](t *testing.T, messages ...M) {
	for _, m := range messages {
		tr := ourSide[M](false).run([]M{m}, nil, nil, ourSide[M](false).mustBuild(t, simples("a1")...))
		require.NoError(t, tr.Err)
		require.Len(t, tr.wires[0].Messages, 2)
		require.Equal(t, adktest.Text(m), adktest.Text(tr.wires[0].Messages[1]))
	}
}

// A user who writes about the tags is not taken for a reminder.
func TestTS12_AMessageThatOnlyQuotesAReminderStays(t *testing.T) {
	bothSides(t, quotes[*schema.Message], quotes[*schema.AgenticMessage])
}

func quotes[M adk.MessageType](t *testing.T, eino, ours side[M]) {
	for _, s := range []side[M]{eino, ours} {
		text := "What is this?\n<available-deferred-tools>\nx\n</available-deferred-tools>"
		tr := s.run([]M{adktest.User[M](text)}, nil, nil, s.mustBuild(t, simples("a1")...))
		require.NoError(t, tr.Err)
		require.Len(t, tr.wires[0].Messages, 2, s.name)
		require.Equal(t, text, adktest.Text(tr.wires[0].Messages[1]))
	}
}

// A handler may merge the messages of the user, or send the list in another role. Nothing
// that a user said is lost, and no request grows.
func TestTS12_AReminderThatAnotherHandlerChangedIsLeftAlone(t *testing.T) {
	bothSides(t, changedByAnother[*schema.Message], changedByAnother[*schema.AgenticMessage])
}

func changedByAnother[M adk.MessageType](t *testing.T, eino, ours side[M]) {
	merge := func(_ context.Context, state *adk.TypedChatModelAgentState[M]) {
		for i := 0; i+1 < len(state.Messages); i++ {
			a, b := state.Messages[i], state.Messages[i+1]
			if adktest.Role(a) == "user" && adktest.Role(b) == "user" {
				m := withExtra(adktest.User[M](adktest.Text(a)+"\n\n"+adktest.Text(b)), adktest.Extra(a), adktest.Extra(b))
				state.Messages = append(append(append([]M(nil), state.Messages[:i]...), m), state.Messages[i+2:]...)
				i--
			}
		}
	}
	asSystem := func(_ context.Context, state *adk.TypedChatModelAgentState[M]) {
		for i, m := range state.Messages {
			if text := adktest.Text(m); strings.HasPrefix(text, "<available-deferred-tools>") {
				state.Messages = append([]M(nil), state.Messages...)
				state.Messages[i] = withExtra(adktest.System[M](text), adktest.Extra(m))
			}
		}
	}
	turns := []adktest.Turn{adktest.Do(searchFor("1", "a1")), adktest.Do(callOf("2", "a1"))}
	for _, s := range []side[M]{eino, ours} {
		for what, change := range map[string]func(context.Context, *adk.TypedChatModelAgentState[M]){"merged": merge, "as system": asSystem} {
			h := s.mustBuild(t, simples("a1", "a2")...)
			tr := s.run(ask[M](), nil, turns, h, rewriting[M]{rewrite: change})
			require.NoError(t, tr.Err)
			for i, w := range tr.wires {
				all := strings.Join(w.MessagesDump, "\n")
				require.Equal(t, 1, strings.Count(all, "<available-deferred-tools>"), "%s, %s, request %d:\n%s", s.name, what, i, all)
				require.Equal(t, 1, strings.Count(all, "please"), all)
			}
		}
	}
	// A list that is not true any more stands beside a true one.
	merged := withExtra(adktest.User[M]("<available-deferred-tools>\nold\n</available-deferred-tools>\n\nplease"), map[string]any{"__toolsearch_reminder__": true})
	tr := ours.run([]M{merged}, nil, turns, ours.mustBuild(t, simples("a1")...))
	require.NoError(t, tr.Err)
	for _, w := range tr.wires {
		n, _ := reminders(w)
		require.Equal(t, 2, n)
		require.Contains(t, strings.Join(w.MessagesDump, "\n"), "please")
		require.Contains(t, strings.Join(w.MessagesDump, "\n"), "<available-deferred-tools>\na1\n</available-deferred-tools>")
	}
}

// withExtra gives a message that was just made the given maps.
func withExtra[M adk.MessageType](m M, extras ...map[string]any) M {
	all := map[string]any{}
	for _, e := range extras {
		for k, v := range e {
			if strings.Contains(k, "reminder") {
				all[k] = v
			}
		}
	}
	switch m := any(m).(type) {
	case *schema.Message:
		m.Extra = all
	case *schema.AgenticMessage:
		m.Extra = all
	}
	return m
}
