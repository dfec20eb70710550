// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package bm25

import (
	"math"
	"slices"
	"sort"
	"sync"

	"github.com/einolean/einolean/internal/keyword/bm25/lexicon"
	"github.com/einolean/einolean/internal/keyword/bm25/tokenize"
	"github.com/einolean/einolean/internal/keyword/names"
)

// view is the documents of an index: parts of segments, which other indexes may have as well.
// What it says is what it would say of the index's documents alone. It is immutable and safe for
// concurrent use.
type view struct {
	*names.Catalog
	parts    []part
	tokens   int // of all segments, also those that no document of the index uses
	unspaced int // documents with text in a script without spaces
	average  [fieldCount]float64
	language func() lexicon.Language // of the descriptions, found on first use
}

// Part is what an index has of a segment.
type Part struct {
	*Segment
	// Has is the set of the positions of its documents. If nil, all.
	Has names.Set
}

// part is a part of a view. A document is known by its ordinal in the segment, plus
// firstDoc; a token by its number there, plus firstToken.
type part struct {
	*Segment
	live                 names.Set // ordinals; nil means all
	firstDoc, firstToken uint32
}

func newView(parts []Part) *view {
	lists := make([]names.Part, len(parts))
	for i, p := range parts {
		lists[i] = names.Part{List: p.List, Has: p.Has}
	}
	x := &view{Catalog: names.Join(lists...), parts: make([]part, len(parts))}
	var total [fieldCount]int
	for i, p := range parts {
		live, first := x.Part(i)
		x.parts[i] = part{p.Segment, live, first, uint32(x.tokens)}
		x.tokens += p.tokens.Len()
		x.unspaced += p.unspaced.Count()
		for f, n := range p.total {
			total[f] += n
		}
		if live != nil {
			live.EachMissing(p.Segment.Len(), func(doc int) {
				if p.unspaced.Has(uint32(doc)) {
					x.unspaced--
				}
				for f, n := range p.lengths[doc] {
					total[f] -= int(n)
				}
			})
		}
	}
	for f := range x.average {
		x.average[f] = float64(total[f]) / float64(max(1, x.Len()))
	}
	x.language = sync.OnceValue(x.findLanguage)
	return x
}

// Language returns the language of the descriptions, if most are in one.
func (x *view) Language() lexicon.Language { return x.language() }

func (x *view) findLanguage() lexicon.Language {
	mostly := 4*x.unspaced > 3*x.Len() // of the documents are written without spaces
	if !mostly && 4*x.unspaced > x.Len() {
		return ""
	}
	return lexicon.LanguageOfMost(x.Len(), mostly, func(stem string) int {
		token, ok := x.find(stem)
		if !ok {
			return 0
		}
		return x.users(token)
	})
}

// DescriptionWords returns how many words a description has on average.
func (x *view) DescriptionWords() float64 { return x.average[fieldDescription] }

func (x *view) partOfDoc(doc uint32) *part { return &x.parts[x.PartOf(doc)] }

func (x *view) partOfToken(token uint32) *part {
	if len(x.parts) == 1 {
		return &x.parts[0]
	}
	return &x.parts[sort.Search(len(x.parts), func(i int) bool { return x.parts[i].firstToken > token })-1]
}

// server returns the name of a document's server, "" if it has none.
func (x *view) server(doc uint32) string {
	p := x.partOfDoc(doc)
	return p.serverNames[p.servers[doc-p.firstDoc]]
}

// nameOf returns the distinct tokens of a document's name.
func (x *view) nameOf(doc uint32) (p *part, tokens []uint32) {
	p = x.partOfDoc(doc)
	return p, p.nameOf(doc - p.firstDoc)
}

// finderOf returns the document that finds what is named by a token for a document of the same
// server: the one whose name has the fewest words besides, and does not require it itself.
func (x *view) finderOf(kind, of uint32) (best uint32, ok bool) {
	server, least := x.server(of), 0
	if server == "" {
		return 0, false
	}
	x.each(kind, func(p *part, id uint32) {
		for _, u := range p.of(id) {
			doc := p.firstDoc + u.doc
			if u.counts.of(fieldName) == 0 || doc == of || !p.has(u.doc) || p.serverNames[p.servers[u.doc]] != server ||
				slices.Contains(p.needsOf(u.doc), id) {
				continue
			}
			words := p.nameOf(u.doc)
			if !slices.ContainsFunc(words, func(word uint32) bool { return finding[p.tokens.Word(word)] }) {
				continue
			}
			if !ok || len(words) < least || len(words) == least && x.Compare(doc, best) < 0 {
				best, least, ok = doc, len(words), true
			}
		}
	})
	return best, ok
}

