// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package offline

import (
	"cmp"
	"slices"
)

// speaksOf lists the words by which a parameter asks for a kind of value.
var speaksOf = map[kind][]string{
	quoted:   {"text", "string", "input", "phrase", "content", "message", "word", "sentence", "文字", "文本"},
	document: {"json", "document", "object", "data"},
	url:      {"url", "uri", "link", "address"},
	moment:   {"time", "moment", "timestamp", "date", "start", "end"},
	date:     {"date", "day", "moment", "time", "birthday", "start", "end", "日期"},
	network:  {"cidr", "network", "prefix", "subnet"},
	address:  {"ip", "address", "cidr", "network", "host"},
	zone:     {"zone", "timezone", "offset", "city"},
	dotted:   {"path", "key", "host", "domain"},
	path:     {"file", "path", "folder", "directory", "dir", "filename"},
	duration: {"duration", "period"},
	number:   {"number", "numbers", "value", "amount", "digits", "数字", "金额"},
	unit:     {"unit", "scale"},
	code:     {"digest", "numeral", "code", "text", "number"},
	proper:   {"city", "place", "zone", "country", "name", "word"},
}

// leadsTo lists, for the word before a value, the parameters that it announces.
var leadsTo = map[string][]string{
	"to": {"to", "target", "destination", "new", "end", "b", "second"}, "into": {"to", "target", "destination"},
	"成": {"to", "target"}, "到": {"to", "target", "end"}, "为": {"to", "target"},
	"from": {"from", "source", "start", "old", "a", "first"}, "从": {"from", "source", "start"},
	"in": {"in", "zone", "to", "text", "path", "file"}, "at": {"time", "at"}, "on": {"date", "day", "on"},
	"with": {"with", "new", "replacement", "replace", "by", "key", "separator"}, "by": {"by", "with", "separator", "factor", "new", "replacement", "amount"},
	"at the": {"separator"}, "as": {"as", "format", "to"}, "between": {"from", "start", "a", "first", "min"}, "and": {"to", "end", "b", "second", "max"},
	"of":    {"n", "total", "whole"},
	"first": {"n", "limit", "count", "lines"}, "top": {"n", "limit", "count"}, "last": {"n", "limit", "count", "lines"},
}

// choice is the kind of a word that is one of a parameter's choices.
const choice kind = "choice"

// scoreValue rates how well a value suits a parameter. Zero means not at all.
func scoreValue(t toolView, p param, v value) float64 {
	target := p
	if p.kind == "array" && v.kind != document {
		target = param{kind: cmp.Or(p.item, "string")}
	}
	if (v.kind == choice) != slices.Contains(p.choices, v.text) || len(p.choices) > 0 && v.kind != choice {
		return 0
	}
	if _, ok := convert(v, target); !ok {
		return 0
	}
	score := kindScore(p, v, target.kind)
	if score == 0 || otherUnit(p, v) {
		return 0
	}
	if p.required {
		score += 2.5
	}
	return score + datePartScore(p, v) + contextScore(t, p, v)
}

// contextScore scores the words next to a value: "width 20", "to Tokyo".
func contextScore(t toolView, p param, v value) (score float64) {
	matchesName := slices.Contains(p.words, v.before) && !slices.Contains(t.nameWords, v.before) && !slices.Contains(vague, v.before)
	if matchesName || slices.Contains(p.words, v.after) {
		score += 3
	}
	if !stopWords[v.after] && unitNames[v.after] == "" && v.after != "" && best(v.after, p.descWords) == 1 {
		score += 1.5
	}
	if slices.ContainsFunc(leadsTo[v.before], func(w string) bool { return slices.Contains(p.words, w) }) {
		score += 2
	}
	return score
}

// special reports whether a parameter takes values of an unmistakable form.
func (p param) special() bool {
	for _, k := range []kind{path, url, date, moment, address, network, duration} {
		if hasSimilar(speaksOf[k], p.words) {
			return true
		}
	}
	return false
}

// vague are words that stand before values of many sorts.
var vague = []string{"in", "on", "at", "of"}

// otherUnit reports whether a number has another unit than a parameter such as "seconds" wants.
func otherUnit(p param, v value) bool {
	if v.kind != number || unitNames[v.after] == "" {
		return false
	}
	for _, w := range p.words {
		if name := unitNames[w]; name != "" && name != unitNames[v.after] {
			return true
		}
	}
	return false
}

// datePartScore prefers years for parameters that ask for one.
func datePartScore(p param, v value) float64 {
	if slices.Contains(p.words, "year") && v.kind == number && len(v.text) == 4 {
		return 3
	}
	return 0
}

func kindScore(p param, v value, want string) float64 {
	switch {
	case v.kind == choice:
		return 6
	case want == "number" || want == "integer":
		return 3
	}
	return textScore(p, v)
}

// textScore rates how well a value suits a text parameter.
func textScore(p param, v value) float64 {
	switch {
	case hasSimilar(speaksOf[v.kind], p.words):
		return 5
	case hasSimilar(speaksOf[v.kind], p.descWords):
		return 2.5
	case v.kind == quoted:
		return 1.5
	case p.special():
		return 0
	case v.kind != unit && hasSimilar(speaksOf[quoted], p.words):
		return 1.2
	case v.kind == code || v.kind == proper:
		return 0.8
	}
	return 0
}

func hasSimilar(words, others []string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return slices.Contains(others, w) || slices.Contains(others, w+"s") })
}

// namesTool reports whether a value only names the tool or its task, such as MD5 in "the MD5 of abc".
func namesTool(t toolView, v value) bool {
	if !v.kind.soft() && v.text != "UTC" && v.text != "GMT" {
		return false
	}
	for _, w := range tokens(v.text) {
		if best(w, t.nameWords) < 0.8 && (v.kind == unit || best(w, t.server) < 1 && !slices.Contains(t.descWords, w)) {
			return false
		}
	}
	return true
}
