// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch_test

// The list of differences is held to what is seen: a scenario shows each, which the same agent
// plays with Eino's package and with ours.

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/cloudwego/eino/adk"
	einosearch "github.com/cloudwego/eino/adk/middlewares/dynamictool/toolsearch"
	"github.com/cloudwego/eino/components"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/adktest"
	"github.com/einolean/einolean/internal/dev/race"
	"github.com/einolean/einolean/internal/einorun"
	"github.com/einolean/einolean/toolsearch"
)

// scenario is something that both packages are put through. What is seen of them is a text.
type scenario struct {
	id, what   string
	plain      func(*testing.T, side[*schema.Message]) string
	agentic    func(*testing.T, side[*schema.AgenticMessage]) string
	eino, ours string
}

// play checks what is seen on both sides, for both message types, streaming and not.
func (s scenario) play(t *testing.T) {
	t.Helper()
	for _, streaming := range []bool{false, true} {
		if s.plain != nil {
			t.Run(fmt.Sprintf("%s, Message, stream %v", s.what, streaming), func(t *testing.T) {
				require.Equal(t, s.eino, s.plain(t, einoSide[*schema.Message](streaming)), "Eino's package")
				require.Equal(t, s.ours, s.plain(t, ourSide[*schema.Message](streaming)), "ours")
			})
		}
		if s.agentic != nil {
			t.Run(fmt.Sprintf("%s, AgenticMessage, stream %v", s.what, streaming), func(t *testing.T) {
				require.Equal(t, s.eino, s.agentic(t, einoSide[*schema.AgenticMessage](streaming)), "Eino's package")
				require.Equal(t, s.ours, s.agentic(t, ourSide[*schema.AgenticMessage](streaming)), "ours")
			})
		}
	}
}

// playAll plays the scenarios of one id.
func playAll(t *testing.T, id string) {
	t.Helper()
	n := 0
	for _, s := range allScenarios() {
		if s.id == id {
			n++
			s.play(t)
		}
	}
	require.NotZero(t, n, "no scenario shows %s", id)
}

// told says what a model is told in answer to a search, without our wording.
func told(text string) string {
	var a struct {
		Matches json.RawMessage
		Already json.RawMessage `json:"already_loaded"`
		Hint    string
	}
	if json.Unmarshal([]byte(text), &a) != nil {
		if strings.HasPrefix(text, "[found") || strings.HasPrefix(text, "echo") || strings.HasPrefix(text, "(") {
			return text
		}
		return "a text"
	}
	out := string(a.Matches)
	if a.Already != nil {
		out += " already " + string(a.Already)
	}
	if a.Hint != "" {
		out += " with a hint"
	}
	return out
}

// ended says how a run ended.
func (tr trial[M]) ended() string {
	if tr.Err != nil {
		return fmt.Sprintf("an error ends the run after %d requests", len(tr.wires))
	}
	return fmt.Sprintf("an answer after %d requests", len(tr.wires))
}

// searchesOnce plays one search with the given arguments, and says how it went.
func searchesOnce[M adk.MessageType](args string, dynamic ...string) func(*testing.T, side[M]) string {
	return func(t *testing.T, s side[M]) string {
		tr := s.run(ask[M](), simples("own"), []adktest.Turn{adktest.Do(adktest.ToolCall{ID: "1", Name: "tool_search", Args: args})}, s.mustBuild(t, simples(dynamic...)...))
		if tr.Err != nil {
			return tr.ended()
		}
		return told(tr.result("1"))
	}
}

// failure is the text of an error, or of its absence.
func failure(err error) string {
	if err == nil {
		return "no error"
	}
	return err.Error()
}

// trying turns a panic into text.
func trying(f func() string) (out string) {
	defer func() {
		if p := recover(); p != nil {
			out = "a panic"
		}
	}()
	return f()
}

// listedIDs are the ids of the differences in docs/differences.md.
func listedIDs(t *testing.T) map[string]bool {
	t.Helper()
	differences, _, _ := strings.Cut(listSection(t), "\n### ")
	return idsIn(t, differences)
}

