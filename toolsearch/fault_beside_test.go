// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch_test

// This file runs the middleware beside others of Eino's, and in its prebuilt agent.

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/adk/middlewares/patchtoolcalls"
	einoreduction "github.com/cloudwego/eino/adk/middlewares/reduction"
	"github.com/cloudwego/eino/adk/prebuilt/deep"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/leanctx/leanctx/internal/adktest"
)

func TestTS11_ToolsStayWhereEinosReductionClearsTheSearch(t *testing.T) {
	bothSides(t, besideReduction[*schema.Message], besideReduction[*schema.AgenticMessage])
}

// besideReduction clears every result but the last, in the agent's own messages. Within the
// run that costs nobody a tool; in the next one only Eino's package loses it.
func besideReduction[M adk.MessageType](t *testing.T, eino, ours side[M]) {
	for s, want := range map[*side[M]]string{&eino: "0:tool_search", &ours: "0:tool_search,a1"} {
		clearing, err := einoreduction.NewTyped[M](context.Background(), &einoreduction.TypedConfig[M]{SkipTruncation: true, MaxTokensForClear: 1})
		require.NoError(t, err)
		h := s.mustBuild(t, simples("a1", "a2")...)
		turns := []adktest.Turn{adktest.Do(searchFor("1", "select:a1")), adktest.Do(callOf("2", "a1")), adktest.Do(callOf("3", "a1"))}
		for _, order := range [][]adk.TypedChatModelAgentMiddleware[M]{{clearing, h}, {h, clearing}} {
			tr := s.run(ask[M](), nil, turns, order...)
			require.NoError(t, tr.Err)
			require.Contains(t, tr.result("1"), "cleared")
			require.Equal(t, "0:tool_search 1:tool_search,a1 2:tool_search,a1 3:tool_search,a1", tr.tools(), s.name)
			require.Contains(t, tr.result("3"), "echo")
			then := s.run(kept(tr), nil, nil, h)
			require.NoError(t, then.Err)
			require.Equal(t, want, then.tools(), s.name)
		}
	}
}

func TestOneInstanceServesEveryAgentOfADeepAgent(t *testing.T) {
	bothSides(t, deepAgent[*schema.Message], deepAgent[*schema.AgenticMessage])
}

// deepAgent runs Eino's prebuilt agent, which gives its handlers to a general sub-agent as
// well. Two tasks run at once, each of which loads a tool of its own.
func deepAgent[M adk.MessageType](t *testing.T, eino, ours side[M]) {
	for _, s := range []side[M]{eino, ours} {
		patch, err := patchtoolcalls.NewTyped[M](context.Background(), nil)
		require.NoError(t, err)
		m := &adktest.Model[M]{Respond: func(_ int, w adktest.Wire[M]) adktest.Turn { return deepTurn(w) }}
		a, err := deep.NewTyped(context.Background(), &deep.TypedConfig[M]{Name: "deep", Description: "a deep agent", ChatModel: m,
			Handlers: adktest.Handlers(patch, s.mustBuild(t, simples("a1", "a2", "a3")...))})
		require.NoError(t, err)
		out := adktest.Collect(adk.NewTypedRunner(adk.TypedRunnerConfig[M]{Agent: a, EnableStreaming: s.streaming}).Run(context.Background(), ask[M]()))
		require.NoError(t, out.Err)
		require.Equal(t, "done", out.Answer(), s.name)
		wires := m.Wires()
		require.Len(t, wires, 9)
		last := wires[len(wires)-1]
		require.Contains(t, strings.Join(last.MessagesDump, "\n"), "task a1 done")
		require.Contains(t, strings.Join(last.MessagesDump, "\n"), "task a2 done")
		for _, w := range wires {
			task, step := deepTask(w)
			found := strings.Join(w.ToolNames, ",")
			for _, name := range []string{"a1", "a2", "a3"} {
				require.Equal(t, step > 0 && name == task, strings.Contains(found, name), "%s: request %d of %s shows %s", s.name, step, task, found)
			}
		}
	}
}

// deepTask is the tool that an agent is after, by what it was asked, and how far it is.
func deepTask[M adk.MessageType](w adktest.Wire[M]) (name string, step int) {
	name = "a3"
	for _, m := range w.Messages {
		switch {
		case adktest.Role(m) == "assistant":
			step++
		case strings.HasPrefix(adktest.Text(m), "use "):
			name = strings.TrimPrefix(adktest.Text(m), "use ")
		}
	}
	return name, step
}

func deepTurn[M adk.MessageType](w adktest.Wire[M]) adktest.Turn {
	name, step := deepTask(w)
	task := func(id, tool string) adktest.ToolCall {
		return adktest.ToolCall{ID: id, Name: "task", Args: fmt.Sprintf(`{"subagent_type":"general-purpose","description":"use %s"}`, tool)}
	}
	switch {
	case step == 0:
		return adktest.Do(searchFor(name+"-0", "select:"+name))
	case step == 1 && name == "a3":
		return adktest.Do(task("t1", "a1"), task("t2", "a2"), callOf("t3", "a3"))
	case step == 1:
		return adktest.Do(callOf(name+"-1", name))
	case name == "a3":
		return adktest.Say("done")
	}
	return adktest.Say("task " + name + " done")
}
