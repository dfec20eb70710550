// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch_test

// What a model is told of tools that come and go.

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/adktest"
	"github.com/einolean/einolean/internal/dev/race"
	"github.com/einolean/einolean/toolsearch"
)

const (
	listOpen    = "<available-deferred-tools>\n"
	changesOpen = "<available-deferred-tools-changed>\n"
)

// announcement is what the messages of a request say of the hidden tools.
type announcement struct {
	lists, changes int
	bytes          int      // of the changes
	list           string   // the list itself
	names          []string // by all of them
	counted        bool     // some names are counted only
}

// fold reads the list and its changes from a request, in either language.
func fold[M adk.MessageType](w adktest.Wire[M]) (a announcement) {
	for _, m := range w.Messages {
		text := adktest.Text(m)
		switch {
		case strings.HasPrefix(text, listOpen):
			a.lists, a.changes, a.bytes, a.list = a.lists+1, 0, 0, text
			a.names = strings.Split(strings.TrimSuffix(strings.TrimPrefix(text, listOpen), "\n</available-deferred-tools>"), "\n")
			if last := len(a.names) - 1; strings.HasPrefix(a.names[last], "(") || strings.HasPrefix(a.names[last], "（") {
				a.names, a.counted = a.names[:last], true
			}
		case strings.HasPrefix(text, changesOpen):
			a.changes, a.bytes = a.changes+1, a.bytes+len(text)
			for line := range strings.SplitSeq(strings.TrimSuffix(strings.TrimPrefix(text, changesOpen), "\n</available-deferred-tools-changed>"), "\n") {
				a.apply(line)
			}
		}
	}
	return a
}

func (a *announcement) apply(line string) {
	for _, label := range []string{"added: ", "新增："} {
		if names, ok := strings.CutPrefix(line, label); ok {
			a.names = append(a.names, strings.Split(names, ", ")...)
			return
		}
	}
	for _, label := range []string{"removed: ", "移除："} {
		if names, ok := strings.CutPrefix(line, label); ok {
			gone := strings.Split(names, ", ")
			a.names = slices.DeleteFunc(slices.Clone(a.names), func(name string) bool { return slices.Contains(gone, name) })
			return
		}
	}
	a.counted = true
}

func TestChangesOfTheListAreToldAtTheEnd(t *testing.T) {
	everywhere(t, toldAtTheEnd[*schema.Message], toldAtTheEnd[*schema.AgenticMessage])
}

func toldAtTheEnd[M adk.MessageType](t *testing.T, streaming bool) {
	for _, c := range []struct {
		language adk.Language
		change   string
	}{
		{adk.LanguageEnglish, "user: <available-deferred-tools-changed>\nadded: jira__new, jira__a\\u002cb\nremoved: jira__old\n</available-deferred-tools-changed>"},
		{adk.LanguageChinese, "user: <available-deferred-tools-changed>\n新增：jira__new, jira__a\\u002cb\n移除：jira__old\n</available-deferred-tools-changed>"},
	} {
		require.NoError(t, adk.SetLanguage(c.language))
		s, source := liveScene[M](t, streaming)
		source.have(formed(0, "jira__old"), formed(0, "jira__unused"), formed(0, "jira__stays"))
		s.mine = []tool.BaseTool{
			action("update", func() {
				source.have(formed(0, "jira__stays"), formed(0, "jira__new"), formed(0, "jira__a,b"), formed(0, "jira__unused"))
			}),
			action("lose", func() { source.have(formed(0, "jira__stays"), formed(0, "jira__new"), formed(0, "jira__a,b")) }),
		}
		p := s.begin(do("1", "tool_search", `{"query":"select:jira__old"}`), do("2", "update", "{}"), do("3", "own", "{}"), do("4", "lose", "{}"))
		sent := p.wires[2].MessagesDump
		require.Equal(t, c.change, sent[len(sent)-1])
		for i := range p.wires[1:] {
			require.Equal(t, p.wires[i].MessagesDump, p.wires[i+1].MessagesDump[:len(p.wires[i].MessagesDump)], "what was sent stays as it was")
		}
		require.Equal(t, 1, fold(p.wires[4]).changes, "nobody uses the tool that went")
	}
	require.NoError(t, adk.SetLanguage(adk.LanguageEnglish))
}

