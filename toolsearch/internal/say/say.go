// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

// Package say has what a model reads of hidden tools: texts, in the language that Eino is set to, and answers in JSON.
// Names, descriptions and schemas of tools are untrusted: what is quoted of them is clipped.
package say

import (
	"embed"

	"github.com/einolean/einolean/internal/display"
	"github.com/einolean/einolean/internal/keyword/bm25"
	"github.com/einolean/einolean/internal/texts"
	"github.com/einolean/einolean/toolsearch/internal/hidden"
)

//go:embed prompt
var files embed.FS

// Prompts are the texts. Each file name.en.md is one text; short.en.tmpl defines the short
// ones.
var Prompts = texts.Load(files, "prompt")

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
	Shown
	Languages
}

// Shown is the schema of a tool, as an answer shows it.
type Shown struct {
	Schema    string
	Shortened bool
}

// Languages are those of the tools' descriptions and of a query, where they differ.
type Languages struct {
	Language bm25.Language
	Asked    bm25.Language // "" where it is not known
}

// Search is the data of the texts that describe a search tool.
type Search struct {
	Limit, Total int

	Native  bool // results come in the provider's form
	Calls   bool // there is call_tool
	Unloads bool // tools that are not used are hidden again
	Ungated bool // calls to tools that are not loaded run
	Partial bool // the reminder may not list every name
}

// Text is one of the short texts in the language that is set.
func Text(name string, h Data) string {
	h.Name = Clip(h.Name)
	return Prompts.Current().Say(name, h)
}

// Schema is the data of a text that describes a tool's schema.
func Schema(e *hidden.Tool, reason string) Data {
	text, shortened := e.Shown()
	return Data{Name: e.Info.Name, Reason: reason, Shown: Shown{text, shortened}}
}

// Clip makes text from a model or a tool safe to quote in an answer.
func Clip(s string) string { return display.Clip(s, 80) }
