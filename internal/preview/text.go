// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package preview

// The formats of plain text, and their previews.

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/einolean/einolean/internal/display"
	"github.com/einolean/einolean/internal/rank"
)

// showText previews what is not JSON.
func showText(m *maker, text string, room int) (string, Format) {
	switch f := formatOf(text); f {
	case Page:
		return display.Valid(showPage(m, text, room)), f
	case HTML:
		return display.Valid(showHTML(m, text, room)), f
	case Test, Log:
		return display.Valid(showOutput(m, text, room)), f
	default:
		if short := commits(text); short != "" && len(text) > 2*room {
			return display.Valid(m.outlined("", short, nil, text, room)), f
		}
		return display.Valid(showEnds(m, text, room)), f
	}
}

// commits is a history as git log prints it with a line for each commit, or nothing if a text is
// something else.
func commits(text string) string {
	const least = 3
	if !CommitLine.MatchString(text[:min(len(text), 80)]) {
		return ""
	}
	var b strings.Builder
	n, titled := 0, true
	for l := range strings.Lines(text) {
		l = strings.TrimRight(l, "\r\n")
		rest, indented := strings.CutPrefix(l, "    ")
		switch {
		case CommitLine.MatchString(l):
			if n++; n > 1 {
				b.WriteByte('\n')
			}
			b.WriteString(strings.TrimPrefix(l, "commit "))
			titled = false
		case titled:
		case indented && strings.TrimSpace(rest) != "":
			b.WriteString(" " + display.Short(rest, maxOutlineLine/2))
			titled = true
		case strings.HasPrefix(l, "Author:"), strings.HasPrefix(l, "Date:"):
			_, value, _ := strings.Cut(l, ":")
			value, _, _ = strings.Cut(strings.TrimSpace(value), " <")
			b.WriteString(", " + display.Short(value, maxOutlineLine/4))
		}
	}
	if n < least {
		return ""
	}
	return b.String() + "\n"
}

// CommitLine is a line of `git log` that begins a commit.
var CommitLine = regexp.MustCompile(`^commit [0-9a-f]{7,64}\b`)

// formatOf looks at the start of a text, and for a summary at its end.
func formatOf(text string) Format {
	const begin, end = 48 << 10, 4 << 10
	switch {
	case isPage(text):
		return Page
	case isHTML(text):
		return HTML
	}
	head, tail := text[:min(len(text), begin)], text[max(0, len(text)-end):]
	tests, logs, lines := 0, 0, 0
	for l := range strings.Lines(head) {
		l = strings.TrimRight(l, "\r\n")
		if l == "" {
			continue
		}
		lines++
		switch {
		case isTestLine(l):
			tests++
		case logLine.MatchString(l):
			logs++
		}
	}
	switch {
	case tests >= 2 || hasSummary(tail):
		return Test
	case lines > 3 && logs*10 >= lines*3:
		return Log
	}
	return Text
}

// isTestLine is true of the lines that pytest, go test, unittest, Maven, cargo and others
// write about their tests, and of those of go build and go vet.
func isTestLine(l string) bool {
	for _, p := range []string{"=== RUN ", "--- PASS", "--- FAIL", "--- SKIP", "    --- ", "ok  \t", "FAIL\t", "FAILED ", "PASSED ", "E   ", "[INFO] Tests run", "[ERROR] Tests run", "Tests run:", "not ok ", "# Subtest", " PASS ", " FAIL "} {
		if strings.HasPrefix(l, p) {
			return true
		}
	}
	if strings.HasPrefix(l, "=====") && strings.HasSuffix(l, "=====") {
		return true
	}
	if strings.HasPrefix(l, "test ") && (strings.HasSuffix(l, " ... ok") || strings.HasSuffix(l, " ... FAILED")) {
		return true
	}
	if i := strings.Index(l, ".go:"); i > 0 && isPlaceInGo(l, i, i+len(".go:")) {
		return true
	}
	return strings.Contains(l, "::") && (strings.Contains(l, " PASSED") || strings.Contains(l, " FAILED")) || strings.HasSuffix(l, " ... ok") || strings.HasSuffix(l, " ... FAIL") || strings.HasSuffix(l, " ... ERROR")
}

// hasSummary reports whether the end of a text sums tests up.
func hasSummary(tail string) bool {
	for l := range strings.Lines(tail) {
		l = strings.TrimRight(l, "\r\n")
		if sumsUp(l) || strings.HasPrefix(l, "--- FAIL: ") || strings.HasPrefix(l, "FAIL\t") || strings.HasPrefix(l, "ok  \t") && strings.HasSuffix(l, "s") {
			return true
		}
	}
	return false
}

