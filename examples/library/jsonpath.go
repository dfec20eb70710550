// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package library

// This file walks JSON documents for the server of JSON.

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sort"
	"strconv"
	"strings"
)

// steps splits users[0].name into users, 0, name; $. in front is allowed.
func steps(path string) []string {
	path = strings.NewReplacer("[", ".", "]", "", `"`, "", "'", "").Replace(strings.TrimPrefix(strings.TrimSpace(path), "$"))
	return strings.FieldsFunc(path, func(r rune) bool { return r == '.' || r == '/' })
}

func lookup(v any, path []string) (any, error) {
	for i, step := range path {
		switch at := v.(type) {
		case map[string]any:
			next, ok := at[step]
			if !ok {
				return nil, fmt.Errorf("there is no key %q; the keys are: %s", step, strings.Join(slices.Sorted(maps.Keys(at)), ", "))
			}
			v = next
		case []any:
			n, err := strconv.Atoi(step)
			if err != nil || n < 0 || n >= len(at) {
				return nil, fmt.Errorf("%q is no index of an array of %d", step, len(at))
			}
			v = at[n]
		default:
			return nil, fmt.Errorf("the value at %q is a %s and has nothing inside", strings.Join(path[:i], "."), jsonKind(v))
		}
	}
	return v, nil
}

// put sets a value, making objects on the way; an index at an array's end appends.
func put(v any, path []string, value any) (any, error) {
	if len(path) == 0 {
		return value, nil
	}
	if len(path) > 1000 {
		return nil, fmt.Errorf("the path has %d steps; at most 1000 are taken", len(path))
	}
	switch at := v.(type) {
	case []any:
		n, err := strconv.Atoi(path[0])
		if err != nil || n < 0 || n > len(at) {
			return nil, fmt.Errorf("%q is no index of an array of %d", path[0], len(at))
		}
		if n == len(at) {
			at = append(at, nil)
		}
		at[n], err = put(at[n], path[1:], value)
		return at, err
	case map[string]any:
		var err error
		at[path[0]], err = put(at[path[0]], path[1:], value)
		return at, err
	case nil:
		return put(map[string]any{}, path, value)
	}
	return nil, fmt.Errorf("the value before %q is a %s and cannot hold anything", path[0], jsonKind(v))
}

func mergePatch(target, patch any) any {
	object, ok := patch.(map[string]any)
	if !ok {
		return patch
	}
	into, ok := target.(map[string]any)
	if !ok {
		into = map[string]any{}
	}
	for k, v := range object {
		if v == nil {
			delete(into, k)
		} else {
			into[k] = mergePatch(into[k], v)
		}
	}
	return into
}

// flatten gives each leaf by its path.
func flatten(v any) map[string]any {
	out := map[string]any{}
	flattenInto(out, "", v, 0)
	return out
}

func flattenInto(out map[string]any, path string, v any, depth int) {
	object, isObject := v.(map[string]any)
	array, isArray := v.([]any)
	if depth > 200 || len(object)+len(array) == 0 {
		out[path] = v
		return
	}
	if isObject {
		for k, inner := range object {
			flattenInto(out, strings.TrimPrefix(path+"."+k, "."), inner, depth+1)
		}
	}
	if isArray {
		for i, inner := range array {
			flattenInto(out, fmt.Sprintf("%s[%d]", path, i), inner, depth+1)
		}
	}
}

