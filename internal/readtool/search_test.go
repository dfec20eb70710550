// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package readtool

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/race"
	"github.com/einolean/einolean/internal/display"
)

// shown is a line of an answer to a pattern.
type shown struct {
	number, at int // at is negative where the whole line is shown
	text       string
	match      bool
}

var shownLine = regexp.MustCompile(`^(\d+)(?:@(\d+))?([:-])([^\n]*)$`)

// readMatches takes an answer to a pattern apart; nothing if there is no match.
func readMatches(t *testing.T, answer string) (lines []shown, next string) {
	t.Helper()
	all := strings.Split(answer, "\n")
	if n := nextIn.FindStringSubmatch(all[len(all)-1]); n != nil {
		next = n[1]
	}
	if len(all) == 1 {
		return nil, next
	}
	for _, line := range all[1 : len(all)-1] {
		if line == "--" {
			continue
		}
		m := shownLine.FindStringSubmatch(line)
		require.NotNil(t, m, "%q", line)
		s := shown{number: atoi(m[1]), at: -1, text: m[4], match: m[3] == ":"}
		if m[2] != "" {
			s.at = atoi(m[2])
		}
		lines = append(lines, s)
	}
	return lines, next
}

// searched follows a search to its end.
func searched(t *testing.T, opts Options, arguments string) (found []shown) {
	t.Helper()
	read := New(opts)
	for arguments != "" {
		answer := ask(t, read, arguments)
		require.LessOrEqual(t, len(answer), opts.MaxBytes)
		lines, next := readMatches(t, answer)
		require.NotEqual(t, arguments, next, "no progress")
		found = append(found, lines...)
		arguments = next
	}
	return found
}

func TestSearch_FindsEveryMatchingLineOnce(t *testing.T) {
	r := random(t)
	words := []string{"alpha", "beta", "", "x", "beta FAIL", "日本", "\xff", "FAIL", strings.Repeat("y", 300)}
	for range race.Cases(30) {
		var lines []string
		for range r.IntN(400) {
			lines = append(lines, words[r.IntN(len(words))])
		}
		content := strings.Join(lines, "\n")
		for _, pattern := range []string{"FAIL", "^$", "a$", "(?i)fail|日", ".", "^beta"} {
			var want []shown
			for i, line := range strings.Split(strings.TrimSuffix(content, "\n"), "\n") {
				if content != "" && regexp.MustCompile(pattern).MatchString(line) {
					want = append(want, shown{i + 1, -1, line, true})
				}
			}
			for _, store := range readers(stored(t, content)) {
				opts := from(store, Options{MaxBytes: MinMaxBytes + r.IntN(5000)})
				arguments := fmt.Sprintf(`{"file_path":%q,"pattern":%q,"limit":%d}`, testPath, pattern, 10+r.IntN(200))
				require.Equal(t, want, searched(t, opts, arguments), pattern)
			}
		}
	}
}

func TestSearch_ContextLinesAreShownOnce(t *testing.T) {
	r := random(t)
	for range race.Cases(30) {
		var lines []string
		for i := range 50 + r.IntN(200) {
			lines = append(lines, []string{"quiet", "quiet", "quiet", "loud"}[r.IntN(4)]+fmt.Sprint(" ", i))
		}
		around := r.IntN(5)
		want := make(map[int]bool)
		for i, line := range lines {
			if strings.HasPrefix(line, "loud") {
				for near := max(i-around, 0); near <= min(i+around, len(lines)-1); near++ {
					want[near+1] = true
				}
			}
		}
		opts := from(stored(t, strings.Join(lines, "\n")), Options{MaxBytes: MinMaxBytes + r.IntN(3000)})
		got := make(map[int]bool)
		last := 0
		for _, s := range searched(t, opts, fmt.Sprintf(`{"file_path":%q,"pattern":"^loud","context":%d,"limit":%d}`, testPath, around, 1+r.IntN(20))) {
			if s.match {
				require.Greater(t, s.number, 0)
			}
			require.Equal(t, lines[s.number-1], s.text)
			require.Equal(t, strings.HasPrefix(s.text, "loud"), s.match)
			if s.number <= last {
				require.False(t, s.match, "match %d is shown twice", s.number)
			}
			last = max(last, s.number)
			got[s.number] = true
		}
		for number := range want {
			require.True(t, got[number] || !strings.HasPrefix(lines[number-1], "loud"), "match %d is missing", number)
		}
		for number := range got {
			require.True(t, want[number], "line %d is not near a match", number)
		}
	}
}

