// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// What answers are made of: texts in the language that Eino is set to, and JSON within a bound
// in bytes. What tools are called, do and take comes from strangers, and an answer stays in the
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

// clipped makes text of a model or a tool fit to be quoted in an answer.
func clipped(s string) string {
	const most = 80 // runes
	s = strings.ToValidUTF8(s, "\uFFFD")
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	return string([]rune(s)[:most]) + "…"
}

const (
	// maxAnswerBytes bounds what one answer holds of the tools that it returns.
	maxAnswerBytes = 64 << 10
	// maxShownSchema bounds a schema in an answer. The rest of maxAnswerBytes is for the
	// tool's description.
	maxShownSchema = 48 << 10
	// maxSuggestions is how many near names an answer holds.
	maxSuggestions = 5
	// maxNearBytes bounds the names that are suggested. Providers refuse longer ones.
	maxNearBytes = 256
	// maxLeftOut is how many of the tools that do not fit an answer names.
	maxLeftOut = 20
)

// jsonSize is the bytes of a text in JSON, or a little more.
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

// cutText cuts a text so that it takes at most that many bytes in JSON.
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

// withoutWords is a schema without what only explains it.
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

// sketch is a schema of the names and types of an object's parameters, as many as fit.
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
