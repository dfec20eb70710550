// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package offline

import (
	"regexp"
	"slices"
	"strings"
)

// unitNames has every spelling of a unit with the first of its line, and
// unitKinds with what it measures; unitLines are the lines as the lexicon
// relates words.
var unitNames, unitKinds, unitLines = readUnits(unitsText)

var (
	anyUnit    = unitPattern(func(string) bool { return true })
	unitAfter  = regexp.MustCompile(`(?i)^\s?(?:degrees? )?(` + anyUnit + `)(?:[^\p{Latin}\d]|$)`)
	unitBefore = regexp.MustCompile(`(?:摄氏|华氏)$`)
	unitNamed  = regexp.MustCompile(`(?i)(?:\b(to|into|in|as|many|much|from|of) (?:degrees? )?|([成为到]|多少|几)\s*)(` + unitPattern(longUnit) + `|\b[CFK])(?:[^\p{Latin}\d]|$)`)
)

// longUnit reports whether a unit is not taken for another word where no number is.
func longUnit(name string) bool { return len(name) > 2 || name == "km" || name == "kg" || name == "lb" }

func readUnits(text string) (names map[string]string, kinds map[string][]string, lines string) {
	names, kinds = map[string]string{}, map[string][]string{}
	var measures []string
	for _, line := range strings.Split(strings.TrimSpace(text), "\n") {
		words := strings.Fields(line)
		if words[0] == "#" {
			measures = words[1:]
			continue
		}
		for _, w := range words {
			name := strings.ReplaceAll(w, "-", " ")
			names[name], kinds[name] = strings.ReplaceAll(words[0], "-", " "), measures
			lines += w + " " + strings.Join(words, " ") + "\n"
		}
	}
	return names, kinds, lines
}

// unitPattern matches any of the spellings that are wanted, long ones first.
func unitPattern(wanted func(string) bool) string {
	var spellings []string
	for name := range unitNames {
		if wanted(name) {
			spellings = append(spellings, regexp.QuoteMeta(name))
		}
	}
	slices.SortFunc(spellings, func(a, b string) int {
		if len(a) != len(b) {
			return len(b) - len(a)
		}
		return strings.Compare(a, b)
	})
	return strings.Join(spellings, "|")
}

// units finds the words that name units: those right after a number, and, where
// a number has one, those after "to", "in" and "how many".
func units(text string, found []value) (out []value) {
	for _, v := range found {
		switch v.kind {
		case number:
			if at := unitBefore.FindStringIndex(text[:v.start]); at != nil {
				out = append(out, newUnit(text, at[0], at[1], "from"))
			} else if at := unitAfter.FindStringSubmatchIndex(text[v.end:]); at != nil {
				out = append(out, newUnit(text, v.end+at[2], v.end+at[3], "from"))
			}
		case duration:
			out = append(out, durationParts(text, v)...)
		}
	}
	if len(out) == 0 {
		return nil
	}
	for _, at := range unitNamed.FindAllStringSubmatchIndex(text, -1) {
		out = append(out, newUnit(text, at[6], at[7], "to"))
	}
	return out
}

// newUnit makes a value of a unit; a Chinese one is translated.
func newUnit(text string, start, end int, before string) value {
	name := text[start:end]
	if isHan(name) {
		name = unitNames[name]
	}
	return value{kind: unit, text: name, start: start, end: end, before: before}
}

// durationParts are the number and the unit of a duration such as 90 minutes.
func durationParts(text string, v value) []value {
	n := digits.FindString(text[v.start:v.end])
	at := v.start + len(n)
	word := strings.TrimSpace(text[at:v.end])
	if strings.ContainsAny(word, "0123456789") || word == "" {
		return nil
	}
	return []value{
		{kind: number, text: n, start: v.start, end: at},
		newUnit(text, v.end-len(word), v.end, "from"),
	}
}
