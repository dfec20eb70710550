// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// The texts that the model reads, in the language that Eino is set to.

import (
	"embed"

	"github.com/leanctx/leanctx/internal/texts"
)

//go:embed prompt
var promptFiles embed.FS

// prompts are the texts. A file name.en.md is a text of its own, and short.en.tmpl defines
// the short ones.
var prompts = texts.Load(promptFiles, "prompt")

// promptData is what the texts are made of. Each uses some of it.
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

// render renders one of the texts in the language that is set.
func render(name string, h promptData) string { return renderIn(prompts.Current(), name, h) }

func renderIn(t *texts.Texts, name string, h promptData) string {
	h.Name = clipped(h.Name)
	return t.Say(name, h)
}
