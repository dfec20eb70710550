// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package readtool

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/race"
)

// orders are rows of a table, one with an id of its own.
func orders() string {
	var b strings.Builder
	b.WriteString("id,customer,city,amount\n")
	for i := range 400 {
		fmt.Fprintf(&b, "SO-%d,Customer %d,%s,%d.50\n", 15_500+i, i%7, []string{"Oslo", "Bari", "Cork"}[i%3], i*3)
	}
	return b.String()
}

func TestQuery_SaysHowManyPassagesMatch(t *testing.T) {
	read := New(from(stored(t, orders()), Options{}))
	for query, want := range map[string]string{
		"+SO-15688":          `the only passage with "SO-15688"`,
		"amount of SO-15688": `the only passage with "so-15688"`,
	} {
		answer := ask(t, read, fmt.Sprintf(`{"file_path":%q,"query":%q}`, testPath, query))
		require.Contains(t, answer, want, query)
		require.Contains(t, answer, "SO-15688,Customer", query)
		require.Contains(t, answer, "under id,customer,city,amount:", "the header")
	}
	require.Contains(t, ask(t, read, fmt.Sprintf(`{"file_path":%q,"query":"+Oslo"}`, testPath)), `of 134 passages with "Oslo"`)
	require.Contains(t, ask(t, read, fmt.Sprintf(`{"file_path":%q,"query":"+Oslo +Lima"}`, testPath)), `No passage has "Oslo Lima"`)
}

// A passage that has only stop words of a query is not shown, unless the query has no other words.
func TestQuery_IgnoresStopWords(t *testing.T) {
	var b strings.Builder
	for i := range 60 {
		fmt.Fprintf(&b, "# Part %d\n\nThe oven is cold, and nobody knows when it began %s.\n\n", i, strings.Repeat("to smoke ", 60))
	}
	b.WriteString("# Last part\n\nFurnace 7 was lit on Monday.\n\n")
	read := New(from(stored(t, b.String()), Options{}))
	answer := ask(t, read, fmt.Sprintf(`{"file_path":%q,"query":"when was the furnace lit"}`, testPath))
	require.Contains(t, answer, "Furnace 7")
	require.NotContains(t, answer, "nobody knows")
	for _, query := range []string{"when is the", "furnace +when"} {
		require.Contains(t, ask(t, read, fmt.Sprintf(`{"file_path":%q,"query":%q}`, testPath, query)), "nobody knows", query)
	}
}

func TestQuery_LimitWidensTheAnswer(t *testing.T) {
	var b strings.Builder
	for i := range 60 {
		fmt.Fprintf(&b, "# Part %d\n\nThe furnace %s ends %d.\n\n", i, strings.Repeat("is cold and nobody speaks of it ", 20), i)
	}
	read := New(from(stored(t, b.String()), Options{}))
	last := 0
	for _, limit := range []int{0, 8, 12, 20} {
		answer := ask(t, read, fmt.Sprintf(`{"file_path":%q,"query":"cold furnace","limit":%d}`, testPath, limit))
		require.Greater(t, len(answer), last)
		last = len(answer)
	}
	require.LessOrEqual(t, last, DefaultMaxBytes)
}

// Points of a series are a passage together.
func TestQuery_JoinsPointsOfASeries(t *testing.T) {
	points := make([][]int, 1000)
	for i := range points {
		points[i] = []int{1_700_000_000 + i*60, i * 7 % 13}
	}
	text, err := json.Marshal(map[string]any{"metric": "load", "points": points})
	require.NoError(t, err)
	records := recordsOf(string(text), 0)
	require.Less(t, len(records), 200)
	answer := ask(t, New(from(stored(t, string(text)), Options{})), fmt.Sprintf(`{"file_path":%q,"query":"1700030000"}`, testPath))
	require.NotContains(t, answer, "No passage")
	found := readPassages(t, ask(t, New(from(stored(t, string(text)), Options{})), fmt.Sprintf(`{"file_path":%q,"query":"1700030040"}`, testPath)))
	require.NotEmpty(t, found)
	require.Greater(t, strings.Count(found[0].text, "17000"), 5, "many points in a passage")
}

func TestMatching_IgnoresTerminalEscapes(t *testing.T) {
	content := "start\n\x1b[31mER\x1b[1mROR\x1b[0m: disk full\r\nloading 1%\rloading 50%\rdone\nend\n"
	read := New(from(stored(t, content), Options{}))
	for arguments, want := range map[string]string{
		`"pattern":"^ERROR: disk full$"`: "2:ERROR: disk full\n",
		`"pattern":"^done$"`:             "3:done\n",
		`"query":"error disk"`:           "ERROR: disk full",
	} {
		require.Contains(t, ask(t, read, `{"file_path":"`+testPath+`",`+arguments+`}`), want)
	}
	require.Equal(t, content, readPage(t, ask(t, read, `{"file_path":"`+testPath+`"}`)).content, "a page is the content")
}

