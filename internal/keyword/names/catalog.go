// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

// Package names keeps the names of documents in order and corrects names that
// do not exist: it finds the existing ones nearest to what was typed.
//
// It also holds what the scorers share: the k best of many items, numbers for
// distinct words, and the parts of an identifier.
package names

import (
	"cmp"
	"slices"
	"sort"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// List holds the names of documents that were read together. A document is known by its
// position in the slice that the list was built from, and by its ordinal, the number it has
// in the order of names: comparing two ordinals compares the names. A List is immutable
// and safe for concurrent use.
type List struct {
	names     []string          // by ordinal
	positions []uint32          // by ordinal
	ordinals  []uint32          // by position
	suggester func() *suggester // built on first use: most searches never need it
}

// NewList returns the list of names, which need not be distinct. Equal names are in the
// order of their positions.
func NewList(list []string) *List {
	l := &List{
		names:     make([]string, len(list)),
		positions: make([]uint32, len(list)),
		ordinals:  make([]uint32, len(list)),
	}
	for i := range l.positions {
		l.positions[i] = uint32(i)
	}
	slices.SortFunc(l.positions, func(a, b uint32) int {
		return cmp.Or(strings.Compare(list[a], list[b]), cmp.Compare(a, b))
	})
	for i, position := range l.positions {
		l.ordinals[position] = uint32(i)
		l.names[i] = list[position]
	}
	names := l.names
	l.suggester = sync.OnceValue(func() *suggester { return newSuggester(names) })
	return l
}

// Len returns the number of documents.
func (l *List) Len() int { return len(l.names) }

// NameAt returns the name of the document with the given ordinal.
func (l *List) NameAt(ordinal uint32) string { return l.names[ordinal] }

// Ordinal returns the ordinal of the document at a position.
func (l *List) Ordinal(position int) uint32 { return l.ordinals[position] }

// Position returns the position of the document with the given ordinal.
func (l *List) Position(ordinal uint32) int { return int(l.positions[ordinal]) }

// Catalog is the names of documents of one or several lists. A document is known by a
// position and a number: those in its list, plus the documents of the lists before, whether
// the catalog has these or not. A Catalog is immutable and safe for concurrent use.
type Catalog struct {
	parts []catalogPart
	size  int
}

// Part is what a catalog has of a list.
type Part struct {
	*List
	// Has is the set of the positions of its documents. If nil, all.
	Has Set
}

type catalogPart struct {
	*List
	live  Set // ordinals; nil: all
	first uint32
}

// New returns the catalog of names.
func New(list []string) *Catalog { return Join(Part{List: NewList(list)}) }

// Join returns the catalog of parts of lists. It costs as much as there are documents in
// the lists that it has not.
func Join(parts ...Part) *Catalog {
	c := &Catalog{parts: make([]catalogPart, len(parts))}
	first := 0
	for i, p := range parts {
		n := p.List.Len()
		mine := catalogPart{List: p.List, first: uint32(first)}
		c.size += n
		if p.Has != nil {
			mine.live = AllOf(n)
			p.Has.EachMissing(n, func(position int) {
				mine.live.Remove(p.Ordinal(position))
				c.size--
			})
		}
		c.parts[i] = mine
		first += n
	}
	return c
}

// Len returns the number of documents.
func (c *Catalog) Len() int { return c.size }

// Numbers returns the bound of the numbers and positions of documents.
func (c *Catalog) Numbers() int {
	if len(c.parts) == 0 {
		return 0
	}
	last := c.parts[len(c.parts)-1]
	return int(last.first) + last.Len()
}

// Part returns which documents of a list the catalog has, by ordinal, where nil is all, and
// the number of the first.
func (c *Catalog) Part(i int) (live Set, first uint32) { return c.parts[i].live, c.parts[i].first }

// PartOf returns in which list a document is.
func (c *Catalog) PartOf(number uint32) int {
	if len(c.parts) == 1 {
		return 0
	}
	return sort.Search(len(c.parts), func(i int) bool { return c.parts[i].first > number }) - 1
}

func (c *Catalog) part(number uint32) *catalogPart { return &c.parts[c.PartOf(number)] }

// Name returns the name of the document at a position.
func (c *Catalog) Name(doc int) string { return c.NameAt(c.Ordinal(doc)) }

// NameAt returns the name of the document with the given number.
func (c *Catalog) NameAt(number uint32) string {
	p := c.part(number)
	return p.names[number-p.first]
}

// Ordinal returns the number of the document at a position.
func (c *Catalog) Ordinal(doc int) uint32 {
	p := c.part(uint32(doc))
	return p.first + p.ordinals[doc-int(p.first)]
}

// Position returns the position of the document with the given number.
func (c *Catalog) Position(number uint32) int {
	p := c.part(number)
	return int(p.first + p.positions[number-p.first])
}

// Lookup returns the position of the document with exactly this name, the first
// if there are several.
func (c *Catalog) Lookup(name string) (doc int, ok bool) {
	number, ok := c.LookupOrdinal(name)
	if !ok {
		return 0, false
	}
	return c.Position(number), true
}

// LookupOrdinal returns the number of the first document with exactly this name.
func (c *Catalog) LookupOrdinal(name string) (number uint32, ok bool) {
	for i := range c.parts {
		p := &c.parts[i]
		at, _ := slices.BinarySearch(p.names, name)
		for ; at < len(p.names) && p.names[at] == name; at++ {
			if p.has(at) {
				return p.first + uint32(at), true
			}
		}
	}
	return 0, false
}

// Compare orders documents by their names, and by their numbers where these are equal.
func (c *Catalog) Compare(a, b uint32) int {
	if len(c.parts) > 1 && c.PartOf(a) != c.PartOf(b) {
		if order := strings.Compare(c.NameAt(a), c.NameAt(b)); order != 0 {
			return order
		}
	}
	return cmp.Compare(a, b)
}

func (p *catalogPart) has(ordinal int) bool { return p.live == nil || p.live.Has(uint32(ordinal)) }

// IDs numbers distinct words from 0, in the order in which they first occur. The
// zero value is empty and ready for use.
type IDs struct {
	ids   map[string]uint32
	words []string
}

// ID returns the number of word.
func (w *IDs) ID(word string) uint32 {
	id, ok := w.ids[word]
	if !ok {
		if w.ids == nil {
			w.ids = make(map[string]uint32)
		}
		id = uint32(len(w.words))
		w.ids[word] = id
		w.words = append(w.words, word)
	}
	return id
}

// IDOf is ID of a word that may change afterwards.
func (w *IDs) IDOf(word []byte) uint32 {
	if id, ok := w.ids[string(word)]; ok {
		return id
	}
	return w.ID(string(word))
}

// Words returns the words by their numbers. The slice belongs to w.
func (w *IDs) Words() []string { return w.words }

// CamelParts cuts an identifier where camelCase starts a new word: before an
// upper-case letter that follows a lower-case one, or that is followed by one.
func CamelParts(identifier string) []string {
	if identifier == "" {
		return nil
	}
	var parts []string
	start := 0
	previous, at := utf8.DecodeRuneInString(identifier)
	for at < len(identifier) {
		current, size := utf8.DecodeRuneInString(identifier[at:])
		if unicode.IsUpper(current) && (unicode.IsLower(previous) || startsLower(identifier[at+size:])) {
			parts = append(parts, identifier[start:at])
			start = at
		}
		previous, at = current, at+size
	}
	return append(parts, identifier[start:])
}

func startsLower(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return s != "" && unicode.IsLower(r)
}

// Clip cuts s to at most limit bytes, and not inside a character.
func Clip(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	return strings.ToValidUTF8(s[:limit], "")
}
