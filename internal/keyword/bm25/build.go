// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package bm25

// This file reads documents into a segment.

import (
	"slices"
	"strings"

	"github.com/leanctx/leanctx/internal/keyword"
	"github.com/leanctx/leanctx/internal/keyword/names"
	"github.com/leanctx/leanctx/internal/keyword/wordvectors"
)

// The limits for one document. Anything beyond them cannot be found.
const (
	maxNameBytes        = 512
	maxDescriptionBytes = 16 << 10
	maxParams           = 128
	maxParamBytes       = 2 << 10 // of a parameter's description
	maxEnum             = 32      // values of one parameter
	maxPhrases          = 32
)

// NewSegment reads docs. Names need not be distinct. It reads a bounded part of each
// document: 16 KB of the description, 32 phrases and 128 parameters, with 2 KB of
// description and 32 values each.
func NewSegment(docs []keyword.Doc) *Segment { return newSegment(docs, wordvectors.Default()) }

// newSegment reads docs, and the directions of their meaning by a table, which may be nil.
func newSegment(docs []keyword.Doc, table *wordvectors.Table) *Segment {
	wordLists() // keeps the first search from waiting for them
	b := newBuilder(docs, table)
	for i := range uint32(len(docs)) {
		b.add(i, &docs[b.s.Position(i)])
	}
	return b.finish()
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
	s       *Segment
	stemmer stemmer
	tokens  names.IDs
	servers names.IDs
	usages  [][]usage // of the documents that were read, in blocks
	current []usage   // of the document being read
	latest  []uint32  // per token: its usage in current, if that is of the token
	joined  []byte    // scratch
	about   about
}

func newBuilder(docs []keyword.Doc, table *wordvectors.Table) *builder {
	b := &builder{
		s: &Segment{
			List:       keyword.NewNames(docs),
			servers:    make([]uint32, len(docs)),
			unspaced:   names.NewSet(len(docs)),
			lengths:    make([][fieldCount]uint16, len(docs)),
			nameStarts: make([]uint32, 1, len(docs)+1),
			words:      make(map[string]uint32, len(docs)),
			table:      table,
			directions: make([]int8, len(docs)*table.Dimensions()),
		},
		stemmer: make(stemmer),
	}
	return b
}

func (b *builder) add(doc uint32, d *keyword.Doc) {
	b.current = b.current[:0]
	server, name := splitServer(d)
	b.s.servers[doc] = b.servers.ID(strings.Clone(server))
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
	b.addDirection(doc)
	b.keepUsages()
}

// keepUsages keeps those of the document just read.
func (b *builder) keepUsages() {
	last := len(b.usages) - 1
	if last < 0 || cap(b.usages[last])-len(b.usages[last]) < len(b.current) {
		size := min(usageBlock, len(b.current)*len(b.s.servers)) // a small segment needs no whole block
		b.usages = append(b.usages, make([]usage, 0, max(size, len(b.current))))
		last++
	}
	b.usages[last] = append(b.usages[last], b.current...)
}

// addName records the tokens read so far as those of the name.
func (b *builder) addName() {
	for _, u := range b.current {
		b.s.nameTokens = append(b.s.nameTokens, u.token)
	}
	b.s.nameStarts = append(b.s.nameStarts, uint32(len(b.s.nameTokens)))
}

// addJoined adds each pair of neighbouring words of a name as one word: a query for
// "timezone" then finds time_zone.
func (b *builder) addJoined(doc uint32, name string) {
	previous := ""
	eachRun(normalize(names.Clip(name, maxNameBytes)), func(r run) {
		word := r.text
		if r.unspaced {
			word = ""
		}
		if previous != "" && word != "" && len(previous)+len(word) <= maxWordBytes {
			b.joined = append(append(b.joined[:0], previous...), word...)
			b.countID(doc, fieldName, b.tokens.IDOf(stemInPlace(b.joined)))
		}
		previous = word
	})
}

