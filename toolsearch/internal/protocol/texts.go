// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package protocol

import (
	"embed"

	"github.com/einolean/einolean/internal/display"
	"github.com/einolean/einolean/internal/keyword/bm25/analysis"
	"github.com/einolean/einolean/internal/prompt"
	"github.com/einolean/einolean/toolsearch/internal/catalog"
)

//go:embed prompt
var files embed.FS

// Prompts are the texts that models read. Each file name.en.md is one text; a file name.en.tmpl defines several short ones.
// A protocol has files of its own.
var Prompts = prompt.Load(files, "prompt")

// Data is the data of the short texts. Each uses some of it.
type Data struct {
	Name   string
	Words  []string
	Near   []string
	Limit  int
	Total  int
	Path   string
	Reason string
	Listed bool // there is a reminder that lists names

	Schema    string // of a tool
	Shortened bool   // the schema is

	Language      analysis.Language // of the tools' descriptions, where the query has another one
	QueryLanguage analysis.Language // "" if it is not known
}

// DescriptionData is the data of the texts that describe a search tool.
type DescriptionData struct {
	Limit, Total int // results of a search: by default, and at most

	Native  bool // results come in the provider's form
	Calls   bool // there is call_tool
	Unloads bool // tools that are not used are hidden again
	Ungated bool // calls to tools that are not loaded run
	Partial bool // the reminder may not list every name
}

// Text returns one of the short texts in the current language.
func Text(name string, data Data) string {
	data.Name = Clip(data.Name)
	return Prompts.Current().Render(name, data)
}

// SchemaData returns the data of a text that has a tool's schema.
func SchemaData(t *catalog.Tool, reason string) Data {
	text, isShortened := t.ShownSchema()
	return Data{Name: t.Info.Name, Reason: reason, Schema: text, Shortened: isShortened}
}

// Clip makes text from a model or a tool safe to quote in an answer.
func Clip(s string) string { return display.Clip(s, 80) }

// ClipAll clips each of several texts.
func ClipAll(texts []string) []string {
	clipped := make([]string, len(texts))
	for i, s := range texts {
		clipped[i] = Clip(s)
	}
	return clipped
}
