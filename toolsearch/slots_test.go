// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch_test

// Slots, which stand for hidden tools in the list that Eino runs.

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/adktest"
	"github.com/einolean/einolean/internal/dev/race"
	"github.com/einolean/einolean/internal/einorun"
	"github.com/einolean/einolean/toolsearch"
	"github.com/einolean/einolean/toolsearch/toolset"
)

func TestSlots_StandForHiddenTools_TS30(t *testing.T) {
	playAll(t, scenariosTS30())
}

func scenariosTS30() []scenario {
	return []scenario{
		{"TS-30", "a handler looks at the tools of a run", typesOfTools[*schema.Message], typesOfTools[*schema.AgenticMessage], "the tool itself", "a slot"},
	}
}

// counting counts how often its info is read.
type counting struct {
	tool.InvokableTool
	infos atomic.Int64
}

func (c *counting) Info(ctx context.Context) (*schema.ToolInfo, error) {
	c.infos.Add(1)
	return c.InvokableTool.Info(ctx)
}

// looking is a handler that looks at the tools that a run starts with.
type looking[M adk.MessageType] struct {
	*adk.TypedBaseChatModelAgentMiddleware[M]
	look func([]tool.BaseTool)
}

func (l looking[M]) Begin(ctx context.Context, rc *einorun.RunContext) (context.Context, error) {
	l.look(rc.Tools)
	return ctx, nil
}

func typesOfTools[M adk.MessageType](t *testing.T, s implementation[M]) string {
	c, out := &counting{InvokableTool: adktest.Simple("a1", "").(tool.InvokableTool)}, ""
	l := einorun.New(looking[M]{look: func(tools []tool.BaseTool) {
		for _, tl := range tools {
			info, err := tl.Info(context.Background())
			require.NoError(t, err)
			switch {
			case tl == tool.BaseTool(c):
				out = "the tool itself"
			case strings.HasPrefix(info.Name, "__einolean_slot"):
				out = "a slot"
			}
		}
	}})
	require.NoError(t, s.run(userRequest[M](), nil, nil, s.mustBuild(t, c), l).Err)
	return out
}

func TestSlots_InfoIsReadOnce_TS17(t *testing.T) {
	playAll(t, scenariosTS17())
}

func scenariosTS17() []scenario {
	return []scenario{
		{"TS-17", "a run with three rounds of tools", countsInfo[*schema.Message], countsInfo[*schema.AgenticMessage], "Info is asked for again in the run", "Info is asked for once"},
	}
}

func countsInfo[M adk.MessageType](t *testing.T, s implementation[M]) string {
	c := &counting{InvokableTool: adktest.Simple("a1", "").(tool.InvokableTool)}
	tr := s.run(userRequest[M](), simpleTools("own"), []adktest.Turn{adktest.Do(searchCall("1", "a1")), adktest.Do(toolCall("2", "a1")), adktest.Do(toolCall("3", "a1"))}, s.mustBuild(t, c))
	require.NoError(t, tr.Err)
	if n := c.infos.Load(); n != 1 {
		require.Greater(t, n, int64(3))
		return "Info is asked for again in the run"
	}
	return "Info is asked for once"
}

