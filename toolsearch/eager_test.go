// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch_test

// Agents that run calls while the answer streams.

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/adktest"
	"github.com/einolean/einolean/internal/einorun"
	"github.com/einolean/einolean/toolsearch"
)

// eager is an agent's part that looks up each call as soon as its name passes, as an Eino would that
// does not wait for the end of an answer. As the first handler it sees answers as the agent does;
// list is behind all others.
type eager[M adk.MessageType] struct {
	*adk.TypedBaseChatModelAgentMiddleware[M]
	list *[]tool.BaseTool
	mu   sync.Mutex
	met  []string // "name: of the tool that has it"
}

func (e *eager[M]) WrapModel(_ context.Context, m model.BaseModel[M], _ *adk.TypedModelContext[M]) (model.BaseModel[M], error) {
	return &eagerModel[M]{m, e}, nil
}

type eagerModel[M adk.MessageType] struct {
	model.BaseModel[M]
	of *eager[M]
}

func (m *eagerModel[M]) Generate(ctx context.Context, in []M, o ...model.Option) (M, error) {
	out, err := m.BaseModel.Generate(ctx, in, o...)
	if err == nil {
		m.of.meet(ctx, out)
	}
	return out, err
}

func (m *eagerModel[M]) Stream(ctx context.Context, in []M, o ...model.Option) (*schema.StreamReader[M], error) {
	out, err := m.BaseModel.Stream(ctx, in, o...)
	if err != nil {
		return nil, err
	}
	return schema.StreamReaderWithConvert(out, func(chunk M) (M, error) { m.of.meet(ctx, chunk); return chunk, nil }), nil
}

// meet finds the tool of each call that a chunk begins.
func (e *eager[M]) meet(ctx context.Context, chunk M) {
	for _, c := range adktest.Calls(chunk) {
		if c.Name == "" {
			continue
		}
		found := "nobody"
		for _, t := range *e.list {
			if info, err := t.Info(ctx); err == nil && info.Name == c.Name {
				found = t.(interface{ GetType() string }).GetType()
			}
		}
		e.mu.Lock()
		e.met = append(e.met, c.Name+": "+found)
		e.mu.Unlock()
	}
}

// kindly is a tool with a type of its own.
type kindly struct {
	tool.InvokableTool
	typ string
}

func (k kindly) GetType() string { return k.typ }

//claim:eino-02
func TestAnEagerAgentFindsToolsAsTheirNamesPass(t *testing.T) {
	everywhere(t, eagerAgents[*schema.Message], eagerAgents[*schema.AgenticMessage])
}

func eagerAgents[M adk.MessageType](t *testing.T, streaming bool) {
	known := func(name string) tool.BaseTool {
		return kindly{adktest.Simple(name, "does "+name).(tool.InvokableTool), "type of " + name}
	}
	for name, c := range map[string]struct {
		protocol toolsearch.Protocol
		tools    int
	}{
		"few":     {toolsearch.Keyword, 2},
		"many":    {toolsearch.Keyword, 600},
		"regexp":  {toolsearch.Regexp, 600},
		"load":    {toolsearch.SearchLoad, 600},
		"joining": {toolsearch.Keyword, 2},
	} {
		t.Run(name, func(t *testing.T) {
			var tools []tool.BaseTool
			for i := range c.tools {
				tools = append(tools, known(fmt.Sprintf("tool_%03d", i)))
			}
			source, last := &changing{}, c.tools-1
			s := scene[M]{t: t, streaming: streaming, cfg: toolsearch.Config{DynamicTools: tools, Source: source, Protocol: c.protocol, AllowUnloadedCalls: true}}
			s.mine = []tool.BaseTool{kindly{action("connect", func() { source.have(known("tool_joined")) }).(tool.InvokableTool), "mine"}}
			var listed []tool.BaseTool
			e := &eager[M]{list: &listed}
			s.around = adktest.Handlers[M](e)
			s.behind = adktest.Handlers[M](einorun.New(&watching[M]{before: func(tools []tool.BaseTool) { listed = tools }}))
			a, b := "tool_000", fmt.Sprintf("tool_%03d", last)
			turns := []adktest.Turn{do("1", "connect", "{}"), adktest.Do(callOf("2", b), callOf("3", a), callOf("4", b))}
			want := []string{"connect: mine", b + ": type of " + b, a + ": type of " + a, b + ": type of " + b}
			if name == "joining" {
				turns = append(turns, adktest.Do(callOf("5", "tool_joined"), callOf("6", a)))
				want = append(want, "tool_joined: type of tool_joined", a+": type of "+a)
			}
			p := s.begin(turns...)
			require.Equal(t, want, e.met)
			require.Contains(t, p.answer(t, "4"), "echo")
			requireNoSlots(t, p)
		})
	}
}
