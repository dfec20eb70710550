// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package preview

// The lines of a text: which look like errors, which are the same
// except for numbers, and which of a stream are kept, in bounded memory.

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/einolean/einolean/internal/display"
)

// span is a part of a text, from one byte to another.
type span struct{ start, end int }

func (s span) size() int { return s.end - s.start }

const (
	// maxLine is how much of a line is shown.
	maxLine = 300
	// perTemplate is how many errors of one kind are kept.
	perTemplate = 3
)

// Severity of a line.
const (
	severityNone  = 0
	severityAlarm = 1 // it speaks of an error
	severityError = 2 // it is one
)

// marksBy lists the marks that begin with a byte.
var marksBy = func() (byByte [256][]mark) {
	for _, m := range marks {
		byByte[m.text[0]] = append(byByte[m.text[0]], m)
	}
	return byByte
}()

// pairs holds the two bytes that each mark begins with.
var pairs = func() (set [1 << 16]bool) {
	for _, m := range marks {
		set[int(m.text[0])<<8|int(m.text[1])] = true
	}
	return set
}()

// mark is a piece of text that tells an error.
type mark struct {
	text        string
	onlyAtStart bool // only at the start of a line
	severity    int
	matches     func(line string, at, end int) bool // what else must hold; nil: nothing
}

var marks = []mark{
	{"E   ", true, severityError, nil},
	{"FAILED ", true, severityError, nil},
	{"FAIL:", true, severityError, nil},
	{"FAIL\t", true, severityError, nil},
	{"--- FAIL", false, severityError, nil},
	{"not ok ", true, severityError, nil},
	{"ERROR", false, severityError, isMessage},
	{"error", false, severityError, isError},
	{"Error", false, severityError, isException},
	{"Exception", false, severityError, isException},
	{"panic:", false, severityError, isMessage},
	{"PANIC", false, severityError, isMessage},
	{"fatal:", false, severityError, isMessage},
	{"fatal error", false, severityError, isMessage},
	{"Fatal:", false, severityError, isMessage},
	{"Fatal error", false, severityError, isMessage},
	{"FATAL", false, severityError, isMessage},
	{"CRITICAL", false, severityError, isMessage},
	{"Traceback (", false, severityError, nil},
	{"BUILD FAIL", false, severityError, nil},
	{"exit status ", false, severityError, isNonZero},
	{"exit code ", false, severityError, isNonZero},
	{"exit code: ", false, severityError, isNonZero},
	{"exited with code ", false, severityError, isNonZero},
	{"returncode>", false, severityError, isNonZero},
	{"assertion", false, severityAlarm, nil},
	{"AssertionError", false, severityError, nil},
	{"ailed", false, severityAlarm, nil},
	{"ailure", false, severityAlarm, nil},
	{"xception", false, severityAlarm, nil},
	{"annot ", false, severityAlarm, nil},
	{"enied", false, severityAlarm, nil},
	{".go:", false, severityError, isPlaceInGo},
	{"_test.go:", false, severityAlarm, nil},
	{"错误", false, severityAlarm, nil},
	{"失败", false, severityAlarm, nil},
	{"异常", false, severityAlarm, nil},
}

// severity tells how much a line looks like an error. Of a long line the first and the
// last part count.
func severity(line string) int {
	const long = 2000
	if len(line) > long {
		return max(severity(line[:long/2]), severity(line[len(line)-long/2:]))
	}
	most := severityNone
	begin := len(line) - len(strings.TrimLeft(line, " \t"))
	for i := 0; i+1 < len(line); i++ {
		if !pairs[int(line[i])<<8|int(line[i+1])] {
			continue
		}
		found := marksBy[line[i]]
		for m := range found {
			k := &found[m]
			if k.severity <= most || !strings.HasPrefix(line[i:], k.text) || k.onlyAtStart && i > begin {
				continue
			}
			if k.matches == nil || k.matches(line, i, i+len(k.text)) {
				if most = k.severity; most == severityError {
					return severityError
				}
			}
		}
	}
	return most
}

