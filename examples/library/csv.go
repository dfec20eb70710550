// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package library

// This file is the server of CSV tables, and reads and writes tables for other servers.

import (
	"encoding/csv"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	pretty "github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

var csvServer = group{"csv", "CSV tables", []maker{
	define("csv__describe", "Describes a CSV table: its columns, the number of rows, and the range and mean of numeric columns.",
		func(in csvIn) (string, error) {
			t := in.CSV
			columns := times(len(t.header), func(i int) string {
				if n, ok := t.numbers(i); ok {
					return fmt.Sprintf("%s: number from %s to %s, mean %s", t.header[i], plain(slices.Min(n)), plain(slices.Max(n)), plain(mean(n)))
				}
				return t.header[i] + ": text"
			})
			return fmt.Sprintf("%s, %s\n%s", counted(len(t.rows), "row"), counted(len(t.header), "column"), strings.Join(columns, "\n")), nil
		}),
	define("csv__to_json", "Turns a CSV table with a header line into a JSON array of objects.", func(in csvIn) (string, error) {
		return indentJSON(each(in.CSV.rows, func(row []string) map[string]string {
			object := map[string]string{}
			for i, name := range in.CSV.header {
				object[name] = row[i]
			}
			return object
		}))
	}),
	define("csv__select_columns", "Keeps only some columns of a CSV table, in the order asked for.", func(in struct {
		csvIn
		Columns []string `json:"columns" jsonschema:"minItems=1" jsonschema_description:"The names of the columns to keep"`
	}) (string, error) {
		t := in.CSV
		if len(in.Columns) > 1000 || len(in.Columns)*(len(t.rows)+1) > 200_000 {
			return "", fmt.Errorf("%d columns are more than can be selected", len(in.Columns))
		}
		out := table{rows: make([][]string, len(t.rows))}
		for _, name := range in.Columns {
			c, err := t.column(name)
			if err != nil {
				return "", err
			}
			out.header = append(out.header, t.header[c])
			for i, row := range t.rows {
				out.rows[i] = append(out.rows[i], row[c])
			}
		}
		return out.write()
	}),
	define("csv__filter_rows", "Keeps the rows of a CSV table whose column meets a condition.", func(in struct {
		oneColumnIn
		Operator string `json:"operator" jsonschema:"enum=equals,enum=not_equals,enum=contains,enum=greater,enum=less" jsonschema_description:"How the cell is compared with the value"`
		Value    string `json:"value" jsonschema_description:"The value to compare with"`
	}) (string, error) {
		t := in.CSV
		c, err := t.column(in.Column)
		if err != nil {
			return "", err
		}
		keep := map[string]func(cell string) bool{
			"equals":     func(cell string) bool { return strings.EqualFold(cell, in.Value) },
			"not_equals": func(cell string) bool { return !strings.EqualFold(cell, in.Value) },
			"contains":   func(cell string) bool { return strings.Contains(strings.ToLower(cell), strings.ToLower(in.Value)) },
			"greater":    func(cell string) bool { return lessCell(in.Value, cell) },
			"less":       func(cell string) bool { return lessCell(cell, in.Value) },
		}[in.Operator]
		t.rows = slices.DeleteFunc(t.rows, func(row []string) bool { return !keep(row[c]) })
		return t.write()
	}),
	define("csv__sort_rows", "Sorts the rows of a CSV table by a column, as numbers where they are numbers.", func(in struct {
		oneColumnIn
		Descending bool `json:"descending,omitempty" jsonschema_description:"Whether the largest comes first"`
	}) (string, error) {
		t := in.CSV
		c, err := t.column(in.Column)
		if err != nil {
			return "", err
		}
		arrange(t.rows, in.Descending, func(a, b []string) bool { return lessCell(a[c], b[c]) })
		return t.write()
	}),
	define("csv__group_by", "Groups the rows of a CSV table by a column and counts, sums or averages another.", func(in struct {
		oneColumnIn
		Operation   string `json:"operation,omitempty" jsonschema:"enum=count,enum=sum,enum=mean,enum=min,enum=max,default=count" jsonschema_description:"What to compute for each group"`
		ValueColumn string `json:"value_column,omitempty" jsonschema_description:"The numeric column to compute over; not needed to count"`
	}) (string, error) {
		t := in.CSV
		c, err := t.column(in.Column)
		if err != nil {
			return "", err
		}
		value := c
		if in.Operation != "count" {
			if value, err = t.column(in.ValueColumn); err != nil {
				return "", err
			}
		}
		groups := map[string][][]string{}
		for _, row := range t.rows {
			groups[row[c]] = append(groups[row[c]], row)
		}
		out := table{header: []string{t.header[c], in.Operation}}
		for _, name := range slices.Sorted(maps.Keys(groups)) {
			result := strconv.Itoa(len(groups[name]))
			if in.Operation != "count" {
				n, ok := table{rows: groups[name]}.numbers(value)
				if !ok {
					return "", fmt.Errorf("column %q holds something that is no number in group %q", in.ValueColumn, name)
				}
				result = plain(aggregates[in.Operation](n))
			}
			out.rows = append(out.rows, []string{name, result})
		}
		return out.write()
	}),
	define("csv__transpose", "Swaps the rows and columns of a CSV table.", func(in csvIn) (string, error) {
		out := make([][]string, len(in.CSV.header))
		for i, name := range in.CSV.header {
			out[i] = append([]string{name}, each(in.CSV.rows, func(row []string) string { return row[i] })...)
		}
		return writeCSV(out, ',')
	}),
	define("csv__to_markdown", "Turns a CSV table into a Markdown table.",
		func(in csvIn) (string, error) { return in.CSV.writer().RenderMarkdown(), nil }),
	define("csv__change_separator", "Rewrites a table from one separator to another, such as semicolons to commas.", func(in struct {
		CSV  string `json:"csv" jsonschema_description:"The table as CSV text, with a header line"`
		From string `json:"from" jsonschema:"enum=comma,enum=semicolon,enum=tab,enum=pipe" jsonschema_description:"The separator the table has"`
		To   string `json:"to" jsonschema:"enum=comma,enum=semicolon,enum=tab,enum=pipe" jsonschema_description:"The separator wanted"`
	}) (string, error) {
		marks := map[string]rune{"comma": ',', "semicolon": ';', "tab": '\t', "pipe": '|'}
		t, err := parseCSV(in.CSV, marks[in.From])
		if err != nil {
			return "", err
		}
		return writeCSV(append([][]string{t.header}, t.rows...), marks[in.To])
	}),
	define("csv__join", "Joins two CSV tables on a column that both have.", func(in struct {
		First  string `json:"first" jsonschema_description:"The first table as CSV"`
		Second string `json:"second" jsonschema_description:"The second table as CSV"`
		Column string `json:"column" jsonschema_description:"The column that both tables have"`
	}) (string, error) {
		a, ca, err := columnOf(in.First, in.Column)
		if err != nil {
			return "", fmt.Errorf("the first table: %w", err)
		}
		b, cb, err := columnOf(in.Second, in.Column)
		if err != nil {
			return "", fmt.Errorf("the second table: %w", err)
		}
		partners := map[string][][]string{}
		for _, row := range b.rows {
			partners[row[cb]] = append(partners[row[cb]], slices.Delete(slices.Clone(row), cb, cb+1))
		}
		out := table{header: slices.Concat(a.header, slices.Delete(slices.Clone(b.header), cb, cb+1))}
		for _, row := range a.rows {
			for _, partner := range partners[row[ca]] {
				if out.rows = append(out.rows, slices.Concat(row, partner)); len(out.rows) > 10_000 {
					return "", fmt.Errorf("the joined table would have more than 10000 rows")
				}
			}
		}
		return out.write()
	}),
	define("csv__unique_values", "Lists the distinct values of a column of a CSV table with their counts.", func(in oneColumnIn) (string, error) {
		c, err := in.CSV.column(in.Column)
		counts := tally(each(in.CSV.rows, func(row []string) string { return row[c] }))
		return ranked(counts, len(counts)), err
	}),
}}

type csvIn struct {
	CSV csvText `json:"csv" jsonschema_description:"The table as CSV text, with a header line"`
}

// csvText is an argument that is a table.
type csvText struct {
	written
	table
}

// UnmarshalJSON reads the table.
func (t *csvText) UnmarshalJSON(sent []byte) error {
	return decodeText(sent, &t.written, &t.table, func(text string) (table, error) { return parseCSV(text, ',') })
}

type oneColumnIn struct {
	csvIn
	Column string `json:"column" jsonschema_description:"The name of the column"`
}

var aggregates = map[string]func([]float64) float64{"sum": sum, "mean": mean, "min": slices.Min[[]float64], "max": slices.Max[[]float64]}

// columnOf reads a table and finds a column of it.
func columnOf(csvText, name string) (table, int, error) {
	t, err := parseCSV(csvText, ',')
	if err != nil {
		return t, 0, err
	}
	c, err := t.column(name)
	return t, c, err
}

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

func (t table) write() (string, error) { return writeCSV(append([][]string{t.header}, t.rows...), ',') }

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

func cells(row []string) pretty.Row { return each(row, func(cell string) any { return cell }) }

func markdownTable(in tableIn) (string, error) {
	t, err := in.table()
	return t.writer().RenderMarkdown(), err
}

func boxTable(in tableIn) (string, error) {
	t, err := in.table()
	return t.writer().Render(), err
}

func writeCSV(rows [][]string, comma rune) (string, error) {
	var out strings.Builder
	w := csv.NewWriter(&out)
	w.Comma = comma
	err := w.WriteAll(rows)
	return strings.TrimSuffix(out.String(), "\n"), err
}
