// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package toolsearcheval_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/golden"
	"github.com/einolean/einolean/internal/dev/race"
	"github.com/einolean/einolean/toolsearch/index"
	"github.com/einolean/einolean/toolsearch/toolsearcheval"
)

// spoken is a tool that is described, and asked for, in several languages.
type spoken struct {
	Name, Half, Catalogue string
	Descriptions          map[string]string
	Requests              map[string][]string
}

// strangers are pairs of catalogues of which none serves the requests of the other.
var strangers = [][2]string{
	{"everyday, first", "everyday, second"}, {"clinic and warehouse", "analytics and school"}, {"garage and network", "rental and newsroom"},
}

// talk surrounds two requests that are made at once, by the half of the catalogue and the language.
var talk = map[string]map[string][2]string{
	"dev": {
		"en": {"Good morning! I've been asked about this twice today and I'm in a bit of a hurry, so could you help me out? First, ", ". And after that, if it isn't too much trouble, "},
		"zh": {"早上好！今天已经有人问了我两次这件事，我有点赶时间，麻烦你帮帮我。首先，", "。然后，如果不太麻烦的话，"},
		"ja": {"おはようございます。今日はもう二回聞かれていて、少し急いでいます。まず、", "。そのあと、できれば、"},
		"de": {"Guten Morgen! Ich bin heute schon zweimal danach gefragt worden und habe es etwas eilig. Zuerst: ", ". Und danach, wenn es keine Mühe macht: "},
	},
	"heldout": {
		"en": {"Hi there, hope you had a good weekend. They want this done before noon, and frankly I don't know where to begin. So, ", ". Once that's out of the way, and only if you have a moment, "},
		"zh": {"你好，周末过得怎么样？他们要我中午以前弄完，说实话我都不知道从哪儿下手。这样吧，", "。弄完这个要是还有空的话，"},
		"de": {"Hallo, ich hoffe, das Wochenende war schön. Das alles soll vor Mittag fertig sein, und ehrlich gesagt weiß ich nicht, wo ich anfangen soll. Also: ", ". Und wenn das geschafft ist und noch ein Moment bleibt: "},
	},
}

// heard is how requests in one language fare with tools in another.
type heard struct {
	queries, recall1, recall5, ndcg float64
	right, long, foreign            refusals
}

// refusals count answers that are less sure than toolsearch.Recommended asks for.
type refusals struct{ refused, all float64 }

func (r *refusals) add(cases []toolsearcheval.CaseResult, counts func(toolsearcheval.CaseResult) bool) {
	for _, c := range cases {
		if !counts(c) {
			continue
		}
		r.all++
		if len(c.Results) == 0 || c.Results[0].Confidence < .05 {
			r.refused++
		}
	}
}

func (r refusals) share() float64 { return r.refused / max(1, r.all) }

func isRight(c toolsearcheval.CaseResult) bool { return c.Rank == 1 }

func always(toolsearcheval.CaseResult) bool { return true }

// ask asks the tools of a catalogue, described in one language, in another one.
func (h *heard) ask(t *testing.T, all []spoken, catalogue, said, told string) {
	var tools []*schema.ToolInfo
	var own, long, foreign []toolsearcheval.Case
	before := spoken{}
	for _, s := range all {
		if s.Catalogue != catalogue {
			if slices.Contains(strangers, [2]string{catalogue, s.Catalogue}) || slices.Contains(strangers, [2]string{s.Catalogue, catalogue}) {
				foreign = append(foreign, cases(s.Requests[said])...)
			}
			continue
		}
		tools = append(tools, &schema.ToolInfo{Name: s.Name, Desc: s.Descriptions[told]})
		own = append(own, cases(s.Requests[said], s.Name)...)
		if before.Name != "" {
			around := talk[s.Half][said]
			text := around[0] + before.Requests[said][0] + around[1] + s.Requests[said][0]
			long = append(long, cases([]string{text}, before.Name, s.Name)...)
		}
		before = s
	}
	h.hear(t, tools, own, long, foreign)
}

