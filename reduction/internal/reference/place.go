// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package reference

// What a tool's schema says of a place in its arguments.

import (
	"encoding/json"
	"slices"
)

// TakesOnlyString reports whether a schema, as JSON, demands a string in a place. ok is false if it does not describe
// the place.
func TakesOnlyString(schema string, place []string) (onlyString, ok bool) {
	var node any
	if schema == "" || json.Unmarshal([]byte(schema), &node) != nil {
		return false, false
	}
	for _, key := range place {
		if node, ok = below(node, key); !ok {
			return false, false
		}
	}
	return onlyStringIn(node, 0)
}

// below returns the schema of a member or of the elements.
func below(node any, key string) (next any, ok bool) {
	object, _ := node.(map[string]any)
	if key == Element {
		next, ok = object["items"].(map[string]any)
		return next, ok
	}
	properties, _ := object["properties"].(map[string]any)
	if next, ok = properties[key]; ok {
		return next, true
	}
	next, ok = object["additionalProperties"].(map[string]any)
	return next, ok
}

// maxAlternatives is how deep alternatives of alternatives are read.
const maxAlternatives = 8

func onlyStringIn(node any, depth int) (onlyString, ok bool) {
	object, isObject := node.(map[string]any)
	if !isObject || object["$ref"] != nil || depth > maxAlternatives {
		return false, false
	}
	switch types := object["type"].(type) {
	case string:
		return types == "string", true
	case []any:
		isOther := func(t any) bool { return t != "string" && t != "null" }
		return !slices.ContainsFunc(types, isOther), true
	}
	for _, keyword := range []string{"anyOf", "oneOf"} {
		alternatives, _ := object[keyword].([]any)
		for _, each := range alternatives {
			if isNull(each) {
				continue
			}
			if onlyString, ok = onlyStringIn(each, depth+1); !ok || !onlyString {
				return onlyString, ok
			}
		}
		if len(alternatives) > 0 {
			return true, true
		}
	}
	return false, true
}

func isNull(node any) bool {
	object, _ := node.(map[string]any)
	return object["type"] == "null"
}
