// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package tokens

import (
	"hash/maphash"
	"sync/atomic"
)

const (
	// leastKnown is the least size in bytes of a text worth remembering: hashing a shorter one
	// takes about as long as reading it.
	leastKnown = 128

	// Texts are remembered in pages, which are made when they are first needed. All pages
	// together take 2 MB, whatever the sizes of the texts.
	pageBits  = 6
	setsBits  = 9
	ways      = 4
	wholeBits = 64
)

// entry holds the size and the tokens of a text. Its two halves are written one after the
// other; a half of another text is found out because check does not fit.
type entry struct{ check, value atomic.Uint64 }

type page [1 << setsBits][ways]entry

var (
	seed  = maphash.MakeSeed()
	pages [1 << pageBits]atomic.Pointer[page]
)

// Of is [Estimate], and remembers long texts for the process: a server begins a run for each
// turn of a conversation, mostly with the same texts. It allocates nothing after the first
// few thousand texts, and is safe for concurrent use.
func Of(text string) int {
	if len(text) < leastKnown || uint64(len(text)) > 1<<31 {
		return Estimate(text)
	}
	hash := maphash.String(seed, text)
	set := setOf(hash)
	if n, ok := find(set, hash, text); ok {
		return n
	}
	n := Estimate(text)
	keep(set, hash, uint64(len(text))<<32|uint64(n))
	return n
}

// Known reports whether [Of] remembers a text; short ones need not be remembered.
func Known(text string) bool {
	if len(text) < leastKnown {
		return true
	}
	hash := maphash.String(seed, text)
	_, ok := find(setOf(hash), hash, text)
	return ok
}

func find(set *[ways]entry, hash uint64, text string) (tokens int, ok bool) {
	for i := range set {
		if v := set[i].value.Load(); set[i].check.Load()^v == hash && v>>32 == uint64(len(text)) {
			return int(uint32(v)), true
		}
	}
	return 0, false
}

// setOf is where a text with a hash may be remembered.
func setOf(hash uint64) *[ways]entry {
	at := &pages[hash>>(wholeBits-pageBits)]
	p := at.Load()
	if p == nil {
		at.CompareAndSwap(nil, new(page))
		p = at.Load()
	}
	return &p[hash&(1<<setsBits-1)]
}

// keep puts a text where there is room, or in place of another one.
func keep(set *[ways]entry, hash, value uint64) {
	at := int(hash >> setsBits % ways)
	for i := range set {
		if set[i].value.Load() == 0 {
			at = i
			break
		}
	}
	set[at].value.Store(value)
	set[at].check.Store(hash ^ value)
}
