// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch_test

// Tools that come and go while a run is under way.

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/leanctx/leanctx"
	"github.com/leanctx/leanctx/internal/adktest"
	"github.com/leanctx/leanctx/internal/race"
	"github.com/leanctx/leanctx/toolsearch"
)

// changing is a Source that a test changes.
type changing struct {
	mu    sync.Mutex
	set   *toolsearch.ToolSet
	err   error
	asked int
}

func (c *changing) Tools(context.Context) (*toolsearch.ToolSet, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asked++
	return c.set, c.err
}

func (c *changing) have(tools ...tool.BaseTool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	set, err := c.set.Update(context.Background(), tools...)
	if err != nil {
		panic(err)
	}
	c.set, c.err = set, nil
}

// action is a tool of the agent's own that does something to the world.
func action(name string, do func()) tool.BaseTool {
	return adktest.Tool(adktest.Invokable, &schema.ToolInfo{Name: name, Desc: "Does " + name}, func(context.Context, string) (string, error) {
		do()
		return name + " is done", nil
	})
}

// formed is a tool of the form that echoes its arguments, with its name.
func formed(form adktest.Form, name string) tool.BaseTool {
	return adktest.Tool(form, &schema.ToolInfo{Name: name, Desc: "Handles " + name}, func(_ context.Context, args string) (string, error) {
		return name + " got " + args, nil
	})
}

// liveScene is a scene whose hidden tools are those of a Source alone.
func liveScene[M adk.MessageType](t testing.TB, streaming bool) (scene[M], *changing) {
	source := &changing{}
	return scene[M]{t: t, streaming: streaming, cfg: toolsearch.Config{Source: source}}, source
}

// requireNoSlots fails if anything that a model was sent, or that came out, tells of a slot.
func requireNoSlots[M adk.MessageType](t testing.TB, p played[M]) {
	require.NotContains(t, p.text(), "__leanctx_slot")
}

func TestAToolThatAppearsInARunIsFoundAndRunInTheNextCall(t *testing.T) {
	everywhere(t, lateTools[*schema.Message], lateTools[*schema.AgenticMessage])
}

func lateTools[M adk.MessageType](t *testing.T, streaming bool) {
	for name, form := range adktest.Forms {
		t.Run(name, func(t *testing.T) {
			s, source := liveScene[M](t, streaming)
			s.mine = []tool.BaseTool{action("connect", func() { source.have(formed(form, "jira__move_card"), formed(form, "jira__list_cards")) })}
			p := s.begin(
				do("1", "connect", "{}"),
				do("2", "tool_search", `{"query":"select:jira__move_card"}`),
				do("3", "jira__move_card", `{"card":1}`))
			require.Equal(t, "own connect tool_search\nown connect tool_search\nown connect tool_search jira__move_card\nown connect tool_search jira__move_card", p.tools())
			require.NotContains(t, strings.Join(p.wires[0].MessagesDump, "\n"), "jira__")
			require.Contains(t, strings.Join(p.wires[1].MessagesDump, "\n"), "jira__list_cards")
			require.Equal(t, `jira__move_card got {"card":1}`, p.answer(t, "3"))
			requireNoSlots(t, p)
		})
	}
}

func TestAToolThatIsGoneIsAnsweredAndNamedNowhere(t *testing.T) {
	everywhere(t, goneTools[*schema.Message], goneTools[*schema.AgenticMessage])
}

func goneTools[M adk.MessageType](t *testing.T, streaming bool) {
	s, source := liveScene[M](t, streaming)
	source.have(formed(0, "jira__old_search"), formed(0, "jira__move_card"))
	s.mine = []tool.BaseTool{action("update", func() { source.have(formed(0, "jira__new_search"), formed(0, "jira__move_card")) })}
	p := s.begin(
		do("1", "tool_search", `{"query":"select:jira__old_search"}`),
		adktest.Do(adktest.ToolCall{ID: "2", Name: "jira__old_search", Args: "{}"}, adktest.ToolCall{ID: "3", Name: "update", Args: "{}"}),
		do("4", "jira__old_search", "{}"),
		do("5", "tool_search", `{"query":"old search"}`),
		do("6", "tool_search", `{"query":"select:jira__old_search"}`))
	require.Equal(t, "jira__old_search got {}", p.answer(t, "2"))
	require.Contains(t, p.answer(t, "4"), `There is no tool named "jira__old_search". Nearest names: jira__new_search`)
	require.Equal(t, `{"matches":["jira__new_search"]}`, p.answer(t, "5"))
	require.Equal(t, `{"matches":[],"hint":"No tool is named \"jira__old_search\". Nearest names: jira__new_search."}`, p.answer(t, "6"))
	require.Contains(t, p.wires[2].ToolNames, "own")
	for _, w := range p.wires[2:] {
		require.NotContains(t, w.ToolNames, "jira__old_search")
		require.NotContains(t, fold(w).names, "jira__old_search")
	}
	requireNoSlots(t, p)

	// A later run knows the tool by what a search said of it.
	p = s.play(append(p.history, adktest.User[M]("again")), do("7", "jira__old_search", "{}"))
	require.Contains(t, p.answer(t, "7"), `There is no tool named "jira__old_search"`)
}

