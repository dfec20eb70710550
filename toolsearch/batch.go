// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// What indexes are made of: batches of tools, which catalogues share.

import (
	"cmp"
	"context"
	"math/bits"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/cloudwego/eino/schema"

	"github.com/leanctx/leanctx/internal/keyword"
	"github.com/leanctx/leanctx/internal/keyword/bm25"
	"github.com/leanctx/leanctx/internal/keyword/names"
	"github.com/leanctx/leanctx/internal/safe"
)

// batch is tools that are indexed together: those that came at once, or several batches
// that were merged. Its indexes are built when they are first needed, once for all
// catalogues that have a tool of it. An index over several batches gives the answers of one
// that was built whole.
type batch struct {
	infos     []*schema.ToolInfo
	addresses []*address
	homes     []home
	origin    *origin

	words   func() *keyword.Segment
	bm25    func() *bm25.Segment
	isBuilt struct{ words, bm25 atomic.Bool }
	moved   atomic.Int64 // how often tools of it got another home
}

// address says where a definition is indexed. Entries share it that have the same one, in
// sets made from one another.
type address struct{ now atomic.Pointer[home] }

// home is a tool's number in a batch.
type home struct {
	batch *batch
	at    uint32
}

// newBatch makes a batch of tools.
func newBatch(infos []*schema.ToolInfo, addresses []*address, o *origin) *batch {
	b := &batch{infos: infos, addresses: addresses, homes: make([]home, len(infos)), origin: o}
	for i := range b.homes {
		b.homes[i] = home{b, uint32(i)}
	}
	b.words = sync.OnceValue(func() *keyword.Segment {
		defer b.isBuilt.words.Store(true)
		return keyword.NewSegment(documents(infos, false))
	})
	b.bm25 = sync.OnceValue(func() *bm25.Segment {
		defer b.isBuilt.bm25.Store(true)
		return bm25.NewSegment(documents(infos, true))
	})
	return b
}

// settle gives those of the entries a home that have none, in one batch.
func settle(entries []*entry, o *origin) {
	var infos []*schema.ToolInfo
	var addresses []*address
	for _, e := range entries {
		if e.address == nil {
			e.address = &e.ownAddress
		}
		if e.address.now.Load() == nil {
			infos, addresses = append(infos, e.info), append(addresses, e.address)
		}
	}
	if len(infos) == 0 {
		return
	}
	b := newBatch(infos, addresses, o)
	for i, p := range addresses {
		p.now.Store(&b.homes[i])
	}
}

// selection is tools, by their batches.
type selection []*selected

type selected struct {
	*batch
	has names.Set
	n   int
}

// of returns the selection from a batch.
func (s *selection) of(b *batch) *selected {
	for _, p := range *s {
		if p.batch == b {
			return p
		}
	}
	p := &selected{batch: b, has: names.NewSet(len(b.infos))}
	*s = append(*s, p)
	return p
}

// add adds tools with a home.
func (s *selection) add(entries ...*entry) {
	var last *selected
	for _, e := range entries {
		h := e.address.now.Load()
		if last == nil || last.batch != h.batch {
			last = s.of(h.batch)
		}
		last.has.Add(h.at)
		last.n++
	}
}

// addSet adds the tools of a set.
func (s *selection) addSet(t *ToolSet) {
	if t == nil {
		return
	}
	for _, p := range t.parts {
		if p.bits != nil {
			for i, e := range p.entries {
				if p.has(i) {
					s.add(e)
				}
			}
			continue
		}
		for _, h := range p.housing() {
			mine := s.of(h.batch)
			for i, word := range h.words {
				mine.has[h.from+i] |= word
			}
			mine.n += h.n
		}
	}
}

// nameSet is which tools of the batch there are; nil: all.
func (p *selected) nameSet() names.Set {
	if p.n == len(p.infos) {
		return nil
	}
	return p.has
}

func (s selection) specified() *keyword.Index {
	parts := make([]keyword.Part, len(s))
	for i, p := range s {
		parts[i] = keyword.Part{Segment: p.batch.words(), Has: p.nameSet()}
	}
	return keyword.Join(parts...)
}

func (s selection) bm25() *bm25.Index {
	parts := make([]bm25.Part, len(s))
	for i, p := range s {
		parts[i] = bm25.Part{Segment: p.batch.bm25(), Has: p.nameSet()}
	}
	return bm25.Join(parts...)
}