// sumsUp reports whether a line says how all tests went.
func sumsUp(l string) bool {
	switch {
	case strings.HasPrefix(l, "Ran ") && strings.Contains(l, " test") && strings.Contains(l, " in "),
		strings.HasPrefix(l, "=") && strings.HasSuffix(l, "=") && (strings.Contains(l, " failed") || strings.Contains(l, " passed")),
		strings.Contains(l, "BUILD FAIL"), strings.Contains(l, "BUILD SUCCESS"), strings.HasPrefix(l, "test result: "):
		return true
	}
	return len(l) <= maxLine && countsTests(l)
}

// outcomes are the words beside the numbers of tests.
var outcomes = words("passed failed passing failing failures failure errors error skipped pending total examples completed ignored assertions run")

// countsTests is true of "2 failed, 3 passed", "Tests run: 5, Failures: 1" and "3 passing (2s)".
func countsTests(l string) bool {
	const two = 2
	fields := strings.FieldsFunc(l, func(r rune) bool { return r > 0x7f || !alphanumeric(byte(r)) })
	counted := ""
	found := 0
	for i, f := range fields {
		if digitsAt(f, 0) != len(f) {
			continue
		}
		for _, near := range []int{i - 1, i + 1} {
			if near < 0 || near >= len(fields) {
				continue
			}
			if word := strings.ToLower(fields[near]); outcomes[word] && word != counted {
				counted, found = word, found+1
			}
		}
	}
	return found >= two || found == 1 && len(fields) <= two+two && strings.HasSuffix(counted, "ing") && counted != "pending"
}

// logLine begins with a time, such as "2025-03-01T10:00:00", "10:00:00.5" and "Mar  1 10:00:00",
// or with a level.
var logLine = regexp.MustCompile(`^[\[( \t]*(?:(?:\S{1,11} +){0,2}\d{2,4}[-/.:]\d\d[-/.:]\d\d|(?:INFO|WARN|WARNING|ERROR|DEBUG|TRACE|FATAL|NOTICE)\b|(?:level|time|ts)=)`)

// showOutput previews tests and logs: the end, errors, and each kind of line once.
func showOutput(m *maker, text string, room int) string {
	x := newExtract(text, room, m.say, false)
	x.rank(rank.NewTalk(m.query))
	x.rankErrors()
	x.keepEnd(x.room * 3 / 4)
	x.keepBest(x.room, 0)
	return within(m, x.String(), text, room)
}

// within returns a preview if it is within room, and head and tail otherwise.
func within(m *maker, shown, text string, room int) string {
	if len(shown) > room {
		return headTail(text, room, m.say)
	}
	return shown
}

// showEnds previews a text by its start and its end, with errors that stand between them.
func showEnds(m *maker, text string, room int) string {
	x := newExtract(text, room, m.say, false)
	outer := x.room
	head := toLineEnd(text, outer*3/8)
	tail := toLineStart(text, max(head, len(text)-outer*3/8))
	x.room = room / 4
	for i := range x.lines {
		l := &x.lines[i]
		if l.severity == hard && l.repeat < perTemplate && l.from >= head && l.from < tail && x.cost(i) <= x.room {
			x.choose(i)
		}
	}
	outer -= room/4 - x.room
	head = toLineEnd(text, outer/2)
	tail = toLineStart(text, max(head, len(text)-(outer-head)))
	return within(m, x.between(head, tail), text, room)
}

// headTail is the start and the end of a text in at most room bytes.
func headTail(text string, room int, say labels) string {
	room -= len(say.gap(0, len(text))) + 2
	if room <= 0 {
		return ""
	}
	head := toLineEnd(text, room/2)
	tail := toLineStart(text, max(head, len(text)-(room-head)))
	return text[:head] + "\n" + say.gap(0, tail-head) + "\n" + text[tail:]
}

// toLineEnd moves n back to the end of a line, or to that of a character.
func toLineEnd(s string, n int) int {
	n = min(max(n, 0), len(s))
	from := n - n/4
	if i := strings.LastIndexByte(s[from:n], '\n'); i >= 0 {
		return from + i + 1
	}
	for back := 0; back < utf8.UTFMax && n > 0 && n < len(s) && !utf8.RuneStart(s[n]); back++ {
		n--
	}
	return n
}

// toLineStart moves n on to the start of a line, or to that of a character.
func toLineStart(s string, n int) int {
	n = min(max(n, 0), len(s))
	near := s[n : n+(len(s)-n)/4]
	if i := strings.IndexByte(near, '\n'); i >= 0 {
		return n + i + 1
	}
	for n < len(s) && !utf8.RuneStart(s[n]) {
		n++
	}
	return n
}
