// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package bm25

// This file finds the clauses of a query, the values in it, and the phrases that mean
// something other than their words.

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/leanctx/leanctx/internal/keyword/names"
)

const (
	minClause  = 6  // bytes of the shortest text that is a clause
	maxClauses = 16 // the last one is all the rest of the text
)

// clauseBreaks separate clauses in normalized text. " or " does not: both sides mostly
// ask for one tool.
var clauseBreaks = []string{
	"!", "?", ";", "\n", "。", " + ", ", and ", ", then ", ", also ", " then ",
	",然后", ",再", ",并", "然后", "并且", "接着", "同时",
}

// appendClauseEnds appends the ends of the clauses of normalized text, at least one.
func appendClauseEnds(ends []int, text string) []int {
	start := 0
	for at := 0; at < len(text) && len(ends) < maxClauses-1; {
		size := breakAt(text, at)
		if size == 0 {
			at++
			continue
		}
		if at-start >= minClause {
			ends = append(ends, at)
		}
		at += size
		start = at
	}
	return append(ends, len(text))
}

// breakAt returns the length of the break that starts at byte at, or 0.
func breakAt(text string, at int) int {
	rest := text[at:]
	if rest[0] == '.' {
		if len(rest) == 1 || strings.IndexByte(" \t\r\n\"')", rest[1]) >= 0 {
			return 1
		}
		return 0
	}
	for _, separator := range clauseBreaks {
		if strings.HasPrefix(rest, separator) {
			return len(separator)
		}
	}
	return 0
}

// span is a stretch of text that counts less than the rest: a value for the tool's
// arguments says little about which tool to call.
type span struct {
	start, end int
	weight     float64
}

const (
	quotedWeight  = 0.4
	addressWeight = 0.5 // of a URL or an e-mail address
	maxQuoted     = 200 // bytes
)

// quotes are the opening and closing marks of values.
var quotes = map[rune]rune{'"': '"', '“': '”', '‘': '’', '\'': '\'', '「': '」', '『': '』', '《': '》'}

// appendValueSpans appends the values in normalized text, in order and without overlaps.
func appendValueSpans(spans []span, text string) []span {
	for at := 0; at < len(text); {
		r, size := utf8.DecodeRuneInString(text[at:])
		end := 0
		if mark, ok := quotes[r]; ok && opensQuote(text, at, r) {
			end = closingQuote(text, at+size, mark)
		}
		switch {
		case end > 0:
			spans = append(spans, span{start: at, end: end, weight: quotedWeight})
			at = end
		case r == ' ' || !startsField(text, at):
			at += size
		default:
			end = at + fieldLength(text[at:])
			if isAddress(text[at:end]) {
				spans = append(spans, span{start: at, end: end, weight: addressWeight})
				at = end
				continue
			}
			at += size
		}
	}
	return spans
}

// opensQuote reports whether the mark opens a quotation, rather than being an apostrophe.
func opensQuote(text string, at int, mark rune) bool {
	if mark != '\'' {
		return true
	}
	return at == 0 || strings.IndexByte(" \t\n([{=:,", text[at-1]) >= 0
}

// closingQuote returns the end of the quoted text that starts at byte start, including
// the closing mark, or 0 if there is none.
func closingQuote(text string, start int, mark rune) int {
	quoted := names.Clip(text[start:], maxQuoted)
	at := strings.IndexRune(quoted, mark)
	if at <= 0 || strings.Contains(quoted[:at], "\n") {
		return 0
	}
	return start + at + utf8.RuneLen(mark)
}

func startsField(text string, at int) bool {
	return at == 0 || strings.IndexByte(" \t\r\n(<", text[at-1]) >= 0
}

func fieldLength(text string) int {
	if at := strings.IndexAny(text, " \t\r\n)>"); at >= 0 {
		return at
	}
	return len(text)
}

// isAddress reports whether a field is a URL or an e-mail address.
func isAddress(field string) bool {
	if strings.Contains(field, "://") {
		return true
	}
	name, host, ok := strings.Cut(field, "@")
	return ok && name != "" && strings.Contains(host, ".")
}

const (
	maxPhraseGap = 4 // other words inside an open phrase
	// weightMeaning is the weight of the first meaning of a phrase, and
	// weightOtherMeaning that of each of the others.
	weightMeaning      = 0.8
	weightOtherMeaning = 0.6
	// ignoredWeight is the weight of a word that a phrase ignores: to set up a meeting is
	// not to set anything.
	ignoredWeight = 0.2
)

