// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package preview

// Tables: the list of records that a JSON document is about, what its records have in common, and
// which columns and rows are shown.

import (
	"cmp"
	"math"
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
)

// mainList finds the list of objects or of lists that holds most of the document. Of
// nested ones it is the one with more items. ok is false if there is none.
func mainList(d *document) (list int32, ok bool) {
	documentSize := d.size(0)
	for n := int32(0); n < int32(len(d.nodes)); n++ {
		v := &d.nodes[n]
		if v.items < minRecords || d.size(n)*100 < documentSize*listShare || ok && v.items <= d.nodes[list].items {
			continue
		}
		if v.kind == '[' && holdsRecords(d, n) || v.kind == '{' && sameShape(d, n) {
			list, ok = n, true
		}
	}
	return list, ok
}

// holdsRecords reports whether nearly all items of a list are objects, or nearly all are
// lists.
func holdsRecords(d *document, list int32) bool {
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

// sameShape reports whether an object is a map of records: its values are objects, and the first two share most
// of their keys.
func sameShape(d *document, object int32) bool {
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

// pathOf returns the path of a node, such as $.items.
func pathOf(d *document, n int32) string {
	var b strings.Builder
	b.WriteByte('$')
	for at, parent := int32(0), int32(-1); at != n && at != parent; {
		index := 0
		parent = at
		for key, value := range d.children(parent) {
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

// table is a list of records, taken apart.
type table struct {
	*document
	list   int32
	root   field
	fields int
	count  int
	head   [][]cell   // the first records
	tail   [][]cell   // the last ones
	errors []errorRow // of JSON lines, those that look like errors
	key    *field     // of records under keys, the key
	row    []cell
	inner  func(text string, room int) string // previews a text beside the list
}

// newTable takes the records of a list apart. It keeps the cells of as many as could be
// shown in room bytes.
func newTable(d *document, list int32, room int) *table {
	t := &table{document: d, list: list, count: int(d.nodes[list].items)}
	heads, tails := room/6+1, room/16+1
	if d.nodes[list].kind == '{' {
		t.key = t.root.child("key", 0, &t.fields)
	}
	n := 0
	for key, value := range d.children(list) {
		t.row = t.row[:0]
		if t.key != nil {
			t.addCell(t.key, key, n)
		}
		t.addValue(&t.root, value, n)
		switch {
		case n < heads:
			t.head = append(t.head, slices.Clone(t.row))
		case n >= t.count-tails:
			t.tail = append(t.tail, slices.Clone(t.row))
		}
		if d.isJSONLines && isErrorRecord(d.source(value)) {
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
	index int
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

// errorLevels are the levels of errors as values, with and without a space before them.
var errorLevels = []string{`:"error"`, `: "error"`, `:"fatal"`, `: "fatal"`, `:"panic"`, `: "panic"`, `:"critical"`, `: "critical"`}

// isErrorRecord reports whether the source of a record speaks of an error.
func isErrorRecord(source string) bool {
	has := func(level string) bool { return strings.Contains(source, level) }
	return slices.ContainsFunc(errorLevels, has) || severity(source) == severityError
}

// addValue takes a value apart, which belongs to record n. Null and what is empty say nothing.
func (t *table) addValue(f *field, value int32, n int) {
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
		if t.isExpanded(f, value) {
			t.addMembers(f, value, n)
			return
		}
	}
	t.addCell(f, value, n)
}

// isExpanded reports whether the values in a list or an object become fields.
func (t *table) isExpanded(f *field, value int32) bool {
	v := &t.nodes[value]
	switch {
	case f.depth == 0:
		return true
	case f.depth >= maxDepth:
		return false
	}
	return v.kind == '{' || v.items <= maxParts && allObjects(t.document, value)
}

func (t *table) addMembers(f *field, value int32, n int) {
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
		if kid := f.child(name, at, &t.fields); kid != nil {
			t.addValue(kid, member, n)
		}
		at++
	}
}

func allObjects(d *document, list int32) bool {
	for _, value := range d.children(list) {
		if d.nodes[value].kind != '{' {
			return false
		}
	}
	return true
}

func (t *table) addCell(f *field, value int32, n int) {
	if f.depth == 0 { // a record that is not an object
		if f = f.child("", 0, &t.fields); f == nil {
			return
		}
	}
	f.count++
	f.bytes += t.size(value)
	if f.count == 1 {
		f.firstValue = value
	} else if !f.isVaried && t.source(value) != t.source(f.firstValue) {
		f.isVaried = true
	}
	if n < maxSampled {
		if f.distinct == nil {
			f.distinct = make(map[string]struct{})
		}
		f.distinct[t.source(value)] = struct{}{}
	}
	t.row = append(t.row, cell{f, value})
}

// stringLimits are the lengths at which the strings of a table may be cut.
var stringLimits = []int{40, 60, 90, 140, 240, 480, 1000, 4000}

const (
	// maxColumns is how many columns are tried.
	maxColumns = 64
	// fewerRows is how much a layout gains that shows fewer rows with more columns: more columns answer questions
	// more often than more rows.
	fewerRows = .15
	// mostShare is the share of the weight of all columns, in percent, that rows show at least, if three fit.
	mostShare = 33
	// equalRows is how many equal rows in a row are shown.
	equalRows = 3
	// leastTable is the room below which a table is useless.
	leastTable = 200
	// headRoom is more than the keys after the common values take in any language.
	headRoom = 80
)

// layout is a choice of columns, of rows, and of a length of strings.
type layout struct {
	columns   int
	maxString int // of strings, in bytes
	headRows  int // from the start
	tailRows  int // from the end
	score     float64
}

// appendTable writes the table in at most room bytes. ok is false if it does not fit.
func (t *table) appendTable(b []byte, room int, lang labels) (out []byte, ok bool) {
	start := len(b)
	if room < leastTable {
		return b, false
	}
	room -= len(`]}`) // the end
	columns, shared := t.chooseColumns()
	b = append(b, '{')
	if t.list > 0 {
		if rest := t.appendRest(nil, room/4); len(rest) > len(`{}`) {
			b = append(append(append(b, lang.key("rest")...), rest...), ',')
		}
		b = append(b, lang.key("list")...)
		b = append(appendString(b, pathOf(t.document, t.list), room/8, false), ',')
	}
	b = append(b, lang.key("count")...)
	b = strconv.AppendInt(b, int64(t.count), 10)
	if t.isCut {
		b = append(append(append(b, ','), lang.key("cut")...), lang.value("cut")...)
	}
	b = t.appendShared(b, shared, room/8, lang)
	l := t.chooseLayout(columns, room-(len(b)-start))
	if l.columns == 0 || t.count <= maxShared && l.headRows+l.tailRows < t.count { // then each record has its share
		return b[:start], false
	}
	b = t.appendColumns(b, columns, l.columns, lang)
	b = append(append(b, ','), lang.key("rows")...)
	b = append(b, '[')
	b = t.appendRows(b, l, start+room, lang)
	return append(b, `]}`...), true
}

// chooseColumns orders the fields that differ by what they tell, and lists those that are
// the same in all records.
func (t *table) chooseColumns() (columns, shared []*field) {
	for _, f := range t.root.valueFields(nil) {
		if f.count == t.count && !f.isVaried && f != t.key {
			shared = append(shared, f)
			continue
		}
		f.weight = f.weigh(t.count)
		if f == t.key {
			f.weight = 1.2
		}
		columns = append(columns, f)
	}
	derivedFields{t.document, t.head[:min(len(t.head), sampledRecords)]}.lighten()
	slices.SortStableFunc(columns, func(a, b *field) int { return cmp.Compare(b.weight, a.weight) })
	if len(columns) == 0 { // all records are equal
		columns, shared = shared, nil
	}
	return columns, shared
}

// appendRest writes the document without the list.
func (t *table) appendRest(b []byte, room int) []byte {
	rest := *t.document
	rest.skipped, rest.previewText = t.list, t.inner
	return appendValue(&rest, b, 0, max(room, leastValue))
}

// appendShared writes the values that all records share, once.
func (t *table) appendShared(b []byte, shared []*field, room int, lang labels) []byte {
	start := len(b)
	for _, f := range shared {
		before := len(b)
		if before == start {
			b = append(append(append(b, ','), lang.key("same")...), '{')
		} else {
			b = append(b, ',')
		}
		b = append(appendString(b, f.path, room, false), ':')
		b = appendValue(t.document, b, f.firstValue, max(room/2, leastValue))
		if len(b)-start+1 > room {
			b = b[:before]
		}
	}
	if len(b) > start {
		b = append(b, '}')
	}
	return b
}

// leftOutRoom is the room for the names of columns that are left out.
const leftOutRoom = 240

// appendColumns writes the names of the columns that are shown, and of those that are not.
func (t *table) appendColumns(b []byte, columns []*field, shown int, lang labels) []byte {
	for i, f := range columns[:shown] {
		if f.column = i; i == 0 {
			b = append(append(append(b, ','), lang.key("columns")...), '[')
		} else {
			b = append(b, ',')
		}
		b = appendString(b, f.path, longText, false)
	}
	b = append(b, ']')
	if shown == len(columns) {
		return b
	}
	b = append(append(append(b, ','), lang.key("left out")...), '"')
	start := len(b)
	for i, f := range columns[shown:] {
		if len(b)-start+len(f.path) > leftOutRoom-16 {
			b = append(b, ellipsis+" +"...)
			b = strconv.AppendInt(b, int64(len(columns)-shown-i), 10)
			break
		}
		if i > 0 {
			b = append(b, ' ')
		}
		before := len(b)
		b = appendString(b, f.path, leftOutRoom, false)
		b = append(b[:before], b[before+1:len(b)-1]...) // without its quotes
	}
	return append(b, '"')
}

// chooseLayout tries every length of strings with every number of columns.
func (t *table) chooseLayout(columns []*field, room int) (best layout) {
	columns = columns[:min(len(columns), maxColumns)] // more than that are not worth a try
	for i, f := range columns {
		f.column = i
	}
	head, tail := t.grid(t.head, len(columns)), t.grid(t.tail, len(columns))
	slices.Reverse(tail)
	for least := max(t.columnsForName(columns), columnsForShare(columns)); best.columns == 0 && least > 0; least /= 2 {
		for _, maxString := range stringLimits {
			l := t.tryStringLimit(columns, [2][][]int32{head, tail}, room, maxString, least)
			if l.headRows+l.tailRows >= min(minRecords, t.count) && l.score > best.score {
				best = l
			}
		}
		if least == 1 {
			break
		}
	}
	for _, f := range columns {
		f.column = -1
	}
	return best
}

// columnsForShare is how many columns show most of the information of records. Rows with fewer, such as bare ids,
// say little more than how many records there are.
func columnsForShare(columns []*field) int {
	all, shown := 0.0, 0.0
	for _, f := range columns {
		all += f.weight
	}
	for i, f := range columns {
		if shown += f.weight; shown*100 >= all*mostShare {
			return i + 1
		}
	}
	return len(columns)
}

// columnsForName is how many columns it takes to describe a record: up to the first one with words, if that is
// among the first columns.
func (t *table) columnsForName(columns []*field) int {
	const first = 2
	rows := t.head[:min(len(t.head), sampledRecords)]
	for i, f := range columns[:min(len(columns), first)] {
		worded := 0
		for _, row := range rows {
			for _, c := range row {
				if c.field == f && strings.Contains(t.scalar(c.value), " ") {
					worded++
				}
			}
		}
		if worded*2 > len(rows) {
			return i + 1
		}
	}
	return 1
}

// grid lays the sizes of the cells of some rows out by column; zero is an empty cell.
func (t *table) grid(rows [][]cell, columns int) [][]int32 {
	out, all := make([][]int32, len(rows)), make([]int32, len(rows)*columns)
	for i, row := range rows {
		out[i], all = all[:columns:columns], all[columns:]
		for _, c := range row {
			if c.field.column >= 0 {
				out[i][c.field.column] = int32(t.size(c.value))
			}
		}
	}
	return out
}

// tryStringLimit finds the best number of columns for one length of strings.
func (t *table) tryStringLimit(columns []*field, grid [2][][]int32, room, maxString, least int) (best layout) {
	var cost [2][]int
	var worth [2][]float64
	for side := range grid {
		cost[side], worth[side] = make([]int, len(grid[side])), make([]float64, len(grid[side]))
	}
	head, left := headRoom, 0
	for _, f := range columns {
		left += len(f.path) + 1
	}
	fit := [2]int{len(grid[0]), len(grid[1])}
	for c, f := range columns {
		head += min(len(f.path), longText) + 3
		left -= len(f.path) + 1
		available := room - head - min(left, leftOutRoom)
		if available < 4 {
			break
		}
		for side := range grid {
			for r := range fit[side] {
				n := int(grid[side][r][c])
				shown := min(n, maxString+5)
				if n == 0 {
					shown = len("null")
				}
				if cost[side][r] += shown + 1; cost[side][r] > available {
					fit[side] = r
					break
				}
				worth[side][r] += f.weight * f.weight * textWorth(n, maxString)
			}
		}
		l := t.chooseRows(cost, worth, fit, available)
		if shown := l.headRows + l.tailRows; shown > 0 {
			l.score *= math.Pow(float64(t.count)/float64(shown), fewerRows)
		}
		if l.columns, l.maxString = c+1, maxString; l.columns >= least && l.score > best.score {
			best = l
		}
	}
	return best
}

// textWorth returns the weight of a cell of n bytes if strings are cut.
func textWorth(n, maxString int) float64 {
	w := float64(min(n, longText))
	if n > maxString+5 {
		w *= cutShare * math.Sqrt(float64(maxString)/float64(n))
	}
	return w
}

// chooseRows takes rows from the start, and the last quarter from the end.
func (t *table) chooseRows(cost [2][]int, worth [2][]float64, fit [2]int, room int) (l layout) {
	used := 0
	take := func(side, limit int) (n int) {
		for n < fit[side] && used+cost[side][n]+2 <= limit {
			used += cost[side][n] + 2
			l.score += worth[side][n]
			n++
		}
		return n
	}
	l.headRows = take(0, room)
	if l.headRows == t.count {
		return l
	}
	used, l.score = 0, 0
	l.headRows = take(0, room*3/4)
	l.tailRows = min(take(1, room), t.count-l.headRows)
	return l
}

// row is a record as it is shown.
type row struct {
	index int
	text  []byte
}

// appendRows writes the rows, up to the given length of b: from the start as many as
// fit, and, if not all do, a quarter of the room each for the end and for errors.
func (t *table) appendRows(b []byte, l layout, limit int, lang labels) []byte {
	var remaining []row
	if l.headRows < t.count {
		gap := len(lang.rows(t.count)) + 2
		quarter := (limit - len(b)) / 4
		limit -= gap
		last := t.count
		for left := quarter; t.count-last < min(l.tailRows, len(t.tail)); last-- {
			text := t.appendRow(nil, t.tail[len(t.tail)-1-(t.count-last)], l)
			if left -= len(text) + 1; left < 0 || len(remaining) > 0 && string(remaining[len(remaining)-1].text) == string(text) {
				break
			}
			remaining = append(remaining, row{last - 1, text})
			limit -= len(text) + 1
		}
		left := quarter
		for _, e := range t.errors {
			text := t.appendRow(nil, e.cells, l)
			if e.index >= last || left < len(text)+1+gap {
				continue
			}
			left -= len(text) + 1 + gap
			remaining = append(remaining, row{e.index, text})
			limit -= len(text) + 1 + gap
		}
	}
	slices.SortFunc(remaining, func(x, y row) int { return cmp.Compare(x.index, y.index) })
	shown, equal, before := 0, 0, ""
	for _, cells := range t.head[:min(l.headRows, len(t.head))] {
		text := string(t.appendRow(nil, cells, l))
		if equal++; text != before {
			equal, before = 0, text
		}
		if len(b)+len(text)+1 > limit || equal == equalRows && t.count > firstOfKind {
			break
		}
		if shown > 0 {
			b = append(b, ',')
		}
		b = append(b, text...)
		shown++
	}
	return t.appendRemaining(b, remaining, shown, lang)
}

// appendRemaining writes the rows after the first ones, and how many are missing between them.
func (t *table) appendRemaining(b []byte, remaining []row, next int, lang labels) []byte {
	part := func(text string) {
		if b[len(b)-1] != '[' {
			b = append(b, ',')
		}
		b = append(b, text...)
	}
	for _, r := range remaining {
		if r.index < next {
			continue
		}
		if r.index > next {
			part(lang.rows(r.index - next))
		}
		part(string(r.text))
		next = r.index + 1
	}
	if next < t.count {
		part(lang.rows(t.count - next))
	}
	return b
}

func (t *table) appendRow(b []byte, row []cell, l layout) []byte {
	values := make([]int32, l.columns)
	for _, c := range row {
		if c.field.column >= 0 && c.field.column < l.columns {
			values[c.field.column] = c.value
		}
	}
	b = append(b, '[')
	for i, value := range values {
		if i > 0 {
			b = append(b, ',')
		}
		if value == 0 {
			b = append(b, "null"...)
			continue
		}
		b = appendValue(t.document, b, value, l.maxString+5)
	}
	return append(b, ']')
}
