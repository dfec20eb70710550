// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch_test

// Random catalogs, conversations and histories in Eino's package and in ours.

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/adktest"
	"github.com/einolean/einolean/internal/dev/race"
)

func TestParity_RandomCatalogs(t *testing.T) {
	r := newRand(t)
	eino, ours := einoSide[*schema.Message](false), ourSide[*schema.Message](false)
	why := ids{}
	for range race.Cases(2000) {
		c := newCatalogue(r, 30)
		tools := c.tools(r)
		var names []string
		for _, i := range c.infos {
			names = append(names, i.Name)
		}
		e := searchToolOf(t, eino.mustBuild(t, tools...)).(tool.InvokableTool)
		o := searchToolOf(t, ours.mustBuild(t, tools...)).(tool.InvokableTool)
		for range 4 {
			s := searched{args: c.arguments(r), names: names}
			s.eino, s.err = e.InvokableRun(context.Background(), s.args)
			var err error
			s.ours, err = o.InvokableRun(context.Background(), s.args)
			require.NoError(t, err, s.args)
			require.NoError(t, s.explainText(why), "arguments %q\nnames %q\neino %s\nours %s", s.args, names, s.eino, s.ours)
		}
	}
	why.areListed(t)
}

// listedIDs are the ids of the differences in docs/differences.md.
func listedIDs(t *testing.T) map[string]bool {
	t.Helper()
	differences, _, _ := strings.Cut(listSection(t), "\n### ")
	return idsIn(t, differences)
}

func listSection(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../docs/differences.md")
	require.NoError(t, err)
	_, section, ok := strings.Cut(string(text), "\n## toolsearch\n")
	require.True(t, ok, "no section on toolsearch")
	section, _, _ = strings.Cut(section, "\n## ")
	return section
}

var row = regexp.MustCompile(`(?m)^\| ([A-Z]+-[0-9]+[a-z]?) \|`)

func idsIn(t *testing.T, table string) map[string]bool {
	list := map[string]bool{}
	for _, m := range row.FindAllStringSubmatch(table, -1) {
		require.False(t, list[m[1]], "%s is listed twice", m[1])
		list[m[1]] = true
	}
	return list
}

// areListed fails where something is explained by a difference that is not listed.
func (s ids) areListed(t *testing.T) {
	t.Helper()
	require.NotEmpty(t, s)
	for id := range s {
		require.Contains(t, listedIDs(t), id)
	}
}

var (
	plainWords = []string{"get", "list", "create", "issue", "Issue", "send", "mail", "email", "weather", "forecast", "time", "zone", "a", "to", "in", "db",
		"SQL", "HTTP", "server", "file", "read", "write", "x2", "v10", "2fa", "url", "parse", "JSONPath", "userID", "iPhone"}
	foreignWords = []string{"发邮件", "天气", "查询", "北京", "メール", "送信", "날씨", "naïve", "CAFÉ", "cafe\u0301", "ｆｕｌｌ", "Straße", "ǅungla", "İstanbul", "ſ", "KΩ", "Ångström", "🙂", "٣", "ﬁle"}
	brokenWords  = []string{"\xff", "a\xc3", "\xe5\x8f", "x\x00y", "tab\there", "q\"uote", "a<b>", "back\\slash", "co,mma", "a b", "semi;colon", "\ufffd", "line\nbreak", "\u2028"}
)

// words are those of one catalogue: few, so that many tools share them.
type words []string

// name joins words as programmers and servers do.
func (w words) name(r *rand.Rand) string {
	var b strings.Builder
	for i := range 1 + r.IntN(4) {
		word := pick(r, w)
		if i > 0 {
			sep := pick(r, []string{"_", "_", "__", "", "-", ".", "___"})
			b.WriteString(sep)
			if sep == "" {
				word = strings.ToUpper(word[:1]) + word[1:]
			}
		}
		b.WriteString(word)
	}
	return b.String()
}

func (w words) sentence(r *rand.Rand, most int) string {
	var list []string
	for range r.IntN(most + 1) {
		list = append(list, pick(r, w))
	}
	return strings.Join(list, " ")
}

