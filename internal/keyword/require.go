// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package keyword

// This file reads what a request insists on.

// maxRequired is the most things that a request can insist on; the rest is wanted.
const maxRequired = 32

// require insists on a want: on the word itself, on one that begins like it, or on
// what it was probably meant to be. What is merely related does not do, unless there
// is nothing else.
func (r *reader) require(at int) {
	var tokens, others []uint32
	for _, m := range r.request.wants[at].matches {
		switch m.relation {
		case "equals", "begins like", "looks like", "part of", "translation of":
			tokens = append(tokens, m.token)
		default:
			others = append(others, m.token)
		}
	}
	if len(tokens) == 0 {
		tokens = others
	}
	r.insist(tokens)
}

func (r *reader) insist(tokens []uint32) {
	if len(r.request.required) < maxRequired {
		r.request.required = append(r.request.required, tokens)
	}
}

// requireDense insists on every word of a dense run, in its own or another language,
// or if no word of it is known on any two neighbouring characters.
func (r *reader) requireDense(text string) {
	segments := r.l.segment(text)
	if len(segments) == 0 {
		segments = []string{text}
	}
	for _, segment := range segments {
		r.insist(r.tokensOf(segment))
	}
}

// tokensOf are the tokens that a dense word can be found by.
func (r *reader) tokensOf(word string) []uint32 {
	var pairs, singles []uint32
	eachGlyph(word, func(token string) {
		id, ok := r.x.tokens[token]
		switch {
		case !ok:
		case len(token) > 4:
			pairs = append(pairs, id)
		default:
			singles = append(singles, id)
		}
	})
	for _, alternatives := range r.l.lexicon[word] {
		for _, token := range alternatives {
			if id, ok := r.x.tokens[token]; ok {
				pairs = append(pairs, id)
				break // the first is what it means, the others are close to it
			}
		}
	}
	if len(pairs) == 0 {
		return singles
	}
	return pairs
}
