// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package library

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/big"
	"net"
	"net/netip"
	"reflect"
	"slices"
	"strings"

	pretty "github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/ohler55/ojg/jp"
	"go4.org/netipx"
)

func documentTools() map[string]work {
	return map[string]work{
		"json__get": newWork(func(in struct {
			JSON string `json:"json"`
			Path string `json:"path"`
		}) (string, error) {
			return getJSON(in.JSON, in.Path)
		}),
		"json__diff": newWork(func(in pairOf[string]) (string, error) {
			first, err := parseJSON(in.First)
			second, another := parseJSON(in.Second)
			return diffJSON(first, second), cmp.Or(err, another)
		}),
		"csv__to_json":     newWork(csvIn.toJSON),
		"csv__to_markdown": newWork(csvIn.toMarkdown),
		"network__cidr_info": newWork(func(in struct {
			Network string `json:"network"`
		}) (string, error) {
			p, err := netip.ParsePrefix(strings.TrimSpace(in.Network))
			if err != nil {
				return "", fmt.Errorf("%q is not a network in CIDR notation such as 10.0.0.0/8", in.Network)
			}
			p = p.Masked()
			size := new(big.Int).Lsh(big.NewInt(1), uint(p.Addr().BitLen()-p.Bits()))
			out := fmt.Sprintf("network: %s\nfirst: %s\nlast: %s\naddresses: %s", p, p.Addr(), netipx.PrefixLastIP(p), size)
			if p.Addr().Is4() {
				hosts := size.Int64()
				if hosts > 2 {
					hosts -= 2 // the network's own address and the one of everybody
				}
				out += fmt.Sprintf("\nmask: %s\nusable hosts: %d", net.IP(net.CIDRMask(p.Bits(), 32)), hosts)
			}
			return out, nil
		}),
	}
}

// parseJSON keeps numbers as they were written.
func parseJSON(text string) (any, error) {
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	var v any
	err := dec.Decode(&v)
	if err == nil {
		if _, more := dec.Token(); !errors.Is(more, io.EOF) {
			err = errors.New("there is more text after the document")
		}
	}
	if err != nil {
		return nil, fmt.Errorf("the text is not valid JSON: %w", err)
	}
	return v, nil
}

// writeJSON writes a document in one line.
func writeJSON(v any) string {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return fmt.Sprint(v) // a number beyond what JSON can say
	}
	return strings.TrimSuffix(out.String(), "\n")
}

// indented writes a document over many lines, unless deep nesting makes it too long.
func indented(v any) string {
	var out bytes.Buffer
	line := writeJSON(v)
	if err := json.Indent(&out, []byte(line), "", "  "); err != nil || out.Len() > maxAnswer {
		return line
	}
	return out.String()
}

// getJSON finds what a JSONPath leads to.
func getJSON(document, path string) (string, error) {
	doc, err := parseJSON(document)
	if err != nil {
		return "", err
	}
	steps, err := jp.ParseString(strings.TrimPrefix(path, "."))
	if err != nil {
		return "", fmt.Errorf("%q is not a path such as users[0].name", path)
	}
	if len(steps) == 0 || steps[0] != jp.Root('$') {
		steps = append(jp.R(), steps...)
	}
	var found any = steps.Get(doc)
	switch all := found.([]any); {
	case len(all) == 0:
		return "", missing(doc, steps)
	case steps.Normal():
		found = all[0]
	}
	if text, ok := found.(string); ok {
		return text, nil
	}
	return indented(found), nil
}

// missing says where a path leaves the document.
func missing(doc any, path jp.Expr) error {
	for n := len(path) - 1; n > 0; n-- {
		if object, ok := path[:n].First(doc).(map[string]any); ok {
			return fmt.Errorf("there is no key %q; the keys are: %s", strings.Trim(path[n:n+1].String(), `."[]'`), strings.Join(slices.Sorted(maps.Keys(object)), ", "))
		}
	}
	return fmt.Errorf("nothing in the document is at %s", path)
}

// diffJSON lists the differences of two documents, path by path.
func diffJSON(first, second any) string {
	a, b := leaves(first), leaves(second)
	var out []string
	for _, path := range slices.Sorted(maps.Keys(a)) {
		if other, ok := b[path]; !ok {
			out = append(out, fmt.Sprintf("- %s: %s", path, writeJSON(a[path])))
		} else if !reflect.DeepEqual(a[path], other) {
			out = append(out, fmt.Sprintf("~ %s: %s -> %s", path, writeJSON(a[path]), writeJSON(other)))
		}
	}
	for _, path := range slices.Sorted(maps.Keys(b)) {
		if _, ok := a[path]; !ok {
			out = append(out, fmt.Sprintf("+ %s: %s", path, writeJSON(b[path])))
		}
	}
	return listed(out, "no differences")
}

// leaves are the values of a document that hold no others, by their paths.
func leaves(doc any) map[string]any {
	out := map[string]any{}
	jp.Walk(doc, func(path jp.Expr, value any) { out[strings.TrimPrefix(path.String(), "$.")] = value }, true)
	return out
}

type csvIn struct {
	CSV string `json:"csv"`
}

// rows reads the table; every row is as long as the first one, the header.
func (in csvIn) rows() ([][]string, error) {
	r := csv.NewReader(strings.NewReader(in.CSV))
	r.FieldsPerRecord, r.TrimLeadingSpace = -1, true
	all, err := r.ReadAll()
	switch {
	case err != nil:
		return nil, fmt.Errorf("the text is not valid CSV: %w", err)
	case len(all) == 0:
		return nil, errors.New("the table is empty; its first line must name the columns")
	case len(all)*len(all[0]) > 200_000:
		return nil, fmt.Errorf("the table has %d cells; at most 200000 are read", len(all)*len(all[0]))
	}
	columns := len(all[0])
	for i, row := range all {
		if len(row) > columns {
			return nil, fmt.Errorf("row %d has %d columns and the header has %d", i, len(row), columns)
		}
		all[i] = append(row, make([]string, columns-len(row))...)
	}
	return all, nil
}

func (in csvIn) toJSON() (string, error) {
	rows, err := in.rows()
	if err != nil {
		return "", err
	}
	return indented(mapSlice(rows[1:], func(row []string) map[string]string {
		object := map[string]string{}
		for i, name := range rows[0] {
			object[name] = row[i]
		}
		return object
	})), nil
}

func (in csvIn) toMarkdown() (string, error) {
	rows, err := in.rows()
	if err != nil {
		return "", err
	}
	w := pretty.NewWriter()
	w.Style().Format.Header = text.FormatDefault
	cells := func(row []string) pretty.Row { return mapSlice(row, func(cell string) any { return cell }) }
	w.AppendHeader(cells(rows[0]))
	for _, row := range rows[1:] {
		w.AppendRow(cells(row))
	}
	return w.RenderMarkdown(), nil
}
