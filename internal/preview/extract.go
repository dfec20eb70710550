// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package preview

// Extracts: lines of a text, chosen by what they say and by the words of a query, in their order
// with what is between them left out.

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/einolean/einolean/internal/display"
)

const (
	// startBytes and endBytes are how much of a text is looked at line by line.
	startBytes = 256 << 10
	endBytes   = 64 << 10
	// searchedBytes is how much of a text is searched for errors, half of it at its end.
	searchedBytes = 4 << 20
	// maxOutlineLine is how much of a line of a page is shown.
	maxOutlineLine = 200
	// lastLines is how many lines of the end are kept.
	lastLines = 8

	// lastSums is how many lines that sum tests up are kept, the last of each kind, if they are
	// among the last sumsWithin lines.
	lastSums   = 4
	sumsWithin = 1000
	// gapRoom is about what it takes to say that lines are left out, and which.
	gapRoom, numberedGap = 20, 36
	// firstOfKind is how many ordinary lines of a kind are shown before the last ones.
	firstOfKind = 10
	// maxErrors bounds how many errors are looked at.
	maxErrors = 2000
)

// line is a line of a text, without its end.
type line struct {
	span
	severity      int
	report        report // what it says of a test, if the text is the output of tests
	kindCount     int    // how many lines there are of its kind, if it is the first of them
	earlierOfKind int    // how many of its kind come before it
	score         float64
	isChosen      bool
	isAside       bool // it stands around the text of a page
}

// extract is a text of which lines are chosen.
type extract struct {
	text   string
	lines  []line
	room   int
	labels labels

	format  Format // of what: in a page words like error mean nothing
	maxLine int    // how much of a line is shown
	gapRoom int    // what a gap takes

	hasLineNumbers bool         // gaps have the numbers of lines
	runs           []lineRun    // in text, of equal lines
	position       linePosition // so far
}

// linePosition is an offset in a text and the number of lines before it.
type linePosition struct{ offset, lines, runsPassed int }

// lineNumber is the number of the line at a place, which is behind that of the call before.
func (x *extract) lineNumber(at int) int {
	c := &x.position
	c.lines += strings.Count(x.text[c.offset:at], "\n")
	for c.offset = at; c.runsPassed < len(x.runs) && x.runs[c.runsPassed].markOffset < at; c.runsPassed++ {
		c.lines += x.runs[c.runsPassed].hiddenLines
	}
	return c.lines + 1
}

// newExtract reads the lines at the start and at the end of a text, and those between
// them that look like errors.
func newExtract(text string, room int, lang labels, format Format) *extract {
	x := &extract{text: text, room: room - gapRoom, labels: lang, format: format, maxLine: maxLine, gapRoom: gapRoom}
	if format == Page {
		x.maxLine = maxOutlineLine
	}
	if len(text) <= startBytes+endBytes {
		x.readLines(span{0, len(text)}, severityNone)
	} else {
		begin := lineEnd(text, startBytes)
		end := lineEnd(text, len(text)-endBytes)
		x.readLines(span{0, begin}, severityNone)
		half := searchedBytes / 2
		if len(text) <= searchedBytes {
			x.readLines(span{begin, end}, severityError)
		} else {
			x.readLines(span{begin, lineEnd(text, half)}, severityError)
			x.readLines(span{lineEnd(text, max(half, len(text)-half)), end}, severityError)
		}
		x.readLines(span{end, len(text)}, severityNone)
	}
	x.countKinds()
	return x
}

// lineEnd is where the line ends that at is in, after its newline.
func lineEnd(text string, at int) int {
	const far = 8 << 10 // a longer line is cut
	if i := strings.IndexByte(text[at:min(len(text), at+far)], '\n'); i >= 0 {
		return at + i + 1
	}
	return at
}

