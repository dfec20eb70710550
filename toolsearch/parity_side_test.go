// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch_test

// This file runs the same agent with Eino's package and with ours.

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/cloudwego/eino/adk"
	einosearch "github.com/cloudwego/eino/adk/middlewares/dynamictool/toolsearch"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/leanctx/leanctx/internal/adktest"
	"github.com/leanctx/leanctx/toolsearch"
)

// side is one of the two packages, for one message type.
type side[M adk.MessageType] struct {
	name      string
	streaming bool
	build     func(tools []tool.BaseTool, native bool) (adk.TypedChatModelAgentMiddleware[M], error)
}

func einoSide[M adk.MessageType](streaming bool) side[M] {
	return side[M]{"eino", streaming, func(tools []tool.BaseTool, native bool) (adk.TypedChatModelAgentMiddleware[M], error) {
		return einosearch.NewTyped[M](context.Background(), &einosearch.Config{DynamicTools: tools, UseModelToolSearch: native})
	}}
}

func ourSide[M adk.MessageType](streaming bool) side[M] {
	return side[M]{"leanctx", streaming, func(tools []tool.BaseTool, native bool) (adk.TypedChatModelAgentMiddleware[M], error) {
		return toolsearch.NewTyped[M](context.Background(), &toolsearch.Config{DynamicTools: tools, UseModelToolSearch: native})
	}}
}

// mustBuild makes a middleware that searches by itself.
func (s side[M]) mustBuild(t testing.TB, tools ...tool.BaseTool) adk.TypedChatModelAgentMiddleware[M] {
	t.Helper()
	h, err := s.build(tools, false)
	require.NoError(t, err)
	return h
}

// mustBuildNative makes one that leaves the search to the model.
func (s side[M]) mustBuildNative(t testing.TB, tools ...tool.BaseTool) adk.TypedChatModelAgentMiddleware[M] {
	t.Helper()
	h, err := s.build(tools, true)
	require.NoError(t, err)
	return h
}

// trial is one run of an agent, and what came of it.
type trial[M adk.MessageType] struct {
	adktest.Outcome[M]
	wires []adktest.Wire[M]
}

// run runs a scripted agent: handlers and own tools around turns, on a history.
func (s side[M]) run(history []M, own []tool.BaseTool, turns []adktest.Turn, h ...adk.TypedChatModelAgentMiddleware[M]) trial[M] {
	return s.runAgent(adktest.Agent[M]{Tools: own, Handlers: h}, history, turns...)
}

func (s side[M]) runAgent(a adktest.Agent[M], history []M, turns ...adktest.Turn) trial[M] {
	a.Model, a.Streaming = adktest.Script[M](turns...), s.streaming
	out := a.Run(context.Background(), history)
	return trial[M]{out, a.Model.Wires()}
}

// tools are the names of the tools that each model call showed.
func (tr trial[M]) tools() string {
	var b strings.Builder
	for i, w := range tr.wires {
		fmt.Fprintf(&b, "%d:%s", i, strings.Join(w.ToolNames, ","))
		if w.Deferred != nil {
			fmt.Fprintf(&b, " deferred:%s", strings.Join(w.DeferredNames, ","))
		}
		b.WriteByte(' ')
	}
	return strings.TrimSpace(b.String())
}

// text is the dump of a whole trial: each request, and how it ended.
func (tr trial[M]) text() string {
	var b strings.Builder
	for i, w := range tr.wires {
		fmt.Fprintf(&b, "-- request %d: tools %q deferred %q native %v\n", i, w.ToolNames, w.DeferredNames, w.ToolSearch != nil)
		for _, m := range w.MessagesDump {
			b.WriteString(m + "\n")
		}
	}
	fmt.Fprintf(&b, "-- error %v, answer %q", tr.Err, tr.Answer())
	return b.String()
}

// result is the text of the result of a call, from the last request that shows it.
func (tr trial[M]) result(id string) string {
	for i := len(tr.wires) - 1; i >= 0; i-- {
		for _, m := range tr.wires[i].Messages {
			for _, r := range adktest.Results(m) {
				if r.ID == id {
					return adktest.Text(m)
				}
			}
		}
	}
	return "(no result)"
}

// reminders counts the messages of a request that list tools, and returns the last one.
func reminders[M adk.MessageType](w adktest.Wire[M]) (count int, last string) {
	for _, m := range w.Messages {
		if text := adktest.Text(m); strings.HasPrefix(text, "<available-deferred-tools>") {
			count, last = count+1, text
		}
	}
	return count, last
}

// bothSides runs a check of the two packages for both message types, streaming and not.
func bothSides(t *testing.T, plain func(*testing.T, side[*schema.Message], side[*schema.Message]), agentic func(*testing.T, side[*schema.AgenticMessage], side[*schema.AgenticMessage])) {
	t.Helper()
	adktest.Both(t,
		func(t *testing.T, s bool) { plain(t, einoSide[*schema.Message](s), ourSide[*schema.Message](s)) },
		func(t *testing.T, s bool) {
			agentic(t, einoSide[*schema.AgenticMessage](s), ourSide[*schema.AgenticMessage](s))
		})
}

func searchFor(id, query string) adktest.ToolCall {
	return adktest.ToolCall{ID: id, Name: "tool_search", Args: fmt.Sprintf(`{"query":%q}`, query)}
}

func callOf(id, name string) adktest.ToolCall {
	return adktest.ToolCall{ID: id, Name: name, Args: `{"value":"x"}`}
}

func simples(names ...string) []tool.BaseTool {
	var out []tool.BaseTool
	for _, n := range names {
		out = append(out, adktest.Simple(n, "does "+n))
	}
	return out
}

// ask is a history of one question.
func ask[M adk.MessageType]() []M { return []M{adktest.User[M]("please")} }
