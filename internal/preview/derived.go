// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package preview

// Columns that say what another one says: a URL with the number of its record, a committer who is the
// author.

import "strings"

const (
	// lookedThrough is how many records show what follows from what; fewer than leastRecords show nothing.
	lookedThrough, leastRecords = 8, 3
	// leastToken is the shortest value that is looked for in others.
	leastToken = 2
	// ofDerived is the share of its weight that such a column keeps.
	ofDerived = .2
)

// origin is a field whose value stands in that of another one, and what is around it there.
type origin struct {
	field *field
	rest  string
}

// lighten takes weight from fields that follow from others. Their weights are known.
func (t *table) lighten() {
	rows := t.head[:min(len(t.head), lookedThrough)]
	origins, records := make(map[*field][]origin), make(map[*field]int)
	for _, row := range rows {
		values := t.valuesOf(row)
		for _, c := range row {
			found := t.originsOf(c, values)
			if records[c.field]++; records[c.field] > 1 {
				found = inBoth(origins[c.field], found)
			}
			origins[c.field] = found
		}
	}
	for f, found := range origins {
		if len(found) > 0 && records[f] >= leastRecords {
			f.weight *= ofDerived
		}
	}
}

// valuesOf are the fields of a record by their values.
func (t *table) valuesOf(row []cell) map[string][]*field {
	values := make(map[string][]*field)
	for _, c := range row {
		if v := t.scalar(c.value); len(v) >= leastToken && c.field.differs {
			values[v] = append(values[v], c.field)
		}
	}
	return values
}

// scalar is a string as it is written, or a number.
func (t *table) scalar(n int32) string {
	switch t.nodes[n].kind {
	case '"':
		return t.raw(n)
	case 0, '0':
		return t.source(n)
	}
	return ""
}

// originsOf are the fields whose values are all of a value or a word in it.
func (t *table) originsOf(c cell, values map[string][]*field) (found []origin) {
	const longest = 200
	v := t.scalar(c.value)
	if len(v) > longest {
		return nil
	}
	for at := 0; at < len(v); {
		end := at
		for end < len(v) && (letter(v[end]) || v[end] == '-') {
			end++
		}
		for _, f := range values[v[at:end]] {
			if whole := end-at == len(v); f != c.field && (!whole || f.outranks(c.field)) {
				found = append(found, origin{f, v[:at] + "\x00" + v[end:]})
			}
		}
		at = end + 1
	}
	if strings.ContainsFunc(v, func(r rune) bool { return r > 0x7f || !letter(byte(r)) && r != '-' }) {
		for _, f := range values[v] {
			if f != c.field && f.outranks(c.field) {
				found = append(found, origin{f, "\x00"})
			}
		}
	}
	return found
}

// outranks says which of two equal fields stays: the one that tells more, or the first.
func (f *field) outranks(other *field) bool {
	if f.weight != other.weight {
		return f.weight > other.weight
	}
	return f.number < other.number
}

// inBoth are the origins in two lists.
func inBoth(a, b []origin) (both []origin) {
	for _, x := range a {
		for _, y := range b {
			if x == y {
				both = append(both, x)
				break
			}
		}
	}
	return both
}
