// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package readtool

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/race"
)

// wantAround says in the plainest way what a search for lines that begin with "loud"
// shows, where there is room for everything.
func wantAround(content string, around int) string {
	lines := strings.Split(strings.TrimSuffix(content, "\n"), "\n")
	loud := func(i int) bool { return i >= 0 && i < len(lines) && strings.HasPrefix(lines[i], "loud") }
	var b strings.Builder
	last := -1
	for i, line := range lines {
		near := false
		for j := i - around; j <= i+around; j++ {
			near = near || loud(j)
		}
		if !near {
			continue
		}
		if around > 0 && last >= 0 && i > last+1 {
			b.WriteString("--\n")
		}
		last = i
		mark, line := "-", strings.TrimSuffix(line, "\r")
		if loud(i) {
			mark = ":"
		} else if len(line) > maxShown {
			cut := maxShown
			for !utf8.RuneStart(line[cut]) {
				cut--
			}
			line = line[:cut] + "…"
		}
		fmt.Fprintf(&b, "%d%s%s\n", i+1, mark, line)
	}
	return b.String()
}

// Long context lines are cut between characters. Nothing else changes.
func TestSearch_ContextLinesAreExact(t *testing.T) {
	r := random(t)
	pieces := []string{"loud", "loud again", "quiet", "", "quiet\r", "loud\r", strings.Repeat("x", maxShown-1), strings.Repeat("x", maxShown),
		strings.Repeat("x", maxShown+1), strings.Repeat("x", maxShown) + "\r", strings.Repeat("x", maxShown-1) + "天", strings.Repeat("x", maxShown-3) + "天",
		strings.Repeat("天", 300), strings.Repeat("y", 70_000)}
	check := func(content string, around int) {
		s := searchFor(t, "^loud", 1<<30, searchRange{maxBytes: 1 << 40}, matchLines{room: 1 << 30, contextLines: around})
		require.NoError(t, s.searchContent(newLineScanner(strings.NewReader(content))))
		require.Equal(t, wantAround(content, around), s.text.String(), "context %d of %q", around, content)
		require.Equal(t, strings.Count("\n"+content, "\nloud"), s.hits)
	}
	for _, piece := range pieces {
		check(piece+"\nloud\n", 1)
		check("loud\n"+piece+"\nquiet\n", 1)
		check("loud\n"+piece+"\nloud", 2)
	}
	for range race.Cases(300) {
		var lines []string
		for range r.IntN(30) {
			lines = append(lines, pieces[r.IntN(len(pieces))])
		}
		check(strings.Join(lines, "\n")+"\n", r.IntN(4))
	}
}

func TestPiece_MatchesAtCutAreUncertain(t *testing.T) {
	const n = 100
	for name, c := range map[string]struct {
		joined bool
		shared int
		from   int
		to     int
		want   bool
	}{
		"inside of a piece":                      {true, 20, 1, 99, false},
		"at the start of a line":                 {false, 20, 0, 10, false},
		"at the start of a piece":                {true, 20, 0, 10, true},
		"at the end, in what is repeated":        {false, 20, 81, 100, true},
		"at the end, before what is repeated":    {false, 20, 80, 100, false},
		"ends one before the end":                {false, 20, 81, 99, false},
		"at the end of the last piece":           {false, 0, 81, 100, false},
		"at the end of a last piece, but joined": {true, 0, 81, 100, false},
		"the whole piece":                        {true, 20, 0, 100, true},
		"starts one behind the start":            {true, 0, 1, 100, false},
	} {
		p := piece{continues: c.joined, overlap: c.shared}
		require.Equal(t, c.want, p.isUncertain([]int{c.from, c.to}, n), name)
	}
}

func TestTool_CallWithoutPathIsToldArguments(t *testing.T) {
	read := New(from(stored(t, "x"), Options{Name: "recall"}))
	for _, arguments := range []string{``, `{}`, `{"file_path":" "}`, `{"offset":1}`, `[]`, `null`} {
		require.Equal(t, `[recall] Say which saved result to read, as JSON: {"file_path": "the path that you were given"}. `+
			`Optional: offset and limit (lines), byte_offset and byte_limit (bytes), tail, pattern, query.`, ask(t, read, arguments))
	}
}

