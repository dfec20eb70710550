// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package keyword

// This file builds the BM25F index.

import (
	"slices"
	"strings"
	"sync"
)

// usage is one document using one token.
type usage struct {
	token, doc uint32
	counts     counts
}

// builder collects the usages of one document after the other.
type builder struct {
	x       *BM25
	stemmer stemmer
	tokens  wordIDs
	servers wordIDs
	usages  []usage
	latest  []int // per token: its last usage, plus 1
	first   int   // usage of the current document
	dense   int   // documents with text in a dense script
	total   [fieldCount]int
}

func newBuilder(docs []Doc) *builder {
	b := &builder{
		x: &BM25{
			catalog:    newCatalog(docs),
			servers:    make([]uint32, len(docs)),
			lengths:    make([][fieldCount]uint16, len(docs)),
			nameStarts: make([]uint32, 1, len(docs)+1),
		},
		stemmer: make(stemmer),
		tokens:  wordIDs{ids: make(map[string]uint32)},
		servers: wordIDs{ids: make(map[string]uint32)},
	}
	b.x.serverless = b.servers.id("")
	return b
}

func (b *builder) add(doc uint32, d *Doc) {
	b.first = len(b.usages)
	server, name := splitServer(d)
	b.x.servers[doc] = b.servers.id(strings.Clone(server))
	b.read(doc, fieldName, clip(name, maxNameBytes))
	b.addName()
	b.read(doc, fieldDescription, clip(d.Description, maxDescriptionBytes))
	b.read(doc, fieldServer, clip(server, maxNameBytes))
	for _, p := range d.Params[:min(len(d.Params), maxParams)] {
		b.read(doc, fieldParam, clip(p.Name, maxNameBytes))
		if id := leadingIdentifier(p.Name); len(id) == len(p.Name) {
			b.count(doc, fieldParam, strings.ToLower(id))
		}
		b.read(doc, fieldParamDescription, clip(p.Description, maxParamBytes))
		for _, value := range p.Enum[:min(len(p.Enum), maxEnum)] {
			b.read(doc, fieldEnum, clip(value, maxNameBytes))
		}
	}
	b.addJoined(doc, name)
	if slices.ContainsFunc(b.usages[b.first:], func(u usage) bool { return startsDense(b.tokens.words[u.token]) }) {
		b.dense++
	}
}

// addName keeps the tokens that were read so far as those of the name.
func (b *builder) addName() {
	for _, u := range b.usages[b.first:] {
		b.x.nameTokens = append(b.x.nameTokens, u.token)
	}
	b.x.nameStarts = append(b.x.nameStarts, uint32(len(b.x.nameTokens)))
}

// addJoined adds what two neighbouring words of a name make when they are written as
// one, for those who search for "timezone" where the tool says time_zone.
func (b *builder) addJoined(doc uint32, name string) {
	previous := ""
	eachRun(normalize(clip(name, maxNameBytes)), func(r run) {
		word := r.text
		if r.dense {
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
	length := &b.x.lengths[doc][f]
	b.stemmer.eachToken(text, func(token string) {
		b.count(doc, f, token)
		if *length < 1<<16-1 {
			*length++
			b.total[f]++
		}
	})
}

func (b *builder) count(doc uint32, f field, token string) {
	id := b.tokens.id(token)
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

func (b *builder) finish() *BM25 {
	x := b.x
	for f := range x.average {
		x.average[f] = float64(b.total[f]) / float64(max(1, len(x.names)))
	}
	b.copyTokens()
	b.fillPostings()
	x.affixes = newAffixes(x)
	x.typos = newTypos(x.texts)
	x.scratch = &sync.Pool{New: func() any { return newBoard(x) }}
	return x
}

// copyTokens moves the tokens into one block of memory, so that they do not keep the
// texts alive that they were cut from.
func (b *builder) copyTokens() {
	x := b.x
	block := strings.Join(b.tokens.words, "")
	x.texts = make([]string, len(b.tokens.words))
	x.tokens = make(map[string]uint32, len(x.texts))
	for i, token := range b.tokens.words {
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
		users, all := int(x.starts[i+1]), len(x.names)
		if startsDense(token) {
			// Among documents in English every Chinese word is rare: that says nothing.
			all = b.dense
		}
		x.idf[i] = float32(rarity(users, all))
		x.starts[i+1] += x.starts[i]
	}
	x.posts = make([]posting, len(b.usages))
	next := slices.Clone(x.starts)
	for _, u := range b.usages {
		weight := x.worth(u.doc, u.counts, float64(x.idf[u.token]))
		x.posts[next[u.token]] = posting{doc: u.doc, weight: float32(weight), counts: u.counts}
		next[u.token]++
	}
}
