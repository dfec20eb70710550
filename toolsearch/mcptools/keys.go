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

// maxKey is how long the name of a property may be.
const maxKey = 64

var (
	fitKey   = regexp.MustCompile(`^[a-zA-Z0-9_.-]{1,64}$`)
	unfitKey = regexp.MustCompile(`[^a-zA-Z0-9_.-]`)
)

// keyNames are the names of properties by what the model sees in their place.
type keyNames map[string]string

// rename gives the properties in a mended schema names that every provider takes. No two have one
// name, wherever they are.
func (m *mender) rename(wire map[string]any) (map[string]any, keyNames) {
	used := map[string]bool{}
	eachKey(wire, used)
	var own keyNames
	shown := map[string]string{}
	for _, key := range slices.Sorted(maps.Keys(used)) {
		if fitKey.MatchString(key) {
			continue
		}
		plain := unfitKey.ReplaceAllString(key, "_")
		name := plain[:min(len(plain), maxKey)]
		for n := 2; used[name] || name == ""; n++ {
			end := fmt.Sprintf("_%d", n)
			name = plain[:min(len(plain), maxKey-len(end))] + end
		}
		if own == nil {
			own = keyNames{}
		}
		used[name], shown[key], own[name] = true, name, key
	}
	if own == nil {
		return wire, nil
	}
	m.changed = true
	return renamed(wire, shown).(map[string]any), own
}

// members are the keywords whose value has a schema for each of several names.
var members = []string{"properties", "patternProperties", "dependentSchemas", "dependencies"}

// data are the keywords whose value is no schema.
var data = []string{"const", "enum", "default", "examples"}

// eachKey notes the names of all properties in a schema.
func eachKey(v any, used map[string]bool) {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			eachKey(e, used)
		}
	case map[string]any:
		for keyword, value := range v {
			named, isNamed := value.(map[string]any)
			switch {
			case slices.Contains(data, keyword):
			case isNamed && slices.Contains(members, keyword):
				for key, s := range named {
					if keyword == "properties" {
						used[key] = true
					}
					eachKey(s, used)
				}
			default:
				eachKey(value, used)
			}
		}
	}
}

// renamed returns a copy of a schema with other names for its properties.
func renamed(v any, shown map[string]string) any {
	switch v := v.(type) {
	case []any:
		list := make([]any, len(v))
		for i, e := range v {
			list[i] = renamed(e, shown)
		}
		return list
	case map[string]any:
		node := make(map[string]any, len(v))
		for keyword, value := range v {
			named, isNamed := value.(map[string]any)
			switch {
			case slices.Contains(data, keyword):
				node[keyword] = value
			case keyword == "required":
				node[keyword] = shownNames(shown, value)
			case isNamed && (keyword == "dependentRequired" || slices.Contains(members, keyword)):
				all := make(map[string]any, len(named))
				for key, s := range named {
					if keyword != "patternProperties" {
						key = nameIn(shown, key)
					}
					if _, isNames := s.([]any); isNames {
						all[key] = shownNames(shown, s)
						continue
					}
					all[key] = renamed(s, shown)
				}
				node[keyword] = all
			default:
				node[keyword] = renamed(value, shown)
			}
		}
		return node
	}
	return v
}

func nameIn(names map[string]string, name string) string {
	if other, ok := names[name]; ok {
		return other
	}
	return name
}

// shownNames returns a list of names as the model sees them.
func shownNames(shown map[string]string, list any) []string {
	names := namesOf(list)
	for i, name := range names {
		names[i] = nameIn(shown, name)
	}
	return names
}
