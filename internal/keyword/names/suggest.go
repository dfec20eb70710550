// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package names

import (
	"cmp"
	"math/bits"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// The limits for a typed name. The rest of it is ignored.
const (
	maxTypedBytes = 256
	maxTypedWords = 16
)

// The similarity of two names that differ only in some respect.
const (
	similarPunctuation = 1    // case, separators, quotes
	similarServer      = 0.97 // these and the server's prefix
	similarSuffix      = 0.9  // one ends with the other
	similarWords       = 0.85 // the most for shared words
	minSimilarity      = 0.4  // names below it are not suggested
)

// Suggest returns the positions of the documents whose names are most similar to
// name, best first, at most limit of them. If limit is zero or less, it returns all
// that are similar enough. It compares names without case, separators and quotes,
// with and without a server's prefix, by the words they share and by typing errors.
// It reads only the first 256 bytes of name, and looks at every name once.
func (c *Catalog) Suggest(name string, limit int) []int {
	name = Clip(name, maxTypedBytes)
	if limit <= 0 || limit > c.size {
		limit = c.size
	}
	type candidate struct {
		number     uint32
		similarity float64
	}
	best := NewTopK(limit, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(b.similarity, a.similarity), c.Compare(a.number, b.number))
	})
	for i := range c.parts {
		p := &c.parts[i]
		similarity := make([]float64, p.Len())
		p.compareWords(name, similarity)
		p.compareLetters(name, similarity)
		for ordinal, s := range similarity {
			if s >= minSimilarity && p.has(ordinal) {
				best.Add(candidate{p.first + uint32(ordinal), s})
			}
		}
	}
	var docs []int
	for _, found := range best.Sorted() {
		docs = append(docs, c.Position(found.number))
	}
	return docs
}

// Resolve returns the one document that name must mean: the document of that name,
// or else the one whose name differs only in case, separators and quotes, or else
// the one that differs in these and the server's prefix. If there is none or more
// than one, it returns false. It considers only the documents that keep allows; if
// keep is nil, all of them.
func (c *Catalog) Resolve(name string, keep func(doc int) bool) (doc int, ok bool) {
	if doc, ok := c.Lookup(name); ok && (keep == nil || keep(doc)) {
		return doc, true
	}
	if len(name) > maxTypedBytes {
		return 0, false
	}
	folded := Fold(name)
	if folded == "" {
		return 0, false
	}
	for _, list := range []func(*suggester) []string{(*suggester).withServer, (*suggester).withoutServer} {
		found := -1
		for i := range c.parts {
			p := &c.parts[i]
			for ordinal, candidate := range list(p.suggester()) {
				doc := int(p.first) + int(p.positions[ordinal])
				if candidate != folded || !p.has(ordinal) || keep != nil && !keep(doc) {
					continue
				}
				if found >= 0 {
					return 0, false
				}
				found = doc
			}
		}
		if found >= 0 {
			return found, true
		}
	}
	return 0, false
}

// suggester holds the names in the forms to compare, by ordinal.
type suggester struct {
	folded  []string
	tails   []string // folded, without the server's prefix
	letters []uint64 // the set of characters in folded
	words   []string
	users   [][]uint32 // of each word
}

func (s *suggester) withServer() []string    { return s.folded }
func (s *suggester) withoutServer() []string { return s.tails }

func newSuggester(names []string) *suggester {
	s := &suggester{
		folded:  make([]string, len(names)),
		tails:   make([]string, len(names)),
		letters: make([]uint64, len(names)),
	}
	var ids IDs
	for i, name := range names {
		s.folded[i] = Fold(name)
		s.tails[i] = s.folded[i]
		if _, tail, ok := strings.Cut(name, "__"); ok {
			s.tails[i] = Fold(tail)
		}
		s.letters[i] = letterSet(s.folded[i])
		for _, word := range wordsOf(name) {
			id := ids.ID(word)
			if int(id) == len(s.users) {
				s.users = append(s.users, nil)
			}
			s.users[id] = append(s.users[id], uint32(i))
		}
	}
	s.words = ids.Words()
	return s
}

