// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package preview

// The formats of plain text, and their previews.

import (
	"regexp"
	"strings"

	"github.com/einolean/einolean/internal/display"
)

// Format is what a text turned out to be.
type Format string

// The formats.
const (
	JSON Format = "json"
	HTML Format = "html"
	Page Format = "page"
	Test Format = "test"
	Log  Format = "log"
	Text Format = "text"
)

// previewText previews what is not JSON.
func previewText(m options, text string, room int) (string, Format) {
	switch f := formatOf(text); f {
	case Page:
		return display.Valid(m.previewOutline(m.labels.text("page")+"\n", shortenSnapshot(text), nil, text, room)), f
	case HTML:
		shown, sides := outline(text)
		return display.Valid(m.previewOutline(m.labels.text("html")+"\n", shown, sides, text, room)), f
	case Test:
		return display.Valid(previewTests(m, text, room)), f
	case Log:
		return display.Valid(previewLog(m, text, room)), f
	default:
		if short := commits(text); short != "" && len(text) > 2*room {
			return display.Valid(m.previewOutline("", short, nil, text, room)), f
		}
		return display.Valid(previewEnds(m, text, room)), f
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

// A text of which at least leastVerdicts lines, and one in verdictShare of them, give a test's verdict is the
// output of tests.
const leastVerdicts, verdictShare = 3, 8

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
	tests, logs, verdicts, lines := 0, 0, 0, 0
	for l := range strings.Lines(head) {
		l = strings.TrimRight(l, "\r\n")
		if l == "" {
			continue
		}
		lines++
		switch {
		case isTestLine(l):
			tests++
		case LogLine.MatchString(l):
			logs++
		case isVerdictLine(l):
			verdicts++
		}
	}
	switch {
	case tests >= 2 || verdicts >= leastVerdicts && verdicts*verdictShare >= lines || hasSummary(tail):
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

// hasSummary reports whether the end of a text sums tests up, in a line or in several short ones.
func hasSummary(tail string) bool {
	const short, together = 40, 3
	var last []string
	for l := range strings.Lines(tail) {
		l = strings.TrimRight(l, "\r\n")
		if last = append(last, l); len(l) > short {
			last = last[:0]
		} else if len(last) > together {
			last = last[1:]
		}
		if countsTests(strings.Join(last, " ")) {
			return true
		}
		if sumsUp(l) || strings.HasPrefix(l, "--- FAIL: ") || strings.HasPrefix(l, "FAIL\t") || strings.HasPrefix(l, "ok  \t") && strings.HasSuffix(l, "s") {
			return true
		}
	}
	return false
}

// LogLine is a line that begins with a time, such as "2025-03-01T10:00:00", "10:00:00.5" and
// "Mar  1 10:00:00", or with a level.
var LogLine = regexp.MustCompile(`^[\[( \t]*(?:(?:\S{1,11} +){0,2}\d{2,4}[-/.:]\d\d[-/.:]\d\d|(?:INFO|WARN|WARNING|ERROR|DEBUG|TRACE|FATAL|NOTICE)\b|(?:level|time|ts)=)`)

// previewLog previews a log: its end, errors, and each kind of line once.
func previewLog(m options, text string, room int) string {
	frame := m.frame("log", text, room)
	x := newExtract(text, room-len(frame), m.labels, Log)
	x.rankByTopic(newTopic(m.topic))
	x.rankErrors()
	x.keepEnd(x.room * 3 / 4)
	x.keepBest()
	return fitOrHeadTail(m.labels, frame+x.render(), text, room)
}