// Over random changes, every model call shows the tools of its moment and no others, all of
// them can be found and called, and calls of the others are answered.
func TestEveryModelCallHasTheToolsOfItsMoment(t *testing.T) {
	everywhere(t, momentary[*schema.Message], momentary[*schema.AgenticMessage])
}

func momentary[M adk.MessageType](t *testing.T, streaming bool) {
	forms := []adktest.Form{adktest.Invokable, adktest.Streamable, adktest.Enhanced, adktest.EnhancedStreamable}
	for seed := range uint64(race.Cases(25)) {
		random := rand.New(rand.NewPCG(seed, 1))
		s, source := liveScene[M](t, streaming)
		names, had := []string{}, map[string]bool{}
		change := func() {
			names = nil
			var tools []tool.BaseTool
			for i := range 12 {
				if random.IntN(2) == 0 {
					name := fmt.Sprintf("s%d__t%d", i%3, i)
					names, tools = append(names, name), append(tools, formed(forms[i%4], name))
					had[name] = true
				}
			}
			source.have(tools...)
		}
		change()
		s.mine = []tool.BaseTool{action("change", change)}
		m := &adktest.Model[M]{}
		want := map[string]string{} // call id -> what the answer holds
		m.Respond = func(n int, w adktest.Wire[M]) adktest.Turn {
			if n == 24 {
				return adktest.Say("done")
			}
			require.Subset(t, fold(w).names, names, "seed %d, call %d", seed, n)
			for _, name := range w.ToolNames[3:] {
				require.Contains(t, names, name, "seed %d, call %d", seed, n)
			}
			id := fmt.Sprint(n)
			switch n % 3 {
			case 0:
				return do(id, "change", "{}")
			case 1:
				return adktest.Do(searchFor(id, "select:"+strings.Join(names, ",")))
			}
			var calls []adktest.ToolCall
			for i := range 12 {
				name := fmt.Sprintf("s%d__t%d", i%3, i)
				id := fmt.Sprintf("%d-%d", n, i)
				switch {
				case slices.Contains(names, name):
					want[id] = name + " got {}"
				case had[name]:
					want[id] = "There is no tool named"
				default:
					continue
				}
				calls = append(calls, adktest.ToolCall{ID: id, Name: name, Args: "{}"})
			}
			if len(calls) == 0 {
				calls = append(calls, adktest.ToolCall{ID: id, Name: "own", Args: "{}"})
			}
			return adktest.Do(calls...)
		}
		agent, _ := s.agent()
		agent.Model, agent.Max = m, 30
		out := agent.Run(context.Background(), []M{adktest.User[M]("please")})
		require.NoError(t, out.Err, "seed %d", seed)
		p := played[M]{out, m.Wires(), nil}
		for id, text := range want {
			require.Contains(t, p.answer(t, id), text, "seed %d", seed)
		}
		requireNoSlots(t, p)
	}
}

func TestWithoutASourceNoSlotIsListed(t *testing.T) {
	h, err := toolsearch.New(context.Background(), &toolsearch.Config{DynamicTools: simples("a", "b")})
	require.NoError(t, err)
	_, rc, err := h.BeforeAgent(context.Background(), &adk.ChatModelAgentContext{Tools: simples("own")})
	require.NoError(t, err)
	require.Len(t, rc.Tools, 4)
}

func TestDynamicToolsStayListedBesideASource(t *testing.T) {
	source := &changing{}
	source.have(simples("c")...)
	h, err := toolsearch.New(context.Background(), &toolsearch.Config{DynamicTools: simples("a", "b"), Source: source})
	require.NoError(t, err)
	ctx, rc, err := h.BeforeAgent(context.Background(), &adk.ChatModelAgentContext{Tools: simples("own")})
	require.NoError(t, err)
	var names []string
	for _, x := range rc.Tools {
		info, err := x.Info(ctx)
		require.NoError(t, err)
		if !strings.HasPrefix(info.Name, "__leanctx_slot") {
			names = append(names, info.Name)
		}
	}
	require.Equal(t, []string{"own", "tool_search", "a", "b"}, names)
}

func TestMoreToolsInOneAnswerThanSlotsAreAnswered(t *testing.T) {
	everywhere(t, tooManyTools[*schema.Message], tooManyTools[*schema.AgenticMessage])
}

