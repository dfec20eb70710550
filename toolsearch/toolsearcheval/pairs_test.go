// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package toolsearcheval_test

// Ranking and confidence by pair of languages: that of the request, and that of the tools.

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/toolsearch"
	"github.com/einolean/einolean/toolsearch/index"
	"github.com/einolean/einolean/toolsearch/toolsearcheval"
)

// halfVariable chooses the half of each set that the table of pairs is of: "dev", to tune on, if it is empty, or "heldout".
const halfVariable = "EINOLEAN_HALF"

// catalogRequest is a graded request of zh_over_en, no_tool and operations, whose tools are those of other catalogs.
type catalogRequest struct {
	toolsearcheval.Case
	English  string `json:"en"`
	Catalog  string
	Catalogs []string
	Op       string
}

// in returns the request in a language: as written, in English, or both.
func (r catalogRequest) in(language string) toolsearcheval.Case {
	c := r.Case
	switch language {
	case "en":
		c.Query = r.English
	case "mixed":
		c.Query = r.English + " " + r.Query
	}
	return c
}

// pairSet is requests in one language over the tools of one catalog in one.
type pairSet struct {
	name, pair string
	tools      []*schema.ToolInfo
	cases      []toolsearcheval.Case
	outOfScope []toolsearcheval.Case // requests that no tool serves
}

// pairResult is how the requests of a set, or of several, fare.
type pairResult struct {
	toolsearcheval.Measures
	right, outOfScope []float64 // confidence in the first answer, if it is right, and to out-of-scope requests
	cases             []toolsearcheval.CaseResult
}

func (r *pairResult) add(o pairResult) {
	n, m := float64(r.Queries), float64(o.Queries)
	mean := func(a, b float64) float64 { return (a*n + b*m) / max(1, n+m) }
	r.Recall1, r.Recall5, r.NDCG10 = mean(r.Recall1, o.Recall1), mean(r.Recall5, o.Recall5), mean(r.NDCG10, o.NDCG10)
	r.Queries += o.Queries
	r.right, r.outOfScope = append(r.right, o.right...), append(r.outOfScope, o.outOfScope...)
	r.cases = append(r.cases, o.cases...)
}

// printCutoffs prints what a relative cut-off leaves of the first five results: how many there are, and how many of the
// requests whose first relevant tool is among the five still get it.
func printCutoffs(name string, cases []toolsearcheval.CaseResult) {
	for _, share := range []float64{0, .2, .25, .3, .35, .4, .5, .6, .7} {
		results, kept, found := 0.0, 0.0, 0.0
		for _, c := range cases {
			best := 0.0
			first := c.Results[:min(5, len(c.Results))]
			for _, x := range first {
				best = max(best, x.Score)
			}
			for i, x := range first {
				if x.Score < share*best {
					continue
				}
				results++
				if i == c.Rank-1 {
					kept++
				}
			}
			if c.Rank >= 1 && c.Rank <= 5 {
				found++
			}
		}
		fmt.Printf("%-8s relative cut-off %.2f: %.2f results, keeps %.3f of the relevant\n", name, share, results/float64(len(cases)), kept/max(1, found))
	}
}

// shareBelow is the share of the confidences that toolsearch.Recommended holds back.
func shareBelow(confidences []float64) float64 {
	below := 0.0
	for _, c := range confidences {
		if c < toolsearch.Recommended(nil).MinConfidence {
			below++
		}
	}
	return below / max(1, float64(len(confidences)))
}

// areaUnderCurve is the chance that a right answer has a higher confidence than one to an out-of-scope request.
func areaUnderCurve(right, outOfScope []float64) float64 {
	wins := 0.0
	for _, r := range right {
		for _, o := range outOfScope {
			switch {
			case r > o:
				wins++
			case r == o:
				wins += .5
			}
		}
	}
	return wins / max(1, float64(len(right)*len(outOfScope)))
}

