// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package keyword

// This file finds the tokens that stand for what a request says.

import "slices"

// What a token counts that stands for a word, compared with the word itself.
const (
	weightForm        = 0.8
	weightTwin        = 0.6
	weightSynonym     = 0.2
	weightRelated     = 0.3
	weightChinese     = 0.4 // for an English word
	weightTranslation = 0.9 // for a Chinese word that no document uses
	weightSaidTwice   = 0.5 // for a Chinese word that documents use as well
	weightAffix       = 0.4 // times how much of the longer word it is
	weightTypo        = 0.7 // times how close it is
	weightJoined      = 0.6 // two words written as one
	weightSplit       = 0.7 // one word written as two
	// unknownFactor is for synonyms and what is related of a word that no document uses:
	// then they are all there is to go by.
	unknownFactor = 1.5
	// unknownGlyphs is how much characters matter that no document has: most pairs of
	// neighbours are no word, and what is one may well be translated.
	unknownGlyphs = 0.1
)

// expand fills in the tokens that stand for a want that is a token itself, and how
// much it matters.
func (r *reader) expand(w *want) {
	own, known := r.x.tokens[w.text]
	if known {
		w.mass = float64(r.x.idf[own])
		w.matches = append(w.matches, matching{token: own, weight: 1, relation: "equals"})
	} else {
		w.mass = float64(float32(rarity(0, len(r.x.names)))) / 2
		if startsDense(w.text) {
			w.mass *= unknownGlyphs
		}
	}
	r.addAll(w, r.l.forms[w.text], weightForm, "form of")
	r.addAll(w, r.l.twins[w.text], weightTwin, "same as")
	r.addAll(w, r.l.chinese[w.text], weightChinese, "translation of")
	loose := 1.0
	if !known {
		loose = unknownFactor
	}
	r.addAll(w, r.l.synonyms[w.text], weightSynonym*loose, "synonym of")
	r.addAll(w, r.l.related[w.text], weightRelated*loose, "related to")
	for _, a := range r.x.affixes.of(w.text) {
		relation := "ends like"
		if a.prefix {
			relation = "begins like"
		}
		w.matches = append(w.matches, matching{token: a.token, weight: weightAffix * a.ratio, relation: relation})
	}
	if !known {
		r.expandUnknown(w)
		return
	}
	// Whoever writes a common word does not ask for a rare one.
	for i := range w.matches {
		if idf := float64(r.x.idf[w.matches[i].token]); idf > w.mass {
			w.matches[i].weight *= w.mass / idf
		}
	}
}

func (r *reader) addAll(w *want, tokens []string, weight float64, relation string) {
	for _, token := range tokens {
		if id, ok := r.x.tokens[token]; ok {
			w.matches = append(w.matches, matching{token: id, weight: weight, relation: relation})
		}
	}
}

// expandUnknown guesses what a word that no document uses may have been meant to be.
func (r *reader) expandUnknown(w *want) {
	if left, right, ok := r.split(w.text); ok {
		for _, half := range []uint32{left, right} {
			w.matches = append(w.matches, matching{token: half, weight: weightSplit, relation: "part of"})
		}
		return
	}
	if r.typos == maxTypos {
		return
	}
	r.typos++
	for _, meant := range r.x.typos.of(w.text, r.shared) {
		w.matches = append(w.matches, matching{token: meant.token, weight: weightTypo * meant.close, relation: "looks like"})
	}
}

// split cuts a word into two that documents use, where both are most common.
func (r *reader) split(word string) (left, right uint32, ok bool) {
	if !isASCII(word) {
		return 0, 0, false
	}
	best := 0
	for at := 1; at < len(word); at++ {
		if min(at, len(word)-at) < minAffix && isDigit(word[at-1]) == isDigit(word[at]) {
			continue
		}
		l, okL := r.x.tokens[r.stemmer.stem(word[:at])]
		h, okR := r.x.tokens[r.stemmer.stem(word[at:])]
		if !okL || !okR {
			continue
		}
		if users := min(len(r.x.of(l)), len(r.x.of(h))); users > best {
			left, right, best, ok = l, h, users, true
		}
	}
	return left, right, ok
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// join lets documents that write this word and the one before as one match both.
func (r *reader) join(word run) {
	end := r.before.start + len(r.before.text)
	if r.before.text == "" || word.start != end+1 || len(word.text)+len(r.before.text) > maxWordBytes {
		return
	}
	id, ok := r.x.tokens[r.stemmer.stem(r.before.text+word.text)]
	if !ok {
		return
	}
	for _, half := range []string{r.before.text, word.text} {
		if at, ok := r.seen[r.stemmer.stem(half)]; ok {
			w := &r.request.wants[at]
			if !slices.ContainsFunc(w.matches, func(m matching) bool { return m.token == id }) {
				w.matches = append(w.matches, matching{token: id, weight: weightJoined, relation: "part of"})
			}
		}
	}
}

// translate wants what a Chinese word means, one want for each word of the
// translation.
func (r *reader) translate(word string, weight float64) {
	weight *= weightTranslation
	if r.isUsed(word) {
		weight *= weightSaidTwice / weightTranslation
	}
	for _, alternatives := range r.l.lexicon[word] {
		if !slices.ContainsFunc(alternatives, func(token string) bool { _, ok := r.x.tokens[token]; return ok }) {
			continue
		}
		r.want(word+"/"+alternatives[0], weight, func(w *want) {
			r.addAll(w, alternatives, 1, "translation of")
			for _, m := range w.matches {
				w.mass = max(w.mass, float64(r.x.idf[m.token]))
			}
			r.addAll(w, r.l.twins[alternatives[0]], weightTwin, "same as")
			r.addAll(w, r.l.synonyms[alternatives[0]], weightSynonym, "synonym of")
			r.addAll(w, r.l.related[alternatives[0]], weightSynonym, "related to")
		})
	}
}

// isUsed reports whether documents have all neighbouring characters of a word.
func (r *reader) isUsed(word string) bool {
	used := true
	eachGlyph(word, func(token string) {
		if _, ok := r.x.tokens[token]; !ok {
			used = false
		}
	})
	return used
}