func tooManyTools[M adk.MessageType](t *testing.T, streaming bool) {
	forms := []adktest.Form{adktest.Invokable, adktest.Enhanced, adktest.Streamable, adktest.EnhancedStreamable}
	for _, n := range []int{48, 49, 130} {
		for _, form := range forms {
			s, source := liveScene[M](t, streaming)
			s.cfg.AllowUnloadedCalls = true
			var tools []tool.BaseTool
			var calls []adktest.ToolCall
			for i := range n {
				name := fmt.Sprintf("tool_%03d", i)
				tools = append(tools, formed(form, name))
				calls = append(calls, adktest.ToolCall{ID: "call-" + name, Name: name, Args: "{}"}, adktest.ToolCall{ID: "again-" + name, Name: name, Args: "{}"})
			}
			source.have(tools...)
			p := s.begin(adktest.Do(calls...))
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

func TestNothingOfASourceEndsARun(t *testing.T) {
	everywhere(t, faultySources[*schema.Message], faultySources[*schema.AgenticMessage])
}

// sourceFunc is a Source of a function.
type sourceFunc func(context.Context) (*toolsearch.ToolSet, error)

func (f sourceFunc) Tools(ctx context.Context) (*toolsearch.ToolSet, error) { return f(ctx) }

func faultySources[M adk.MessageType](t *testing.T, streaming bool) {
	good, err := toolsearch.NewToolSet(context.Background(), formed(0, "jira__move_card"))
	require.NoError(t, err)
	clash, err := toolsearch.NewToolSet(context.Background(), formed(0, "own"), formed(0, "tool_search"), formed(0, "dynamic"), formed(0, "jira__move_card"))
	require.NoError(t, err)
	stays := "own tool_search jira__move_card"
	for _, c := range []struct {
		name   string
		late   func(context.Context) (*toolsearch.ToolSet, error)
		tools  string // of the last model call
		answer string // to the call of the tool
		kind   leanctx.Kind
	}{
		{"an error", func(context.Context) (*toolsearch.ToolSet, error) { return nil, errors.New("it is down") }, stays, "jira__move_card got {}", leanctx.KindSourceFailed},
		{"a panic", func(context.Context) (*toolsearch.ToolSet, error) { panic("it is broken") }, stays, "jira__move_card got {}", leanctx.KindSourceFailed},
		{"an error beside a set", func(context.Context) (*toolsearch.ToolSet, error) { return good, errors.New("it is half down") }, stays, "jira__move_card got {}", leanctx.KindSourceFailed},
		{"no set", func(context.Context) (*toolsearch.ToolSet, error) { return nil, nil }, "own tool_search", "There is no tool named", leanctx.KindCatalogChanged},
		{"names that are taken", func(context.Context) (*toolsearch.ToolSet, error) { return clash, nil }, stays, "jira__move_card got {}", leanctx.KindToolRefused},
	} {
		t.Run(c.name, func(t *testing.T) {
			asked, events := 0, &recorder{}
			s, _ := liveScene[M](t, streaming)
			s.cfg.DynamicTools = []tool.BaseTool{formed(0, "dynamic")}
			s.cfg.OnEvent = events.on
			s.cfg.Source = sourceFunc(func(ctx context.Context) (*toolsearch.ToolSet, error) {
				if asked++; asked <= 2 { // the start of the run, and its first model call
					return good, nil
				}
				return c.late(ctx)
			})
			p := s.begin(do("1", "tool_search", `{"query":"select:jira__move_card"}`), do("2", "jira__move_card", "{}"), do("3", "own", `{}`), do("4", "dynamic", `{}`))
			require.Contains(t, p.answer(t, "2"), c.answer)
			require.Equal(t, "echo {}", p.answer(t, "3"), "the agent's own tool")
			require.Contains(t, p.answer(t, "4"), "did not run", "the dynamic tool is hidden")
			require.Equal(t, c.tools, strings.Split(p.tools(), "\n")[3])
			require.Contains(t, events.kinds(), c.kind)
			requireNoSlots(t, p)
		})
	}
}

// recorder keeps events.
type recorder struct {
	mu  sync.Mutex
	all []leanctx.Event
}

func (r *recorder) on(_ context.Context, e leanctx.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all = append(r.all, e)
}

func (r *recorder) kinds() (kinds []leanctx.Kind) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range r.all {
		kinds = append(kinds, e.Kind)
	}
	return kinds
}

// A Source that hangs costs a run two seconds, once: while it has not answered it is not
// asked again, and no goroutine is added to the first.
func TestASourceThatHangsIsWaitedForOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked atomic.Int32
		release := make(chan struct{})
		s, _ := liveScene[*schema.Message](t, false)
		s.cfg.Source = sourceFunc(func(context.Context) (*toolsearch.ToolSet, error) {
			asked.Add(1)
			<-release
			return nil, nil
		})
		p := s.begin(do("1", "own", "{}"), do("2", "own", "{}"))
		require.Len(t, p.wires, 3)
		require.EqualValues(t, 1, asked.Load())
		close(release)
		synctest.Wait()
	})
}
