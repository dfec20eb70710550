// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package main

// Formatting results: colors, widths and JSON.

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strconv"

	"golang.org/x/term"

	"github.com/einolean/einolean/internal/display"
)

// options are those that all commands have.
type options struct {
	json, schema, quiet bool
	color               string
}

// colored reports whether to write colors to w. It fails if the value of the option is unknown.
func (o options) colored(w io.Writer) (colored bool, err error) {
	switch o.color {
	case "always":
		return true, nil
	case "never":
		return false, nil
	case "auto":
		return os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" && isTerminal(w), nil
	}
	return false, fail(exitUsage, "--color is auto, always or never, not %q", o.color)
}

func isTerminal(w io.Writer) bool {
	file, ok := fileOf(w)
	return ok && term.IsTerminal(int(file.Fd()))
}

// fileOf returns the file behind a writer, if there is one.
func fileOf(w io.Writer) (*os.File, bool) {
	if o, ok := w.(*output); ok {
		w = o.w
	}
	file, ok := w.(*os.File)
	return file, ok
}

// The widths to write for: that of a file, and the least in which lines fit.
const (
	defaultColumns = 100
	leastColumns   = 40
)

// columns is the width to write for: COLUMNS, or the width of the terminal that w is, or
// 100.
func columns(w io.Writer) int {
	if n, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && n >= leastColumns {
		return n
	}
	if file, ok := fileOf(w); ok && isTerminal(w) {
		if n, _, err := term.GetSize(int(file.Fd())); err == nil && n > 0 {
			return max(leastColumns, n)
		}
	}
	return defaultColumns
}

// note writes a message, unless --quiet is set.
func (o options) note(s streams, format string, args ...any) {
	if !o.quiet {
		fmt.Fprintln(s.err, printableMessage(format, args))
	}
}

// output is where results go. It keeps the first write error, so that callers need not check every line.
type output struct {
	w   io.Writer
	err error
}

func (o *output) Write(p []byte) (int, error) {
	if o.err != nil {
		return 0, o.err
	}
	n, err := o.w.Write(p)
	o.err = err
	return n, err
}

// writeJSON writes v as one object in which nothing acts on a terminal.
func writeJSON(w io.Writer, v any) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetIndent("", "  ")
	if err := e.Encode(v); err != nil {
		return err
	}
	_, err := w.Write(display.JSON(b.Bytes()))
	return err
}

// appendZero appends a zero element to a list and returns its address.
func appendZero[T any](list *[]T) *T {
	*list = append(*list, *new(T))
	return &(*list)[len(*list)-1]
}

// painter colors text, or leaves it plain.
type painter bool

func (p painter) paint(code, text string) string {
	if !p || text == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

func (p painter) bold(text string) string  { return p.paint("1", text) }
func (p painter) dim(text string) string   { return p.paint("2", text) }
func (p painter) red(text string) string   { return p.paint("31", text) }
func (p painter) green(text string) string { return p.paint("32", text) }
func (p painter) cyan(text string) string  { return p.paint("36", text) }

// clip is the start of a text.
func clip(text string, runes int) string {
	r := []rune(text)
	if len(r) <= runes {
		return text
	}
	return string(r[:max(0, runes-1)]) + "…"
}

// plural formats a count with its noun.
func plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return display.Grouped(n) + " " + word + "s"
}

// are formats a count with its noun and verb.
func are(n int, word string) string {
	if n == 1 {
		return plural(n, word) + " is"
	}
	return plural(n, word) + " are"
}
