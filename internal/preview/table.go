// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package preview

// This file finds the list of records that a JSON document is about, and what its records
// have in common.

import (
	"slices"
	"strconv"
	"strings"
)

const (
	// minRecords is how many items make a list worth a table.
	minRecords = 3
	// listShare is the share of the document, in percent, that the list must hold.
	listShare = 60
	// maxDepth is how deep a record is taken apart.
	maxDepth = 4
	// maxParts is the longest list of objects in a record that is taken apart.
	maxParts = 3
	// maxFields is how many fields are told apart.
	maxFields = 512
	// sampled is how many records say how much a field differs.
	sampled = 256
)

// mainList finds the list of objects or of lists that holds most of the document. Of
// nested ones it is the one with more items. ok is false if there is none.
func (d *document) mainList() (list int32, ok bool) {
	whole := d.size(0)
	for n := int32(0); n < int32(len(d.nodes)); n++ {
		v := &d.nodes[n]
		if v.items < minRecords || d.size(n)*100 < whole*listShare || ok && v.items <= d.nodes[list].items {
			continue
		}
		if v.kind == '[' && d.holdsRecords(n) || v.kind == '{' && d.sameShape(n) {
			list, ok = n, true
		}
	}
	return list, ok
}

// holdsRecords reports whether nearly all items of a list are objects, or nearly all are
// lists.
func (d *document) holdsRecords(list int32) bool {
	var objects, lists int32
	for _, value := range d.children(list) {
		switch d.nodes[value].kind {
		case '{':
			objects++
		case '[':
			lists++
		}
	}
	return max(objects, lists)*10 >= d.nodes[list].items*9
}

// sameShape reports whether an object is a list of records under their keys: its values
// are objects, and the first two share most of their keys.
func (d *document) sameShape(object int32) bool {
	var keys []string
	seen, shared := int32(0), 0
	for _, value := range d.children(object) {
		if d.nodes[value].kind != '{' {
			return false
		}
		if seen++; seen > 2 {
			continue
		}
		for key := range d.children(value) {
			if seen == 1 {
				keys = append(keys, d.raw(key))
			} else if slices.Contains(keys, d.raw(key)) {
				shared++
			}
			if len(keys) > maxFields {
				break
			}
		}
	}
	return seen == d.nodes[object].items && shared > 0 && shared*2 >= len(keys)
}

// path is where a node is, such as $.items.
func (d *document) path(n int32) string {
	var b strings.Builder
	b.WriteByte('$')
	for at, of := int32(0), int32(-1); at != n && at != of; {
		index := 0
		of = at
		for key, value := range d.children(of) {
			if n >= d.nodes[value].next {
				index++
				continue
			}
			if key >= 0 {
				b.WriteString("." + d.raw(key))
			} else {
				b.WriteString("[" + strconv.Itoa(index) + "]")
			}
			at = value
			break
		}
	}
	return b.String()
}

// field is one value that records have, under one path of keys.
type field struct {
	name   string // of the last key, as it is in the source
	path   string
	depth  int
	kids   []*field          // in the order in which they were met
	index  map[string]*field // of many kids
	column int               // in the table, or -1
	weight float64

	seen     int   // records that have a value
	first    int32 // the first value
	differs  bool  // not all values are the first one
	distinct map[string]struct{}
	numbers  int // of the sampled values that are numbers
}

// kid finds the field below f that a key names. Records mostly have their keys in one
// order, so it looks where the key was last time.
func (f *field) kid(name string, at int, t *table) *field {
	if at < len(f.kids) && f.kids[at].name == name {
		return f.kids[at]
	}
	if len(f.kids) > 16 && f.index == nil {
		f.index = make(map[string]*field, 2*len(f.kids))
		for _, k := range f.kids {
			f.index[k.name] = k
		}
	}
	if f.index != nil {
		if k := f.index[name]; k != nil {
			return k
		}
	} else {
		for _, k := range f.kids {
			if k.name == name {
				return k
			}
		}
	}
	if t.fields >= maxFields {
		t.extra = true
		return nil
	}
	t.fields++
	k := &field{name: name, path: name, depth: f.depth + 1, column: -1}
	if f.depth > 0 {
		k.path = f.path + "." + name
	}
	f.kids = append(f.kids, k)
	if f.index != nil {
		f.index[name] = k
	}
	return k
}

// cell is a value of a record.
type cell struct {
	field *field
	value int32
}

// table is a list of records, taken apart.
type table struct {
	*document
	list   int32
	root   field
	fields int
	extra  bool // there are more than maxFields
	count  int
	head   [][]cell   // the first records
	tail   [][]cell   // the last ones
	errors []errorRow // of JSON lines, those that look like errors
	key    *field     // of records under keys, the key
	row    []cell
}

// newTable takes the records of a list apart. It keeps the cells of as many as could be
// shown in room bytes.
func newTable(d *document, list int32, room int) *table {
	t := &table{document: d, list: list, count: int(d.nodes[list].items)}
	heads, tails := room/6+1, room/16+1
	if d.nodes[list].kind == '{' {
		t.key = t.root.kid("key", 0, t)
	}
	n := 0
	for key, value := range d.children(list) {
		t.row = t.row[:0]
		if t.key != nil {
			t.leaf(t.key, key, n)
		}
		t.visit(&t.root, value, n)
		switch {
		case n < heads:
			t.head = append(t.head, slices.Clone(t.row))
		case n >= t.count-tails:
			t.tail = append(t.tail, slices.Clone(t.row))
		}
		if d.lines && isErrorRecord(d.source(value)) {
			t.keepError(n)
		}
		n++
	}
	if missing := min(tails, t.count) - len(t.tail); missing > 0 {
		t.tail = append(slices.Clone(t.head[len(t.head)-min(missing, len(t.head)):]), t.tail...)
	}
	return t
}

