// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package toolschema

// Servers write keywords with values of the wrong type: "required": "a", "type": "any", null for
// everything that is not set. Such a keyword is repaired where its meaning is certain, and dropped
// otherwise, so that the tool and the rest of its schema stay.

import (
	"encoding/json"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// Repair returns a schema in which every keyword has a value of the right type, and reports whether
// it differs. It copies what it changes. A value that is no schema stands for any value.
func Repair(s any) (repaired any, changed bool) { return repair(s, RepairNode) }

// repair repairs each schema within a schema with a function.
func repair(s any, one func(map[string]any) (map[string]any, bool)) (repaired any, changed bool) {
	if _, isBool := s.(bool); isBool {
		return s, false
	}
	node, ok := s.(map[string]any)
	if !ok {
		return map[string]any{}, true
	}
	node, changed = one(node)
	isCallers := !changed // whether node is still the caller's
	set := func(keyword string, value any) {
		if isCallers {
			node, isCallers = maps.Clone(node), false
		}
		node[keyword], changed = value, true
	}
	for _, keyword := range slices.Sorted(maps.Keys(node)) {
		if value, differs := repairWithin(keyword, node[keyword], one); differs {
			set(keyword, value)
		}
	}
	return node, changed
}

// repairWithin repairs the schemas in the value of a keyword.
func repairWithin(keyword string, value any, one func(map[string]any) (map[string]any, bool)) (repaired any, changed bool) {
	kind := kinds[keyword]
	switch list, isList := value.([]any); {
	case isList && (kind == kindSchemas || kind == kindItems):
		all := make([]any, len(list))
		for i, s := range list {
			right, differs := repair(s, one)
			all[i], changed = right, changed || differs
		}
		return all, changed
	case kind == kindSchema, kind == kindItems:
		return repair(value, one)
	case kind == kindNamedSchemas, kind == kindDependencies:
		members, _ := value.(map[string]any)
		all := make(map[string]any, len(members))
		for name, s := range members {
			right, differs := s, false
			if isSchema(s) {
				right, differs = repair(s, one)
			}
			all[name], changed = right, changed || differs
		}
		return all, changed
	}
	return value, false
}

// RepairNode repairs the keywords of one schema, and leaves the schemas within it.
func RepairNode(node map[string]any) (repaired map[string]any, changed bool) {
	repaired = node
	for keyword, value := range node {
		right, ok := repairKeyword(node, keyword, value)
		if ok && isSame(right, value) {
			continue
		}
		if !changed {
			repaired, changed = maps.Clone(node), true
		}
		if ok {
			repaired[keyword] = right
		} else {
			delete(repaired, keyword)
		}
	}
	return repaired, changed
}

// isSame reports whether a repair returned the value that it was given.
func isSame(a, b any) bool {
	x, y := reflect.ValueOf(a), reflect.ValueOf(b)
	if x.Kind() != y.Kind() {
		return false
	}
	switch x.Kind() {
	case reflect.Map:
		return x.Pointer() == y.Pointer()
	case reflect.Slice:
		return x.Len() == y.Len() && (x.Len() == 0 || x.Pointer() == y.Pointer())
	}
	return a == b
}

// What the value of a keyword is.
const (
	kindUnknown = iota
	kindText
	kindFlag
	kindCount
	kindNumber
	kindPositive
	kindSchema
	kindSchemas
	kindItems
	kindNamedSchemas
	kindDependencies
	kindNames
	kindNamedNames
	kindType
	kindEnum
	kindExamples
	kindValue
)

// kinds are the keywords of all drafts that tools use.
var kinds = map[string]int{
	"$schema": kindText, "$id": kindText, "$ref": kindText, "$anchor": kindText, "$dynamicRef": kindText, "$dynamicAnchor": kindText,
	"$comment": kindText, "pattern": kindText, "format": kindText, "title": kindText, "description": kindText,
	"contentEncoding": kindText, "contentMediaType": kindText,

	"uniqueItems": kindFlag, "deprecated": kindFlag, "readOnly": kindFlag, "writeOnly": kindFlag,

	"maxLength": kindCount, "minLength": kindCount, "maxItems": kindCount, "minItems": kindCount, "maxContains": kindCount,
	"minContains": kindCount, "maxProperties": kindCount, "minProperties": kindCount,

	"maximum": kindNumber, "minimum": kindNumber, "exclusiveMaximum": kindNumber, "exclusiveMinimum": kindNumber, "multipleOf": kindPositive,

	"not": kindSchema, "if": kindSchema, "then": kindSchema, "else": kindSchema, "contains": kindSchema, "propertyNames": kindSchema,
	"contentSchema": kindSchema, "additionalProperties": kindSchema, "unevaluatedProperties": kindSchema, "unevaluatedItems": kindSchema,
	"additionalItems": kindSchema,

	"allOf": kindSchemas, "anyOf": kindSchemas, "oneOf": kindSchemas, "prefixItems": kindSchemas, "items": kindItems,

	"properties": kindNamedSchemas, "patternProperties": kindNamedSchemas, "dependentSchemas": kindNamedSchemas, "$defs": kindNamedSchemas,
	"definitions": kindNamedSchemas, "dependencies": kindDependencies,

	"required": kindNames, "dependentRequired": kindNamedNames,

	"type": kindType, "enum": kindEnum, "examples": kindExamples, "const": kindValue, "default": kindValue,
}

// repairKeyword returns the value of a keyword as it must be; ok is false if it has none.
func repairKeyword(node map[string]any, keyword string, value any) (right any, ok bool) {
	kind := kinds[keyword]
	if kind == kindUnknown {
		return value, !isOtherCase(keyword)
	}
	if value == nil && kind != kindValue && kind != kindExamples {
		return nil, false // as if it was not set
	}
	switch kind {
	case kindText:
		_, ok = value.(string)
		return value, ok
	case kindFlag:
		_, ok = value.(bool)
		return value, ok
	case kindCount:
		return countIn(value)
	case kindNumber, kindPositive:
		number, ok := numberIn(value)
		return number, ok && (kind == kindNumber || !isZeroOrLess(number))
	case kindSchema:
		return value, isSchema(value)
	case kindItems:
		_, isList := value.([]any)
		return value, isList || isSchema(value)
	case kindSchemas:
		return schemasIn(value)
	case kindNamedSchemas, kindDependencies, kindNamedNames:
		return namedIn(kind, value)
	case kindNames:
		if name, isText := value.(string); isText { // a word such as yes, where it is no name of a property
			properties, _ := node["properties"].(map[string]any)
			if _, ok := properties[name]; !ok {
				return nil, false
			}
		}
		return namesIn(value)
	case kindType:
		return typeIn(value)
	case kindEnum:
		list, isList := value.([]any)
		return value, isList && len(list) > 0
	case kindExamples:
		_, isList := value.([]any)
		return value, isList || value == nil
	}
	return value, true
}

// isOtherCase reports whether an unknown keyword is a known one in other letters. A reader of Go would take
// it for that one.
func isOtherCase(keyword string) bool { return byLetters[inOneCase(keyword)] }

var byLetters = func() map[string]bool {
	all := map[string]bool{}
	for keyword := range kinds {
		all[inOneCase(keyword)] = true
	}
	return all
}()

func inOneCase(s string) string { return strings.ToLower(strings.ToUpper(s)) }

func isSchema(v any) bool {
	switch v.(type) {
	case bool, map[string]any:
		return true
	}
	return false
}

// numberIn returns a number, or the one that a string is.
func numberIn(v any) (number any, ok bool) {
	switch v := v.(type) {
	case json.Number:
		return v, json.Valid([]byte(v))
	case string:
		text := strings.TrimSpace(v)
		var n json.Number
		if text == "" || strings.HasPrefix(text, `"`) || json.Unmarshal([]byte(text), &n) != nil || n == "" {
			return nil, false
		}
		return n, true
	case nil, bool, []any, map[string]any:
		return nil, false
	case float64:
		return v, !math.IsNaN(v) && !math.IsInf(v, 0)
	}
	return v, reflect.TypeOf(v).ConvertibleTo(reflect.TypeFor[float64]())
}

func textOf(number any) string {
	text, _ := json.Marshal(number) // what numberIn returns can be written
	return string(text)
}

func isZeroOrLess(number any) bool {
	text := textOf(number)
	return strings.HasPrefix(text, "-") || strings.Trim(strings.SplitN(strings.ToLower(text), "e", 2)[0], "0.") == ""
}

// countIn returns a whole number, which may be written as 10.0 or "10".
func countIn(v any) (count any, ok bool) {
	number, ok := numberIn(v)
	if !ok {
		return nil, false
	}
	text := textOf(number)
	if _, err := strconv.ParseUint(text, 10, 64); err == nil {
		return number, true
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || f < 0 || f >= 1<<63 || f != math.Trunc(f) {
		return nil, false
	}
	return json.Number(strconv.FormatUint(uint64(f), 10)), true
}

// schemasIn returns a list of schemas: one by itself is a list of it.
func schemasIn(v any) (list any, ok bool) {
	if one, isOne := v.(map[string]any); isOne {
		return []any{one}, true
	}
	all, ok := v.([]any)
	if !ok {
		return nil, false
	}
	if slices.ContainsFunc(all, func(s any) bool { return !isSchema(s) }) {
		all = slices.DeleteFunc(slices.Clone(all), func(s any) bool { return !isSchema(s) })
	}
	return all, len(all) > 0
}

// namedIn returns an object without the members that are of the wrong type. A property that has no
// schema may have any value.
func namedIn(kind int, v any) (object any, ok bool) {
	members, ok := v.(map[string]any)
	if !ok {
		return nil, false
	}
	isCallers := members
	set := func(name string, value any, keep bool) {
		if len(isCallers) > 0 && reflect.ValueOf(isCallers).Pointer() == reflect.ValueOf(members).Pointer() {
			isCallers = maps.Clone(members)
		}
		if keep {
			isCallers[name] = value
		} else {
			delete(isCallers, name)
		}
	}
	for name, member := range members {
		if kind == kindNamedSchemas || kind == kindDependencies && isSchema(member) {
			if !isSchema(member) {
				set(name, map[string]any{}, true)
			}
			continue
		}
		names, ok := namesIn(member)
		if !ok || !isSame(names, member) {
			set(name, names, ok)
		}
	}
	return isCallers, true
}

// namesIn returns a list of names, each once: one by itself is a list of it.
func namesIn(v any) (names any, ok bool) {
	switch v := v.(type) {
	case string:
		return []any{v}, true
	case []string:
		return v, true
	case []any:
		seen := map[any]bool{}
		var right []any
		for _, name := range v {
			if text, isText := name.(string); isText && !seen[text] {
				seen[text] = true
				right = append(right, name)
			}
		}
		if len(right) == len(v) {
			return v, true
		}
		return right, len(right) > 0
	}
	return nil, false
}

// typeNames are the types of JSON Schema.
var typeNames = []string{"string", "number", "integer", "boolean", "object", "array", "null"}

// otherTypes are what programming languages and other formats call them.
var otherTypes = map[string]string{
	"str": "string", "text": "string", "char": "string", "file": "string", "date": "string", "datetime": "string", "date-time": "string",
	"time": "string", "uuid": "string", "uri": "string", "url": "string", "email": "string", "binary": "string", "bytes": "string",
	"enum": "string", "int": "integer", "int32": "integer", "int64": "integer", "long": "integer", "uint": "integer", "bigint": "integer",
	"float": "number", "float32": "number", "float64": "number", "double": "number", "decimal": "number", "bool": "boolean",
	"dict": "object", "map": "object", "struct": "object", "record": "object", "list": "array", "tuple": "array", "set": "array",
	"none": "null", "nonetype": "null", "nil": "null",
}

// IsType reports whether a value of the keyword type is one of JSON Schema, or a list with one.
func IsType(v any) bool {
	if list, isList := v.([]any); isList {
		return slices.ContainsFunc(list, IsType)
	}
	name, _ := v.(string)
	return slices.Contains(typeNames, name)
}

// typeIn returns a type or a list of types. What is no type, such as "any", leaves it open.
func typeIn(v any) (typ any, ok bool) {
	switch v := v.(type) {
	case string:
		name := typeName(v)
		return name, name != ""
	case []string:
		return v, len(v) > 0
	case []any:
		var right []any
		isEqual := true
		for _, member := range v {
			name := "null"
			if member != nil {
				text, _ := member.(string)
				name = typeName(text)
			}
			if name == "" {
				return nil, false
			}
			if slices.Contains(right, any(name)) {
				isEqual = false
				continue
			}
			isEqual = isEqual && member == any(name)
			right = append(right, name)
		}
		if isEqual {
			return v, len(v) > 0
		}
		return right, len(right) > 0
	}
	return nil, false
}

// typeName returns the name of a type in JSON Schema; "" if there is none.
func typeName(name string) string {
	name = strings.ToLower(strings.TrimSpace(name))
	if slices.Contains(typeNames, name) {
		return name
	}
	return otherTypes[name]
}
