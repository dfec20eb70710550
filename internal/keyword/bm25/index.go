// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package bm25

// This file holds the index: what it reads of a document and what a token scores there.

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/leanctx/leanctx/internal/keyword"
	"github.com/leanctx/leanctx/internal/keyword/names"
)

// Index answers queries by BM25F over names, servers, descriptions and parameters, as
// the package comment describes. It is immutable and safe for concurrent use.
type Index struct {
	*names.Catalog
	servers  []uint32 // the number of each document's server, by ordinal
	noServer uint32   // the number that stands for documents without a server

	tokens  map[string]uint32
	texts   []string  // of the tokens
	idf     []float32 // of the tokens
	starts  []uint32  // of each token in posts, and the end of the last
	posts   []posting
	lengths [][fieldCount]uint16 // of each document's fields, in tokens
	average [fieldCount]float64

	nameStarts []uint32 // of each document in nameTokens, and the end of the last
	nameTokens []uint32 // the distinct tokens of names
	affixes    affixes
	typos      typos
	scratch    *sync.Pool
}

// posting says that a document uses a token.
type posting struct {
	doc    uint32
	weight float32 // what the token scores in the document
	counts counts
}

// New indexes docs; the Doc of a hit is the position in this slice. Names need not be
// distinct. New reads a bounded part of each document: 16 KB of the description, 32
// phrases and 128 parameters, with 2 KB of description and 32 values each.
func New(docs []keyword.Doc) *Index {
	wordLists() // so that the first search does not wait for them
	b := newBuilder(docs)
	for i := range uint32(len(docs)) {
		b.add(i, &docs[b.x.Position(i)])
	}
	return b.finish()
}

// of returns the postings of a token, ordered by document.
func (x *Index) of(token uint32) []posting { return x.posts[x.starts[token]:x.starts[token+1]] }

// posting returns the posting of a token in a document.
func (x *Index) posting(token, doc uint32) (posting, bool) {
	posts := x.of(token)
	at, ok := slices.BinarySearchFunc(posts, doc, func(p posting, doc uint32) int { return cmp.Compare(p.doc, doc) })
	if !ok {
		return posting{}, false
	}
	return posts[at], true
}

// nameOf returns the distinct tokens of a document's name.
func (x *Index) nameOf(doc uint32) []uint32 {
	return x.nameTokens[x.nameStarts[doc]:x.nameStarts[doc+1]]
}

// termScore returns what a token with these counts and this inverse document frequency
// scores in a document.
func (x *Index) termScore(doc uint32, c counts, idf float64) float64 {
	frequency := 0.0
	for f := range fieldCount {
		if n := c.of(f); n > 0 {
			relative := float64(x.lengths[doc][f]) / x.average[f]
			frequency += fieldWeights[f] * float64(n) / (1 - fieldSlopes[f] + float64(fieldSlopes[f]*relative))
		}
	}
	return idf * frequency * (saturation + 1) / (frequency + saturation)
}

// This package converts each product in a sum to float64, so that no compiler fuses
// the two operations: fused ones round once instead of twice, and the order of equally
// good documents would differ between machines.

// idf returns the inverse document frequency of a token.
func idf(users, all int) float64 {
	d := float64(users)
	return math.Log(1 + (float64(all)-d+0.5)/(d+0.5))
}

// field is a part of a document.
type field uint8

const (
	fieldName field = iota
	fieldDescription
	fieldParam
	fieldParamDescription
	fieldEnum
	fieldServer
	fieldCount
)

var fieldNames = [fieldCount]string{
	"name", "description", "parameter", "parameter description", "parameter value", "server",
}

// fieldWeights is what one occurrence in a field counts, and fieldSlopes how much less
// it counts in a longer field. The fields of parameters have a slope, since otherwise
// tools with many parameters would win every search.
var (
	fieldWeights = [fieldCount]float64{2.5, 1, 0.8, 0.35, 0.35, 1}
	fieldSlopes  = [fieldCount]float64{0.4, 0.75, 0.5, 0.5, 0.5, 0}
)

