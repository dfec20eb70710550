// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package mcptools

// Names of properties that a provider refuses: the model sees others, and the server gets its own.

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
)

// maxPropertyName is the maximal length of a property's name.
const maxPropertyName = 64

var (
	validProperty       = regexp.MustCompile(`^[a-zA-Z0-9_.-]{1,64}$`)
	invalidPropertyByte = regexp.MustCompile(`[^a-zA-Z0-9_.-]`)
)

// propertyNames maps the names that the model sees to the server's own names of properties.
type propertyNames map[string]string

// renameProperties gives the properties in a repaired schema names that every provider accepts. No two
// properties share a name, wherever they are.
func (r *schemaRepairer) renameProperties(wire map[string]any) (map[string]any, propertyNames) {
	used := map[string]bool{}
	collectProperties(wire, used)
	var renamed propertyNames
	shown := map[string]string{}
	for _, key := range slices.Sorted(maps.Keys(used)) {
		if validProperty.MatchString(key) {
			continue
		}
		plain := invalidPropertyByte.ReplaceAllString(key, "_")
		name := plain[:min(len(plain), maxPropertyName)]
		for n := 2; used[name] || name == ""; n++ {
			end := fmt.Sprintf("_%d", n)
			name = plain[:min(len(plain), maxPropertyName-len(end))] + end
		}
		if renamed == nil {
			renamed = propertyNames{}
		}
		used[name], shown[key], renamed[name] = true, name, key
	}
	if renamed == nil {
		return wire, nil
	}
	r.isChanged = true
	return applyNames(wire, shown).(map[string]any), renamed
}

// schemaMaps are the keywords whose value maps names to schemas.
var schemaMaps = []string{"properties", "patternProperties", "dependentSchemas", "dependencies"}

// dataKeywords are the keywords whose value is no schema.
var dataKeywords = []string{"const", "enum", "default", "examples"}

// collectProperties adds the names of all properties in a schema to used.
func collectProperties(v any, used map[string]bool) {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			collectProperties(e, used)
		}
	case map[string]any:
		for keyword, value := range v {
			named, isNamed := value.(map[string]any)
			switch {
			case slices.Contains(dataKeywords, keyword):
			case isNamed && slices.Contains(schemaMaps, keyword):
				for key, s := range named {
					if keyword == "properties" {
						used[key] = true
					}
					collectProperties(s, used)
				}
			default:
				collectProperties(value, used)
			}
		}
	}
}

// applyNames returns a copy of a schema with other names for its properties.
func applyNames(v any, shown map[string]string) any {
	switch v := v.(type) {
	case []any:
		list := make([]any, len(v))
		for i, e := range v {
			list[i] = applyNames(e, shown)
		}
		return list
	case map[string]any:
		node := make(map[string]any, len(v))
		for keyword, value := range v {
			named, isNamed := value.(map[string]any)
			switch {
			case slices.Contains(dataKeywords, keyword):
				node[keyword] = value
			case keyword == "required":
				node[keyword] = translateAll(shown, value)
			case isNamed && (keyword == "dependentRequired" || slices.Contains(schemaMaps, keyword)):
				all := make(map[string]any, len(named))
				for key, s := range named {
					if keyword != "patternProperties" {
						key = translate(shown, key)
					}
					if _, isNames := s.([]any); isNames {
						all[key] = translateAll(shown, s)
						continue
					}
					all[key] = applyNames(s, shown)
				}
				node[keyword] = all
			default:
				node[keyword] = applyNames(value, shown)
			}
		}
		return node
	}
	return v
}

func translate(names map[string]string, name string) string {
	if other, ok := names[name]; ok {
		return other
	}
	return name
}

// translateAll returns a list of names as the model sees them.
func translateAll(shown map[string]string, list any) []string {
	names := stringList(list)
	for i, name := range names {
		names[i] = translate(shown, name)
	}
	return names
}
