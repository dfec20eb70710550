// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package skills_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/adk/middlewares/skill"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/adktest"
	"github.com/einolean/einolean/reduction"
	"github.com/einolean/einolean/store"
	"github.com/einolean/einolean/toolsearch"
	"github.com/einolean/einolean/toolsearch/index"
	"github.com/einolean/einolean/toolsearch/skills"
)

// shelf is a backend in memory.
type shelf struct {
	matters []skill.FrontMatter
	lists   int
	err     error
}

func (s *shelf) List(context.Context) ([]skill.FrontMatter, error) {
	s.lists++
	return slices.Clone(s.matters), s.err
}

func (s *shelf) Get(_ context.Context, name string) (skill.Skill, error) {
	for _, m := range s.matters {
		if m.Name == name && !strings.Contains(m.Description, "torn") {
			return skill.Skill{FrontMatter: m, Content: "First, open the " + name + "." + strings.Repeat(" Then read on.", 100), BaseDirectory: "/skills/" + name}, nil
		}
	}
	return skill.Skill{}, errors.New("no such file")
}

// graded are the skills of the graded set, with the sentences that ask for each.
func graded(t testing.TB) (matters []skill.FrontMatter, asked map[string][]string) {
	asked = map[string][]string{}
	for _, file := range []string{"testdata/en.tsv", "testdata/zh.tsv"} {
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		for line := range strings.Lines(string(data)) {
			f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
			require.Greater(t, len(f), 2, line)
			matters = append(matters, skill.FrontMatter{Name: f[0], Description: f[1]})
			asked[f[0]] = f[2:]
		}
	}
	return matters, asked
}

// many are 1,141 skills of 260 bytes: the graded ones, and others.
func many(t testing.TB) []skill.FrontMatter {
	matters, _ := graded(t)
	verbs := strings.Fields("archive annotate balance calibrate certify compile curate decode distil escalate ferment forge graft harvest hedge insulate knit laminate mediate notarize orchestrate polish quarantine reconcile salvage tether upholster varnish weld yield zone")
	things := strings.Fields("orchards bridges turbines aquariums telescopes glaciers violins lighthouses vineyards reactors greenhouses carpets antennas ferries quarries beehives sculptures canals looms observatories tunnels harbours kilns meadows pipelines reservoirs satellites theatres tramways windmills workshops archives barges")
	for i := 0; len(matters) < 1141; i++ {
		v, th := verbs[i%len(verbs)], things[i/len(verbs)%len(things)]
		matters = append(matters, skill.FrontMatter{Name: v + "-" + th, Description: fmt.Sprintf("How to %s %s: %s", v, th,
			strings.Repeat("steps, checks and records that people in the field keep to, ", 4))})
	}
	return matters
}

// Of the right skills, at least nine in ten are among the first five, in both languages. The half
// of the skills that is measured here was never looked at when anything was chosen.
func TestIndex_RanksTheRightSkillInTopFive(t *testing.T) {
	_, asked := graded(t)
	set, err := skills.NewSource(&shelf{matters: many(t)}, skills.Options{}).Tools(context.Background())
	require.NoError(t, err)
	var infos []*schema.ToolInfo
	for x := range set.All() {
		info, err := x.Info(context.Background())
		require.NoError(t, err)
		infos = append(infos, info)
	}
	require.Len(t, infos, 1141)
	ranks, err := skills.Index(index.BM25)(context.Background(), infos)
	require.NoError(t, err)
	found, all := map[string]int{}, map[string]int{}
	for i, m := range many(t)[:120] {
		half := []string{"other half", "held out"}[i%2] + []string{" en", " zh"}[i/60]
		for _, q := range asked[m.Name] {
			results, err := ranks.Search(context.Background(), index.Query{Text: q, Limit: 5})
			require.NoError(t, err)
			all[half]++
			if slices.ContainsFunc(results, func(r index.Result) bool { return r.Name == skills.ToolName(m.Name) }) {
				found[half]++
			} else {
				t.Logf("%s: %s", m.Name, q)
			}
		}
	}
	t.Logf("found %v of %v", found, all)
	right, of := found["held out en"]+found["held out zh"], all["held out en"]+all["held out zh"]
	require.GreaterOrEqual(t, float64(right)/float64(of), .9)
}

