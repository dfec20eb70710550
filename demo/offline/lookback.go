// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package offline

import (
	"regexp"
	"slices"
	"strings"
)

var (
	// ofEarlier is a noun phrase such as: in the first listing.
	ofEarlier = regexp.MustCompile(`(?i)\b(?:in|of|from|on|at|to)\s+(?:the|that|this|our|your)((?:\s+[\w./-]+){1,4})`)
	ordinals  = map[string]int{"first": 1, "earliest": 1, "second": 2, "third": 3, "fourth": 4, "last": -1, "latest": -1, "previous": -1, "earlier": -1, "old": 1, "oldest": 1}
)

// source is an earlier result that a step looks into.
type source struct {
	attempt
	tool toolView
	step step // what is left of the step
	told bool // the step says which result, and not only by its place
}

// lookBack answers a step with what it asks for in an earlier result that is
// long, or of which only a notice is left.
func lookBack(s *situation, p *progress) (action, bool) {
	if len(p.calls) > 0 {
		return action{}, false
	}
	src, ok := s.spokenOf(p)
	switch {
	case !ok:
		return action{wait: true}, s.waits(p)
	case !s.isLong(src.attempt) || !src.told && (!asks.MatchString(src.step.text) || s.capable(p)):
		return action{}, false
	}
	a, ok := s.look(p, src.attempt, wants(src.step, src.args, src.tool))
	if ok && p.index > 0 {
		s.steps[p.index-1].looked = true
	}
	return a, ok
}

// isLong reports whether a result is more than can be answered with whole.
func (s *situation) isLong(a attempt) bool {
	_, kept := s.notice(a.result)
	return kept || len(a.result) > longResult
}

// capable reports whether a tool that the model sees does all that a step says.
func (s *situation) capable(p *progress) bool {
	if !slices.ContainsFunc(p.words, func(w string) bool { return !askingWords[w] }) {
		return false // it only says that something is looked for
	}
	fits := s.rank(p)
	return len(fits) > 0 && fits[0].score >= goodScore && len(fits[0].filling.missing) == 0 && fits[0].filling.unused == 0
}

// findable reports whether a tool that can be searched for is named with a word
// that the step says, beside those that only say that something is looked for.
func (s *situation) findable(p *progress) bool {
	return s.search && slices.ContainsFunc(s.rankHidden(p), func(f fit) bool {
		return slices.ContainsFunc(slices.Concat(p.words, p.soft), func(w string) bool { return !askingWords[w] && best(w, f.tool.own) > 0 })
	})
}

// waits reports whether a step asks about what the step before is going to return.
func (s *situation) waits(p *progress) bool {
	if p.index == 0 || !asks.MatchString(p.text) {
		return false
	}
	before := s.steps[p.index-1]
	return !before.done && !before.failed && !s.findable(p) && !s.capable(p)
}

// spokenOf finds the result that a step mentions: by name, or because it goes
// on from the step or the request before.
func (s *situation) spokenOf(p *progress) (source, bool) {
	earlier := slices.Clone(s.history)
	var before *attempt
	for _, q := range s.steps[:p.index] {
		if before = nil; q.done && len(q.calls) > 0 {
			before = &q.calls[len(q.calls)-1]
			earlier = append(earlier, *before)
		}
	}
	if p.index == 0 && (p.follows || p.refers) && s.past.tool != "" {
		before = &s.past
	}
	for _, at := range ofEarlier.FindAllStringSubmatchIndex(p.text, -1) {
		if src, ok := s.named(p.text, at, earlier); ok {
			return src, true
		}
	}
	if before == nil {
		return source{}, false
	}
	return source{attempt: *before, tool: s.toolNamed(before.tool), step: p.step}, true
}

// named finds the earlier result that fits a noun phrase best.
func (s *situation) named(text string, at []int, earlier []attempt) (source, bool) {
	phrase := text[at[2]:at[3]]
	order, told := -1, at[0] == 0
	for _, w := range tokens(phrase) {
		if n, ok := ordinals[w]; ok {
			order, told = n, true
		}
	}
	var fit []attempt
	top, end := 0.0, 0
	for _, a := range earlier {
		score, upTo := s.likeness(phrase, a)
		if score > top {
			fit, top, end = nil, score, upTo
		}
		if score > 0 && score == top {
			fit = append(fit, a)
		}
	}
	if order--; order < 0 {
		order = len(fit) - 1
	}
	if order < 0 || order >= len(fit) {
		return source{}, false
	}
	rest := strings.TrimLeft(text[:at[0]]+text[at[2]+end:], " ,")
	return source{attempt: fit[order], tool: s.toolNamed(fit[order].tool), step: newStep(rest), told: told}, true
}

var spaced = regexp.MustCompile(`\S+`)

// likeness is how well a noun phrase fits a call, and where in it the last word
// is that does. A word of the tool's name is enough, or two of its description.
func (s *situation) likeness(phrase string, a attempt) (score float64, end int) {
	t := s.toolNamed(a.tool)
	given := argumentValues(a.args)
	for _, at := range spaced.FindAllStringIndex(phrase, -1) {
		word := phrase[at[0]:at[1]]
		one := 0.0
		for _, w := range tokens(word) {
			if one = max(one, best(w, t.own), best(w, t.server)); best(w, t.about) == 1 {
				one = max(one, 0.5)
			}
		}
		if strings.Contains("\n"+given, "\n"+word+"\n") {
			one = 1 // what the call was given
		}
		if one > 0 {
			score, end = score+one, at[1]
		}
	}
	if score < 0.8 {
		return 0, 0
	}
	return score, end
}