// Fold reduces a name to what people and models remember of it: its letters and
// digits, without case and width.
func Fold(name string) string {
	return strings.Map(func(r rune) rune {
		if isSeparator(r) {
			return -1
		}
		return unicode.ToLower(r)
	}, norm.NFKC.String(name))
}

// letterSet sets one bit for each distinct character. Several characters share a bit.
func letterSet(s string) uint64 {
	set := uint64(0)
	for _, r := range s {
		set |= 1 << (uint32(r) & 63)
	}
	return set
}

// compareLetters compares whole names. Either name may have a prefix that the other
// one lacks.
func (l *List) compareLetters(name string, similarity []float64) {
	folded := Fold(name)
	if folded == "" {
		return
	}
	tail := folded
	if _, rest, ok := strings.Cut(name, "__"); ok {
		tail = Fold(rest)
	}
	limit := max(1, len(folded)/5)
	letters := letterSet(folded)
	s := l.suggester()
	for i, other := range s.folded {
		similar := 0.0
		switch {
		case other == folded:
			similar = similarPunctuation
		case tail != "" && s.tails[i] == tail:
			similar = similarServer
		case endsWith(other, folded) || endsWith(folded, other):
			similar = similarSuffix
		case bits.OnesCount64(s.letters[i]^letters) <= 2*limit:
			if d := Distance(folded, other, limit); d <= limit {
				similar = 1 - float64(d)/float64(max(len(folded), len(other)))
			}
		}
		similarity[i] = max(similarity[i], similar)
	}
}

// endsWith reports whether s ends with suffix and suffix is a good part of it.
func endsWith(s, suffix string) bool {
	return len(suffix) >= 4 && 3*len(suffix) >= len(s) && strings.HasSuffix(s, suffix)
}

// compareWords compares the words of names: each word counts by its similarity to the
// most similar word of the other name.
func (l *List) compareWords(name string, similarity []float64) {
	s, words := l.suggester(), wordsOf(name)
	total := 0
	for _, word := range words {
		total += len(word)
	}
	shared := make([]float64, len(similarity)) // bytes of words in common
	best := make([]float64, len(similarity))
	for _, word := range words {
		clear(best)
		for id, other := range s.words {
			if similar := compareWord(word, other); similar > 0 {
				for _, ordinal := range s.users[id] {
					best[ordinal] = max(best[ordinal], similar)
				}
			}
		}
		for i, similar := range best {
			shared[i] += float64(similar * float64(len(word)))
		}
	}
	for i, bytes := range shared {
		if bytes > 0 {
			ofTyped := bytes / float64(total)
			ofBoth := bytes / float64(max(total, len(l.names[i])))
			similarity[i] = similarWords * (float64(0.75*ofTyped) + float64(0.25*ofBoth))
		}
	}
}

// wordsOf returns the distinct words of a name, in lower case.
func wordsOf(name string) []string {
	var words []string
	for _, field := range strings.FieldsFunc(norm.NFKC.String(name), isSeparator) {
		for _, word := range CamelParts(field) {
			word = strings.ToLower(word)
			if len(words) < maxTypedWords && !slices.Contains(words, word) {
				words = append(words, word)
			}
		}
	}
	return words
}

func isSeparator(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r)
}

// compareWord returns how similar two words are: 1 if they are equal, 0 if they have
// nothing in common.
func compareWord(a, b string) float64 {
	if a == b {
		return 1
	}
	short, long := a, b
	if len(short) > len(long) {
		short, long = long, short
	}
	ratio := float64(len(short)) / float64(len(long))
	if len(short) >= 3 && ratio >= 0.4 && (strings.HasPrefix(long, short) || strings.HasSuffix(long, short)) {
		return 0.5 + float64(0.4*ratio)
	}
	limit := MaxTypos(len(short))
	if limit == 0 || len(long)-len(short) > limit*4 {
		return 0
	}
	if d := Distance(a, b, limit); d <= limit {
		return 1 - float64(d)/float64(len(long))
	}
	return 0
}

// MaxTypos returns how many typing errors are plausible in a word of the given
// length in bytes.
func MaxTypos(length int) int {
	switch {
	case length > 7:
		return 2
	case length >= 4:
		return 1
	}
	return 0
}