// With 1,141 skills, a request has no more than 600 tokens for them.
func TestNewSource_ManySkillsTakeFewTokens(t *testing.T) {
	for name, protocol := range map[string]toolsearch.Protocol{"Keyword": toolsearch.Keyword, "SearchLoad": toolsearch.SearchLoad, "SearchCall": toolsearch.SearchCall} {
		search, err := toolsearch.New(context.Background(), &toolsearch.Config{
			Source: skills.NewSource(&shelf{matters: many(t)}, skills.Options{}), NewIndex: skills.Index(index.BM25), CatalogLimit: 10, Protocol: protocol,
		})
		require.NoError(t, err)
		m := adktest.Script[*schema.Message]()
		out := adktest.Agent[*schema.Message]{Model: m, Handlers: adktest.Handlers(search)}.Run(context.Background(), []*schema.Message{schema.UserMessage("")})
		require.NoError(t, out.Err)
		w := m.Wires()[0]
		bytes := 0
		for _, x := range w.Tools {
			params, err := x.ToJSONSchema()
			require.NoError(t, err)
			data, err := json.Marshal(params)
			require.NoError(t, err)
			bytes += len(x.Name) + len(x.Desc) + len(data)
		}
		for _, m := range w.Messages {
			bytes += len(m.Content)
		}
		t.Logf("%s: %d tokens", name, bytes/4)
		require.LessOrEqual(t, bytes/4, 600, "%s\n%v", name, w.MessagesDump)
	}
}

func TestIndex_SkillIsFoundWithItsTools(t *testing.T) {
	adktest.Both(t, findsSkill[*schema.Message], findsSkill[*schema.AgenticMessage])
}

func findsSkill[M adk.MessageType](t *testing.T, streaming bool) {
	matters, _ := graded(t)
	call := func(id, name, args string) adktest.Turn {
		return adktest.Do(adktest.ToolCall{ID: id, Name: name, Args: args})
	}
	for _, eino := range []string{"none", "before", "after"} {
		search, err := toolsearch.NewTyped[M](context.Background(), &toolsearch.Config{
			Source:       skills.NewSource(&shelf{matters: matters}, skills.Options{Tools: func(m skill.FrontMatter) []string { return map[string][]string{"pdf": {"fill_form", "gone"}}[m.Name] }}),
			DynamicTools: []tool.BaseTool{adktest.Simple("fill_form", "Writes values into fields."), adktest.Simple("other", "Does nothing.")},
			NewIndex:     skills.Index(index.BM25), CatalogLimit: 10,
		})
		require.NoError(t, err)
		handlers := adktest.Handlers(search)
		if eino != "none" {
			theirs, err := skill.NewTyped(context.Background(), &skill.TypedConfig[M]{Backend: &shelf{matters: matters[:1]}})
			require.NoError(t, err)
			handlers = slices.Insert(handlers, map[string]int{"before": 0, "after": 1}[eino], theirs)
		}
		reduce, err := reduction.NewTyped(context.Background(), &reduction.TypedConfig[M]{
			Backend: store.NewMemory(0), MaxTokensForClear: 1, ClearExcludeTools: []string{"skill__*"}, TruncExcludeTools: []string{"skill__*"},
		})
		require.NoError(t, err)
		m := adktest.Script[M](
			call("1", "tool_search", `{"query":"Fill in this PDF form with the customer's address"}`),
			call("2", "skill__pdf", `{}`), call("3", "fill_form", `{"value":"x"}`), call("4", "fill_form", `{"value":"y"}`), adktest.Say("done"))
		out := adktest.Agent[M]{Model: m, Handlers: append(handlers, reduce), Streaming: streaming}.Run(context.Background(), []M{adktest.User[M]("please")})
		require.NoError(t, out.Err)
		wires := m.Wires()
		require.Subset(t, wires[1].ToolNames, []string{"skill__pdf", "fill_form"}, eino)
		require.NotContains(t, wires[1].ToolNames, "other")
		results := map[string]string{}
		for _, msg := range wires[4].Messages {
			for _, r := range adktest.Results(msg) {
				results[r.ID] = r.Args
			}
		}
		require.Contains(t, results["2"], "First, open the pdf.", "the text of a skill stays")
		require.Contains(t, results["2"], "/skills/pdf")
		require.Contains(t, results["2"], "fill_form")
		require.Equal(t, `echo {"value":"y"}`, results["4"])
		require.NotContains(t, results["3"], "schema", "it was loaded with the skill")
	}
}

