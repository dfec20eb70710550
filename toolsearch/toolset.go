// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// Sets of tools, which share equal parts, and the key that identifies sets of tools with equal
// definitions, however they are divided into segments.

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"iter"
	"math/bits"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"

	"github.com/leanctx/leanctx/internal/safe"
)

// ToolSet is an ordered set of tools with unique names. It is immutable and safe for
// concurrent use; nil is the empty set. Sets made from one another share their equal
// parts: a thousand users' views of the same tools, or a set in which one tool of ten
// thousand changed, take little more memory than one set.
type ToolSet struct {
	parts   []part
	size    int
	origin  *origin // of what Update made
	differs bool    // Update found a definition that is not in the older set

	keyOnce  sync.Once
	keyValue setKey
}

// segmentSize is the most tools in a segment. It balances the work of rebuilding one for a
// change against the number of segments that a lookup visits.
const segmentSize = 512

// segment is a sequence of tools. It is immutable.
type segment struct {
	entries []*entry
	given   []tool.BaseTool // the tools as they were given; nil for those that cannot be compared

	keyOnce   sync.Once
	key       setKey
	nameOnce  sync.Once
	names     map[string]int
	valueOnce sync.Once
	values    map[tool.BaseTool]int
	infoOnce  sync.Once
	infos     []*schema.ToolInfo
	housed    atomic.Pointer[[]housing]
}

// part is a segment with the selection of its tools that are in a set.
type part struct {
	*segment
	bits []uint64 // of its tools; nil means all
	size int
}

// Select returns the tools for which keep returns true, in their order: one user's view of
// a large set. keep must not change its argument. If keep panics or is nil, nothing is
// kept.
//
// A model learns nothing of the tools that are left out, but the time of some work
// depends on them. If that matters, give each user a Union of sets.
func (s *ToolSet) Select(keep func(*schema.ToolInfo) bool) *ToolSet {
	next := &ToolSet{}
	if keep == nil {
		return next
	}
	return s.filtered(func(e *entry) bool {
		ok, err := safe.Value("keep", func() (bool, error) { return keep(e.info), nil })
		return ok && err == nil
	})
}

// All iterates over the tools in their order, as they were given.
func (s *ToolSet) All() iter.Seq[tool.BaseTool] {
	return func(yield func(tool.BaseTool) bool) {
		for e := range s.entries() {
			if !yield(unwrap(e.tool)) {
				return
			}
		}
	}
}

// Tools returns s: a set is a Source that never changes.
func (s *ToolSet) Tools(context.Context) (*ToolSet, error) { return s, nil }

// Union returns the tools of all sets, in their order. Of two tools with one name, the
// first stays.
func Union(sets ...*ToolSet) *ToolSet {
	var whole *ToolSet
	for _, s := range sets {
		if s.len() == 0 {
			continue
		}
		if whole == nil {
			whole = s
			continue
		}
		more := s.filtered(func(e *entry) bool { return whole.lookup(e.info.Name) == nil })
		if more.size == 0 {
			continue
		}
		whole = &ToolSet{parts: append(whole.parts[:len(whole.parts):len(whole.parts)], more.parts...), size: whole.size + more.size}
	}
	if whole == nil {
		return &ToolSet{}
	}
	return whole
}

// all are the parts of the set.
func (s *ToolSet) all() []part {
	if s == nil {
		return nil
	}
	return s.parts
}

func (s *ToolSet) len() int {
	if s == nil {
		return 0
	}
	return s.size
}

// entries iterates over the entries in their order.
func (s *ToolSet) entries() iter.Seq[*entry] {
	return func(yield func(*entry) bool) {
		for _, p := range s.all() {
			for i, e := range p.entries {
				if p.has(i) && !yield(e) {
					return
				}
			}
		}
	}
}

// beside returns the parts of the set that another does not have.
func (s *ToolSet) beside(other *ToolSet) *ToolSet {
	rest, known := &ToolSet{}, map[*segment]part{}
	for _, p := range other.all() {
		known[p.segment] = p
	}
	for _, p := range s.all() {
		if same, ok := known[p.segment]; !ok || !slices.Equal(same.bits, p.bits) {
			rest.parts = append(rest.parts, p)
			rest.size += p.size
		}
	}
	return rest
}

// appendInfos appends the infos of the tools, in their order.
func (s *ToolSet) appendInfos(infos []*schema.ToolInfo) []*schema.ToolInfo {
	for _, p := range s.parts {
		if p.bits == nil {
			infos = append(infos, p.allInfos()...)
			continue
		}
		for i, e := range p.entries {
			if p.has(i) {
				infos = append(infos, e.info)
			}
		}
	}
	return infos
}

// lookup returns the tool of a name; nil if there is none.
func (s *ToolSet) lookup(name string) *entry {
	for _, p := range s.all() {
		if i, ok := p.byName()[name]; ok && p.has(i) {
			return p.entries[i]
		}
	}
	return nil
}

// filtered returns the tools for which keep returns true. Segments stay whole.
func (s *ToolSet) filtered(keep func(*entry) bool) *ToolSet {
	next := &ToolSet{}
	if s == nil {
		return next
	}
	for _, p := range s.parts {
		kept := part{segment: p.segment, bits: make([]uint64, (len(p.entries)+63)/64)}
		for i, e := range p.entries {
			if p.has(i) && keep(e) {
				kept.bits[i/64] |= 1 << (i % 64)
				kept.size++
			}
		}
		if kept.size == p.size {
			kept = p
		}
		if kept.size > 0 {
			next.parts = append(next.parts, kept.dense())
			next.size += kept.size
		}
	}
	if next.size == s.size {
		return s
	}
	return next
}

