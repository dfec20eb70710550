// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package slots

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/message"
	"github.com/einolean/einolean/toolsearch/internal/catalog"
)

// fakeRun is a Host with some hidden tools, and names of tools that are gone.
type fakeRun struct {
	hidden map[string]tool.BaseTool
	gone   map[string]bool
}

func (r fakeRun) Lookup(c message.ToolCall) (*catalog.Tool, CallTarget) {
	switch {
	case r.hidden[c.Name] != nil:
		return r.tool(c.Name), Hidden
	case r.gone[c.Name]:
		return nil, Gone
	case c.Name == "own":
		return nil, Other
	}
	return nil, Unknown
}

func (r fakeRun) tool(name string) *catalog.Tool {
	return &catalog.Tool{Info: &schema.ToolInfo{Name: name, Desc: "does " + name}, Value: r.hidden[name]}
}

func (r fakeRun) ResolveCallTool(ctx context.Context, args string) Invocation {
	return NewAnswer(ctx, "called "+args)
}

func (r fakeRun) AliasCandidates(context.Context) iter.Seq[string] {
	return slices.Values(slices.Sorted(maps.Keys(r.hidden)))
}

func (r fakeRun) CheckCall(_ context.Context, _, args string) Verdict {
	return Verdict{Runs: true, Args: args}
}

func (r fakeRun) RejectionText(_ context.Context, name string, why Rejection) string {
	return name + map[Rejection]string{NoSuchTool: " is gone", TooManyTools: " has no slot", FromNextRun: " comes later"}[why]
}

func (r fakeRun) RestoreBindings(context.Context, []message.ToolCall) ([]string, bool) {
	return nil, true
}

// plain and media are tools with results of the two kinds.
type plain string

func (p plain) Info(context.Context) (*schema.ToolInfo, error) {
	return &schema.ToolInfo{Name: string(p)}, nil
}

func (p plain) InvokableRun(_ context.Context, args string, _ ...tool.Option) (string, error) {
	return string(p) + " ran " + args, nil
}

type media struct{ plain }

func (m media) InvokableRun(_ context.Context, args *schema.ToolArgument, _ ...tool.Option) (*schema.ToolResult, error) {
	return &schema.ToolResult{Parts: []schema.ToolOutputPart{{Type: schema.ToolPartTypeText, Text: string(m.plain) + " ran " + args.Text}}}, nil
}

// begin returns the slots of a run with the tools of r, which may gain others.
func begin(r fakeRun, namesFixed, mayJoin bool) *Slots {
	original := rereadsToolNames
	defer func() { rereadsToolNames = original }()
	rereadsToolNames = func() bool { return !namesFixed }
	var tools []*catalog.Tool
	for _, name := range slices.Sorted(maps.Keys(r.hidden)) {
		tools = append(tools, r.tool(name))
	}
	return NewPlan(catalog.New(tools), mayJoin).NewSlots(context.Background(), r)
}

// node is Eino's part: it calls tools by the names that it read before the batch, or only once.
type node struct {
	t     *testing.T
	slots *Slots
	table map[string]tool.BaseTool // by name
}

// tools returns the tools by the names that Eino knows.
func (n *node) tools() map[string]tool.BaseTool {
	if n.slots.plan.namesFixed && n.table != nil {
		return n.table
	}
	n.table = map[string]tool.BaseTool{}
	for _, x := range n.slots.Tools() {
		info, err := x.Info(context.Background())
		require.NoError(n.t, err)
		n.table[info.Name] = x
	}
	return n.table
}

// call runs one call, which Eino's own node reads by name.
func (n *node) call(c message.ToolCall) string {
	x := n.tools()[c.Name]
	require.NotNil(n.t, x, "tool %s not found", c.Name)
	one, err := compose.NewToolNode(context.Background(), &compose.ToolsNodeConfig{Tools: []tool.BaseTool{x}})
	require.NoError(n.t, err)
	info, err := x.Info(context.Background())
	require.NoError(n.t, err)
	msgs, err := one.Invoke(context.Background(), schema.AssistantMessage("", []schema.ToolCall{{ID: c.ID, Function: schema.FunctionCall{Name: info.Name, Arguments: c.Args}}}))
	require.NoError(n.t, err)
	if len(msgs[0].UserInputMultiContent) > 0 {
		return msgs[0].UserInputMultiContent[0].Text
	}
	return msgs[0].Content
}

//claim:eino-01
func TestEino_RereadsToolNames(t *testing.T) {
	require.True(t, rereadsToolNames(),
		"Eino no longer asks listed tools for their Info before each round: see internal/dev/UPSTREAM.md")
}