// A run lists a slot for each tool that it starts with, up to 512, and slots that change only for
// what is beyond that, or comes later: Eino prepares every listed tool for each round of calls.
func TestSlots_InitialToolsHaveTheirOwn(t *testing.T) {
	source := &changingSource{}
	source.have(simpleTools("late")...)
	for _, c := range []struct {
		cfg     toolsearch.Config
		bound   []string
		changes int // slots that change
	}{
		{toolsearch.Config{DynamicTools: simpleTools("a", "b")}, []string{"a", "b"}, 9},
		{toolsearch.Config{SearchableTools: []string{"filed"}}, []string{"filed"}, 9},
		{toolsearch.Config{DynamicTools: append(simpleTools("a"), echoTool(adktest.EnhancedStreamable, "c")), SearchableTools: []string{"filed"}}, []string{"a", "c", "filed"}, 9},
		{toolsearch.Config{DynamicTools: simpleTools(numberedNames(512)...)}, numberedNames(512), 9},
		{toolsearch.Config{DynamicTools: simpleTools(numberedNames(513)...)}, nil, 32 + 1},
		{toolsearch.Config{DynamicTools: simpleTools("a"), Source: source}, []string{"a", "late"}, 97},
	} {
		h, err := toolsearch.New(context.Background(), &c.cfg)
		require.NoError(t, err)
		rc := &einorun.RunContext{Tools: simpleTools("own", "filed")}
		ctx, err := einorun.Begin(context.Background(), h, rc)
		require.NoError(t, err)
		var names []string
		changes := 0
		for _, x := range rc.Tools {
			info, err := x.Info(ctx)
			require.NoError(t, err)
			if strings.HasPrefix(info.Name, "__einolean_slot") {
				changes++
				continue
			}
			names = append(names, info.Name)
		}
		want := []string{"own", "filed", "tool_search"}
		if c.cfg.SearchableTools != nil {
			want = []string{"own", "tool_search"}
		}
		require.Equal(t, append(want, c.bound...), names)
		require.Equal(t, c.changes, changes)
	}
}

func TestSlots_MoreCallsThanSlotsAreAnswered(t *testing.T) {
	adktest.Both(t, testSlotsMoreCallsThanSlotsAreAnswered[*schema.Message], testSlotsMoreCallsThanSlotsAreAnswered[*schema.AgenticMessage])
}

func testSlotsMoreCallsThanSlotsAreAnswered[M adk.MessageType](t *testing.T, streaming bool) {
	forms := []adktest.Form{adktest.Invokable, adktest.Enhanced, adktest.Streamable, adktest.EnhancedStreamable}
	for _, n := range []int{48, 49, 60} {
		for _, form := range forms {
			s, source := liveScene[M](t, streaming)
			s.cfg.AllowUnloadedCalls = true
			var tools []tool.BaseTool
			s.mine = []tool.BaseTool{actionTool("connect", func() { source.have(tools...) })}
			var calls []adktest.ToolCall
			for i := range n {
				name := fmt.Sprintf("tool_%03d", i)
				tools = append(tools, echoTool(form, name))
				calls = append(calls, adktest.ToolCall{ID: "call-" + name, Name: name, Args: "{}"}, adktest.ToolCall{ID: "again-" + name, Name: name, Args: "{}"})
			}
			p := s.begin(oneCall("1", "connect", "{}"), adktest.Do(calls...))
			ran, answered := 0, 0
			for _, c := range calls {
				switch text := p.answer(t, c.ID); {
				case strings.Contains(text, c.Name+" got {}"):
					ran++
				case strings.Contains(text, `This call of "`+c.Name+`" did not run: too many different tools`):
					answered++
				}
			}
			require.Equal(t, 2*min(n, 48), ran, "%d of form %d", n, form)
			require.Equal(t, 2*max(0, n-48), answered, "%d of form %d", n, form)
			requireNoSlots(t, p)
		}
	}
}

// A hundred runs of one agent at once, in each of which the slots stand for other tools:
// every call reaches its own, and every handler is told its name.
func TestSlots_ConcurrentRunsBindSeparately(t *testing.T) {
	adktest.Both(t, testSlotsConcurrentRunsBindSeparately[*schema.Message], testSlotsConcurrentRunsBindSeparately[*schema.AgenticMessage])
}