// hear asks tools their own requests, long ones among them, and those that no tool serves.
func (h *heard) hear(t *testing.T, tools []*schema.ToolInfo, own, long, foreign []toolsearcheval.Case) {
	ask := func(cases []toolsearcheval.Case) *toolsearcheval.Report {
		r, err := toolsearcheval.Evaluate(t.Context(), index.BM25, tools, cases)
		require.NoError(t, err)
		return r
	}
	r := ask(own)
	n := float64(r.Queries)
	h.queries += n
	h.recall1 += n * r.Recall1
	h.recall5 += n * r.Recall5
	h.ndcg += n * r.NDCG10
	h.right.add(r.Cases, isRight)
	h.long.add(ask(long).Cases, isRight)
	h.foreign.add(ask(foreign).Cases, always)
}

func cases(requests []string, relevant ...string) (all []toolsearcheval.Case) {
	for _, text := range requests {
		all = append(all, toolsearcheval.Case{Query: text, Relevant: relevant})
	}
	return all
}

// linesOf reads a file of testdata that has a value in each line.
func linesOf[T any](t *testing.T, file string) (all []T) {
	return linesIn[T](t, filepath.Join("testdata", file))
}

// linesIn reads any file that has a value in each line.
func linesIn[T any](t *testing.T, path string) (all []T) {
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	for lines := json.NewDecoder(bytes.NewReader(text)); lines.More(); {
		var one T
		require.NoError(t, lines.Decode(&one))
		all = append(all, one)
	}
	return all
}

var languageNames = map[string]string{"en": "English", "zh": "Chinese", "de": "German", "ja": "Japanese"}

// spokenPairs are languages of requests, and of the tools that are asked.
var spokenPairs = [][2]string{{"en", "en"}, {"zh", "zh"}, {"de", "de"}, {"ja", "ja"}, {"zh", "en"}, {"en", "zh"}, {"en", "de"}, {"zh", "ja"}}

var spokenHead = fmt.Sprintf("%-11s%-10s%7s%10s%6s%9s%18s%14s%16s\n",
	"requests", "tools", "asked", "recall@1", "@5", "nDCG@10", "refused: right", "right, long", "foreign")

// line is the row of two languages, if anything was asked.
func (h *heard) line(said, told string) string {
	n := h.queries
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%-11s%-10s%7.0f%10.2f%6.2f%9.2f%18s%14s%16s\n", languageNames[said], languageNames[told], n,
		h.recall1/n, h.recall5/n, h.ndcg/n, h.right, h.long, h.foreign)
}

// spokenTable is what each pair of languages gives in one half.
func spokenTable(t *testing.T, all []spoken, half string) string {
	var b strings.Builder
	b.WriteString(spokenHead)
	for _, pair := range spokenPairs {
		said, told := pair[0], pair[1]
		var h heard
		var done []string
		for _, s := range all {
			if s.Half == half && !slices.Contains(done, s.Catalogue) && s.Descriptions[told] != "" && s.Requests[said] != nil {
				done = append(done, s.Catalogue)
				h.ask(t, all, s.Catalogue, said, told)
			}
		}
		b.WriteString(h.line(said, told))
	}
	return b.String()
}

// A user need not speak the language in which tools are described. The word lists and the confidence
// are older than the catalogues, but for some thirty words of talk and seventy Chinese ones.
func TestLanguages_MatchGolden(t *testing.T) {
	race.Skip(t, "asks tools in every language")
	all := linesOf[spoken](t, "languages.jsonl")
	golden.Check(t, filepath.Join("testdata", "golden", "languages.txt"),
		"To tune on (dev)\n\n"+spokenTable(t, all, "dev")+"\nTo judge by (heldout)\n\n"+spokenTable(t, all, "heldout"))
}

func (r refusals) String() string { return fmt.Sprintf("%.1f %% of %.0f", 100*r.share(), r.all) }
