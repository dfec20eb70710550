// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

// Package textstest runs tests in every language that texts have.
package textstest

import (
	"testing"

	"github.com/cloudwego/eino/adk"

	"github.com/einolean/einolean/internal/prompt"
)

// InBothLanguages runs a test in English and in Chinese, with the texts of each.
func InBothLanguages(t *testing.T, set *prompt.Set, test func(*testing.T, *prompt.Texts)) {
	t.Helper()
	for _, l := range []struct {
		name     string
		language adk.Language
		texts    *prompt.Texts
	}{{"en", adk.LanguageEnglish, set.English()}, {"zh", adk.LanguageChinese, set.Chinese()}} {
		t.Run(l.name, func(t *testing.T) {
			if err := adk.SetLanguage(l.language); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = adk.SetLanguage(adk.LanguageEnglish) })
			if set.Current() != l.texts {
				t.Fatal("the texts are not those of the language")
			}
			test(t, l.texts)
		})
	}
}
