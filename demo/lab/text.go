// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package lab

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/einolean/einolean/demo/offline"
)

// Width is how many columns a line has.
const Width = 88

// Did says what the model did in a turn: a line for each call, or that it answers.
func Did(t offline.Turn) (out []string) {
	for _, c := range t.Calls {
		out = append(out, c.Name+" "+brief(c))
	}
	if len(out) == 0 {
		out = append(out, "answers")
	}
	return out
}

// brief shortens the long texts among the arguments.
func brief(c offline.Call) string {
	var args map[string]any
	if json.Unmarshal([]byte(c.Args), &args) != nil {
		return c.Args
	}
	for name, v := range args {
		if text, ok := v.(string); ok && utf8.RuneCountInString(text) > 40 {
			args[name] = string([]rune(text)[:30]) + "…"
		}
	}
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if enc.Encode(args) != nil {
		return c.Args
	}
	return strings.TrimSpace(b.String())
}

// Ratio is how many times b goes into a, with one decimal.
func Ratio(a, b int) string { return fmt.Sprintf("%.1fx", float64(a)/float64(max(b, 1))) }

// Thousands writes 12345 as 12,345.
func Thousands(n int) string {
	text := fmt.Sprint(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// Wrap cuts text into lines of at most the given columns, after a comma or a blank
// where there is one. Further lines are set in by two columns.
func Wrap(text string, columns int) (out []string) {
	for {
		end := fitting(text, columns)
		if end == len(text) {
			return append(out, text)
		}
		if at := strings.LastIndexAny(text[:end], ", "); at > end/2 {
			end = at + 1
		}
		out = append(out, strings.TrimRight(text[:end], " "))
		text = "  " + strings.TrimLeft(text[end:], " ")
	}
}

// fitting is how many bytes of text fit into the given columns; wide
// characters take two.
func fitting(text string, columns int) int {
	for i, r := range text {
		if columns -= width(r); columns < 0 {
			return i
		}
	}
	return len(text)
}

// width is how many columns a character takes.
func width(r rune) int {
	if r >= 0x2E80 {
		return 2
	}
	return 1
}

// Cells is how many columns a text takes.
func Cells(text string) (n int) {
	for _, r := range text {
		n += width(r)
	}
	return n
}

// Cut shortens a text to at most the given columns.
func Cut(text string, columns int) string {
	if Cells(text) <= columns {
		return text
	}
	return text[:fitting(text, columns-1)] + "…"
}