func (r pairResult) line(name, pair string) string {
	refused := []any{"-", "-", "-"}
	if len(r.right) > 0 {
		refused[0] = fmt.Sprintf("%.1f %%", 100*shareBelow(r.right))
	}
	if len(r.outOfScope) > 0 {
		refused[1] = fmt.Sprintf("%.3f", shareBelow(r.outOfScope))
		refused[2] = fmt.Sprintf("%.3f", areaUnderCurve(r.right, r.outOfScope))
	}
	return fmt.Sprintf("%-28s%-7s%8d%10.3f%8.3f%9.3f%18s%16s%7s%14d\n", name, pair, r.Queries, r.Recall1, r.Recall5, r.NDCG10,
		refused[0], refused[1], refused[2], len(r.outOfScope))
}

func (s pairSet) run(t *testing.T) pairResult {
	var r pairResult
	best := func(c toolsearcheval.CaseResult) (most float64) {
		for _, x := range c.Results[:min(5, len(c.Results))] {
			most = max(most, x.Confidence)
		}
		return most
	}
	if len(s.cases) > 0 {
		report, err := toolsearcheval.Evaluate(t.Context(), index.BM25, s.tools, s.cases)
		require.NoError(t, err)
		r.Measures, r.cases = report.Measures, report.Cases
		for _, c := range report.Cases {
			if c.Rank == 1 {
				r.right = append(r.right, best(c))
			}
		}
	}
	if len(s.outOfScope) > 0 {
		report, err := toolsearcheval.Evaluate(t.Context(), index.BM25, s.tools, s.outOfScope)
		require.NoError(t, err)
		for _, c := range report.Cases {
			r.outOfScope = append(r.outOfScope, best(c))
		}
	}
	return r
}

// chosenHalf is the half of cases that the table is of.
func chosenHalf(cases []toolsearcheval.Case) []toolsearcheval.Case {
	dev, heldout := toolsearcheval.Split(cases)
	if os.Getenv(halfVariable) == "heldout" {
		return heldout
	}
	return dev
}

func hasHan(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool { return unicode.Is(unicode.Han, r) })
}

func languageOf(text string) string {
	if hasHan(text) {
		return "zh"
	}
	return "en"
}

// byPair splits cases by the languages of the request and of the first relevant tool.
func byPair(name string, tools []*schema.ToolInfo, cases []toolsearcheval.Case) (sets []pairSet) {
	described := map[string]string{}
	for _, tool := range tools {
		described[tool.Name] = languageOf(tool.Desc)
	}
	pairs := map[string][]toolsearcheval.Case{}
	for _, c := range cases {
		if len(c.Relevant) > 0 {
			pair := languageOf(c.Query) + "-" + described[c.Relevant[0]]
			pairs[pair] = append(pairs[pair], c)
		}
	}
	for _, pair := range slices.Sorted(maps.Keys(pairs)) {
		sets = append(sets, pairSet{name: name, pair: pair, tools: tools, cases: pairs[pair]})
	}
	return sets
}

// markedTools returns tools with what their servers say about what they change, as package mcptools passes it on.
func markedTools(t *testing.T, file string) []*schema.ToolInfo {
	type line struct {
		Name  string
		Hints *struct{ ReadOnly, Destructive bool }
	}
	hints := map[string]line{}
	for _, l := range linesIn[line](t, file) {
		hints[l.Name] = l
	}
	tools, err := toolsearcheval.LoadTools(file)
	require.NoError(t, err)
	for _, tool := range tools {
		if h := hints[tool.Name].Hints; h != nil {
			tool.Extra = map[string]any{"mcp.read_only": h.ReadOnly, "mcp.destructive": h.Destructive}
		}
	}
	return tools
}

// catalogRequests are those of a set that a directory of catalogs need not have.
func catalogRequests(t *testing.T, dir, set string) []catalogRequest {
	file := filepath.Join(dir, set, "requests.jsonl")
	if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return linesIn[catalogRequest](t, file)
}