func testSlotsConcurrentRunsBindSeparately[M adk.MessageType](t *testing.T, streaming bool) {
	forms := []adktest.Form{adktest.Invokable, adktest.Streamable, adktest.Enhanced, adktest.EnhancedStreamable}
	nameOf := func(user, i int) string { return fmt.Sprintf("user%d__tool%d", user, i) }
	s, _ := liveScene[M](t, streaming)
	s.cfg.AllowUnloadedCalls = true
	s.cfg.Source = toolset.NewSource(func(ctx context.Context) ([]tool.BaseTool, error) {
		user := ctx.Value(personKey{}).(int)
		var tools []tool.BaseTool
		for i := range 4 {
			tools = append(tools, echoTool(forms[(user+i)%4], nameOf(user, i)))
		}
		return tools, nil
	}, func(ctx context.Context) (string, error) { return fmt.Sprint(ctx.Value(personKey{})), nil })
	var told sync.Map
	for _, list := range []*[]adk.TypedChatModelAgentMiddleware[M]{&s.around, &s.behind} {
		*list = adktest.Handlers[M](einorun.New(&toolCallRecorder[M]{name: func(name string) {
			n, _ := told.LoadOrStore(name, new(atomic.Int64))
			n.(*atomic.Int64).Add(1)
		}}))
	}
	agent, m := s.agent()
	m.Respond = func(_ int, w adktest.Wire[M]) adktest.Turn {
		var user int
		if _, err := fmt.Sscan(adktest.Text(w.Messages[len(w.Messages)-1]), &user); err != nil {
			return adktest.Say("done")
		}
		var calls []adktest.ToolCall
		for i := range 4 {
			calls = append(calls, adktest.ToolCall{ID: fmt.Sprintf("%d-%d", user, i), Name: nameOf(user, i), Args: "{}"})
		}
		return adktest.Do(calls...)
	}
	runner, err := agent.Runner(context.Background())
	require.NoError(t, err)
	var wait sync.WaitGroup
	for user := range race.Cases(100) {
		wait.Go(func() {
			runner := runner
			if race.Enabled { // runs of one agent race with each other in Eino's core: an agent each, over one handler
				var err error
				if runner, err = agent.Runner(context.Background()); err != nil {
					t.Error(err)
					return
				}
			}
			out := adktest.Collect(runner.Run(context.WithValue(context.Background(), personKey{}, user), []M{adktest.User[M](fmt.Sprint(user))}))
			if out.Err != nil || out.Answer() != "done" {
				t.Errorf("user %d: %v, %q", user, out.Err, out.Answer())
				return
			}
			answers := map[string]string{}
			for _, msg := range out.Messages {
				for _, r := range adktest.Results(msg) {
					answers[r.ID] = r.Args
				}
			}
			for i := range 4 {
				if got := answers[fmt.Sprintf("%d-%d", user, i)]; got != nameOf(user, i)+" got {}" {
					t.Errorf("user %d: %q", user, got)
				}
			}
		})
	}
	wait.Wait()
	for user := range race.Cases(100) {
		for i := range 4 {
			n, ok := told.Load(nameOf(user, i))
			require.True(t, ok, nameOf(user, i))
			require.EqualValues(t, 2, n.(*atomic.Int64).Load(), nameOf(user, i))
		}
	}
}

type personKey struct{}

// A canary for the next Eino: slots rest on its asking every listed tool for its Info before
// each round of calls.
func TestSlots_EinoReadsInfoBeforeEachRound(t *testing.T) {
	asked := 0
	changing := infoFunc(func() string {
		asked++
		return fmt.Sprintf("name_%d", asked)
	})
	m := adktest.Script[*schema.Message]()
	m.Respond = func(n int, _ adktest.Wire[*schema.Message]) adktest.Turn {
		if n == 2 {
			return adktest.Say("done")
		}
		return oneCall(fmt.Sprint(n), fmt.Sprintf("name_%d", asked+1), "{}")
	}
	out := adktest.Agent[*schema.Message]{Model: m, Tools: []tool.BaseTool{changing}, Handlers: adktest.Handlers[*schema.Message](einorun.New(&toolCallRecorder[*schema.Message]{}))}.
		Run(context.Background(), []*schema.Message{schema.UserMessage("please")})
	require.NoError(t, out.Err, "Eino no longer asks listed tools for their Info before each round: tools of a Source cannot be called")
	require.Equal(t, "done", out.Answer())
}

// infoFunc is a tool whose name a function decides.
type infoFunc func() string

func (f infoFunc) Info(context.Context) (*schema.ToolInfo, error) {
	return &schema.ToolInfo{Name: f()}, nil
}

func (f infoFunc) InvokableRun(context.Context, string, ...tool.Option) (string, error) {
	return "ran", nil
}
