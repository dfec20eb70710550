// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch_test

// This file runs random conversations of several runs through both packages, and compares
// every request that reaches the model.

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/leanctx/leanctx/internal/adktest"
	"github.com/leanctx/leanctx/internal/race"
)

func TestParityOfRandomConversations(t *testing.T) {
	bothSides(t, randomConversations[*schema.Message], randomConversations[*schema.AgenticMessage])
}

func randomConversations[M adk.MessageType](t *testing.T, eino, ours side[M]) {
	r, why := newRand(t), ids{}
	for range race.Cases(40) {
		c := newCatalogue(r, 15)
		s := &conversation[M]{r: r, c: c, why: why, native: chance(r, 25)}
		if s.native { // a dump joins the names with commas
			s.c.infos = slices.DeleteFunc(c.infos, func(i *schema.ToolInfo) bool { return strings.Contains(i.Name, ",") })
		}
		if len(s.c.infos) == 0 {
			continue
		}
		if s.native || chance(r, 70) {
			s.own = simples("own")
		}
		tools := s.c.tools(r)
		var err error
		s.einoHandler, err = eino.build(tools, s.native)
		require.NoError(t, err)
		s.ourHandler, err = ours.build(tools, s.native)
		require.NoError(t, err)
		s.einoHistory, s.ourHistory = ask[M](), ask[M]()
		for range 1 + r.IntN(3) {
			if !s.oneRun(t, eino, ours) {
				break
			}
		}
	}
	why.areListed(t)
}

// conversation is one history that goes on over several runs.
type conversation[M adk.MessageType] struct {
	r      *rand.Rand
	c      catalogue
	why    ids
	native bool
	own    []tool.BaseTool

	einoHandler, ourHandler adk.TypedChatModelAgentMiddleware[M]
	einoHistory, ourHistory []M
	calls                   map[string]string // arguments of each search by call id
	more                    bool              // ours found more tools, in a listed way
}

// oneRun runs both agents on what the model of Eino's says, and compares them. It reports
// whether there can be another run.
func (s *conversation[M]) oneRun(t *testing.T, eino, ours side[M]) bool {
	t.Helper()
	var turns []adktest.Turn
	model := &adktest.Model[M]{Respond: func(n int, w adktest.Wire[M]) adktest.Turn {
		turn := adktest.Say("done")
		if n < 5 && !chance(s.r, 15) {
			turn = s.turn(w)
		}
		turns = append(turns, turn)
		return turn
	}}
	parallel := chance(s.r, 50)
	agent := func(h adk.TypedChatModelAgentMiddleware[M]) adktest.Agent[M] {
		return adktest.Agent[M]{Tools: s.own, Streaming: eino.streaming, Handlers: adktest.Handlers(h), Configure: func(c *adk.TypedChatModelAgentConfig[M]) {
			c.ToolsConfig.ExecuteSequentially = !parallel
		}}
	}
	a := agent(s.einoHandler)
	a.Model = model
	e := trial[M]{Outcome: a.Run(t.Context(), s.einoHistory)}
	e.wires = model.Wires()
	before := snapshot(s.ourHistory)
	o := ours.runAgent(agent(s.ourHandler), s.ourHistory, turns...)
	require.NoError(t, o.Err)
	require.Equal(t, before, snapshot(s.ourHistory), "the history was changed")
	for i := range e.wires {
		require.NoError(t, s.compare(e.wires[i], o.wires[i]), "request %d\neino:\n%s\nours:\n%s", i, e.text(), o.text())
	}
	if e.Err != nil { // of arguments that Eino's package does not take
		require.Regexp(t, "tool search arguments|query is required", e.Err.Error())
		require.Len(t, o.wires, len(e.wires)+1)
		s.why.add("TS-01")
		return false
	}
	require.Len(t, o.wires, len(e.wires))
	require.Equal(t, e.Answer(), o.Answer())
	s.goOn(e, o, parallel)
	return true
}

// snapshot is all that a history holds which a middleware could change.
func snapshot[M adk.MessageType](history []M) (out []string) {
	for _, m := range history {
		out = append(out, fmt.Sprintf("%p %s %v", m, adktest.Dump(m), adktest.Extra(m)))
	}
	return out
}

