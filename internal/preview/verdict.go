// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package preview

// What lines of test runners say of tests: that one passed, failed or begins. The rules look at
// where a line has its verdict, not at which runner wrote it.

import (
	"maps"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/einolean/einolean/internal/display"
)

// verdict is what a line says of a test.
type verdict uint8

const (
	verdictNone   verdict = iota
	verdictPassed         // or skipped, or it begins
	verdictFailed
)

// verdictWords are the words and signs of verdicts: in lower case, with a capital, and in capitals.
var verdictWords = func() map[string]verdict {
	set := make(map[string]verdict)
	defer func() {
		for w, v := range maps.Clone(set) {
			set[strings.ToUpper(w)] = v
			set[strings.ToUpper(w[:1])+w[1:]] = v
		}
	}()
	for w := range wordSet("fail failed failure ✕ × ✖ ✗ ✘ ❌ ⨯ ● [-] [e] (fail)") {
		set[w] = verdictFailed
	}
	for w := range wordSet("pass passed ok success skip skipped ignored pending disabled todo xfail ✓ ✔ √ ✅ ○ [+] (pass) run running pause cont start started") {
		set[w] = verdictPassed
	}
	return set
}()

const (
	// longestVerdict is how much of a line is looked at, at its start and at its end.
	longestVerdict = 400
	// maxTrailingWords is how many words may stand behind a verdict at the end: times and shares.
	maxTrailingWords = 6
	// decoration is what stands around a verdict.
	decoration = "()[]{}<>!:;,.*-=|#'\"_"
)

// report is what a line says of a test, and the rest of it: the name of the test and what else
// stands there.
type report struct {
	verdict verdict
	subject string
}

// reportOf reads a line. A line that counts tests has no verdict on one.
func reportOf(line string) report {
	if len(line) > longestVerdict {
		line = display.Start(line, longestVerdict)
	}
	body := strings.TrimSpace(withoutLevel(line))
	if body == "" {
		return report{}
	}
	r := reportIn(body)
	if r.verdict != verdictNone && (strings.ContainsAny(line, ",;|") || strings.Contains(line, "s=")) && countsTests(line) {
		return report{}
	}
	return r
}

func reportIn(body string) report {
	if rest, ok := strings.CutPrefix(body, "not ok"); ok && (rest == "" || rest[0] == ' ') {
		return report{verdictFailed, strings.TrimSpace(rest)}
	}
	first, rest := firstWord(body)
	if word, after, ok := strings.Cut(rest, "]"); ok && first == "[" { // "[  FAILED  ] name"
		if v := verdictOf(strings.TrimSpace(word)); v != verdictNone {
			return report{v, strings.TrimSpace(after)}
		}
	}
	if trimDecoration(first) == "" && first != "" { // "---" and "#" before it
		if first, rest = firstWord(rest); first == "" {
			return report{}
		}
	}
	v := verdictOf(first)
	switch {
	case v == verdictFailed && isProse(first, rest):
	case v != verdictNone && !strings.Contains(first, "="):
		return report{v, rest}
	case strings.TrimSuffix(first, ":") == "ERROR" && namesCode(rest):
		return report{verdictFailed, rest}
	case isNumbered(first):
		return report{verdictFailed, rest}
	}
	return reportAtEnd(body)
}

// reportAtEnd looks for a verdict behind the name, and for one in capitals anywhere.
func reportAtEnd(body string) report {
	rest := body
	for range maxTrailingWords {
		at := strings.LastIndexByte(rest, ' ') + 1
		last := rest[at:]
		if v := verdictOf(wordEnd(last)); v != verdictNone {
			name := strings.TrimSpace(rest[:len(rest)-len(last)] + last[:len(last)-len(wordEnd(last))])
			if isCount(name, last) {
				return report{}
			}
			return report{v, strings.TrimRight(name, decoration+" ")}
		}
		if at == 0 || !isMeasure(last) {
			break
		}
		rest = strings.TrimRight(rest[:at], " ")
	}
	for _, word := range []string{"FAILED", "FAILURE", "FAIL"} {
		i := strings.Index(body, word)
		if i < 0 || isWordByte(byteAt(body, i-1)) || isWordByte(byteAt(body, i+len(word))) {
			continue
		}
		return report{verdictFailed, strings.Trim(body[:i], decoration+" ") + " " + strings.Trim(body[i+len(word):], decoration+" ")}
	}
	return report{}
}

// isVerdictLine is true of a line that certainly gives the verdict on a test, and names it.
func isVerdictLine(line string) bool {
	r := reportOf(line)
	return r.verdict != verdictNone && strings.IndexFunc(r.subject, isLetter) >= 0 && certainVerdict.MatchString(line)
}

