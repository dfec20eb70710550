// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch_test

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
)

// Some adapters count the ids of calls anew in each answer. What a model call shows does not depend on that: whatever
// is searched, called and denied, in one run or several, and wherever another process goes on.
func TestIDsOfCallsMayRepeat(t *testing.T) {
	adktest.EachType(t, idsRepeat[*schema.Message], idsRepeat[*schema.AgenticMessage])
}

func idsRepeat[M adk.MessageType](t *testing.T) {
	seed := rand.Uint64()
	for n := range uint64(race.Cases(60)) {
		talk := func(id func(turn, call int) string) (shown []string) {
			return talkWith[M](t, rand.New(rand.NewPCG(seed, n)), id)
		}
		unique := talk(func(turn, call int) string { return fmt.Sprintf("call_%d_%d", turn, call) })
		require.Equal(t, unique, talk(func(_, call int) string { return fmt.Sprint("call_", call) }), "seed %d/%d", seed, n)
	}
}

// talkWith is a random conversation of two runs in which calls have ids by their place. It returns what each
// request shows of hidden tools.
func talkWith[M adk.MessageType](t *testing.T, r *rand.Rand, id func(turn, call int) string) (shown []string) {
	ask := adktest.Tool(adktest.Invokable, &schema.ToolInfo{Name: "ask", Desc: "asks a person"}, func(ctx context.Context, _ string) (string, error) {
		if was, _, _ := tool.GetInterruptState[any](ctx); !was {
			return "", tool.Interrupt(ctx, "may I?")
		}
		return "yes", nil
	})
	var tools []tool.BaseTool
	for i := range 9 {
		tools = append(tools, adktest.Simple(fmt.Sprint("tool_", i), fmt.Sprint("sends mail number ", i)))
	}
	cfg := toolsearch.Config{
		DynamicTools: tools, UnloadAfter: r.IntN(2) * (1 + r.IntN(4)), Protocol: []toolsearch.Protocol{toolsearch.Keyword, toolsearch.SearchCall}[r.IntN(2)], Prefetch: r.IntN(2),
		OnEvent: func(context.Context, einolean.Event) {},
		Filter: func(_ context.Context, q toolsearch.FilterRequest) (bool, error) {
			return q.Tool.Name != "tool_8" || q.Phase != toolsearch.PhaseCall, nil
		},
	}
	if cfg.Protocol == toolsearch.SearchCall {
		cfg.UnloadAfter = 0
	}
	var history []M
	n := 0
	for range 2 {
		var turns []adktest.Turn
		for range 1 + r.IntN(7) {
			var calls []adktest.ToolCall
			for k := range 1 + r.IntN(3) {
				name := fmt.Sprint("tool_", r.IntN(9))
				c := []adktest.ToolCall{{Name: "tool_search", Args: `{"query":"select:` + name + `"}`}, {Name: name, Args: "{}"}, {Name: name, Args: "{}"}, {Name: "ask", Args: "{}"}, {Name: "own", Args: "{}"}, {Name: "own", Args: "{}"}}[r.IntN(6)]
				if cfg.Protocol == toolsearch.SearchCall && strings.HasPrefix(c.Name, "tool_") && c.Name != "tool_search" {
					c = adktest.ToolCall{Name: "call_tool", Args: `{"name":"` + name + `","arguments":{}}`}
				}
				c.ID = id(n, k)
				calls = append(calls, c)
			}
			turns = append(turns, adktest.Do(calls...))
			n++
		}
		model, kept := adktest.Script[M](append(turns, adktest.Say("done"))...), &adktest.Store{}
		runner := func() *adk.TypedRunner[M] {
			h, err := toolsearch.NewTyped[M](t.Context(), &cfg)
			require.NoError(t, err)
			run, err := adktest.Agent[M]{Model: model, Tools: []tool.BaseTool{ask, adktest.Simple("own", "does nothing")}, Handlers: adktest.Handlers(h), Store: kept, Max: 40}.Runner(t.Context())
			require.NoError(t, err)
			return run
		}
		history = append(history, adktest.User[M](fmt.Sprint("send mail number ", r.IntN(9))))
		out := adktest.Collect(runner().Run(t.Context(), history, adk.WithCheckPointID("x")))
		for {
			require.NoError(t, out.Err)
			if history = append(history, out.Messages...); out.Interrupted == nil {
				break
			}
			it, err := runner().Resume(t.Context(), "x")
			require.NoError(t, err)
			out = adktest.Collect(it)
		}
		for _, w := range model.Wires() {
			said := fmt.Sprint(w.ToolNames)
			for i, msg := range w.MessagesDump {
				if strings.Contains(msg, "<tools-for-this-request>") {
					said += fmt.Sprintf(" offer at %d: %s", i, msg)
				}
			}
			shown = append(shown, said)
		}
	}
	return shown
}
