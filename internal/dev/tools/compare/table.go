// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

// Units with columns of their own. "MB/s" says nothing that the time does not.
const (
	timeUnit  = "ns/op"
	bytesUnit = "B/op"
	allocUnit = "allocs/op"
	speedUnit = "MB/s"
)

var header = []string{"work", "Eino", "einolean", "ratio", "Eino B/op", "ours", "Eino allocs/op", "ours"}

// render lays the rows out as a table that is legible as text and as Markdown.
// Below the work stand the metrics that its benchmark reports itself.
func render(rows []row, count int) string {
	cells := [][]string{header}
	for _, r := range rows {
		cells = append(cells, r.main())
		for _, unit := range r.metrics() {
			a, b := r.sides[eino], r.sides[ours]
			line := []string{"  " + unit, plain(a, unit), plain(b, unit), ratio(a, b, unit)}
			cells = append(cells, append(line, "", "", "", ""))
		}
	}
	return layout(cells) + fmt.Sprintf("Median of %d. Ratio: Eino's divided by ours.\n", count)
}

func (r row) main() []string {
	a, b := r.sides[eino], r.sides[ours]
	return []string{r.work, duration(a), duration(b), ratio(a, b, timeUnit),
		plain(a, bytesUnit), plain(b, bytesUnit), plain(a, allocUnit), plain(b, allocUnit)}
}

// metrics are the units of either side that have no column, sorted.
func (r row) metrics() []string {
	units := make(map[string]bool)
	for _, side := range r.sides {
		for unit := range side {
			units[unit] = true
		}
	}
	for _, unit := range []string{timeUnit, bytesUnit, allocUnit, speedUnit} {
		delete(units, unit)
	}
	return slices.Sorted(maps.Keys(units))
}

// duration gives a time per operation in the unit that reads best.
func duration(side map[string]float64) string {
	ns, ok := side[timeUnit]
	switch {
	case !ok:
		return "-"
	case ns < 1e3:
		return figures(ns) + " ns"
	case ns < 1e6:
		return figures(ns/1e3) + " µs"
	case ns < 1e9:
		return figures(ns/1e6) + " ms"
	}
	return figures(ns/1e9) + " s"
}

// plain gives a value in full: whole, or with three digits where it is small.
func plain(side map[string]float64, unit string) string {
	v, ok := side[unit]
	switch {
	case !ok:
		return "-"
	case math.Abs(v) < 100 && v != math.Trunc(v):
		return figures(v)
	}
	return thousands(fmt.Sprintf("%.0f", v))
}

// ratio says how many times as much Eino's is as ours; empty if ours is zero.
func ratio(a, b map[string]float64, unit string) string {
	x, okA := a[unit]
	y, okB := b[unit]
	if !okA || !okB || y == 0 {
		return "-"
	}
	return figures(x/y) + " ×"
}

// figures gives three significant digits, and whole numbers from 100 on.
func figures(v float64) string {
	switch abs := math.Abs(v); {
	case abs >= 99.95:
		return thousands(fmt.Sprintf("%.0f", v))
	case abs >= 9.995:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.2f", v)
}

// thousands separates the digits of a whole number in groups of three.
func thousands(digits string) string {
	sign := ""
	if rest, ok := strings.CutPrefix(digits, "-"); ok {
		sign, digits = "-", rest
	}
	for at := len(digits) - 3; at > 0; at -= 3 {
		digits = digits[:at] + "," + digits[at:]
	}
	return sign + digits
}

// layout aligns the cells: the first column to the left, figures to the right.
// The first row is the header.
func layout(cells [][]string) string {
	widths := make([]int, len(cells[0]))
	for _, line := range cells {
		for i, cell := range line {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	var b strings.Builder
	for n, line := range cells {
		for i, cell := range line {
			b.WriteString("| " + pad(cell, widths[i], i > 0) + " ")
		}
		b.WriteString("|\n")
		if n == 0 {
			b.WriteString(rule(widths))
		}
	}
	return b.String()
}

func pad(cell string, width int, right bool) string {
	space := strings.Repeat(" ", width-utf8.RuneCountInString(cell))
	if right {
		return space + cell
	}
	return cell + space
}

// rule is the line below the header, which says in Markdown where cells align.
func rule(widths []int) string {
	var b strings.Builder
	for i, width := range widths {
		end := "-"
		if i > 0 {
			end = ":"
		}
		b.WriteString("|" + strings.Repeat("-", width+1) + end)
	}
	return b.String() + "|\n"
}