// readLines adds the lines of a part of the text with at least a severity.
func (x *extract) readLines(part span, least int) {
	if least == severityNone {
		x.lines = slices.Grow(x.lines, strings.Count(x.text[part.start:part.end], "\n")+1)
	}
	errors := 0
	for from := part.start; from < part.end; {
		to := part.end
		if i := strings.IndexByte(x.text[from:part.end], '\n'); i >= 0 {
			to = from + i
		}
		next := to + 1
		if to > from && x.text[to-1] == '\r' {
			to--
		}
		l := line{span: span{from, to}}
		if least > severityNone || x.format != Page {
			l.severity = severity(x.text[from:to])
		}
		if x.format == Test {
			l.report = reportOf(x.text[from:to])
			if l.report.verdict == verdictFailed {
				l.severity = severityError
			}
		}
		if l.severity >= least && (least == severityNone || errors < maxErrors) {
			x.lines = append(x.lines, l)
			errors++
		}
		from = next
	}
}

// countKinds counts the lines that are equal except for numbers.
func (x *extract) countKinds() {
	first := make(map[string]int, len(x.lines)/2)
	var b []byte
	for i := range x.lines {
		l := &x.lines[i]
		if l.report.verdict == verdictFailed { // the digits of a name tell it from others
			b = append(b[:0], l.report.subject...)
		} else {
			b = kindOfLine(b[:0], x.text[l.start:l.end])
		}
		at, known := first[string(b)]
		if !known {
			first[string(b)] = i
			l.kindCount = 1
			continue
		}
		l.earlierOfKind = x.lines[at].kindCount
		x.lines[at].kindCount++
	}
}

// rankByTopic scores each line: the start of a text, and lines with words of the topic.
func (x *extract) rankByTopic(t *topic) {
	topicScores := t.scores(len(x.lines), x.lineText)
	for i := range x.lines {
		l := &x.lines[i]
		l.score = .9 * (1 - float64(i)/float64(len(x.lines)))
		if topicScores != nil {
			l.score += 1.5 * topicScores[i]
		}
	}
}

// rankErrors raises the score of errors, and lowers that of lines that repeat.
func (x *extract) rankErrors() {
	for i := range x.lines {
		l := &x.lines[i]
		switch {
		case l.severity == severityError && l.earlierOfKind < perTemplate:
			l.score += 6
		case l.severity == severityError:
			l.score = 0
		case l.severity == severityAlarm:
			l.score += 3 / math.Sqrt(float64(max(l.kindCount, 1)))
		}
		if x.lowerScore(l); i > 0 && x.lineText(i) == x.lineText(i-1) {
			l.score = 0
		}
	}
}

// lowerScore lowers the score of an empty line, and of a line of a kind that occurred before.
func (x *extract) lowerScore(l *line) {
	if l.earlierOfKind >= firstOfKind && l.severity == severityNone && x.format == Log {
		l.score = 0
	}
	if l.earlierOfKind > 0 && (l.severity == severityNone || l.severity == severityAlarm && l.earlierOfKind >= perTemplate) {
		l.score /= 8
	}
	if strings.TrimSpace(x.text[l.start:l.end]) == "" {
		l.score = 0
	}
}

// keepEnd chooses the last lines, and of those that sum tests up the last of each of a few
// kinds.
func (x *extract) keepEnd(room int) {
	sums := make(map[string]bool)
	for i := len(x.lines) - 1; i >= max(0, len(x.lines)-sumsWithin); i-- {
		alwaysKept := len(x.lines)-i <= lastLines && (i+1 == len(x.lines) || x.lineText(i) != x.lineText(i+1))
		if l := x.lineText(i); len(sums) < lastSums && sumsUp(l) {
			kind := string(kindOfLine(nil, l))
			alwaysKept = alwaysKept || !sums[kind]
			sums[kind] = true
		}
		if !alwaysKept {
			continue
		}
		if room -= x.lineCost(i); room < 0 {
			return
		}
		x.choose(i)
	}
}

func (x *extract) keepStart(room int) {
	for i := range x.lines {
		if x.lines[i].isAside {
			continue
		}
		if room -= x.lineCost(i); room < 0 {
			return
		}
		x.choose(i)
	}
}