// goOn makes the history of the next run: of the events, whose order is certain only if
// the tools ran one by one, or of the agent's own state.
func (s *conversation[M]) goOn(e, o trial[M], parallel bool) {
	next := adktest.User[M]("go on")
	if !parallel {
		s.einoHistory = append(append(s.einoHistory, e.Messages...), next)
		s.ourHistory = append(append(s.ourHistory, o.Messages...), next)
		return
	}
	state := func(tr trial[M]) []M {
		last := tr.wires[len(tr.wires)-1].Messages
		return append(append([]M(nil), last...), tr.Messages[len(tr.Messages)-1], next)
	}
	s.einoHistory, s.ourHistory = state(e), state(o)
}

// turn is what the model does: it searches, and calls tools that it sees.
func (s *conversation[M]) turn(w adktest.Wire[M]) adktest.Turn {
	var calls []adktest.ToolCall
	for range 1 + s.r.IntN(3) {
		id := fmt.Sprintf("c%d", s.r.Uint64())
		name := "tool_search"
		if visible := slices.DeleteFunc(slices.Clone(w.ToolNames), func(n string) bool { return n == name }); len(visible) > 0 && chance(s.r, 35) {
			name = pick(s.r, visible)
		}
		args := `{"value":"x"}`
		if name == "tool_search" {
			// "Select:" are words to Eino's package, which can find more than the names.
			args = strings.ReplaceAll(s.c.arguments(s.r), "Select:", "select:")
			if s.calls == nil {
				s.calls = map[string]string{}
			}
			s.calls[id] = args
		}
		calls = append(calls, adktest.ToolCall{ID: id, Name: name, Args: args})
	}
	return adktest.Do(calls...)
}

// compare holds two requests to each other.
func (s *conversation[M]) compare(e, o adktest.Wire[M]) error {
	if len(e.Messages) != len(o.Messages) {
		return fmt.Errorf("%d messages and %d", len(e.Messages), len(o.Messages))
	}
	for i := range e.Messages {
		if err := s.compareMessage(e.Messages[i], o.Messages[i]); err != nil {
			return fmt.Errorf("message %d: %w", i, err)
		}
	}
	if (e.ToolSearch == nil) != (o.ToolSearch == nil) || (e.Deferred == nil) != (o.Deferred == nil) {
		return fmt.Errorf("native search")
	}
	if want := s.loaded(e); !s.native && !slices.Equal(e.ToolNames, want) {
		return fmt.Errorf("Eino itself shows %q where its results say %q", e.ToolNames, want)
	}
	want := e.ToolNames
	if s.more && !s.native {
		want = s.loaded(o)
	}
	if !slices.Equal(want, o.ToolNames) {
		return fmt.Errorf("tools %q and %q", want, o.ToolNames)
	}
	return sameInfos(append(e.Tools, e.Deferred...), append(o.Tools, o.Deferred...))
}

// loaded are the tools to show by the results of the searches in a request.
func (s *conversation[M]) loaded(w adktest.Wire[M]) []string {
	var names []string
	if s.own != nil {
		names = append(names, "own")
	}
	names = append(names, "tool_search")
	for _, m := range w.Messages {
		for _, res := range adktest.Results(m) {
			var a struct{ Matches []string }
			if res.Name != "tool_search" || json.Unmarshal([]byte(res.Args), &a) != nil {
				continue
			}
			for _, n := range a.Matches {
				if slices.ContainsFunc(s.c.infos, func(i *schema.ToolInfo) bool { return i.Name == n }) {
					names = append(names, n)
				}
			}
		}
	}
	return dedup(names)
}

func (s *conversation[M]) compareMessage(e, o M) error {
	et, ot := adktest.Text(e), adktest.Text(o)
	if ek, ok := slices.Sorted(maps.Keys(adktest.Extra(e))), slices.Sorted(maps.Keys(adktest.Extra(o))); !slices.Equal(ek, ok) {
		return fmt.Errorf("keys of Extra %q and %q", ek, ok)
	}
	if _, is := adktest.Extra(e)["__toolsearch_reminder__"]; is {
		return s.compareReminder(et, ot)
	}
	if res := adktest.Results(e); len(res) > 0 && res[0].Name == "tool_search" {
		mine := adktest.Results(o)
		if len(mine) != len(res) || mine[0].ID != res[0].ID || mine[0].Name != res[0].Name {
			return fmt.Errorf("results %v and %v", res, mine)
		}
		return s.compareSearch(res[0].ID, et, ot)
	}
	if ed, od := adktest.Dump(e), adktest.Dump(o); ed != od {
		return fmt.Errorf("%s\nand\n%s", ed, od)
	}
	return nil
}

