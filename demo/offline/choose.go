// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package offline

import (
	"cmp"
	"math"
	"regexp"
	"slices"
)

// How much a word of a step counts, by where in a tool it is found.
const (
	inName   = 1.0
	inServer = 0.55
	inParam  = 0.5
	inAbout  = 0.5
	hinted   = 0.7 // how much a hint counts beside a word that was said
)

// fit rates how well a tool suits a step.
type fit struct {
	tool    toolView
	score   float64
	name    float64 // the part of the score that the name alone gives
	filling filling
}

// rank fits every visible tool to a step, best first; ties by name.
func (s *situation) rank(p *progress) []fit {
	var out []fit
	for _, t := range s.visible {
		extra := s.excess(p, t) - s.order(p, t)
		f := fit{tool: t, name: s.nameFit(p, t) - extra, filling: s.fill(p, t)}
		f.score = s.wordFit(p, t) - extra + f.filling.fit()
		if t.chinese && !isHan(p.text) {
			f.score -= 0.25
		} else if t.chinese {
			f.score += 0.05
		}
		out = append(out, f)
	}
	slices.SortStableFunc(out, func(a, b fit) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.tool.name, b.tool.name))
	})
	return out
}

// weight is lower for words that many tools are named with.
func (s *situation) weight(word string) float64 {
	n := s.common[stem(word)]
	for _, syn := range synonyms(word) {
		n = max(n, s.common[stem(syn)])
	}
	if n == 0 {
		return 0.6
	}
	return 1 / (1 + 0.35*math.Log(float64(n)))
}

// wordFit is the share of a step's words that a tool mentions.
func (s *situation) wordFit(p *progress, t toolView) float64 {
	var params []string
	for _, q := range t.params {
		params = append(params, q.words...)
		for _, c := range q.choices {
			params = append(params, nameWords(c)...)
		}
	}
	return s.overlap(p, t, func(w string) float64 {
		return max(inName*best(w, t.nameWords), inServer*best(w, t.server), inParam*best(w, params), inAbout*best(w, t.descWords))
	})
}

// nameFit is the same by the name alone, so that tools of which only the name
// is known can be compared.
func (s *situation) nameFit(p *progress, t toolView) float64 {
	return s.overlap(p, t, func(w string) float64 {
		return max(inName*best(w, t.nameWords), inServer*best(w, t.server))
	})
}

func (s *situation) overlap(p *progress, t toolView, likeness func(string) float64) float64 {
	sum, all := 0.0, 0.0
	for _, w := range p.words {
		sum += s.weight(w) * likeness(w)
		all += s.weight(w)
	}
	for _, w := range p.soft {
		if l := likeness(w); l > 0 {
			sum += s.weight(w) * l
			all += s.weight(w)
		}
	}
	for _, w := range p.hints {
		if l := likeness(w); l > 0 {
			sum += hinted * s.weight(w) * l
			all += hinted * s.weight(w)
		}
	}
	if all == 0 {
		return 0
	}
	return sum / math.Max(all, 1)
}

var target = regexp.MustCompile(`(?i)(?:\b(?:to|into|as|in)\s+(?:an? |the )?|[成为到])([\p{L}\d]+)`)

// order distinguishes a tool that turns A into B from one that turns B into A.
func (s *situation) order(p *progress, t toolView) float64 {
	i := slices.Index(t.nameWords, "to")
	if i < 0 || i+1 == len(t.nameWords) {
		return 0
	}
	for _, m := range target.FindAllStringSubmatch(p.text, -1) {
		if matchesAny(tokens(m[1]), t.nameWords[i+1]) {
			return 0.1
		}
	}
	return 0
}

// excess rates the words of a tool's name that the step does not mention.
func (s *situation) excess(p *progress, t toolView) float64 {
	requestWords := slices.Concat(p.words, p.soft, p.hints)
	total := 0.0
	for _, w := range t.nameWords {
		if !stopWords[w] && !isNumber(w) && !matchesAny(requestWords, w) {
			total += 0.15
		}
	}
	if len(t.server) > 0 && !slices.ContainsFunc(t.server, func(w string) bool { return matchesAny(requestWords, w) }) {
		total += 0.05
	}
	if first := firstWord(p.text); slices.Contains(p.words, first) &&
		best(first, slices.Concat(t.nameWords, t.server, t.descWords)) == 0 && len(t.descWords) > 0 {
		total += 0.35 // the tool does something else than the verb says
	}
	return math.Min(total, 0.6)
}

// matchesAny reports whether any of the request's words may mean a word.
func matchesAny(requestWords []string, word string) bool {
	return slices.ContainsFunc(requestWords, func(w string) bool { return similarity(w, word) > 0 })
}
