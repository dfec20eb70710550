// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package keyword

// This file holds the BM25F index.

import (
	"cmp"
	"math"
	"slices"
	"sync"
)

// BM25 answers queries by BM25F over names, servers, descriptions and parameters,
// with what it knows about words: see the package comment. It is immutable and safe
// for concurrent use.
type BM25 struct {
	catalog
	servers []uint32 // a number for each document's server, by inner number
	// serverless is the number of documents without one.
	serverless uint32

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

// posting is one document using one token.
type posting struct {
	doc    uint32
	weight float32 // what the token is worth in the document
	counts counts
}

// NewBM25 indexes docs; Hit.Doc is the position in this slice. Names need not be
// distinct. Of every document it reads a bounded part: the first 16 KB of the
// description, 128 parameters with 2 KB of description and 32 values each.
func NewBM25(docs []Doc) *BM25 {
	knowledge() // so that the first search need not wait for it
	b := newBuilder(docs)
	for i, place := range b.x.place {
		b.add(uint32(i), &docs[place])
	}
	return b.finish()
}

// of returns the postings of a token, ordered by document.
func (x *BM25) of(token uint32) []posting { return x.posts[x.starts[token]:x.starts[token+1]] }

// posting returns the posting of a token in a document.
func (x *BM25) posting(token, doc uint32) (posting, bool) {
	posts := x.of(token)
	at, ok := slices.BinarySearchFunc(posts, doc, func(p posting, doc uint32) int { return cmp.Compare(p.doc, doc) })
	if !ok {
		return posting{}, false
	}
	return posts[at], true
}

// nameOf returns the distinct tokens of a document's name.
func (x *BM25) nameOf(doc uint32) []uint32 {
	return x.nameTokens[x.nameStarts[doc]:x.nameStarts[doc+1]]
}

// worth is how much a token with these counts and this inverse document frequency is
// worth in a document.
func (x *BM25) worth(doc uint32, c counts, idf float64) float64 {
	frequency := 0.0
	for f := range fieldCount {
		if n := c.of(f); n > 0 {
			relative := float64(x.lengths[doc][f]) / x.average[f]
			frequency += fieldWeights[f] * float64(n) / (1 - fieldSlopes[f] + float64(fieldSlopes[f]*relative))
		}
	}
	return idf * frequency * (saturation + 1) / (frequency + saturation)
}

// Sums of products are written as sums of float64(product) in this package: otherwise
// some machines round once where others round twice, and orders differ.

// rarity is the inverse document frequency of a token that so many of all documents
// use.
func rarity(users, all int) float64 {
	d := float64(users)
	return math.Log(1 + (float64(all)-d+0.5)/(d+0.5))
}
