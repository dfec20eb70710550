// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch_test

// The Config field Prefetch.

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean"
	"github.com/einolean/einolean/internal/dev/adktest"
	"github.com/einolean/einolean/internal/dev/race"
	"github.com/einolean/einolean/toolsearch"
	"github.com/einolean/einolean/toolsearch/index"
)

func TestPrefetch_LoadsBeforeFirstModelCall(t *testing.T) {
	adktest.Both(t, testPrefetchLoadsBeforeFirstModelCall[*schema.Message], testPrefetchLoadsBeforeFirstModelCall[*schema.AgenticMessage])
}

func testPrefetchLoadsBeforeFirstModelCall[M adk.MessageType](t *testing.T, streaming bool) {
	for protocol, search := range map[toolsearch.Protocol]string{toolsearch.Keyword: "tool_search", toolsearch.SearchLoad: "search_tools load_tool"} {
		events := &recorder{}
		s := prefetching[M](t, streaming, protocol)
		s.cfg.OnEvent = events.record
		p := s.play([]M{adktest.User[M]("What will the weather be in Oslo? I need the forecast.")}, oneCall("1", "weather__get_forecast", `{"city":"Oslo"}`))
		require.Equal(t, "own "+search+" weather__get_forecast\nown "+search+" weather__get_forecast", p.tools())
		require.Contains(t, p.answer(t, "1"), `got {"city":"Oslo"}`)
		var told []einolean.Event
		for _, e := range events.events {
			if e.Kind == einolean.KindToolsPrefetched {
				told = append(told, e)
			}
		}
		require.Len(t, told, 1, "once, not in every model call")
		require.Equal(t, []string{"weather__get_forecast"}, told[0].Tools.Added)
		require.Equal(t, "What will the weather be in Oslo? I need the forecast.", told[0].Search.Query)

		// The next run loads it again, after what the history says came before.
		p = s.play(append(p.history, adktest.User[M]("Now send a message to the channel.")))
		require.Equal(t, "own "+search+" weather__get_forecast slack__send_message", p.tools())
	}
}

func prefetching[M adk.MessageType](t testing.TB, streaming bool, protocol toolsearch.Protocol) scene[M] {
	s := newScene[M](t, streaming, protocol)
	s.cfg.Prefetch, s.cfg.NewIndex = 2, index.BM25
	return s
}

// Where a protocol never loads tools, a message after the user's describes them: every time
// the same one, at the same place, and each tool once.
func TestPrefetch_SearchCallDescribesToolsAfterUserMessage(t *testing.T) {
	adktest.Both(t, testPrefetchSearchCallDescribesToolsAfterUserMessage[*schema.Message], testPrefetchSearchCallDescribesToolsAfterUserMessage[*schema.AgenticMessage])
}

func testPrefetchSearchCallDescribesToolsAfterUserMessage[M adk.MessageType](t *testing.T, streaming bool) {
	events := &recorder{}
	s := prefetching[M](t, streaming, toolsearch.SearchCall)
	s.cfg.OnEvent = events.record
	call := func(id string) adktest.Turn {
		return oneCall(id, "call_tool", `{"name":"weather__get_forecast","arguments":{"city":"Oslo"}}`)
	}
	p := s.play([]M{adktest.User[M]("What will the weather be in Oslo? I need the forecast.")}, call("1"))
	require.Equal(t, "own tool_search call_tool\nown tool_search call_tool", p.tools())
	require.Contains(t, p.answer(t, "1"), `got {"city":"Oslo"}`)
	sent := p.wires[0].MessagesDump
	require.Len(t, sent, 3)
	require.True(t, strings.HasPrefix(sent[2], "user: <tools-for-this-request>\n{\"tools\":[{\"name\":\"weather__get_forecast\",\"description\":\""), sent[2])
	require.True(t, strings.HasSuffix(sent[2], "If it fits, run it with call_tool. If not, run a fitting tool from the list, or search with tool_search.\"}\n</tools-for-this-request>"), sent[2])
	require.Equal(t, sent, p.wires[1].MessagesDump[:3])
	kinds := 0
	for _, e := range events.events {
		if e.Kind == einolean.KindToolsPrefetched {
			kinds++
			require.Equal(t, []string{"weather__get_forecast"}, e.Tools.Added)
		}
	}
	require.Equal(t, 1, kinds)

	// A later run describes it again at its place, and not twice. Whoever keeps the messages
	// of a request, without Extra, has the same.
	history := append(p.history, adktest.User[M]("Now send a message to the channel. What about the weather forecast?"))
	p = s.play(history)
	all := strings.Join(p.wires[0].MessagesDump, "\n")
	require.Equal(t, sent, p.wires[0].MessagesDump[:3])
	require.Equal(t, 2, strings.Count(all, "<tools-for-this-request>"))
	require.Equal(t, 1, strings.Count(all, `{"name":"weather__get_forecast","description"`))
	require.Equal(t, 1, strings.Count(all, `{"name":"slack__send_message","description"`))
	var kept []M
	for _, m := range p.wires[0].Messages {
		kept = append(kept, adktest.WithExtra(m, nil))
	}
	require.Equal(t, p.wires[0].MessagesDump, s.play(kept).wires[0].MessagesDump)

	// What may not be loaded is not described, and what takes too much is left out.
	s.cfg.Filter = func(_ context.Context, req toolsearch.FilterRequest) (bool, error) {
		return req.Phase != toolsearch.PhaseLoad || !strings.HasPrefix(req.Tool.Name, "slack"), nil
	}
	require.Equal(t, 1, strings.Count(strings.Join(s.play(history).wires[0].MessagesDump, "\n"), "<tools-for-this-request>"))
	s.cfg.Filter = nil
	s.cfg.DynamicTools = []tool.BaseTool{adktest.Simple("weather__get_forecast", "The weather forecast. "+strings.Repeat("More. ", 2000))}
	require.NotContains(t, strings.Join(s.play(history).wires[0].MessagesDump, "\n"), "<tools-for-this-request>")
}

