// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package toolschema

// Schemas within a bound in bytes.

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/bytedance/sonic"
)

// None is the schema of a tool that takes no arguments.
const None = `{"type":"object","properties":{}}`

// Outline shortens a JSON schema to at most that many bytes: to the schema without its
// words, or else to the names and types of its parameters, required ones first, as many as
// fit.
func Outline(text string, most int) string {
	if len(text) <= most {
		return text
	}
	var root any
	if json.Unmarshal([]byte(text), &root) != nil {
		return None
	}
	if s := encoded(withoutWords(root)); len(s) <= most {
		return s
	}
	object, _ := root.(map[string]any)
	return encoded(sketch(object, most))
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
		size := len(encoded(name)) + len(encoded(shape)) + len(`:,`)
		if slices.Contains(needs, name) {
			size += len(encoded(name)) + len(`,`)
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

// plainJSON writes < and > as they are: a model reads it.
var plainJSON = sonic.Config{SortMapKeys: true, ValidateString: true, CopyString: true}.Froze()

// encoded never fails: it writes what was read from JSON.
func encoded(v any) string {
	text, _ := plainJSON.MarshalToString(v)
	return text
}
