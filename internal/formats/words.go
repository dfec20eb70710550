// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package formats

import (
	"reflect"
	"strings"
	"testing"
	"unicode"

	"github.com/einolean/einolean/internal/texts"
)

// OtherWords gives every text in a struct of templates other words, as another version may have, until
// the test ends.
func OtherWords(t testing.TB, templates any) {
	of := reflect.ValueOf(templates).Elem()
	before := reflect.ValueOf(of.Interface())
	t.Cleanup(func() { of.Set(before) })
	for i := range of.NumField() {
		f := of.Field(i)
		pieces := f.Convert(reflect.TypeFor[[]texts.Piece]()).Interface().([]texts.Piece)
		f.Set(reflect.ValueOf(reworded(pieces)).Convert(f.Type()))
	}
}

// reworded returns a template in another language: every letter is another one, and there are more
// words.
func reworded(f []texts.Piece) (out []texts.Piece) {
	other := func(r rune) rune {
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
	for _, p := range f {
		parts := strings.Split(p.Text, "persisted-output")
		for i := range parts {
			parts[i] = strings.ReplaceAll(strings.Map(other, parts[i]), " ", " zz ")
			parts[i] = strings.ReplaceAll(parts[i], ": zz ", " zz: ")
		}
		out = append(out, texts.Piece{Text: strings.Join(parts, "persisted-output"), Field: p.Field})
	}
	return out
}
