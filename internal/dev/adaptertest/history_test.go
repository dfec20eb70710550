// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package adaptertest

// Histories that were written without this library, runs that wait for a person,
// and the protocol that never changes the tools.

import (
	"context"
	"sync"
	"testing"

	"github.com/cloudwego/eino/adk"
	eino "github.com/cloudwego/eino/adk/middlewares/reduction"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/reduction"
	"github.com/einolean/einolean/store"
	"github.com/einolean/einolean/toolsearch"
)

func TestReduction_HistoryClearedByEinoIsResentOnce(t *testing.T) {
	both(t, testReductionHistoryClearedByEinoIsResentOnce[*schema.Message],
		testReductionHistoryClearedByEinoIsResentOnce[*schema.AgenticMessage])
}

func testReductionHistoryClearedByEinoIsResentOnce[M adk.MessageType](t *testing.T, stream bool) {
	c := newChat[M](t, stream)
	c.own(tools(page, "read")...)
	kept := store.NewMemory(1 << 24)
	theirs, err := eino.NewTyped(t.Context(), &eino.TypedConfig[M]{Backend: kept, MaxTokensForClear: 1500})
	require.NoError(t, err)
	tap := newTap[M]()
	c.agent.Handlers = []adk.TypedChatModelAgentMiddleware[M]{theirs, tap}
	seen := c.ask("Read.", calls(use("read", "1")), calls(use("read", "2")), Turn{Text: "Read."})
	require.True(t, seen[2].Shows(opening("1")), "it is cleared in the state, and still on the server")

	c.history = stored(t, tap.state)[1:]
	c.agent.Handlers = nil
	c.reduce(reduction.TypedConfig[M]{Backend: kept, MaxTokensForClear: 1500})
	seen = c.ask("More?", Turn{Text: "No."})
	require.Empty(t, seen[0].BuiltOn)
	require.False(t, seen[0].Shows(opening("1")))
	seen = c.ask("Really?", Turn{Text: "No."})
	require.NotEmpty(t, seen[0].BuiltOn)
}

func TestToolsearch_OlderSessionIsResentOnce(t *testing.T) {
	both(t, testToolsearchOlderSessionIsResentOnce[*schema.Message],
		testToolsearchOlderSessionIsResentOnce[*schema.AgenticMessage])
}

func testToolsearchOlderSessionIsResentOnce[M adk.MessageType](t *testing.T, stream bool) {
	c := newChat[M](t, stream)
	c.own(tools(short, "read")...)
	c.ask("Hello?", Turn{Text: "Hello."})
	c.search(toolsearch.Config{})
	seen := c.ask("And now?", Turn{Text: "Yes."})
	require.Empty(t, seen[0].BuiltOn)
	require.Contains(t, seen[0].Tools, "tool_search")
	require.True(t, seen[0].Shows("<available-deferred-tools>") || seen[0].Shows("calendar"))
	seen = c.ask("Again?", Turn{Text: "Yes."})
	require.NotEmpty(t, seen[0].BuiltOn)

	c.agent.Handlers = nil // another release brings another tool
	c.search(toolsearch.Config{DynamicTools: tools(short, "weather", "mail", "calendar", "maps")})
	seen = c.ask("Maps?", Turn{Text: "Yes."})
	require.Empty(t, seen[0].BuiltOn)
	require.True(t, seen[0].Shows("maps"))
}

func TestSearchCall_NeverRestartsSession(t *testing.T) {
	both(t, testSearchCallNeverRestartsSession[*schema.Message],
		testSearchCallNeverRestartsSession[*schema.AgenticMessage])
}

func testSearchCallNeverRestartsSession[M adk.MessageType](t *testing.T, stream bool) {
	c := newChat[M](t, stream)
	c.search(toolsearch.Config{Protocol: toolsearch.SearchCall})
	seen := c.ask("Weather?", calls(find("weather")), calls(Call{"call_tool", `{"name":"weather","arguments":{"value":"Rome"}}`}), Turn{Text: "Sunny."})
	seen = append(seen, c.ask("Mail it.", calls(find("mail")), calls(Call{"call_tool", `{"name":"mail","arguments":{"value":"sunny"}}`}), Turn{Text: "Done."})...)
	require.Len(t, seen, 6)
	require.True(t, seen[5].Shows("mail did it"))
	for i, s := range seen {
		require.Equal(t, i > 0, s.BuiltOn != "", "request %d", i)
	}
}

func TestResume_InterruptedRunContinues(t *testing.T) {
	for _, first := range []string{"toolsearch", "reduction"} {
		t.Run(first+" first", func(t *testing.T) {
			both(t, func(t *testing.T, stream bool) {
				testResumeInterruptedRunContinues[*schema.Message](t, stream, first)
			}, func(t *testing.T, stream bool) {
				testResumeInterruptedRunContinues[*schema.AgenticMessage](t, stream, first)
			})
		})
	}
}

// memory is a store of checkpoints.
type memory struct{ sync.Map }

func (m *memory) Get(_ context.Context, id string) ([]byte, bool, error) {
	v, ok := m.Load(id)
	if !ok {
		return nil, false, nil
	}
	return v.([]byte), true, nil
}

func (m *memory) Set(_ context.Context, id string, b []byte) error {
	m.Store(id, b)
	return nil
}

// asks is a tool that asks a person before it answers.
type asks struct{ says }

func (a asks) InvokableRun(ctx context.Context, _ string, _ ...tool.Option) (string, error) {
	if was, _, _ := tool.GetInterruptState[any](ctx); !was {
		return "", tool.Interrupt(ctx, "may I?")
	}
	return "yes", nil
}

func testResumeInterruptedRunContinues[M adk.MessageType](t *testing.T, stream bool, first string) {
	c := newChat[M](t, stream)
	c.own(append(tools(page, "read"), asks{says{name: "ask"}})...)
	kept, files := &memory{}, store.NewMemory(1<<24)
	start := func() *adk.TypedRunner[M] { // with new instances of everything
		c.agent.Handlers = nil
		if first == "toolsearch" {
			c.search(toolsearch.Config{})
		}
		c.reduce(reduction.TypedConfig[M]{MaxTokensForClear: 1100, Backend: files})
		if first != "toolsearch" {
			c.search(toolsearch.Config{})
		}
		return c.runner(kept)
	}
	c.script = []Turn{calls(use("read", "1")), calls(find("weather")), calls(use("weather", "Rome"), Call{"ask", "{}"}),
		calls(use("read", "2")), calls(use("read", "3")), {Text: "Done."}}
	_, where := c.collect(start().Run(t.Context(), []M{user[M]("Read.")}, adk.WithCheckPointID("one")))
	require.NotEmpty(t, where)
	before := len(c.server.Seen())
	require.Equal(t, 3, before)
	events, err := start().ResumeWithParams(t.Context(), "one", &adk.ResumeParams{Targets: map[string]any{where: "yes"}})
	require.NoError(t, err)
	c.collect(events)
	seen := c.server.Seen()
	require.Len(t, seen, 6)
	require.Contains(t, seen[2].Tools, "weather")
	require.Equal(t, seen[2].Answer, seen[3].BuiltOn, "nothing changed while the run waited")
	require.True(t, seen[3].Shows("weather did it"))
	require.Equal(t, seen[2].Answer, seen[5].BuiltOn, "of what the server keeps, the part before the change still holds")
	require.False(t, seen[5].Shows(opening("2")))
}
