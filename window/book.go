// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package window

import (
	"slices"
)

// book holds the parts of requests. A part has a slot: a result keeps its slot when it is
// cut or cleared, and only the slot's content changes. Requests that grow therefore are
// few ranges of slots, however long they are.
type book struct {
	slots    []slot           // by their IDs
	byKey    map[uint64]int32 // the IDs of slots by what identifies a part
	lastSlot int32
	lastText int
	bytes    int64 // approximate
}

// slot is the place of one part. Snapshots share its contents, which never change.
type slot struct {
	id     int32
	key    uint64
	last   int     // the newest call that has it
	whole  int     // the tokens of the whole result
	kept   []*kept // its contents, oldest first
	logged *kept   // what the log says that it holds
}

// kept is a content of a slot.
type kept struct {
	Part
	from int // the first call that has it
	hash uint64
	text string
}

// Approximate bytes of memory, without strings.
const (
	slotCost = 160
	keptCost = 224
)

func (k *kept) size() int64 {
	n := keptCost + len(k.text) + len(k.Label) + len(k.CallID)
	if k.Left != nil {
		n += 144 + len(k.Left.Path)
	}
	return int64(n)
}

// at returns the index of a slot, and whether it is there.
func (b *book) at(id int32) (int, bool) {
	if i := int(id) - 1; i < len(b.slots) && i >= 0 && b.slots[i].id == id { // none before it is gone
		return i, true
	}
	return slices.BinarySearchFunc(b.slots, id, func(s slot, id int32) int { return int(s.id) - int(id) })
}

// find returns the slot that a key identifies, nil if there is none. It is valid until
// slots are added or removed.
func (b *book) find(key uint64) *slot {
	id, known := b.byKey[key]
	if !known {
		return nil
	}
	i, _ := b.at(id)
	return &b.slots[i]
}

// add adds a slot.
func (b *book) add(key uint64) *slot {
	if b.byKey == nil {
		b.byKey = map[uint64]int32{}
	}
	b.lastSlot++
	b.byKey[key] = b.lastSlot
	b.slots = append(b.slots, slot{id: b.lastSlot, key: key})
	b.bytes += slotCost
	return &b.slots[len(b.slots)-1]
}

// each passes on every slot in the ranges that is there, in order, with its place among
// all of them.
func (b *book) each(ranges [][2]int32, use func(place int, s *slot)) {
	before := 0
	for _, r := range ranges {
		i, _ := b.at(r[0])
		for ; i < len(b.slots) && b.slots[i].id <= r[1]; i++ {
			use(before+int(b.slots[i].id-r[0]), &b.slots[i])
		}
		before += int(r[1]) - int(r[0]) + 1
	}
}

// in returns the content that a slot has in a call, nil if it has none.
func (s *slot) in(call int) *kept {
	for _, k := range slices.Backward(s.kept) {
		if k.from <= call {
			return k
		}
	}
	return nil
}

// set makes k the content of a slot in a call, and in no earlier and no later one that is
// known, and returns how many bytes more are kept.
func (s *slot) set(k *kept, call int) (grown int64) {
	now := s.in(call)
	if now != nil && now.hash == k.hash && now.Category == k.Category {
		return 0
	}
	var all []*kept
	add := func(k *kept, from int) {
		if k.from != from {
			next := *k
			next.from, k = from, &next
		}
		all = append(all, k)
		grown += k.size()
	}
	put := false
	for _, old := range s.kept {
		if old.from > call && !put {
			put = true
			add(k, call)
			if now != nil && old.from > call+1 {
				add(now, call+1)
			}
		}
		if old.from != call {
			all = append(all, old)
			continue
		}
		grown -= old.size()
	}
	if !put {
		add(k, call)
		if now != nil && s.last > call {
			add(now, call+1)
		}
	}
	s.kept = all
	return grown
}

// drop forgets what only a call needs whose successor with parts is next.
func (b *book) drop(call *ModelCall, next int) {
	dead := false
	b.each(call.slots, func(_ int, s *slot) {
		old := 0
		for old+1 < len(s.kept) && s.kept[old+1].from <= next {
			b.bytes -= s.kept[old].size()
			old++
		}
		if old > 0 { // a part of the slice would hold on to the rest
			s.kept = slices.Clone(s.kept[old:])
		}
		if s.last > call.N {
			return
		}
		dead = true
		for _, k := range s.kept {
			b.bytes -= k.size()
		}
		b.bytes -= slotCost
		delete(b.byKey, s.key)
		s.kept = nil
	})
	if dead {
		b.slots = slices.DeleteFunc(b.slots, func(s slot) bool { return s.kept == nil })
	}
}

// parts returns the parts of a call: all of them, or only those that are new.
func (b *book) parts(call *ModelCall, all bool) (parts []Part) {
	if b == nil {
		return nil
	}
	isNew := func(id int32) bool {
		return slices.ContainsFunc(call.fresh, func(r [2]int32) bool { return r[0] <= id && id <= r[1] })
	}
	ranges := call.fresh
	if all {
		ranges = call.slots
	}
	b.each(ranges, func(place int, s *slot) {
		k := s.in(call.N)
		if k == nil {
			return
		}
		p := k.Part
		switch {
		case all && place < call.same:
			p.State = StateSame
		case !all || isNew(s.id):
			p.State = StateNew
		default:
			p.State = StateMoved
		}
		parts = append(parts, p)
	})
	return parts
}

// pick returns a book that holds only what a call needs.
func (b *book) pick(call *ModelCall) *book {
	some := &book{}
	b.each(call.slots, func(_ int, s *slot) { some.slots = append(some.slots, *s) })
	slices.SortFunc(some.slots, func(a, b slot) int { return int(a.id) - int(b.id) })
	return some
}

// ranges returns numbers as ranges, in their order.
func ranges(ids []int32) (all [][2]int32) {
	for _, id := range ids {
		if last := len(all) - 1; last >= 0 && all[last][1] == id-1 {
			all[last][1] = id
			continue
		}
		all = append(all, [2]int32{id, id})
	}
	return slices.Clip(all)
}

// texts returns the texts by their IDs.
func (b *book) texts() map[int]string {
	all := make(map[int]string, len(b.slots))
	for i := range b.slots {
		for _, k := range b.slots[i].kept {
			if k.Part.Text != 0 {
				all[k.Part.Text] = k.text
			}
		}
	}
	return all
}