// A skill that cannot be read is an answer; a list that fails leaves the last one; a changed list
// counts at the next model call.
func TestNewSource_SkillsComeAndGo(t *testing.T) {
	s := &shelf{matters: []skill.FrontMatter{{Name: "one", Description: "torn"}}}
	source := skills.NewSource(s, skills.Options{MaxAge: -1})
	search, err := toolsearch.New(context.Background(), &toolsearch.Config{Source: source})
	require.NoError(t, err)
	turns := []adktest.Turn{
		adktest.Do(adktest.ToolCall{ID: "1", Name: "tool_search", Args: `{"query":"select:skill__one"}`}),
		adktest.Do(adktest.ToolCall{ID: "2", Name: "skill__one", Args: `{}`}),
		adktest.Do(adktest.ToolCall{ID: "3", Name: "tool_search", Args: `{"query":"select:skill__two"}`}),
		adktest.Do(adktest.ToolCall{ID: "4", Name: "skill__two", Args: `{}`}),
	}
	m := &adktest.Model[*schema.Message]{Respond: func(n int, _ adktest.Wire[*schema.Message]) adktest.Turn {
		switch n {
		case 1:
			s.matters = append(s.matters, skill.FrontMatter{Name: "two", Description: "fine"})
		case 2:
			s.err = errors.New("the disk is away")
		}
		if n < len(turns) {
			return turns[n]
		}
		return adktest.Say("done")
	}}
	out := adktest.Agent[*schema.Message]{Model: m, Handlers: adktest.Handlers(search)}.Run(context.Background(), []*schema.Message{schema.UserMessage("x")})
	require.NoError(t, out.Err)
	require.Contains(t, out.Messages[3].Content, "no such file")
	require.Contains(t, out.Messages[7].Content, "First, open the two.")

	s.err, s.lists = nil, 0
	source = skills.NewSource(s, skills.Options{})
	for range 3 {
		_, err = source.Tools(context.Background())
		require.NoError(t, err)
	}
	require.Equal(t, 1, s.lists, "a list counts for a while")
	s.matters = append(s.matters, skill.FrontMatter{}, skill.FrontMatter{Name: "two", Description: "again"}, skill.FrontMatter{Name: "three"})
	set, err := skills.NewSource(s, skills.Options{}).Tools(context.Background())
	require.ErrorContains(t, err, "1 without a name")
	require.ErrorContains(t, err, "listed twice: two")
	require.Len(t, slices.Collect(set.All()), 3, "the others stay")
}

// A skill that runs in an agent of its own may interrupt the run, and goes on after it.
func TestRun_SkillMayInterruptItsRun(t *testing.T) {
	run := func(ctx context.Context, name string) (string, error) {
		if _, has, data := tool.GetResumeContext[string](ctx); has {
			return name + " ran: " + data, nil
		}
		return "", tool.Interrupt(ctx, "go on?")
	}
	search, err := toolsearch.New(context.Background(), &toolsearch.Config{
		Source: skills.NewSource(&shelf{matters: []skill.FrontMatter{{Name: "fork", Description: "d"}}}, skills.Options{Run: run}), AllowUnloadedCalls: true,
	})
	require.NoError(t, err)
	m := adktest.Script[*schema.Message](adktest.Do(adktest.ToolCall{ID: "1", Name: "skill__fork", Args: `{}`}), adktest.Say("done"))
	r, err := adktest.Agent[*schema.Message]{Model: m, Handlers: adktest.Handlers(search), Store: &adktest.Store{}}.Runner(context.Background())
	require.NoError(t, err)
	out := adktest.Collect(r.Run(context.Background(), []*schema.Message{schema.UserMessage("x")}, adk.WithCheckPointID("p")))
	require.NoError(t, out.Err)
	require.NotNil(t, out.Interrupted)
	answers := map[string]any{}
	for _, c := range out.Interrupted.InterruptContexts {
		answers[c.ID] = "yes"
	}
	it, err := r.ResumeWithParams(context.Background(), "p", &adk.ResumeParams{Targets: answers})
	require.NoError(t, err)
	out = adktest.Collect(it)
	require.NoError(t, out.Err)
	require.Equal(t, "fork ran: yes", out.Messages[0].Content)
}

