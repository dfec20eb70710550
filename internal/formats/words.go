// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package formats

import (
	"reflect"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/einolean/einolean/internal/prompt"
)

// OtherWords gives every text in a struct of templates other words, as another version may have, until
// the test ends.
func OtherWords(t testing.TB, templates any) {
	of := reflect.ValueOf(templates).Elem()
	before := reflect.ValueOf(of.Interface())
	t.Cleanup(func() { of.Set(before) })
	for i := range of.NumField() {
		f := of.Field(i)
		pieces := f.Convert(reflect.TypeFor[[]prompt.Piece]()).Interface().([]prompt.Piece)
		f.Set(reflect.ValueOf(reworded(pieces)).Convert(f.Type()))
	}
}

// reworded returns a template in another language.
func reworded(f []prompt.Piece) (out []prompt.Piece) {
	for _, p := range f {
		out = append(out, prompt.Piece{Text: Reworded(p.Text), Field: p.Field})
	}
	return out
}

// kept is what stands in a text and is no word: tags, fields, and what the code of a template does.
var kept = regexp.MustCompile(`<[^<>]*>|{{[^{}]*}}|persisted-output`)

// Reworded returns a text in another language: every letter is another one, and there are more words.
func Reworded(text string) string {
	var b strings.Builder
	at := 0
	for _, tag := range append(kept.FindAllStringIndex(text, -1), []int{len(text), len(text)}) {
		words := strings.ReplaceAll(strings.Map(other, text[at:tag[0]]), " ", " zz ")
		b.WriteString(strings.ReplaceAll(words, ": zz ", " zz: ") + text[tag[0]:tag[1]])
		at = tag[1]
	}
	return b.String()
}

func other(r rune) rune {
	switch {
	case unicode.Is(unicode.Han, r):
		return r + 1
	case 'a' <= r && r <= 'z':
		return 'a' + (r-'a'+13)%26
	case 'A' <= r && r <= 'Z':
		return 'A' + (r-'A'+13)%26
	}
	return r
}
