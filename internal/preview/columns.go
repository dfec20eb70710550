// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package preview

// Columns that repeat another one: a URL that contains the number of its record, a committer who is the
// author.

const (
	// sampledRecords is how many records are examined for such columns; leastRecords are required.
	sampledRecords, leastRecords = 8, 3
	// leastToken is the length from which a value is searched for in others.
	leastToken = 2
	// derivedShare is the share of its weight that such a column keeps.
	derivedShare = .2
)

// origin is a field whose value occurs in another field, with the text around it there.
type origin struct {
	field   *field
	affixes string
}

// derivedFields finds fields whose values follow from other fields, in a few records.
type derivedFields struct {
	*document
	rows [][]cell
}

// lighten reduces the weight of fields that follow from others.
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

// valuesOf maps the values of a record to its fields.
func (t derivedFields) valuesOf(row []cell) map[string][]*field {
	values := make(map[string][]*field)
	for _, c := range row {
		if v := t.scalar(c.value); len(v) >= leastToken && c.field.isVaried {
			values[v] = append(values[v], c.field)
		}
	}
	return values
}

// originsOf returns the fields whose values are a whole value or a word in it.
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

// outranks decides which of two equal fields stays: the more informative one, or the first.
func outranks(f, other *field) bool {
	if f.weight != other.weight {
		return f.weight > other.weight
	}
	return f.number < other.number
}

// inBoth returns the origins that two lists share.
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