// alphanumeric are the letters and digits of ASCII.
var alphanumeric = func() (set [256]bool) {
	for c := byte('0'); c <= '9'; c++ {
		set[c] = true
	}
	for c := byte('a'); c <= 'z'; c++ {
		set[c], set[c-'a'+'A'] = true, true
	}
	return set
}()

// isWordByte reports whether a byte can stand in a name.
func isWordByte(c byte) bool { return alphanumeric[c] || c == '_' }

func byteAt(s string, i int) byte {
	if i < 0 || i >= len(s) {
		return ' '
	}
	return s[i]
}

func digitsAt(s string, i int) (n int) {
	for i+n < len(s) && '0' <= s[i+n] && s[i+n] <= '9' {
		n++
	}
	return n
}

func wordSet(list string) map[string]bool {
	set := make(map[string]bool)
	for _, w := range strings.Fields(list) {
		set[w] = true
	}
	return set
}

// isMessage is true of "ERROR", "panic:", "[ERROR]", "FATAL something" and "ERRORS 3".
func isMessage(line string, at, end int) bool {
	if byteAt(line, end) == 'S' {
		end++
	}
	return !isWordByte(byteAt(line, at-1)) && strings.IndexByte(":] \t|!\"),", byteAt(line, end)) >= 0 && !isNegated(line, at, end)
}

// isError is true of "error:" and of "error[E0425]", at a word's start or after a dot or
// colon.
func isError(line string, at, end int) bool {
	before, after := byteAt(line, at-1), byteAt(line, end)
	if isWordByte(before) || before == '\'' || before == '"' && after == ':' {
		return false
	}
	return (after == ':' || after == '[') && !isNegated(line, at, end)
}

// isException is true of "ValueError: …", "java.io.IOException: …" and "Error: …".
func isException(line string, at, end int) bool {
	return (byteAt(line, end) == ':' || end == len(line) && isWordByte(byteAt(line, at-1))) && !isNegated(line, at, end)
}

// isNonZero reports whether a number that is not zero follows.
func isNonZero(line string, _, end int) bool {
	first := byteAt(strings.TrimPrefix(line[end:], "-"), 0)
	return '1' <= first && first <= '9'
}

// isPlaceInGo is true of what go build and go vet report: "x.go:3:14: …".
func isPlaceInGo(line string, _, end int) bool {
	n := digitsAt(line, end)
	m := digitsAt(line, end+n+1)
	return n > 0 && m > 0 && byteAt(line, end+n) == ':' && byteAt(line, end+n+1+m) == ':'
}