// keepBest chooses lines by score, for as long as they fit.
func (x *extract) keepBest() {
	order := make([]int, 0, len(x.lines))
	for i := range x.lines {
		if l := &x.lines[i]; !l.isChosen && l.score > 0 {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(x.lines[b].score, x.lines[a].score) })
	misses := 0
	for _, i := range order {
		if x.lineCost(i) <= x.room {
			x.choose(i)
		} else if misses++; misses > 200 {
			return
		}
	}
}

// shownBytes is how many bytes of a line are shown.
func (x *extract) shownBytes(i int) int {
	n := x.lines[i].size()
	if n > x.maxLine {
		n = x.maxLine + len(ellipsis)
	}
	if x.lines[i].kindCount > 1 {
		n += len(" (×1000)")
	}
	return n
}

// lineCost is how much room a line takes, including its effect on the gaps around it.
func (x *extract) lineCost(i int) int {
	n := x.shownBytes(i) + 1 + x.gapRoom
	if i > 0 && x.lines[i-1].isChosen && x.isAdjacent(i-1) {
		n -= x.gapRoom
	}
	if i+1 < len(x.lines) && x.lines[i+1].isChosen && x.isAdjacent(i) || i+1 == len(x.lines) {
		n -= x.gapRoom
	}
	return n
}

// isAdjacent reports whether a line and the next one follow each other directly.
func (x *extract) isAdjacent(i int) bool { return x.lines[i].end+2 >= x.lines[i+1].start }

func (x *extract) choose(i int) {
	if !x.lines[i].isChosen {
		x.room -= x.lineCost(i)
		x.lines[i].isChosen = true
	}
}

// renderBetween writes the text up to head, the chosen lines after it, and the text from tail on. A mark stands
// where lines are left out.
func (x *extract) renderBetween(head, tail int) string {
	var b strings.Builder
	b.WriteString(x.text[:head])
	if head > 0 && x.text[head-1] != '\n' {
		b.WriteByte('\n')
	}
	end := head
	for i := range x.lines {
		l := &x.lines[i]
		if !l.isChosen || l.start < head || l.start >= tail {
			continue
		}
		x.writeGap(&b, end, l.start)
		b.WriteString(display.Short(x.text[l.start:l.end], x.maxLine))
		if l.kindCount > 1 && x.format != Text && (l.severity < severityError || l.kindCount > perTemplate) {
			b.WriteString(" " + x.labels.textWithNumber("times", l.kindCount))
		}
		b.WriteByte('\n')
		end = min(l.end+1, len(x.text))
	}
	x.writeGap(&b, end, tail)
	b.WriteString(x.text[max(end, tail):])
	return b.String()
}

// render writes the chosen lines alone.
func (x *extract) render() string {
	return strings.TrimSuffix(x.renderBetween(0, len(x.text)), "\n")
}

// writeGap writes a mark for the text between two offsets. It writes nothing for white space.
func (x *extract) writeGap(b *strings.Builder, from, to int) {
	if from >= to {
		return
	}
	left := x.text[from:to]
	if strings.TrimSpace(display.Start(left, 200)) == "" && len(left) <= 200 {
		return
	}
	if wholeLine := from == 0 || x.text[from-1] == '\n'; x.hasLineNumbers && wholeLine {
		first := x.lineNumber(from)
		last := x.lineNumber(to)
		if to < len(x.text) || strings.HasSuffix(left, "\n") {
			last--
		}
		if last > first {
			b.WriteString(x.labels.lines(first, last) + "\n")
			return
		}
	}
	lines := strings.Count(left, "\n")
	wholeLine := from == 0 || x.text[from-1] == '\n'
	if !strings.HasSuffix(left, "\n") && (lines > 0 || wholeLine && to == len(x.text)) {
		lines++
	}
	b.WriteString(x.labels.gap(lines, len(left)))
	b.WriteByte('\n')
}

// fitOrHeadTail returns a preview that fits into the room, or else the start and the end of the text.
func fitOrHeadTail(lang labels, shown, text string, room int) string {
	if len(shown) > room {
		return headTail(text, room, lang)
	}
	return shown
}
