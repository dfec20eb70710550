// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package main

// A run that waits for a person between two model calls, and resumes in another process.

import (
	"context"
	"sync"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/demo/lab"
	"github.com/einolean/einolean/demo/offline"
	"github.com/einolean/einolean/internal/dev/provider"
)

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
type asks struct{}

func (asks) Info(context.Context) (*schema.ToolInfo, error) {
	return &schema.ToolInfo{Name: "ask", Desc: "Asks a person.", ParamsOneOf: schema.NewParamsOneOfByParams(map[string]*schema.ParameterInfo{})}, nil
}

func (asks) InvokableRun(ctx context.Context, _ string, _ ...tool.Option) (string, error) {
	if was, _, _ := tool.GetInterruptState[any](ctx); !was {
		return "", tool.Interrupt(ctx, "may I?")
	}
	return "yes", nil
}

func TestResume_RunContinuesAfterInterrupt(t *testing.T) {
	on(t, resumes[*schema.Message], resumes[*schema.AgenticMessage])
}

func resumes[M adk.MessageType](t *testing.T, s side, stream bool) {
	ctx := t.Context()
	store := &memory{}
	c := newAgent[M](t, s.api, stream)
	start := func() *adk.TypedRunner[M] { // with new instances of everything
		c.agent.ToolsConfig = adk.ToolsConfig{ToolsNodeConfig: compose.ToolsNodeConfig{Tools: []tool.BaseTool{asks{}}}}
		c.search(s.config())
		agent, err := adk.NewTypedChatModelAgent(ctx, &c.agent)
		require.NoError(t, err)
		return adk.NewTypedRunner(adk.TypedRunnerConfig[M]{Agent: agent, EnableStreaming: stream, CheckPointStore: store})
	}
	if s.hosted() {
		c.server.Then(provider.Turn{Search: "weather", Calls: []provider.Call{call("ask", "")}},
			calls(call("weather__forecast", "")), says("Done."))
	} else {
		// The search that is asked again finds what the interrupted turn has found already.
		c.server.Then(calls(find("weather"), call("ask", "")), calls(find("weather"), call("weather__forecast", "")), says("Done."))
	}
	events := start().Run(ctx, []M{offline.User[M]("Weather?")}, adk.WithCheckPointID("one"))
	where := ""
	for ev, ok := events.Next(); ok; ev, ok = events.Next() {
		require.NoError(t, ev.Err)
		if ev.Action != nil && ev.Action.Interrupted != nil {
			where = ev.Action.Interrupted.InterruptContexts[0].ID
		}
	}
	require.NotEmpty(t, where)

	again, err := start().ResumeWithParams(ctx, "one", &adk.ResumeParams{Targets: map[string]any{where: "yes"}})
	require.NoError(t, err)
	_, err = lab.Collect(again)
	require.NoError(t, err)
	require.Equal(t, []string{"weather__forecast"}, c.ran.list())
	require.Len(t, c.server.Requests(), 3)
	require.Empty(t, c.last().Refused)
}
