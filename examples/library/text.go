// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package library

// This file is the servers of running text, of texts taken line by line, and of letter case and naming styles.

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ettle/strcase"
	"github.com/gosimple/slug"
)

var textServer = group{"text", "Running text", []maker{
	define("text__count", "Counts the characters, words, sentences and lines of a text.", func(in textIn) (string, error) {
		sentences, ended := 0, true
		for _, r := range in.Text {
			switch {
			case strings.ContainsRune(".!?。！？", r):
				ended = true
			case ended && (unicode.IsLetter(r) || unicode.IsDigit(r)):
				ended = false
				sentences++
			}
		}
		lines := either(in.Text != "", strings.Count(strings.TrimSuffix(in.Text, "\n"), "\n")+1, 0)
		return fmt.Sprintf("%d characters, %d words, %d sentences, %d lines, %d bytes",
			utf8.RuneCountInString(in.Text), len(strings.Fields(in.Text)), sentences, lines, len(in.Text)), nil
	}),
	define("text__count_occurrences", "Counts how often a word or phrase occurs in a text.", func(in struct {
		textIn
		Phrase     string `json:"phrase" jsonschema_description:"The word or phrase to look for"`
		IgnoreCase bool   `json:"ignore_case,omitempty" jsonschema_description:"Whether upper and lower case count as the same"`
	}) (string, error) {
		if in.Phrase == "" {
			return "", fmt.Errorf("the argument \"phrase\" is empty")
		}
		if in.IgnoreCase {
			in.Text, in.Phrase = strings.ToLower(in.Text), strings.ToLower(in.Phrase)
		}
		return fmt.Sprint(strings.Count(in.Text, in.Phrase)), nil
	}),
	define("text__word_frequency", "Lists the most frequent words of a text with their counts.", func(in struct {
		textIn
		Limit int `json:"limit,omitempty" jsonschema:"default=10,minimum=1,maximum=1000" jsonschema_description:"How many words to list"`
	}) (string, error) {
		return ranked(tally(words(strings.ToLower(in.Text))), in.Limit), nil
	}),
	define("text__reverse", "Reverses a text, character by character or word by word.", func(in struct {
		textIn
		By string `json:"by,omitempty" jsonschema:"enum=characters,enum=words,default=characters" jsonschema_description:"What is put in reverse order"`
	}) (string, error) {
		if in.By == "words" {
			w := strings.Fields(in.Text)
			slices.Reverse(w)
			return strings.Join(w, " "), nil
		}
		return reversed(in.Text), nil
	}),
	define("text__replace", "Replaces every occurrence of a phrase in a text by another; no patterns.", textReplace),
	define("text__repeat", "Repeats a text a number of times with a separator between.", func(in struct {
		textIn
		Count     int    `json:"count" jsonschema:"minimum=1,maximum=10000" jsonschema_description:"How many times the text is to appear"`
		Separator string `json:"separator,omitempty" jsonschema_description:"What to put between the repetitions"`
	}) (string, error) {
		if (len(in.Text)+len(in.Separator))*in.Count > maxAnswer {
			return "", fmt.Errorf("the result would be longer than %d bytes", maxAnswer)
		}
		return strings.TrimSuffix(strings.Repeat(in.Text+in.Separator, in.Count), in.Separator), nil
	}),
	define("text__truncate", "Shortens a text to a number of characters and ends it with an ellipsis.", func(in struct {
		textIn
		Length int `json:"length" jsonschema:"minimum=1,maximum=100000" jsonschema_description:"The most characters of the result, the ellipsis included"`
	}) (string, error) {
		r := []rune(in.Text)
		if len(r) <= in.Length {
			return in.Text, nil
		}
		return strings.TrimRight(string(r[:in.Length-1]), " ") + "…", nil
	}),
	define("text__wrap", "Breaks a text into lines of at most so many characters, between words.", func(in widthIn) (string, error) {
		var lines []string
		for _, paragraph := range strings.Split(in.Text, "\n") {
			line := ""
			for _, w := range strings.Fields(paragraph) {
				if line != "" && utf8.RuneCountInString(line)+1+utf8.RuneCountInString(w) > in.Width {
					lines, line = append(lines, line), ""
				}
				line = strings.TrimPrefix(line+" "+w, " ")
			}
			lines = append(lines, line)
		}
		return strings.Join(lines, "\n"), nil
	}),
	define("text__indent", "Puts a prefix such as spaces or a quote mark before every line of a text.", func(in struct {
		textIn
		Prefix string `json:"prefix" jsonschema_description:"What to put before each line, such as four spaces or > "`
	}) (string, error) {
		if len(in.Prefix) > 200 {
			return "", fmt.Errorf("the prefix is longer than 200 bytes")
		}
		return in.Prefix + strings.ReplaceAll(in.Text, "\n", "\n"+in.Prefix), nil
	}),
	define("text__pad", "Fills a text up to a width, on the left, on the right or on both sides.", func(in struct {
		widthIn
		Side string `json:"side,omitempty" jsonschema:"enum=left,enum=right,enum=both,default=right" jsonschema_description:"The side on which to fill; both centres the text"`
		Fill string `json:"fill,omitempty" jsonschema_description:"The character to fill with; a space if left out"`
	}) (string, error) {
		if in.Fill = cmp.Or(in.Fill, " "); utf8.RuneCountInString(in.Fill) != 1 {
			return "", fmt.Errorf("the argument \"fill\" must be one character, and is %q", in.Fill)
		}
		missing := max(0, in.Width-utf8.RuneCountInString(in.Text))
		left := map[string]int{"left": missing, "both": missing / 2}[in.Side]
		return strings.Repeat(in.Fill, left) + in.Text + strings.Repeat(in.Fill, missing-left), nil
	}),
	define("text__normalize_spaces", "Trims a text and turns every run of blanks, tabs and line breaks into one space.", textSpaces),
	define("text__between", "Takes out the parts of a text that stand between two marks.", func(in struct {
		textIn
		Start string `json:"start" jsonschema_description:"The mark before each part"`
		End   string `json:"end" jsonschema_description:"The mark after each part"`
	}) (string, error) {
		if in.Start == "" || in.End == "" {
			return "", fmt.Errorf("the marks \"start\" and \"end\" must not be empty")
		}
		var found []string
		for rest := in.Text; ; {
			_, after, ok := strings.Cut(rest, in.Start)
			part, next, closed := strings.Cut(after, in.End)
			if !ok || !closed {
				break
			}
			found, rest = append(found, part), next
		}
		return listed(found, "nothing stands between these marks"), nil
	}),
	define("text__split", "Splits a text at a separator into a numbered list of pieces.", func(in struct {
		textIn
		Separator string `json:"separator" jsonschema_description:"Where to split, such as a comma"`
	}) (string, error) {
		if in.Separator == "" {
			return "", fmt.Errorf("the argument \"separator\" is empty")
		}
		pieces := strings.Split(in.Text, in.Separator)
		write := func(i int) string { return fmt.Sprintf("%d. %s", i+1, strings.TrimSpace(pieces[i])) }
		return strings.Join(times(len(pieces), write), "\n"), nil
	}),
	define("text__reading_time", "Estimates how long it takes to read a text silently and to speak it aloud.", func(in textIn) (string, error) {
		n := float64(len(words(in.Text)))
		return fmt.Sprintf("%s words: about %s minutes to read silently, %s minutes to speak", plain(n),
			plain(math.Ceil(n/238*10)/10), plain(math.Ceil(n/150*10)/10)), nil
	}),
	define("text__is_palindrome", "Says whether a text reads the same backwards, letters and digits only, in any case.", func(in textIn) (string, error) {
		kept := strings.Join(strings.FieldsFunc(strings.ToLower(in.Text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }), "")
		if kept == "" {
			return "", fmt.Errorf("the text has no letters or digits")
		}
		return either(kept == reversed(kept), "yes, it is a palindrome", "no, it is not a palindrome"), nil
	}),
	define("text__acronym", "Makes an acronym of the first letters of a phrase's words.", func(in textIn) (string, error) {
		return joined(words(in.Text), "", func(word string) string { return string(unicode.ToUpper([]rune(word)[0])) }), nil
	}),
}}