func newWords(r *rand.Rand) words {
	var w words
	for range 3 + r.IntN(10) {
		switch {
		case chance(r, 70):
			w = append(w, pick(r, plainWords))
		case chance(r, 80):
			w = append(w, pick(r, foreignWords))
		default:
			w = append(w, pick(r, brokenWords))
		}
	}
	return w
}

// catalogue is a random set of dynamic tools.
type catalogue struct {
	words words
	infos []*schema.ToolInfo
}

func (c catalogue) tools(r *rand.Rand) []tool.BaseTool {
	var out []tool.BaseTool
	for _, i := range c.infos {
		out = append(out, adktest.Tool(adktest.Form(r.IntN(4)), i, nil))
	}
	return out
}

// term is a word of a query: of the catalogue, a part of one, or neither.
func (c catalogue) term(r *rand.Rand) string {
	word := pick(r, c.words)
	switch r.IntN(8) {
	case 0:
		word = pick(r, c.infos).Name
	case 1:
		word = word[r.IntN(len(word)):]
	case 2:
		word = strings.ToUpper(word)
	case 3:
		word = pick(r, plainWords)
	}
	if chance(r, 15) {
		word = "+" + word
	}
	return word
}

// query is what a model may search for.
func (c catalogue) query(r *rand.Rand) string {
	if chance(r, 25) {
		return c.selection(r)
	}
	var terms []string
	for range 1 + r.IntN(5) {
		terms = append(terms, c.term(r))
	}
	return strings.Join(terms, pick(r, []string{" ", " ", "  ", "\u3000", "\n"}))
}

// selection is a query by name: right, almost right, or wrong.
func (c catalogue) selection(r *rand.Rand) string {
	var names []string
	for range 1 + r.IntN(4) {
		name := pick(r, c.infos).Name
		switch r.IntN(10) {
		case 0:
			name = strings.ToUpper(name)
		case 1:
			name = `"` + name + `"`
		case 2:
			name = pick(r, c.words)
		case 3:
			name = " " + name + " "
		case 4:
			name = ""
		}
		names = append(names, name)
	}
	return pick(r, []string{"select:", "select:", "select:", " select: ", "Select:", "select"}) +
		strings.Join(names, pick(r, []string{",", ",", ",", ", ", " ", ",,"}))
}

// arguments are those of tool_search: mostly as its schema asks for.
func (c catalogue) arguments(r *rand.Rand) string {
	if chance(r, 4) {
		return pick(r, []string{"", " ", "{}", "null", `{"query":""}`, `{"query":" \n"}`, `{"query":`, `[]`, `"words"`, `{"query":["a","b"]}`, `{"query":7}`, `{"quer":"get"}`, "not json"})
	}
	query, err := json.Marshal(c.query(r))
	if err != nil {
		panic(err)
	}
	switch r.IntN(10) {
	case 0:
		return fmt.Sprintf(`{"query":%s,"max_results":%s}`, query, pick(r, []string{"0", "-1", "1", "2", "7", "100", "101", "1000000", "null"}))
	case 1:
		return fmt.Sprintf(`{"max_results": %d, "query" : %s, "why":{"a":[1]}}`, r.IntN(12), query)
	case 2:
		if chance(r, 20) {
			return fmt.Sprintf(`{"query":%s,"max_results":%s}`, query, pick(r, []string{`"5"`, "5.5", "true", "[]", "1e30"}))
		}
	}
	return fmt.Sprintf(`{"query":%s}`, query)
}

func newCatalogue(r *rand.Rand, most int) catalogue {
	c := catalogue{words: newWords(r)}
	seen := map[string]bool{"tool_search": true, "search_tools": true, "load_tool": true, "call_tool": true, "own": true}
	for range 1 + r.IntN(most) {
		name := c.words.name(r)
		if seen[name] {
			continue
		}
		seen[name] = true
		info := &schema.ToolInfo{Name: name, Desc: c.words.sentence(r, 8)}
		if chance(r, 50) {
			info.ParamsOneOf = schema.NewParamsOneOfByParams(map[string]*schema.ParameterInfo{"value": {Type: schema.String, Desc: c.words.sentence(r, 3)}})
		}
		c.infos = append(c.infos, info)
	}
	return c
}

// ids are the listed differences that explain an observation.
type ids map[string]bool

func (s ids) add(id string) { s[id] = true }

