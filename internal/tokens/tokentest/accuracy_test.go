// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

// Package tokentest compares the estimate of package tokens with a tokenizer.
package tokentest

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"slices"
	"strings"
	"testing"

	_ "github.com/cloudwego/eino/schema" // its source is read
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/replay"
	"github.com/einolean/einolean/internal/tokens"
	"github.com/einolean/einolean/internal/tokens/tokentest/corpus"
)

// module is the directory of a module that this one requires.
func module(t *testing.T, path string) string {
	t.Helper()
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", path).CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.NotEmpty(t, strings.TrimSpace(string(out)), "the module %s is not here", path)
	return strings.TrimSpace(string(out))
}

// unseen are texts of sources that the weights were not fitted on.
func unseen(t *testing.T) (out []corpus.Doc) {
	eino, sonic, testify := module(t, "github.com/cloudwego/eino"), module(t, "github.com/bytedance/sonic"), module(t, "github.com/stretchr/testify")
	for _, f := range []corpus.Files{
		{Kind: "go", Root: eino, Endings: []string{".go"}},
		{Kind: "go", Root: sonic, Endings: []string{".go"}},
		{Kind: "prose", Root: eino, Endings: []string{"README.md", "CONTRIBUTING.md"}},
		{Kind: "prose", Root: sonic, Endings: []string{"README.md", "INTRODUCTION.md", "CONTRIBUTING.md"}},
		{Kind: "chinese", Root: eino, Endings: []string{"zh_CN.md"}},
		{Kind: "chinese", Root: sonic, Endings: []string{"ZH_CN.md"}},
		{Kind: "c", Root: sonic, Endings: []string{".c", ".h"}},
		{Kind: "python", Root: sonic, Endings: []string{".py"}},
		{Kind: "prose", Root: testify, Endings: []string{".md"}},
	} {
		f.Most, f.Each = 300_000, 8_000
		out = append(out, f.Load()...)
	}
	r := rand.New(rand.NewPCG(7, 7))
	for i := range 240 {
		m := outputs[i%len(outputs)]
		out = append(out, corpus.Doc{Kind: m.kind, Name: fmt.Sprint(i), Text: m.make(r)})
	}
	return out
}

// outputs are made in other ways than what the weights were fitted on.
var outputs = []struct {
	kind string
	make func(r *rand.Rand) string
}{
	{"page", page}, {"stack", stack}, {"listing", listing}, {"records", records}, {"xml", markup}, {"escapes", escapes},
}

func lines(r *rand.Rand, f func(i int) string) string {
	var b strings.Builder
	for i := range 40 + r.IntN(80) {
		b.WriteString(f(i))
		b.WriteByte('\n')
	}
	return b.String()
}

var nouns = strings.Fields("account invoice delivery customer contract settings report article comment payment history product basket address support language profile message calendar project")

func word(r *rand.Rand) string { return nouns[r.IntN(len(nouns))] }

func title(r *rand.Rand) string {
	w := word(r)
	return strings.ToUpper(w[:1]) + w[1:] + " " + word(r)
}

// page is what a browser tool shows of a page: its tree of roles and names.
func page(r *rand.Rand) string {
	roles := []string{"link", "button", "heading", "listitem", "img", "textbox", "cell", "generic"}
	return lines(r, func(i int) string {
		return fmt.Sprintf("%s- %s %q [ref=e%d]%s", strings.Repeat("  ", 1+i%6), roles[r.IntN(len(roles))], title(r), i+r.IntN(900),
			[]string{"", ":", " [cursor=pointer]:", " [level=2]"}[r.IntN(4)])
	})
}

func stack(r *rand.Rand) string {
	return lines(r, func(int) string {
		return fmt.Sprintf("\tat com.example.%s.%sService.%s(%sService.java:%d)", word(r), strings.ReplaceAll(title(r), " ", ""), word(r), title(r)[:5], r.IntN(900))
	})
}

func listing(r *rand.Rand) string {
	return lines(r, func(int) string {
		return fmt.Sprintf("-rw-r--r-- 1 root root %8d Mar %2d %02d:%02d %s_%s.%s", r.IntN(9_000_000), 1+r.IntN(28), r.IntN(24), r.IntN(60), word(r), word(r), []string{"go", "txt", "tar.gz", "json"}[r.IntN(4)])
	})
}

