// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package library

// This file is the server of letter case and naming styles.

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/ettle/strcase"
	"github.com/gosimple/slug"
)

var caseServer = group{"case", "Letter case and naming styles", []maker{
	define("case__upper", "Turns a text into capital letters.", cased(upper)),
	define("case__lower", "Turns a text into small letters.", cased(strings.ToLower)),
	define("case__title", "Writes a title with capitals, leaving short words such as of and the small.", cased(titleCase)),
	define("case__sentence", "Writes the first letter of each sentence as a capital and the others small.", cased(sentenceCase)),
	define("case__swap", "Swaps capital and small letters.", cased(swapCase)),
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

func cased(rewrite func(string) string) func(textIn) (string, error) {
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