// certainVerdict finds the verdicts that are hardly ever words of prose or code: in capitals, as a sign, or
// with a time behind them.
var certainVerdict = regexp.MustCompile(`\b(?:PASS(?:ED)?|FAIL(?:ED)?|Passed|Failed|(?:not )?ok \d+)\b|[✕×✖✗✘❌✓✔√✅]|\b(?:pass|passed|ok|fail|failed)\b[^\pL\d]*[\d.,]+ ?(?:ms|s|secs?|seconds?)\b[^\pL\d]*$`)

// verdictOf is the verdict that a word is, with or without its decoration.
func verdictOf(word string) verdict {
	if len(word) > 2*utf8.UTFMax+len("failure") {
		return verdictNone
	}
	if v := verdictWords[word]; v != verdictNone {
		return v
	}
	return verdictWords[trimDecoration(word)]
}

// wordEnd is the part of a word behind dots or stars that fill a line: "FAILED" of "....***FAILED".
func wordEnd(word string) string {
	trimmed := strings.TrimRight(word, decoration)
	if i := strings.LastIndexAny(trimmed, ".*"); i >= 0 {
		return word[i+1:]
	}
	return word
}

// isMeasure is true of what stands behind a verdict: a number, a share, a time, or its unit.
func isMeasure(word string) bool {
	word = strings.Trim(word, decoration+"%+~/")
	unit := strings.TrimLeft(word, "0123456789.,:µ")
	switch strings.ToLower(unit) {
	case "", "ms", "s", "sec", "secs", "second", "seconds", "m", "min", "us", "ns", "h":
		return true
	}
	return false
}

// isCount is true of "… 2" before "failed" in lower case: what counts tests names none.
func isCount(name, word string) bool {
	last := name[strings.LastIndexByte(name, ' ')+1:]
	return last != "" && digitsAt(last, 0) == len(last) && word[0] >= 'a'
}

// isNumbered is true of "12)".
func isNumbered(word string) bool {
	n := digitsAt(word, 0)
	return n > 0 && n <= 5 && word[n:] == ")"
}

// isProse is true of "Failed to …" and "failed: …" in lower case, which speak of no test.
func isProse(first, rest string) bool {
	next, _ := firstWord(rest)
	return next == "to" || next == "with" || next == "when" || strings.HasSuffix(first, ":") && first == strings.ToLower(first)
}

// namesCode is true of "test_a (tests.test_b.C)" and "tests/test_a.py::test_b".
func namesCode(rest string) bool {
	name, after := firstWord(rest)
	return strings.Contains(name, "::") || strings.HasPrefix(after, "(")
}

// firstWord parts a text behind its first word and the white space there.
func firstWord(s string) (word, rest string) {
	n := 0
	for n < len(s) && s[n] != ' ' && s[n] != '\t' {
		n++
	}
	at := n
	for at < len(s) && (s[at] == ' ' || s[at] == '\t') {
		at++
	}
	return s[:n], s[at:]
}

// trimDecoration removes the decoration around a word.
func trimDecoration(word string) string {
	for word != "" && isDecoration[word[0]] {
		word = word[1:]
	}
	for word != "" && isDecoration[word[len(word)-1]] {
		word = word[:len(word)-1]
	}
	return word
}

var isDecoration = func() (set [256]bool) {
	for i := range len(decoration) {
		set[decoration[i]] = true
	}
	return set
}()

// withoutLevel is a line without a level such as "[ERROR]" before it. The indent behind it stays.
func withoutLevel(line string) string {
	if !strings.HasPrefix(line, "[") {
		return line
	}
	level, rest, ok := strings.Cut(line[1:], "]")
	switch strings.ToUpper(strings.TrimSpace(level)) {
	case "ERROR", "WARN", "WARNING", "INFO", "DEBUG":
		if ok {
			return rest
		}
	}
	return line
}

// isHeading is true of the line before a list of failed tests: "failures:", "Failed examples:".
func isHeading(line string) bool {
	const longest = 60
	body := strings.TrimSpace(withoutLevel(line))
	if len(body) > longest || !strings.HasSuffix(body, ":") || !strings.Contains(strings.ToLower(body), "fail") {
		return false
	}
	return strings.IndexFunc(body, func(r rune) bool { return '0' <= r && r <= '9' || r == '/' || r == '.' }) < 0
}

// leaf is the last part of a name, without what leads to it: "test_b" of "a.py::test_b".
func leaf(subject string) string {
	if i := strings.LastIndexAny(subject, ":>›#/.\\"); i >= 0 {
		_, n := utf8.DecodeRuneInString(subject[i:])
		subject = subject[i+n:]
	}
	return strings.Trim(subject, decoration+" ")
}