// skipWithoutServers skips a test that needs certain public catalogs, if the directory has others.
func skipWithoutServers(t *testing.T, dir string) {
	if _, err := os.Stat(filepath.Join(dir, "mcp_servers")); err != nil {
		t.Skipf("%s has no catalog mcp_servers", dir)
	}
}

// publicSets are the sets of a directory of catalogs.
func publicSets(t *testing.T, dir string) (sets []pairSet) {
	outOfScope, translated := catalogRequests(t, dir, "no_tool"), catalogRequests(t, dir, "zh_over_en")
	unserved := func(catalog, language string) (cases []toolsearcheval.Case) {
		for _, r := range outOfScope {
			if slices.Contains(r.Catalogs, catalog) {
				cases = append(cases, r.in(language))
			}
		}
		return chosenHalf(cases)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*", "tools.jsonl"))
	require.NoError(t, err)
	for _, file := range files {
		name, tools := filepath.Base(filepath.Dir(file)), markedTools(t, file)
		for _, r := range queriesOf(t, filepath.Dir(file), tools) {
			for _, set := range byPair(name+" "+r.kind, tools, chosenHalf(r.cases)) {
				if r.kind != "llm" && set.pair == "en-en" && (name == "mcp_servers" || r.kind == "requests") {
					set.outOfScope = unserved(name, "en")
				}
				sets = append(sets, set)
			}
		}
		for _, s := range []struct{ language, pair string }{{"zh", "zh-en"}, {"en", "en-en"}, {"mixed", "mixed"}} {
			set := pairSet{name: "zh_over_en " + name, pair: s.pair, tools: tools}
			for _, r := range translated {
				if r.Catalog == name {
					set.cases = append(set.cases, r.in(s.language))
				}
			}
			if set.cases = chosenHalf(set.cases); len(set.cases) > 0 {
				if s.language != "en" { // the English ones are asked above
					set.outOfScope = unserved(name, s.language)
				}
				sets = append(sets, set)
			}
		}
	}
	return sets
}

// spokenSets are the project's own requests in several languages to public catalogs, and to terse ones.
func spokenSets(t *testing.T, dir string) (sets []pairSet) {
	chosen := cmp.Or(os.Getenv(halfVariable), "dev")
	for _, pair := range neededPairs {
		said, told, catalog := pair[0], pair[1], pair[2]
		set := pairSet{name: "spoken " + catalog, pair: said + "-" + told, tools: half(t, dir, catalog, chosen)}
		for _, n := range linesOf[need](t, "spoken.jsonl") {
			switch {
			case n.Half != chosen || n.Said[said] == "":
			case n.Tools == catalog:
				set.cases = append(set.cases, n.asCase(said))
			case n.Foreign == catalog:
				set.outOfScope = append(set.outOfScope, toolsearcheval.Case{Query: n.Said[said]})
			}
		}
		sets = append(sets, set)
	}
	return append(sets, terseSets(t, chosen)...)
}

func terseSets(t *testing.T, chosen string) (sets []pairSet) {
	all := linesOf[spoken](t, "languages.jsonl")
	for _, pair := range spokenPairs {
		said, told := pair[0], pair[1]
		byCatalog := map[string]*pairSet{}
		for _, s := range all {
			if s.Half != chosen || s.Descriptions[told] == "" || s.Requests[said] == nil {
				continue
			}
			set := byCatalog[s.Catalogue]
			if set == nil {
				set = &pairSet{name: "terse " + s.Catalogue, pair: said + "-" + told}
				byCatalog[s.Catalogue] = set
			}
			set.tools = append(set.tools, &schema.ToolInfo{Name: s.Name, Desc: s.Descriptions[told]})
			set.cases = append(set.cases, cases(s.Requests[said], s.Name)...)
		}
		for _, s := range all {
			for _, strange := range strangers {
				for i, catalog := range strange {
					if set := byCatalog[catalog]; set != nil && s.Catalogue == strange[1-i] {
						set.outOfScope = append(set.outOfScope, cases(s.Requests[said])...)
					}
				}
			}
		}
		for _, catalog := range slices.Sorted(maps.Keys(byCatalog)) {
			sets = append(sets, *byCatalog[catalog])
		}
	}
	return sets
}

// printWrongOperations prints how many requests to read get a tool first that updates or deletes.
func printWrongOperations(t *testing.T, dir string) {
	type tool struct {
		Name, Op string
		Also     any
		Hints    *struct{ ReadOnly, Destructive bool }
	}
	writes := map[string]bool{}
	for _, w := range linesIn[tool](t, filepath.Join(dir, "operations", "writes.jsonl")) {
		writes[w.Name] = (w.Op == "update" || w.Op == "delete") && w.Also == nil
	}
	for _, w := range linesIn[tool](t, filepath.Join(dir, "cloud", "tools.jsonl")) {
		writes[w.Name] = w.Hints != nil && !w.Hints.ReadOnly && w.Hints.Destructive
	}
	for _, set := range []struct{ name, language string }{{"operations", ""}, {"zh_over_en", ""}, {"zh_over_en", "en"}} {
		byCatalog := map[string][]toolsearcheval.Case{}
		reads := 0
		for _, r := range linesIn[catalogRequest](t, filepath.Join(dir, set.name, "requests.jsonl")) {
			if c := chosenHalf([]toolsearcheval.Case{r.in(set.language)}); r.Op == "read" && len(c) > 0 {
				byCatalog[r.Catalog] = append(byCatalog[r.Catalog], c...)
				reads++
			}
		}
		var wrong []string
		for _, catalog := range slices.Sorted(maps.Keys(byCatalog)) {
			report, err := toolsearcheval.Evaluate(t.Context(), index.BM25, markedTools(t, filepath.Join(dir, catalog, "tools.jsonl")), byCatalog[catalog])
			require.NoError(t, err)
			for _, c := range report.Cases {
				if len(c.Results) > 0 && writes[c.Results[0].Name] && c.Rank != 1 {
					wrong = append(wrong, fmt.Sprintf("%s (%s)", c.Case.ID, c.Results[0].Name))
				}
			}
		}
		fmt.Printf("%s %s: %d of %d requests to read get a tool first that updates or deletes: %s\n", set.name, set.language, len(wrong), reads, strings.Join(wrong, ", "))
	}
}

func TestLanguagePairs_PrintTable(t *testing.T) {
	dir, set := os.LookupEnv(dataVariable)
	if !set || dir == "" {
		t.Skipf("set %s to a directory of catalogs; `make recall` does", dataVariable)
	}
	skipWithoutServers(t, dir)
	own := ownSet(t)
	sets := byPair("own", own.tools, chosenHalf(own.cases()))
	sets = append(append(sets, publicSets(t, dir)...), spokenSets(t, dir)...)
	pairs := map[string]*pairResult{}
	fmt.Printf("%-28s%-7s%8s%10s%8s%9s%18s%16s%7s%14s\n", "set", "pair", "requests", "recall@1", "@5", "nDCG@10", "false rejections", "rejection rate", "AUC", "out of scope")
	for _, s := range sets {
		r := s.run(t)
		fmt.Print(r.line(s.name, s.pair))
		if pairs[s.pair] == nil {
			pairs[s.pair] = &pairResult{}
		}
		if len(r.outOfScope) == 0 {
			r.right = nil // counted where the two can be compared
		}
		pairs[s.pair].add(r)
	}
	fmt.Println()
	for _, pair := range slices.Sorted(maps.Keys(pairs)) {
		fmt.Print(pairs[pair].line("all", pair))
	}
	fmt.Println()
	for _, pair := range []string{"en-en", "zh-en", "zh-zh"} {
		printCutoffs(pair, pairs[pair].cases)
	}
	printWrongOperations(t, dir)
}
