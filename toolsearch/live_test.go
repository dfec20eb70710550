// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch_test

// Tools that come and go while runs are under way, are resumed, or share a Source.

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

	"github.com/einolean/einolean"
	"github.com/einolean/einolean/internal/dev/adktest"
	"github.com/einolean/einolean/internal/dev/race"
	"github.com/einolean/einolean/internal/einorun"
	"github.com/einolean/einolean/toolsearch"
	"github.com/einolean/einolean/toolsearch/toolset"
)

// changing is a Source that a test changes.
type changing struct {
	mu    sync.Mutex
	set   *toolset.Set
	err   error
	asked int
}

func (c *changing) Tools(context.Context) (*toolset.Set, error) {
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
	require.NotContains(t, p.text(), "__einolean_slot")
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

// A run lists a slot for each tool that it starts with, up to 512, and slots that change only for
// what is beyond that, or comes later: Eino prepares every listed tool for each round of calls.
func TestTheToolsThatARunStartsWithHaveSlotsOfTheirOwn(t *testing.T) {
	source := &changing{}
	source.have(simples("late")...)
	for _, c := range []struct {
		cfg     toolsearch.Config
		bound   []string
		changes int // slots that change
	}{
		{toolsearch.Config{DynamicTools: simples("a", "b")}, []string{"a", "b"}, 9},
		{toolsearch.Config{SearchableTools: []string{"filed"}}, []string{"filed"}, 9},
		{toolsearch.Config{DynamicTools: append(simples("a"), formed(adktest.EnhancedStreamable, "c")), SearchableTools: []string{"filed"}}, []string{"a", "c", "filed"}, 9},
		{toolsearch.Config{DynamicTools: simples(numbered(512)...)}, numbered(512), 9},
		{toolsearch.Config{DynamicTools: simples(numbered(513)...)}, nil, 32 + 1},
		{toolsearch.Config{DynamicTools: simples("a"), Source: source}, []string{"a", "late"}, 97},
	} {
		h, err := toolsearch.New(context.Background(), &c.cfg)
		require.NoError(t, err)
		rc := &einorun.RunContext{Tools: simples("own", "filed")}
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

func TestMoreToolsInOneAnswerThanSlotsAreAnswered(t *testing.T) {
	everywhere(t, tooManyTools[*schema.Message], tooManyTools[*schema.AgenticMessage])
}

func tooManyTools[M adk.MessageType](t *testing.T, streaming bool) {
	forms := []adktest.Form{adktest.Invokable, adktest.Enhanced, adktest.Streamable, adktest.EnhancedStreamable}
	for _, n := range []int{48, 49, 60} {
		for _, form := range forms {
			s, source := liveScene[M](t, streaming)
			s.cfg.AllowUnloadedCalls = true
			var tools []tool.BaseTool
			s.mine = []tool.BaseTool{action("connect", func() { source.have(tools...) })}
			var calls []adktest.ToolCall
			for i := range n {
				name := fmt.Sprintf("tool_%03d", i)
				tools = append(tools, formed(form, name))
				calls = append(calls, adktest.ToolCall{ID: "call-" + name, Name: name, Args: "{}"}, adktest.ToolCall{ID: "again-" + name, Name: name, Args: "{}"})
			}
			p := s.begin(do("1", "connect", "{}"), adktest.Do(calls...))
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

func TestNoFailureOfASourceEndsARun(t *testing.T) {
	everywhere(t, faultySources[*schema.Message], faultySources[*schema.AgenticMessage])
}

// sourceFunc is a Source of a function.
type sourceFunc func(context.Context) (*toolset.Set, error)

func (f sourceFunc) Tools(ctx context.Context) (*toolset.Set, error) { return f(ctx) }

func faultySources[M adk.MessageType](t *testing.T, streaming bool) {
	good, err := toolset.New(context.Background(), formed(0, "jira__move_card"))
	require.NoError(t, err)
	clash, err := toolset.New(context.Background(), formed(0, "own"), formed(0, "tool_search"), formed(0, "dynamic"), formed(0, "jira__move_card"))
	require.NoError(t, err)
	stays := "own tool_search jira__move_card"
	for _, c := range []struct {
		name   string
		late   func(context.Context) (*toolset.Set, error)
		tools  string // of the last model call
		answer string // to the call of the tool
		kind   einolean.Kind
	}{
		{"an error", func(context.Context) (*toolset.Set, error) { return nil, errors.New("it is down") }, stays, "jira__move_card got {}", einolean.KindSourceFailed},
		{"a panic", func(context.Context) (*toolset.Set, error) { panic("it is broken") }, stays, "jira__move_card got {}", einolean.KindSourceFailed},
		{"an error beside a set", func(context.Context) (*toolset.Set, error) { return good, errors.New("it is half down") }, stays, "jira__move_card got {}", einolean.KindSourceFailed},
		{"no set", func(context.Context) (*toolset.Set, error) { return nil, nil }, "own tool_search", "There is no tool named", einolean.KindCatalogChanged},
		{"names that are taken", func(context.Context) (*toolset.Set, error) { return clash, nil }, stays, "jira__move_card got {}", einolean.KindToolRefused},
	} {
		t.Run(c.name, func(t *testing.T) {
			asked, events := 0, &recorder{}
			s, _ := liveScene[M](t, streaming)
			s.cfg.DynamicTools = []tool.BaseTool{formed(0, "dynamic")}
			s.cfg.OnEvent = events.on
			s.cfg.Source = sourceFunc(func(ctx context.Context) (*toolset.Set, error) {
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
	all []einolean.Event
}

func (r *recorder) on(_ context.Context, e einolean.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all = append(r.all, e)
}

func (r *recorder) kinds() (kinds []einolean.Kind) {
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
		s.cfg.Source = sourceFunc(func(context.Context) (*toolset.Set, error) {
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

//claim:eino-04
func TestACallThatWaitsIsResumedWhateverBecameOfItsTool(t *testing.T) {
	everywhere(t, resumedLive[*schema.Message], resumedLive[*schema.AgenticMessage])
}

func resumedLive[M adk.MessageType](t *testing.T, streaming bool) {
	ctx := context.Background()
	for name, form := range adktest.Forms {
		for _, gone := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, gone %v", name, gone), func(t *testing.T) {
				s, source := liveScene[M](t, streaming)
				s.store = &adktest.Store{}
				ran := 0
				counted := adktest.Tool(form, &schema.ToolInfo{Name: "counted", Desc: "Counts"}, func(context.Context, string) (string, error) {
					ran++
					return "counted", nil
				})
				payment := adktest.Tool(form, &schema.ToolInfo{Name: "bank__make_payment", Desc: "Makes a payment"}, approval)
				source.have(payment, counted)
				agent, _ := s.agent(
					do("a", "tool_search", `{"query":"select:bank__make_payment,counted"}`),
					adktest.Do(adktest.ToolCall{ID: "b", Name: "bank__make_payment", Args: "{}"}, adktest.ToolCall{ID: "c", Name: "counted", Args: "{}"}))
				first := agent.Run(ctx, []M{adktest.User[M]("please")}, adk.WithCheckPointID("one"))
				require.NoError(t, first.Err)
				require.NotNil(t, first.Interrupted)

				// A second agent takes over, as in another process.
				s2, elsewhere := liveScene[M](t, streaming)
				s2.store = s.store
				if gone {
					elsewhere.have(formed(form, "bank__take_payment"))
				} else {
					elsewhere.have(formed(form, "new"), counted, payment)
				}
				agent, m := s2.agent()
				runner, err := agent.Runner(ctx)
				require.NoError(t, err)
				events, err := runner.ResumeWithParams(ctx, "one", &adk.ResumeParams{Targets: map[string]any{rootCause(first.Interrupted): "yes"}})
				require.NoError(t, err)
				second := adktest.Collect(events)
				require.NoError(t, second.Err)
				require.Equal(t, "done", second.Answer())
				p := played[M]{second, m.Wires(), nil}
				sent := strings.Join(p.wires[0].MessagesDump, "\n")
				if gone {
					require.Contains(t, sent, `There is no tool named "bank__make_payment". Nearest names: bank__take_payment`)
					require.Equal(t, "own tool_search", p.tools())
				} else {
					require.Contains(t, sent, "person said yes to {} and {}")
					require.Equal(t, "own tool_search bank__make_payment counted", p.tools())
				}
				require.Contains(t, sent, "counted")
				require.Equal(t, 1, ran, "no call runs twice")
				requireNoSlots(t, p)
			})
		}
	}
}

func TestARunThatIsCancelledAfterTheModelAnsweredIsResumed(t *testing.T) {
	everywhere(t, cancelledLive[*schema.Message], cancelledLive[*schema.AgenticMessage])
}

func cancelledLive[M adk.MessageType](t *testing.T, streaming bool) {
	ctx := context.Background()
	s, source := liveScene[M](t, streaming)
	s.store = &adktest.Store{}
	s.cfg.AllowUnloadedCalls = true
	source.have(formed(0, "a"))
	option, cancel := adk.WithCancel()
	agent, m := s.agent()
	m.Respond = func(int, adktest.Wire[M]) adktest.Turn {
		cancel(adk.WithAgentCancelMode(adk.CancelAfterChatModel))
		return do("1", "a", "{}")
	}
	out := agent.Run(ctx, []M{adktest.User[M]("please")}, adk.WithCheckPointID("one"), option)
	require.Error(t, out.Err)
	require.NotContains(t, fmt.Sprint(out.Messages), "a got {}")

	agent, m = s.agent()
	runner, err := agent.Runner(ctx)
	require.NoError(t, err)
	events, err := runner.Resume(ctx, "one")
	require.NoError(t, err)
	second := adktest.Collect(events)
	require.NoError(t, second.Err)
	require.Equal(t, "done", second.Answer())
	require.Contains(t, strings.Join(m.Wires()[0].MessagesDump, "\n"), "a got {}")
}

// watching looks at what a handler is told.
type watching[M adk.MessageType] struct {
	*adk.TypedBaseChatModelAgentMiddleware[M]
	before func([]tool.BaseTool)
	name   func(string)
}

func (w *watching[M]) Begin(ctx context.Context, rc *einorun.RunContext) (context.Context, error) {
	if w.before != nil {
		w.before(rc.Tools)
	}
	return ctx, nil
}

func (w *watching[M]) tell(tc *adk.ToolContext) {
	if w.name != nil {
		w.name(tc.Name)
	}
}

func (w *watching[M]) WrapInvokableToolCall(_ context.Context, next adk.InvokableToolCallEndpoint, tc *adk.ToolContext) (adk.InvokableToolCallEndpoint, error) {
	w.tell(tc)
	return next, nil
}

func (w *watching[M]) WrapStreamableToolCall(_ context.Context, next adk.StreamableToolCallEndpoint, tc *adk.ToolContext) (adk.StreamableToolCallEndpoint, error) {
	w.tell(tc)
	return next, nil
}

func (w *watching[M]) WrapEnhancedInvokableToolCall(_ context.Context, next adk.EnhancedInvokableToolCallEndpoint, tc *adk.ToolContext) (adk.EnhancedInvokableToolCallEndpoint, error) {
	w.tell(tc)
	return next, nil
}

func (w *watching[M]) WrapEnhancedStreamableToolCall(_ context.Context, next adk.EnhancedStreamableToolCallEndpoint, tc *adk.ToolContext) (adk.EnhancedStreamableToolCallEndpoint, error) {
	w.tell(tc)
	return next, nil
}

// A hundred runs of one agent at once, in each of which the slots stand for other tools:
// every call reaches its own, and every handler is told its name.
func TestRunsAtOnceBindTheirSlotsApart(t *testing.T) {
	everywhere(t, runsAtOnce[*schema.Message], runsAtOnce[*schema.AgenticMessage])
}

type personKey struct{}

func runsAtOnce[M adk.MessageType](t *testing.T, streaming bool) {
	forms := []adktest.Form{adktest.Invokable, adktest.Streamable, adktest.Enhanced, adktest.EnhancedStreamable}
	nameOf := func(user, i int) string { return fmt.Sprintf("user%d__tool%d", user, i) }
	s, _ := liveScene[M](t, streaming)
	s.cfg.AllowUnloadedCalls = true
	s.cfg.Source = toolset.NewSource(func(ctx context.Context) ([]tool.BaseTool, error) {
		user := ctx.Value(personKey{}).(int)
		var tools []tool.BaseTool
		for i := range 4 {
			tools = append(tools, formed(forms[(user+i)%4], nameOf(user, i)))
		}
		return tools, nil
	}, func(ctx context.Context) (string, error) { return fmt.Sprint(ctx.Value(personKey{})), nil })
	var told sync.Map
	for _, list := range []*[]adk.TypedChatModelAgentMiddleware[M]{&s.around, &s.behind} {
		*list = adktest.Handlers[M](einorun.New(&watching[M]{name: func(name string) {
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

func TestAToolOfASourceCanEndTheRun(t *testing.T) {
	everywhere(t, liveReturnsDirectly[*schema.Message], liveReturnsDirectly[*schema.AgenticMessage])
}

func liveReturnsDirectly[M adk.MessageType](t *testing.T, streaming bool) {
	s, source := liveScene[M](t, streaming)
	source.have(formed(0, "final"))
	agent, m := s.agent(do("1", "final", "{}"))
	agent.Configure = func(cfg *adk.TypedChatModelAgentConfig[M]) {
		cfg.ToolsConfig.ReturnDirectly = map[string]bool{"final": true}
	}
	out := agent.Run(context.Background(), []M{adktest.User[M]("please")})
	require.NoError(t, out.Err)
	require.Len(t, m.Wires(), 1)
	require.Equal(t, "final got {}", adktest.Results(out.Messages[len(out.Messages)-1])[0].Args)
}

// A tool of which there is another one by the time that it is called is gated like any other.
func TestAReplacedToolIsGated(t *testing.T) {
	everywhere(t, replacedGated[*schema.Message], replacedGated[*schema.AgenticMessage])
}

func replacedGated[M adk.MessageType](t *testing.T, streaming bool) {
	s, source := liveScene[M](t, streaming)
	version := func(n int) tool.BaseTool {
		return adktest.Tool(0, &schema.ToolInfo{Name: "a", Desc: fmt.Sprintf("Version %d", n)}, func(context.Context, string) (string, error) {
			return fmt.Sprintf("version %d ran", n), nil
		})
	}
	source.have(version(1))
	s.mine = []tool.BaseTool{action("update", func() { source.have(version(2)) })}
	p := s.begin(do("1", "update", "{}"), do("2", "a", "{}"), do("3", "a", "{}"), do("4", "update", "{}"), do("5", "a", "{}"))
	require.Contains(t, p.answer(t, "2"), "did not run")
	require.Equal(t, "version 2 ran", p.answer(t, "3"))
	require.Equal(t, "Version 2", p.wires[2].Tools[3].Desc)
	require.Equal(t, "version 2 ran", p.answer(t, "5"))
}

// The new definition of a loaded tool takes the place of the old one.
func TestANewDefinitionTakesTheOldOnesPlace(t *testing.T) {
	everywhere(t, newDefinition[*schema.Message], newDefinition[*schema.AgenticMessage])
}

func newDefinition[M adk.MessageType](t *testing.T, streaming bool) {
	s, source := liveScene[M](t, streaming)
	describe := func(desc string) tool.BaseTool { return adktest.Simple("a", desc) }
	source.have(describe("old"), adktest.Simple("b", "other"))
	s.mine = []tool.BaseTool{action("update", func() { source.have(describe("new"), adktest.Simple("b", "other")) })}
	p := s.begin(do("1", "tool_search", `{"query":"select:a,b"}`), do("2", "update", "{}"))
	require.Equal(t, "own update tool_search a b", strings.Split(p.tools(), "\n")[2])
	require.Equal(t, "old", p.wires[1].Tools[3].Desc)
	require.Equal(t, "new", p.wires[2].Tools[3].Desc)
}

// What was loaded is loaded again when it is back.
func TestALoadedToolThatComesBackIsLoaded(t *testing.T) {
	everywhere(t, backAgain[*schema.Message], backAgain[*schema.AgenticMessage])
}

func backAgain[M adk.MessageType](t *testing.T, streaming bool) {
	s, source := liveScene[M](t, streaming)
	both := []tool.BaseTool{formed(0, "a"), formed(0, "b")}
	source.have(both...)
	s.mine = []tool.BaseTool{action("stop", func() { source.have() }), action("start", func() { source.have(both...) })}
	p := s.begin(do("1", "tool_search", `{"query":"select:a"}`), do("2", "stop", "{}"), do("3", "start", "{}"), do("4", "a", "{}"))
	require.Equal(t, "own stop start tool_search\nown stop start tool_search a\nown stop start tool_search\nown stop start tool_search a\nown stop start tool_search a", p.tools())
	require.Equal(t, "a got {}", p.answer(t, "4"))
}

func TestCallToolReturnsWhatALateToolReturns(t *testing.T) {
	everywhere(t, callsLate[*schema.Message], callsLate[*schema.AgenticMessage])
}

func callsLate[M adk.MessageType](t *testing.T, streaming bool) {
	for name, form := range adktest.Forms {
		t.Run(name, func(t *testing.T) {
			s, source := liveScene[M](t, streaming)
			s.cfg.Protocol = toolsearch.SearchCall
			s.mine = []tool.BaseTool{action("connect", func() { source.have(formed(form, "late"), formed(0, "text")) })}
			p := s.begin(do("1", "connect", "{}"),
				do("2", "call_tool", `{"name":"late","arguments":{}}`),
				do("3", "call_tool", `{"name":"text","arguments":{}}`),
				do("4", "call_tool", `{"name":"nothing","arguments":{}}`))
			require.Equal(t, "late got {}", p.answer(t, "2"))
			require.Equal(t, "text got {}", p.answer(t, "3"))
			require.Contains(t, p.answer(t, "4"), "There is no tool named")
			require.Equal(t, strings.Repeat("own connect tool_search call_tool\n", 4)+"own connect tool_search call_tool", p.tools())
			requireNoSlots(t, p)
		})
	}
}

// A canary for the next Eino: slots rest on its asking every listed tool for its Info before
// each round of calls.
func TestEinoAsksForInfoBeforeEachRound(t *testing.T) {
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
		return do(fmt.Sprint(n), fmt.Sprintf("name_%d", asked+1), "{}")
	}
	out := adktest.Agent[*schema.Message]{Model: m, Tools: []tool.BaseTool{changing}, Handlers: adktest.Handlers[*schema.Message](einorun.New(&watching[*schema.Message]{}))}.
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

// partial is a Source that lacks servers.
type partial struct {
	toolset.Source
	lacks []string
}

func (p partial) Tools(ctx context.Context) (*toolset.Set, error) {
	if p.lacks == nil {
		panic("boom")
	}
	set, _ := p.Source.Tools(ctx)
	return set, fmt.Errorf("not all is well: %w", &toolset.Missing{Servers: p.lacks, Err: errors.New("connection refused")})
}

//claim:mcp-18
func TestASearchTellsOfServersThatDoNotAnswer(t *testing.T) {
	everywhere(t, tellsOfMissing[*schema.Message], tellsOfMissing[*schema.AgenticMessage])
}

func tellsOfMissing[M adk.MessageType](t *testing.T, streaming bool) {
	const text = "Not available at the moment are all tools of: jira-cloud."
	for _, c := range []struct {
		protocol        toolsearch.Protocol
		tool            string
		none, it, other string // arguments that find nothing, that name the server, and neither
	}{
		{toolsearch.Keyword, "tool_search", `{"query":"xylophone"}`, `{"query":"create an issue in Jira Cloud"}`, `{"query":"create issue"}`},
		{toolsearch.Keyword, "tool_search", `{"query":"select:xylophone"}`, `{"query":"select:jira_cloud__create_issue,github__create_issue"}`, `{"query":"select:github__create_issue"}`},
		{toolsearch.Regexp, "tool_search", `{"regex_pattern":"^xylophone"}`, `{"regex_pattern":"jira-cloud|github__create"}`, `{"regex_pattern":"create"}`},
		{toolsearch.SearchLoad, "search_tools", `{"query":"xylophone"}`, `{"query":"jira-cloud create issue"}`, `{"query":"create issue"}`},
		{toolsearch.SearchLoad, "load_tool", `{"tool_name":"xylophone"}`, `{"tool_name":"jira_cloud__create_issue"}`, `{"tool_name":"github__create_issue"}`},
		{toolsearch.SearchCall, "tool_search", `{"query":"xylophone"}`, `{"query":"jira-cloud create issue"}`, `{"query":"create issue"}`},
	} {
		set, err := toolset.New(t.Context(), office()...)
		require.NoError(t, err)
		source := toolset.Multi(partial{set, []string{"jira-cloud", "", "jira-cloud"}}, set, partial{Source: set}, partial{set, []string{"jira-cloud"}})
		s := scene[M]{t: t, streaming: streaming, cfg: toolsearch.Config{Source: source, Protocol: c.protocol}}
		p := s.begin(do("none", c.tool, c.none), do("it", c.tool, c.it), do("other", c.tool, c.other))
		require.Contains(t, p.answer(t, "none"), text, c)
		require.Contains(t, p.answer(t, "it"), text, c)
		require.NotContains(t, p.answer(t, "other"), "Not available", c)
	}
}