// searched is one search, as Eino's package and ours answered it.
type searched struct {
	args  string
	names []string // of the catalogue
	eino  string   // its answer, if err is nil
	err   error
	ours  string
}

// explainText explains answers in text, or says what it cannot explain.
func (s searched) explainText(why ids) error {
	if s.err != nil {
		why.add("TS-01")
		return s.answersInstead(s.ours)
	}
	if s.eino == s.ours {
		return nil
	}
	var e, o map[string]json.RawMessage
	if err := json.Unmarshal([]byte(s.eino), &e); err != nil {
		return err
	}
	if err := json.Unmarshal([]byte(s.ours), &o); err != nil {
		return fmt.Errorf("our answer is not JSON: %w", err)
	}
	for key := range o {
		switch key {
		case "matches":
		case "already_loaded", "hint":
			why.add("TS-23")
		default:
			return fmt.Errorf("unknown key %q", key)
		}
	}
	return s.explainMatches(string(e["matches"]), string(o["matches"]), why)
}

func (s searched) explainMatches(e, o string, why ids) error {
	if e == "null" && o == "[]" {
		why.add("TS-02")
		return nil
	}
	if plain := strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&").Replace(e); plain != e && plain == o {
		why.add("TS-26")
		return nil
	}
	if e == o {
		return nil
	}
	var en, on []string
	if json.Unmarshal([]byte(e), &en) != nil || json.Unmarshal([]byte(o), &on) != nil {
		return fmt.Errorf("matches %s and %s", e, o)
	}
	return s.explainNames(en, s.withoutExtra(en, on, why), why)
}

// withoutExtra leaves out what is found on top because loaded tools use up no place: as
// many tools as the answer calls loaded, after what Eino finds.
func (s searched) withoutExtra(e, o []string, why ids) []string {
	var a struct {
		Loaded []string `json:"already_loaded"`
	}
	if s.selects() || len(o) <= len(e) || json.Unmarshal([]byte(s.ours), &a) != nil || len(o)-len(e) > len(a.Loaded) {
		return o
	}
	times := func(names []string, name string) (n int) {
		for _, other := range names {
			if other == name {
				n++
			}
		}
		return n
	}
	for _, name := range o[len(e):] { // in JSON, names with bytes that are not UTF-8 can be the same
		if times(a.Loaded, name) >= times(o, name) {
			return o
		}
	}
	why.add("TS-34")
	return o[:len(e)]
}

func (s searched) selects() bool {
	query := strings.TrimSpace(s.query())
	return len(query) >= 7 && strings.EqualFold(query[:7], "select:")
}

// explainNames explains different lists of names.
func (s searched) explainNames(e, o []string, why ids) error {
	if slices.Equal(e, o) {
		return nil
	}
	if s.selects() {
		why.add("TS-02")
		return s.explainSelection(strings.TrimSpace(s.query()), e, o)
	}
	if len(e) > 100 && slices.Equal(e[:100], o) {
		why.add("TS-22")
		return nil
	}
	return fmt.Errorf("found %q and %q", e, o)
}

// explainSelection: what Eino selects is selected, once and in that order; what comes on
// top was asked for under a name that is almost right.
func (s searched) explainSelection(query string, e, o []string) error {
	if list, ok := strings.CutPrefix(query, "select:"); ok {
		exact := !slices.ContainsFunc(strings.Split(list, ","), func(name string) bool {
			name = strings.TrimSpace(name)
			return name != "" && !slices.Contains(s.names, name)
		})
		if once := dedup(e); exact && !slices.Equal(once, o) {
			return fmt.Errorf("%q was selected, not %q", once, o)
		}
	}
	for _, name := range e {
		if strings.HasPrefix(query, "select:") && !slices.Contains(o, name) {
			return fmt.Errorf("%q is selected by Eino alone", name)
		}
	}
	if !slices.Equal(dedup(o), o) {
		return fmt.Errorf("%q holds a name twice", o)
	}
	for _, name := range o {
		if !slices.ContainsFunc(s.names, func(n string) bool { return n == name || string([]rune(n)) == name }) {
			return fmt.Errorf("%q is no tool", name)
		}
	}
	return nil
}

