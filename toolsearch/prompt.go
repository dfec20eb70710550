// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// The texts that the model reads, in the language that Eino is set to.

import (
	"embed"
	"strings"
	"sync"
	"text/template"

	"github.com/leanctx/leanctx/internal/language"
)

//go:embed prompt
var promptFiles embed.FS

// texts are the texts of one language. A file name.en.md is a text of its own, and
// short.en.tmpl defines the short ones.
type texts struct{ all *template.Template }

var (
	english = sync.OnceValue(func() *texts { return loadTexts("en") })
	chinese = sync.OnceValue(func() *texts { return loadTexts("zh") })
)

func loadTexts(lang string) *texts {
	t := &texts{template.New(lang).Funcs(template.FuncMap{"join": strings.Join})}
	template.Must(t.all.ParseFS(promptFiles, "prompt/*."+lang+".tmpl"))
	files, err := promptFiles.ReadDir("prompt")
	if err != nil {
		panic(err) // the files are part of the program
	}
	for _, f := range files {
		if name, ok := strings.CutSuffix(f.Name(), "."+lang+".md"); ok {
			text, _ := promptFiles.ReadFile("prompt/" + f.Name())
			template.Must(t.all.New(name).Parse(string(text)))
		}
	}
	return t
}

func current() *texts {
	if language.Chinese() {
		return chinese()
	}
	return english()
}

// hint is what the texts are made of. Each uses some of it.
type promptData struct {
	Name   string
	Schema string
	Words  []string
	Near   []string
	Limit  int
	Total  int
	Path   string
	Reason string

	Native    bool // results come in the provider's form
	Unloads   bool // tools that are not used are hidden again
	Shortened bool // the schema is
	Ungated   bool // calls to tools that are not loaded run
	Listed    bool // there is a reminder that lists names
	Partial   bool // the reminder may not list every name
}

// say renders one of the texts in the language that is set.
func render(name string, h promptData) string { return current().render(name, h) }

func (t *texts) render(name string, h promptData) string {
	h.Name = clipped(h.Name)
	var b strings.Builder
	if err := t.all.ExecuteTemplate(&b, name, h); err != nil {
		panic(err) // the templates are part of the program; a test renders each
	}
	return strings.TrimSpace(b.String())
}