func TestPattern_ShowsTheHeaderOfATable(t *testing.T) {
	for name, c := range map[string]struct{ content, header string }{
		"CSV":      {orders(), "1-id,customer,city,amount\n"},
		"Markdown": {"# Orders\n\n| id | city |\n|----|------|\n| 1 | Oslo |\n| 2 | Bari |\n| SO-15688 | Cork |\n\nend\n", "3-| id | city |\n"},
	} {
		answer := ask(t, New(from(stored(t, c.content), Options{})), fmt.Sprintf(`{"file_path":%q,"pattern":"SO-15688"}`, testPath))
		require.Contains(t, answer, c.header, name)
		require.Equal(t, 1, strings.Count(answer, c.header), name)
		require.Contains(t, answer, `as "line number-text"`, name)
	}
}

func TestPattern_SaysHowManyLinesWereNotSearched(t *testing.T) {
	read := New(from(stored(t, strings.Repeat("needle\n", 4050)), Options{}))
	require.Contains(t, ask(t, read, fmt.Sprintf(`{"file_path":%q,"pattern":"needle"}`, testPath)), "Limit of 50 reached, 4000 lines not searched. Next:")
	require.Contains(t, ask(t, read, fmt.Sprintf(`{"file_path":%q,"pattern":"needle","offset":4001}`, testPath)), "There are no more matches.")
}

func TestPage_SaysWhetherItIsWhatWasAsked(t *testing.T) {
	lines := strings.Repeat("some line of text\n", 5000)
	read := New(from(stored(t, lines), Options{}))
	short := ask(t, read, fmt.Sprintf(`{"file_path":%q,"byte_limit":24000}`, testPath))
	p := readPage(t, short)
	require.Contains(t, short, fmt.Sprintf("Shortened to %d of the 24000 bytes asked for; next byte %d.", p.to-p.from, p.to))
	require.True(t, strings.HasSuffix(p.content, "\n"), "it ends at the end of a line")
	rest := readPage(t, ask(t, read, p.next))
	require.Equal(t, 24_000, rest.to, "both parts are what was asked for")
	exact := ask(t, read, fmt.Sprintf(`{"file_path":%q,"byte_limit":1000}`, testPath))
	require.Equal(t, 1000, readPage(t, exact).to)
	require.Contains(t, exact, "does not end with a newline")
	for _, arguments := range []string{`"byte_limit":1000`, `"limit":10`, `"offset":7,"limit":10`} {
		answer := ask(t, read, fmt.Sprintf(`{"file_path":%q,%s}`, testPath, arguments))
		require.Contains(t, answer, "This is the part you asked for; more follows it.")
		require.NotContains(t, answer, "Next page")
	}
	one := New(from(stored(t, strings.Repeat("x", 90_000)), Options{}))
	require.Contains(t, ask(t, one, fmt.Sprintf(`{"file_path":%q,"offset":2}`, testPath)), `Read a single line with byte_offset.`)
}

// What a search looks at is bounded by the size of the content, whatever that is, and by what one call may do.
func TestSearch_WorkIsBounded(t *testing.T) {
	race.Skip(t, "searches megabytes")
	for name, content := range map[string]string{"one line": strings.Repeat("x", 3<<20), "lines": strings.Repeat(strings.Repeat("x", 99)+"\n", 30_000)} {
		for _, expression := range []string{strings.Repeat(".*", 20) + "z", "x(.*z)?", "(x+x+)+y", "(?i)y|z"} {
			s := searchFor(t, expression, 50, searchRange{maxBytes: maxSearched}, matchLines{room: 20_000})
			s.budget = maxWork
			in := newLineScanner(strings.NewReader(content))
			in.maxPiece = int(min(max(maxWork/s.cost/2, 4*pieceOverlap), maxPiece))
			require.NoError(t, s.searchContent(in))
			require.LessOrEqual(t, s.workDone, int64(2*maxWork), "%s: %s", name, expression)
			require.True(t, s.nextByte != 0, "%s: %s: no progress", name, expression)
		}
	}
	s := newSplitter(strings.NewReader(strings.Repeat("(()", 100_000)))
	passages := 0
	for _, err := s.next(); err == nil; _, err = s.next() {
		passages++
	}
	require.Less(t, passages, 300_000/passageBytes*(fewTiny+2), "tiny parts do not follow each other without end")
}
