// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package library

// This file reads and writes tables for the servers of CSV and Markdown.

import (
	"encoding/csv"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// table is a parsed CSV text; every row is as long as the header.
type table struct {
	header []string
	rows   [][]string
}

func parseCSV(text string, comma rune) (table, error) {
	r := csv.NewReader(strings.NewReader(text))
	r.Comma, r.FieldsPerRecord, r.TrimLeadingSpace = comma, -1, true
	all, err := r.ReadAll()
	if err != nil {
		return table{}, fmt.Errorf("the text is not valid CSV: %w", err)
	}
	if len(all) == 0 {
		return table{}, fmt.Errorf("the table is empty; its first line must name the columns")
	}
	if len(all)*len(all[0]) > 200_000 {
		return table{}, fmt.Errorf("the table has %d cells; at most 200000 are read", len(all)*len(all[0]))
	}
	out := table{header: all[0], rows: all[1:]}
	for i, row := range out.rows {
		if len(row) > len(out.header) {
			return table{}, fmt.Errorf("row %d has %d columns and the header has %d", i+1, len(row), len(out.header))
		}
		out.rows[i] = append(row, make([]string, len(out.header)-len(row))...)
	}
	return out, nil
}

func (t table) column(name string) (int, error) {
	for i, h := range t.header {
		if strings.EqualFold(strings.TrimSpace(h), strings.TrimSpace(name)) {
			return i, nil
		}
	}
	return 0, fmt.Errorf("there is no column %q; the columns are: %s", name, strings.Join(t.header, ", "))
}

func (t table) write() (string, error) { return writeCSV(append([][]string{t.header}, t.rows...)) }

// numbers gives a column's numbers, and whether all its cells are numbers.
func (t table) numbers(column int) ([]float64, bool) {
	var out []float64
	for _, row := range t.rows {
		n, err := strconv.ParseFloat(strings.TrimSpace(row[column]), 64)
		if err != nil {
			return out, false
		}
		out = append(out, n)
	}
	return out, len(out) > 0
}

type tableIn struct {
	Header []string   `json:"header" jsonschema:"minItems=1" jsonschema_description:"The names of the columns"`
	Rows   [][]string `json:"rows" jsonschema_description:"The rows, each a list of cells"`
}

func (in tableIn) table() (table, error) {
	if len(in.Header)*(len(in.Rows)+1) > 20_000 {
		return table{}, fmt.Errorf("the table has more than 20000 cells")
	}
	out := table{header: in.Header}
	for i, row := range in.Rows {
		if len(row) > len(in.Header) {
			return table{}, fmt.Errorf("row %d has %d cells and the header has %d", i+1, len(row), len(in.Header))
		}
		out.rows = append(out.rows, append(append([]string{}, row...), make([]string, len(in.Header)-len(row))...))
	}
	return out, nil
}

func (t table) markdown() string {
	var out strings.Builder
	line := func(cells []string) {
		for _, cell := range cells {
			out.WriteString("| " + strings.NewReplacer("|", `\|`, "\n", " ").Replace(cell) + " ")
		}
		out.WriteString("|\n")
	}
	line(t.header)
	out.WriteString(strings.Repeat("| --- ", len(t.header)) + "|\n")
	for _, row := range t.rows {
		line(row)
	}
	return strings.TrimSuffix(out.String(), "\n")
}

func markdownTable(in tableIn) (string, error) {
	t, err := in.table()
	return t.markdown(), err
}

func boxTable(in tableIn) (string, error) {
	t, err := in.table()
	if err != nil {
		return "", err
	}
	all := append([][]string{t.header}, t.rows...)
	widths := make([]int, len(t.header))
	for _, row := range all {
		for i, cell := range row {
			if widths[i] = max(widths[i], utf8.RuneCountInString(cell)); widths[i] > 200 {
				return "", fmt.Errorf("a cell has more than 200 characters")
			}
		}
	}
	rule := "+"
	for _, w := range widths {
		rule += strings.Repeat("-", w+2) + "+"
	}
	out := []string{rule}
	for n, row := range all {
		line := "|"
		for i, cell := range row {
			line += " " + cell + strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell)) + " |"
		}
		if out = append(out, line); n == 0 {
			out = append(out, rule)
		}
	}
	return strings.Join(append(out, rule), "\n"), nil
}
