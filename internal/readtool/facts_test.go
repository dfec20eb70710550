// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package readtool

import (
	"flag"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/cloudwego/eino/components/tool"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/race"
	"github.com/einolean/einolean/internal/dev/results"
)

var (
	heldFormats = flag.Bool("held", false, "report on the formats that nothing is tuned on")
	seed        = flag.Uint64("seed", 2026, "the seed of the results")
	showMisses  = flag.String("misses", "", "show the answers of a format that do not hold the fact")
)

// factSearch is how facts were found.
type factSearch struct{ asked, first, second, chosen, bytes int }

func (s *factSearch) add(o factSearch) {
	s.asked, s.first, s.second, s.chosen, s.bytes = s.asked+o.asked, s.first+o.first, s.second+o.second, s.chosen+o.chosen, s.bytes+o.bytes
}

func (s factSearch) String() string {
	found := s.first + s.second
	return fmt.Sprintf("%3d facts, %3d %% in one call, %3d %% in two (%3d %% with a reader that chooses the place), %5d bytes per fact",
		s.asked, 100*s.first/max(1, s.asked), 100*found/max(1, s.asked), 100*(found+s.chosen)/max(1, s.asked), s.bytes/max(1, found))
}

// placesShown finds where passages are, as answers say it.
var placesShown = regexp.MustCompile(`(?m)^lines \d+ to \d+, bytes (\d+) to (\d+)`)

// has reports whether an answer has a fact, however JSON is spaced.
func has(answer, fact string) bool {
	return strings.Contains(strings.ReplaceAll(answer, ": ", ":"), strings.ReplaceAll(fact, ": ", ":"))
}

// searchTwice asks for a fact, and follows the answer once.
func searchTwice(t *testing.T, read tool.InvokableTool, r results.Result, fact results.Fact, more string) (s factSearch) {
	s.asked = 1
	answer := ask(t, read, fmt.Sprintf(`{"file_path":%q,"query":%q%s}`, testPath, fact.Question, more))
	if s.bytes += len(answer); has(answer, fact.Answer) {
		s.first = 1
		return s
	}
	if next := nextQuery.FindStringSubmatch(answer); next != nil {
		following := ask(t, read, next[1])
		if s.bytes += len(following); has(following, fact.Answer) {
			s.second = 1
			return s
		}
	}
	for _, place := range placesShown.FindAllStringSubmatch(answer, -1) {
		from := max(0, atoi(place[1])-600)
		around := ask(t, read, fmt.Sprintf(`{"file_path":%q,"byte_offset":%d,"byte_limit":%d}`, testPath, from, 4000))
		if has(around, fact.Answer) {
			s.chosen = 1
			break
		}
	}
	if *showMisses == r.Format {
		t.Logf("%q wants %q (chosen %d)\n%.3500s", fact.Question, fact.Answer, s.chosen, answer)
	}
	return s
}

// readPages reads pages from the start.
func readPages(t *testing.T, read tool.InvokableTool, fact results.Fact) (s factSearch) {
	s.asked = 1
	arguments := fmt.Sprintf(`{"file_path":%q}`, testPath)
	for call := range 2 {
		answer := ask(t, read, arguments)
		if s.bytes += len(answer); has(answer, fact.Answer) {
			if call == 0 {
				s.first = 1
			} else {
				s.second = 1
			}
			return s
		}
		next := nextIn.FindStringSubmatch(answer[strings.LastIndexByte(answer, '\n')+1:])
		if next == nil {
			return s
		}
		arguments = next[1]
	}
	return s
}

// TestQuery_FindsFactsInTwoCalls looks for facts in results of 48 formats, as a model does: with a question, and with the
// call that the answer names. Nothing is tuned on the formats that are held out.
func TestQuery_FindsFactsInTwoCalls(t *testing.T) {
	race.Skip(t, "ranks some megabytes")
	for _, group := range []results.Group{results.Tuning, results.Further, results.HeldOut} {
		held := group == results.HeldOut
		if held && !*heldFormats {
			continue
		}
		var queries, wide, pages factSearch
		for _, format := range results.Formats(group) {
			r := results.Generate(format, *seed)
			read := New(from(stored(t, r.Text), Options{}))
			var c factSearch
			for _, fact := range r.Facts {
				c.add(searchTwice(t, read, r, fact, ""))
				wide.add(searchTwice(t, read, r, fact, `,"limit":20`))
				pages.add(readPages(t, read, fact))
			}
			if !held {
				t.Logf("%-14s %s", format, c)
			}
			queries.add(c)
		}
		t.Logf("%s, seed %d: query    %s", group, *seed, queries)
		t.Logf("%s, seed %d: limit 20 %s", group, *seed, wide)
		t.Logf("%s, seed %d: pages    %s", group, *seed, pages)
		require.GreaterOrEqual(t, queries.asked, 150)
	}
}
