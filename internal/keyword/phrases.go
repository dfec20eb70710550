// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package keyword

// This file finds phrases that mean something else than their words.

import (
	"cmp"
	"slices"
	"strings"
)

const (
	maxPhraseGap = 4 // words inside a phrase that can be taken apart
	// weightMeaning is what the first meaning of a phrase counts, weightOtherMeaning
	// what each other one does.
	weightMeaning      = 0.8
	weightOtherMeaning = 0.6
	// idleWeight is what the words of a phrase count that mean nothing in it: who wants
	// to set up a meeting does not want to set anything.
	idleWeight = 0.2
)

// phrase is several words that mean what others do.
type phrase struct {
	text   string
	words  []string // stems, at least two
	means  []string // stems
	idle   bool     // the words have no part in the meaning
	opened bool     // other words may stand before the last one
}

// addPhrase reads a line such as "set up = create arrange": the words, whether they are
// idle (=) or not (+), and the meanings. A '~' before the last word opens the phrase.
func (l *lists) addPhrase(s stemmer, fields []string) {
	at := slices.IndexFunc(fields, func(f string) bool { return f == "=" || f == "+" })
	p := phrase{idle: fields[at] == "="}
	for _, word := range fields[:at] {
		if word == "~" {
			p.opened = true
		} else {
			p.words = append(p.words, s.stem(word))
		}
	}
	p.text = strings.Join(p.words, " ")
	for _, word := range fields[at+1:] {
		p.means = appendNew(p.means, s.stem(word))
	}
	l.phrases[p.words[0]] = append(l.phrases[p.words[0]], p)
}

// spoken is a run with its stem.
type spoken struct {
	run
	stem string
}

// said is a phrase in a request.
type said struct {
	*phrase
	runs []spoken // its own words
}

// findPhrases notes which phrases the text has.
func (r *reader) findPhrases() {
	var words []spoken
	eachRun(r.text, func(word run) {
		if len(word.text) <= maxWordBytes {
			words = append(words, spoken{run: word, stem: r.stemmer.stem(word.text)})
		}
	})
	r.phrases = make(map[int]said)
	r.idle = make(map[int]bool)
	for i := range words {
		best := r.bestPhrase(words[i:])
		if best.phrase == nil {
			continue
		}
		r.phrases[words[i].start] = best
		for _, w := range best.runs {
			r.idle[w.start] = r.idle[w.start] || best.idle
		}
	}
}

// bestPhrase returns the phrase that the words start with: of several the one of most
// words, of equally many the one that is said in fewest.
func (r *reader) bestPhrase(words []spoken) (best said) {
	if r.idle[words[0].start] {
		return best
	}
	candidates := r.l.phrases[words[0].stem]
	for n := range candidates {
		p := &candidates[n]
		runs := r.match(p, words)
		if runs == nil || !r.knowsAny(p.means) {
			continue
		}
		if best.phrase == nil || cmp.Or(cmp.Compare(len(runs), len(best.runs)), cmp.Compare(end(best.runs), end(runs))) > 0 {
			best = said{phrase: p, runs: runs}
		}
	}
	return best
}

func end(runs []spoken) int { return runs[len(runs)-1].start }

func (r *reader) knowsAny(stems []string) bool {
	return slices.ContainsFunc(stems, func(stem string) bool { _, ok := r.x.tokens[stem]; return ok })
}

// match returns the words of a phrase with which the given ones start, or nil.
func (r *reader) match(p *phrase, words []spoken) []spoken {
	last := len(p.words) - 1
	if len(words) <= last {
		return nil
	}
	for i, stem := range p.words[:last] {
		if words[i].stem != stem || i > 0 && !r.adjoin(words[i-1], words[i]) {
			return nil
		}
	}
	gap := 0
	if p.opened {
		gap = maxPhraseGap
	}
	for i := last; i < len(words) && i <= last+gap && r.adjoin(words[i-1], words[i]); i++ {
		if words[i].stem == p.words[last] {
			return append(slices.Clone(words[:last]), words[i])
		}
	}
	return nil
}

// adjoin reports whether nothing but white space or one hyphen separates two runs.
func (r *reader) adjoin(a, b spoken) bool {
	between := r.text[a.start+len(a.text) : b.start]
	return between == "-" || strings.TrimSpace(between) == "" || strings.HasPrefix(between, "'")
}

// readPhrase wants what the phrase means that begins with a word.
func (r *reader) readPhrase(word run, weight float64) {
	p, ok := r.phrases[word.start]
	if !ok {
		return
	}
	r.want(p.text, weight, func(w *want) {
		r.addAll(w, p.means[:1], weightMeaning, "meaning of")
		r.addAll(w, p.means[1:], weightOtherMeaning, "meaning of")
		for _, m := range w.matches {
			w.mass = max(w.mass, float64(r.x.idf[m.token])*m.weight)
		}
	})
}
