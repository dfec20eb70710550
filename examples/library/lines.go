// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package library

// This file is the server of texts taken line by line.

import (
	"fmt"
	"maps"
	"slices"
	"sort"
	"strconv"
	"strings"
	"unicode"
)

var linesServer = group{"lines", "Texts line by line", []maker{
	define("lines__sort", "Sorts the lines of a text alphabetically, by number or by length.", func(in struct {
		linesIn
		By         string `json:"by,omitempty" jsonschema:"enum=alphabet,enum=number,enum=length,default=alphabet" jsonschema_description:"What to sort by"`
		Descending bool   `json:"descending,omitempty" jsonschema_description:"Whether the largest comes first"`
	}) (string, error) {
		out := in.lines()
		less := map[string]func(a, b string) bool{
			"alphabet": func(a, b string) bool { return strings.ToLower(a) < strings.ToLower(b) },
			"number":   func(a, b string) bool { return firstNumber(a) < firstNumber(b) },
			"length":   func(a, b string) bool { return len([]rune(a)) < len([]rune(b)) },
		}[in.By]
		sort.SliceStable(out, func(i, j int) bool { return either(in.Descending, less(out[j], out[i]), less(out[i], out[j])) })
		return strings.Join(out, "\n"), nil
	}),
	define("lines__unique", "Removes duplicate lines from a text, keeping the first of each.", func(in linesIn) (string, error) {
		seen := map[string]bool{}
		return strings.Join(slices.DeleteFunc(in.lines(), func(line string) bool {
			old := seen[line]
			seen[line] = true
			return old
		}), "\n"), nil
	}),
	define("lines__duplicates", "Lists the lines that occur more than once in a text, with their counts.", func(in linesIn) (string, error) {
		counts := tally(in.lines())
		maps.DeleteFunc(counts, func(_ string, n int) bool { return n < 2 })
		return either(len(counts) == 0, "no line occurs twice", ranked(counts, len(counts))), nil
	}),
	define("lines__reverse", "Puts the lines of a text in reverse order, the last one first.", func(in linesIn) (string, error) {
		out := in.lines()
		slices.Reverse(out)
		return strings.Join(out, "\n"), nil
	}),
	define("lines__number", "Puts a line number before every line of a text.", func(in linesIn) (string, error) {
		all := in.lines()
		return strings.Join(times(len(all), func(i int) string { return fmt.Sprintf("%d: %s", i+1, all[i]) }), "\n"), nil
	}),
	define("lines__head", "Keeps only the first lines of a text.", func(in someLinesIn) (string, error) {
		all := in.lines()
		return strings.Join(all[:min(in.Count, len(all))], "\n"), nil
	}),
	define("lines__tail", "Keeps only the last lines of a text.", linesTail),
	define("lines__filter", "Keeps the lines that contain a word, or drops them.", func(in struct {
		linesIn
		Contains string `json:"contains" jsonschema_description:"The word or phrase to look for in each line, in any case"`
		Drop     bool   `json:"drop,omitempty" jsonschema_description:"True to drop the lines that contain it instead of keeping them"`
	}) (string, error) {
		out := slices.DeleteFunc(in.lines(), func(line string) bool {
			return strings.Contains(strings.ToLower(line), strings.ToLower(in.Contains)) == in.Drop
		})
		return listed(out, "no line is left"), nil
	}),
	define("lines__column", "Takes one column out of lines whose columns are parted by a separator.", func(in struct {
		linesIn
		Column    int    `json:"column" jsonschema:"minimum=1,maximum=10000" jsonschema_description:"The number of the column, from 1"`
		Separator string `json:"separator,omitempty" jsonschema_description:"What parts the columns; blanks if left out"`
	}) (string, error) {
		return joined(in.lines(), "\n", func(line string) string {
			fields := either(in.Separator != "", strings.Split(line, in.Separator), strings.Fields(line))
			if in.Column > len(fields) {
				return ""
			}
			return strings.TrimSpace(fields[in.Column-1])
		}), nil
	}),
	define("lines__join", "Joins the lines of a text into one line with a separator.", func(in struct {
		linesIn
		Separator string `json:"separator" jsonschema_description:"What to put between the lines, such as a comma and a space"`
	}) (string, error) {
		lines := in.lines()
		if len(lines)*len(in.Separator) > maxAnswer {
			return "", fmt.Errorf("the result would be longer than %d bytes", maxAnswer)
		}
		return strings.Join(lines, in.Separator), nil
	}),
	define("lines__remove_blank", "Removes empty lines and blanks at the ends of lines.", func(in linesIn) (string, error) {
		out := each(in.lines(), func(line string) string { return strings.TrimRightFunc(line, unicode.IsSpace) })
		return strings.Join(slices.DeleteFunc(out, func(line string) bool { return line == "" }), "\n"), nil
	}),
	define("lines__sum", "Adds up the first number of every line of a text.", func(in linesIn) (string, error) {
		total := 0.0
		for _, line := range in.lines() {
			total += firstNumber(line)
		}
		return finite(total)
	}),
	defineStream("lines__page", "Sends a long text page by page, with a heading for each page.", func(in struct {
		linesIn
		Lines int `json:"lines_per_page,omitempty" jsonschema:"default=40,minimum=1,maximum=1000" jsonschema_description:"How many lines a page has"`
	}, emit func(string) bool) error {
		all := in.lines()
		pages := (len(all) + in.Lines - 1) / in.Lines
		if pages > 10000 {
			return fmt.Errorf("there would be %d pages; at most 10000 are sent", pages)
		}
		for i := range pages {
			page := all[i*in.Lines : min((i+1)*in.Lines, len(all))]
			if !emit(fmt.Sprintf("--- page %d of %d ---\n%s\n", i+1, pages, strings.Join(page, "\n"))) {
				return nil
			}
		}
		return nil
	}),
}}

type linesIn struct {
	Text string `json:"text" jsonschema_description:"The lines to work on, parted by line breaks"`
}

func (in linesIn) lines() []string {
	return strings.Split(strings.TrimSuffix(strings.ReplaceAll(in.Text, "\r\n", "\n"), "\n"), "\n")
}

// firstNumber reads the first number in a line; zero if there is none.
func firstNumber(line string) float64 {
	fields := strings.FieldsFunc(line, func(r rune) bool { return !unicode.IsDigit(r) && r != '.' && r != '-' })
	for _, field := range fields {
		if n, err := strconv.ParseFloat(field, 64); err == nil {
			return n
		}
	}
	return 0
}

type someLinesIn struct {
	linesIn
	Count int `json:"count,omitempty" jsonschema:"default=10,minimum=1,maximum=1000000" jsonschema_description:"How many lines to keep"`
}

func linesTail(in someLinesIn) (string, error) {
	all := in.lines()
	return strings.Join(all[max(0, len(all)-in.Count):], "\n"), nil
}
