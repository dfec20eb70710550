// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package mcptools

// This file holds the answers that the model reads in place of a result.

import (
	"embed"
	"strings"
	"sync"
	"text/template"

	"github.com/leanctx/leanctx/internal/language"
)

//go:embed answers
var answerFiles embed.FS

var (
	english = sync.OnceValue(func() *template.Template { return loadAnswers("en") })
	chinese = sync.OnceValue(func() *template.Template { return loadAnswers("zh") })
)

func loadAnswers(lang string) *template.Template {
	return template.Must(template.ParseFS(answerFiles, "answers/"+lang+".tmpl"))
}

// words is the data of the answers. Each uses some of it.
type words struct {
	Server, Since, Limit, Text, Type, URI string
	Bytes                                 int
}

// say renders one of the answers in the language that Eino is set to.
func say(name string, w words) string {
	t := english()
	if language.Chinese() {
		t = chinese()
	}
	var b strings.Builder
	if err := t.ExecuteTemplate(&b, name, w); err != nil {
		panic(err) // the templates are part of the program; a test renders each
	}
	return b.String()
}