// keptIDs are the ids of what is as in Eino.
func keptIDs(t *testing.T) map[string]bool {
	t.Helper()
	_, kept, _ := strings.Cut(listSection(t), "\n### ")
	return idsIn(t, kept)
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

func TestEveryListedDifferenceIsSeenAndEverySeenOneListed(t *testing.T) {
	race.Skip(t, "runs two packages over the same histories")
	seen := map[string]bool{}
	for _, s := range allScenarios() {
		seen[s.id] = true
		t.Run(s.id+" "+s.what, s.differs)
	}
	require.Equal(t, slices.Sorted(maps.Keys(listedIDs(t))), slices.Sorted(maps.Keys(seen)))
}

// differs fails where both packages look the same.
func (s scenario) differs(t *testing.T) {
	if s.plain != nil {
		require.NotEqual(t, s.plain(t, einoSide[*schema.Message](false)), s.plain(t, ourSide[*schema.Message](false)), "the difference is gone: take it off the list")
	}
	if s.agentic != nil {
		require.NotEqual(t, s.agentic(t, einoSide[*schema.AgenticMessage](true)), s.agentic(t, ourSide[*schema.AgenticMessage](true)), "the difference is gone: take it off the list")
	}
}

func TestListedAgreementsWithEinoHold(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range keptScenarios() {
		seen[s.id] = true
		require.Equal(t, s.eino, s.ours)
		s.play(t)
	}
	require.Equal(t, slices.Sorted(maps.Keys(keptIDs(t))), slices.Sorted(maps.Keys(seen)))
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
		same("TS-03", "ties by name", `{"query":"tool","max_results":2}`, `["tool_000","tool_001"]`, numbered(30)...),
		same("TS-04", "Chinese words in another order", `{"query":"天气查询 send"}`, `["send_mail"]`, "send_mail", "查询天气"),
		same("TS-05", "a required word within a word", `{"query":"+linear"}`, `["nonlinear_solver"]`, "nonlinear_solver", "get_weather"),
		{"TS-09", "a model that knows no deferred tools", nativeOnce[*schema.Message], nativeOnce[*schema.AgenticMessage], allDeferred, allDeferred},
		{"TS-09b", "a tool that was found stays deferred", nativeOnce[*schema.Message], nativeOnce[*schema.AgenticMessage], allDeferred, allDeferred},
		{"TS-19", "fifty tools loaded at once", staysLoaded[*schema.Message], staysLoaded[*schema.AgenticMessage], "51 at the end", "51 at the end"},
		{"TS-21", "a handler looks for the type of the model", looksForModel[*schema.Message], looksForModel[*schema.AgenticMessage], "no type", "no type"},
	}
}

func nativeOnce[M adk.MessageType](t *testing.T, s side[M]) string {
	tr := s.run(ask[M](), simples("own"), []adktest.Turn{adktest.Do(searchFor("1", "a1"))}, s.mustBuildNative(t, simples("a1", "a2")...))
	require.NoError(t, tr.Err)
	return tr.tools()
}

