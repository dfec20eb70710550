// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package bm25

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/leanctx/leanctx/internal/keyword"
	"github.com/leanctx/leanctx/internal/race"
)

// library makes n tools with names and descriptions of the usual length and
// distribution of words.
func library(n int) []keyword.Doc {
	verbs := strings.Fields("get list create update delete search send read write convert parse compare export import merge split")
	things := strings.Fields("weather issue message file invoice calendar event contact image report order payment customer table record page folder branch commit ticket")
	places := strings.Fields("github slack linear jira notion gmail drive stripe shopify salesforce zoom asana figma sentry datadog postgres")
	extras := strings.Fields("quickly by identifier with optional filters and paging for the given account using its name or date range, including archived ones; returns a list of results in JSON format")
	docs := make([]keyword.Doc, n)
	for i := range docs {
		verb, thing := verbs[i%len(verbs)], things[i/len(verbs)%len(things)]
		place := places[i/(len(verbs)*len(things))%len(places)]
		var b strings.Builder
		fmt.Fprintf(&b, "%s%ss a %s in %s%d", strings.ToUpper(verb[:1]), verb[1:], thing, place, i%97)
		for j := range 12 {
			b.WriteString(" " + extras[(i*7+j*(1+i%3))%len(extras)])
		}
		docs[i] = keyword.Doc{
			Name:        fmt.Sprintf("%s__%s_%s_%d", place, verb, thing, i),
			Server:      place,
			Description: b.String(),
			Params:      []keyword.Param{{Name: thing + "_id", Description: "The identifier of the " + thing}, {Name: "limit", Description: "The most results to return"}},
		}
	}
	return docs
}

func manyWords(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "word%d ", i)
	}
	return b.String()
}

var benchQueries = []struct{ name, text string }{
	{"2words", "weather slack"},
	{"5words", "create an invoice for a customer"},
	{"chinese", "帮我创建一个发票并发送给客户"},
	{"typo", "cretae invoise"},
	{"40words", "I have a customer who placed an order last week. Could you create an invoice for the payment in Stripe, " +
		"send the customer an email with the report, and then add an event to the calendar so that the team remembers to export the table next Monday?"},
	{"100KB", strings.Repeat("send the weekly report to everyone, ", 100_000/36)},
	{"2000words", manyWords(2000)},
}

func BenchmarkSearch(b *testing.B) {
	for _, n := range []int{100, 1_000, 10_000} {
		x := New(library(n))
		for _, query := range benchQueries {
			b.Run(fmt.Sprintf("%s/%d", query.name, n), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if _, err := x.Search(context.Background(), query.text, 5); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

func BenchmarkNew(b *testing.B) {
	for _, n := range []int{1_000, 10_000} {
		docs := library(n)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				New(docs)
			}
		})
	}
}

// searchBudget is the most allocations of a search in words that were asked for before, and
// of one in up to six others.
const searchBudget = 20

func TestSearchStaysInItsAllocationBudget(t *testing.T) {
	race.Skip(t, "it makes pools forget")
	docs := catalogueOf(1000)
	x := New(docs)
	for _, text := range append(requestsOf(docs, 40), "weather slack", "create an invoice for a customer", "no_such_thing") {
		allocations := testing.AllocsPerRun(50, func() { _, _ = x.Search(context.Background(), text, 5) })
		require.LessOrEqual(t, allocations, float64(searchBudget), "%q", text)
	}
}

// Of words that were never asked for, each two neighbours cost allocations: their stem, if
// they were one word, is in no index.
func TestASearchInColdWordsStaysInItsAllocationBudget(t *testing.T) {
	race.Skip(t, "it makes pools forget")
	docs := catalogueOf(1000)
	x := New(docs)
	for _, text := range requestsOf(docs, 60) {
		allocations := testing.AllocsPerRun(50, func() {
			acc := x.accumulator()
			clear(acc.parser.stemmer)
			acc.release()
			_, _ = x.Search(context.Background(), text, 5)
		})
		require.LessOrEqual(t, allocations, float64(max(searchBudget, 4*len(strings.Fields(text)))), "%q", text)
	}
}
