// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// What a model reads: texts, in the language that Eino is set to, and answers. Names, descriptions and
// schemas of tools are untrusted, and an answer stays in the conversation: it is JSON within a bound in
// bytes.

import (
	"embed"
	"encoding/json"
	"unicode/utf8"

	"github.com/bytedance/sonic"

	"github.com/einolean/einolean/internal/display"
	"github.com/einolean/einolean/internal/keyword/bm25"
	"github.com/einolean/einolean/internal/texts"
	"github.com/einolean/einolean/internal/toolnames"
	"github.com/einolean/einolean/internal/toolschema"
	"github.com/einolean/einolean/toolsearch/internal/hidden"
)

//go:embed prompt
var promptFiles embed.FS

// prompts are the texts. Each file name.en.md is one text; short.en.tmpl defines the short
// ones.
var prompts = texts.Load(promptFiles, "prompt")

// promptData is the data of the short texts. Each uses some of it.
type promptData struct {
	Name   string
	Words  []string
	Near   []string
	Limit  int
	Total  int
	Path   string
	Reason string
	Listed bool // there is a reminder that lists names
	shown
	languages
}

// shown is the schema of a tool, as an answer shows it.
type shown struct {
	Schema    string
	Shortened bool
}

// languages are those of the tools' descriptions and of a query, where they differ.
type languages struct {
	Language bm25.Language
	Asked    bm25.Language // "" where it is not known
}

// toolData is the data of the texts that describe a search tool.
type toolData struct {
	Limit, Total int

	Native  bool // results come in the provider's form
	Calls   bool // there is call_tool
	Unloads bool // tools that are not used are hidden again
	Ungated bool // calls to tools that are not loaded run
	Partial bool // the reminder may not list every name
}

// render renders one of the short texts in the language that is set.
func render(name string, h promptData) string {
	h.Name = clipped(h.Name)
	return prompts.Current().Say(name, h)
}

// plainJSON writes < and > as they are: answers are read by models, not by browsers.
var plainJSON = sonic.Config{SortMapKeys: true, ValidateString: true, CopyString: true}.Froze()

// encode never fails: the answers hold only texts and numbers.
func encode(answer any) string {
	text, err := plainJSON.MarshalToString(answer)
	if err != nil {
		return "{}"
	}
	return text
}

// clipped makes text from a model or a tool safe to quote in an answer.
func clipped(s string) string { return display.Clip(s, 80) }

const (
	// maxAnswerBytes bounds the tools in one answer.
	maxAnswerBytes = 64 << 10
	// maxSuggestions is the most near names in an answer.
	maxSuggestions = 5
	// maxNearBytes bounds a suggested name. Providers refuse longer ones.
	maxNearBytes = 256
	// maxLeftOut is the most tools that an answer names as left out.
	maxLeftOut = 20
)

// jsonSize returns the bytes of a text in JSON, or a little more.
func jsonSize(s string) int {
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

// cutText cuts a text to at most that many bytes in JSON.
func cutText(s string, most int) string {
	if jsonSize(s) <= most {
		return s
	}
	size := jsonSize("…")
	for i, c := range s {
		if size += jsonSize(string(c)) - jsonSize(""); size > most {
			return s[:i] + "…"
		}
	}
	return s
}

// schemaHint is the part of an answer that describes a tool's schema.
func schemaHint(e *hidden.Tool, reason string) promptData {
	text, shortened := e.Shown()
	return promptData{Name: e.Info.Name, Reason: reason, shown: shown{text, shortened}}
}

// checkedArguments returns the arguments to pass to a tool, or the problem with them, for the model.
func checkedArguments(e *hidden.Tool, raw string) (args, problem string) {
	args, err := e.Arguments(raw)
	switch {
	case err == hidden.ErrNoObject:
		problem = render("no-object", promptData{})
	case err != nil:
		problem = toolschema.Problem(err)
	}
	return args, problem
}

// answer is what the search tools answer, each protocol with some of it. The key "matches" is
// Eino's.
type answer struct {
	Matches       []string        `json:"matches,omitzero"`       // Keyword
	Selected      []string        `json:"selectedTools,omitzero"` // Regexp
	Results       []describedTool `json:"results,omitzero"`       // SearchLoad
	Loaded        []string        `json:"loaded,omitzero"`
	Tools         []describedTool `json:"tools,omitzero"` // SearchCall, and any with programs
	AlreadyLoaded []string        `json:"already_loaded,omitempty"`
	Hint          string          `json:"hint,omitempty"`
}

type describedTool struct {
	Name        string          `json:"name"`
	Call        string          `json:"call,omitempty"` // with programs: the signature, and nothing else
	Description *string         `json:"description,omitempty"`
	Score       *float64        `json:"score,omitempty"`
	Parameters  json.RawMessage `json:"parameters,omitempty"`
}

// matchesText is the result of a search as text.
func matchesText(names []string) string {
	return encode(answer{Matches: append([]string{}, names...)})
}

// envelope is the list of hidden tools, and what it says of the rest.
func envelope(names []string, rest string) string {
	if len(names) == 0 {
		return ""
	}
	if rest != "" {
		rest += "\n"
	}
	return toolnames.ReminderOpen + "\n" + toolnames.Lines(names) + rest + toolnames.ReminderClose
}