func staysLoaded[M adk.MessageType](t *testing.T, s side[M]) string {
	turns := []adktest.Turn{adktest.Do(searchFor("1", "select:"+strings.Join(numbered(50), ",")))}
	for _, id := range []string{"2", "3", "4", "5", "6"} {
		turns = append(turns, adktest.Do(callOf(id, "tool_000")))
	}
	tr := s.run(ask[M](), nil, turns, s.mustBuild(t, simples(numbered(50)...)...))
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

func looksForModel[M adk.MessageType](t *testing.T, s side[M]) string {
	out := ""
	look := wrapping[M]{look: func(m model.BaseModel[M]) {
		out = "no type"
		if typ, ok := components.GetType(m); ok {
			out = typ
		}
	}}
	require.NoError(t, s.run(ask[M](), nil, nil, s.mustBuild(t, simples("a1")...), look).Err)
	return out
}

// side is one of the two packages, for one message type.
type side[M adk.MessageType] struct {
	name      string
	streaming bool
	build     func(tools []tool.BaseTool, native bool) (adk.TypedChatModelAgentMiddleware[M], error)
}

func einoSide[M adk.MessageType](streaming bool) side[M] {
	return side[M]{"eino", streaming, func(tools []tool.BaseTool, native bool) (adk.TypedChatModelAgentMiddleware[M], error) {
		return einosearch.NewTyped[M](context.Background(), &einosearch.Config{DynamicTools: tools, UseModelToolSearch: native})
	}}
}

func ourSide[M adk.MessageType](streaming bool) side[M] {
	return side[M]{"einolean", streaming, func(tools []tool.BaseTool, native bool) (adk.TypedChatModelAgentMiddleware[M], error) {
		return toolsearch.NewTyped[M](context.Background(), &toolsearch.Config{DynamicTools: tools, UseModelToolSearch: native})
	}}
}

// mustBuild makes a middleware that searches by itself.
func (s side[M]) mustBuild(t testing.TB, tools ...tool.BaseTool) adk.TypedChatModelAgentMiddleware[M] {
	t.Helper()
	h, err := s.build(tools, false)
	require.NoError(t, err)
	return h
}

// mustBuildNative makes one that leaves the search to the model.
func (s side[M]) mustBuildNative(t testing.TB, tools ...tool.BaseTool) adk.TypedChatModelAgentMiddleware[M] {
	t.Helper()
	h, err := s.build(tools, true)
	require.NoError(t, err)
	return h
}

// trial is one run of an agent, and what came of it.
type trial[M adk.MessageType] struct {
	adktest.Outcome[M]
	wires []adktest.Wire[M]
}

// run runs a scripted agent: handlers and own tools around turns, on a history.
func (s side[M]) run(history []M, own []tool.BaseTool, turns []adktest.Turn, h ...adk.TypedChatModelAgentMiddleware[M]) trial[M] {
	return s.runAgent(adktest.Agent[M]{Tools: own, Handlers: h}, history, turns...)
}

func (s side[M]) runAgent(a adktest.Agent[M], history []M, turns ...adktest.Turn) trial[M] {
	a.Model, a.Streaming = adktest.Script[M](turns...), s.streaming
	out := a.Run(context.Background(), history)
	return trial[M]{out, a.Model.Wires()}
}

// tools are the names of the tools that each model call showed.
func (tr trial[M]) tools() string {
	var b strings.Builder
	for i, w := range tr.wires {
		fmt.Fprintf(&b, "%d:%s", i, strings.Join(w.ToolNames, ","))
		if w.Deferred != nil {
			fmt.Fprintf(&b, " deferred:%s", strings.Join(w.DeferredNames, ","))
		}
		b.WriteByte(' ')
	}
	return strings.TrimSpace(b.String())
}

// text is the dump of a whole trial: each request, and how it ended.
func (tr trial[M]) text() string {
	var b strings.Builder
	for i, w := range tr.wires {
		fmt.Fprintf(&b, "-- request %d: tools %q deferred %q native %v\n", i, w.ToolNames, w.DeferredNames, w.ToolSearch != nil)
		for _, m := range w.MessagesDump {
			b.WriteString(m + "\n")
		}
	}
	fmt.Fprintf(&b, "-- error %v, answer %q", tr.Err, tr.Answer())
	return b.String()
}

// result is the text of the result of a call, from the last request that shows it.
func (tr trial[M]) result(id string) string {
	for i := len(tr.wires) - 1; i >= 0; i-- {
		for _, m := range tr.wires[i].Messages {
			for _, r := range adktest.Results(m) {
				if r.ID == id {
					return adktest.Text(m)
				}
			}
		}
	}
	return "(no result)"
}

// reminders counts the messages of a request that list tools, and returns the last one.
func reminders[M adk.MessageType](w adktest.Wire[M]) (count int, last string) {
	for _, m := range w.Messages {
		if text := adktest.Text(m); strings.HasPrefix(text, "<available-deferred-tools>") {
			count, last = count+1, text
		}
	}
	return count, last
}

// bothSides runs a check of the two packages for both message types, streaming and not.
func bothSides(t *testing.T, plain func(*testing.T, side[*schema.Message], side[*schema.Message]), agentic func(*testing.T, side[*schema.AgenticMessage], side[*schema.AgenticMessage])) {
	t.Helper()
	adktest.Both(t,
		func(t *testing.T, s bool) { plain(t, einoSide[*schema.Message](s), ourSide[*schema.Message](s)) },
		func(t *testing.T, s bool) {
			agentic(t, einoSide[*schema.AgenticMessage](s), ourSide[*schema.AgenticMessage](s))
		})
}

func searchFor(id, query string) adktest.ToolCall {
	return adktest.ToolCall{ID: id, Name: "tool_search", Args: fmt.Sprintf(`{"query":%q}`, query)}
}

func callOf(id, name string) adktest.ToolCall {
	return adktest.ToolCall{ID: id, Name: name, Args: `{"value":"x"}`}
}

func simples(names ...string) []tool.BaseTool {
	var out []tool.BaseTool
	for _, n := range names {
		out = append(out, adktest.Simple(n, "does "+n))
	}
	return out
}

// ask is a history of one question.
func ask[M adk.MessageType]() []M { return []M{adktest.User[M]("please")} }

func agentScenarios() []scenario {
	return []scenario{
		{"TS-06", "two instances in one agent", twoInstances[*schema.Message], twoInstances[*schema.AgenticMessage],
			"0:own,tool_search,tool_search,b1 1:own,tool_search,tool_search,b1,b2 | announced a1,a2 | a search for a1: null | a search for b2: [\"b2\"]",
			"an error says that there are two instances"},
		{"X-09", "one instance twice", sameTwice[*schema.Message], sameTwice[*schema.AgenticMessage],
			"0:own,tool_search,tool_search 1:own,tool_search,tool_search,a1",
			"0:own,tool_search 1:own,tool_search,a1"},
		{"TS-08", "native search without own tools", nativeAlone[*schema.Message], nativeAlone[*schema.AgenticMessage],
			"0: deferred:a1,a2 1:tool_search,a1,a2 deferred:a1,a2 2:tool_search,a1,a2 deferred:a1,a2",
			"0: deferred:a1,a2 1: deferred:a1,a2 2: deferred:a1,a2"},
		{"TS-17", "a run with three rounds of tools", countsInfo[*schema.Message], countsInfo[*schema.AgenticMessage], "Info is asked for again in the run", "Info is asked for once"},
		{"TS-30", "a handler looks at the tools of a run", typesOfTools[*schema.Message], typesOfTools[*schema.AgenticMessage], "the tool itself", "a slot"},
	}
}

func twoInstances[M adk.MessageType](t *testing.T, s side[M]) string {
	tr := s.run(ask[M](), simples("own"), []adktest.Turn{adktest.Do(searchFor("1", "select:a1"), searchFor("2", "select:b2"))},
		s.mustBuild(t, simples("a1", "a2")...), s.mustBuild(t, simples("b1", "b2")...))
	if tr.Err != nil {
		require.ErrorContains(t, tr.Err, "the agent has two instances of this middleware: give one of them all tools")
		require.Empty(t, tr.wires)
		return "an error says that there are two instances"
	}
	n, list := reminders(tr.wires[0])
	require.Equal(t, 1, n)
	names := strings.Split(list, "\n")
	// Which of b1 and b2 Eino's package leaves visible does not matter: that it does so, does.
	return strings.NewReplacer("tool_search,b1,b2 ", "tool_search,b1 ").Replace(tr.tools()) +
		fmt.Sprintf(" | announced %s | a search for a1: %s | a search for b2: %s", strings.Join(names[1:len(names)-1], ","), told(tr.result("1")), told(tr.result("2")))
}

func sameTwice[M adk.MessageType](t *testing.T, s side[M]) string {
	h := s.mustBuild(t, simples("a1", "a2")...)
	tr := s.run(ask[M](), simples("own"), []adktest.Turn{adktest.Do(searchFor("1", "a1"))}, h, h)
	require.NoError(t, tr.Err)
	return tr.tools()
}

func nativeAlone[M adk.MessageType](t *testing.T, s side[M]) string {
	tr := s.run(ask[M](), nil, []adktest.Turn{adktest.Do(searchFor("1", "a1")), adktest.Do(callOf("2", "a1"))}, s.mustBuildNative(t, simples("a1", "a2")...))
	require.NoError(t, tr.Err)
	return tr.tools()
}

func TestTS08_EarlierHandlersSeeNoHiddenToolsEither(t *testing.T) {
	bothSides(t, seenEarlier[*schema.Message], seenEarlier[*schema.AgenticMessage])
}

// seenEarlier asks a handler before this one what it is shown in the second model call:
// Eino's core fills a list that is nil with all tools.
func seenEarlier[M adk.MessageType](t *testing.T, eino, ours side[M]) {
	for s, want := range map[*side[M]]string{&eino: "tool_search,a1,a2", &ours: ""} {
		var seen string
		look := rewriting[M]{rewrite: func(_ context.Context, state *adk.TypedChatModelAgentState[M]) {
			seen = strings.Join(adktest.Names(state.ToolInfos), ",")
		}}
		tr := s.run(ask[M](), nil, []adktest.Turn{adktest.Do(searchFor("1", "a1"))}, look, s.mustBuildNative(t, simples("a1", "a2")...))
		require.NoError(t, tr.Err)
		require.Equal(t, want, seen, s.name)
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

func countsInfo[M adk.MessageType](t *testing.T, s side[M]) string {
	c := &counting{InvokableTool: adktest.Simple("a1", "").(tool.InvokableTool)}
	tr := s.run(ask[M](), simples("own"), []adktest.Turn{adktest.Do(searchFor("1", "a1")), adktest.Do(callOf("2", "a1")), adktest.Do(callOf("3", "a1"))}, s.mustBuild(t, c))
	require.NoError(t, tr.Err)
	if n := c.infos.Load(); n != 1 {
		require.Greater(t, n, int64(3))
		return "Info is asked for again in the run"
	}
	return "Info is asked for once"
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

func typesOfTools[M adk.MessageType](t *testing.T, s side[M]) string {
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
	require.NoError(t, s.run(ask[M](), nil, nil, s.mustBuild(t, c), l).Err)
	return out
}

func clashScenarios() []scenario {
	return []scenario{
		{"TS-07", "a dynamic tool with the name of an own one", clashesWithOwn[*schema.Message], clashesWithOwn[*schema.AgenticMessage],
			"no error 0:tool_search, a call runs the dynamic one", `an error that names "shared" twice`},
		{"TS-07", "a dynamic tool named tool_search", buildError[*schema.Message]("tool_search"), buildError[*schema.AgenticMessage]("tool_search"),
			"no error", `toolsearch: DynamicTools[0]: it has the name of the search tool "tool_search"`},
		{"TS-07", "an own tool named tool_search", ownSearch[*schema.Message], ownSearch[*schema.AgenticMessage], "0:tool_search,tool_search", `an error that names "tool_search" twice`},
		{"TS-07", "a dynamic tool named as a search tool of another protocol", buildError[*schema.Message]("call_tool"), buildError[*schema.AgenticMessage]("call_tool"),
			"no error", `toolsearch: DynamicTools[0]: it has the name of the search tool "call_tool"`},
		{"TS-25", "the wording of an error", buildError[*schema.Message]("a", "a"), buildError[*schema.AgenticMessage]("a", "a"),
			"duplicate dynamic tool name: a", `toolsearch: DynamicTools[1]: it has the name of DynamicTools[0], "a"`},
		{"TS-25", "no tools", buildError[*schema.Message](), buildError[*schema.AgenticMessage](),
			"tools is required", "toolsearch: DynamicTools: there are none: give it the tools to hide, or set Source, SearchableTools or DeferMarkedTools"},
		{"TS-25", "several things wrong", buildError[*schema.Message]("a", "b", "a", "b"), buildError[*schema.AgenticMessage]("a", "b", "a", "b"),
			"duplicate dynamic tool name: a", "toolsearch: DynamicTools[2]: it has the name of DynamicTools[0], \"a\"\ntoolsearch: DynamicTools[3]: it has the name of DynamicTools[1], \"b\""},
	}
}

func buildError[M adk.MessageType](names ...string) func(*testing.T, side[M]) string {
	return func(t *testing.T, s side[M]) string {
		_, err := s.build(simples(names...), false)
		return failure(err)
	}
}

func twiceNamed(err error, name string) string {
	if strings.Count(err.Error(), fmt.Sprintf("%q", name)) < 2 {
		return err.Error()
	}
	return fmt.Sprintf("an error that names %q twice", name)
}

func clashesWithOwn[M adk.MessageType](t *testing.T, s side[M]) string {
	mine := adktest.Tool(adktest.Invokable, &schema.ToolInfo{Name: "shared"}, func(context.Context, string) (string, error) { return "the own one", nil })
	tr := s.run(ask[M](), []tool.BaseTool{mine}, []adktest.Turn{adktest.Do(callOf("1", "shared"))}, s.mustBuild(t, simples("shared")...))
	if tr.Err != nil {
		require.Empty(t, tr.wires)
		return twiceNamed(tr.Err, "shared")
	}
	require.Contains(t, tr.result("1"), "echo")
	first, _, _ := strings.Cut(tr.tools(), " ")
	return "no error " + first + ", a call runs the dynamic one"
}

func ownSearch[M adk.MessageType](t *testing.T, s side[M]) string {
	tr := s.run(ask[M](), simples("tool_search"), nil, s.mustBuild(t, simples("a1")...))
	if tr.Err != nil {
		return twiceNamed(tr.Err, "tool_search")
	}
	return tr.tools()
}

func gateScenarios() (all []scenario) {
	for name, form := range adktest.Forms {
		all = append(all, scenario{"TS-10", name + " tool that was never loaded", callsUnloaded[*schema.Message](form), callsUnloaded[*schema.AgenticMessage](form),
			"the first call runs, the second call runs, visible after the first: false", "the first call gets the schema, the second call runs, visible after the first: true"})
	}
	return all
}

func callsUnloaded[M adk.MessageType](form adktest.Form) func(*testing.T, side[M]) string {
	return func(t *testing.T, s side[M]) string {
		runs := 0
		info := &schema.ToolInfo{Name: "a1", Desc: "d", ParamsOneOf: schema.NewParamsOneOfByParams(map[string]*schema.ParameterInfo{"city_of_birth": {Type: schema.String}})}
		a1 := adktest.Tool(form, info, func(context.Context, string) (string, error) { runs++; return "ran", nil })
		tr := s.run(ask[M](), simples("own"), []adktest.Turn{adktest.Do(callOf("1", "a1")), adktest.Do(callOf("2", "a1"))}, s.mustBuild(t, a1))
		require.NoError(t, tr.Err)
		said := func(id string) string {
			switch text := tr.result(id); {
			case text == "ran":
				return "runs"
			case strings.Contains(text, "city_of_birth"):
				return "gets the schema"
			default:
				return text
			}
		}
		require.Equal(t, strings.Count(said("1")+said("2"), "runs"), runs)
		return fmt.Sprintf("the first call %s, the second call %s, visible after the first: %v", said("1"), said("2"), strings.Contains(strings.Join(tr.wires[1].ToolNames, ","), "a1"))
	}
}

func TestTS06_TwoInstancesInOneAgentAreAnError(t *testing.T) { playAll(t, "TS-06") }

//claim:security-17
func TestTS07_NamesThatClashAreAnError(t *testing.T)           { playAll(t, "TS-07") }
func TestTS08_NativeSearchDoesNotLeakHiddenTools(t *testing.T) { playAll(t, "TS-08") }

//claim:security-01
func TestTS10_AToolThatWasNeverLoadedDoesNotRun(t *testing.T)         { playAll(t, "TS-10") }
func TestTS17_TheInfoOfAToolIsReadOnce(t *testing.T)                  { playAll(t, "TS-17") }
func TestTS25_AnErrorOfNewSaysAllThatIsWrong(t *testing.T)            { playAll(t, "TS-25") }
func TestTS30_HiddenToolsAreBehindSlots(t *testing.T)                 { playAll(t, "TS-30") }
func TestX09_OneInstanceTwiceInAnAgentHidesNothingTwice(t *testing.T) { playAll(t, "X-09") }

// A gated tool runs where the user wants it to, as with Eino.
func TestTS10_TheGateCanBeLeftOpen(t *testing.T) {
	adktest.Both(t, gateLeftOpen[*schema.Message], gateLeftOpen[*schema.AgenticMessage])
}

func gateLeftOpen[M adk.MessageType](t *testing.T, streaming bool) {
	h, err := toolsearch.NewTyped[M](context.Background(), &toolsearch.Config{DynamicTools: simples("a1"), AllowUnloadedCalls: true})
	require.NoError(t, err)
	tr := ourSide[M](streaming).run(ask[M](), nil, []adktest.Turn{adktest.Do(callOf("1", "a1"))}, h)
	require.NoError(t, tr.Err)
	require.Equal(t, `echo {"value":"x"}`, tr.result("1"))
}

// readsEmpty says what the model reads of a result that is empty.
func readsEmpty[M adk.MessageType](t *testing.T, s side[M]) string {
	tr := s.run(found(adktest.Result[M]("1", "own", "")), simples("own"), nil, s.mustBuild(t, simples("get_weather")...))
	require.NoError(t, tr.Err)
	return fmt.Sprintf("%q", tr.result("1"))
}

// silentStream is a tool that streams no chunk.
type silentStream struct{ tool.BaseTool }

func (silentStream) StreamableRun(context.Context, string, ...tool.Option) (*schema.StreamReader[string], error) {
	return schema.StreamReaderFromArray[string](nil), nil
}

// streamsNothing says how a run ends whose tool streams no chunk.
func streamsNothing[M adk.MessageType](t *testing.T, s side[M]) string {
	own := silentStream{simples("own")[0]}
	return s.run(ask[M](), []tool.BaseTool{own}, []adktest.Turn{adktest.Do(callOf("1", "own"))}, s.mustBuild(t, simples("get_weather")...)).ended()
}
