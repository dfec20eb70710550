// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// How Update makes a set from an older one: it reuses equal segments.

import (
	"cmp"
	"context"
	"math/bits"
	"reflect"
	"slices"

	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"

	"github.com/leanctx/leanctx/internal/safe"
)

// openSegment is the fewest tools of a segment that later sets reuse as it is. Smaller ones are
// merged with their neighbours, to keep many small changes from leaving many segments.
const openSegment = segmentSize / 8

// NewToolSet returns the set of tools, in their order. It asks each tool for its Info once,
// and never again; the tool must not change its parameters later. The error names every
// tool that has no usable Info, can neither be invoked nor streamed, or has the name of an
// earlier one, by its place.
func NewToolSet(ctx context.Context, tools ...tool.BaseTool) (*ToolSet, error) {
	return (*ToolSet)(nil).Update(ctx, tools...)
}

// Update returns the set of exactly these tools, in their order, which shares the equal
// parts of s. A tool that is the same value as one of s is not asked for its Info again. A
// tool with an equal definition counts as unchanged even if it is another value; the new
// value runs. If all tools are the values of s in the same order, Update returns s itself.
// The error is that of NewToolSet, and s is never changed.
func (s *ToolSet) Update(ctx context.Context, tools ...tool.BaseTool) (*ToolSet, error) {
	u := updater{tools: tools}
	if s.len() > 0 {
		u.old = s
	}
	at := u.takeFirst()
	if s != nil && at == s.size && at == len(tools) {
		return s, nil
	}
	for at < len(tools) {
		at += u.take(ctx, at)
	}
	u.flush()
	u.checkNames()
	if err := u.wrong.err(); err != nil {
		return nil, err
	}
	next := &ToolSet{parts: u.parts, size: len(tools), origin: &origin{}}
	if u.old != nil {
		next.differs = len(u.fresh) > 0
		if s.origin != nil {
			next.origin = s.origin
		}
	}
	settle(u.fresh, next.origin)
	next.merge()
	return next, nil
}

// updater makes the parts of a set from those of an older one.
type updater struct {
	old   *ToolSet // nil: none with tools
	tools []tool.BaseTool
	wrong problems

	parts []part
	fresh []*entry          // those with a definition that the old set has not
	taken map[*segment]part // parts that the new set has
	open  []*entry          // tools that are in no part yet
	loose []located         // tools not taken with a whole part
	next  int               // the old part that follows the last one taken
	from  int               // the old part of the last tool found alone
	after int               // and the place after it
}

// located is a tool, its place in the list, and the old segment that it comes from.
type located struct {
	*entry
	at  int
	old *segment
}

// takeFirst adds the old parts whose tools come first, and returns how many tools they have.
func (u *updater) takeFirst() (n int) {
	for u.old != nil && u.next < len(u.old.parts) && u.takes(u.next, n) {
		n += u.reuse(u.old.parts[u.next-1])
	}
	return n
}

// take adds the tools from a place on, and returns how many: those of an old part, or one.
func (u *updater) take(ctx context.Context, at int) int {
	if u.old != nil && (u.next < len(u.old.parts) && u.takes(u.next, at) || !u.follows(at) && u.startsPart(at)) {
		return u.reuse(u.old.parts[u.next-1])
	}
	e, old, err := u.entryFor(ctx, u.tools[at])
	if err != nil {
		u.wrong.add(fieldAt("tools", at), "%w", err)
		return 1
	}
	u.open = append(u.open, e)
	u.loose = append(u.loose, located{e, at, old})
	return 1
}

// reuse adds an old part.
func (u *updater) reuse(p part) int {
	if p.size >= openSegment {
		u.flush()
		u.parts = append(u.parts, p)
		return p.size
	}
	for i, e := range p.entries {
		if p.has(i) {
			u.open = append(u.open, e)
		}
	}
	return p.size
}

// follows reports whether the tool follows the last one found alone.
func (u *updater) follows(at int) bool {
	p := u.old.parts[u.from]
	for u.after < len(p.given) && !p.has(u.after) {
		u.after++
	}
	return u.after < len(p.given) && same(p.given[u.after], u.tools[at])
}

// startsPart finds the old part that begins here: it need not be the next one after tools were
// added, removed or moved.
func (u *updater) startsPart(at int) bool {
	for i, p := range u.old.parts {
		if same(p.given[p.lowest()], u.tools[at]) {
			return u.takes(i, at)
		}
	}
	return false
}

// takes reports whether all tools of an old part come next, and the part is still unused.
func (u *updater) takes(i, at int) bool {
	p := u.old.parts[i]
	if _, twice := u.taken[p.segment]; twice || !p.leads(u.tools[at:]) {
		return false
	}
	if u.taken == nil {
		u.taken = map[*segment]part{}
	}
	u.taken[p.segment] = p
	u.next = i + 1
	return true
}

// flush makes segments of about the same size from the tools that are in no part yet.
func (u *updater) flush() {
	for n := (len(u.open) + segmentSize - 1) / segmentSize; n > 0; n-- {
		size := (len(u.open) + n - 1) / n
		u.parts = append(u.parts, wholePart(append([]*entry(nil), u.open[:size]...)))
		u.open = u.open[size:]
	}
	u.open = nil
}

