// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// The texts of answers, in the language that Eino is set to, and JSON within a bound in bytes.
// Names, descriptions and schemas of tools are untrusted, and an answer stays in the
// conversation.

import (
	"embed"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/bytedance/sonic"

	"github.com/leanctx/leanctx/internal/texts"
)

//go:embed prompt
var promptFiles embed.FS

// prompts are the texts. Each file name.en.md is one text; short.en.tmpl defines the short
// ones.
var prompts = texts.Load(promptFiles, "prompt")

// promptData is the data of the templates. Each uses some of it.
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
	Shortened bool // the schema is shortened
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
func clipped(s string) string {
	const most = 80 // runes
	s = strings.ToValidUTF8(s, "\uFFFD")
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	return string([]rune(s)[:most]) + "…"
}

const (
	// maxAnswerBytes bounds the tools in one answer.
	maxAnswerBytes = 64 << 10
	// maxShownSchema bounds a schema in an answer. The rest of maxAnswerBytes is for the
	// tool's description.
	maxShownSchema = 48 << 10
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

// noParameters is the schema of a tool that takes none.
const noParameters = `{"type":"object","properties":{}}`

// outline shortens a JSON schema to at most that many bytes: to the schema without its
// words, or else to the names and types of its parameters, required ones first, as many as
// fit.
func outline(text string, most int) string {
	if len(text) <= most {
		return text
	}
	var root any
	if json.Unmarshal([]byte(text), &root) != nil {
		return noParameters
	}
	if s := encode(withoutWords(root)); len(s) <= most {
		return s
	}
	object, _ := root.(map[string]any)
	return encode(sketch(object, most))
}

// withoutWords returns a schema without its titles, descriptions and the like.
func withoutWords(schema any) any {
	switch s := schema.(type) {
	case []any:
		for i := range s {
			s[i] = withoutWords(s[i])
		}
	case map[string]any:
		for _, key := range []string{"description", "title", "examples", "default", "$comment"} {
			delete(s, key)
		}
		for key, v := range s {
			switch key {
			case "enum", "const", "required", "dependentRequired":
			case "properties", "patternProperties", "$defs", "definitions", "dependentSchemas":
				named, _ := v.(map[string]any)
				for name, p := range named {
					named[name] = withoutWords(p)
				}
			default:
				s[key] = withoutWords(v)
			}
		}
	}
	return schema
}

// sketch returns a schema of the names and types of an object's parameters, as many as fit.
func sketch(object map[string]any, most int) map[string]any {
	properties, required := map[string]any{}, []string{}
	given, _ := object["properties"].(map[string]any)
	needs := []string{}
	list, _ := object["required"].([]any)
	for _, v := range list {
		if name, ok := v.(string); ok {
			needs = append(needs, name)
		}
	}
	left := most - len(`{"properties":{},"required":[],"type":"object"}`)
	for _, name := range append(slices.Clone(needs), slices.Sorted(maps.Keys(given))...) {
		p, ok := given[name]
		if _, known := properties[name]; known || !ok {
			continue
		}
		shape := map[string]any{}
		if s, ok := p.(map[string]any); ok {
			if typ, ok := s["type"].(string); ok {
				shape["type"] = typ
			}
		}
		size := jsonSize(name) + len(encode(shape)) + len(`:,`)
		if slices.Contains(needs, name) {
			size += jsonSize(name)
		}
		if size > left {
			continue
		}
		left -= size
		if properties[name] = shape; slices.Contains(needs, name) {
			required = append(required, name)
		}
	}
	return map[string]any{"type": "object", "properties": properties, "required": required}
}
