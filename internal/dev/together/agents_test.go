// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package together

// The multi-agent systems of docs/tools.md.

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/adk/filesystem"
	"github.com/cloudwego/eino/adk/prebuilt/deep"
	"github.com/cloudwego/eino/adk/prebuilt/planexecute"
	"github.com/cloudwego/eino/adk/prebuilt/supervisor"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/compose"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/adktest"
	"github.com/einolean/einolean/reduction"
	"github.com/einolean/einolean/store"
	"github.com/einolean/einolean/toolsearch"
)

func tools(t ...tool.BaseTool) adk.ToolsConfig {
	return adk.ToolsConfig{ToolsNodeConfig: compose.ToolsNodeConfig{Tools: t}}
}

// Handlers of a deep agent stand behind its own, and serve its general sub-agent as well,
// which starts with nothing loaded.
//
//claim:handlers-11
func TestDeepAgent_SubAgentStartsWithNothingLoaded(t *testing.T) {
	adktest.Both(t, deepAgent[message], deepAgent[agenticMessage])
}

func deepAgent[M adk.MessageType](t *testing.T, streaming bool) {
	ctx, files := context.Background(), filesystem.NewInMemoryBackend()
	task := call("t", "task", map[string]any{"subagent_type": "general-purpose", "description": "update one item"})
	play := func(provide bool, hidden []string, turns ...adktest.Turn) (adktest.Outcome[M], []adktest.Wire[M]) {
		m := adktest.Script[M](turns...)
		agent, err := deep.NewTyped(ctx, &deep.TypedConfig[M]{
			Name: "deep", Description: "d", ChatModel: m, Backend: files, ToolsConfig: tools(big()), MaxIteration: 20,
			Handlers: adktest.Handlers(searchOf[M](t, toolsearch.Config{DynamicTools: dynamicTools(), SearchableTools: hidden}),
				reductionOf(t, reduction.TypedConfig[M]{Backend: files, ProvideReadTool: provide, MaxLengthForTrunc: 600})),
		})
		require.NoError(t, err)
		r := adk.NewTypedRunner(adk.TypedRunnerConfig[M]{Agent: agent, EnableStreaming: streaming})
		return adktest.Collect(r.Run(ctx, user[M]())), m.Wires()
	}
	out, wires := play(false, []string{"glob", "write_todos"},
		call("load", "tool_search", map[string]any{"query": "select:" + names()[7]}), call("a", "big", nil), task,
		call("b", "big", nil), adktest.Say("the sub-agent is done"), // of the sub-agent
		call("r", "read_file", map[string]any{"file_path": "/tmp/trunc/b"}))
	require.NoError(t, out.Err)
	require.Len(t, wires, 7)
	main, sub := wires[2], wires[3]
	require.Contains(t, main.ToolNames, "task")
	require.Contains(t, main.ToolNames, names()[7])
	require.NotContains(t, main.ToolNames, "glob", "tools of the deep agent can be hidden")
	require.NotContains(t, main.ToolNames, "write_todos")
	require.Contains(t, sub.ToolNames, "tool_search")
	require.NotContains(t, sub.ToolNames, names()[7], "a sub-agent loads its own")
	require.True(t, lists(sub))
	require.Contains(t, resultIn(wires[4].Messages, "b"), "/trunc/b")
	require.Contains(t, resultIn(wires[6].Messages, "r"), "a long line of output", "one store for all agents")

	out, wires = play(true, nil, call("a", "big", nil), call("r", "read_file", map[string]any{"file_path": "/tmp/trunc/a"}))
	require.NoError(t, out.Err)
	require.Contains(t, resultIn(wires[2].Messages, "r"), "a long line of output", "the deep agent's own tool reads what is stored")
	out, wires = play(false, []string{"task"}, call("load", "tool_search", map[string]any{"query": "select:task"}), task)
	require.ErrorContains(t, out.Err, `"task"`, "the sub-agent has no such tool")
	require.Len(t, wires, 2)
}