func TestRereadsToolNames_MatchesEino(t *testing.T) {
	require.Equal(t, os.Getenv("EINOLEAN_KEEPING") == "", rereadsToolNames())
}

// Whichever tools exist, join, disappear and are called: each call reaches its tool, or an answer that says why not.
// Slots are bound while an answer streams, or when it is complete.
func TestSlots_EveryCallReachesToolOrAnswer(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewPCG(seed, 0))
	for range 1000 {
		namesFixed, mayJoin := rnd.IntN(3) == 0, rnd.IntN(2) == 0
		r := fakeRun{hidden: map[string]tool.BaseTool{}, gone: map[string]bool{}}
		add := func(n int) {
			for range n {
				name := fmt.Sprintf("t%d", len(r.hidden)+len(r.gone))
				if r.hidden[name] = plain(name); rnd.IntN(4) == 0 {
					r.hidden[name] = media{plain(name)}
				}
			}
		}
		if add(rnd.IntN(30)); rnd.IntN(20) == 0 {
			add(maxBoundTools)
		}
		s := begin(r, namesFixed, mayJoin)
		n := &node{t: t, slots: s}
		for id := range 4 {
			s.FreeAll()
			n.tools()
			if mayJoin && id > 0 {
				add(rnd.IntN(8))
				for name := range r.hidden {
					if rnd.IntN(20) == 0 {
						delete(r.hidden, name)
						r.gone[name] = true
					}
				}
			}
			n.batch(rnd, r, id)
		}
	}
}

// batch makes calls of tools, some of which are gone.
func (n *node) batch(rnd *rand.Rand, r fakeRun, id int) {
	var calls []message.ToolCall
	for name := range maps.Keys(r.hidden) {
		if len(calls) < 6 {
			calls = append(calls, message.ToolCall{ID: fmt.Sprintf("%d-%s", id, name), Name: name, Args: "{}"})
		}
	}
	for name := range maps.Keys(r.gone) {
		if len(calls) < 7 {
			calls = append(calls, message.ToolCall{ID: fmt.Sprintf("%d-%s", id, name), Name: name, Args: "{}"})
		}
	}
	check := func(was, c message.ToolCall, text string) {
		switch _, bound := n.slots.plan.positions[was.Name]; {
		case r.gone[was.Name]:
			require.Equal(n.t, was.Name+" is gone", text)
		case n.slots.plan.namesFixed && !bound:
			require.Equal(n.t, was.Name+" comes later", text)
		default:
			require.Equal(n.t, was.Name+" ran {}", text)
			require.Equal(n.t, was.Name, c.Name)
		}
	}
	streamed := make([]message.ToolCall, len(calls))
	for i, c := range calls {
		streamed[i] = n.slots.BindStreamed(context.Background(), []message.ToolCall{c})(c)
		if rnd.IntN(2) == 0 {
			check(c, streamed[i], n.call(streamed[i]))
		}
	}
	names, edit := n.slots.Bind(context.Background(), streamed)
	for i, c := range streamed {
		now := edit(c)
		require.Equal(n.t, c, now, "a streamed call keeps its slot")
		check(calls[i], now, n.call(now))
		if c.Name == calls[i].Name {
			require.Contains(n.t, names, c.Name)
		}
	}
}

func TestBind_TooManyCallsAreRejected(t *testing.T) {
	r := fakeRun{hidden: map[string]tool.BaseTool{}}
	s := begin(r, false, true)
	var calls []message.ToolCall
	for i := range 60 {
		name := fmt.Sprintf("late%d", i)
		r.hidden[name] = plain(name)
		calls = append(calls, message.ToolCall{ID: name, Name: name, Args: "{}"})
	}
	s.FreeAll()
	_, edit := s.Bind(context.Background(), calls)
	n, ran := &node{t: t, slots: s}, 0
	for _, c := range calls {
		switch text := n.call(edit(c)); text {
		case c.Name + " ran {}":
			ran++
		default:
			require.Equal(t, c.Name+" has no slot", text)
		}
	}
	require.Equal(t, 32+8+8, ran)
}

