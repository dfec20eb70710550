// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package reference

// What a tool's schema says of a place in its arguments.

import (
	"encoding/json"
	"slices"

	"github.com/einolean/einolean/internal/toolschema"
)

// TakesOnlyString reports whether a schema, as JSON, demands a string in a place. ok is false if it does not describe
// the place.
func TakesOnlyString(schema string, place []string) (onlyString, ok bool) {
	var root any
	if schema == "" || json.Unmarshal([]byte(schema), &root) != nil {
		return false, false
	}
	r, node := schemaReader{root}, root
	for _, key := range place {
		if node, ok = r.below(node, key, 0); !ok {
			return false, false
		}
	}
	return r.isOnlyString(node, 0)
}

// schemaReader reads the parts of a schema.
type schemaReader struct{ root any }

// maxDepth is how deep references and alternatives are followed.
const maxDepth = 8

// below returns the schema of a member or of the elements. Of alternatives, it is that of the first which has one.
func (r schemaReader) below(node any, key string, depth int) (next any, ok bool) {
	object, _ := node.(map[string]any)
	if object == nil || depth > maxDepth {
		return nil, false
	}
	if key == Element {
		if next, ok = object["items"].(map[string]any); ok {
			return next, true
		}
	} else {
		properties, _ := object["properties"].(map[string]any)
		if next, ok = properties[key]; ok {
			return next, true
		}
		if next, ok = object["additionalProperties"].(map[string]any); ok {
			return next, true
		}
	}
	if target, ok := toolschema.Follow(r.root, object["$ref"]); ok {
		return r.below(target, key, depth+1)
	}
	for _, keyword := range []string{"allOf", "anyOf", "oneOf"} {
		alternatives, _ := object[keyword].([]any)
		for _, each := range alternatives {
			if next, ok = r.below(each, key, depth+1); ok {
				return next, true
			}
		}
	}
	return nil, false
}

func (r schemaReader) isOnlyString(node any, depth int) (onlyString, ok bool) {
	object, isObject := node.(map[string]any)
	if !isObject || depth > maxDepth {
		return false, false
	}
	if ref := object["$ref"]; ref != nil {
		target, ok := toolschema.Follow(r.root, ref)
		if !ok {
			return false, false
		}
		return r.isOnlyString(target, depth+1)
	}
	switch types := object["type"].(type) {
	case string:
		return types == "string", true
	case []any:
		isOther := func(t any) bool { return t != "string" && t != "null" }
		return !slices.ContainsFunc(types, isOther), true
	}
	if parts, _ := object["allOf"].([]any); len(parts) > 0 {
		return r.isOneOnlyString(parts, depth)
	}
	for _, keyword := range []string{"anyOf", "oneOf"} {
		if alternatives, _ := object[keyword].([]any); len(alternatives) > 0 {
			return r.areAllOnlyString(alternatives, depth)
		}
	}
	return false, true
}

// isOneOnlyString reports whether one of the schemas, which all apply, demands a string.
func (r schemaReader) isOneOnlyString(parts []any, depth int) (onlyString, ok bool) {
	ok = true
	for _, each := range parts {
		one, known := r.isOnlyString(each, depth+1)
		if one && known {
			return true, true
		}
		ok = ok && known
	}
	return false, ok
}

// areAllOnlyString reports whether each of the alternatives demands a string or null.
func (r schemaReader) areAllOnlyString(alternatives []any, depth int) (onlyString, ok bool) {
	for _, each := range alternatives {
		if isNull(each) {
			continue
		}
		if onlyString, ok = r.isOnlyString(each, depth+1); !ok || !onlyString {
			return onlyString, ok
		}
	}
	return true, true
}

func isNull(node any) bool {
	object, _ := node.(map[string]any)
	return object["type"] == "null"
}
