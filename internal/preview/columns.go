// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package preview

// Columns that say what another one says: a URL with the number of its record, a committer who is the
// author.

const (
	// sampledRecords is how many records show what follows from what; fewer than leastRecords show nothing.
	sampledRecords, leastRecords = 8, 3
	// leastToken is the shortest value that is looked for in others.
	leastToken = 2
	// derivedShare is the share of its weight that such a column keeps.
	derivedShare = .2
)

// origin is a field whose value stands in that of another one, and what is around it there.
type origin struct {
	field   *field
	affixes string
}

// derivedFields finds fields whose values follow from other fields, in a few records.
type derivedFields struct {
	*document
	rows [][]cell
}

// lighten takes weight from fields that follow from others.
func (t derivedFields) lighten() {
	origins, records := make(map[*field][]origin), make(map[*field]int)
	for _, row := range t.rows {
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
			f.weight *= derivedShare
		}
	}
}

// valuesOf are the fields of a record by their values.
func (t derivedFields) valuesOf(row []cell) map[string][]*field {
	values := make(map[string][]*field)
	for _, c := range row {
		if v := t.scalar(c.value); len(v) >= leastToken && c.field.isVaried {
			values[v] = append(values[v], c.field)
		}
	}
	return values
}

// originsOf are the fields whose values are all of a value or a word in it.
func (t derivedFields) originsOf(c cell, values map[string][]*field) (found []origin) {
	const longest = 200
	v := t.scalar(c.value)
	if len(v) > longest {
		return nil
	}
	for _, f := range values[v] {
		if outranks(f, c.field) {
			found = append(found, origin{f, ""})
		}
	}
	for at, end := 0, 0; at < len(v); at = end + 1 {
		for end = at; end < len(v) && (isWordByte(v[end]) || v[end] == '-'); {
			end++
		}
		if end-at == len(v) {
			break
		}
		for _, f := range values[v[at:end]] {
			found = append(found, origin{f, v[:at] + "\x00" + v[end:]})
		}
	}
	return found
}

// outranks says which of two equal fields stays: the one that tells more, or the first.
func outranks(f, other *field) bool {
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