// Some adapters start the ids of calls again with each answer. If a call got no slot, a later call with the same id can
// still get one: in the next batch, or after the model call was retried.
func TestBind_IDsRepeatBetweenBatches(t *testing.T) {
	ctx := context.Background()
	for _, namesFixed := range []bool{false, true} {
		r := fakeRun{hidden: map[string]tool.BaseTool{"bound": plain("bound")}}
		s := begin(r, namesFixed, true)
		n := &node{t: t, slots: s}
		n.tools()
		const last = 59
		late := func(i int) string { return fmt.Sprintf("late%d", i) }
		for i := range last + 1 {
			r.hidden[late(i)] = plain(late(i))
		}
		rejected, valid := " has no slot", late(0)
		if namesFixed {
			rejected, valid = " comes later", "bound"
		}
		for _, begin := range []func(){s.FreeAll, s.beginBatch} {
			for _, reversed := range []bool{false, true} {
				var calls []message.ToolCall
				for i := range last + 1 {
					name := late(i)
					if reversed {
						name = late(last - i)
					}
					calls = append(calls, message.ToolCall{ID: fmt.Sprintf("call_%d", i), Name: name, Args: "{}"})
				}
				s.FreeAll()
				_, edit := s.Bind(ctx, calls)
				require.Equal(t, calls[last].Name+rejected, n.call(edit(calls[last])))

				begin()
				again := message.ToolCall{ID: calls[last].ID, Name: valid, Args: "{}"}
				_, edit = s.Bind(ctx, []message.ToolCall{again})
				require.Equal(t, valid+" ran {}", n.call(edit(again)))
			}
		}
	}
}

// A model never reads the names of slots, also where its calls were renamed.
func TestRestoreNames_ReturnsModelsNames(t *testing.T) {
	t.Run("Message", testRestoreNames[*schema.Message])
	t.Run("AgenticMessage", testRestoreNames[*schema.AgenticMessage])
}

func testRestoreNames[M adk.MessageType](t *testing.T) {
	r := fakeRun{hidden: map[string]tool.BaseTool{"a": plain("a")}}
	s := begin(r, true, true)
	r.hidden["late"] = plain("late")
	s.FreeAll()
	calls := []message.ToolCall{{ID: "1", Name: "a", Args: "{}"}, {ID: "2", Name: "late", Args: "{}"}}
	answer := message.EditCalls(message.NewCallMessage[M]([]message.ToolCall{{ID: "1", Name: "a", Args: "{}"}, {ID: "2", Name: "late", Args: "{}"}}), s.BindStreamed(context.Background(), calls))
	require.True(t, IsUnusedName(message.Calls(answer)[1].Name))
	was := []M{answer, message.NewResultMessage[M]("1", "a", message.NewText("x")), message.NewResultMessage[M]("2", message.Calls(answer)[1].Name, message.NewText("y"))}
	now := RestoreNames(s, was)
	require.Equal(t, calls, message.Calls(now[0]))
	require.Same(t, was[1], now[1])
	require.Equal(t, message.NewResultMessage[M]("2", "late", message.NewText("y")), now[2])
	require.True(t, IsUnusedName(message.Results(was[2])[0].Name()), "what was handed over stays")
}

// Another tool may take the name of a bound one, with results of another kind. It can be called at once where Eino
// rereads names, and in the next run otherwise.
//
//claim:eino-03
func TestBind_ToolWithOtherKindOfResult(t *testing.T) {
	for _, namesFixed := range []bool{false, true} {
		r := fakeRun{hidden: map[string]tool.BaseTool{"a": plain("a")}}
		s := begin(r, namesFixed, true)
		n := &node{t: t, slots: s}
		n.tools()
		r.hidden["a"] = media{plain("a")}
		s.FreeAll()
		c := message.ToolCall{ID: "1", Name: "a", Args: "{}"}
		_, edit := s.Bind(context.Background(), []message.ToolCall{c})
		want := map[bool]string{false: "a ran {}", true: "a comes later"}[namesFixed]
		require.Equal(t, want, n.call(edit(c)))
	}
}

func TestTools_UnusedSlotsHaveReservedNames(t *testing.T) {
	s := begin(fakeRun{hidden: map[string]tool.BaseTool{"a": plain("a")}}, false, true)
	unbound := 0
	for _, x := range s.Tools() {
		info, err := x.Info(context.Background())
		require.NoError(t, err)
		require.True(t, IsSlot(x))
		if IsUnusedName(info.Name) {
			unbound++
			require.True(t, strings.HasPrefix(info.Desc, "Not a tool"))
		}
	}
	require.Equal(t, 97, unbound)
	require.False(t, IsSlot(plain("a")))
	list := []*schema.ToolInfo{{Name: "own"}, s.list[0].boundInfo, {Name: "a"}}
	require.Equal(t, []*schema.ToolInfo{list[0], list[2]}, s.RemoveBound(list))
	require.Len(t, list, 3)
}