// Over random changes: what the messages say are the names that there are, except those that
// are counted and those that went unused; earlier messages stay as they are unless the list
// is rewritten; what the changes take is bounded; another process that is handed the
// messages changes nothing in them.
//
//claim:mcp-01
func TestTheListAndItsChangesDescribeTheCurrentTools(t *testing.T) {
	everywhere(t, toldLaw[*schema.Message], toldLaw[*schema.AgenticMessage])
}

func toldLaw[M adk.MessageType](t *testing.T, streaming bool) {
	for seed := range uint64(race.Cases(30)) {
		random := rand.New(rand.NewPCG(seed, 7))
		s, source := liveScene[M](t, streaming)
		s.cfg.CatalogLimit = []int{0, 0, 5, 40}[random.IntN(4)]
		most, denied := []int{8, 60, 200}[random.IntN(3)], map[string]bool{}
		if seed%5 == 4 {
			s.cfg.Filter = func(_ context.Context, req toolsearch.FilterRequest) (bool, error) {
				return !denied[req.Tool.Name], nil
			}
		}
		names, had := []string{}, map[string]bool{}
		change := func() {
			if random.IntN(3) == 0 {
				return
			}
			names = nil
			var tools []tool.BaseTool
			share := 1 + random.IntN(9)
			for i := range most {
				name := fmt.Sprintf("s%d__t%d", i%3, i)
				if i%10 == int(seed)%10 && random.IntN(2) == 0 || i%10 < share && i%10 != int(seed)%10 {
					names, tools, had[name] = append(names, name), append(tools, formed(0, name)), true
				}
			}
			if s.cfg.Filter != nil {
				clear(denied)
				denied[fmt.Sprintf("s0__t%d", 3*random.IntN(4))] = true
			}
			source.have(tools...)
		}
		change()
		s.mine = []tool.BaseTool{action("change", change)}
		m := &adktest.Model[M]{}
		var before adktest.Wire[M]
		m.Respond = func(n int, w adktest.Wire[M]) adktest.Turn {
			told, then := fold(w), fold(before)
			may := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return denied[name] })
			where := fmt.Sprintf("seed %d, call %d:\n%s", seed, n, strings.Join(w.MessagesDump, "\n"))
			require.Equal(t, min(1, len(may)), min(1, told.lists), where)
			require.LessOrEqual(t, told.lists, 1, where)
			for _, name := range told.names {
				require.True(t, slices.Contains(may, name) || had[name] && !slices.Contains(names, name), "%s is named\n%s", name, where)
			}
			if !told.counted && len(may) > 0 {
				require.Subset(t, told.names, may, where)
			}
			if limit := s.cfg.CatalogLimit; limit > 0 {
				require.LessOrEqual(t, len(told.names), limit, where)
			}
			require.LessOrEqual(t, told.changes, 32, where)
			require.LessOrEqual(t, told.bytes, max(1000, len(told.list)/4), where)
			if told.list == then.list && told.changes >= then.changes && n > 0 {
				require.Equal(t, before.MessagesDump, w.MessagesDump[:len(before.MessagesDump)], where)
			}
			for _, name := range w.ToolNames[3:] {
				require.Contains(t, may, name, where)
			}
			before = w
			switch id := fmt.Sprint(n); {
			case n == 60:
				return adktest.Say("done")
			case n%3 == 1 && len(may) > 0:
				return adktest.Do(searchFor(id, "select:"+may[random.IntN(len(may))]))
			default:
				return do(id, "change", "{}")
			}
		}
		agent, _ := s.agent()
		agent.Model, agent.Max = m, 70
		out := agent.Run(context.Background(), []M{adktest.User[M]("please")})
		require.NoError(t, out.Err, "seed %d", seed)
		if told := fold(before); s.cfg.Filter == nil && (s.cfg.CatalogLimit == 0 && !told.counted || told.changes == 0) {
			again := s.play(before.Messages).wires[0]
			require.Equal(t, before.MessagesDump, again.MessagesDump[:len(before.MessagesDump)], "seed %d", seed)
		}
	}
}