// saturation sets how fast further occurrences stop counting.
const saturation = 1.2

// What is read of one document. The rest of it cannot be found.
const (
	maxNameBytes        = 512
	maxDescriptionBytes = 16 << 10
	maxParams           = 128
	maxParamBytes       = 2 << 10 // of a parameter's description
	maxEnum             = 32      // values of one parameter
	maxPhrases          = 32
)

// counts packs how often a token occurs in each field, in countBits bits per field.
type counts uint32

const (
	countBits = 5
	maxCount  = 1<<countBits - 1
)

func (c counts) of(f field) int { return int(c>>(countBits*f)) & maxCount }

func (c counts) plus(f field) counts {
	if c.of(f) == maxCount {
		return c
	}
	return c + 1<<(countBits*f)
}

// splitServer separates the server's name from the tool's own. Clients write them as
// server__tool or mcp__server__tool.
func splitServer(d *keyword.Doc) (server, name string) {
	if d.Server != "" {
		if own, ok := strings.CutPrefix(d.Name, d.Server+"__"); ok && own != "" {
			return d.Server, own
		}
		return d.Server, d.Name
	}
	server, name, ok := strings.Cut(strings.TrimPrefix(d.Name, "mcp__"), "__")
	if !ok || server == "" || name == "" {
		return "", d.Name
	}
	return server, name
}

// usage counts one token in one document.
type usage struct {
	token, doc uint32
	counts     counts
}

// builder collects the usages of tokens, one document after the other.
type builder struct {
	x        *Index
	stemmer  stemmer
	tokens   names.IDs
	words    map[string]uint32 // the tokens of words that have only one
	servers  names.IDs
	usages   []usage
	latest   []int // per token: its last usage, plus 1
	first    int   // usage of the current document
	unspaced int   // documents with text in a script without spaces
	total    [fieldCount]int
}

func newBuilder(docs []keyword.Doc) *builder {
	b := &builder{
		x: &Index{
			Catalog:    keyword.NewCatalog(docs),
			servers:    make([]uint32, len(docs)),
			lengths:    make([][fieldCount]uint16, len(docs)),
			nameStarts: make([]uint32, 1, len(docs)+1),
		},
		stemmer: make(stemmer),
		words:   make(map[string]uint32),
	}
	b.x.noServer = b.servers.ID("")
	return b
}

func (b *builder) add(doc uint32, d *keyword.Doc) {
	b.first = len(b.usages)
	server, name := splitServer(d)
	b.x.servers[doc] = b.servers.ID(strings.Clone(server))
	b.read(doc, fieldName, names.Clip(name, maxNameBytes))
	b.addName()
	b.read(doc, fieldDescription, names.Clip(d.Description, maxDescriptionBytes))
	for _, phrase := range d.Phrases[:min(len(d.Phrases), maxPhrases)] {
		b.read(doc, fieldDescription, names.Clip(phrase, maxNameBytes))
	}
	b.read(doc, fieldServer, names.Clip(server, maxNameBytes))
	for _, p := range d.Params[:min(len(d.Params), maxParams)] {
		b.read(doc, fieldParam, names.Clip(p.Name, maxNameBytes))
		if id := leadingIdentifier(p.Name); len(id) == len(p.Name) {
			b.count(doc, fieldParam, strings.ToLower(id))
		}
		b.read(doc, fieldParamDescription, names.Clip(p.Description, maxParamBytes))
		for _, value := range p.Enum[:min(len(p.Enum), maxEnum)] {
			b.read(doc, fieldEnum, names.Clip(value, maxNameBytes))
		}
	}
	b.addJoined(doc, name)
	if slices.ContainsFunc(b.usages[b.first:], func(u usage) bool { return startsUnspaced(b.tokens.Words()[u.token]) }) {
		b.unspaced++
	}
}

// addName keeps the tokens read so far as those of the name.
func (b *builder) addName() {
	for _, u := range b.usages[b.first:] {
		b.x.nameTokens = append(b.x.nameTokens, u.token)
	}
	b.x.nameStarts = append(b.x.nameStarts, uint32(len(b.x.nameTokens)))
}

