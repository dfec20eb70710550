// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package library

// This file is the server of letter case and naming styles.

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/cloudwego/eino/components/tool"
)

func caseServer() Server {
	return Server{Name: "case", Title: "Letter case and naming styles", Tools: []tool.BaseTool{
		define("case__upper", "Turns a text into capital letters.", cased(upper)),
		define("case__lower", "Turns a text into small letters.", cased(strings.ToLower)),
		define("case__title", "Writes a title with capitals, leaving short words such as of and the small.", cased(titleCase)),
		define("case__sentence", "Writes the first letter of each sentence as a capital and the others small.", cased(sentenceCase)),
		define("case__swap", "Swaps capital and small letters.", cased(swapCase)),
		define("case__snake", "Rewrites a name as snake_case.", styled("_", strings.ToLower, strings.ToLower)),
		define("case__constant", "Rewrites a name as CONSTANT_CASE.", styled("_", strings.ToUpper, strings.ToUpper)),
		define("case__kebab", "Rewrites a name as kebab-case.", styled("-", strings.ToLower, strings.ToLower)),
		define("case__camel", "Rewrites a name as camelCase.", styled("", strings.ToLower, capitalized)),
		define("case__pascal", "Rewrites a name as PascalCase.", styled("", capitalized, capitalized)),
		define("case__dot", "Rewrites a name as dot.case.", styled(".", strings.ToLower, strings.ToLower)),
		define("case__slug", "Makes a URL slug from a title: small letters, digits and hyphens.", slug),
		define("case__detect", "Says which naming style a name is written in.", detectCase),
	}}
}

func cased(rewrite func(string) string) func(textIn) (string, error) {
	return func(in textIn) (string, error) { return rewrite(in.Text), nil }
}

// upper knows the one letter whose capital is two, which Go's mapping leaves.
func upper(text string) string { return strings.ToUpper(strings.ReplaceAll(text, "ß", "ss")) }

type nameIn struct {
	Name string `json:"name" jsonschema_description:"The name or phrase to rewrite, in any style"`
}

// nameParts splits at blanks, marks and changes of case: "HTTPServer_id" gives HTTP, Server, id.
func nameParts(name string) []string {
	var out []string
	for _, word := range strings.FieldsFunc(name, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		runes := []rune(word)
		start := 0
		for i := 1; i < len(runes); i++ {
			lowerToUpper := !unicode.IsUpper(runes[i-1]) && unicode.IsUpper(runes[i])
			acronymEnd := unicode.IsUpper(runes[i-1]) && unicode.IsUpper(runes[i]) && i+1 < len(runes) && unicode.IsLower(runes[i+1])
			if lowerToUpper || acronymEnd {
				out, start = append(out, string(runes[start:i])), i
			}
		}
		out = append(out, string(runes[start:]))
	}
	return out
}

func styled(separator string, first, others func(string) string) func(nameIn) (string, error) {
	return func(in nameIn) (string, error) {
		out := nameParts(in.Name)
		if len(out) == 0 {
			return "", fmt.Errorf("%q has no letters or digits", in.Name)
		}
		for i, part := range out {
			if i == 0 {
				out[i] = first(part)
			} else {
				out[i] = others(part)
			}
		}
		return strings.Join(out, separator), nil
	}
}

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

// latinFolds replaces the accented letters that titles commonly have.
var latinFolds = strings.NewReplacer("ä", "ae", "ö", "oe", "ü", "ue", "ß", "ss", "à", "a", "á", "a", "â", "a", "ã", "a", "å", "a", "æ", "ae",
	"ç", "c", "è", "e", "é", "e", "ê", "e", "ë", "e", "ì", "i", "í", "i", "î", "i", "ï", "i", "ñ", "n", "ò", "o", "ó", "o", "ô", "o", "õ", "o",
	"ø", "o", "ù", "u", "ú", "u", "û", "u", "ý", "y", "ÿ", "y", "œ", "oe", "č", "c", "š", "s", "ž", "z", "ł", "l", "ń", "n", "ś", "s", "ő", "o", "ű", "u", "&", " and ")

func slug(in textIn) (string, error) {
	folded := latinFolds.Replace(strings.ToLower(in.Text))
	out := strings.Join(strings.FieldsFunc(folded, func(r rune) bool { return r > unicode.MaxASCII || (!unicode.IsLetter(r) && !unicode.IsDigit(r)) }), "-")
	if out == "" {
		return "", fmt.Errorf("the text has no letters or digits that a slug can keep")
	}
	return out, nil
}

func detectCase(in nameIn) (string, error) {
	for _, style := range []struct {
		name string
		make func(nameIn) (string, error)
	}{
		{"snake_case", styled("_", strings.ToLower, strings.ToLower)}, {"CONSTANT_CASE", styled("_", strings.ToUpper, strings.ToUpper)},
		{"kebab-case", styled("-", strings.ToLower, strings.ToLower)}, {"camelCase", styled("", strings.ToLower, capitalized)},
		{"PascalCase", styled("", capitalized, capitalized)}, {"dot.case", styled(".", strings.ToLower, strings.ToLower)},
	} {
		if text, err := style.make(in); err == nil && text == in.Name {
			return style.name, nil
		}
	}
	return "none of snake_case, CONSTANT_CASE, kebab-case, camelCase, PascalCase and dot.case", nil
}
