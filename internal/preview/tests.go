// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package preview

// Previews of the output of tests: every failing test is named, then come the end, the messages and
// what stands around them. Passing tests are shown if none fails.

import (
	"slices"
	"strings"
)

const (
	// failureShare is the share of the room, in quarters, that names of failing tests may take.
	failureShare = 3
	// manyFailures is how many failures of one kind make it doubtful that each is a test.
	manyFailures = 40
	// contextLines is how far around an error lines count as its context.
	contextLines = 8
	// maxPassed is how many passing tests are shown at most, if none fails.
	maxPassed = 10
	// leastLeaf is the shortest name that tells that a test was named before.
	leastLeaf = 4
)

// The scores of lines in the output of tests.
const (
	scoreMessage  = 6.0 // an error of which few of its kind came before
	scoreNamed    = 3.0 // a failing test that another line names already
	scoreAlarm    = 4.0 // a line that speaks of an error, of which few of its kind came before
	scoreRepeated = 2.5 // an error of which many of its kind came before
	scoreContext  = 2.0 // the line next to an error; less for those farther away
	scoreStart    = 1.0 // a line at the start
	scoreEnd      = 0.8 // the last of the other lines; less for those before it
	scorePassed   = 0.01
	startLines    = 5
)

// previewTests previews the output of tests.
func previewTests(m options, text string, room int) string {
	frame := m.frame("tests", text, room)
	x := newExtract(text, room-len(frame), m.labels, Test)
	x.readLists()
	x.nameFailures(x.room * failureShare / 4)
	x.keepEnd(x.room)
	x.nameFailures(x.room)
	x.rankTests(newTopic(m.topic))
	x.keepBest()
	return fitOrHeadTail(m.labels, frame+x.render(), text, room)
}

// readLists gives the lines of lists of failed tests their verdict: those behind a heading and at most
// one empty line, with the indent of the first one.
func (x *extract) readLists() {
	for i := 0; i < len(x.lines); i++ {
		if !isHeading(x.lineText(i)) {
			continue
		}
		from := i + 1
		if from < len(x.lines) && strings.TrimSpace(x.lineText(from)) == "" {
			from++
		}
		for n := from; n < len(x.lines); n++ {
			if l := x.lineText(n); !sameList(x.lineText(from), l) || countsTests(l) {
				break
			}
			if r := &x.lines[n].report; r.verdict != verdictFailed {
				*r = report{verdictFailed, strings.TrimSpace(withoutLevel(x.lineText(n)))}
				x.lines[n].severity = severityError
				x.lines[n].kindCount, x.lines[n].earlierOfKind = 1, 0
			}
			i = n
		}
	}
}

// sameList reports whether a line belongs to the list that another one begins: it has its indent, and
// without one its first word.
func sameList(first, l string) bool {
	first, l = withoutLevel(first), withoutLevel(l)
	a, b := strings.TrimLeft(first, " \t"), strings.TrimLeft(l, " \t")
	if b == "" || len(first)-len(a) != len(l)-len(b) {
		return false
	}
	if len(first) > len(a) {
		return true
	}
	wordA, _ := firstWord(a)
	wordB, _ := firstWord(b)
	return wordA == wordB
}

// lineText is the text of a line.
func (x *extract) lineText(i int) string { return x.text[x.lines[i].start:x.lines[i].end] }

// nameFailures chooses lines that name failing tests, from the end on, where runners list them once
// more and with their full names. A test that is named already is not named again.
func (x *extract) nameFailures(room int) {
	kinds, failures := x.failures()
	var named strings.Builder
	for i := range x.lines {
		if x.lines[i].isChosen {
			named.WriteString(x.lineText(i) + "\n")
		}
	}
	for _, often := range []bool{false, true} {
		for _, i := range failures {
			if x.lines[i].isChosen || (kinds[x.kindOf(i)] > manyFailures) != often {
				continue
			}
			if isNamed(named.String(), x.lines[i].report.subject) {
				continue
			}
			cost := x.lineCost(i)
			if cost > room {
				continue
			}
			room -= cost
			x.choose(i)
			named.WriteString(x.lines[i].report.subject + "\n")
		}
	}
}

