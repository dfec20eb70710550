// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// This file holds the texts that the model reads, in the language that Eino is set to.

import (
	"embed"
	"strings"
	"sync"
	"text/template"

	"github.com/cloudwego/eino/schema"

	"github.com/leanctx/leanctx/internal/language"
)

//go:embed prompt
var promptFiles embed.FS

// texts are the prompts of one language.
type texts struct {
	hints *template.Template
	files map[string]string
}

var (
	english = sync.OnceValue(func() *texts { return loadTexts("en") })
	chinese = sync.OnceValue(func() *texts { return loadTexts("zh") })
)

func loadTexts(lang string) *texts {
	t := &texts{files: map[string]string{}}
	t.hints = template.Must(template.New(lang).Funcs(template.FuncMap{"join": strings.Join}).
		ParseFS(promptFiles, "prompt/*."+lang+".tmpl"))
	names, err := promptFiles.ReadDir("prompt")
	if err != nil {
		panic(err) // the files are part of the program
	}
	for _, f := range names {
		if name, ok := strings.CutSuffix(f.Name(), "."+lang+".md"); ok {
			text, _ := promptFiles.ReadFile("prompt/" + f.Name())
			t.files[name] = strings.TrimSpace(string(text))
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

// hint is what the short texts are made of.
type hint struct {
	Name        string
	Description string
	Schema      string
	Words       []string
	Near        []string
	Limit       int
	Total       int
	Path        string
	Reason      string
}

// say renders one of the short texts.
func say(name string, h hint) string {
	h.Name = shown(h.Name)
	var b strings.Builder
	if err := current().hints.ExecuteTemplate(&b, name, h); err != nil {
		panic(err) // the templates are part of the program; a test renders each
	}
	return strings.TrimSpace(b.String())
}

// metaInfo describes a search tool to the model: the text of the file is its
// description, and the short text "name.parameter" describes each parameter.
func metaInfo(file, name string, params map[string]*schema.ParameterInfo) *schema.ToolInfo {
	t := current()
	for key, p := range params {
		p.Desc = say(file+"."+key, hint{})
	}
	return &schema.ToolInfo{Name: name, Desc: t.files[file], ParamsOneOf: schema.NewParamsOneOfByParams(params)}
}
