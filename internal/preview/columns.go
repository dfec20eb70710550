// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package preview

// This file chooses which columns and rows of a table are shown, and writes them.

import (
	"cmp"
	"math"
	"slices"
	"strconv"
)

// cuts are the lengths at which the strings of a table may be cut.
var cuts = []int{40, 60, 90, 140, 240, 480, 1000, 4000}

const (
	// maxColumns is how many columns are tried.
	maxColumns = 64
	// longText is how much of a cell counts in full.
	longText = 60
	// pastLong is what a byte after that counts.
	pastLong = .05
	// ofCut is what a text counts that is cut, times the root of the share that is shown: the
	// start of a message is seldom what it says.
	ofCut = .7
	// fewerRows is how much a layout gains that shows fewer rows with more columns: what is
	// asked is more often further right than further down.
	fewerRows = .15
	// leastTable is the room below which a table is useless.
	leastTable = 200
	// headRoom is more than the keys after the common values take in any language.
	headRoom = 80
)

// layout is a choice of columns, of rows, and of a length of strings.
type layout struct {
	columns int
	cut     int // of strings, in bytes
	rows    int // from the start
	last    int // from the end
	worth   float64
}

// appendTable writes the table in at most room bytes. ok is false if it does not fit.
func (t *table) appendTable(b []byte, room int, say labels) (out []byte, ok bool) {
	start := len(b)
	if room < leastTable {
		return b, false
	}
	room -= len(`]}`) // the end
	columns, same := t.chooseColumns()
	b = append(b, '{')
	if t.list > 0 {
		if rest := t.appendRest(nil, room/4); len(rest) > len(`{}`) {
			b = append(append(append(b, say.key("rest")...), rest...), ',')
		}
		b = append(b, say.key("list")...)
		b = append(appendString(b, t.path(t.list), room/8, false), ',')
	}
	b = append(b, say.key("count")...)
	b = strconv.AppendInt(b, int64(t.count), 10)
	if t.cut {
		b = append(append(append(b, ','), say.key("cut")...), say.value("cut")...)
	}
	b = t.appendSame(b, same, room/8, say)
	l := t.choose(columns, room-(len(b)-start))
	if l.columns == 0 {
		return b[:start], false
	}
	b = t.appendColumns(b, columns, l.columns, say)
	b = append(append(b, ','), say.key("rows")...)
	b = append(b, '[')
	b = t.appendRows(b, l, start+room, say)
	return append(b, `]}`...), true
}

// chooseColumns orders the fields that differ by what they tell, and lists those that are
// the same in all records.
func (t *table) chooseColumns() (columns, same []*field) {
	for _, f := range t.root.leaves(nil) {
		if f.seen == t.count && !f.differs && f != t.key {
			same = append(same, f)
			continue
		}
		f.weight = t.weigh(f)
		if f == t.key {
			f.weight = 1.2
		}
		columns = append(columns, f)
	}
	slices.SortStableFunc(columns, func(a, b *field) int { return cmp.Compare(b.weight, a.weight) })
	if len(columns) == 0 { // all records are equal
		columns, same = same, nil
	}
	return columns, same
}

// appendRest writes the document without the list.
func (t *table) appendRest(b []byte, room int) []byte {
	rest := *t.document
	rest.skip = t.list
	return rest.appendValue(b, 0, max(room, leastValue))
}