type textIn struct {
	Text string `json:"text" jsonschema_description:"The text to work on"`
}

func words(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '\'' && r != '’' && r != '-'
	})
}

func reversed(text string) string {
	r := []rune(text)
	slices.Reverse(r)
	return string(r)
}

type replaceIn struct {
	textIn
	Find    string `json:"find" jsonschema_description:"The phrase to replace"`
	Replace string `json:"replace" jsonschema_description:"What to put in its place; may be empty"`
}

func textReplace(in replaceIn) (string, error) {
	n := strings.Count(in.Text, in.Find)
	if in.Find == "" || n == 0 {
		return "", fmt.Errorf("the text does not contain %q, so nothing is replaced", in.Find)
	}
	if len(in.Text)+n*(len(in.Replace)-len(in.Find)) > maxAnswer {
		return "", fmt.Errorf("the result would be longer than %d bytes", maxAnswer)
	}
	return strings.ReplaceAll(in.Text, in.Find, in.Replace), nil
}

type widthIn struct {
	textIn
	Width int `json:"width" jsonschema:"minimum=1,maximum=10000" jsonschema_description:"The width in characters"`
}

func textSpaces(in textIn) (string, error) { return strings.Join(strings.Fields(in.Text), " "), nil }

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
		arrange(out, in.Descending, less)
		return strings.Join(out, "\n"), nil
	}),
	define("lines__unique", "Removes duplicate lines from a text, keeping the first of each.", func(in linesIn) (string, error) {
		return strings.Join(unique(in.lines()), "\n"), nil
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
		return strings.Join(nonEmpty(out), "\n"), nil
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

var caseServer = group{"case", "Letter case and naming styles", []maker{
	define("case__upper", "Turns a text into capital letters.", rewritten(upper)),
	define("case__lower", "Turns a text into small letters.", rewritten(strings.ToLower)),
	define("case__title", "Writes a title with capitals, leaving short words such as of and the small.", rewritten(titleCase)),
	define("case__sentence", "Writes the first letter of each sentence as a capital and the others small.", rewritten(sentenceCase)),
	define("case__swap", "Swaps capital and small letters.", rewritten(swapCase)),
	define("case__snake", "Rewrites a name as snake_case.", styled(strcase.ToSnake)),
	define("case__constant", "Rewrites a name as CONSTANT_CASE.", styled(strcase.ToSNAKE)),
	define("case__kebab", "Rewrites a name as kebab-case.", styled(strcase.ToKebab)),
	define("case__camel", "Rewrites a name as camelCase.", styled(strcase.ToCamel)),
	define("case__pascal", "Rewrites a name as PascalCase.", styled(strcase.ToPascal)),
	define("case__dot", "Rewrites a name as dot.case.", styled(dotCase)),
	define("case__slug", "Makes a URL slug from a title: small letters, digits and hyphens.", func(in textIn) (string, error) {
		out := slug.Make(in.Text)
		if out == "" {
			return "", fmt.Errorf("the text has no letters or digits that a slug can keep")
		}
		return out, nil
	}),
	define("case__detect", "Says which naming style a name is written in.", func(in nameIn) (string, error) {
		for _, style := range []struct {
			name string
			make func(string) string
		}{{"snake_case", strcase.ToSnake}, {"CONSTANT_CASE", strcase.ToSNAKE}, {"kebab-case", strcase.ToKebab}, {"camelCase", strcase.ToCamel}, {"PascalCase", strcase.ToPascal}, {"dot.case", dotCase}} {
			if text, err := styled(style.make)(in); err == nil && text == in.Name {
				return style.name, nil
			}
		}
		return "none of snake_case, CONSTANT_CASE, kebab-case, camelCase, PascalCase and dot.case", nil
	}),
}}

// rewritten makes a tool of a function from text to text.
func rewritten(rewrite func(string) string) func(textIn) (string, error) {
	return func(in textIn) (string, error) { return rewrite(in.Text), nil }
}

// upper knows the one letter whose capital is two, which Go's mapping leaves.
func upper(text string) string { return strings.ToUpper(strings.ReplaceAll(text, "ß", "ss")) }

type nameIn struct {
	Name string `json:"name" jsonschema_description:"The name or phrase to rewrite, in any style"`
}

// styled rewrites a name in a style, taking every mark for the end of a word.
func styled(style func(string) string) func(nameIn) (string, error) {
	return func(in nameIn) (string, error) {
		words := strings.FieldsFunc(in.Name, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
		if len(words) == 0 {
			return "", fmt.Errorf("%q has no letters or digits", in.Name)
		}
		return style(strings.Join(words, " ")), nil
	}
}

func dotCase(name string) string { return strcase.ToCase(name, strcase.LowerCase, '.') }

func capitalized(word string) string {
	r := []rune(strings.ToLower(word))
	if len(r) > 0 {
		r[0] = unicode.ToTitle(r[0])
	}
	return string(r)
}

var smallTitleWords = " a an and as at but by for from in of on or the to with "

func titleCase(text string) string {
	all := strings.Fields(text)
	for i, w := range all {
		inner := i > 0 && i < len(all)-1
		if inner && strings.Contains(smallTitleWords, " "+strings.ToLower(w)+" ") {
			all[i] = strings.ToLower(w)
		} else {
			all[i] = capitalized(w)
		}
	}
	return strings.Join(all, " ")
}

func sentenceCase(text string) string {
	start := true
	return strings.Map(func(r rune) rune {
		switch {
		case strings.ContainsRune(".!?\n", r):
			start = true
		case start && unicode.IsLetter(r):
			start = false
			return unicode.ToUpper(r)
		case unicode.IsLetter(r):
			return unicode.ToLower(r)
		}
		return r
	}, text)
}

func swapCase(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsUpper(r) {
			return unicode.ToLower(r)
		}
		return unicode.ToUpper(r)
	}, text)
}