// A search stops before the piece with which it would exceed its limit, and continues there.
func TestSearch_StopsAtMaxBytes(t *testing.T) {
	content := "aaaa\nbbbb\ncccc\ndddd\n" // five bytes each, the newline included
	for _, c := range []struct {
		from, fromLine, most int64
		next                 int64
		first                int64
	}{
		{0, 0, 100, -1, 0}, {0, 0, 19, -1, 0}, {0, 0, 18, 15, 0}, {0, 0, 14, 15, 0}, {0, 0, 13, 10, 0}, {0, 0, 4, 5, 0}, {0, 0, 3, 0, 0},
		{5, 0, 14, -1, 5}, {5, 0, 13, 15, 5}, {7, 0, 12, -1, 7}, {7, 0, 11, 15, 7}, {7, 0, 1, 7, 7}, {0, 3, 9, -1, 10}, {0, 3, 8, 15, 10}, {4, 0, 15, -1, 4}, {99, 0, 5, -1, 20},
	} {
		s := searchFor(t, "x", 9, searchRange{fromLine: c.fromLine, fromByte: c.from, maxBytes: c.most}, matchLines{room: 5000})
		require.NoError(t, s.searchContent(newLineScanner(strings.NewReader(content))))
		require.Equal(t, c.next, s.nextByte, "%+v", c)
		require.Equal(t, c.first, s.firstByte, "%+v", c)
		if c.next < 0 {
			require.EqualValues(t, len(content), s.searchedBytes)
		}
	}
}

// These bounds limit what one call reads and remembers.
func TestTool_BoundsOfOneCall(t *testing.T) {
	require.Equal(t, []int{128 << 20, 128 << 20, 16 << 20, 250_000, 1000, 20, 50}, []int{maxSearched, maxWork, maxRanked, maxRankedPassages, maxInstructions, maxContext, defaultMatches})
	require.Equal(t, []int{8 << 20, 64 << 10, 400, 100, 10 << 20}, []int{maxPiece, pieceOverlap, maxShown, pieceMargin, maxAtOnce})
	require.Equal(t, []int{20, 8, 2800, 4400, 600, 4000, 4 << 20}, []int{maxPassages, likelyPassages, answerBytes, nextAnswerBytes, passageBytes, recordBytes, maxRecords})
}

// The counts do not depend on the size of the buffer.
func TestLineScanner_SkipCountsLinesAndBytes(t *testing.T) {
	long := strings.Repeat("x", 100)
	for _, content := range []string{"", "\n", "a", "a\n", "a\nb", "\n\n", strings.Repeat("x", 32), "\n" + strings.Repeat("x", 16), long, long + "\n", long + "\n" + long, "\n" + long + "\n\n"} {
		whole := strings.SplitAfter(content, "\n")
		if whole[len(whole)-1] == "" {
			whole = whole[:len(whole)-1]
		}
		for n := range 5 {
			lines := &lineScanner{r: bufio.NewReaderSize(strings.NewReader(content), 16), number: 1, atLineStart: true, maxPiece: 16}
			require.NoError(t, lines.skip(int64(n)+1))
			skipped := whole[:min(n, len(whole))]
			require.EqualValues(t, len(skipped)+1, lines.number, "%q, %d", content, n)
			require.EqualValues(t, len(strings.Join(skipped, "")), lines.start, "%q, %d", content, n)
		}
	}
	boom := errors.New("boom")
	require.ErrorIs(t, newLineScanner(iotest.ErrReader(boom)).skip(2), boom)
}

