// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package offline

import (
	"cmp"
	"math"
	"regexp"
	"slices"
	"strings"
)

// pair is a value that could go into a parameter.
type pair struct {
	param, value int
	score        float64
}

// assign puts the best values into args. It returns all candidate values and which of them were used.
func assign(args map[string]any, text string, t toolView, data []value) (all []value, used []bool) {
	all = append(slices.Clone(data), choices(text, t)...)
	lists := 0
	for _, p := range t.params {
		if p.kind == "array" {
			lists++
		}
	}
	if lists > 1 {
		all = regroup(all)
	}
	used = make([]bool, len(all))
	for _, c := range pairs(t, all) {
		p := t.params[c.param]
		if _, ok := args[p.name]; ok || blocked(all, used, c.value) ||
			lists > 0 && p.kind != "array" && members(all, all[c.value]) > 1 {
			continue
		}
		assignValues(args, p, all, used, c.value)
	}
	return all, used
}

// regroup splits each row of values at its "and" into two lists.
func regroup(all []value) []value {
	const notConsecutive = 1000 // exceeds the number of values
	for i, v := range all {
		if !v.conjoined {
			continue
		}
		for j := i; j < len(all); j++ {
			if all[j].kind == v.kind && all[j].group == v.group {
				all[j].group += notConsecutive
			}
		}
	}
	return all
}

// pairs lists the possible assignments, best first.
func pairs(t toolView, all []value) (out []pair) {
	for i, p := range t.params {
		for j, v := range all {
			score := scoreValue(t, p, v)
			if score <= 0 || namesTool(t, v) {
				continue
			}
			if score -= 0.05 * math.Abs(float64(i-j)); p.kind == "array" {
				score += 0.3 * math.Min(float64(members(all, v)), 5)
			}
			if p.required || score >= 4.5 {
				out = append(out, pair{i, j, score})
			}
		}
	}
	slices.SortStableFunc(out, func(a, b pair) int { return cmp.Compare(b.score, a.score) })
	return out
}

var wordAt = regexp.MustCompile(`[\p{L}\p{N}]+(?:[-/][\p{L}\p{N}]+)*`)

// members counts the values in a row with this one, itself included.
func members(all []value, v value) int {
	n := 0
	for _, w := range all {
		if w.kind == v.kind && w.group == v.group {
			n++
		}
	}
	return n
}

// blocked reports whether a value was used, or one that overlaps it.
func blocked(all []value, used []bool, i int) bool {
	return used[i] || overlapsUsed(all, used, i)
}

// assignValues sets a parameter. A list gets all values of the group.
func assignValues(args map[string]any, p param, all []value, used []bool, i int) {
	if p.kind != "array" || all[i].kind == document {
		args[p.name], _ = convert(all[i], p)
		used[i] = true
		return
	}
	var items []any
	for j, v := range all {
		if v.group != all[i].group || v.kind != all[i].kind || used[j] {
			continue
		}
		if item, ok := convert(v, param{kind: cmp.Or(p.item, "string")}); ok {
			items = append(items, item)
			used[j] = true
		}
	}
	args[p.name] = items
}

// choices finds the words of a text that are enum values of a tool's parameters.
func choices(text string, t toolView) (out []value) {
	var choices []string
	for _, p := range t.params {
		choices = append(choices, p.choices...)
	}
	if len(choices) == 0 {
		return nil
	}
	for _, at := range spokenWords(text) {
		word := text[at[0]:at[1]]
		for _, c := range unique(choices) {
			if sameChoice(word, c) {
				out = append(out, value{kind: choice, text: c, start: at[0], end: at[1], group: -1})
				break
			}
		}
	}
	return locate(text, out)
}

func sameChoice(word, choice string) bool {
	joined := strings.Join(nameWords(choice), "")
	return strings.EqualFold(word, choice) || len(joined) > 1 && similarity(strings.Join(tokens(word), ""), joined) >= 0.8
}

// spokenWords returns the spans of each two neighboring words, then of each single word.
func spokenWords(text string) (out [][2]int) {
	var words [][]int
	for _, at := range wordAt.FindAllStringIndex(text, -1) {
		words = append(words, cutSpan(text, at)...)
	}
	for i := 1; i < len(words); i++ {
		out = append(out, [2]int{words[i-1][0], words[i][1]})
	}
	for _, w := range words {
		out = append(out, [2]int{w[0], w[1]})
	}
	return out
}

// cutSpan cuts Chinese text into the spans of its words.
func cutSpan(text string, at []int) (out [][]int) {
	if !isHan(text[at[0]:at[1]]) {
		return [][]int{at}
	}
	from := at[0]
	for _, w := range tokens(text[at[0]:at[1]]) {
		out = append(out, []int{from, from + len(w)})
		from += len(w)
	}
	return out
}
