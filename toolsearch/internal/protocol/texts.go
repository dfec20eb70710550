// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

// Package protocol has what a model reads of hidden tools: texts, in the language that Eino is set to, and answers in JSON.
// Names, descriptions and schemas of tools are untrusted: what is quoted of them is clipped.
package protocol

import (
	"embed"
	"encoding/json"
	"unicode/utf8"

	"github.com/bytedance/sonic"

	"github.com/einolean/einolean/internal/display"
	"github.com/einolean/einolean/internal/keyword/bm25/analysis"
	"github.com/einolean/einolean/internal/prompt"
	"github.com/einolean/einolean/internal/toolnames"
	"github.com/einolean/einolean/toolsearch/internal/catalog"
)

//go:embed prompt
var files embed.FS

// Prompts are the texts. Each file name.en.md is one text; short.en.tmpl defines the short
// ones.
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
	SchemaText
	Languages
}

// Shown is the schema of a tool, as an answer shows it.
type SchemaText struct {
	Schema    string
	Shortened bool
}

// Languages are those of the tools' descriptions and of a query, where they differ.
type Languages struct {
	Language analysis.Language
	Asked    analysis.Language // "" where it is not known
}

// Search is the data of the texts that describe a search tool.
type SearchToolParams struct {
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
func Schema(e *catalog.Tool, reason string) Data {
	text, shortened := e.Shown()
	return Data{Name: e.Info.Name, Reason: reason, SchemaText: SchemaText{text, shortened}}
}

// Clip makes text from a model or a tool safe to quote in an answer.
func Clip(s string) string { return display.Clip(s, 80) }

// MaxAnswer bounds the tools in one answer, in bytes: an answer stays in the conversation.
const MaxAnswer = 64 << 10

// Answer is what the search tools answer, each protocol with some of it. The key "matches" is
// Eino's.
type Answer struct {
	Matches       []string    `json:"matches,omitzero"`       // Keyword
	Selected      []string    `json:"selectedTools,omitzero"` // Regexp
	Results       []Described `json:"results,omitzero"`       // SearchLoad
	Loaded        []string    `json:"loaded,omitzero"`
	Tools         []Described `json:"tools,omitzero"` // SearchCall, and any with programs
	AlreadyLoaded []string    `json:"already_loaded,omitempty"`
	Hint          string      `json:"hint,omitempty"`
}

// Described is a tool in an answer.
type Described struct {
	Name        string          `json:"name"`
	Call        string          `json:"call,omitempty"` // with programs: the signature, and nothing else
	Description *string         `json:"description,omitempty"`
	Score       *float64        `json:"score,omitempty"`
	Parameters  json.RawMessage `json:"parameters,omitempty"`
}

// described is what stands around the texts of a described tool.
const described = `{"name":"description":"parameters":},`

// Describe describes a tool for an answer, and reports whether the schema is shortened: each
// tool alone fits into an answer.
func Describe(e *catalog.Tool) (d Described, shortened bool) {
	text, shortened := e.Shown()
	desc := cut(e.Info.Desc, MaxAnswer-len(described)-Size(e.Info.Name)-len(text))
	return Described{Name: e.Info.Name, Description: &desc, Parameters: json.RawMessage(text)}, shortened || len(desc) != len(e.Info.Desc)
}

// Sign is a tool as its signature.
func SignatureOf(e *catalog.Tool) Described { return Described{Name: e.Info.Name, Call: e.Signature()} }

// Size is the bytes of a described or signed tool in an answer, or a little more.
func (d Described) Size() int {
	if d.Description == nil {
		return len(`{"name":"","call":""},`) + Size(d.Name) + Size(d.Call)
	}
	return len(described) + Size(d.Name) + Size(*d.Description) + len(d.Parameters)
}

// Matches is the result of a search as text.
func Matches(names []string) string { return JSON(Answer{Matches: append([]string{}, names...)}) }

// Offer describes tools for what a user just said, in the words of a search's answer.
func Offer(tools []Described, hint string) string {
	return toolnames.OfferOpen + "\n" + JSON(Answer{Tools: tools, Hint: hint}) + "\n" + toolnames.OfferClose
}

// IsOffer recognises an offer by its envelope and its form, since stores drop what marks a message.
func IsOffer(text string) bool {
	tools, ok := toolnames.Offer(text)
	var offer Answer
	return ok && json.Unmarshal([]byte(tools), &offer) == nil && len(offer.Tools) > 0
}

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

// cut cuts a text to at most that many bytes in JSON.
func cut(s string, most int) string {
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