func (s searched) query() string {
	var a struct{ Query string }
	if json.Unmarshal([]byte(s.args), &a) != nil {
		return ""
	}
	return a.Query
}

// answersInstead holds an answer in place of an error to what a model needs: tools that
// exist, or a hint.
func (s searched) answersInstead(text string) error {
	var o struct {
		Matches []string
		Hint    string
	}
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		return fmt.Errorf("our answer is not JSON: %w", err)
	}
	if o.Matches == nil || len(o.Matches) == 0 && o.Hint == "" {
		return fmt.Errorf("an answer that helps nobody: %s", text)
	}
	return nil
}

func dedup(list []string) (once []string) {
	for _, s := range list {
		if !slices.Contains(once, s) {
			once = append(once, s)
		}
	}
	return once
}

func TestParity_RandomConversations(t *testing.T) {
	bothSides(t, testParityRandomConversations[*schema.Message], testParityRandomConversations[*schema.AgenticMessage])
}

func testParityRandomConversations[M adk.MessageType](t *testing.T, eino, ours implementation[M]) {
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
			s.own = simpleTools("own")
		}
		tools := s.c.tools(r)
		var err error
		s.einoHandler, err = eino.build(tools, s.native)
		require.NoError(t, err)
		s.ourHandler, err = ours.build(tools, s.native)
		require.NoError(t, err)
		s.einoHistory, s.ourHistory = userRequest[M](), userRequest[M]()
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
func (s *conversation[M]) oneRun(t *testing.T, eino, ours implementation[M]) bool {
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
	e := runResult[M]{Outcome: a.Run(t.Context(), s.einoHistory)}
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
	s.extendHistories(e, o, parallel)
	return true
}