// entryFor returns the entry of a tool: the old one of the same value, and its segment, or a
// new one.
func (u *updater) entryFor(ctx context.Context, t tool.BaseTool) (*entry, *segment, error) {
	if e, old := u.sameValue(t); e != nil {
		return e, old, nil
	}
	info, err := readInfo(ctx, t)
	if err != nil {
		return nil, nil, err
	}
	e, err := newEntry(t, info)
	if err != nil {
		return nil, nil, err
	}
	if old := u.old.lookup(info.Name); old != nil && old.definition() == e.definition() {
		e.info, e.safe, e.held = old.info, old.safe, schema.ToolInfo{} // one copy for both
		e.address = old.address
	} else {
		u.fresh = append(u.fresh, e)
	}
	return e, nil, nil
}

// sameValue returns the old entry of a tool; nil if there is none, or if the tool cannot be
// compared.
func (u *updater) sameValue(t tool.BaseTool) (*entry, *segment) {
	if u.old == nil || safe.IsNil(t) || !reflect.ValueOf(t).Comparable() {
		return nil, nil
	}
	if p := u.old.parts[u.from]; u.after < len(p.given) && p.has(u.after) && same(p.given[u.after], t) {
		u.after++
		return p.entries[u.after-1], p.segment
	}
	for i, p := range u.old.parts {
		if at, ok := p.byValue()[t]; ok && p.has(at) {
			u.from, u.after = i, at+1
			return p.entries[at], p.segment
		}
	}
	return nil, nil
}

// checkNames refuses duplicate names. Those of the old set are unique, so an old tool can only
// clash with itself.
func (u *updater) checkNames() {
	seen := make(map[string]int, len(u.loose))
	for _, l := range u.loose {
		first, twice := seen[l.info.Name]
		if !twice {
			seen[l.info.Name] = l.at
			if _, taken := u.taken[l.old]; taken || l.old == nil {
				first, twice = u.takenAt(l.info.Name)
			}
		}
		if twice {
			u.wrong.add(fieldAt("tools", max(first, l.at)), "it has the name of tools[%d], %q", min(first, l.at), l.info.Name)
		}
	}
}

// takenAt is the place of a tool of that name that was taken with its part.
func (u *updater) takenAt(name string) (at int, ok bool) {
	for _, p := range u.taken {
		if i, has := p.byName()[name]; has && p.has(i) {
			for at, t := range u.tools {
				if same(p.given[i], t) {
					return at, true
				}
			}
		}
	}
	return 0, false
}

// same reports whether two values are equal; it is false if they cannot be compared.
func same(a, b tool.BaseTool) (yes bool) {
	defer func() { _ = recover() }() // values of one type, of which some cannot be compared
	return a != nil && a == b
}

// leads reports whether tools begin with all tools of the part.
func (p part) leads(tools []tool.BaseTool) (yes bool) {
	defer func() { _ = recover() }() // as in same
	if len(tools) < p.size {
		return false
	}
	at := 0
	for i, t := range p.given {
		if !p.has(i) {
			continue
		}
		if t == nil || t != tools[at] {
			return false
		}
		at++
	}
	return true
}

// lowest is the place of the first tool of the part.
func (p part) lowest() int {
	i := 0
	for !p.has(i) {
		i++
	}
	return i
}

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

// mergeable returns the batches to merge: the smallest, as long as the next is no larger than
// all before it together, so tools move rarely; and those of which the set uses less than half.
func (s *ToolSet) mergeable() []*selected {
	var all selection
	all.addSet(s)
	mergeable := slices.DeleteFunc(all, func(p *selected) bool { return p.batch.origin != s.origin })
	slices.SortFunc(mergeable, func(a, b *selected) int { return cmp.Compare(a.n, b.n) })
	count := 0
	for i, p := range mergeable {
		if 2*p.n < len(p.infos) {
			count = i + 1
		}
	}
	if len(mergeable) > maxBatches {
		count = max(count, 2)
	}
	sum := 0
	for i := 0; count > 0 && i < len(mergeable) && (i < count || mergeable[i].n <= sum); i++ {
		sum += mergeable[i].n
		count = max(count, i+1)
	}
	return mergeable[:count]
}

// mergeBatches merges the remaining tools of several batches. It builds the indexes that the
// batches had before their tools move.
func mergeBatches(old []*selected, o *origin) {
	var infos []*schema.ToolInfo
	var addresses []*address
	specified, bm25 := false, false
	for _, p := range old {
		for at, word := range p.has {
			for ; word != 0; word &= word - 1 {
				i := 64*at + bits.TrailingZeros64(word)
				infos, addresses = append(infos, p.infos[i]), append(addresses, p.addresses[i])
			}
		}
		specified = specified || p.isBuilt.specified.Load()
		bm25 = bm25 || p.isBuilt.bm25.Load()
	}
	b := newBatch(infos, addresses, o)
	if specified {
		b.specified()
	}
	if bm25 {
		b.bm25()
	}
	for i, p := range addresses {
		p.now.Store(&b.homes[i])
	}
	for _, p := range old {
		p.moved.Add(1)
	}
}