// finding are the stems of verbs in the names of tools that find things.
var finding = map[string]bool{"search": true, "find": true, "list": true, "lookup": true, "queri": true, "get": true, "resolv": true}

// find returns the number that a token has in the first segment in which a document of the
// index uses it; ok is false if there is none.
func (x *view) find(text string) (token uint32, ok bool) {
	for i := range x.parts {
		p := &x.parts[i]
		if id, ok := p.tokens.Find(text); ok && p.isUsed(id) {
			return p.firstToken + id, true
		}
	}
	return 0, false
}

// findBytes is find of a text that may change afterwards.
func (x *view) findBytes(text []byte) (token uint32, ok bool) {
	for i := range x.parts {
		p := &x.parts[i]
		if id, ok := p.tokens.FindBytes(text); ok && p.isUsed(id) {
			return p.firstToken + id, true
		}
	}
	return 0, false
}

// findNameWord returns the number of a token that is one of a name.
func (x *view) findNameWord(text string) (token uint32, ok bool) {
	for i := range x.parts {
		p := &x.parts[i]
		if id, has := p.tokens.Find(text); has && p.isNameWord(id) {
			return x.find(text)
		}
	}
	return 0, false
}

// text returns the text of a token.
func (x *view) text(token uint32) string {
	p := x.partOfToken(token)
	return p.tokens.Word(token - p.firstToken)
}

// each visits the segments that have a token, with its number there.
func (x *view) each(token uint32, visit func(p *part, id uint32)) {
	own := x.partOfToken(token)
	visit(own, token-own.firstToken)
	if len(x.parts) == 1 {
		return
	}
	text := own.tokens.Word(token - own.firstToken)
	for i := range x.parts {
		p := &x.parts[i]
		if id, ok := p.tokens.Find(text); ok && p != own {
			visit(p, id)
		}
	}
}

// users returns how many documents use a token.
func (x *view) users(token uint32) (n int) {
	x.each(token, func(p *part, id uint32) { n += p.users(id) })
	return n
}

// idf returns the inverse document frequency of a token.
func (x *view) idf(token uint32) float32 {
	all := x.Len()
	if tokenize.StartsUnspaced(x.text(token)) {
		// A Chinese word is rare among English documents, which does not make it
		// significant.
		all = x.unspaced
	}
	return float32(idf(x.users(token), all))
}

// posting returns the posting of a token in a document, and the lengths of its fields.
func (x *view) posting(token, doc uint32) (lengths *[fieldCount]uint16, found posting, ok bool) {
	in := x.partOfDoc(doc)
	x.each(token, func(p *part, id uint32) {
		if p == in {
			lengths = &p.lengths[doc-p.firstDoc]
			found, ok = p.posting(id, doc-p.firstDoc)
		}
	})
	return lengths, found, ok
}

// This package converts each product in a sum to float64, which keeps compilers from
// fusing the two operations: fused ones round once instead of twice, and the order of
// equally good documents would differ between machines.

// norm returns the weight of one occurrence in a field of this length.
func (x *view) norm(f field, length int) float64 {
	relative := float64(length) / x.average[f]
	return fieldWeights[f] / (1 - fieldSlopes[f] + float64(fieldSlopes[f]*relative))
}

// idf returns the inverse document frequency of a token.
func idf(users, all int) float64 {
	d := float64(users)
	return math.Log(1 + (float64(all)-d+0.5)/(d+0.5))
}

// saturation sets how fast further occurrences stop counting.
const saturation = 1.2

// has reports whether the index has a document of the segment.
func (p *part) has(doc uint32) bool { return p.live == nil || p.live.Has(doc) }

// users returns how many of the index's documents in the segment use a token.
func (p *part) users(id uint32) int {
	posts := p.of(id)
	if p.live == nil {
		return len(posts)
	}
	n := 0
	for _, u := range posts {
		if p.live.Has(u.doc) {
			n++
		}
	}
	return n
}

func (p *part) isUsed(id uint32) bool {
	return p.live == nil || slices.ContainsFunc(p.of(id), func(u posting) bool { return p.live.Has(u.doc) })
}

// isNameWord reports whether a token is one of the name of a document of the index.
func (p *part) isNameWord(id uint32) bool {
	return p.nameWords.Has(id) && (p.live == nil || slices.ContainsFunc(p.of(id), func(u posting) bool {
		return p.live.Has(u.doc) && slices.Contains(p.nameOf(u.doc), id)
	}))
}
