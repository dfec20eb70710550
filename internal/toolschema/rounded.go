// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package toolschema

// Numbers of a program that may be another integer than the one that was meant.

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Rounded finds a number in arguments that may have been rounded: one of 2^53 and more, written with
// an exponent, where the schema asks for an integer, or does not ask for any number. Where it asks
// for any number, it is what was meant. It returns the path to it; "" if there is none.
func (c *Check) Rounded(arguments string) (path string) {
	if !strings.Contains(arguments, "e+") {
		return ""
	}
	d := json.NewDecoder(strings.NewReader(arguments))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return ""
	}
	w := walker{steps: maxCheckSteps}
	var at []any
	if c != nil {
		w.root, at = c.tree, []any{c.tree}
	}
	return w.rounded(at, v, "", 0)
}

// rounded looks for it below a value, to which each of the schemas may apply.
func (w *walker) rounded(schemas []any, value any, path string, depth int) string {
	if w.steps--; w.steps < 0 || depth > MaxDepth {
		return ""
	}
	schemas = w.alternatives(schemas, 0)
	switch v := value.(type) {
	case json.Number:
		if mayBeRounded(v.String(), schemas) {
			return path
		}
	case []any:
		for i, x := range v {
			if found := w.rounded(below(schemas, "items", ""), x, path+"["+strconv.Itoa(i)+"]", depth+1); found != "" {
				return found
			}
		}
	case map[string]any:
		for key, x := range v {
			if found := w.rounded(below(schemas, "properties", key), x, strings.TrimPrefix(path+"."+key, "."), depth+1); found != "" {
				return found
			}
		}
	}
	return ""
}

// alternatives are schemas with all that they refer to and consist of.
func (w *walker) alternatives(schemas []any, depth int) (all []any) {
	for _, s := range schemas {
		keywords, _ := s.(map[string]any)
		all = append(all, s)
		if w.steps--; w.steps < 0 || depth > MaxDepth {
			return all
		}
		if target, ok := w.follow(keywords["$ref"]); ok && keywords["$ref"] != nil {
			all = append(all, w.alternatives([]any{target}, depth+1)...)
		}
		for _, of := range []string{"allOf", "anyOf", "oneOf"} {
			list, _ := keywords[of].([]any)
			all = append(all, w.alternatives(list, depth+1)...)
		}
	}
	return all
}

// below are the schemas of an item, or of the property with a name.
func below(schemas []any, keyword, name string) (list []any) {
	for _, s := range schemas {
		keywords, _ := s.(map[string]any)
		if keyword == "items" {
			list = append(list, keywords[keyword])
			continue
		}
		properties, _ := keywords[keyword].(map[string]any)
		if p, ok := properties[name]; ok {
			list = append(list, p)
		} else {
			list = append(list, keywords["additionalProperties"])
		}
	}
	return list
}

// mayBeRounded reports whether a number is one that an integer may have become.
func mayBeRounded(number string, schemas []any) bool {
	const first, past = 1 << 53, 1e21 // integers of more digits are no ids: JavaScript itself writes them so
	f, err := strconv.ParseFloat(number, 64)
	if err != nil || !strings.Contains(number, "e+") || math.Abs(f) < first {
		return false
	}
	var types []any
	for _, s := range schemas {
		keywords, _ := s.(map[string]any)
		list, isList := keywords["type"].([]any)
		if !isList {
			list = []any{keywords["type"]}
		}
		types = append(types, list...)
	}
	if slices.Contains(types, "integer") {
		return true
	}
	return !slices.Contains(types, "number") && math.Abs(f) < past
}
