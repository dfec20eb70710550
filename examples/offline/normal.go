// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package offline

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

func trimPoint(s string) string { return strings.TrimRight(s, ".,;:!?) \n") }

func needsStar(s string) string {
	if !strings.Contains(s, "*") {
		return ""
	}
	return s
}

func plainSigns(s string) string { return strings.NewReplacer("×", "*", "÷", "/").Replace(s) }

func plainNumber(s string) string { return strings.ReplaceAll(s, ",", "") }

var scientific = regexp.MustCompile(`^\d+[eE]\d+$`)

func notScientific(s string) string {
	if scientific.MatchString(s) {
		return ""
	}
	return s
}

var digits = regexp.MustCompile(`\d+`)

func isoDate(s string) string {
	n := digits.FindAllString(s, 3)
	if len(n) < 3 {
		return ""
	}
	return joinDate(n[0], n[1], n[2])
}

func joinDate(year, month, day string) string {
	m, _ := strconv.Atoi(month)
	d, _ := strconv.Atoi(day)
	return fmt.Sprintf("%s-%02d-%02d", year, m, d)
}

const monthStarts = "janfebmaraprmayjunjulaugsepoctnovdec"

// wordyDate reads 3 March 2026 and March 3rd, 2026.
func wordyDate(s string) string {
	n := digits.FindAllString(s, 2)
	for _, word := range tokens(s) {
		if len(word) < 3 || isNumber(word[:1]) {
			continue
		}
		if at := strings.Index(monthStarts, word[:3]); at >= 0 && len(n) == 2 {
			return joinDate(n[1], strconv.Itoa(at/3+1), n[0])
		}
	}
	return ""
}

// isoClock reads 2:30 pm, 9am, 14:30 and 14点30分.
func isoClock(s string) string {
	n := digits.FindAllString(s, 3)
	hour, _ := strconv.Atoi(n[0])
	minute, second := "00", ""
	if len(n) > 1 {
		minute = fmt.Sprintf("%02s", n[1])
	}
	if len(n) > 2 {
		second = ":" + n[2]
	}
	switch lower := strings.ToLower(s); {
	case strings.HasSuffix(lower, "pm") && hour < 12:
		hour += 12
	case strings.HasSuffix(lower, "am") && hour == 12:
		hour = 0
	}
	return fmt.Sprintf("%02d:%s%s", hour, minute, second)
}

var span = regexp.MustCompile(`(\d+(?:\.\d+)?)\s?(ms|milli|[wdhms])`)

// shortSpans writes 1 hour and 30 minutes as 1h30m.
func shortSpans(s string) string {
	var b strings.Builder
	for _, m := range span.FindAllStringSubmatch(s, -1) {
		b.WriteString(m[1] + strings.Replace(m[2], "milli", "ms", 1))
	}
	return b.String()
}

// notFirstVerb takes a verb or a stop word off the front of a name: a sentence
// begins with a capital as well.
func notFirstVerb(s string) string {
	words := strings.Fields(s)
	if first := strings.ToLower(words[0]); verbs[first] || stopWords[first] {
		return "" // the rest of the name, if any, is seen as quoted or unquoted text
	}
	return s
}

func notFiller(s string) string {
	if stopWords[s] {
		return ""
	}
	return s
}

// joinMoments makes one value of the date and the time of a text, if it has one of each.
func joinMoments(found []value) []value {
	day, at := slices.IndexFunc(found, isKind(date)), slices.IndexFunc(found, isKind(clock))
	if day < 0 || at < 0 || slices.ContainsFunc(found[day+1:], isKind(date)) || slices.ContainsFunc(found[at+1:], isKind(clock)) {
		return found
	}
	joined := found[at]
	joined.kind, joined.text = moment, found[day].text+" "+found[at].text
	return append(slices.DeleteFunc(found, func(v value) bool { return v.kind == date || v.kind == clock }), joined)
}

func isKind(k kind) func(value) bool { return func(v value) bool { return v.kind == k } }

// namedNumbers finds words that mean numbers, such as twelve and hexadecimal.
func namedNumbers(text string, found []value) (out []value) {
	for _, at := range wordAt.FindAllStringIndex(text, -1) {
		n, ok := numbers[strings.ToLower(text[at[0]:at[1]])]
		inside := func(v value) bool { return v.kind != unit && v.kind != proper && v.start < at[1] && at[0] < v.end }
		if ok && !slices.ContainsFunc(found, inside) {
			v := value{kind: named, text: n, start: at[0], end: at[1]}
			if isMonth(text[at[0]:at[1]]) {
				v.before = "month"
			}
			out = append(out, v)
		}
	}
	return out
}

func isMonth(word string) bool {
	return len(word) >= 3 && !isHan(word) && strings.Index(monthStarts, strings.ToLower(word[:3]))%3 == 0
}