// appendSame writes what all records share, once.
func (t *table) appendSame(b []byte, same []*field, room int, say labels) []byte {
	start := len(b)
	for _, f := range same {
		had := len(b)
		if had == start {
			b = append(append(append(b, ','), say.key("same")...), '{')
		} else {
			b = append(b, ',')
		}
		b = append(appendString(b, f.path, room, false), ':')
		b = t.appendValue(b, f.first, max(room/2, leastValue))
		if len(b)-start+1 > room {
			b = b[:had]
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
func (t *table) appendColumns(b []byte, columns []*field, shown int, say labels) []byte {
	for i, f := range columns[:shown] {
		if f.column = i; i == 0 {
			b = append(append(append(b, ','), say.key("columns")...), '[')
		} else {
			b = append(b, ',')
		}
		b = appendString(b, f.path, longText, false)
	}
	b = append(b, ']')
	if shown == len(columns) {
		return b
	}
	b = append(append(append(b, ','), say.key("left out")...), '"')
	start := len(b)
	for i, f := range columns[shown:] {
		if len(b)-start+len(f.path) > leftOutRoom-16 {
			b = append(b, more+" +"...)
			b = strconv.AppendInt(b, int64(len(columns)-shown-i), 10)
			break
		}
		if i > 0 {
			b = append(b, ' ')
		}
		had := len(b)
		b = appendString(b, f.path, leftOutRoom, false)
		b = append(b[:had], b[had+1:len(b)-1]...) // without its quotes
	}
	return append(b, '"')
}

// choose tries every length of strings with every number of columns.
func (t *table) choose(columns []*field, room int) (best layout) {
	columns = columns[:min(len(columns), maxColumns)] // more than that are not worth a try
	for i, f := range columns {
		f.column = i
	}
	head, tail := t.grid(t.head, len(columns)), t.grid(t.tail, len(columns))
	slices.Reverse(tail)
	for _, cut := range cuts {
		l := t.tryCut(columns, [2][][]int32{head, tail}, room, cut)
		if l.worth > best.worth {
			best = l
		}
	}
	for _, f := range columns {
		f.column = -1
	}
	return best
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

// tryCut finds the best number of columns for one length of strings.
func (t *table) tryCut(columns []*field, grid [2][][]int32, room, cut int) (best layout) {
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
		square := f.weight * f.weight
		for side := range grid {
			for r := range fit[side] {
				n := int(grid[side][r][c])
				shown := min(n, cut+5)
				if n == 0 {
					shown = len("null")
				}
				if cost[side][r] += shown + 1; cost[side][r] > available {
					fit[side] = r
					break
				}
				worth[side][r] += square * textWorth(n, cut)
			}
		}
		l := t.fill(cost, worth, fit, available)
		if shown := l.rows + l.last; shown > 0 {
			l.worth *= math.Pow(float64(t.count)/float64(shown), fewerRows)
		}
		if l.columns, l.cut = c+1, cut; l.worth > best.worth {
			best = l
		}
	}
	return best
}

// textWorth is what a cell of n bytes counts if texts are cut.
func textWorth(n, cut int) float64 {
	w := float64(min(n, longText)) + pastLong*float64(max(0, min(n, cut)-longText))
	if n > cut+5 {
		w *= ofCut * math.Sqrt(float64(cut)/float64(n))
	}
	return w
}

// fill takes rows from the start and the last quarter from the end.
func (t *table) fill(cost [2][]int, worth [2][]float64, fit [2]int, room int) (l layout) {
	used := 0
	take := func(side, limit int) (n int) {
		for n < fit[side] && used+cost[side][n]+2 <= limit {
			used += cost[side][n] + 2
			l.worth += worth[side][n]
			n++
		}
		return n
	}
	l.rows = take(0, room)
	if l.rows == t.count {
		return l
	}
	used, l.worth = 0, 0
	l.rows = take(0, room*3/4)
	l.last = min(take(1, room), t.count-l.rows)
	return l
}

// row is a record as it is shown.
type row struct {
	at   int
	text []byte
}

// appendRows writes the rows, up to the given length of b: from the start as many as
// fit, and, if not all do, a quarter of the room each for the end and for errors.
func (t *table) appendRows(b []byte, l layout, limit int, say labels) []byte {
	var behind []row
	if l.rows < t.count {
		gap := len(say.rows(t.count)) + 2
		quarter := (limit - len(b)) / 4
		limit -= gap
		last := t.count
		for left := quarter; t.count-last < min(l.last, len(t.tail)); last-- {
			text := t.appendRow(nil, t.tail[len(t.tail)-1-(t.count-last)], l)
			if left -= len(text) + 1; left < 0 {
				break
			}
			behind = append(behind, row{last - 1, text})
			limit -= len(text) + 1
		}
		left := quarter
		for _, e := range t.errors {
			text := t.appendRow(nil, e.cells, l)
			if e.at >= last || left < len(text)+1+gap {
				continue
			}
			left -= len(text) + 1 + gap
			behind = append(behind, row{e.at, text})
			limit -= len(text) + 1 + gap
		}
	}
	slices.SortFunc(behind, func(x, y row) int { return cmp.Compare(x.at, y.at) })
	shown := 0
	for _, cells := range t.head[:min(l.rows, len(t.head))] {
		had := len(b)
		if shown > 0 {
			b = append(b, ',')
		}
		if b = t.appendRow(b, cells, l); len(b) > limit {
			b = b[:had]
			break
		}
		shown++
	}
	return t.appendBehind(b, behind, shown, say)
}

// appendBehind writes rows after the first ones, and says how many are missing between
// them.
func (t *table) appendBehind(b []byte, behind []row, next int, say labels) []byte {
	part := func(text string) {
		if b[len(b)-1] != '[' {
			b = append(b, ',')
		}
		b = append(b, text...)
	}
	for _, r := range behind {
		if r.at < next {
			continue
		}
		if r.at > next {
			part(say.rows(r.at - next))
		}
		part(string(r.text))
		next = r.at + 1
	}
	if next < t.count {
		part(say.rows(t.count - next))
	}
	return b
}

// appendRow writes one record.
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
		b = t.appendValue(b, value, l.cut+5)
	}
	return append(b, ']')
}