// Some of the lines are too long to be searched as a whole.
func TestSearch_ShowsEveryMatchInLongLines(t *testing.T) {
	r := random(t)
	for range race.Cases(80) {
		content := longLines(r)
		re := regexp.MustCompile([]string{"needle", "n[^,]*e", "日.", "^needle", "needle$", `\bneedle\b`, "(?i)NEEDLE,"}[r.IntN(7)])
		from := int64(r.IntN(len(content)/2 + 1))
		pieces := collectPieces(t, r, re, content, from)
		offset := 0
		for _, line := range strings.SplitAfter(content, "\n") {
			for _, m := range re.FindAllStringIndex(strings.TrimSuffix(line, "\n"), -1) {
				at := offset + m[0]
				if int64(at) >= from && len(line) > maxShown+1 {
					require.True(t, covered(pieces, at), "the match of %s at %d is in no piece", re, at)
				}
			}
			offset += len(line)
		}
		for _, p := range pieces {
			if p.at >= 0 {
				require.Equal(t, content[p.at:p.at+len(p.text)], p.text)
				require.Equal(t, strings.Count(content[:p.at], "\n")+1, p.number)
			}
		}
	}
}

// searchFor is a search for a pattern.
func searchFor(t *testing.T, text string, limit int, of searchRange, shown matchLines) patternSearch {
	t.Helper()
	of.budget = 1 << 60
	s := patternSearch{ctx: t.Context(), limit: limit, searchRange: of, matchLines: shown, searchProgress: searchProgress{nextByte: -1}}
	require.NoError(t, s.compile(text))
	return s
}

// Matches that are found one at a time, from any position, are those that package regexp finds at once.
func TestFind_AgreesWithRegexp(t *testing.T) {
	r := random(t)
	patterns := []string{"a", "a*", "", "^a", "a$", `\ba+\b`, `\Bb`, "(?i)AB|b", "(?m)^b", "日", "[^a]+", "a.*b", "a.*?b", "(a|ab)(c|bcd)?", `\Qa`, `\z`, `\Ab?`, "(?s).b", "x{0}"}
	for range race.Cases(500) {
		var b strings.Builder
		for range r.IntN(60) {
			b.WriteString([]string{"a", "b", "ab", "日本", " ", "\xff", "c", "\n"}[r.IntN(8)])
		}
		text := []byte(b.String())
		for _, each := range patterns {
			p := searchFor(t, each, 0, searchRange{}, matchLines{})
			want := p.re.FindAllIndex(text, -1)
			p.instructions = []int{p.instructions, maxAtOnce}[r.IntN(2)]
			for at, last := 0, -1; at <= len(text); {
				m := p.find(text, at)
				if m == nil {
					break
				}
				if empty := m[0] == m[1]; !empty || m[0] != last {
					require.NotEmpty(t, want, "%q in %q", each, text)
					require.Equal(t, want[0], m, "%q in %q", each, text)
					want = want[1:]
				}
				if at, last = m[1], m[1]; m[0] == m[1] {
					_, width := utf8.DecodeRune(text[at:])
					at += max(1, width)
				}
			}
			require.Empty(t, want, "%q in %q", each, text)
		}
	}
}

// All work ends soon after the context, for any pattern and any lines, not only the wait of the caller.
//
//claim:security-56
func TestSearch_EndsSoonAfterContext(t *testing.T) {
	race.Skip(t, "measures time")
	const size = 8 << 20
	for name, content := range map[string]string{
		"one letter":  strings.Repeat("x", size),
		"one line":    strings.Repeat("some words, ", size/12),
		"long lines":  strings.Repeat(strings.Repeat("x", 60_000)+"\n", size/60_001),
		"short lines": strings.Repeat(strings.Repeat("x", 390)+"\n", size/391),
	} {
		read := New(from(stored(t, content), Options{})).(*readTool)
		for _, each := range []string{"x(.*y)?", "(x+x+)+y", "(.*){20}z", "x?x?x?x?x?x?x?x?xxxxxxxxz", "(x|y|w)+?[^ ]*z$", `\b(\w+,? ?){30}z`, "(?:x.{0,100}){8}z", "z", ""} {
			req := request{path: testPath, pattern: each}
			if each == "" {
				req.query = "some letter words"
			}
			const most = 500 * time.Millisecond
			took := race.Fastest(most, func() {
				ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
				defer cancel()
				_, _ = read.answer(ctx, read.texts(), req)
			})
			require.Less(t, took, most, "%q in %s", each, name)
		}
	}
}

func longLines(r *rand.Rand) string {
	var b strings.Builder
	for range 1 + r.IntN(3) {
		for range r.IntN(400) {
			b.WriteString([]string{"hay,", "日本,", "needle,", "needles ", " needle ", "n", "hay hay hay,"}[r.IntN(7)])
		}
		b.WriteString([]string{"\n", "needle\n", ""}[r.IntN(3)])
	}
	return b.String()
}