func TestToolName_FitsEveryProvider(t *testing.T) {
	require.Equal(t, "skill__code-review", skills.ToolName("code-review"))
	seen := map[string]bool{}
	for _, name := range []string{"合同审查", "发票开具", "a b", "a_b", "a.b", strings.Repeat("x", 80), strings.Repeat("x", 81), ""} {
		fit := skills.ToolName(name)
		require.Regexp(t, `^skill__[a-zA-Z0-9_-]*$`, fit)
		require.LessOrEqual(t, len(fit), 64)
		require.False(t, seen[fit], name)
		seen[fit] = true
	}
}

// Where there are no skills, Index changes nothing.
func TestIndex_WithoutSkillsIsUnchanged(t *testing.T) {
	infos := []*schema.ToolInfo{{Name: "a", Desc: "sends mail"}}
	want, err := index.BM25(context.Background(), infos)
	require.NoError(t, err)
	got, err := skills.Index(index.BM25)(context.Background(), infos)
	require.NoError(t, err)
	require.IsType(t, want, got)
}

// With one tool that calls the others, or a tool that loads them, skills work the same.
func TestNewSource_WorksUnderEveryProtocol(t *testing.T) {
	best := skills.Index(index.BM25)
	for protocol, turns := range map[toolsearch.Protocol][]adktest.ToolCall{
		toolsearch.SearchCall: {{ID: "1", Name: "tool_search", Args: `{"query":"Put these three PDFs together"}`}, {ID: "2", Name: "call_tool", Args: `{"name":"skill__pdf","arguments":{}}`}},
		toolsearch.SearchLoad: {{ID: "0", Name: "search_tools", Args: `{"query":"Put these three PDFs together"}`}, {ID: "1", Name: "load_tool", Args: `{"tool_name":"skill__pdf"}`}, {ID: "2", Name: "skill__pdf", Args: `{}`}},
		toolsearch.Regexp:     {{ID: "1", Name: "tool_search", Args: `{"regex_pattern":"pdf"}`}, {ID: "2", Name: "skill__pdf", Args: `{}`}},
	} {
		matters, _ := graded(t)
		search, err := toolsearch.New(context.Background(), &toolsearch.Config{
			Protocol: protocol, Source: skills.NewSource(&shelf{matters: matters}, skills.Options{}),
			NewIndex: map[bool]index.Func{false: best}[protocol == toolsearch.Regexp],
		})
		require.NoError(t, err)
		var script []adktest.Turn
		for _, c := range turns {
			script = append(script, adktest.Do(c))
		}
		out := adktest.Agent[*schema.Message]{Model: adktest.Script[*schema.Message](script...), Handlers: adktest.Handlers(search)}.
			Run(context.Background(), []*schema.Message{schema.UserMessage("x")})
		require.NoError(t, out.Err)
		require.Contains(t, out.Messages[len(out.Messages)-2].Content, "First, open the pdf.", protocol)
	}
}

// A provider that searches by itself gets each skill as a deferred tool, and what it finds is run here.
func TestNewSource_WorksWithNativeSearch(t *testing.T) {
	adktest.Both(t, findsNatively[*schema.Message](toolsearch.ClaudeHosted, toolsearch.ClaudeClient),
		findsNatively[*schema.AgenticMessage](toolsearch.OpenAIHosted, toolsearch.OpenAIClient, toolsearch.AgenticClaudeClient))
}