// errorRow is a record that looks like an error.
type errorRow struct {
	at    int
	cells []cell
}

// maxErrorRows is how many of them are kept: half of them the first, the others the last.
const maxErrorRows = 12

func (t *table) keepError(n int) {
	if len(t.errors) == maxErrorRows {
		t.errors = append(t.errors[:maxErrorRows/2], t.errors[maxErrorRows/2+1:]...)
	}
	t.errors = append(t.errors, errorRow{n, slices.Clone(t.row)})
}

// isErrorRecord reports whether the source of a record speaks of an error.
func isErrorRecord(source string) bool {
	for _, level := range []string{`"error"`, `"fatal"`, `"panic"`, `"critical"`} {
		if i := strings.Index(source, level); i > 0 && strings.HasSuffix(strings.TrimRight(source[:i], " "), ":") {
			return true
		}
	}
	return severity(source) == hard
}

// visit takes a value apart, which belongs to record n. Null and what is empty say nothing.
func (t *table) visit(f *field, value int32, n int) {
	v := &t.nodes[value]
	switch v.kind {
	case 'n':
		return
	case '"':
		if v.end-v.start == 2 {
			return
		}
	case '{', '[':
		if v.items == 0 {
			return
		}
		if t.opens(f, value) {
			t.visitMembers(f, value, n)
			return
		}
	}
	t.leaf(f, value, n)
}

// opens reports whether a list or an object is taken apart.
func (t *table) opens(f *field, value int32) bool {
	v := &t.nodes[value]
	switch {
	case f.depth == 0:
		return true
	case f.depth >= maxDepth:
		return false
	}
	return v.kind == '{' || v.items <= maxParts && t.allObjects(value)
}

func (t *table) visitMembers(f *field, value int32, n int) {
	at := 0
	if t.key != nil && f.depth == 0 {
		at = 1 // after the key of the record
	}
	for key, member := range t.children(value) {
		name := ""
		if key >= 0 {
			name = t.raw(key)
		} else {
			name = strconv.Itoa(at)
		}
		if kid := f.kid(name, at, t); kid != nil {
			t.visit(kid, member, n)
		}
		at++
	}
}

func (d *document) allObjects(list int32) bool {
	for _, value := range d.children(list) {
		if d.nodes[value].kind != '{' {
			return false
		}
	}
	return true
}

// leaf notes the value of a field.
func (t *table) leaf(f *field, value int32, n int) {
	if f.depth == 0 { // a record that is not an object
		if f = f.kid("", 0, t); f == nil {
			return
		}
	}
	f.seen++
	if f.seen == 1 {
		f.first = value
	} else if !f.differs && t.source(value) != t.source(f.first) {
		f.differs = true
	}
	if n < sampled {
		if f.distinct == nil {
			f.distinct = make(map[string]struct{})
		}
		f.distinct[t.source(value)] = struct{}{}
		if t.nodes[value].kind == '0' {
			f.numbers++
		}
	}
	t.row = append(t.row, cell{f, value})
}

// telling are words for fields that distinguish records, or say what they are about.
var telling = words("name title id email label subject key path text value summary address message error description content file author user login msg body comment snippet reason date status type symbol code price url number total")

// noise are words for fields that are hardly ever asked about.
var noise = words("etag hash sha avatar links gravatar color colors colour colours format formats cursor checksum thumbnail icon sprite")

// clocks are words for moments, which differ in every record and are seldom what is asked.
var clocks = words("time timestamp ts datetime at")

func words(list string) map[string]bool {
	set := make(map[string]bool)
	for _, w := range strings.Fields(list) {
		set[w] = true
	}
	return set
}

// weigh says how informative a field is.
func (t *table) weigh(f *field) float64 {
	records := min(t.count, sampled)
	w := .15
	if f.seen > 0 {
		sample := float64(min(f.seen, records))
		w += .5 * float64(len(f.distinct)) / max(sample, 1) * float64(f.seen) / float64(t.count)
	}
	path := strings.ToLower(f.path)
	parts := append(nameParts(f.path[strings.LastIndexByte(f.path, '.')+1:]), "")
	parts = parts[:max(1, len(parts)-1)]
	if telling[parts[len(parts)-1]] {
		w += .5
	}
	if slices.ContainsFunc(parts, func(w string) bool { return noise[w] }) || strings.Contains(path, "_links") ||
		strings.HasSuffix(path, "_url") || strings.HasSuffix(path, "_gmt") || strings.HasSuffix(path, "node_id") {
		w *= .35
	}
	if clocks[parts[max(0, len(parts)-1)]] {
		w *= .6
	}
	return max(w-.05*float64(strings.Count(path, ".")), .02)
}

// nameParts are the words of a name such as created_at or createdAt, in lower case.
func nameParts(name string) (parts []string) {
	from := 0
	cut := func(to int) {
		if to > from {
			parts = append(parts, strings.ToLower(name[from:to]))
		}
	}
	for i := 0; i < len(name); i++ {
		switch c := name[i]; {
		case c == '_' || c == '-' || c == ' ' || c == '.':
			cut(i)
			from = i + 1
		case 'A' <= c && c <= 'Z' && i > 0 && 'a' <= name[i-1] && name[i-1] <= 'z':
			cut(i)
			from = i
		}
	}
	cut(len(name))
	return parts
}

// leaves lists the fields that hold values, in the order in which they were met.
func (f *field) leaves(out []*field) []*field {
	if f.seen > 0 {
		out = append(out, f)
	}
	for _, k := range f.kids {
		out = k.leaves(out)
	}
	return out
}
