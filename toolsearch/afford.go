// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// This file says whether checking a value against a schema ends in time. Schemas come from
// strangers: one that refers to itself can keep a checker busy for ever, or make its work
// double with every level of the value. So the checker's way through the schema is gone
// first without checking anything, and within a budget.

import (
	"strconv"
	"strings"
)

const (
	maxCheckSteps = 100_000
	maxCheckDepth = 500
	// bytesPerStep is how many bytes of a value are worth one step: a checker may match
	// patterns with them, and write them into its errors.
	bytesPerStep = 64
)

// affordable reports whether checking a value stays in budget.
func affordable(tree, value any) bool {
	w := walker{root: tree, steps: maxCheckSteps}
	return w.visit(tree, value, 0)
}

// walker visits every pair of a schema and a value that a checker may compare.
type walker struct {
	root  any
	steps int // left
}

// visit reports whether the budget is enough for a schema and a value.
func (w *walker) visit(node, value any, depth int) bool {
	w.steps -= 1 + weight(value)/bytesPerStep
	if depth > maxCheckDepth || w.steps < 0 {
		return false
	}
	keywords, _ := node.(map[string]any) // else true or false
	for keyword, sub := range keywords {
		if !w.sameValue(keyword, sub, value, depth+1) || !w.members(keyword, sub, value, depth+1) || !w.items(keyword, sub, value, depth+1) {
			return false
		}
	}
	return true
}

// sameValue visits the schemas that a keyword applies to the value itself.
func (w *walker) sameValue(keyword string, sub, value any, depth int) bool {
	switch keyword {
	case "$ref":
		target, ok := w.follow(sub)
		return ok && w.visit(target, value, depth)
	case "$dynamicRef", "$recursiveRef", "$id", "$anchor", "$dynamicAnchor":
		return false // they change what a reference means
	case "enum":
		list, _ := sub.([]any)
		w.steps -= len(list)
		return w.steps >= 0
	case "not", "if", "then", "else":
		return w.visit(sub, value, depth)
	case "allOf", "anyOf", "oneOf":
		list, _ := sub.([]any)
		for _, s := range list {
			if !w.visit(s, value, depth) {
				return false
			}
		}
	case "dependentSchemas", "dependencies":
		return w.all(sub, value, depth)
	}
	return true
}

// members visits the schemas that a keyword applies to the members of an object.
func (w *walker) members(keyword string, sub, value any, depth int) bool {
	object, ok := value.(map[string]any)
	if !ok {
		return true
	}
	properties, _ := sub.(map[string]any)
	for name, v := range object {
		fine := true
		switch keyword {
		case "properties":
			if s, ok := properties[name]; ok {
				fine = w.visit(s, v, depth)
			}
		case "patternProperties":
			fine = w.all(sub, v, depth)
		case "additionalProperties", "unevaluatedProperties":
			fine = w.visit(sub, v, depth)
		case "propertyNames":
			fine = w.visit(sub, name, depth)
		}
		if !fine {
			return false
		}
	}
	return true
}

// items visits the schemas that a keyword applies to the items of a list.
func (w *walker) items(keyword string, sub, value any, depth int) bool {
	list, ok := value.([]any)
	if !ok {
		return true
	}
	tuple, isTuple := sub.([]any)
	for i, v := range list {
		fine := true
		switch keyword {
		case "items", "prefixItems":
			if isTuple && i < len(tuple) {
				fine = w.visit(tuple[i], v, depth)
			} else if !isTuple {
				fine = w.visit(sub, v, depth)
			}
		case "contains", "additionalItems", "unevaluatedItems":
			fine = w.visit(sub, v, depth)
		}
		if !fine {
			return false
		}
	}
	return true
}

// all visits every schema of an object of schemas.
func (w *walker) all(schemas, value any, depth int) bool {
	byName, _ := schemas.(map[string]any)
	for _, s := range byName {
		if !w.visit(s, value, depth) {
			return false
		}
	}
	return true
}

// follow finds what a reference within the schema points to.
func (w *walker) follow(ref any) (target any, ok bool) {
	text, _ := ref.(string)
	path, ok := strings.CutPrefix(text, "#")
	if !ok || path != "" && path[0] != '/' {
		return nil, false
	}
	target = w.root
	for _, part := range strings.Split(path, "/")[1:] {
		switch node := target.(type) {
		case map[string]any:
			target, ok = node[unescapePointer.Replace(part)]
		case []any:
			i, err := strconv.Atoi(part)
			if ok = err == nil && i >= 0 && i < len(node); ok {
				target = node[i]
			}
		default:
			ok = false
		}
		if !ok {
			return nil, false
		}
	}
	return target, true
}

var unescapePointer = strings.NewReplacer("~1", "/", "~0", "~")

// weight is about how many bytes a value is as text.
func weight(v any) int {
	n := 8
	switch v := v.(type) {
	case string:
		n = len(v)
	case []any:
		for _, x := range v {
			n += weight(x)
		}
	case map[string]any:
		for k, x := range v {
			n += len(k) + weight(x)
		}
	}
	return n
}
