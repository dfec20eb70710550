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
	"github.com/einolean/einolean/internal/rank"
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
	severity int
	report   report // what it says of a test, if the text is the output of tests
	times    int    // how many lines there are of its kind, if it is the first of them
	repeat   int    // how many of its kind come before it
	score    float64
	chosen   bool
	aside    bool // it stands around the text of a page
}

// extract is a text of which lines are chosen.
type extract struct {
	text  string
	lines []line
	room  int
	say   labels

	of      Format // of what: in a page words like error mean nothing
	maxLine int    // how much of a line is shown
	gapRoom int    // what a gap takes

	numbered bool  // gaps have the numbers of lines
	runs     []run // in text, of equal lines
	counted  count // so far
}

// count is how many lines stand before a place of a text.
type count struct{ at, lines, runs int }

// lineNumber is the number of the line at a place, which is behind that of the call before.
func (x *extract) lineNumber(at int) int {
	c := &x.counted
	c.lines += strings.Count(x.text[c.at:at], "\n")
	for c.at = at; c.runs < len(x.runs) && x.runs[c.runs].at < at; c.runs++ {
		c.lines += x.runs[c.runs].hidden
	}
	return c.lines + 1
}

// newExtract reads the lines at the start and at the end of a text, and those between
// them that look like errors.
func newExtract(text string, room int, say labels, of Format) *extract {
	x := &extract{text: text, room: room - gapRoom, say: say, of: of, maxLine: maxLine, gapRoom: gapRoom}
	if of == Page {
		x.maxLine = maxOutlineLine
	}
	if len(text) <= startBytes+endBytes {
		x.read(span{0, len(text)}, severityNone)
	} else {
		begin := lineEnd(text, startBytes)
		end := lineEnd(text, len(text)-endBytes)
		x.read(span{0, begin}, severityNone)
		half := searchedBytes / 2
		if len(text) <= searchedBytes {
			x.read(span{begin, end}, hard)
		} else {
			x.read(span{begin, lineEnd(text, half)}, hard)
			x.read(span{lineEnd(text, max(half, len(text)-half)), end}, hard)
		}
		x.read(span{end, len(text)}, severityNone)
	}
	x.fold()
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

// read adds the lines of a part that are at least as severe.
func (x *extract) read(part span, least int) {
	if least == severityNone {
		x.lines = slices.Grow(x.lines, strings.Count(x.text[part.from:part.to], "\n")+1)
	}
	errors := 0
	for from := part.from; from < part.to; {
		to := part.to
		if i := strings.IndexByte(x.text[from:part.to], '\n'); i >= 0 {
			to = from + i
		}
		next := to + 1
		if to > from && x.text[to-1] == '\r' {
			to--
		}
		l := line{span: span{from, to}}
		if least > severityNone || x.of != Page {
			l.severity = severity(x.text[from:to])
		}
		if x.of == Test {
			l.report = reportOf(x.text[from:to])
			if l.report.verdict == failed {
				l.severity = hard
			}
		}
		if l.severity >= least && (least == severityNone || errors < maxErrors) {
			x.lines = append(x.lines, l)
			errors++
		}
		from = next
	}
}

// fold finds the lines that are the same except for numbers.
func (x *extract) fold() {
	first := make(map[string]int, len(x.lines)/2)
	var b []byte
	for i := range x.lines {
		l := &x.lines[i]
		if l.report.verdict == failed { // the digits of a name tell it from others
			b = append(b[:0], l.report.subject...)
		} else {
			b = mask(b[:0], x.text[l.from:l.to])
		}
		at, known := first[string(b)]
		if !known {
			first[string(b)] = i
			l.times = 1
			continue
		}
		l.repeat = x.lines[at].times
		x.lines[at].times++
	}
}

// rank gives each line a score: what begins a text, and what was talked about.
func (x *extract) rank(talk *rank.Talk) {
	words := talk.Scores(len(x.lines), func(i int) string { return x.text[x.lines[i].from:x.lines[i].to] })
	for i := range x.lines {
		l := &x.lines[i]
		l.score = .9 * (1 - float64(i)/float64(len(x.lines)))
		if words != nil {
			l.score += 1.5 * words[i]
		}
	}
}

// rankErrors raises the score of errors, and lowers that of lines that repeat.
func (x *extract) rankErrors() {
	for i := range x.lines {
		l := &x.lines[i]
		switch {
		case l.severity == hard && l.repeat < perTemplate:
			l.score += 6
		case l.severity == hard:
			l.score = 0
		case l.severity == alarm:
			l.score += 3 / math.Sqrt(float64(max(l.times, 1)))
		}
		if x.lower(l); i > 0 && x.at(i) == x.at(i-1) {
			l.score = 0
		}
	}
}

// lower lowers the score of a line of a kind that was there before, and of an empty one.
func (x *extract) lower(l *line) {
	if l.repeat >= firstOfKind && l.severity == severityNone && x.of == Log {
		l.score = 0
	}
	if l.repeat > 0 && (l.severity == severityNone || l.severity == alarm && l.repeat >= perTemplate) {
		l.score /= 8
	}
	if strings.TrimSpace(x.text[l.from:l.to]) == "" {
		l.score = 0
	}
}

// keepEnd chooses the last lines, and of those that sum tests up the last of each of a few
// kinds.
func (x *extract) keepEnd(room int) {
	sums := make(map[string]bool)
	for i := len(x.lines) - 1; i >= max(0, len(x.lines)-sumsWithin); i-- {
		wanted := len(x.lines)-i <= lastLines && (i+1 == len(x.lines) || x.at(i) != x.at(i+1))
		if l := x.text[x.lines[i].from:x.lines[i].to]; len(sums) < lastSums && sumsUp(l) {
			kind := string(mask(nil, l))
			wanted = wanted || !sums[kind]
			sums[kind] = true
		}
		if !wanted {
			continue
		}
		if room -= x.cost(i); room < 0 {
			return
		}
		x.choose(i)
	}
}

func (x *extract) keepStart(room int) {
	for i := range x.lines {
		if x.lines[i].aside {
			continue
		}
		if room -= x.cost(i); room < 0 {
			return
		}
		x.choose(i)
	}
}

// keepBest chooses lines by score, for as long as they fit.
func (x *extract) keepBest() {
	order := make([]int, 0, len(x.lines))
	for i := range x.lines {
		if l := &x.lines[i]; !l.chosen && l.score > 0 {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(x.lines[b].score, x.lines[a].score) })
	misses := 0
	for _, i := range order {
		if x.cost(i) <= x.room {
			x.choose(i)
		} else if misses++; misses > 200 {
			return
		}
	}
}

// shown is how many bytes of a line are shown.
func (x *extract) shown(i int) int {
	n := x.lines[i].size()
	if n > x.maxLine {
		n = x.maxLine + len(more)
	}
	if x.lines[i].times > 1 {
		n += len(" (×1000)")
	}
	return n
}

// cost is how much room a line takes, with what it does to the gaps around it.
func (x *extract) cost(i int) int {
	n := x.shown(i) + 1 + x.gapRoom
	if i > 0 && x.lines[i-1].chosen && x.joined(i-1) {
		n -= x.gapRoom
	}
	if i+1 < len(x.lines) && x.lines[i+1].chosen && x.joined(i) || i+1 == len(x.lines) {
		n -= x.gapRoom
	}
	return n
}

// joined reports whether nothing is between a line and the next.
func (x *extract) joined(i int) bool { return x.lines[i].to+2 >= x.lines[i+1].from }

func (x *extract) choose(i int) {
	if !x.lines[i].chosen {
		x.room -= x.cost(i)
		x.lines[i].chosen = true
	}
}

// between writes the start up to head, the chosen lines after it, and the end from tail. A
// mark stands where lines are left out.
func (x *extract) between(head, tail int) string {
	var b strings.Builder
	b.WriteString(x.text[:head])
	if head > 0 && x.text[head-1] != '\n' {
		b.WriteByte('\n')
	}
	end := head
	for i := range x.lines {
		l := &x.lines[i]
		if !l.chosen || l.from < head || l.from >= tail {
			continue
		}
		x.gap(&b, end, l.from)
		b.WriteString(display.Short(x.text[l.from:l.to], x.maxLine))
		if l.times > 1 && x.of != Text && (l.severity < hard || l.times > perTemplate) {
			b.WriteString(" " + x.say.with("times", l.times))
		}
		b.WriteByte('\n')
		end = min(l.to+1, len(x.text))
	}
	x.gap(&b, end, tail)
	b.WriteString(x.text[max(end, tail):])
	return b.String()
}

// String writes the chosen lines alone.
func (x *extract) String() string {
	return strings.TrimSuffix(x.between(0, len(x.text)), "\n")
}

// gap says what is left out between two places.
func (x *extract) gap(b *strings.Builder, from, to int) {
	if from >= to {
		return
	}
	left := x.text[from:to]
	if strings.TrimSpace(display.Start(left, 200)) == "" && len(left) <= 200 {
		return
	}
	if whole := from == 0 || x.text[from-1] == '\n'; x.numbered && whole {
		first := x.lineNumber(from)
		last := x.lineNumber(to)
		if to < len(x.text) || strings.HasSuffix(left, "\n") {
			last--
		}
		if last > first {
			b.WriteString(x.say.lines(first, last) + "\n")
			return
		}
	}
	lines := strings.Count(left, "\n")
	whole := from == 0 || x.text[from-1] == '\n'
	if !strings.HasSuffix(left, "\n") && (lines > 0 || whole && to == len(x.text)) {
		lines++
	}
	b.WriteString(x.say.gap(lines, len(left)))
	b.WriteByte('\n')
}

// within returns a preview if it is within room, and head and tail otherwise.
func within(say labels, shown, text string, room int) string {
	if len(shown) > room {
		return headTail(text, room, say)
	}
	return shown
}
