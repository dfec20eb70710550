// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package library

// This file is the server of running text.

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
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
