// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package window

import "fmt"

// Kept returns how many bytes the collector says that it keeps, and an error if a fresh
// count, of everything that can be reached, says otherwise.
func (c *Collector) Kept() (int64, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	total, calls := int64(0), 0
	for id, v := range c.convs {
		if v.isForgotten || v.id != id {
			return 0, fmt.Errorf("%s is gone, and known", id)
		}
		book := int64(0)
		for i := range v.book.slots {
			s := &v.book.slots[i]
			book += slotCost
			used := false
			for _, k := range s.contents {
				book += k.size()
			}
			for _, r := range v.calls {
				for _, span := range r.slots {
					used = used || span[0] <= s.id && s.id <= span[1]
				}
			}
			if !used || v.book.byKey[s.key] != s.id {
				return 0, fmt.Errorf("%s keeps slot %d, which no call has", id, s.id)
			}
		}
		if book != v.book.bytes {
			return 0, fmt.Errorf("%s counts %d bytes of parts; it has %d", id, v.book.bytes, book)
		}
		if size := v.size(); size != v.bytes {
			return 0, fmt.Errorf("%s counts %d bytes; it has %d", id, v.bytes, size)
		}
		total += v.bytes
		calls += len(v.calls)
		slim := 0
		for i, r := range v.calls {
			if i > 0 && r.N <= v.calls[i-1].N {
				return 0, fmt.Errorf("%s: call %d follows call %d", id, r.N, v.calls[i-1].N)
			}
			if r.isSlim {
				slim++
			}
		}
		if slim != v.dropped {
			return 0, fmt.Errorf("%s says that %d calls have no parts; %d have none", id, v.dropped, slim)
		}
	}
	if len(c.idle) != len(c.convs) || calls != len(c.queue) {
		return 0, fmt.Errorf("%d conversations and %d of them in order; %d calls and %d of them in order", len(c.convs), len(c.idle), calls, len(c.queue))
	}
	for i, r := range c.queue {
		if r.isSlim != (i < c.slim) {
			return 0, fmt.Errorf("call %d of %d has its parts: %t", i, len(c.queue), !r.isSlim)
		}
	}
	if total != c.bytes {
		return 0, fmt.Errorf("the collector counts %d bytes; it has %d", c.bytes, total)
	}
	return c.bytes, nil
}

// ReadLinesUpTo sets the longest line that is read, and returns what restores the limit.
func ReadLinesUpTo(bytes int) (restore func()) {
	was := maxLine
	maxLine = bytes
	return func() { maxLine = was }
}