// phrase is several words with a meaning of their own.
type phrase struct {
	text    string
	words   []string // stems, at least two
	means   []string // stems
	ignored bool     // its words have no part in the meaning
	open    bool     // other words may precede the last one
}

// addPhrase reads a line such as "set up = create arrange": the words, whether they are
// ignored (=) or not (+), and the meanings. A '~' before the last word makes the phrase
// open.
func (l *knowledge) addPhrase(s stemmer, fields []string) {
	at := slices.IndexFunc(fields, func(f string) bool { return f == "=" || f == "+" })
	p := phrase{ignored: fields[at] == "="}
	for _, word := range fields[:at] {
		if word == "~" {
			p.open = true
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

// stemmedWord is a run with its stem.
type stemmedWord struct {
	run
	stem string
}

// phraseMatch is a phrase in a query. Other words may precede its last one.
type phraseMatch struct {
	*phrase
	first []stemmedWord
	last  stemmedWord
}

// written returns the words of the phrase as written in the query.
func (q *queryParser) written(m phraseMatch) string {
	text := q.scratch.word[:0]
	for _, w := range m.first {
		text = append(append(text, w.text...), ' ')
	}
	q.scratch.word = append(text, m.last.text...)
	return q.keep(q.scratch.word)
}

// findPhrases finds the phrases in the text.
func (q *queryParser) findPhrases() {
	eachRun(q.text, func(word run) {
		if len(word.text) <= maxWordBytes {
			q.words = append(q.words, stemmedWord{run: word, stem: q.stem(word.text)})
		}
	})
	words := q.words
	q.prose = isProse(words)
	for i := range words {
		best := q.bestPhrase(words[i:])
		if best.phrase == nil {
			continue
		}
		q.phrases[words[i].start] = best
		for _, w := range best.first {
			q.ignored[w.start] = q.ignored[w.start] || best.ignored
		}
		q.ignored[best.last.start] = q.ignored[best.last.start] || best.ignored
	}
}

// bestPhrase returns the phrase that the words start with: of several, the one with the
// most words, and among those the one that ends first.
func (q *queryParser) bestPhrase(words []stemmedWord) (best phraseMatch) {
	if q.ignored[words[0].start] {
		return best
	}
	candidates := q.l.phrases[words[0].stem]
	for n := range candidates {
		p := &candidates[n]
		m, ok := q.matchPhrase(p, words)
		if !ok || !q.knowsAny(p.means) {
			continue
		}
		if best.phrase == nil || cmp.Or(cmp.Compare(len(m.first), len(best.first)), cmp.Compare(best.last.start, m.last.start)) > 0 {
			best = m
		}
	}
	return best
}

func (q *queryParser) knowsAny(stems []string) bool {
	return slices.ContainsFunc(stems, func(stem string) bool { _, ok := q.x.find(stem); return ok })
}

// matchPhrase returns p in the given words, if they start with it.
func (q *queryParser) matchPhrase(p *phrase, words []stemmedWord) (m phraseMatch, ok bool) {
	last := len(p.words) - 1
	if len(words) <= last {
		return m, false
	}
	for i, stem := range p.words[:last] {
		if words[i].stem != stem || i > 0 && !q.adjoin(words[i-1], words[i]) {
			return m, false
		}
	}
	gap := 0
	if p.open {
		gap = maxPhraseGap
	}
	for i := last; i < len(words) && i <= last+gap && q.adjoin(words[i-1], words[i]); i++ {
		if words[i].stem == p.words[last] {
			return phraseMatch{phrase: p, first: words[:last], last: words[i]}, true
		}
	}
	return m, false
}

// adjoin reports whether only white space, a hyphen or an apostrophe separates two runs.
func (q *queryParser) adjoin(a, b stemmedWord) bool {
	between := q.text[a.start+len(a.text) : b.start]
	return between == "-" || strings.TrimSpace(between) == "" || strings.HasPrefix(between, "'")
}

// parsePhrase adds the meaning of the phrase that starts with a word.
func (q *queryParser) parsePhrase(word run, weight float64) {
	p, ok := q.phrases[word.start]
	if !ok {
		return
	}
	q.addTerm(p.text, q.written(p), weight, func(w *term) {
		q.addAll(w, p.means[:1], weightMeaning, "meaning of")
		q.addAll(w, p.means[1:], weightOtherMeaning, "meaning of")
		for _, m := range w.expansions {
			w.importance = max(w.importance, q.acc.idf(m.token)*m.weight)
		}
	})
}
