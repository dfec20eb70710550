// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package toolsearcheval_test

// How well Prefetch does: whether a tool that a user's request needs is loaded for it, and
// whether nothing is loaded where no tool can help.

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/golden"
	"github.com/einolean/einolean/internal/dev/race"
	"github.com/einolean/einolean/toolsearch/index"
	"github.com/einolean/einolean/toolsearch/toolsearcheval"
)

// smallTalk is what users say that asks for no tool.
var smallTalk = strings.Split(`Hello there, how are you today?
Thanks, that was really helpful!
Good morning!
What do you think, should I worry about this?
That is not quite what I meant.
OK, let us leave it at that for now.
You are funny.
Who are you, and what can you do?
I am so tired today, it was a long week.
Sorry, I was away for a moment. Where were we?
你好，最近怎么样？
谢谢，帮了大忙！
早上好！
你觉得呢，我该担心吗？
不是这个意思。
好的，先这样吧。
你真有意思。
你是谁？你能做什么？
今天好累，这一周太长了。
不好意思，刚才走开了。我们说到哪儿了？`, "\n")

// prefetchThreshold is the confidence from which on the middleware loads. On the half to tune
// on, 0.05 is the highest that has a needed tool there for .83 of the requests; it costs
// the other half .12, and a missing tool costs a model call, so it is lower.
const prefetchThreshold = 0.02

var prefetchThresholds = []float64{0, .01, prefetchThreshold, .03, .05, .08}

// asked is a message of a user and what the index says to it.
type asked struct {
	c       toolsearcheval.Case
	results []index.Result
}

// loads reports whether the middleware loads tools for the message.
func (a asked) loads(threshold float64) bool {
	return slices.ContainsFunc(a.results, func(r index.Result) bool { return r.Confidence >= threshold })
}

func (a asked) there(threshold float64) bool {
	return a.loads(threshold) && slices.ContainsFunc(a.results, func(r index.Result) bool {
		return slices.ContainsFunc(a.c.Relevant, func(want string) bool { return r.Name == want || slices.Contains(a.c.Equivalent[want], r.Name) })
	})
}

func TestPrefetch_MatchesGolden(t *testing.T) {
	race.Skip(t, "asks an index a thousand times")
	own, library := ownSet(t), librarySet(t)
	tables := map[string]string{}
	var b strings.Builder
	fmt.Fprintf(&b, "Prefetch 3 with index.BM25: share of messages, by the least confidence (the middleware's is %.2f)\n\n%-57s", prefetchThreshold, "")
	for _, threshold := range prefetchThresholds {
		fmt.Fprintf(&b, "  %4.2f", threshold)
	}
	for name, half := range map[string][2][]toolsearcheval.Case{"dev": {own.dev, library.dev}, "heldout": {own.heldout, library.heldout}} {
		tables[name] = prefetchTable(t, own, library, half[0], half[1])
	}
	b.WriteString("\n\n(dev)" + tables["dev"] + "\n\n(heldout)" + tables["heldout"])
	golden.Check(t, filepath.Join("testdata", "golden", "prefetch.txt"), b.String()+"\n")
}

// prefetchTable has a line for each kind of message, and a column for each threshold.
func prefetchTable(t *testing.T, own, library graded, half, lib []toolsearcheval.Case) string {
	var b strings.Builder
	b.WriteString("\na needed tool is there")
	mean := make([]float64, len(prefetchThresholds))
	for _, group := range []struct {
		title string
		g     graded
		cases []toolsearcheval.Case
	}{
		{"  requests, all 906 tools", own, ofKinds(half, "sentence", "multi-tool")},
		{"  requests in Chinese, all 906 tools", own, ofKinds(half, "chinese-request")},
		{"  requests, the library alone", library, ofKinds(lib, userKinds...)},
	} {
		for i, share := range sharesOf(&b, group.title, ask(t, group.g, group.cases), asked.there) {
			mean[i] += share / 3
		}
	}
	fmt.Fprintf(&b, "\n%-57s", "  mean")
	for _, share := range mean {
		fmt.Fprintf(&b, "  %4.2f", share)
	}
	var talk []toolsearcheval.Case
	for _, line := range smallTalk {
		talk = append(talk, toolsearcheval.Case{Query: line})
	}
	b.WriteString("\nsomething is loaded, and no tool can help")
	sharesOf(&b, "  small talk, all 906 tools", ask(t, own, talk), asked.loads)
	sharesOf(&b, "  requests that no tool serves, all 906 tools", ask(t, own, ofKinds(half, "no-match")), asked.loads)
	sharesOf(&b, "  requests for other tools, the library alone", ask(t, library, foreignTo(library, ofKinds(half, userKinds...))), asked.loads)
	return b.String()
}

// userKinds are the kinds of cases that are what users write.
var userKinds = []string{"sentence", "multi-tool", "chinese-request"}

// foreignTo are the cases that need none of the tools.
func foreignTo(g graded, cases []toolsearcheval.Case) []toolsearcheval.Case {
	in := map[string]bool{}
	for _, tool := range g.tools {
		in[tool.Name] = true
	}
	return slices.DeleteFunc(cases, func(c toolsearcheval.Case) bool {
		return len(c.Equivalent) > 0 || slices.ContainsFunc(c.Relevant, func(name string) bool { return in[name] })
	})
}

// sharesOf writes a line with the share of messages of which something holds.
func sharesOf(b *strings.Builder, title string, all []asked, holds func(asked, float64) bool) (shares []float64) {
	fmt.Fprintf(b, "\n%-50s %6d", title, len(all))
	for _, threshold := range prefetchThresholds {
		n := 0
		for _, a := range all {
			if holds(a, threshold) {
				n++
			}
		}
		shares = append(shares, float64(n)/float64(max(1, len(all))))
		fmt.Fprintf(b, "  %4.2f", shares[len(shares)-1])
	}
	return shares
}

// printPrefetch prints how often a needed tool is there, per catalogue of requests.
func printPrefetch(t *testing.T, rows []row) {
	var b strings.Builder
	fmt.Fprintf(&b, "\nPrefetch 3: share of requests for which a needed tool is there, by the least confidence\n%-57s", "")
	for _, threshold := range prefetchThresholds {
		fmt.Fprintf(&b, "  %4.2f", threshold)
	}
	mean := make([]float64, len(prefetchThresholds))
	for _, r := range rows {
		answered := slices.DeleteFunc(slices.Clone(r.cases), func(c toolsearcheval.Case) bool { return len(c.Relevant) == 0 })
		for i, share := range sharesOf(&b, r.catalogue, ask(t, graded{tools: r.tools}, answered), asked.there) {
			mean[i] += share / float64(len(rows))
		}
	}
	fmt.Fprintf(&b, "\n%-57s", "mean")
	for _, share := range mean {
		fmt.Fprintf(&b, "  %4.2f", share)
	}
	fmt.Println(b.String())
}

func ofKinds(cases []toolsearcheval.Case, kinds ...string) []toolsearcheval.Case {
	return slices.DeleteFunc(slices.Clone(cases), func(c toolsearcheval.Case) bool { return !slices.Contains(kinds, c.Kind) })
}

func ask(t *testing.T, g graded, cases []toolsearcheval.Case) (all []asked) {
	x, err := index.BM25(context.Background(), g.tools)
	require.NoError(t, err)
	for _, c := range cases {
		results, err := x.Search(context.Background(), index.Query{Text: c.Query, Limit: 3})
		require.NoError(t, err)
		all = append(all, asked{c, results})
	}
	return all
}