func (s *conversation[M]) compareReminder(e, o string) error {
	if e == o {
		return nil
	}
	s.why.add("TS-12")
	lines := strings.Split(o, "\n")
	if len(lines) != len(s.c.infos)+2 {
		return fmt.Errorf("%d tools and the reminder %q", len(s.c.infos), o)
	}
	for i, info := range s.c.infos {
		if !strings.ContainsAny(info.Name, "<>\\\"\n\t\x00\u2028") && strings.ToValidUTF8(info.Name, "") == info.Name && lines[i+1] != info.Name {
			return fmt.Errorf("%q stands in the reminder as %q", info.Name, lines[i+1])
		}
	}
	return nil
}

func (s *conversation[M]) compareSearch(id, e, o string) error {
	var names []string
	for _, i := range s.c.infos {
		names = append(names, i.Name)
	}
	one := searched{args: s.calls[id], names: names, eino: e, ours: o}
	if !s.native {
		why := ids{}
		err := one.explainText(why)
		s.more = s.more || why["TS-02"] || why["TS-34"]
		for id := range why {
			s.why.add(id)
		}
		return err
	}
	if e == o {
		return nil
	}
	if e == "[found ]" && o != "" && !strings.HasPrefix(o, "[found") {
		s.why.add("TS-27")
		return nil
	}
	found := func(text string) []string {
		list := strings.TrimSuffix(strings.TrimPrefix(text, "[found "), "]")
		return slices.DeleteFunc(strings.Split(list, ","), func(n string) bool { return n == "" })
	}
	return one.explainNames(found(e), found(o), s.why)
}

// sameInfos compares what the model is told of each tool, but for the text of tool_search.
func sameInfos(e, o []*schema.ToolInfo) error {
	told := map[string]*schema.ToolInfo{}
	for _, i := range e {
		told[i.Name] = i
	}
	for _, i := range o {
		if was := told[i.Name]; was != nil && i.Name != "tool_search" && onWire(was) != onWire(i) {
			return fmt.Errorf("the model is told another thing of %q", i.Name)
		}
	}
	return nil
}

func TestParityOfRandomHistories(t *testing.T) {
	bothSides(t, randomHistories[*schema.Message], randomHistories[*schema.AgenticMessage])
}

// randomHistories goes on from histories of searches that somebody else wrote: with results
// that are no JSON, name unknown tools, or belong to other tools.
func randomHistories[M adk.MessageType](t *testing.T, eino, ours side[M]) {
	r := newRand(t)
	names := numbered(6)
	e, o := eino.mustBuild(t, simples(names...)...), ours.mustBuild(t, simples(names...)...)
	result := func() string {
		list := []string{pick(r, names), pick(r, names), "gone"}[r.IntN(2) : 1+r.IntN(3)]
		text, err := json.Marshal(map[string]any{"matches": list, "more": map[string]any{"matches": names}})
		if err != nil {
			panic(err)
		}
		return pick(r, []string{string(text), string(text), string(text), " \n" + string(text), string(text[:len(text)-1]), `{"matches":null}`, `{"matches":"tool_001"}`, `{"matches":[1]}`,
			`{"MATCHES":["tool_005"]}`, `["tool_001"]`, "", "null", "{}", "tool_002", `{"matches":[],"matches":["tool_004"]}`})
	}
	for n := range race.Cases(150) {
		history := ask[M]()
		for i := range r.IntN(6) {
			id := fmt.Sprintf("%d.%d", n, i)
			name := pick(r, []string{"tool_search", "tool_search", "own"})
			history = append(history, adktest.Assistant[M](pick(r, []string{"", "well"}), adktest.ToolCall{ID: id, Name: name, Args: `{"query":"x"}`}))
			if chance(r, 95) {
				history = append(history, adktest.Result[M](id, name, result()))
			}
			if chance(r, 30) {
				history = append(history, adktest.Assistant[M]("so"), adktest.User[M](result()))
			}
		}
		et, ot := eino.run(history, simples("own"), nil, e), ours.run(history, simples("own"), nil, o)
		require.NoError(t, et.Err)
		require.Equal(t, et.text(), ot.text())
	}
}