// collectPieces searches page by page, with pieces of a few hundred bytes.
func collectPieces(t *testing.T, r *rand.Rand, re *regexp.Regexp, content string, from int64) (pieces []shown) {
	t.Helper()
	for from >= 0 {
		in := newLineScanner(strings.NewReader(content))
		in.maxPiece, in.overlap = 500+r.IntN(500), 200
		in.r.Reset(strings.NewReader(content))
		s := searchFor(t, re.String(), 1+r.IntN(5), searchRange{fromByte: from, maxBytes: 1 << 40}, matchLines{room: 5000})
		require.NoError(t, s.searchContent(in))
		found, _ := readMatches(t, "head\n"+s.text.String()+"foot")
		pieces = append(pieces, found...)
		require.True(t, s.nextByte < 0 || s.nextByte > from || s.hits > 0, "no progress")
		from = s.nextByte
	}
	return pieces
}

func covered(pieces []shown, at int) bool {
	for _, p := range pieces {
		if p.at >= 0 && p.at <= at && at <= p.at+len(p.text) {
			return true
		}
	}
	return false
}

func TestSearch_LineWithManyMatchesIsSearchedWhole(t *testing.T) {
	content := strings.Repeat("a", 50_000)
	pieces := searched(t, from(stored(t, content), Options{MaxBytes: DefaultMaxBytes}), `{"file_path":"`+testPath+`","pattern":"a","limit":2000}`)
	end := 0
	for _, p := range pieces {
		require.LessOrEqual(t, p.at, end, "a match is left out")
		end = p.at + len(p.text)
	}
	require.Equal(t, len(content), end)
}

//claim:security-13 security-56
func TestSearch_ContinuesInAnotherCall(t *testing.T) {
	content := strings.Repeat("hay\n", 1000) + "needle\n"
	calls := 0
	for from := int64(0); from >= 0; calls++ {
		s := searchFor(t, "needle", 5, searchRange{fromByte: from, maxBytes: 1000}, matchLines{room: 5000})
		require.NoError(t, s.searchContent(newLineScanner(strings.NewReader(content))))
		require.LessOrEqual(t, max(s.searchedBytes, s.nextByte)-s.firstByte, int64(1000))
		require.True(t, s.hits > 0 || s.nextByte > from, "no progress")
		from = s.nextByte
	}
	require.Equal(t, 5, calls)
}

func TestLineScanner_YieldsLines(t *testing.T) {
	for content, want := range map[string]int{"": 0, "\n": 1, "a": 1, "a\n": 1, "a\n\n": 2, "a\n\nb": 3} {
		s := newLineScanner(strings.NewReader(content))
		var got []string
		for {
			p, err := s.next()
			if errors.Is(err, io.EOF) {
				break
			}
			require.NoError(t, err)
			require.True(t, p.isWholeLine())
			require.Equal(t, content[p.start:p.end()], string(p.text))
			got = append(got, string(p.text))
			require.EqualValues(t, len(got), p.number)
		}
		require.Len(t, got, want, "%q", content)
	}
}

func TestLineScanner_YieldsOverlappingPieces(t *testing.T) {
	line := bytes.Repeat([]byte("0123456789"), 30_000)
	s := newLineScanner(bytes.NewReader(append(line, "\nshort"...)))
	s.maxPiece, s.overlap = 100_000, 1000
	end := int64(0)
	for {
		p, err := s.next()
		require.NoError(t, err)
		if p.number == 2 {
			require.Equal(t, "short", string(p.text))
			break
		}
		require.Equal(t, string(line[p.start:p.end()]), string(p.text))
		require.Equal(t, p.start > 0, p.continues)
		if p.start > 0 {
			require.Equal(t, end-1000, p.start)
		}
		end = p.end()
	}
	require.EqualValues(t, len(line), end)
}

func TestPattern_InvalidExpressionIsExplained(t *testing.T) {
	read := New(from(stored(t, "x"), Options{}))
	for pattern, why := range map[string]string{
		"(x":          `missing closing ): "(x"`,
		"a(?=b)":      `invalid or unsupported Perl syntax: "(?="`,
		"[z-a]":       `invalid character class range: "z-a"`,
		"a**":         `invalid nested repetition operator: "**"`,
		`\1`:          `invalid escape sequence: "\\1"`,
		"x{1001}":     `invalid repeat count: "{1001}"`,
		"(a{900}){9}": `invalid repeat count`,
		"a{999}b{99}": `expression too large`,
	} {
		answer := ask(t, read, fmt.Sprintf(`{"file_path":%q,"pattern":%s}`, testPath, display.Quoted(pattern)))
		require.Contains(t, answer, "not a valid regular expression: "+why)
		require.Contains(t, answer, "RE2")
	}
}

func TestPattern_NoMatchSaysWhatWasSearched(t *testing.T) {
	read := New(from(stored(t, "one\ntwo\nthree\n"), Options{}))
	require.Contains(t, ask(t, read, `{"file_path":"`+testPath+`","pattern":"four"}`), `No line matches "four". Each`)
	require.Contains(t, ask(t, read, `{"file_path":"`+testPath+`","pattern":"one","offset":2}`), `in bytes 4 to 14 of 14.`)
	require.Contains(t, ask(t, read, `{"file_path":"`+testPath+`","pattern":"one","offset":20}`), `in bytes 14 to 14 of 14.`)
}