// Each agent under a supervisor has its own handlers. Tools that the supervisor loaded are not
// loaded in the agent that takes over, and the transfer tool is never hidden.
//
//claim:handlers-13
func TestSupervisor_AgentsHaveTheirOwnHandlers(t *testing.T) {
	ctx := context.Background()
	for _, streaming := range []bool{false, true} {
		search := searchOf[message](t, toolsearch.Config{DynamicTools: dynamicTools()})
		reduce := reductionOf(t, reduction.Config{Backend: store.NewMemory(0), ProvideReadTool: true, MaxLengthForTrunc: 600})
		agent := func(name string, turns ...adktest.Turn) (adk.Agent, *adktest.Model[message]) {
			m := adktest.Script[message](turns...)
			a, err := adk.NewChatModelAgent(ctx, &adk.ChatModelAgentConfig{Name: name, Description: name, Model: m, ToolsConfig: tools(big()), Handlers: adktest.Handlers(search, reduce)})
			require.NoError(t, err)
			return a, m
		}
		boss, bossModel := agent("boss", call("load", "tool_search", map[string]any{"query": "select:" + names()[7]}), call("a", "big", nil), call("t", "transfer_to_agent", map[string]any{"agent_name": "worker"}))
		worker, workerModel := agent("worker", call("load2", "tool_search", map[string]any{"query": "select:" + names()[8]}), call("use", names()[8], nil))
		all, err := supervisor.New(ctx, &supervisor.Config{Supervisor: boss, SubAgents: []adk.Agent{worker}})
		require.NoError(t, err)
		out := adktest.Collect(adk.NewRunner(ctx, adk.RunnerConfig{Agent: all, EnableStreaming: streaming}).Run(ctx, user[message]()))
		require.NoError(t, out.Err)
		require.Contains(t, bossModel.Wires()[0].ToolNames, "transfer_to_agent")
		require.Contains(t, bossModel.Wires()[2].ToolNames, names()[7])
		w := workerModel.Wires()
		require.Len(t, w, 3)
		require.NotContains(t, w[0].ToolNames, names()[7])
		require.True(t, lists(w[0]))
		require.Equal(t, 1, strings.Count(strings.Join(w[0].MessagesDump, "\n"), "</available-deferred-tools>"))
		require.Contains(t, strings.Join(w[0].MessagesDump, "\n"), "/trunc/a", "the path goes with the conversation")
		require.Contains(t, w[1].ToolNames, names()[8])
		require.Contains(t, resultIn(w[2].Messages, "use"), "echo")
	}
}

// planModel is a model for the planners.
type planModel struct{ *adktest.Model[message] }

func (p planModel) WithTools([]*schemaInfo) (model.ToolCallingChatModel, error) { return p, nil }

// Eino's own executor takes no handlers, so a custom agent is the executor. It begins each step
// with nothing but the step, and so with nothing loaded.
//
//claim:handlers-12
func TestPlanExecute_StepsStartWithNothingLoaded(t *testing.T) {
	ctx := context.Background()
	for _, streaming := range []bool{false, true} {
		planner, err := planexecute.NewPlanner(ctx, &planexecute.PlannerConfig{ToolCallingChatModel: planModel{adktest.Script[message](call("p", "plan", map[string]any{"steps": []string{"one", "two"}}))}})
		require.NoError(t, err)
		replanner, err := planexecute.NewReplanner(ctx, &planexecute.ReplannerConfig{ChatModel: planModel{adktest.Script[message](
			call("p", "plan", map[string]any{"steps": []string{"two"}}), call("q", "respond", map[string]any{"response": "all is done"}))}})
		require.NoError(t, err)
		m := adktest.Script[message](
			call("load", "tool_search", map[string]any{"query": "select:" + names()[7]}), call("a", "big", nil), adktest.Say("one is done"),
			call("b", "big", nil), adktest.Say("two is done"))
		executor, err := adk.NewChatModelAgent(ctx, &adk.ChatModelAgentConfig{
			Name: "executor", Description: "runs a step", Model: m, ToolsConfig: tools(big()), OutputKey: planexecute.ExecutedStepSessionKey,
			Handlers: adktest.Handlers(searchOf[message](t, toolsearch.Config{DynamicTools: dynamicTools()}),
				reductionOf(t, reduction.Config{Backend: store.NewMemory(0), ProvideReadTool: true, MaxLengthForTrunc: 600})),
			GenModelInput: func(ctx context.Context, _ string, _ *adk.AgentInput) ([]adk.Message, error) {
				plan, _ := adk.GetSessionValue(ctx, planexecute.PlanSessionKey)
				return []adk.Message{adktest.User[message]("Do " + plan.(planexecute.Plan).FirstStep())}, nil
			},
		})
		require.NoError(t, err)
		all, err := planexecute.New(ctx, &planexecute.Config{Planner: planner, Executor: executor, Replanner: replanner})
		require.NoError(t, err)
		out := adktest.Collect(adk.NewRunner(ctx, adk.RunnerConfig{Agent: all, EnableStreaming: streaming}).Run(ctx, user[message]()))
		require.NoError(t, out.Err)
		w := m.Wires()
		require.Len(t, w, 5)
		require.Contains(t, w[1].ToolNames, names()[7])
		require.Contains(t, resultIn(w[2].Messages, "a"), "/trunc/a")
		require.False(t, slices.Contains(w[3].ToolNames, names()[7]), "the second step starts over")
		require.True(t, lists(w[3]))
	}
}
