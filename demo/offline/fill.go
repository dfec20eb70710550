// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package offline

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"
)

// filling holds arguments for a tool, and how well they match.
type filling struct {
	args    map[string]any
	missing []string // required parameters without a value
	unused  int      // data in the step that no parameter uses
	loose   int      // parameters filled with words for lack of data

	countMismatches int // special data in parameters that do not mention its kind
}

// fit adds to a tool's score: all data used and nothing missing is best.
func (f filling) fit() float64 {
	return -0.5*float64(len(f.missing)) - 0.15*float64(min(f.unused, 3)) - 0.08*float64(f.loose) -
		0.2*float64(f.countMismatches) + 0.05*math.Min(float64(len(f.args)), 3)
}

func (f filling) json() string {
	b, _ := json.Marshal(f.args) // texts, numbers, and documents that were read
	return string(b)
}

// fill finds arguments for a tool in a step and in the earlier result that the step mentions.
func (s *situation) fill(p *progress, t toolView) filling {
	data := slices.Clone(p.values)
	if p.refers {
		data = append(data, s.referencedValues(p)...)
	}
	f := filling{args: map[string]any{}}
	all, used := assign(f.args, p.text, t, data)
	for _, q := range t.params {
		if _, ok := f.args[q.name]; ok || !q.required {
			continue
		}
		if v, ok := s.fallback(p, t, q); ok {
			f.args[q.name] = v
			f.loose++
		} else {
			f.missing = append(f.missing, q.name)
		}
	}
	f.unused = countUnused(all, used, t)
	f.countMismatches = countMismatches(all, used, t)
	return f
}

// countMismatches counts data of a special kind, such as a path, in parameters that do not mention that kind.
func countMismatches(all []value, used []bool, t toolView) (n int) {
	for i, v := range all {
		plain := v.kind == quoted || v.kind.soft() && v.kind != unit || v.kind == number || v.kind == choice || v.kind == numeral
		if used[i] && !plain && !slices.ContainsFunc(t.params, func(p param) bool {
			return hasSimilar(speaksOf[v.kind], p.words) || hasSimilar(speaksOf[v.kind], p.descWords)
		}) {
			n++
		}
	}
	return n
}

// referencedValues returns the earlier result as a value, or a placeholder until it arrives.
func (s *situation) referencedValues(p *progress) []value {
	result, ok, _ := s.earlier(p)
	if !ok {
		v := value{kind: quoted, text: "…", start: len(p.text), end: len(p.text), before: "of"}
		w := v
		w.kind, w.text = number, "1"
		return []value{v, w}
	}
	text := strings.TrimSpace(result)
	v := value{kind: quoted, text: text, start: len(p.text), end: len(p.text), before: "of"}
	out := []value{v}
	for _, w := range values(text) {
		if w.end-w.start == len(text) || w.kind == number {
			w.start, w.end, w.before = len(p.text), len(p.text), "of"
			return append(out, w)
		}
	}
	return out
}

// fallback fills a text parameter with the remaining words of the step, or with the earlier result.
func (s *situation) fallback(p *progress, t toolView, q param) (any, bool) {
	required := 0
	for _, other := range t.params {
		if other.required {
			required++
		}
	}
	if q.kind != "string" || len(q.choices) > 0 || hasData(p.values) || required > 1 && !hasSimilar(speaksOf[quoted], q.words) {
		return nil, false
	}
	if words := remainder(p.step, t); words != "" {
		return words, true
	}
	if result, ok, _ := s.earlier(p); ok && p.index > 0 {
		return strings.TrimSpace(result), true
	}
	return nil, false
}

// hasData reports whether any value is certainly data.
func hasData(data []value) bool {
	return slices.ContainsFunc(data, func(v value) bool {
		return !v.kind.soft() && v.kind != numeral
	})
}

// remainder returns the part of a step that does not describe the tool: it starts at the first word that the
// tool does not mention.
func remainder(st step, t toolView) string {
	text := strings.TrimRight(st.text, ".?!。？！ ")
	isKnown := func(word string) bool {
		for _, w := range tokens(word) {
			if !stopWords[w] && !verbs[w] && best(w, t.nameWords) == 0 && best(w, t.descWords) == 0 {
				return false
			}
		}
		return true
	}
	words := strings.Fields(text)
	for len(words) > 0 && isKnown(words[0]) {
		words = words[1:]
	}
	return strings.Trim(strings.Join(words, " "), ",;")
}

// countUnused counts unused data. It skips capitalized words and units, which may not be data, if the tool
// mentions them.
func countUnused(data []value, used []bool, t toolView) int {
	n := 0
	for i, v := range data {
		if used[i] || overlapsUsed(data, used, i) {
			continue
		}
		switch {
		case v.kind == choice || v.kind == numeral:
		case v.kind.soft():
			for _, w := range tokens(v.text) {
				if best(w, t.nameWords) == 0 && best(w, t.descWords) == 0 && best(w, t.server) == 0 {
					n++
					break
				}
			}
		default:
			n++
		}
	}
	return n
}

func overlapsUsed(data []value, used []bool, i int) bool {
	for j := range data {
		if used[j] && data[j].start < data[i].end && data[i].start < data[j].end {
			return true
		}
		if used[j] && data[j].kind != data[i].kind && data[j].start == data[i].start && data[j].end == data[i].end {
			return true
		}
	}
	return false
}

// convert converts a value to the type of a parameter.
func convert(v value, p param) (any, bool) {
	switch p.kind {
	case "integer":
		n, err := strconv.ParseInt(v.text, 0, 64)
		return n, err == nil
	case "number":
		n, err := strconv.ParseFloat(v.text, 64)
		return n, err == nil
	case "string":
		return v.text, v.kind != numeral
	case "object", "array":
		return json.RawMessage(v.text), v.kind == document && (v.text[0] == '[') == (p.kind == "array")
	}
	return nil, false
}
