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

// source is an earlier result that a step refers to.
type source struct {
	attempt
	tool     toolView
	step     step // the step without the reference
	explicit bool // the step describes the result, not only its position
}

// lookBack answers a step from an earlier result that is long or replaced by a notice.
func lookBack(s *situation, p *progress) (action, bool) {
	if len(p.calls) > 0 {
		return action{}, false
	}
	src, ok := s.referencedSource(p)
	switch {
	case !ok:
		return action{wait: true}, s.dependsOnPrevious(p)
	case !s.isLong(src.attempt) || !src.explicit && (!asks.MatchString(src.step.text) || s.hasVisibleFit(p)):
		return action{}, false
	}
	a, ok := s.searchStored(p, src.attempt, lookupFor(src.step, src.args, src.tool))
	if ok && p.index > 0 {
		s.steps[p.index-1].looked = true
	}
	return a, ok
}

// isLong reports whether a result is too long to be quoted in full.
func (s *situation) isLong(a attempt) bool {
	_, stored := s.notice(a.result)
	return stored || len(a.result) > longResult
}

// hasVisibleFit reports whether a visible tool does everything that a step asks for.
func (s *situation) hasVisibleFit(p *progress) bool {
	if !slices.ContainsFunc(p.words, func(w string) bool { return !askingWords[w] }) {
		return false // only the fact that something is searched for
	}
	fits := s.rank(p)
	return len(fits) > 0 && fits[0].score >= goodScore && len(fits[0].filling.missing) == 0 && fits[0].filling.unused == 0
}

// hasHiddenFit reports whether the name of a hidden tool contains a word of the step, apart from words that
// only ask for a search.
func (s *situation) hasHiddenFit(p *progress) bool {
	return s.search && slices.ContainsFunc(s.rankHidden(p), func(f fit) bool {
		return slices.ContainsFunc(slices.Concat(p.words, p.soft),
			func(w string) bool { return !askingWords[w] && best(w, f.tool.nameWords) > 0 })
	})
}

// dependsOnPrevious reports whether a step asks about the future result of the previous step.
func (s *situation) dependsOnPrevious(p *progress) bool {
	if p.index == 0 || !asks.MatchString(p.text) {
		return false
	}
	before := s.steps[p.index-1]
	return !before.done && !before.failed && !s.hasHiddenFit(p) && !s.hasVisibleFit(p)
}

// referencedSource finds the result that a step mentions: by name, or because the step continues the previous
// step or request.
func (s *situation) referencedSource(p *progress) (source, bool) {
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
		if src, ok := s.sourceNamed(p.text, at, earlier); ok {
			return src, true
		}
	}
	if before == nil {
		return source{}, false
	}
	return source{attempt: *before, tool: s.toolNamed(before.tool), step: p.step}, true
}

// sourceNamed finds the earlier result that matches a noun phrase best.
func (s *situation) sourceNamed(text string, at []int, earlier []attempt) (source, bool) {
	phrase := text[at[2]:at[3]]
	order, explicit := -1, at[0] == 0
	for _, w := range tokens(phrase) {
		if n, ok := ordinals[w]; ok {
			order, explicit = n, true
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
	return source{attempt: fit[order], tool: s.toolNamed(fit[order].tool), step: newStep(rest), explicit: explicit}, true
}

var spaced = regexp.MustCompile(`\S+`)

// likeness rates how well a noun phrase matches a call, and returns the end of the last matching word. One word
// of the tool's name suffices, or two of its description.
func (s *situation) likeness(phrase string, a attempt) (score float64, end int) {
	t := s.toolNamed(a.tool)
	arguments := argumentValues(a.args)
	for _, at := range spaced.FindAllStringIndex(phrase, -1) {
		word := phrase[at[0]:at[1]]
		one := 0.0
		for _, w := range tokens(word) {
			if one = max(one, best(w, t.nameWords), best(w, t.server)); best(w, t.descWords) == 1 {
				one = max(one, 0.5)
			}
		}
		if strings.Contains("\n"+arguments, "\n"+word+"\n") {
			one = 1 // a word of the arguments
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