func findsNatively[M adk.MessageType](adapters ...toolsearch.Adapter) func(*testing.T, bool) {
	return func(t *testing.T, streaming bool) {
		matters, _ := graded(t)
		for _, adapter := range adapters {
			search, err := toolsearch.NewTyped[M](context.Background(), &toolsearch.Config{
				Source: skills.NewSource(&shelf{matters: matters}, skills.Options{}), NewIndex: skills.Index(index.BM25),
				UseModelToolSearch: true, Native: adapter, CatalogLimit: 10,
			})
			require.NoError(t, err)
			turns := []adktest.Turn{adktest.Do(adktest.ToolCall{ID: "2", Name: "skill__pdf", Args: `{}`}), adktest.Say("done")}
			hosted := adapter == toolsearch.ClaudeHosted || adapter == toolsearch.OpenAIHosted
			if !hosted {
				turns = slices.Insert(turns, 0, adktest.Do(adktest.ToolCall{ID: "1", Name: "tool_search", Args: `{"query":"Fill in this PDF form with the customer's address"}`}))
			}
			m := adktest.Script[M](turns...)
			out := adktest.Agent[M]{Model: m, Handlers: adktest.Handlers(search), Streaming: streaming}.Run(context.Background(), []M{adktest.User[M]("please")})
			require.NoError(t, out.Err)
			first := m.Wires()[0]
			require.NotContains(t, first.ToolNames, "skill__pdf", adapter)
			require.Equal(t, hosted, first.ToolSearch == nil, adapter)
			if hosted {
				require.Len(t, first.Deferred, len(matters), adapter)
			}
			var read string
			for _, msg := range m.Wires()[len(turns)-1].Messages {
				for _, r := range adktest.Results(msg) {
					if r.ID == "2" {
						read = r.Args
					}
				}
			}
			require.Contains(t, read, "First, open the pdf.", adapter)
		}
	}
}

// What is wrong with a list is told shortly, and costs only the skills that it is wrong with.
func TestNewSource_ErrorNamesSkippedSkills(t *testing.T) {
	s := &shelf{matters: []skill.FrontMatter{{Name: "good", Description: "d"}, {Name: "huge", Description: strings.Repeat("x", 20<<20)}, {Name: strings.Repeat("n", 300<<10)}}}
	for range 100_000 {
		s.matters = append(s.matters, skill.FrontMatter{Name: "good"}, skill.FrontMatter{})
	}
	set, err := skills.NewSource(s, skills.Options{}).Tools(context.Background())
	require.Len(t, slices.Collect(set.All()), 1)
	require.ErrorContains(t, err, "100000 without a name")
	require.ErrorContains(t, err, "more than 256 KB: huge, nnn")
	require.ErrorContains(t, err, "listed twice: good, ")
	require.ErrorContains(t, err, "and 99990 more")
	require.Less(t, len(err.Error()), 1000)
}

// An error of Run is never an answer of its own, whatever stands beside it and whether the skill
// uses tools.
func TestRun_ErrorIsTheOnlyAnswer(t *testing.T) {
	for _, uses := range [][]string{nil, {"wc"}} {
		fails := errors.New("the agent broke")
		o := skills.Options{
			Tools: func(skill.FrontMatter) []string { return uses },
			Run:   func(context.Context, string) (string, error) { return "a half answer", fails },
		}
		set, err := skills.NewSource(&shelf{matters: []skill.FrontMatter{{Name: "count", Description: "d"}}}, o).Tools(context.Background())
		require.NoError(t, err)
		for found := range set.All() {
			answer, err := found.(tool.InvokableTool).InvokableRun(context.Background(), `{}`)
			require.NoError(t, err)
			require.Equal(t, "The skill count cannot be read: the agent broke. Search for another one, or go on without a skill.", answer)
		}
		o.Run = func(context.Context, string) (string, error) { return "counted", nil }
		set, err = skills.NewSource(&shelf{matters: []skill.FrontMatter{{Name: "count", Description: "d"}}}, o).Tools(context.Background())
		require.NoError(t, err)
		for found := range set.All() {
			answer, err := found.(tool.InvokableTool).InvokableRun(context.Background(), `{}`)
			require.NoError(t, err)
			if uses == nil {
				require.Equal(t, "counted", answer)
			} else {
				require.True(t, strings.HasPrefix(answer, "counted\nTools that it uses: wc. "), answer)
			}
		}
	}
	broken := skills.NewSource(&shelf{}, skills.Options{Key: func(context.Context) (string, error) { return "somebody", errors.New("no key") }})
	set, err := broken.Tools(context.Background())
	require.ErrorContains(t, err, "no key")
	require.Empty(t, slices.Collect(set.All()))
}
