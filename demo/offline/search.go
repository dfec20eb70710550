// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package offline

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
)

const selectPrefix = "select:"

// maxSearches is how often the model searches for one step before it gives up.
const maxSearches = 4

// nextQuery returns the next query, or "" when all are used. The queries vary the user's words: as they are,
// announced names, synonyms, and single words.
func (s *situation) nextQuery(p *progress) string {
	if len(p.searches) >= maxSearches {
		return ""
	}
	tried := map[string]bool{}
	for _, q := range p.searches {
		tried[q.query] = true
		tried[selectPrefix] = tried[selectPrefix] || strings.HasPrefix(q.query, selectPrefix)
	}
	for _, query := range s.asQueries(p) {
		if query != "" && !tried[query] && !(strings.HasPrefix(query, selectPrefix) && tried[selectPrefix]) {
			return query
		}
	}
	return ""
}

func (s *situation) queries(p *progress) []string {
	words := p.words
	if len(words) < 3 {
		words = unique(slices.Concat(words, p.soft))
	}
	hints := slices.DeleteFunc(slices.Clone(p.hints), func(w string) bool { return w == "text" }) // too common a word to search for
	if len(words) < 2 && !isHan(p.text) {
		words = unique(slices.Concat(words, hints))
	}
	out := []string{strings.Join(words[:min(len(words), 5)], " ")}
	names := s.selectNames(p)
	if len(p.searches) > 0 && len(p.searches[0].found) > 0 {
		out = append(out, names, otherWords(slices.Concat(words, hints)))
	} else {
		out = append(out, otherWords(slices.Concat(words, hints)), names)
	}
	words = slices.Clone(words)
	slices.SortStableFunc(words, func(a, b string) int { return cmp.Compare(s.weight(b), s.weight(a)) })
	return append(out, words...)
}

// otherWords rephrases a query with stems and synonyms.
func otherWords(words []string) string {
	var out []string
	for _, w := range words {
		if syn := synonyms(w); len(syn) > 0 {
			out = append(out, syn[0])
		} else if !isHan(w) {
			out = append(out, stem(w))
		}
	}
	return strings.Join(unique(out), " ")
}

// selectNames selects at most three announced names that match a step; none if many match equally.
func (s *situation) selectNames(p *progress) string {
	top := s.rankHidden(p)
	var names []string
	for _, h := range top {
		if h.name >= 0.8*top[0].name {
			names = append(names, h.tool.name)
		}
	}
	if len(names) == 0 || len(names) > 3 {
		return ""
	}
	return selectPrefix + strings.Join(names, ",")
}

// rankHidden fits the announced names to a step, best first. It is worked out once.
func (s *situation) rankHidden(p *progress) []fit {
	if p.hidden != nil {
		return p.hidden
	}
	p.hidden = []fit{}
	for _, t := range s.hidden {
		score := s.nameFit(p, t)
		if score <= 0.1 || !s.isSelected(p, t) {
			continue
		}
		if score += s.order(p, t) - s.excess(p, t); score > 0.1 {
			p.hidden = append(p.hidden, fit{tool: t, name: score})
		}
	}
	slices.SortStableFunc(p.hidden, func(a, b fit) int { return cmp.Compare(b.name, a.name) })
	return p.hidden
}

// isSelected reports whether the step contains a word of a tool's name, not only a hint at it.
func (s *situation) isSelected(p *progress, t toolView) bool {
	return slices.ContainsFunc(slices.Concat(p.words, p.soft), func(w string) bool { return best(w, t.nameWords) > 0 })
}

func (s *situation) searchCall(p *progress, query string) Call {
	args, _ := json.Marshal(map[string]any{"query": query})
	return Call{s.callID(p), searchTool, string(args)}
}
