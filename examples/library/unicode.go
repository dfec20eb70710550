// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package library

// This file is the server of Unicode characters.

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/gosimple/unidecode"
)

var unicodeServer = group{"unicode", "Unicode characters", []maker{
	define("unicode__inspect", "Lists the characters of a text with code point, category, script and UTF-8 bytes.", func(in textIn) (string, error) {
		runes := []rune(in.Text)
		if len(runes) == 0 || len(runes) > 500 {
			return "", fmt.Errorf("the text has %d characters; from 1 to 500 can be inspected", len(runes))
		}
		return joined(runes, "\n", func(r rune) string {
			return fmt.Sprintf("%q U+%04X %s %s % x", r, r, categoryOf(r), scriptOf(r), string(r))
		}), nil
	}),
	define("unicode__escape", "Writes the characters of a text outside ASCII as \\u escapes.",
		func(in textIn) (string, error) {
			return strings.TrimSuffix(strings.TrimPrefix(strconv.QuoteToASCII(in.Text), `"`), `"`), nil
		}),
	define("unicode__unescape", "Turns \\u, \\x and \\n escapes in a text back into characters.", func(in encodedIn) (string, error) {
		var out strings.Builder
		for rest := in.Text; rest != ""; {
			if rest[0] != '\\' {
				next := strings.IndexByte(rest, '\\')
				if next < 0 {
					next = len(rest)
				}
				out.WriteString(rest[:next])
				rest = rest[next:]
				continue
			}
			quote := byte(0)
			if len(rest) > 1 && strings.ContainsRune(`"'`, rune(rest[1])) {
				quote = rest[1]
			}
			r, multibyte, tail, err := strconv.UnquoteChar(rest, quote)
			if err != nil {
				return "", fmt.Errorf("%.20q is not an escape", rest)
			}
			if multibyte || r < utf8.RuneSelf {
				out.WriteRune(r)
			} else {
				out.WriteByte(byte(r))
			}
			rest = tail
		}
		return readable([]byte(out.String())), nil
	}),
	define("unicode__code_points", "Lists the code points of a text as numbers.", func(in textIn) (string, error) {
		return joined([]rune(in.Text), " ", func(r rune) string { return fmt.Sprintf("U+%04X (%d)", r, r) }), nil
	}),
	define("unicode__from_code_points", "Makes a text from code points such as U+4F60 or 20320.", func(in struct {
		CodePoints []string `json:"code_points" jsonschema:"minItems=1" jsonschema_description:"The code points, each as U+4F60 or in decimal"`
	}) (string, error) {
		var out strings.Builder
		for _, text := range in.CodePoints {
			digits, base := strings.ToUpper(strings.TrimSpace(text)), 10
			for _, prefix := range []string{"U+", "0X", `\U`} {
				if rest, ok := strings.CutPrefix(digits, prefix); ok {
					digits, base = rest, 16
				}
			}
			n, err := strconv.ParseUint(digits, base, 21)
			if err != nil || !utf8.ValidRune(rune(n)) {
				return "", fmt.Errorf("%q is not a code point", text)
			}
			out.WriteRune(rune(n))
		}
		return out.String(), nil
	}),
	define("unicode__scripts", "Counts the characters of a text by script, such as Latin, Han and Cyrillic.", func(in textIn) (string, error) {
		counts := map[string]int{}
		for r, n := range tally([]rune(in.Text)) {
			counts[scriptOf(r)] += n
		}
		return either(len(counts) == 0, "the text is empty", ranked(counts, len(counts))), nil
	}),
	define("unicode__find_invisible", "Finds invisible and confusing characters in a text, such as zero-width and direction marks.",
		func(in textIn) (string, error) {
			var out []string
			at := 0
			for _, r := range in.Text {
				at++
				invisible := unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Co) || (unicode.IsControl(r) && !strings.ContainsRune("\n\r\t", r)) ||
					(unicode.Is(unicode.Zs, r) && r != ' ' && r != '\u3000') || r == utf8.RuneError
				if invisible {
					out = append(out, fmt.Sprintf("character %d: U+%04X %s", at, r, categoryOf(r)))
				}
				if len(out) == maxMatches {
					break
				}
			}
			return listed(out, "no invisible characters"), nil
		}),
	define("unicode__sizes", "Computes how long a text is in UTF-8, UTF-16 and UTF-32.", func(in textIn) (string, error) {
		runes := []rune(in.Text)
		units := len(utf16.Encode(runes))
		return fmt.Sprintf("%s: UTF-8 %d bytes, UTF-16 %d bytes (%d units), UTF-32 %d bytes", counted(len(runes), "character"), len(in.Text), 2*units, units, 4*len(runes)), nil
	}),
	// Scripts other than Latin stay as they are.
	define("unicode__remove_accents", "Replaces accented Latin letters by plain ones, such as é by e.", func(in textIn) (string, error) {
		var out strings.Builder
		for _, r := range in.Text {
			switch {
			case unicode.Is(unicode.Mn, r):
			case unicode.Is(unicode.Latin, r):
				out.WriteString(unidecode.Unidecode(string(r)))
			default:
				out.WriteRune(r)
			}
		}
		return out.String(), nil
	}),
}}

func scriptOf(r rune) string {
	if !unicode.In(r, unicode.Common, unicode.Inherited) {
		for name, table := range unicode.Scripts {
			if unicode.Is(table, r) {
				return name
			}
		}
	}
	return "Common"
}

// categoryOf gives the two-letter general category.
func categoryOf(r rune) string {
	found := "Cn"
	for name, table := range unicode.Categories {
		if len(name) == 2 && name != "LC" && unicode.Is(table, r) {
			found = name
		}
	}
	return found
}