// dense copies a small share of a large segment into its own segment: otherwise the part would
// keep the rest in memory, and every pass would skip over it tool by tool.
func (p part) dense() part {
	if p.bits == nil || 8*p.size >= len(p.entries) {
		return p
	}
	few := make([]*entry, 0, p.size)
	for word, left := range p.bits {
		for ; left != 0; left &= left - 1 {
			few = append(few, p.entries[64*word+bits.TrailingZeros64(left)])
		}
	}
	return wholePart(few)
}

// wholePart is all of a new segment.
func wholePart(entries []*entry) part {
	g := &segment{entries: entries, given: make([]tool.BaseTool, len(entries))}
	for i, e := range entries {
		if t := unwrap(e.tool); reflect.ValueOf(t).Comparable() {
			g.given[i] = t
		}
	}
	return part{segment: g, size: len(entries)}
}

func (p part) has(i int) bool { return p.bits == nil || p.bits[i/64]&(1<<(i%64)) != 0 }

// allInfos are the infos of the segment's tools.
func (g *segment) allInfos() []*schema.ToolInfo {
	g.infoOnce.Do(func() {
		g.infos = make([]*schema.ToolInfo, len(g.entries))
		for i, e := range g.entries {
			g.infos[i] = e.info
		}
	})
	return g.infos
}

// byName is the place of each of the segment's tools by name.
func (g *segment) byName() map[string]int {
	g.nameOnce.Do(func() {
		g.names = make(map[string]int, len(g.entries))
		for i, e := range g.entries {
			g.names[e.info.Name] = i
		}
	})
	return g.names
}

// byValue is the place of each of the segment's comparable tools by value.
func (g *segment) byValue() map[tool.BaseTool]int {
	g.valueOnce.Do(func() {
		g.values = make(map[tool.BaseTool]int, len(g.entries))
		for i, t := range g.given {
			if t != nil {
				g.values[t] = i
			}
		}
	})
	return g.values
}

// setKey is the key of a sequence of tools: a polynomial in each of two bases, whose
// coefficients are the sums of the definitions. The key of a concatenation follows from the two
// keys. The bases are random per process, which keeps anyone from constructing collisions.
type setKey [2]uint64

// prime is the modulus of keys: 2^61 - 1.
const prime = 1<<61 - 1

var bases = sync.OnceValue(func() (b setKey) {
	var data [16]byte
	_, _ = rand.Read(data[:]) // it never fails
	for i := range b {
		b[i] = binary.BigEndian.Uint64(data[8*i:])%(prime-2) + 2
	}
	return b
})

// times multiplies modulo prime.
func times(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	return plus(lo&prime, hi<<3|lo>>61)
}

// plus adds modulo prime.
func plus(a, b uint64) uint64 {
	if a += b; a >= prime {
		a -= prime
	}
	return a
}

// then is the key of this sequence followed by another of n tools.
func (k setKey) then(other setKey, n int) setKey {
	for i, base := range bases() {
		power := uint64(1)
		for square, left := base, n; left > 0; left >>= 1 {
			if left&1 == 1 {
				power = times(power, square)
			}
			square = times(square, square)
		}
		k[i] = plus(times(k[i], power), other[i])
	}
	return k
}

// identity is equal for sets of tools with equal definitions in the same order, which can share
// whatever is computed from definitions alone, such as an index. It is valid within a process.
func (s *ToolSet) identity() setKey {
	if s == nil {
		return setKey{}
	}
	s.keyOnce.Do(func() {
		for _, p := range s.parts {
			s.keyValue = s.keyValue.then(p.identity(), p.size)
		}
	})
	return s.keyValue
}

// identity is the key of the part's tools.
func (p part) identity() (k setKey) {
	if p.bits != nil {
		for i, e := range p.entries {
			if p.has(i) {
				k = k.then(e.coefficients(), 1)
			}
		}
		return k
	}
	p.keyOnce.Do(func() {
		for _, e := range p.entries {
			p.key = p.key.then(e.coefficients(), 1)
		}
	})
	return p.key
}

// coefficients are the two of a definition. They are never 0: every added tool changes the key.
func (e *entry) coefficients() (k setKey) {
	sum := e.definition()
	for i := range k {
		k[i] = binary.BigEndian.Uint64(sum[8*i:])%(prime-1) + 1
	}
	return k
}

// addSet adds the tools of a set.
func (s *selection) addSet(t *ToolSet) {
	for _, p := range t.all() {
		if p.bits != nil {
			for i, e := range p.entries {
				if p.has(i) {
					s.add(e.address)
				}
			}
			continue
		}
		for _, h := range p.housing() {
			mine := s.of(h.batch)
			for i, word := range h.bits {
				mine.has[h.from+i] |= word
			}
			mine.n += h.n
		}
	}
}

// housing is which tools of a batch are in a segment of a set, in the words from one on.
type housing struct {
	*batch
	from  int
	bits  []uint64
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
	for _, e := range g.entries {
		s.add(e.address)
	}
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