func TestPrefetch_WorksWithEveryProtocol(t *testing.T) {
	for _, c := range []struct {
		protocol toolsearch.Protocol
		index    index.Func
		tools    string
	}{
		{toolsearch.Keyword, nil, "own tool_search weather__get_forecast"},
		{toolsearch.Regexp, nil, "own tool_search weather__get_forecast"},
		{toolsearch.SearchLoad, nil, "own search_tools load_tool weather__get_forecast"},
		{toolsearch.SearchLoad, index.BM25, "own search_tools load_tool weather__get_forecast"},
		{toolsearch.SearchCall, nil, "own tool_search call_tool"},
	} {
		s := prefetching[*schema.Message](t, false, c.protocol)
		s.cfg.NewIndex = c.index
		p := s.play([]*schema.Message{schema.UserMessage("get the weather forecast")})
		require.Equal(t, c.tools, p.tools(), c.protocol)
		require.Equal(t, c.protocol == toolsearch.SearchCall, strings.Contains(strings.Join(p.wires[0].MessagesDump, "\n"), "<tools-for-this-request>"))
	}
}

func TestPrefetch_IgnoresSmallTalkAndHandlerMessages(t *testing.T) {
	adktest.Both(t, testPrefetchIgnoresSmallTalkAndHandlerMessages[*schema.Message], testPrefetchIgnoresSmallTalkAndHandlerMessages[*schema.AgenticMessage])
}

func testPrefetchIgnoresSmallTalkAndHandlerMessages[M adk.MessageType](t *testing.T, streaming bool) {
	wrote := adktest.WithExtra(adktest.User[M]("Send a message to the slack channel"), map[string]any{"_eino_summarization_content_type": "summary"})
	for name, m := range map[string]M{"small talk": adktest.User[M]("Hello there, how are you?"), "a handler": wrote, "nothing": adktest.User[M](""), "an answer": adktest.Assistant[M]("I could send a message to the slack channel")} {
		s := prefetching[M](t, streaming, toolsearch.Keyword)
		p := s.play([]M{m})
		require.Equal(t, "own tool_search", p.tools(), name)
	}
	s := prefetching[M](t, streaming, toolsearch.Keyword)
	s.cfg.Filter = func(_ context.Context, req toolsearch.FilterRequest) (bool, error) {
		return req.Phase != toolsearch.PhaseLoad || !strings.HasPrefix(req.Tool.Name, "slack"), nil
	}
	require.Equal(t, "own tool_search", s.play([]M{adktest.User[M]("Send a message to the slack channel")}).tools(), "denied")
	s = prefetching[M](t, streaming, toolsearch.Keyword)
	s.cfg.NewIndex = func(context.Context, []*schema.ToolInfo) (index.Index, error) {
		return brokenIndex(func() ([]index.Result, error) { panic("broken") }), nil
	}
	require.Equal(t, "own tool_search", s.play([]M{adktest.User[M]("qwertz")}).tools(), "an index that fails")
}

// What is prefetched follows from the messages: an instance of another process loads the
// same, and a longer history loads the same first, in the same order.
func TestPrefetch_LongerHistoryKeepsOrder(t *testing.T) {
	adktest.Both(t, testPrefetchLongerHistoryKeepsOrder[*schema.Message], testPrefetchLongerHistoryKeepsOrder[*schema.AgenticMessage])
}

func testPrefetchLongerHistoryKeepsOrder[M adk.MessageType](t *testing.T, streaming bool) {
	says := []string{"Send a message to the slack channel", "What will the weather be?", "Create an issue in the repository", "Close the issue please", "Thanks!"}
	for seed := range uint64(race.Cases(20)) {
		random := rand.New(rand.NewPCG(seed, 2))
		var history []M
		before := ""
		for n := range 80 {
			history = append(history, adktest.User[M](says[random.IntN(len(says))]))
			if random.IntN(3) > 0 || n > 70 {
				history = append(history, adktest.Assistant[M]("fine"))
			}
			if n%8 != 7 {
				continue
			}
			tools := prefetching[M](t, streaming, toolsearch.Keyword).play(history).tools()
			require.Equal(t, tools, prefetching[M](t, streaming, toolsearch.Keyword).play(history).tools(), "seed %d", seed)
			require.True(t, strings.HasPrefix(tools, before), "seed %d: %q, %q", seed, before, tools)
			before = tools
		}
	}
}

func TestPrefetch_IsBounded(t *testing.T) {
	s := prefetching[*schema.Message](t, false, toolsearch.Keyword)
	s.cfg.DynamicTools = nil
	var history []*schema.Message
	for i := range 80 {
		word := fmt.Sprintf("wo%crd%c", 'a'+i%26, 'a'+i/26)
		s.cfg.DynamicTools = append(s.cfg.DynamicTools, adktest.Simple(word+"__run", "Runs the "+word))
		history = append(history, schema.UserMessage("please run the "+word))
	}
	s.cfg.Prefetch = 1
	require.Len(t, s.play(history).wires[0].ToolNames, 2+50)
	late := append(make([]*schema.Message, 0), history[:1]...)
	for range 63 {
		late = append(late, schema.UserMessage("qwertz"))
	}
	require.Len(t, s.play(append(late, history[1])).wires[0].ToolNames, 2+1, "the 65th message")
}
