// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package postings

import (
	"math"
	"math/bits"
	"slices"
	"sort"
	"sync"

	"github.com/einolean/einolean/internal/keyword/bm25/analysis"
	"github.com/einolean/einolean/internal/keyword/names"
)

// View is the documents of an index: parts of segments, which other indexes may have as well.
// What it says is what it would say of the index's documents alone. It is immutable and safe for
// concurrent use.
type View struct {
	*names.Catalog
	parts    []Shard
	Tokens   int // of all segments, also those that no document of the index uses
	Unspaced int // documents with text in a script without spaces
	average  [fieldCount]float64
	language func() analysis.Language // of the descriptions, found on first use
}

// Part is what an index has of a segment.
type Part struct {
	*Segment
	// Live is the set of the positions of its documents. If nil, all.
	Live names.Set
}

// Shard is a part of a view. A document is known by its ordinal in the segment, plus
// FirstDoc; a token by its number there, plus FirstToken.
type Shard struct {
	*Segment
	live                 names.Set // ordinals; nil means all
	FirstDoc, FirstToken uint32
}

// NewView returns the view of parts.
func NewView(parts []Part) *View {
	lists := make([]names.Part, len(parts))
	for i, p := range parts {
		lists[i] = names.Part{List: p.List, Has: p.Live}
	}
	x := &View{Catalog: names.Join(lists...), parts: make([]Shard, len(parts))}
	var total [fieldCount]int
	for i, p := range parts {
		live, first := x.Part(i)
		x.parts[i] = Shard{p.Segment, live, first, uint32(x.Tokens)}
		x.Tokens += p.tokens.Len()
		x.Unspaced += p.unspaced.Count()
		for f, n := range p.total {
			total[f] += n
		}
		if live != nil {
			live.EachMissing(p.Segment.Len(), func(doc int) {
				if p.unspaced.Has(uint32(doc)) {
					x.Unspaced--
				}
				for f, n := range p.Lengths[doc] {
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
func (x *View) Language() analysis.Language { return x.language() }

func (x *View) findLanguage() analysis.Language {
	mostly := 4*x.Unspaced > 3*x.Len() // of the documents are written without spaces
	if !mostly && 4*x.Unspaced > x.Len() {
		return ""
	}
	return analysis.LanguageOfMost(x.Len(), mostly, func(stem string) int {
		token, ok := x.Find(stem)
		if !ok {
			return 0
		}
		return x.users(token)
	})
}

// DescriptionWords returns how many words a description has on average.
func (x *View) DescriptionWords() float64 { return x.average[fieldDescription] }

// PartOfDoc returns the part that has a document.
func (x *View) PartOfDoc(doc uint32) *Shard { return &x.parts[x.PartOf(doc)] }

func (x *View) partOfToken(token uint32) *Shard {
	if len(x.parts) == 1 {
		return &x.parts[0]
	}
	return &x.parts[sort.Search(len(x.parts), func(i int) bool { return x.parts[i].FirstToken > token })-1]
}

// Server returns the name of a document's server, "" if it has none.
func (x *View) Server(doc uint32) string {
	p := x.PartOfDoc(doc)
	return p.serverNames[p.serverOf[doc-p.FirstDoc]]
}

// NameOf returns the distinct tokens of a document's name.
func (x *View) NameOf(doc uint32) (p *Shard, tokens []uint32) {
	p = x.PartOfDoc(doc)
	return p, p.nameOf(doc - p.FirstDoc)
}

// FinderOf returns the document that finds what is named by a token for a document of the same
// server: the one whose name has the fewest words besides, and does not require it itself.
func (x *View) FinderOf(kind, consumer uint32) (best uint32, ok bool) {
	server, least := x.Server(consumer), 0
	if server == "" {
		return 0, false
	}
	x.EachShard(kind, func(p *Shard, id uint32) {
		for _, u := range p.Postings(id) {
			doc := p.FirstDoc + u.Doc
			if u.Counts.in(fieldName) == 0 || doc == consumer || !p.Has(u.Doc) || p.serverNames[p.serverOf[u.Doc]] != server ||
				slices.Contains(p.NeedsOf(u.Doc), id) {
				continue
			}
			words := p.nameOf(u.Doc)
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

// Find returns the number that a token has in the first segment in which a document of the
// index uses it; ok is false if there is none.
func (x *View) Find(text string) (token uint32, ok bool) {
	for i := range x.parts {
		p := &x.parts[i]
		if id, ok := p.tokens.Find(text); ok && p.isUsed(id) {
			return p.FirstToken + id, true
		}
	}
	return 0, false
}

// findBytes is Find of a text that may change afterwards.
func (x *View) findBytes(text []byte) (token uint32, ok bool) {
	for i := range x.parts {
		p := &x.parts[i]
		if id, ok := p.tokens.FindBytes(text); ok && p.isUsed(id) {
			return p.FirstToken + id, true
		}
	}
	return 0, false
}

// findNameWord returns the number of a token that is one of a name.
func (x *View) findNameWord(text string) (token uint32, ok bool) {
	for i := range x.parts {
		p := &x.parts[i]
		if id, has := p.tokens.Find(text); has && p.isNameWord(id) {
			return x.Find(text)
		}
	}
	return 0, false
}

// Text returns the text of a token.
func (x *View) Text(token uint32) string {
	p := x.partOfToken(token)
	return p.tokens.Word(token - p.FirstToken)
}

// EachShard visits the segments that have a token, with its number there.
func (x *View) EachShard(token uint32, visit func(p *Shard, id uint32)) {
	shard := x.partOfToken(token)
	visit(shard, token-shard.FirstToken)
	if len(x.parts) == 1 {
		return
	}
	text := shard.tokens.Word(token - shard.FirstToken)
	for i := range x.parts {
		p := &x.parts[i]
		if id, ok := p.tokens.Find(text); ok && p != shard {
			visit(p, id)
		}
	}
}

// users returns how many documents use a token.
func (x *View) users(token uint32) (n int) {
	x.EachShard(token, func(p *Shard, id uint32) { n += p.users(id) })
	return n
}

// IDF returns the inverse document frequency of a token.
func (x *View) IDF(token uint32) float32 {
	all := x.Len()
	if analysis.StartsUnspaced(x.Text(token)) {
		// A Chinese word is rare among English documents, which does not make it
		// significant.
		all = x.Unspaced
	}
	return float32(IDF(x.users(token), all))
}

// NameIDF returns the inverse document frequency of a token among the names.
func (x *View) NameIDF(token uint32) float32 {
	users := 0
	x.EachShard(token, func(p *Shard, id uint32) { users += p.nameUsers(id) })
	return float32(IDF(users, x.Len()))
}

// Posting returns the posting of a token in a document, and the lengths of its fields.
func (x *View) Posting(token, doc uint32) (lengths *Lengths, found Posting, ok bool) {
	in := x.PartOfDoc(doc)
	x.EachShard(token, func(p *Shard, id uint32) {
		if p == in {
			lengths = &p.Lengths[doc-p.FirstDoc]
			found, ok = p.posting(id, doc-p.FirstDoc)
		}
	})
	return lengths, found, ok
}

// This package converts each product in a sum to float64, which keeps compilers from
// fusing the two operations: fused ones round once instead of twice, and the order of
// equally good documents would differ between machines.

// norm returns the weight of one occurrence in a field of this length.
func (x *View) norm(f field, length int) float64 {
	relative := float64(length) / x.average[f]
	return fieldWeights[f] / (1 - fieldSlopes[f] + float64(fieldSlopes[f]*relative))
}

// shortField is the field length from which the weight of an occurrence is not
// precomputed.
const shortField = 128

// Norms say what occurrences in the fields of a view's documents weigh. They keep their memory.
type Norms struct {
	x     *View
	short [fieldCount][shortField]float64 // by the length of the field
}

// Reset makes them those of x.
func (n *Norms) Reset(x *View) {
	n.x = x
	for f := range fieldCount {
		for length := range n.short[f] {
			n.short[f][length] = x.norm(f, length)
		}
	}
}

// Frequency returns what occurrences in a document weigh together, given how long its fields are.
func (n *Norms) Frequency(lengths *Lengths, c Counts) (sum float64) {
	for c != 0 {
		f := field(bits.TrailingZeros32(uint32(c)) / countBits)
		if length := lengths[f]; length < shortField {
			sum += float64(n.short[f][length] * float64(c.in(f)))
		} else {
			sum += float64(n.x.norm(f, int(length)) * float64(c.in(f)))
		}
		c &^= maxCount << (countBits * f)
	}
	return sum
}

// IDF returns the inverse document frequency of a token.
func IDF(users, all int) float64 {
	d := float64(users)
	return math.Log(1 + (float64(all)-d+0.5)/(d+0.5))
}

// Has reports whether the index has a document of the segment.
func (p *Shard) Has(doc uint32) bool { return p.live == nil || p.live.Has(doc) }

// users returns how many of the index's documents in the segment use a token.
func (p *Shard) users(id uint32) int {
	posts := p.Postings(id)
	if p.live == nil {
		return len(posts)
	}
	n := 0
	for _, u := range posts {
		if p.live.Has(u.Doc) {
			n++
		}
	}
	return n
}

// nameUsers returns how many names of the index's documents in the segment have a token.
func (p *Shard) nameUsers(id uint32) int {
	if p.live == nil {
		return int(p.nameCounts[id])
	}
	if p.nameCounts[id] == 0 {
		return 0
	}
	n := 0
	for _, u := range p.Postings(id) {
		if u.Counts.InName() && p.live.Has(u.Doc) {
			n++
		}
	}
	return n
}

func (p *Shard) isUsed(id uint32) bool {
	return p.live == nil || slices.ContainsFunc(p.Postings(id), func(u Posting) bool { return p.live.Has(u.Doc) })
}

// isNameWord reports whether a token is one of the name of a document of the index.
func (p *Shard) isNameWord(id uint32) bool {
	return p.nameWords.Has(id) && (p.live == nil || slices.ContainsFunc(p.Postings(id), func(u Posting) bool {
		return p.live.Has(u.Doc) && slices.Contains(p.nameOf(u.Doc), id)
	}))
}