// Windows of lines at the start and at the end are as long as allowed.
func TestTakeLines_FillsTheRoom(t *testing.T) {
	for _, content := range []string{"a\nbb\nccc\n", "a\nbb\nccc", "\n\n\n", "天\n气", "x", "abcdefgh"} {
		lines := strings.SplitAfter(content, "\n")
		if lines[len(lines)-1] == "" {
			lines = lines[:len(lines)-1]
		}
		for room := range len(content) + 2 {
			for n := 1; n < 6; n++ {
				want, count := 0, 0
				for count < min(n, len(lines)) && want+len(lines[count]) <= room {
					want += len(lines[count])
					count++
				}
				cut, got := takeLines([]byte(content), int64(n), int64(room))
				require.Equal(t, []int{want, count}, []int{cut, int(got)}, "%q, %d lines, %d bytes", content, n, room)

				if room == 0 {
					continue
				}
				for _, torn := range []bool{false, true} {
					start := len(content)
					for i := len(lines) - 1; i >= max(len(lines)-n, 0); i-- {
						begin := start - len(lines[i])
						if len(content)-begin > room || begin == 0 && torn {
							break
						}
						start = begin
					}
					if start == len(content) { // not one line fits: the end of it
						for start = max(len(content)-room, 0); start < len(content) && !utf8.RuneStart(content[start]); start++ {
						}
					}
					require.Equal(t, start, tailStart([]byte(content), int64(n), int64(room), torn), "%q, %d lines, %d bytes, torn: %v", content, n, room, torn)
				}
			}
		}
	}
}

// Content that ends before the size that its store reported is incomplete.
func TestReadFull_ShortContentIsError(t *testing.T) {
	for n := range 5 {
		got, err := readFull(strings.NewReader("1234"[:n]), 4)
		if n == 4 {
			require.NoError(t, err)
			require.Equal(t, "1234", string(got))
		} else {
			require.ErrorIs(t, err, io.ErrUnexpectedEOF)
		}
		for name, content := range map[string]io.Reader{
			"plain": strings.NewReader("1234"[:n]), "data with the end": iotest.DataErrReader(strings.NewReader("1234"[:n])), "bytes": iotest.OneByteReader(strings.NewReader("1234"[:n])),
		} {
			all, err := io.ReadAll(readCall{ctx: t.Context()}.withContext(content, 4))
			require.Equal(t, "1234"[:n], string(all), name)
			require.Equal(t, n < 4, errors.Is(err, io.ErrUnexpectedEOF), name)
			require.Equal(t, n == 4, err == nil, name)
		}
	}
	got, err := readFull(strings.NewReader("x"), 0)
	require.NoError(t, err)
	require.Empty(t, got)
}

// Ranges of content in memory are those of stored content.
func TestContentSource_ReadsRanges(t *testing.T) {
	const content = "0123456789"
	for offset := range int64(13) {
		for length := int64(-2); length < 13; length++ {
			want := content[min(offset, 10):]
			if length >= 0 {
				want = want[:min(int(length), len(want))]
			}
			r, size, err := contentSource(content)(t.Context(), offset, length)
			require.NoError(t, err)
			require.EqualValues(t, 10, size)
			got, err := io.ReadAll(r)
			require.NoError(t, err)
			require.Equal(t, want, string(got), "%d, %d", offset, length)
			if length < 0 {
				continue
			}
			part, size, err := readCall{ctx: t.Context(), src: contentSource(content)}.part(offset, length)
			require.NoError(t, err)
			require.EqualValues(t, 10, size)
			require.Equal(t, want, string(part))
		}
	}
	boom := errors.New("boom")
	failing := readCall{src: func(context.Context, int64, int64) (io.ReadCloser, int64, error) { return nil, 0, boom }}
	_, _, err := failing.part(0, 1)
	require.ErrorIs(t, err, boom)
}

