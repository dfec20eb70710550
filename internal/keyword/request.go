// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package keyword

// This file reads the text of a request: what it asks for, and in how many pieces.

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Bounds on what is read of a request. What is beyond them is not searched for.
const (
	maxRequestBytes = 32 << 10
	maxTerms        = 256
	maxTypos        = 32 // unknown words that are looked at for typing errors
)

// singleWeight is what a lone character of a longer dense run counts: most of them
// are halves of words.
const singleWeight = 0.5

// want is one thing that a request says.
type want struct {
	text     string
	word     string  // the run it is part of
	weight   float64 // less than 1 for what is probably a value
	mass     float64 // how much it matters that a document has it
	required bool
	matches  []matching
}

// matching is a token that stands for a want.
type matching struct {
	token    uint32
	weight   float64 // 1 for the word itself
	relation string
}

// request is a text that was understood.
type request struct {
	wants  []want
	pieces [][]int // of wants; none if there is but one piece
	// required are sets of tokens of which a document must use one each.
	required [][]uint32
	// named are the documents whose names are in the text.
	named []uint32
}

// reader understands one text.
type reader struct {
	x       *BM25
	l       *lists
	stemmer stemmer
	shared  []uint8 // for typos
	typos   int     // that were looked for

	text    string
	spans   []span
	ends    []int // of the pieces
	keepAll bool  // stop words too, because there is nothing else

	phrases map[int]said // by where they start
	idle    map[int]bool // where words start that are idle in a phrase

	request request
	seen    map[string]int // text of a want -> its position
	piece   int
	word    run // the current one
	before  run // the last one, if it was a word that counts
	must    int // where the field that was marked as required ends
}

// read understands text; shared is scratch memory for typos.
func (x *BM25) read(text string, shared []uint8) request {
	r := &reader{x: x, l: knowledge(), stemmer: make(stemmer), shared: shared}
	r.text = normalize(clip(text, maxRequestBytes))
	r.spans, r.ends = valueSpans(r.text), pieceEnds(r.text)
	r.findPhrases()
	r.readRuns()
	if len(r.request.wants) == 0 {
		r.keepAll = true
		r.readRuns()
	}
	r.request.pieces = slices.DeleteFunc(r.request.pieces, func(wants []int) bool { return len(wants) == 0 })
	if len(r.request.pieces) < 2 {
		r.request.pieces = nil
	}
	r.request.named = x.namedIn(text)
	return r.request
}

// maxNamed is how many white-space-delimited fields of a text are looked up as names.
const maxNamed = 64

// namedIn returns the documents whose names are fields of text, if these consist of
// more than one word: one word can well mean something else.
func (x *BM25) namedIn(text string) []uint32 {
	var named []uint32
	looked := 0
	for field := range strings.FieldsSeq(clip(text, maxRequestBytes)) {
		if looked++; looked > maxNamed {
			break
		}
		doc, ok := x.byName[strings.Trim(field, "+\"'`.,;:()[]!?")]
		if ok && len(x.nameOf(doc)) > 1 {
			named = append(named, doc)
		}
	}
	return named
}

func (r *reader) readRuns() {
	r.seen = make(map[string]int)
	r.request = request{pieces: make([][]int, len(r.ends))}
	r.piece, r.before, r.must = 0, run{}, 0
	span := 0
	eachRun(r.text, func(word run) {
		for word.start >= r.ends[r.piece] {
			r.piece++
		}
		for span < len(r.spans) && r.spans[span].end <= word.start {
			span++
		}
		weight := 1.0
		if span < len(r.spans) && r.spans[span].start <= word.start {
			weight = r.spans[span].weight
		}
		r.word = word
		r.markRequired(word)
		if word.dense {
			r.readDense(word, weight)
			r.before = run{}
		} else {
			r.readWord(word, weight)
		}
	})
}

// markRequired finds out whether a '+' at the start of the white-space-delimited
// field makes the run required. Before a digit it is part of a number.
func (r *reader) markRequired(word run) {
	mark := word.start
	for mark > 0 && r.text[mark-1] == '+' {
		mark--
	}
	first, _ := utf8.DecodeRuneInString(word.text)
	if mark == word.start || !startsField(r.text, mark) || first >= '0' && first <= '9' {
		return
	}
	r.must = word.start + fieldLength(r.text[word.start:])
}

func (r *reader) isRequired(word run) bool { return word.start < r.must }

// readWord wants the parts of a word, and the whole of it.
func (r *reader) readWord(word run, weight float64) {
	if len(word.text) > maxWordBytes {
		r.before = run{}
		return
	}
	r.readPhrase(word, weight)
	r.readIdentifier(word, weight)
	if r.idle[word.start] {
		weight *= idleWeight
	}
	parts, counting := 0, 0
	eachPart(word.text, func(part string) {
		parts++
		if r.readStem(r.stemmer.stem(part), weight, r.isRequired(word)) {
			counting++
		}
	})
	if counting == 0 {
		r.before = run{}
		return
	}
	if parts > 1 {
		r.readStem(r.stemmer.stem(word.text), weight, false)
	}
	r.join(word)
	r.before = word
}

// readIdentifier wants the identifier that starts with a word, if it is that of a
// parameter.
func (r *reader) readIdentifier(word run, weight float64) {
	if word.start > 0 && r.text[word.start-1] == '_' {
		return
	}
	id := strings.ToLower(leadingIdentifier(r.text[word.start:]))
	if _, known := r.x.tokens[id]; known {
		r.want(id, weight, r.expand)
	}
}

// readStem wants a word, unless it says nothing.
func (r *reader) readStem(stem string, weight float64, required bool) bool {
	empty := r.l.stop[stem] || len(stem) == 1 && 'a' <= stem[0] && stem[0] <= 'z'
	if empty && !required && !r.keepAll {
		return false
	}
	at := r.want(stem, weight, r.expand)
	if required && at >= 0 {
		r.require(at)
	}
	return at >= 0
}

// readDense wants the characters of a dense run, their neighbours, and what the words
// among them mean.
func (r *reader) readDense(word run, weight float64) {
	parts := []string{word.text}
	if !r.keepAll {
		parts = r.l.withoutFillers(word.text)
	}
	for _, part := range parts {
		r.readGlyphs(part, weight)
	}
	for _, segment := range r.l.segment(word.text) {
		r.translate(segment, weight)
	}
	if r.isRequired(word) {
		r.requireDense(word.text)
	}
}

func (r *reader) readGlyphs(text string, weight float64) {
	alone := utf8.RuneCountInString(text) == 1
	eachGlyph(text, func(token string) {
		if r.l.stop[token] && !r.keepAll {
			return
		}
		own := weight
		if _, size := utf8.DecodeRuneInString(token); size == len(token) && !alone {
			own *= singleWeight
		}
		r.want(token, own, r.expand)
	})
}

// want adds a want and has it filled in, or finds it if it is there already. It
// returns its position, or -1 if there are maxTerms.
func (r *reader) want(text string, weight float64, fill func(*want)) int {
	at, known := r.seen[text]
	if !known {
		if len(r.request.wants) == maxTerms {
			return -1
		}
		at = len(r.request.wants)
		r.seen[text] = at
		r.request.wants = append(r.request.wants, want{text: text, word: r.word.text, weight: weight})
		fill(&r.request.wants[at])
	}
	w := &r.request.wants[at]
	w.weight = max(w.weight, weight)
	w.required = w.required || r.isRequired(r.word)
	if piece := &r.request.pieces[r.piece]; !slices.Contains(*piece, at) {
		*piece = append(*piece, at)
	}
	return at
}
