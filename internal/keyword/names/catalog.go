// Copyright leanctx authors
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
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// Catalog holds the names of documents. A document is known by its position in
// the slice that the catalog was built from, and by its ordinal, the number it has
// in the order of names: comparing two ordinals compares the names. A Catalog is
// immutable and safe for concurrent use.
type Catalog struct {
	names     []string          // by ordinal
	positions []int             // by ordinal
	ordinals  []uint32          // by position
	byName    map[string]uint32 // the first ordinal of each name
	suggester func() *suggester // built on first use: most searches never need it
}

// New returns the catalog of names, which need not be distinct. Equal names are
// in the order of their positions.
func New(list []string) *Catalog {
	c := &Catalog{
		names:     make([]string, len(list)),
		positions: make([]int, len(list)),
		ordinals:  make([]uint32, len(list)),
		byName:    make(map[string]uint32, len(list)),
	}
	for i := range c.positions {
		c.positions[i] = i
	}
	slices.SortFunc(c.positions, func(a, b int) int {
		return cmp.Or(strings.Compare(list[a], list[b]), cmp.Compare(a, b))
	})
	for i, position := range c.positions {
		name := list[position]
		c.ordinals[position] = uint32(i)
		c.names[i] = name
		if _, taken := c.byName[name]; !taken {
			c.byName[name] = uint32(i)
		}
	}
	names := c.names
	c.suggester = sync.OnceValue(func() *suggester { return newSuggester(names) })
	return c
}

// Len returns the number of documents.
func (c *Catalog) Len() int { return len(c.names) }

// Name returns the name of the document at position doc, which must be from 0 to
// Len()-1.
func (c *Catalog) Name(doc int) string { return c.names[c.ordinals[doc]] }

// Lookup returns the position of the document with exactly this name, the first
// if there are several.
func (c *Catalog) Lookup(name string) (doc int, ok bool) {
	ordinal, ok := c.byName[name]
	if !ok {
		return 0, false
	}
	return c.positions[ordinal], true
}

// Ordinal returns the ordinal of the document at position doc.
func (c *Catalog) Ordinal(doc int) uint32 { return c.ordinals[doc] }

// Position returns the position of the document with the given ordinal.
func (c *Catalog) Position(ordinal uint32) int { return c.positions[ordinal] }

// NameAt returns the name of the document with the given ordinal.
func (c *Catalog) NameAt(ordinal uint32) string { return c.names[ordinal] }

// LookupOrdinal returns the ordinal of the first document with exactly this name.
func (c *Catalog) LookupOrdinal(name string) (ordinal uint32, ok bool) {
	ordinal, ok = c.byName[name]
	return ordinal, ok
}

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
