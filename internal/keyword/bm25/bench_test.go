// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package bm25

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/race"
	"github.com/einolean/einolean/internal/keyword"
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
		x := New(allWords(), library(n))
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
				New(allWords(), docs)
			}
		})
	}
}

// searchBudget is the most allocations of a search for up to twenty words, whether they were
// asked for before or not.
const searchBudget = 20

// freshWords makes words that nobody has asked for, of a length at which errors are
// corrected.
func freshWords(random *rand.Rand) func() string {
	return func() string {
		word := make([]byte, 4+random.IntN(8))
		for i := range word {
			word[i] = 'a' + byte(random.IntN(26))
		}
		return string(word)
	}
}

// freshCharacters makes stretches of Chinese that nobody has asked for.
func freshCharacters(random *rand.Rand) func() string {
	return func() string {
		return string([]rune{rune(0x4e00 + random.IntN(0x5000)), rune(0x4e00 + random.IntN(0x5000))})
	}
}

// inNewWords are requests of up to twenty words: each # is a word of the catalogue, each _ a
// new one.
var inNewWords = map[string][]string{
	"english": {
		"#", "_", "_ _ _ _ _ _ _ _ _ _ _ _ _", strings.Repeat("_ ", 20), strings.Repeat("# ", 20), strings.Repeat("# _ ", 10),
		"Could you please create the _ for a customer of _ and set up a meeting with the # of _?",
		"send # to _. Then find the _, and delete every # of _; also list the _ # _",
		"Running _ing organizations' _s, +_ed +# \"_ _\" https://_.example/_ getWeather_ create_#",
	},
	"chinese": {
		"帮我创建一个_并发送给客户", "请问今天_的天气怎么样，顺便查一下_的股票价格", strings.Repeat("_", 13), strings.Repeat("_，", 10),
		"搜索#的文件。然后把_翻译成英文，并且发邮件给_；最后删除日历里的会议",
		"在 Jira 里新建一个“_”的工单，分配给 _，＋_ 截止日期是明天", "查詢臺灣_的匯率，轉換為美元",
	},
}

func TestSearch_UnseenWordsStayWithinAllocationBudget(t *testing.T) {
	race.Skip(t, "it makes pools forget")
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // which does so, too
	for n, runs := range map[int]int{1_000: 20, 10_000: 10, 100_000: 2} {
		docs := catalogueOf(n)
		x := New(allWords(), docs)
		for language, requests := range inNewWords {
			random := rand.New(rand.NewPCG(uint64(n), 2))
			fresh := freshWords(random)
			if language == "chinese" {
				fresh = freshCharacters(random)
			}
			for _, request := range requests {
				texts := make([]string, runs+4) // the first ones warm up
				for i := range texts {
					for _, c := range request {
						switch c {
						case '_':
							texts[i] += fresh()
						case '#':
							words := strings.Fields(docs[random.IntN(n)].Description)
							texts[i] += words[random.IntN(len(words))]
						default:
							texts[i] += string(c)
						}
					}
				}
				next := 0
				for ; next < 3; next++ {
					_, _ = x.Search(t.Context(), texts[next], 5)
				}
				allocations := testing.AllocsPerRun(runs, func() {
					_, _ = x.Search(t.Context(), texts[next], 5)
					next++
				})
				assert.LessOrEqual(t, allocations, float64(searchBudget), "%d tools, %q", n, request)
			}
		}
	}
}

func TestSearch_StaysWithinAllocationBudget(t *testing.T) {
	race.Skip(t, "it makes pools forget")
	docs := catalogueOf(1000)
	x := New(allWords(), docs)
	for _, text := range append(requestsOf(docs, 40), "weather slack", "create an invoice for a customer", "no_such_thing") {
		allocations := race.Allocations(50, func() { _, _ = x.Search(context.Background(), text, 5) })
		require.LessOrEqual(t, allocations, float64(searchBudget), "%q", text)
	}
}