// isNegated reports whether the context negates an error, as in "0 errors", "no error", "error: null" and "errors:
// 0".
func isNegated(line string, at, end int) bool {
	before := strings.ToLower(strings.TrimRight(line[max(0, at-12):at], " "))
	if strings.HasSuffix(before, " no") || before == "no" || before == "0" || strings.HasSuffix(before, " 0") || strings.HasSuffix(before, "without") {
		return true
	}
	after := strings.ToLower(strings.TrimLeft(line[end:min(len(line), end+16)], " \t:=\"'"))
	for _, nothing := range []string{"null", "none", "nil", "false", "0"} {
		if rest, ok := strings.CutPrefix(after, nothing); ok && (rest == "" || !isWordByte(rest[0]) && rest[0] != '.') {
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
var outcomes = wordSet("passed failed passing failing failures failure errors error skipped pending total examples completed ignored assertions run runs tests specs scenarios")

// countsTests is true of "2 failed, 3 passed", "Tests run: 5, Failures: 1" and "3 passing (2s)".
func countsTests(l string) bool {
	const two = 2
	fields := strings.FieldsFunc(l, func(r rune) bool { return r > 0x7f || !alphanumeric[byte(r)] })
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

// kindOfLine appends a line without what differs between lines of one kind: numbers, long hexadecimal words, and
// times. It reads only the start of the line.
func kindOfLine(b []byte, line string) []byte {
	const most = 160
	line = line[:min(len(line), most)]
	for i := 0; i < len(line); {
		c := line[i]
		if !alphanumeric[c] {
			if c != ' ' || len(b) > 0 && b[len(b)-1] != ' ' {
				b = append(b, c)
			}
			i++
			continue
		}
		end := i
		for end < len(line) && alphanumeric[line[end]] {
			end++
		}
		if n := len(b); isVariable(line[i:end]) {
			if n == 0 || b[n-1] != '#' {
				b = append(b, '#')
			}
		} else {
			b = append(b, line[i:end]...)
		}
		i = end
	}
	return b
}

// isVariable reports whether a word is mostly digits, or hexadecimal.
func isVariable(word string) bool {
	digits, hex := 0, true
	for i := 0; i < len(word); i++ {
		c := word[i]
		if '0' <= c && c <= '9' {
			digits++
		} else if c|0x20 < 'a' || c|0x20 > 'f' {
			hex = false
		}
	}
	return digits > 0 && (digits*2 >= len(word) || hex && len(word) >= 6)
}

const (
	// maxKept is how many error lines of a stream are kept: half of them the first, the
	// others the last.
	maxKept = 10
	// maxPartial is how much of a line is looked at whose end has not come.
	maxPartial = 2000
)

// Errors keeps the lines of a stream that look like errors: of each kind the first few,
// and of all of them the first and the last. The zero value is ready for use, by one
// goroutine. A nil one keeps nothing.
type Errors struct {
	partial   []byte
	number    int // lines that have ended
	offset    int // bytes of the stream so far
	lineStart int // where the current line begins
	kinds     map[string]int
	lines     []errorLine
}

type errorLine struct {
	number, offset int
	text           string
}

// Add takes what comes next in the stream.
func (e *Errors) Add(text string) {
	for e != nil && text != "" {
		i := strings.IndexByte(text, '\n')
		if i < 0 {
			e.appendPartial(text)
			e.offset += len(text)
			return
		}
		e.appendPartial(text[:i])
		e.offset += i + 1
		e.endLine()
		text = text[i+1:]
	}
}

func (e *Errors) appendPartial(text string) {
	e.partial = append(e.partial, text[:min(len(text), maxPartial-len(e.partial))]...)
}

func (e *Errors) endLine() {
	e.number++
	line := strings.TrimSuffix(string(e.partial), "\r")
	if severity(line) == severityError && e.isNew(line) {
		if len(e.lines) == maxKept {
			e.lines = slices.Delete(e.lines, maxKept/2, maxKept/2+1)
		}
		e.lines = append(e.lines, errorLine{e.number, e.lineStart, display.Short(line, maxLine)})
	}
	e.partial, e.lineStart = e.partial[:0], e.offset
}

// isNew reports whether a line is among the first of its kind. Beyond a thousand kinds,
// every line is.
func (e *Errors) isNew(line string) bool {
	const maxKinds = 1000
	kind := string(kindOfLine(nil, line))
	if e.kinds == nil {
		e.kinds = make(map[string]int)
	}
	if len(e.kinds) < maxKinds || e.kinds[kind] > 0 {
		e.kinds[kind]++
	}
	return e.kinds[kind] <= perTemplate
}

// Lines returns the kept lines that begin in a part of the stream, with their numbers, in
// at most room bytes.
func (e *Errors) Lines(from, to, room int) string {
	if e == nil {
		return ""
	}
	if len(e.partial) > 0 {
		last := *e // a last line without an end
		last.lines, last.kinds = slices.Clone(e.lines), maps.Clone(e.kinds)
		last.endLine()
		e = &last
	}
	var b strings.Builder
	for _, l := range e.lines {
		line := strconv.Itoa(l.number) + ": " + display.Valid(l.text)
		if l.offset < from || l.offset >= to || b.Len()+len(line)+1 > room {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(line)
	}
	return b.String()
}