// failures are the lines about failing tests, from the last on, and how many there are of each kind.
func (x *extract) failures() (kinds map[string]int, failures []int) {
	kinds = make(map[string]int)
	for i := range x.lines {
		r := x.lines[i].report
		if r.verdict == verdictFailed && strings.IndexFunc(r.subject, isLetter) >= 0 && len(failures) < maxErrors {
			failures = append(failures, i)
			kinds[x.kindOf(i)]++
		}
	}
	slices.Reverse(failures)
	return kinds, failures
}

func (x *extract) kindOf(i int) string { return string(kindOfLine(nil, x.lineText(i))) }

func isLetter(r rune) bool {
	return r > 0x7f || isWordByte(byte(r)) && (r < '0' || r > '9') && r != '_'
}

// isNamed reports whether a text has a subject, or the last part of its name, as whole words.
func isNamed(named, subject string) bool {
	if hasWords(named, subject) {
		return true
	}
	last := leaf(subject)
	return len(last) >= leastLeaf && hasWords(named, last)
}

// hasWords reports whether a text has some words, and no longer word that begins or ends with them.
func hasWords(text, wanted string) bool {
	for at := 0; wanted != ""; at += len(wanted) {
		i := strings.Index(text[at:], wanted)
		if i < 0 {
			return false
		}
		at += i
		if !isWordByte(byteAt(text, at-1)) && !isWordByte(byteAt(text, at+len(wanted))) {
			return true
		}
	}
	return false
}

// rankTests gives the lines that are not chosen yet a score.
func (x *extract) rankTests(t *topic) {
	topicScores := t.scores(len(x.lines), x.lineText)
	near := x.distances()
	_, failures := x.failures()
	passes := 0
	for i := range x.lines {
		l := &x.lines[i]
		switch {
		case l.isChosen || strings.TrimSpace(x.lineText(i)) == "":
		case l.report.verdict == verdictPassed:
			if len(failures) == 0 && l.earlierOfKind == 0 && passes < maxPassed {
				passes++
				l.score = scorePassed
			}
		default:
			l.score = max(x.errorScore(i, near[i]), x.contextScore(i, near[i]))
			if topicScores != nil {
				l.score += 1.5 * topicScores[i]
			}
		}
	}
}

// errorScore is the score of a line about an error; 0 if it is about none. near is how far the next error is.
func (x *extract) errorScore(i, near int) float64 {
	switch l := &x.lines[i]; {
	case l.report.verdict == verdictFailed: // named already, or without a name
		return scoreNamed
	case l.severity == severityError && l.earlierOfKind < perTemplate:
		return scoreMessage
	case l.severity == severityAlarm && l.earlierOfKind < perTemplate:
		return scoreAlarm
	case l.severity == severityError, l.severity == severityAlarm && near <= contextLines:
		return scoreRepeated
	}
	return 0
}

// contextScore is the score of a line for what stands near it: an error, the start or the end.
func (x *extract) contextScore(i, near int) float64 {
	score := scoreEnd * float64(i) / float64(len(x.lines))
	if i < startLines {
		score = scoreStart
	}
	if near <= contextLines {
		score = max(score, scoreContext/(1+float64(near)/4))
	}
	if n := x.lines[i].earlierOfKind; n > 0 {
		score /= 1 + float64(min(n, contextLines))
	}
	return score
}

// distances is how many lines each line is from the next error before or behind it.
func (x *extract) distances() []int {
	near := make([]int, len(x.lines))
	far := contextLines + 1
	pass := func(i int) {
		if far++; x.lines[i].severity == severityError {
			far = 0
		}
		if near[i] > far || near[i] == 0 {
			near[i] = far
		}
	}
	for i := range x.lines {
		near[i] = contextLines + 1
		pass(i)
	}
	far = contextLines + 1
	for i := len(x.lines) - 1; i >= 0; i-- {
		pass(i)
	}
	return near
}
