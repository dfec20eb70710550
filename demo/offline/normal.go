// Copyright einolean authors
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

func plainNumber(s string) string { return strings.ReplaceAll(s, ",", "") }

var digits = regexp.MustCompile(`\d+`)

func isoDate(s string) string {
	n := digits.FindAllString(s, 3)
	m, _ := strconv.Atoi(n[1])
	d, _ := strconv.Atoi(n[2])
	return fmt.Sprintf("%s-%02d-%02d", n[0], m, d)
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

// notFirstVerb removes a leading verb or stop word from a name, because a sentence begins with a capital as
// well.
func notFirstVerb(s string) string {
	words := strings.Fields(s)
	if first := strings.ToLower(words[0]); verbs[first] || stopWords[first] {
		return "" // the rest of the name, if any, is seen as quoted or unquoted text
	}
	return s
}

// namedNumbers finds number words, such as twelve and hexadecimal.
func namedNumbers(text string, found []value) (out []value) {
	for _, at := range wordAt.FindAllStringIndex(text, -1) {
		n, ok := numbers[strings.ToLower(text[at[0]:at[1]])]
		inside := func(v value) bool { return v.kind != unit && v.kind != proper && v.start < at[1] && at[0] < v.end }
		if ok && !slices.ContainsFunc(found, inside) {
			out = append(out, value{kind: numeral, text: n, start: at[0], end: at[1]})
		}
	}
	return out
}
