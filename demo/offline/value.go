// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package offline

import (
	"cmp"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// kind says what a value looks like. The names are words that parameters are
// described with, so that "date" fits a parameter which mentions a date.
type kind string

const (
	quoted   kind = "text"
	document kind = "json"
	url      kind = "url"
	moment   kind = "moment"
	date     kind = "date"
	network  kind = "cidr"
	address  kind = "ip"
	zone     kind = "zone"
	path     kind = "path"
	dotted   kind = "accessor" // users[0].name, example.com
	duration kind = "duration"
	number   kind = "number"
	numeral  kind = "numeral" // a word that means a number
	unit     kind = "unit"
	code     kind = "code" // capitals, or letters mixed with digits
	proper   kind = "name" // capitalised words
)

// soft reports whether values of a kind may be words that describe the step instead of data.
func (k kind) soft() bool { return k == code || k == proper || k == unit }

// value is something in a text that can become an argument.
type value struct {
	kind       kind
	text       string // as a tool wants it: without quotes, dates and times as ISO 8601 writes them
	start, end int    // its bytes in the text it was found in
	before     string // the word before it, lower case, articles left out
	after      string // the word after it
	group      int    // values of one kind in a row have the same number
	conjoined  bool   // an "and" precedes it in its row
}

// finder finds values of one kind. The value is the first group of the pattern
// that matched something, or the whole match.
type finder struct {
	kind    kind
	pattern *regexp.Regexp
	tidy    func(string) string // normalizes a value; "" rejects it; nil keeps it
}

const (
	spans = `\d+(?:\.\d+)?\s?(?:weeks?|days?|hours?|hrs?|minutes?|mins?|seconds?|secs?|milliseconds?)`
	files = `(?:txt|md|csv|tsv|json|jsonl|go|log|xml|html?|ya?ml|toml|ini|cfg|conf|zip|gz|tar|tgz|png|jpe?g|gif|svg|pdf|tmp|bin|dat|sh|py|js|css|sql|bak)`
)

// finders are applied in this order. Later finders do not see the matches of earlier ones.
var finders = []finder{
	{quoted, regexp.MustCompile("(?s)```(?:[a-z]*\n)?(.*?)\n?```|`([^`]+)`"), nil},
	{quoted, regexp.MustCompile(`"((?:[^"\\]|\\.)*)"|“([^”]*)”|「([^」]*)」|『([^』]*)』|‘([^’]*)’|(?:^|[\s(,:=\[])'([^']+)'\B`), nil},
	{url, regexp.MustCompile(`[a-z][a-z0-9+.-]*://[^\s"'<>\x00，。]+`), trimPoint},
	{moment, regexp.MustCompile(`\b\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(?::\d{2})?(?:Z|[+-]\d{2}:\d{2})?`), nil},
	{date, regexp.MustCompile(`\b\d{4}[-/.]\d{1,2}[-/.]\d{1,2}\b|\d{4}年\d{1,2}月\d{1,2}[日号]`), isoDate},
	{network, regexp.MustCompile(`\b\d{1,3}(?:\.\d{1,3}){3}/\d{1,2}\b|\b[0-9a-fA-F:]*:[0-9a-fA-F:]*/\d{1,3}\b`), nil},
	{address, regexp.MustCompile(`\b\d{1,3}(?:\.\d{1,3}){3}\b|\b[0-9a-fA-F]{0,4}(?::[0-9a-fA-F]{0,4}){3,7}|\b[0-9a-fA-F]{1,4}(?::[0-9a-fA-F]{1,4})*::[0-9a-fA-F:]*`), nil},
	{zone, regexp.MustCompile(`\b[A-Z][A-Za-z]+(?:/[A-Z][A-Za-z_]+)+\b|\b(?:UTC|GMT)(?:[+-]\d{1,2}(?::\d{2})?)?\b|[+-]\d{2}:\d{2}\b`), nil},
	{path, regexp.MustCompile(`(?:\.{0,2}/)?[\w.-]*[A-Za-z_][\w.-]*(?:/[\w.*-]+)+/?|(?:[\w.-]+|\*)\.` + files + `\b|\b\w+/(?:\s|$)`), trimPoint},
	{dotted, regexp.MustCompile(`\b[A-Za-z_]\w*(?:\[\d+\]|\.[A-Za-z_]\w*)+`), nil},
	{duration, regexp.MustCompile(`\b` + spans + `(?:(?:,| and)? ` + spans + `)*\b|\b(?:\d+[wdhms])+\b`), shortSpans},
	{code, regexp.MustCompile(`\b[A-Za-z]+-\d+\b|\b[A-Za-z]+\d\w*\b|\b\d+[A-Za-z]+\d\w*\b|\b[A-Za-z0-9+/]{4,}={1,2}`), nil},
	{number, regexp.MustCompile(`(?:^|[^\w.])(-?\d{1,3}(?:,\d{3})+(?:\.\d+)?)\b|(?:^|[^\w.])(-?0[xb][0-9a-fA-F]+|-?\d+(?:\.\d+)?(?:e[+-]?\d+)?)(?:st|nd|rd|th)?`), plainNumber},
	{code, regexp.MustCompile(`\b[A-Z][A-Z]+\b`), nil},
	{proper, regexp.MustCompile(`\b[A-ZÀ-Þ][a-zà-ÿ-]+(?: (?:de|of|da|del) [A-ZÀ-Þ][a-zà-ÿ]+| [A-ZÀ-Þ][a-zà-ÿ]+)*`), notFirstVerb},
}

// values finds all values in a text, in order.
func values(text string) []value {
	masked := []byte(text)
	found := documents(text, masked)
	for _, f := range finders {
		for _, at := range f.pattern.FindAllSubmatchIndex(masked, -1) {
			start, end := innermost(at)
			v := value{kind: f.kind, text: text[start:end], start: start, end: end}
			if f.kind == quoted { // the quotes are part of it
				v.start, v.end = at[0], at[1]
			}
			if f.tidy != nil {
				v.text = f.tidy(v.text)
			}
			if v.text == "" || strings.Contains(v.text, "\x00") {
				continue
			}
			if strings.HasPrefix(text[start:end], v.text) && v.kind != quoted { // a point at the end may end the sentence
				v.end = start + len(v.text)
			}
			found = append(found, v)
			mask(masked[v.start:v.end])
		}
	}
	found = slices.DeleteFunc(found, func(v value) bool { return v.kind == proper && v.start == 0 && !strings.Contains(v.text, " ") })
	found = append(found, units(text, found)...)
	found = append(found, namedNumbers(text, found)...)
	slices.SortStableFunc(found, func(a, b value) int { return cmp.Compare(a.start, b.start) })
	return locate(text, found)
}

// innermost is the first group that matched, or the whole match.
func innermost(at []int) (start, end int) {
	for i := 2; i+1 < len(at); i += 2 {
		if at[i] >= 0 {
			return at[i], at[i+1]
		}
	}
	return at[0], at[1]
}

func mask(b []byte) {
	for i := range b {
		b[i] = 0
	}
}

// documents finds JSON objects and arrays, and masks them.
func documents(text string, masked []byte) (found []value) {
	for i := 0; i < len(text); i++ {
		if text[i] != '{' && text[i] != '[' || i > 0 && class(rune(text[i-1])) == letter {
			continue
		}
		var raw json.RawMessage
		dec := json.NewDecoder(strings.NewReader(text[i:]))
		if dec.Decode(&raw) != nil {
			continue
		}
		end := i + int(dec.InputOffset())
		found = append(found, value{kind: document, text: text[i:end], start: i, end: end})
		mask(masked[i:end])
		i = end
	}
	return found
}

// between is what stands between the values of one group.
var between = regexp.MustCompile(`^\s*(?:,|;|、|，|/|&)?\s*(?:and|or|和|与|及|跟)?\s*$`)

var besideTime = regexp.MustCompile(`^(?: in| at)? $`)

// locate notes the words around each value, and numbers the groups.
func locate(text string, found []value) []value {
	for i := range found {
		v := &found[i]
		if v.before == "" {
			v.before = lastWord(text[:v.start])
		}
		v.after = firstWord(text[v.end:])
		if i > 0 && found[i-1].end <= v.start && (v.kind == proper || v.kind == zone) && besideTime.MatchString(text[found[i-1].end:v.start]) && found[i-1].kind == moment {
			v.before = "from" // 14:30 in Paris: the time is one of this place
		}
		v.group = i
		for j := i - 1; j >= 0; j-- {
			if found[j].kind == v.kind && found[j].end <= v.start && between.MatchString(text[found[j].end:v.start]) {
				v.group = found[j].group
				v.conjoined = strings.ContainsFunc(text[found[j].end:v.start], unicode.IsLetter)
				break
			}
		}
	}
	return found
}

func lastWord(text string) string {
	words := tokens(text)
	for len(words) > 1 && slices.Contains([]string{"the", "a", "an"}, words[len(words)-1]) {
		words = words[:len(words)-1]
	}
	if len(words) == 0 {
		return ""
	}
	return words[len(words)-1]
}

func firstWord(text string) string {
	if words := tokens(text); len(words) > 0 {
		return words[0]
	}
	return ""
}
