// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package keyword

// This file finds the name that was meant by one that does not exist.

import (
	"cmp"
	"math/bits"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// Bounds on what is read of a name that was typed; the rest of it is ignored.
const (
	maxNearBytes = 256
	maxNearWords = 16
)

// How near two names are when one is the other apart from something.
const (
	nearSame   = 1    // case, separators, quotes
	nearServer = 0.97 // and the server's prefix
	nearSuffix = 0.9  // one ends with the other
	nearWords  = 0.85 // the most that shared words are worth
	nearest    = 0.4  // names that are less near are not offered
)

// nearIndex holds the names as Near compares them, by inner number.
type nearIndex struct {
	folded []string
	tails  []string // folded, without the server's prefix
	marks  []uint64 // which characters occur in folded
	words  []string
	users  postings // of the words
}

func newNearIndex(names []string) *nearIndex {
	n := &nearIndex{
		folded: make([]string, len(names)),
		tails:  make([]string, len(names)),
		marks:  make([]uint64, len(names)),
	}
	for i, name := range names {
		n.folded[i] = foldName(name)
		n.tails[i] = n.folded[i]
		if _, tail, ok := strings.Cut(name, "__"); ok {
			n.tails[i] = foldName(tail)
		}
		n.marks[i] = marks(n.folded[i])
	}
	var users collector
	words := wordIDs{ids: make(map[string]uint32)}
	for i, name := range names {
		for _, word := range nearNameWords(name) {
			users.add(words.id(word), uint32(i))
		}
	}
	n.words = words.words
	n.users = newPostings(len(n.words), users.uses)
	return n
}

// foldName keeps of a name what people and models keep when they misremember it:
// letters and digits, without case and width.
func foldName(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, norm.NFKC.String(name))
}

// marks sets one bit per distinct character, several characters sharing a bit.
func marks(s string) uint64 {
	set := uint64(0)
	for _, r := range s {
		set |= 1 << (uint32(r) & 63)
	}
	return set
}

// Near returns the positions of the documents whose names are nearest to name,
// nearest first, at most limit of them; all that are near at all if limit is 0 or
// less. Names are compared without case, separators and quotes, with and without
// a server's prefix, by shared words, and by typing errors. It reads no more than
// the first 256 bytes of name, and goes through all names once.
func (c *catalog) Near(name string, limit int) []int {
	name = clip(name, maxNearBytes)
	nearness := make([]float64, len(c.names))
	c.nearByWords(name, nearness)
	c.nearByLetters(name, nearness)
	if limit <= 0 || limit > len(nearness) {
		limit = len(nearness)
	}
	type near struct {
		doc      int
		nearness float64
	}
	best := newTopK(limit, func(a, b near) int {
		return cmp.Or(cmp.Compare(b.nearness, a.nearness), cmp.Compare(a.doc, b.doc))
	})
	for doc, c := range nearness {
		if c >= nearest {
			best.add(near{doc: doc, nearness: c})
		}
	}
	var docs []int
	for _, n := range best.sorted() {
		docs = append(docs, c.place[n.doc])
	}
	return docs
}

// Resolve returns the one document that name must mean: its name is name, or else
// the same apart from case, separators and quotes, or else also apart from the
// server's prefix. With several such documents, or none, there is no answer. Only
// documents that keep allows come into question; nil allows all.
func (c *catalog) Resolve(name string, keep func(doc int) bool) (doc int, ok bool) {
	if doc, ok := c.Lookup(name); ok && (keep == nil || keep(doc)) {
		return doc, true
	}
	if len(name) > maxNearBytes {
		return 0, false
	}
	folded := foldName(name)
	if folded == "" {
		return 0, false
	}
	n := c.near()
	for _, names := range [][]string{n.folded, n.tails} {
		found := -1
		for i, candidate := range names {
			if candidate != folded || keep != nil && !keep(c.place[i]) {
				continue
			}
			if found >= 0 {
				return 0, false
			}
			found = i
		}
		if found >= 0 {
			return c.place[found], true
		}
	}
	return 0, false
}

// nearByLetters compares whole names. A name that was typed may have a prefix that
// the tool's has not, and the other way round.
func (c *catalog) nearByLetters(name string, nearness []float64) {
	folded := foldName(name)
	if folded == "" {
		return
	}
	tail := folded
	if _, rest, ok := strings.Cut(name, "__"); ok {
		tail = foldName(rest)
	}
	limit := max(1, len(folded)/5)
	set := marks(folded)
	n := c.near()
	for doc, other := range n.folded {
		c := 0.0
		switch {
		case other == folded:
			c = nearSame
		case tail != "" && n.tails[doc] == tail:
			c = nearServer
		case isSuffix(other, folded) || isSuffix(folded, other):
			c = nearSuffix
		case bits.OnesCount64(n.marks[doc]^set) <= 2*limit:
			if d := distance(folded, other, limit); d <= limit {
				c = 1 - float64(d)/float64(max(len(folded), len(other)))
			}
		}
		nearness[doc] = max(nearness[doc], c)
	}
}

// isSuffix reports whether s ends with suffix and is not mostly something else.
func isSuffix(s, suffix string) bool {
	return len(suffix) >= 4 && 3*len(suffix) >= len(s) && strings.HasSuffix(s, suffix)
}

// nearByWords compares the words of the names, each by how well the best word of
// the other matches it.
func (c *catalog) nearByWords(name string, nearness []float64) {
	n, words := c.near(), nearNameWords(name)
	total := 0
	for _, word := range words {
		total += len(word)
	}
	shared := make([]float64, len(nearness)) // bytes of words in common
	best := make([]float64, len(nearness))
	for _, word := range words {
		clear(best)
		for id, other := range n.words {
			if c := nearWord(word, other); c > 0 {
				for _, doc := range n.users.of(uint32(id)) {
					best[doc] = max(best[doc], c)
				}
			}
		}
		for doc, c := range best {
			shared[doc] += float64(c * float64(len(word)))
		}
	}
	for doc, bytes := range shared {
		if bytes > 0 {
			ofTyped := bytes / float64(total)
			ofBoth := bytes / float64(max(total, len(c.names[doc])))
			nearness[doc] = nearWords * (float64(0.75*ofTyped) + float64(0.25*ofBoth))
		}
	}
}

// nearNameWords are the distinct words of a name, in lower case.
func nearNameWords(name string) []string {
	var words []string
	for _, field := range strings.FieldsFunc(norm.NFKC.String(name), isSeparator) {
		for _, word := range humps(field) {
			word = strings.ToLower(word)
			if len(words) < maxNearWords && !contains(words, word) {
				words = append(words, word)
			}
		}
	}
	return words
}

func isSeparator(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r)
}

func contains(words []string, word string) bool {
	for _, w := range words {
		if w == word {
			return true
		}
	}
	return false
}

// nearWord is how near two words are: 1 if they are the same, 0 if they have
// nothing to do with each other.
func nearWord(a, b string) float64 {
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
	limit := allowedSlips(len(short))
	if limit == 0 || len(long)-len(short) > limit*4 {
		return 0
	}
	if d := distance(a, b, limit); d <= limit {
		return 1 - float64(d)/float64(len(long))
	}
	return 0
}

// allowedSlips is how many typing errors are believed in a word of so many bytes.
func allowedSlips(length int) int {
	switch {
	case length > 7:
		return 2
	case length >= 4:
		return 1
	}
	return 0
}

// clip cuts s to at most limit bytes, not inside a character.
func clip(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	return strings.ToValidUTF8(s[:limit], "")
}