func show(v any) string {
	text, err := compactJSON(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return text
}

func jsonUnflatten(in jsonIn) (string, error) {
	v, err := parseJSON(in.JSON)
	if err != nil {
		return "", err
	}
	flat, ok := v.(map[string]any)
	if !ok {
		return "", fmt.Errorf("the document must be an object of paths and values, and is %s", jsonKind(v))
	}
	var doc any = map[string]any{}
	for _, path := range slices.Sorted(maps.Keys(flat)) {
		if doc, err = put(doc, steps(path), flat[path]); err != nil {
			return "", err
		}
	}
	return indentJSON(arrays(doc))
}

// arrays turns objects whose keys are 0, 1, 2 … into arrays.
func arrays(v any) any {
	object, ok := v.(map[string]any)
	if !ok {
		return v
	}
	list := make([]any, len(object))
	for k, inner := range object {
		object[k] = arrays(inner)
		if n, err := strconv.Atoi(k); err == nil && n >= 0 && n < len(list) && strconv.Itoa(n) == k && list != nil {
			list[n] = object[k]
		} else {
			list = nil
		}
	}
	if len(list) == 0 {
		return object
	}
	return list
}

func jsonSchema(in jsonIn) (string, error) {
	v, err := parseJSON(in.JSON)
	if err != nil {
		return "", err
	}
	return indentJSON(schemaOf(v, 0))
}

func schemaOf(v any, depth int) map[string]any {
	switch v := v.(type) {
	case map[string]any:
		properties := map[string]any{}
		if depth < 100 {
			for k, inner := range v {
				properties[k] = schemaOf(inner, depth+1)
			}
		}
		return map[string]any{"type": "object", "properties": properties, "required": slices.Sorted(maps.Keys(v))}
	case []any:
		if len(v) == 0 || depth > 100 {
			return map[string]any{"type": "array"}
		}
		return map[string]any{"type": "array", "items": schemaOf(v[0], depth+1)}
	case json.Number:
		if _, err := v.Int64(); err == nil {
			return map[string]any{"type": "integer"}
		}
	}
	return map[string]any{"type": jsonKind(v)}
}

type sortJSONIn struct {
	jsonIn
	Key        string `json:"key" jsonschema_description:"The key to sort the objects by"`
	Descending bool   `json:"descending,omitempty" jsonschema_description:"Whether the largest comes first"`
}

// objects reads a JSON array of objects.
func (in jsonIn) objects() ([]map[string]any, error) {
	v, err := parseJSON(in.JSON)
	if err != nil {
		return nil, err
	}
	list, ok := v.([]any)
	if !ok || len(list) == 0 {
		return nil, fmt.Errorf("the document must be an array of objects, and is %s", jsonKind(v))
	}
	out := make([]map[string]any, len(list))
	for i, item := range list {
		if out[i], ok = item.(map[string]any); !ok {
			return nil, fmt.Errorf("item %d of the array is no object: %s", i, jsonKind(item))
		}
	}
	return out, nil
}

func jsonSort(in sortJSONIn) (string, error) {
	list, err := in.objects()
	if err != nil {
		return "", err
	}
	sort.SliceStable(list, func(i, j int) bool {
		if in.Descending {
			i, j = j, i
		}
		return lessCell(cell(list[i][in.Key]), cell(list[j][in.Key]))
	})
	return indentJSON(list)
}

// cell writes a value as a table does.
func cell(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	}
	return show(v)
}

// lessCell compares as numbers where both are, and as text otherwise.
func lessCell(a, b string) bool {
	x, errX := strconv.ParseFloat(a, 64)
	y, errY := strconv.ParseFloat(b, 64)
	if errX == nil && errY == nil {
		return x < y
	}
	return a < b
}

func jsonToCSV(in jsonIn) (string, error) {
	list, err := in.objects()
	if err != nil {
		return "", err
	}
	names := map[string]bool{}
	for _, object := range list {
		for k := range object {
			names[k] = true
		}
	}
	header := slices.Sorted(maps.Keys(names))
	if len(header)*len(list) > 200_000 {
		return "", fmt.Errorf("the table would have %d cells; at most 200000 are written", len(header)*len(list))
	}
	rows := [][]string{header}
	for _, object := range list {
		row := make([]string, len(header))
		for i, k := range header {
			row[i] = cell(object[k])
		}
		rows = append(rows, row)
	}
	return writeCSV(rows)
}

func writeCSV(rows [][]string) (string, error) {
	var out bytes.Buffer
	w := csv.NewWriter(&out)
	err := w.WriteAll(rows)
	return strings.TrimSuffix(out.String(), "\n"), err
}