// A passage is a record, with its line numbers and its heading.
func TestSplitter_PassagesAreRecords(t *testing.T) {
	for name, c := range map[string]struct {
		content string
		want    []passage
	}{
		"empty":     {"", nil},
		"short":     {"a\nb", []passage{{firstLine: 1, lastLine: 2, start: 0, text: "a\nb"}}},
		"one line":  {"a", []passage{{firstLine: 1, lastLine: 1, text: "a"}}},
		"a newline": {"\n", []passage{{firstLine: 1, lastLine: 1, text: "\n"}}},
		"600 bytes": {strings.Repeat("x", 599) + "\ny", []passage{{firstLine: 1, lastLine: 1, text: strings.Repeat("x", 599) + "\n"}, {firstLine: 2, lastLine: 2, start: 600, text: "y"}}},
		"a line that goes on": {strings.Repeat("x", 1500), []passage{
			{firstLine: 1, lastLine: 1, text: strings.Repeat("x", 600)}, {firstLine: 1, lastLine: 1, start: 600, text: strings.Repeat("x", 600)}, {firstLine: 1, lastLine: 1, start: 1200, text: strings.Repeat("x", 300)}}},
		"a character at the cut": {strings.Repeat("x", 598) + "天天", []passage{
			{firstLine: 1, lastLine: 1, text: strings.Repeat("x", 598)}, {firstLine: 1, lastLine: 1, start: 598, text: "天天"}}},
		"sentences": {strings.Repeat("x", 400) + ". " + strings.Repeat("y", 400), []passage{
			{firstLine: 1, lastLine: 1, text: strings.Repeat("x", 400) + ". "}, {firstLine: 1, lastLine: 1, start: 402, text: strings.Repeat("y", 400)}}},
		"rows": {"id,name,city\n1,Ada,\"Li\nsbon\"\n2,Bo,Cork\n3,Cy,Oslo\n4,Di,Bari\n", []passage{
			{firstLine: 1, lastLine: 1, text: "id,name,city\n", heading: "id,name,city"}, {firstLine: 2, lastLine: 3, start: 13, text: "1,Ada,\"Li\nsbon\"\n", heading: "id,name,city"},
			{firstLine: 4, lastLine: 4, start: 29, text: "2,Bo,Cork\n", heading: "id,name,city"}, {firstLine: 5, lastLine: 5, start: 39, text: "3,Cy,Oslo\n", heading: "id,name,city"},
			{firstLine: 6, lastLine: 6, start: 49, text: "4,Di,Bari\n", heading: "id,name,city"}}},
		"commits": {"commit 1234567\nAuthor: a\n\n    one\n\ncommit 89abcde\nAuthor: b\n", []passage{
			{firstLine: 1, lastLine: 5, text: "commit 1234567\nAuthor: a\n\n    one\n\n", isRecord: true}, {firstLine: 6, lastLine: 7, start: 35, text: "commit 89abcde\nAuthor: b\n", isRecord: true}}},
		"hunks": {"diff --git a/x b/x\n--- a/x\n@@ -1 +1 @@\n-a\n+b\n@@ -9 +9 @@\n-c\n", []passage{
			{firstLine: 1, lastLine: 1, text: "diff --git a/x b/x\n", isRecord: true}, {firstLine: 2, lastLine: 2, start: 19, text: "--- a/x\n", isRecord: true},
			{firstLine: 3, lastLine: 5, start: 27, text: "@@ -1 +1 @@\n-a\n+b\n", heading: "--- a/x", isRecord: true}, {firstLine: 6, lastLine: 7, start: 45, text: "@@ -9 +9 @@\n-c\n", heading: "--- a/x", isRecord: true}}},
		"sections": {"# A\n\ntext\n\n## B\n\nmore\n", []passage{
			{firstLine: 1, lastLine: 4, text: "# A\n\ntext\n\n", isRecord: true}, {firstLine: 5, lastLine: 7, start: 11, text: "## B\n\nmore\n", heading: "# A", isRecord: true}}},
		"entries": {"10:00:00 INFO a\n\tat b\n10:00:01 INFO c\n", []passage{
			{firstLine: 1, lastLine: 3, text: "10:00:00 INFO a\n\tat b\n10:00:01 INFO c\n"}}},
		"blocks": {"- a: 1\n  b: 2\n- a: 3\n  b: 4\n", []passage{
			{firstLine: 1, lastLine: 2, text: "- a: 1\n  b: 2\n"}, {firstLine: 3, lastLine: 4, start: 14, text: "- a: 3\n  b: 4\n"}}},
		"a table among words": {"words\n\n| a | b |\n|---|---|\n| 1 | 2 |\nend of it\n", []passage{
			{firstLine: 1, lastLine: 2, text: "words\n\n"}, {firstLine: 3, lastLine: 4, start: 7, text: "| a | b |\n|---|---|\n", heading: "| a | b |"},
			{firstLine: 5, lastLine: 5, start: 27, text: "| 1 | 2 |\n", heading: "| a | b |"}, {firstLine: 6, lastLine: 6, start: 37, text: "end of it\n"}}},
	} {
		s := newSplitter(strings.NewReader(c.content))
		for _, want := range c.want {
			got, err := s.next()
			require.NoError(t, err)
			require.Equal(t, want, got, name)
		}
		_, err := s.next()
		require.ErrorIs(t, err, io.EOF)
	}
	boom := errors.New("boom")
	_, err := newSplitter(io.MultiReader(strings.NewReader("a"), iotest.ErrReader(boom))).next()
	require.ErrorIs(t, err, boom)
}

