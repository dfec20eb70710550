// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package keyword

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/race"
)

// library makes n tools with names and descriptions of the usual length and
// distribution of words.
func library(n int) []Doc {
	verbs := strings.Fields("get list create update delete search send read write convert parse compare export import merge split")
	things := strings.Fields("weather issue message file invoice calendar event contact image report order payment customer table record page folder branch commit ticket")
	places := strings.Fields("github slack linear jira notion gmail drive stripe shopify salesforce zoom asana figma sentry datadog postgres")
	extras := strings.Fields("quickly by identifier with optional filters and paging for the given account using its name or date range, including archived ones; returns a list of results in JSON format")
	docs := make([]Doc, n)
	for i := range docs {
		verb, thing := verbs[i%len(verbs)], things[i/len(verbs)%len(things)]
		place := places[i/(len(verbs)*len(things))%len(places)]
		var b strings.Builder
		fmt.Fprintf(&b, "%s%ss a %s in %s%d", strings.ToUpper(verb[:1]), verb[1:], thing, place, i%97)
		for j := range 12 {
			b.WriteString(" " + extras[(i*7+j*(1+i%3))%len(extras)])
		}
		docs[i] = Doc{
			Name:        fmt.Sprintf("%s__%s_%s_%d", place, verb, thing, i),
			Server:      place,
			Description: b.String(),
			Params:      []Param{{Name: thing + "_id", Description: "The identifier of the " + thing}, {Name: "limit", Description: "The most results to return"}},
		}
	}
	return docs
}

var benchQueries = []struct{ name, text string }{
	{"2words", "weather slack"},
	{"6words", "+create invoice stripe customer payment paging"},
	{"prose", "identifier archived"},
	{"letter", "a"},
	{"stopwords", "the in a of"},
	{"name", "github__get_weather_0"},
	{"2000words", manyWords(2000)},
}

func manyWords(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "word%d ", i)
	}
	return b.String()
}

func BenchmarkSearch(b *testing.B) {
	for _, n := range []int{100, 1_000, 10_000} {
		x := New(library(n))
		for _, query := range benchQueries {
			q := Parse(query.text)
			b.Run(fmt.Sprintf("%s/%d", query.name, n), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if _, err := x.Search(context.Background(), q, 5); err != nil {
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

// searchBudget is the most allocations of a search of a few keywords.
const searchBudget = 5

func TestSearch_StaysWithinAllocationBudget(t *testing.T) {
	race.Skip(t, "it makes pools forget")
	x := New(library(1000))
	for _, query := range []string{"weather slack", "+create invoice stripe customer payment paging", "a", "Weather", "no_such_thing"} {
		q := Parse(query)
		allocations := race.Allocations(100, func() {
			_, _ = x.Search(context.Background(), q, 5)
		})
		require.LessOrEqual(t, allocations, float64(searchBudget), "%q", query)
	}
}

func BenchmarkSuggest(b *testing.B) {
	x := New(library(10_000))
	x.Suggest("warm up", 1)
	for b.Loop() {
		x.Suggest("githb__get_wether", 3)
	}
}
