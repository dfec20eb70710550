// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package together

// Histories that an application stored from the events of a run.

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/compose"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/adktest"
	"github.com/einolean/einolean/reduction"
	"github.com/einolean/einolean/store"
	"github.com/einolean/einolean/toolsearch"
)

// A batch whose tools end in reverse order: the next turn's request is the same, byte for byte, whether the
// application stored the messages of the events or those of the agent's state.
func TestStoredEvents_MakeTheSameRequestAsTheState_X13(t *testing.T) {
	adktest.Both(t, testStoredEvents[message], testStoredEvents[agenticMessage])
}

func testStoredEvents[M adk.MessageType](t *testing.T, streaming bool) {
	search := func() handler[M] { return searchOf[M](t, toolsearch.Config{DynamicTools: dynamicTools()}) }
	zero := func() handler[M] { return reductionOf(t, reduction.TypedConfig[M]{Backend: store.NewMemory(0)}) }
	recommended := func() handler[M] { return reductionOf(t, *reduction.RecommendedTyped[M](store.NewMemory(0))) }
	for name, handlers := range map[string][]handler[M]{
		"toolsearch":                           {search()},
		"reduction":                            {zero()},
		"recommended reduction":                {recommended()},
		"toolsearch and reduction":             {search(), zero()},
		"toolsearch and recommended reduction": {search(), recommended()},
		"reduction and toolsearch":             {zero(), search()},
	} {
		for formName, form := range adktest.Forms {
			t.Run(name+", "+formName, func(t *testing.T) {
				events, state := runReversedBatch(t, streaming, form, handlers)
				require.Equal(t, []string{"c", "b", "a"}, resultIDs(events), "the tools ended in reverse order")
				require.Equal(t, []string{"a", "b", "c"}, resultIDs(state))
				fromEvents, fromState := nextRequest(t, streaming, handlers, events), nextRequest(t, streaming, handlers, state)
				require.Equal(t, []string{"a", "b", "c"}, resultIDs(fromEvents))
				if storesChunksAlike[M](form, streaming) {
					require.Equal(t, asJSON(t, fromState), asJSON(t, fromEvents))
				}
			})
		}
	}
}

// storesChunksAlike reports whether a streamed result is the same in an event and in the state. In an agentic run that
// does not stream, Eino joins the chunks to one text for its state, and ConcatAgenticMessages does not.
func storesChunksAlike[M adk.MessageType](form adktest.Form, streaming bool) bool {
	_, isAgentic := any(*new(M)).(agenticMessage)
	return !isAgentic || streaming || form == adktest.Invokable || form == adktest.Enhanced
}

// runReversedBatch runs a turn with three parallel calls. Each ends when the event of the one after it has arrived. It
// returns the messages that an application stores from the events, and those of the agent's state.
func runReversedBatch[M adk.MessageType](
	t *testing.T, streaming bool, form adktest.Form, handlers []handler[M],
) (events, state []M) {
	t.Helper()
	mayEnd := map[string]chan struct{}{"a": make(chan struct{}), "b": make(chan struct{}), "c": make(chan struct{})}
	close(mayEnd["c"])
	before := map[string]string{"c": "b", "b": "a"}
	work := adktest.Tool(form, &schemaInfo{Name: "work", Desc: "Works"}, func(ctx context.Context, args string) (string, error) {
		<-mayEnd[compose.GetToolCallID(ctx)]
		return strings.Repeat("work on "+args+"\n", 100), nil
	})
	var calls []adktest.ToolCall
	for _, id := range []string{"a", "b", "c"} {
		calls = append(calls, adktest.ToolCall{ID: id, Name: "work", Args: fmt.Sprintf(`{"part":%q}`, id)})
	}
	m := adktest.Script[M](adktest.Do(calls...), adktest.Say("all parts are done"))
	ctx := context.Background()
	agent := adktest.Agent[M]{Model: m, Tools: []tool.BaseTool{work}, Handlers: handlers, Streaming: streaming}
	runner, err := agent.Runner(ctx)
	require.NoError(t, err)
	events = append(events, adktest.User[M]("work"))
	for it := runner.Run(ctx, events); ; {
		event, ok := it.Next()
		if !ok {
			break
		}
		require.NoError(t, event.Err)
		msg, err := event.Output.MessageOutput.GetMessage()
		require.NoError(t, err)
		events = append(events, msg)
		for _, r := range adktest.Results(msg) {
			if next := before[r.ID]; next != "" {
				close(mayEnd[next])
			}
		}
	}
	wires := m.Wires()
	require.Len(t, wires, 2)
	return events, append(wires[1].Messages, events[len(events)-1])
}

// nextRequest returns the messages of the first request of the next turn. The application stores messages as JSON.
func nextRequest[M adk.MessageType](t *testing.T, streaming bool, handlers []handler[M], stored []M) []M {
	t.Helper()
	text, err := json.Marshal(stored)
	require.NoError(t, err)
	var history []M
	require.NoError(t, json.Unmarshal(text, &history))
	m := adktest.Script[M]()
	work := adktest.Tool(adktest.Invokable, &schemaInfo{Name: "work", Desc: "Works"}, nil)
	agent := adktest.Agent[M]{Model: m, Tools: []tool.BaseTool{work}, Handlers: handlers, Streaming: streaming}
	out := agent.Run(context.Background(), append(history, adktest.User[M]("go on")))
	require.NoError(t, out.Err)
	return m.Wires()[0].Messages
}

func asJSON[M adk.MessageType](t *testing.T, msgs []M) string {
	t.Helper()
	text, err := json.MarshalIndent(msgs, "", " ")
	require.NoError(t, err)
	return streamPosition.ReplaceAllString(string(text), "")
}

// streamPosition is the place of a chunk in its stream. The state has the position of the call there and an event has
// 0; no adapter sends it.
var streamPosition = regexp.MustCompile(`(?s),\s*"streaming_meta": \{[^}]*\}`)

func resultIDs[M adk.MessageType](msgs []M) (ids []string) {
	for _, m := range msgs {
		for _, r := range adktest.Results(m) {
			ids = append(ids, r.ID)
		}
	}
	return ids
}
