// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package library

// This file reads and writes tables for the servers of CSV and Markdown.

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"slices"
	"strconv"
	"strings"

	pretty "github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// table is a parsed CSV text; every row is as long as the header.
type table struct {
	header []string
	rows   [][]string
}

func parseCSV(csvText string, comma rune) (table, error) {
	r := csv.NewReader(strings.NewReader(csvText))
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
	return newTable(all[0], all[1:])
}

func newTable(header []string, rows [][]string) (table, error) {
	out := table{header: header}
	for i, row := range rows {
		if len(row) > len(header) {
			return table{}, fmt.Errorf("row %d has %d columns and the header has %d", i+1, len(row), len(header))
		}
		out.rows = append(out.rows, slices.Concat(row, make([]string, len(header)-len(row))))
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
	return newTable(in.Header, in.Rows)
}

// writer hands the table to go-pretty, which draws it.
func (t table) writer() pretty.Writer {
	w := pretty.NewWriter()
	w.Style().Format.Header = text.FormatDefault
	w.AppendHeader(cells(t.header))
	for _, row := range t.rows {
		w.AppendRow(cells(row))
	}
	return w
}

func cells(row []string) pretty.Row {
	out := make(pretty.Row, len(row))
	for i, cell := range row {
		out[i] = cell
	}
	return out
}

func markdownTable(in tableIn) (string, error) {
	t, err := in.table()
	return t.writer().RenderMarkdown(), err
}

func boxTable(in tableIn) (string, error) {
	t, err := in.table()
	return t.writer().Render(), err
}

func writeCSV(rows [][]string) (string, error) {
	var out bytes.Buffer
	w := csv.NewWriter(&out)
	err := w.WriteAll(rows)
	return strings.TrimSuffix(out.String(), "\n"), err
}
