// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package reduction

import (
	"strings"
	"testing"
	"unicode"

	"github.com/einolean/einolean/internal/texts"
)

// OtherWords gives every notice other words, as another version of this package may have, until the
// test ends.
func OtherWords(t testing.TB) {
	en, zh := *english, *chinese
	t.Cleanup(func() { *english, *chinese = en, zh })
	for _, w := range []*notices{english, chinese} {
		w.eachTemplate(func(f *template) { *f = reworded(*f) })
	}
}

func (w *notices) eachTemplate(f func(*template)) {
	for _, each := range []*template{&w.cleared, &w.page, &w.longPage, &w.repeated, &w.argument, &w.placeholder, &w.truncated, &w.stream,
		&w.unsaved, &w.previewed, &w.found, &w.medium, &w.hint, &w.hintQuery} {
		f(each)
	}
}

// reworded returns a template in another language: every letter is another one, and there are more
// words.
func reworded(f template) (out template) {
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