func records(r *rand.Rand) string {
	return lines(r, func(i int) string {
		text, _ := json.Marshal(map[string]any{"orderId": fmt.Sprintf("ORD-%06d", r.IntN(1_000_000)), "status": word(r), "customer": map[string]any{"name": title(r), "email": word(r) + fmt.Sprint(i) + "@example.com"},
			"total": float64(r.IntN(100_000)) / 100, "items": r.IntN(9), "created_at": "2026-03-04T05:06:07Z"})
		return string(text)
	})
}

func markup(r *rand.Rand) string {
	return lines(r, func(int) string {
		return fmt.Sprintf(`  <item id="%d" class="%s-row"><name>%s</name><price currency="EUR">%d.99</price></item>`, r.IntN(100_000), word(r), title(r), r.IntN(500))
	})
}

// escapes is JSON of a program that writes ASCII only.
func escapes(r *rand.Rand) string {
	return lines(r, func(int) string {
		return fmt.Sprintf(`{"title":"%s","note":"\u%04x\u%04x\u%04x\u%04x"}`, title(r), 0x4e00+r.IntN(0x4000), 0x4e00+r.IntN(0x4000), 0x4e00+r.IntN(0x4000), 0x4e00+r.IntN(0x4000))
	})
}

// weighed is a text with its tokens.
type weighed struct{ estimate, tokens float64 }

func weigh(t *testing.T, docs []corpus.Doc) map[string][]weighed {
	t.Helper()
	out := make(map[string][]weighed)
	for _, d := range docs {
		starts, err := corpus.Starts(d.Text)
		require.NoError(t, err)
		out[d.Kind] = append(out[d.Kind], weighed{float64(tokens.Estimate(d.Text)), float64(len(starts))})
	}
	return out
}

func percentile(v []float64, p float64) float64 {
	v = slices.Sorted(slices.Values(v))
	return v[int(p*float64(len(v)-1)+.5)]
}

// Each run is eight texts of one kind or of any kind, as tools return them in a run of an agent.
func TestEstimate_WithinTenthOnUnseenSources(t *testing.T) {
	byKind := weigh(t, unseen(t))
	var all []weighed
	kinds := make([]string, 0, len(byKind))
	for kind := range byKind {
		kinds = append(kinds, kind)
	}
	slices.Sort(kinds)
	for _, kind := range kinds {
		all = append(all, byKind[kind]...)
	}
	byKind["mixed"] = all
	r := rand.New(rand.NewPCG(3, 3))
	for _, kind := range append(kinds, "mixed") {
		docs := byKind[kind]
		var runs []float64
		for range 400 {
			var run weighed
			for range 8 {
				d := docs[r.IntN(len(docs))]
				run.estimate += d.estimate
				run.tokens += d.tokens
			}
			runs = append(runs, run.estimate/run.tokens)
		}
		low, middle, high := percentile(runs, .05), percentile(runs, .5), percentile(runs, .95)
		t.Logf("%-8s %4d texts: p5 %.2f, p50 %.2f, p95 %.2f", kind, len(docs), low, middle, high)
		require.GreaterOrEqual(t, low, .9, kind)
		require.LessOrEqual(t, high, 1.1, kind)
	}
}

// Each tenth of the invented runs is measured: requests, calls, results and answers. The median is within a tenth;
// estimates of documents are highest.
func TestEstimate_WithinEighthOnWholeRuns(t *testing.T) {
	var ratios []float64
	n := 0
	require.NoError(t, replay.Invent(func(r replay.Recorded) error {
		if n++; n%10 != 0 {
			return nil
		}
		var run weighed
		for _, m := range r.Conversation.Messages() {
			texts := []string{m.Content}
			for _, tc := range m.ToolCalls {
				texts = append(texts, tc.Function.Name, tc.Function.Arguments)
			}
			for _, text := range texts {
				starts, err := corpus.Starts(text)
				if err != nil {
					return err
				}
				run.tokens += float64(len(starts))
				run.estimate += float64(tokens.Estimate(text))
			}
		}
		ratios = append(ratios, run.estimate/run.tokens)
		t.Logf("%-16s %7.0f tokens, estimate %.3f", r.Name, run.tokens, run.estimate/run.tokens)
		return nil
	}))
	require.NotEmpty(t, ratios)
	require.GreaterOrEqual(t, slices.Min(ratios), .875)
	require.InDelta(t, 1, percentile(ratios, .5), .1)
	require.LessOrEqual(t, slices.Max(ratios), 1.125)
}