// info finds a tool by its name; nil if there is none. It looks at all.
func (s selection) info(name string) *schema.ToolInfo {
	for _, p := range s {
		part := p.nameSet()
		for i, info := range p.infos {
			if info.Name == name && (part == nil || part.Has(uint32(i))) {
				return info
			}
		}
	}
	return nil
}

// selectionKey is the key of the tools that an IndexFunc is called with, by their batches.
type selectionKey struct{}

type toolsByBatch struct {
	tools []*schema.ToolInfo
	selection
}

// withSelection returns a context in which our indexes of the tools share what they can.
func withSelection(ctx context.Context, tools []*schema.ToolInfo, s selection) context.Context {
	return context.WithValue(ctx, selectionKey{}, toolsByBatch{tools, s})
}

// selectionOf returns the batches of the tools that an IndexFunc is called with.
func selectionOf(ctx context.Context, tools []*schema.ToolInfo) selection {
	known, _ := ctx.Value(selectionKey{}).(toolsByBatch)
	if len(tools) > 0 && len(known.tools) == len(tools) && &known.tools[0] == &tools[0] {
		return known.selection
	}
	b := newBatch(tools, nil, nil)
	return selection{{batch: b, n: len(tools)}}
}

// housing is which tools of a batch are in a segment of a set, in the words from one on.
type housing struct {
	*batch
	from  int
	words []uint64
	n     int
	moved int64
}

// housing returns where the tools of the segment are indexed.
func (g *segment) housing() []housing {
	if known := g.housed.Load(); known != nil &&
		!slices.ContainsFunc(*known, func(h housing) bool { return h.moved != h.batch.moved.Load() }) {
		return *known
	}
	var s selection
	s.add(g.entries...)
	all := make([]housing, len(s))
	for i, p := range s {
		from, to := 0, len(p.has)
		for p.has[from] == 0 {
			from++
		}
		for p.has[to-1] == 0 {
			to--
		}
		all[i] = housing{p.batch, from, slices.Clone(p.has[from:to]), p.n, p.batch.moved.Load()}
	}
	g.housed.Store(&all)
	return all
}

// origin is that of sets which Update made from one another. A set merges only batches of
// its own origin: so a batch never holds tools of two users, whose sets are made apart.
type origin struct{ merging atomic.Bool }

// maxBatches is from how many batches of one origin on they are merged: more make searches
// slow.
const maxBatches = 8

// merge merges batches of the set in the background, if there are too many.
func (s *ToolSet) merge() {
	if len(s.mergeable()) == 0 || s.origin.merging.Swap(true) {
		return
	}
	go func() {
		defer s.origin.merging.Store(false)
		_ = safe.Call("toolsearch: merging indexes", func() error { mergeBatches(s.mergeable(), s.origin); return nil })
	}()
}

// mergeable returns the batches to put into one: the smallest, as long as the next is no
// larger than all before it together, so that a tool moves seldom; and those of whose tools
// the set has less than half.
func (s *ToolSet) mergeable() []*selected {
	var all selection
	all.addSet(s)
	own := slices.DeleteFunc(all, func(p *selected) bool { return p.batch.origin != s.origin })
	slices.SortFunc(own, func(a, b *selected) int { return cmp.Compare(a.n, b.n) })
	count := 0
	for i, p := range own {
		if 2*p.n < len(p.infos) {
			count = i + 1
		}
	}
	if len(own) > maxBatches {
		count = max(count, 2)
	}
	sum := 0
	for i := 0; count > 0 && i < len(own) && (i < count || own[i].n <= sum); i++ {
		sum += own[i].n
		count = max(count, i+1)
	}
	return own[:count]
}

// mergeBatches makes one batch of what is left of several. It indexes what they had
// indexed, before their tools move there.
func mergeBatches(old []*selected, o *origin) {
	var infos []*schema.ToolInfo
	var addresses []*address
	words, better := false, false
	for _, p := range old {
		for at, word := range p.has {
			for ; word != 0; word &= word - 1 {
				i := 64*at + bits.TrailingZeros64(word)
				infos, addresses = append(infos, p.infos[i]), append(addresses, p.addresses[i])
			}
		}
		words = words || p.isBuilt.words.Load()
		better = better || p.isBuilt.bm25.Load()
	}
	b := newBatch(infos, addresses, o)
	if words {
		b.words()
	}
	if better {
		b.bm25()
	}
	for i, p := range addresses {
		p.now.Store(&b.homes[i])
	}
	for _, p := range old {
		p.moved.Add(1)
	}
}