// Ranking stops once it has read its limit, and no earlier.
func TestRankPassages_StopsAtMaxBytes(t *testing.T) {
	content := strings.Repeat(strings.Repeat("x", 599)+"\n", 7)
	for _, c := range []struct{ from, most, searched int64 }{
		{0, 1, 600}, {0, 1200, 1200}, {0, 1201, 1800}, {0, 4200, 4200}, {0, 99_999, 4200}, {600, 1200, 1800}, {600, 1201, 2400}, {900, 1, 1200}, {4200, 1, 4200},
	} {
		s := newSplitter(strings.NewReader(content))
		_, searched, err := rankPassages(readCall{ctx: t.Context(), req: request{query: "zebra", byteOffset: c.from}}, s, 5, c.most)
		require.NoError(t, err)
		require.Equal(t, c.searched, searched, "%+v", c)
	}
	boom := errors.New("boom")
	_, _, err := rankPassages(readCall{ctx: t.Context(), req: request{query: "x"}}, newSplitter(iotest.ErrReader(boom)), 5, 100)
	require.ErrorIs(t, err, boom)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	_, _, err = rankPassages(readCall{ctx: ended, req: request{query: "x"}}, newSplitter(strings.NewReader("x")), 5, 100)
	require.ErrorIs(t, err, context.Canceled)
}

// The answer names the complete call that ranks the rest.
func TestPassagesOf_NamesTheNextCall(t *testing.T) {
	content := strings.Repeat(strings.Repeat("x", 599)+"\n", 4000) + "needle\n"
	for query, want := range map[string]string{
		"needle": `[r] No passage has a word of "needle" in bytes 0 to 2400000 of 2400007. The rest was not searched. Next: r {"file_path":"p","query":"needle","byte_offset":2400000,"limit":7}`,
		"other":  `[r] No passage has a word of "other" in bytes 0 to 2400000 of 2400007. The rest was not searched. Next: r {"file_path":"p","query":"other","byte_offset":2400000,"limit":7}`,
	} {
		v := readCall{ctx: t.Context(), texts: replyTexts{sentences.English(), "r"}, req: request{path: "p", query: query, limit: 7}, maxBytes: 5000}
		answer, err := passagesOf(v, strings.NewReader(content), int64(len(content)), 2_400_000)
		require.NoError(t, err)
		require.Equal(t, want, answer)
		v.req.byteOffset = 2_400_000
		answer, err = passagesOf(v, strings.NewReader(content), int64(len(content)), 1)
		require.NoError(t, err)
		require.Equal(t, query == "needle", strings.Contains(answer, "\nneedle\n"), answer)
		require.Contains(t, answer, "in bytes 2400000 to 2400007 of 2400007")
		require.NotContains(t, answer, "Next")
	}
}

// In a long line, a match is shown with 100 bytes before and after it. A long match is cut after 200 bytes.
func TestSearch_PiecesOfLongLinesAreExact(t *testing.T) {
	for _, c := range []struct {
		before, match, behind int
		from, to              int // of what is shown
	}{
		{1000, 10, 1000, 900, 1110}, {100, 10, 1000, 0, 210}, {101, 10, 1000, 1, 211}, {0, 10, 1000, 0, 110}, {1000, 10, 100, 900, 1110}, {1000, 10, 99, 900, 1109},
		{1000, 200, 1000, 900, 1300}, {1000, 199, 1000, 900, 1299}, {1000, 201, 1000, 900, 1300}, {1000, 999, 1000, 900, 1300},
	} {
		line := strings.Repeat("x", c.before) + strings.Repeat("n", c.match) + strings.Repeat("y", c.behind)
		s := searchFor(t, "n+", 9, searchRange{maxBytes: 1 << 30}, matchLines{room: 1 << 20})
		require.NoError(t, s.searchContent(newLineScanner(strings.NewReader(line))))
		require.Equal(t, fmt.Sprintf("1@%d:%s\n", c.from, line[c.from:c.to]), s.text.String(), "%+v", c)
		require.Equal(t, 1, s.hits)
	}
}
