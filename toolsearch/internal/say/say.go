// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

// Package say has the texts that a model reads of hidden tools, in the language that Eino is set to.
// Names, descriptions and schemas of tools are untrusted: what is quoted of them is clipped.
package say

import (
	"embed"
	"unicode/utf8"

	"github.com/bytedance/sonic"

	"github.com/einolean/einolean/internal/display"
	"github.com/einolean/einolean/internal/keyword/bm25"
	"github.com/einolean/einolean/internal/texts"
	"github.com/einolean/einolean/internal/toolschema"
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

// Arguments returns the arguments to pass to a tool, or the problem with them, for the model.
func Arguments(e *hidden.Tool, raw string) (args, problem string) {
	args, err := e.Arguments(raw)
	switch {
	case err == hidden.ErrNoObject:
		problem = Text("no-object", Data{})
	case err != nil:
		problem = toolschema.Problem(err)
	}
	return args, problem
}

// Clip makes text from a model or a tool safe to quote in an answer.
func Clip(s string) string { return display.Clip(s, 80) }

// plainJSON writes < and > as they are: answers are read by models, not by browsers.
var plainJSON = sonic.Config{SortMapKeys: true, ValidateString: true, CopyString: true}.Froze()

// JSON never fails: what is said holds only texts and numbers.
func JSON(said any) string {
	text, err := plainJSON.MarshalToString(said)
	if err != nil {
		return "{}"
	}
	return text
}

// Size returns the bytes of a text in JSON, or a little more.
func Size(s string) int {
	n := len(`"",`)
	for _, c := range s {
		switch {
		case c < ' ' || c == utf8.RuneError || c == '\u2028' || c == '\u2029':
			n += len(`\u0000`)
		case c == '"' || c == '\\':
			n += 2
		default:
			n += utf8.RuneLen(c)
		}
	}
	return n
}

// Cut cuts a text to at most that many bytes in JSON.
func Cut(s string, most int) string {
	if Size(s) <= most {
		return s
	}
	size := Size("…")
	for i, c := range s {
		if size += Size(string(c)) - Size(""); size > most {
			return s[:i] + "…"
		}
	}
	return s
}