// extendHistories makes the histories of the next run: of the events, whose order is certain only if
// the tools ran one by one, or of the agent's own state.
func (s *conversation[M]) extendHistories(e, o runResult[M], parallel bool) {
	next := adktest.User[M]("go on")
	if !parallel {
		s.einoHistory = append(append(s.einoHistory, e.Messages...), next)
		s.ourHistory = append(append(s.ourHistory, o.Messages...), next)
		return
	}
	state := func(tr runResult[M]) []M {
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

// snapshot is all that a history holds which a middleware could change.
func snapshot[M adk.MessageType](history []M) (out []string) {
	for _, m := range history {
		out = append(out, fmt.Sprintf("%p %s %v", m, adktest.Dump(m), adktest.Extra(m)))
	}
	return out
}

// sameInfos compares what the model is told of each tool, except the text of tool_search.
func sameInfos(e, o []*schema.ToolInfo) error {
	told := map[string]*schema.ToolInfo{}
	for _, i := range e {
		told[i.Name] = i
	}
	for _, i := range o {
		if was := told[i.Name]; was != nil && i.Name != "tool_search" && providerJSON(was) != providerJSON(i) {
			return fmt.Errorf("the model is told another thing of %q", i.Name)
		}
	}
	return nil
}

func TestParity_RandomHistories(t *testing.T) {
	bothSides(t, testParityRandomHistories[*schema.Message], testParityRandomHistories[*schema.AgenticMessage])
}

// testParityRandomHistories goes on from histories of searches that somebody else wrote: with results
// that are not JSON, name unknown tools, or belong to other tools.
func testParityRandomHistories[M adk.MessageType](t *testing.T, eino, ours implementation[M]) {
	r := newRand(t)
	names := numberedNames(6)
	e, o := eino.mustBuild(t, simpleTools(names...)...), ours.mustBuild(t, simpleTools(names...)...)
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
		history := userRequest[M]()
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
		et, ot := eino.run(history, simpleTools("own"), nil, e), ours.run(history, simpleTools("own"), nil, o)
		require.NoError(t, et.Err)
		require.Equal(t, et.text(), strings.ReplaceAll(ot.text(), "(no output)", ""))
	}
}

func TestParity_EveryDifferenceIsListed(t *testing.T) {
	race.Skip(t, "runs two packages over the same histories")
	seen := map[string]bool{}
	for _, s := range allScenarios() {
		seen[s.id] = true
		t.Run(s.id+" "+s.what, s.differs)
	}
	require.Equal(t, slices.Sorted(maps.Keys(listedIDs(t))), slices.Sorted(maps.Keys(seen)))
}

func TestParity_ListedAgreementsHold(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range keptScenarios() {
		seen[s.id] = true
		require.Equal(t, s.eino, s.ours)
		s.play(t)
	}
	require.Equal(t, slices.Sorted(maps.Keys(keptIDs(t))), slices.Sorted(maps.Keys(seen)))
}

// keptIDs are the ids of what is as in Eino.
func keptIDs(t *testing.T) map[string]bool {
	t.Helper()
	_, kept, _ := strings.Cut(listSection(t), "\n### ")
	return idsIn(t, kept)
}

// same is a scenario of one search that both packages answer alike.
func same(id, what, args, answer string, tools ...string) scenario {
	return scenario{id, what, searchesOnce[*schema.Message](args, tools...), searchesOnce[*schema.AgenticMessage](args, tools...), answer, answer}
}

func keptScenarios() []scenario {
	const allDeferred = "0:own deferred:a1,a2 1:own deferred:a1,a2"
	return []scenario{
		same("TS-03", "a letter matches within words", `{"query":"e"}`, `["get_weather","send_mail"]`, "send_mail", "get_weather"),
		same("TS-03", "a word in another form", `{"query":"mails weather"}`, `["get_weather"]`, "send_mail", "get_weather"),
		same("TS-03", "ties by name", `{"query":"tool","max_results":2}`, `["tool_000","tool_001"]`, numberedNames(30)...),
		same("TS-04", "Chinese words in another order", `{"query":"天气查询 send"}`, `["send_mail"]`, "send_mail", "查询天气"),
		same("TS-05", "a required word within a word", `{"query":"+linear"}`, `["nonlinear_solver"]`, "nonlinear_solver", "get_weather"),
		{"TS-09", "a model that knows no deferred tools", nativeOnce[*schema.Message], nativeOnce[*schema.AgenticMessage], allDeferred, allDeferred},
		{"TS-09b", "a tool that was found stays deferred", nativeOnce[*schema.Message], nativeOnce[*schema.AgenticMessage], allDeferred, allDeferred},
		{"TS-19", "fifty tools loaded at once", staysLoaded[*schema.Message], staysLoaded[*schema.AgenticMessage], "51 at the end", "51 at the end"},
		{"TS-21", "a handler looks for the type of the model", looksForModel[*schema.Message], looksForModel[*schema.AgenticMessage], "no type", "no type"},
	}
}

func nativeOnce[M adk.MessageType](t *testing.T, s implementation[M]) string {
	tr := s.run(userRequest[M](), simpleTools("own"), []adktest.Turn{adktest.Do(searchCall("1", "a1"))}, s.mustBuildNative(t, simpleTools("a1", "a2")...))
	require.NoError(t, tr.Err)
	return tr.tools()
}

func staysLoaded[M adk.MessageType](t *testing.T, s implementation[M]) string {
	turns := []adktest.Turn{adktest.Do(searchCall("1", "select:"+strings.Join(numberedNames(50), ",")))}
	for _, id := range []string{"2", "3", "4", "5", "6"} {
		turns = append(turns, adktest.Do(toolCall(id, "tool_000")))
	}
	tr := s.run(userRequest[M](), nil, turns, s.mustBuild(t, simpleTools(numberedNames(50)...)...))
	require.NoError(t, tr.Err)
	require.Len(t, tr.wires[6].ToolNames, 51)
	return "51 at the end"
}

// wrapping is a handler that looks at the model.
type wrapping[M adk.MessageType] struct {
	*adk.TypedBaseChatModelAgentMiddleware[M]
	look func(model.BaseModel[M])
}

func (w wrapping[M]) WrapModel(_ context.Context, m model.BaseModel[M], _ *adk.TypedModelContext[M]) (model.BaseModel[M], error) {
	w.look(m)
	return m, nil
}

func looksForModel[M adk.MessageType](t *testing.T, s implementation[M]) string {
	out := ""
	look := wrapping[M]{look: func(m model.BaseModel[M]) {
		out = "no type"
		if typ, ok := components.GetType(m); ok {
			out = typ
		}
	}}
	require.NoError(t, s.run(userRequest[M](), nil, nil, s.mustBuild(t, simpleTools("a1")...), look).Err)
	return out
}