// read counts the tokens of a field's text.
func (b *builder) read(doc uint32, f field, text string) {
	eachRun(normalize(text), func(r run) {
		if r.unspaced {
			b.s.unspaced.Add(doc)
			eachCharacter(r.text, func(token string) { b.countField(doc, f, b.tokens.ID(token)) })
			return
		}
		if token, ok := b.s.words[r.text]; ok {
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
			b.s.words[strings.Clone(r.text)] = last
		}
	})
}

// countField counts a token and the length of its field.
func (b *builder) countField(doc uint32, f field, id uint32) {
	b.countID(doc, f, id)
	if length := &b.s.lengths[doc][f]; *length < 1<<16-1 {
		*length++
		b.s.total[f]++
	}
}

func (b *builder) count(doc uint32, f field, token string) { b.countID(doc, f, b.tokens.ID(token)) }

func (b *builder) countID(doc uint32, f field, id uint32) {
	if int(id) == len(b.latest) {
		b.latest = append(b.latest, 0)
	}
	at := b.latest[id]
	if int(at) >= len(b.current) || b.current[at].token != id {
		at = uint32(len(b.current))
		b.current = append(b.current, usage{token: id, doc: doc})
		b.latest[id] = at
	}
	b.current[at].counts = b.current[at].counts.plus(f)
}

// aboutWeights are the weights of a word in each field for the subject of a document.
var aboutWeights = [fieldCount]float64{1, 1, 0.5, 0.25, 0.25, 0.5}

// addDirection stores the subject of the document read last. Rare words do not count more:
// the segment does not know the catalogue.
func (b *builder) addDirection(doc uint32) {
	table := b.s.table
	b.about.reset(table)
	for _, token := range b.tokens.Words()[len(b.about.rows):] {
		row, ok := table.Find(token)
		if !ok {
			row = -1
		}
		b.about.rows = append(b.about.rows, int32(row))
	}
	for _, u := range b.current {
		row := int(b.about.rows[u.token])
		if row < 0 {
			continue
		}
		weight := 0.0
		for f := range fieldCount {
			if u.counts.of(f) > 0 {
				weight += aboutWeights[f]
			}
		}
		table.AddTo(b.about.sum, row, weight*table.Weight(row))
	}
	wordvectors.Pack(b.s.direction(doc), b.about.sum)
}

func (b *builder) finish() *Segment {
	s := b.s
	b.copyTokens()
	b.fillPostings()
	s.serverNames = b.servers.Words()
	s.nameWords = names.NewSet(len(s.texts))
	for _, token := range s.nameTokens {
		s.nameWords.Add(token)
	}
	s.affixes = newAffixes(s.texts, s.nameWords)
	s.typos = newTypos(s.texts)
	return s
}

// copyTokens moves the tokens into one block of memory: the texts that they were cut from
// can then be freed.
func (b *builder) copyTokens() {
	s := b.s
	block := strings.Join(b.tokens.Words(), "")
	s.texts = make([]string, len(b.tokens.Words()))
	s.tokens = make(map[string]uint32, len(s.texts))
	for i, token := range b.tokens.Words() {
		s.texts[i], block = block[:len(token)], block[len(token):]
		s.tokens[s.texts[i]] = uint32(i)
	}
}

func (b *builder) fillPostings() {
	s := b.s
	s.starts = make([]uint32, len(s.texts)+1)
	all := 0
	for _, block := range b.usages {
		all += len(block)
		for _, u := range block {
			s.starts[u.token+1]++
		}
	}
	for i := range s.texts {
		s.starts[i+1] += s.starts[i]
	}
	s.posts = make([]posting, all)
	next := slices.Clone(s.starts)
	for _, block := range b.usages {
		for _, u := range block {
			s.posts[next[u.token]] = posting{doc: u.doc, counts: u.counts}
			next[u.token]++
		}
	}
}
