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

var (
	einoHeader = []string{"work", "Eino", "einolean", "ratio", "95 % interval",
		"Eino B/op", "ours", "Eino allocs/op", "ours"}
	commitsHeader = []string{"work", "base", "now", "ratio", "95 % interval", "verdict",
		"B/op", "change", "allocs/op", "change"}
)

// renderEino lays the rows out as a table that is legible as text and as
// Markdown: a is Eino's side, b is ours. Below the work stand the metrics that
// its benchmark reports itself.
func renderEino(rows []row) string {
	cells := [][]string{einoHeader}
	for _, r := range rows {
		ratio, interval, _ := compareUnit(r.a, r.b, timeUnit)
		cells = append(cells, []string{r.work, duration(r.a), duration(r.b), ratio, interval,
			formatMedian(r.a, bytesUnit), formatMedian(r.b, bytesUnit), formatMedian(r.a, allocUnit), formatMedian(r.b, allocUnit)})
		for _, unit := range r.metrics() {
			ratio, interval, _ := compareUnit(r.a, r.b, unit)
			cells = append(cells, []string{"  " + unit, formatMedian(r.a, unit), formatMedian(r.b, unit), ratio, interval,
				"", "", "", ""})
		}
	}
	return layout(cells) +
		fmt.Sprintf("Medians of %d. Ratio: Eino's divided by ours, geometric mean of the pairs.\n", pairs(rows))
}

// renderCommits is the same for a commit, a, and the working tree, b. Bytes and
// allocations are those of the working tree, with the difference from the commit.
func renderCommits(rows []row, onlyBase, onlyNow []string) string {
	var b strings.Builder
	if len(rows) > 0 {
		cells := [][]string{commitsHeader}
		for _, r := range rows {
			ratio, interval, verdict := compareUnit(r.b, r.a, timeUnit)
			cells = append(cells, []string{r.work, duration(r.a), duration(r.b), ratio, interval, verdict,
				formatMedian(r.b, bytesUnit), change(r.a, r.b, bytesUnit), formatMedian(r.b, allocUnit), change(r.a, r.b, allocUnit)})
			for _, unit := range r.metrics() {
				ratio, interval, _ := compareUnit(r.b, r.a, unit)
				cells = append(cells, []string{"  " + unit, formatMedian(r.a, unit), formatMedian(r.b, unit), ratio, interval,
					"", "", "", "", ""})
			}
		}
		b.WriteString(layout(cells))
		fmt.Fprintf(&b, "Medians of %d. Ratio: now divided by base, geometric mean of the pairs.\n", pairs(rows))
		b.WriteString("Where nothing changed, about 1 row of 20 is still called slower or faster.\n")
	}
	for _, work := range onlyBase {
		fmt.Fprintf(&b, "Only in the base: %s\n", work)
	}
	for _, work := range onlyNow {
		fmt.Fprintf(&b, "Not in the base: %s\n", work)
	}
	return b.String()
}

// compareUnit returns the cells for the ratio of one unit; a dash where it is unknown.
func compareUnit(over, under series, unit string) (ratio, interval, verdict string) {
	e, ok := estimateRatio(over[unit], under[unit])
	switch {
	case !ok:
		return "-", "-", "-"
	case math.IsInf(e.high, 1):
		return factor(e.ratio) + " ×", "-", "-"
	}
	return factor(e.ratio) + " ×", factor(e.low) + "–" + factor(e.high), e.verdict()
}

// change is the difference of the medians, with its sign.
func change(from, to series, unit string) string {
	x, okX := from.median(unit)
	y, okY := to.median(unit)
	switch {
	case !okX || !okY:
		return "-"
	case y > x:
		return "+" + number(y-x)
	}
	return number(y - x)
}

// pairs is the largest number of runs of a benchmark.
func pairs(rows []row) int {
	var most int
	for _, r := range rows {
		for _, values := range r.a {
			most = max(most, len(values))
		}
	}
	return most
}

// metrics are the units of either side that have no column, sorted.
func (r row) metrics() []string {
	units := make(map[string]bool)
	for _, side := range []series{r.a, r.b} {
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
func duration(side series) string {
	ns, ok := side.median(timeUnit)
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

// formatMedian gives a median in full.
func formatMedian(side series, unit string) string {
	v, ok := side.median(unit)
	if !ok {
		return "-"
	}
	return number(v)
}

// number gives a value in full: whole, or with three digits where it is small.
func number(v float64) string {
	if math.Abs(v) < 100 && v != math.Trunc(v) {
		return figures(v)
	}
	return thousands(fmt.Sprintf("%.0f", v))
}

// factor gives a ratio with three decimals where it is small: most differences
// between two commits are a few percent.
func factor(v float64) string {
	if v < 9.9995 {
		return fmt.Sprintf("%.3f", v)
	}
	return figures(v)
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