// addJoined adds each two neighbouring words of a name as one word, so that a query for
// "timezone" finds time_zone.
func (b *builder) addJoined(doc uint32, name string) {
	previous := ""
	eachRun(normalize(names.Clip(name, maxNameBytes)), func(r run) {
		word := r.text
		if r.unspaced {
			word = ""
		}
		if previous != "" && word != "" && len(previous)+len(word) <= maxWordBytes {
			b.count(doc, fieldName, b.stemmer.stem(previous+word))
		}
		previous = word
	})
}

// read counts the tokens of a field's text.
func (b *builder) read(doc uint32, f field, text string) {
	eachRun(normalize(text), func(r run) {
		if r.unspaced {
			eachCharacter(r.text, func(token string) { b.countField(doc, f, b.tokens.ID(token)) })
			return
		}
		if token, ok := b.words[r.text]; ok {
			b.countField(doc, f, token)
			return
		}
		n, last := 0, uint32(0)
		b.stemmer.eachStem(r.text, func(token string) {
			n++
			last = b.tokens.ID(token)
			b.countField(doc, f, last)
		})
		if n == 1 {
			b.words[strings.Clone(r.text)] = last
		}
	})
}

// countField counts a token and the length of its field.
func (b *builder) countField(doc uint32, f field, id uint32) {
	b.countID(doc, f, id)
	if length := &b.x.lengths[doc][f]; *length < 1<<16-1 {
		*length++
		b.total[f]++
	}
}

func (b *builder) count(doc uint32, f field, token string) { b.countID(doc, f, b.tokens.ID(token)) }

func (b *builder) countID(doc uint32, f field, id uint32) {
	if int(id) == len(b.latest) {
		b.latest = append(b.latest, 0)
	}
	at := b.latest[id] - 1
	if at < b.first {
		at = len(b.usages)
		b.usages = append(b.usages, usage{token: id, doc: doc})
		b.latest[id] = at + 1
	}
	b.usages[at].counts = b.usages[at].counts.plus(f)
}

func (b *builder) finish() *Index {
	x := b.x
	for f := range x.average {
		x.average[f] = float64(b.total[f]) / float64(max(1, x.Len()))
	}
	b.copyTokens()
	b.fillPostings()
	x.affixes = newAffixes(x)
	x.typos = newTypos(x.texts)
	x.scratch = &sync.Pool{New: func() any { return newAccumulator(x) }}
	return x
}

// copyTokens moves the tokens into one block of memory, so that they do not keep alive
// the texts that they were cut from.
func (b *builder) copyTokens() {
	x := b.x
	block := strings.Join(b.tokens.Words(), "")
	x.texts = make([]string, len(b.tokens.Words()))
	x.tokens = make(map[string]uint32, len(x.texts))
	for i, token := range b.tokens.Words() {
		x.texts[i], block = block[:len(token)], block[len(token):]
		x.tokens[x.texts[i]] = uint32(i)
	}
}

func (b *builder) fillPostings() {
	x := b.x
	x.starts = make([]uint32, len(x.texts)+1)
	for _, u := range b.usages {
		x.starts[u.token+1]++
	}
	x.idf = make([]float32, len(x.texts))
	for i, token := range x.texts {
		users, all := int(x.starts[i+1]), x.Len()
		if startsUnspaced(token) {
			// A Chinese word is rare among English documents, which does not make it
			// significant.
			all = b.unspaced
		}
		x.idf[i] = float32(idf(users, all))
		x.starts[i+1] += x.starts[i]
	}
	x.posts = make([]posting, len(b.usages))
	next := slices.Clone(x.starts)
	for _, u := range b.usages {
		weight := x.termScore(u.doc, u.counts, float64(x.idf[u.token]))
		x.posts[next[u.token]] = posting{doc: u.doc, weight: float32(weight), counts: u.counts}
		next[u.token]++
	}
}
