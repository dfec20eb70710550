// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package preview

// Previews of plain text: its start and its end, exact, with lines between them that look like errors
// or headings. Runs of equal lines are shown once, and of uniform lines only a few.

import (
	"strings"
	"unicode/utf8"
)

const (
	// leastRun is how many equal lines in a row are folded.
	leastRun = 4
	// leastUniform is how many lines a text needs to be shortened as uniform, if the given percentage is of one
	// kind.
	leastUniform, uniformShare = 40, 90
	// uniformWords is the least number of words in such a line. It excludes lists of numbered names.
	uniformWords = 4
	// uniformLines is how many of them are shown at either end.
	uniformLines = 10
	// leastHeadings is how many headings make a text one with sections.
	leastHeadings = 3
	// leastFramed is the least room in which a line says what the preview shows.
	leastFramed = 600
)

// frame returns the line that states what a preview shows.
func (m options) frame(name string, text string, room int) string {
	if !m.hasFrame || room < leastFramed {
		return ""
	}
	return m.labels.textWithCount(name, linesOf(text)) + "\n"
}

func linesOf(text string) int {
	n := strings.Count(text, "\n")
	if !strings.HasSuffix(text, "\n") {
		n++
	}
	return n
}

// lineRun is a row of equal lines, written as one line followed by a mark.
type lineRun struct {
	markOffset  int // of the mark
	hiddenLines int // lines of the text that are not in the short form
}

// foldRuns writes each row of equal lines once, followed by the number of lines.
func foldRuns(lang labels, text string) (short string, runs []lineRun) {
	var b strings.Builder
	done := 0
	for from := 0; from < len(text); {
		line := firstLine(text[from:])
		end, n := from+len(line), 1
		for len(line) > 1 && strings.HasPrefix(text[end:], line) && strings.HasSuffix(line, "\n") {
			end += len(line)
			n++
		}
		if n >= leastRun {
			b.WriteString(text[done : from+len(line)])
			runs = append(runs, lineRun{b.Len(), n - 2})
			b.WriteString(lang.textWithCount("run", n) + "\n")
			done = end
		}
		from = end
	}
	if done == 0 {
		return text, nil
	}
	b.WriteString(text[done:])
	return b.String(), runs
}

// firstLine is the first line of a text, with its end.
func firstLine(text string) string {
	if i := strings.IndexByte(text, '\n'); i >= 0 {
		return text[:i+1]
	}
	return text
}

// previewEnds previews a text by its start and its end.
func previewEnds(m options, text string, room int) string {
	short, runs := foldRuns(m.labels, text)
	frame := len(m.frame("ends errors", text, room))
	if len(short)+frame <= room {
		return m.frame("ends", text, room) + short
	}
	x := newExtract(short, room-frame, m.labels, Text)
	if m.hasLineNumbers {
		x.hasLineNumbers, x.gapRoom = true, numberedGap
		x.room -= numberedGap - gapRoom
	}
	x.runs = runs
	head, tail, name := x.chooseEnds()
	return fitOrHeadTail(m.labels, m.frame(name, text, room)+x.renderBetween(head, tail), text, room)
}

// chooseEnds chooses where the start ends and where the end begins, and lines between them. It returns the name of
// the label that describes the choice.
func (x *extract) chooseEnds() (head, tail int, name string) {
	outer, name := x.room, "ends"
	if !strings.Contains(strings.TrimSpace(x.text), "\n") {
		name = "ends one"
	}
	head = toLineEnd(x.text, outer*3/8)
	tail = toLineStart(x.text, max(head, len(x.text)-outer*3/8))
	first, last, uniform := x.uniform()
	if uniform {
		name = "uniform"
		head, tail = toLineEnd(x.text, outer/2), toLineStart(x.text, len(x.text)-outer/2)
		head, tail = min(head, first), max(tail, last)
	}
	quarter := outer / 4
	if uniform {
		quarter = outer - head - (len(x.text) - tail)
	}
	x.room = quarter
	if x.chooseMiddleLines(head, tail) {
		name = "ends errors"
	}
	if uniform {
		return head, tail, name
	}
	outer -= quarter - x.room
	head = toLineEnd(x.text, outer/2)
	tail = toLineStart(x.text, max(head, len(x.text)-(outer-head)))
	return head, tail, name
}

// uniform returns the ranges of lines at the start and the end to show of a text whose lines are nearly all of
// one kind.
func (x *extract) uniform() (first, last int, ok bool) {
	most, n := 0, len(x.lines) // the first line of the greatest kind
	for i := range x.lines {
		if x.lines[i].kindCount > x.lines[most].kindCount {
			most = i
		}
	}
	if n < leastUniform || x.lines[most].kindCount*100 < n*uniformShare || len(strings.Fields(x.lineText(most))) < uniformWords {
		return 0, 0, false
	}
	return x.lines[uniformLines].start, x.lines[len(x.lines)-uniformLines].start, true
}

// chooseMiddleLines chooses errors and headings between two offsets while there is room. It takes headings by
// whole levels, the highest first. It reports whether it chose any line.
func (x *extract) chooseMiddleLines(from, to int) bool {
	const levels = 7
	var between [levels][]int
	var costs [levels]int
	headings := x.headings()
	for i := range x.lines {
		if l := &x.lines[i]; l.start >= from && l.start < to && (l.severity == severityError && l.earlierOfKind < perTemplate || headings[i] > 0) {
			between[headings[i]] = append(between[headings[i]], i)
			costs[headings[i]] += x.lineCost(i)
		}
	}
	before := x.room
	for level, lines := range between {
		if level > 0 && costs[level] > x.room {
			break
		}
		for _, i := range lines {
			if x.lineCost(i) <= x.room {
				x.choose(i)
			}
		}
	}
	return x.room < before
}

// headings are the levels of the headings of a Markdown text by line.
func (x *extract) headings() map[int]int {
	levels := make(map[int]int)
	fenced, sections := false, 0
	for i := range x.lines {
		l := x.lineText(i)
		if strings.HasPrefix(l, "```") {
			fenced = !fenced
		}
		n := len(l) - len(strings.TrimLeft(l, "#"))
		if fenced || n == 0 || n > 6 || byteAt(l, n) != ' ' || n == len(l) || i > 0 && strings.TrimSpace(x.lineText(i-1)) != "" {
			continue
		}
		if levels[i] = n; n > 1 {
			sections++
		}
	}
	if sections < leastHeadings {
		return nil
	}
	return levels
}

// headTail returns the start and the end of a text in at most room bytes.
func headTail(text string, room int, lang labels) string {
	room -= len(lang.gap(0, len(text))) + 2
	if room <= 0 {
		return ""
	}
	head := toLineEnd(text, room/2)
	tail := toLineStart(text, max(head, len(text)-(room-head)))
	return text[:head] + "\n" + lang.gap(0, tail-head) + "\n" + text[tail:]
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
