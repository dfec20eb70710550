// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package library

// This file is the server of JSON documents.

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/ohler55/ojg/jp"
)

var jsonServer = group{"json", "JSON documents", []maker{
	define("json__format", "Formats a JSON document with indentation so that people can read it.",
		func(in jsonIn) (string, error) { return indentJSON(in.JSON.value) }),
	define("json__minify", "Writes a JSON document as short as possible, without blanks.",
		func(in jsonIn) (string, error) { return compactJSON(in.JSON.value) }),
	define("json__validate", "Checks whether a text is valid JSON and says where the first mistake is.", func(in struct {
		JSON string `json:"json" jsonschema_description:"The JSON document, as text"`
	}) (string, error) {
		v, err := parseJSON(in.JSON)
		if err != nil {
			return err.Error(), nil
		}
		return "valid JSON: " + jsonKind(v), nil
	}),
	define("json__get", "Gets a value out of a JSON document by its path, such as users[0].name.", func(in jsonPathIn) (string, error) {
		v, err := in.find()
		if err != nil {
			return "", err
		}
		if text, ok := v.(string); ok {
			return text, nil
		}
		return indentJSON(v)
	}),
	define("json__set", "Sets the value at a path in a JSON document and returns the new document.", func(in struct {
		jsonPathIn
		Value string `json:"value" jsonschema_description:"The new value as JSON; what is not valid JSON is taken as a string"`
	}) (string, error) {
		doc, path := in.JSON.value, in.Path.Expr
		value, err := parseJSON(in.Value)
		if err != nil {
			value = in.Value
		}
		if len(path) == 1 {
			doc = value
		} else if err := put(doc, path, value); err != nil {
			return "", err
		}
		return indentJSON(doc)
	}),
	define("json__delete", "Removes the value at a path from a JSON document and returns the new document.", func(in jsonPathIn) (string, error) {
		doc, path := in.JSON.value, in.Path.Expr
		switch {
		case len(path) == 1:
			return "", errors.New("the path is empty; the whole document cannot be removed")
		case !path.Has(doc):
			return "", missing(doc, path)
		}
		doc, err := path.Remove(doc)
		if err != nil {
			return "", err
		}
		return indentJSON(doc)
	}),
	define("json__keys", "Lists the keys of the JSON object at a path, with the type of each value.", func(in jsonPathIn) (string, error) {
		v, err := in.find()
		if err != nil {
			return "", err
		}
		object, ok := v.(map[string]any)
		if !ok {
			return "", fmt.Errorf("the value at %q is no object: %s", in.Path.text, jsonKind(v))
		}
		return joined(slices.Sorted(maps.Keys(object)), "\n", func(k string) string { return k + ": " + jsonKind(object[k]) }), nil
	}),
	define("json__merge", "Merges a JSON document into another (merge patch, RFC 7396): objects deeply, null removes.",
		func(in twoJSONIn) (string, error) { return indentJSON(mergePatch(in.First.value, in.Second.value)) }),
	define("json__diff", "Lists the differences between two JSON documents, path by path.", func(in twoJSONIn) (string, error) {
		a, b := flatten(in.First.value), flatten(in.Second.value)
		var out []string
		for _, path := range slices.Sorted(maps.Keys(a)) {
			if other, ok := b[path]; !ok {
				out = append(out, fmt.Sprintf("- %s: %v", path, show(a[path])))
			} else if !reflect.DeepEqual(a[path], other) {
				out = append(out, fmt.Sprintf("~ %s: %v -> %v", path, show(a[path]), show(other)))
			}
		}
		for _, path := range slices.Sorted(maps.Keys(b)) {
			if _, ok := a[path]; !ok {
				out = append(out, fmt.Sprintf("+ %s: %v", path, show(b[path])))
			}
		}
		return listed(out, "no differences"), nil
	}),
	define("json__flatten", "Flattens a nested JSON document into one level of dotted paths.",
		func(in jsonIn) (string, error) { return indentJSON(flatten(in.JSON.value)) }),
	define("json__unflatten", "Builds a nested JSON document from one level of dotted paths.", func(in jsonIn) (string, error) {
		flat, ok := in.JSON.value.(map[string]any)
		if !ok {
			return "", fmt.Errorf("the document must be an object of paths and values, and is %s", jsonKind(in.JSON.value))
		}
		var doc any = map[string]any{}
		for _, key := range slices.Sorted(maps.Keys(flat)) {
			path, err := parseJSONPath(key)
			if err == nil {
				err = put(doc, path, flat[key])
			}
			if err != nil {
				return "", err
			}
		}
		return indentJSON(doc)
	}),
	define("json__infer_schema", "Infers a simple JSON Schema from an example document.",
		func(in jsonIn) (string, error) { return indentJSON(schemaOf(in.JSON.value, 0)) }),
	define("json__sort_array", "Sorts a JSON array of objects by one of their keys.", func(in struct {
		jsonIn
		Key        string `json:"key" jsonschema_description:"The key to sort the objects by"`
		Descending bool   `json:"descending,omitempty" jsonschema_description:"Whether the largest comes first"`
	}) (string, error) {
		list, err := in.objects()
		if err != nil {
			return "", err
		}
		arrange(list, in.Descending, func(a, b map[string]any) bool { return lessCell(cell(a[in.Key]), cell(b[in.Key])) })
		return indentJSON(list)
	}),
	define("json__to_csv", "Turns a JSON array of objects into CSV with a header line.", func(in jsonIn) (string, error) {
		list, err := in.objects()
		if err != nil {
			return "", err
		}
		all := map[string]any{}
		for _, object := range list {
			maps.Copy(all, object)
		}
		header := slices.Sorted(maps.Keys(all))
		if len(header)*len(list) > 200_000 {
			return "", fmt.Errorf("the table would have %d cells; at most 200000 are written", len(header)*len(list))
		}
		rows := [][]string{header}
		for _, object := range list {
			rows = append(rows, each(header, func(k string) string { return cell(object[k]) }))
		}
		return writeCSV(rows, ',')
	}),
}}

type jsonIn struct {
	JSON document `json:"json" jsonschema_description:"The JSON document, as text"`
}

// document is an argument that is a JSON document.
type document struct {
	written
	value any
}

// UnmarshalJSON reads the document.
func (d *document) UnmarshalJSON(sent []byte) error {
	return decodeText(sent, &d.written, &d.value, parseJSON)
}

// parseJSON keeps numbers as they were written.
func parseJSON(text string) (any, error) {
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	var v any
	err := dec.Decode(&v)
	if err == nil {
		if _, more := dec.Token(); !errors.Is(more, io.EOF) {
			err = errors.New("there is more text after the document")
		}
	}
	if err != nil {
		return nil, fmt.Errorf("the text is not valid JSON: %w%s", err, jsonPosition(text, err))
	}
	return v, nil
}

func jsonPosition(text string, err error) string {
	var wrong *json.SyntaxError
	if !errors.As(err, &wrong) {
		return ""
	}
	before := text[:min(int(wrong.Offset), len(text))]
	return fmt.Sprintf(" (line %d, column %d)", strings.Count(before, "\n")+1, len(before)-strings.LastIndexByte(before, '\n')-1)
}

func indentJSON(v any) (string, error) {
	text, err := compactJSON(v)
	if err != nil {
		return "", err
	}
	var out bytes.Buffer
	err = json.Indent(&out, []byte(text), "", "  ")
	if out.Len() > maxAnswer { // indentation of deep nesting grows with its square
		return text, err
	}
	return out.String(), err
}

func jsonKind(v any) string {
	switch v := v.(type) {
	case map[string]any:
		return fmt.Sprintf("object with %d keys", len(v))
	case []any:
		return fmt.Sprintf("array of %d", len(v))
	case string:
		return "string"
	case json.Number:
		return "number"
	case bool:
		return "boolean"
	}
	return "null"
}

type jsonPathIn struct {
	jsonIn
	Path jsonPath `json:"path" jsonschema_description:"The path, such as users[0].name; a lone dot is the whole document"`
}

// jsonPath is an argument that is a JSONPath, or names and indices in which names need no quotes.
type jsonPath struct {
	written
	jp.Expr
}

// UnmarshalJSON reads the path.
func (p *jsonPath) UnmarshalJSON(sent []byte) error {
	return decodeText(sent, &p.written, &p.Expr, parseJSONPath)
}

func parseJSONPath(text string) (jp.Expr, error) {
	path, err := jp.ParseString(text)
	if err != nil {
		path = nil
		for _, step := range strings.FieldsFunc(strings.TrimPrefix(text, "$"), func(r rune) bool { return strings.ContainsRune(`.[]'"/`, r) }) {
			if n, err := strconv.Atoi(step); err == nil {
				path = path.N(n)
			} else {
				path = path.C(step)
			}
		}
	}
	if len(path) > 1000 {
		return nil, fmt.Errorf("the path has %d steps; at most 1000 are taken", len(path))
	}
	if len(path) == 0 || path[0] != jp.Root('$') {
		path = append(jp.R(), path...)
	}
	return path, nil
}

// missing says where a path leaves the document.
func missing(doc any, path jp.Expr) error {
	for n := len(path) - 1; n > 0; n-- {
		at, ok := path[:n].FirstFound(doc)
		if object, isObject := at.(map[string]any); isObject {
			return fmt.Errorf("there is no key %q; the keys are: %s", strings.Trim(path[n:n+1].String(), `."[]'`), strings.Join(slices.Sorted(maps.Keys(object)), ", "))
		} else if ok {
			return fmt.Errorf("there is no %s in the value at %s, which is: %s", path[n:n+1], path[:n], jsonKind(at))
		}
	}
	return fmt.Errorf("nothing in the document is at %s", path)
}

func (in jsonPathIn) find() (any, error) {
	switch found := in.Path.Get(in.JSON.value); {
	case len(found) == 0:
		return nil, missing(in.JSON.value, in.Path.Expr)
	case in.Path.Normal():
		return found[0], nil
	default:
		return found, nil
	}
}

// maxIndex is the length up to which setting a value extends an array.
const maxIndex = 10_000

// put sets a value, and makes the objects and arrays on the way to it.
func put(doc any, path jp.Expr, value any) error {
	for i := 1; i < len(path); i++ {
		n, isIndex := path[i].(jp.Nth)
		if list, ok := path[:i].First(doc).([]any); ok && isIndex && int(n) >= len(list) && n < maxIndex {
			if err := path[:i].Set(doc, slices.Concat(list, make([]any, int(n)+1-len(list)))); err != nil {
				return err
			}
		}
		if i+1 == len(path) || path[:i+1].First(doc) != nil {
			continue
		}
		var inner any = map[string]any{}
		if _, ok := path[i+1].(jp.Nth); ok {
			inner = []any{}
		}
		if err := path[:i+1].Set(doc, inner); err != nil {
			return err
		}
	}
	return path.Set(doc, value)
}

type twoJSONIn struct {
	First  document `json:"first" jsonschema_description:"The first JSON document"`
	Second document `json:"second" jsonschema_description:"The second JSON document"`
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
	object, _ := v.(map[string]any)
	array, _ := v.([]any)
	if depth > 200 || len(object)+len(array) == 0 {
		out[path] = v
		return
	}
	for k, inner := range object {
		flattenInto(out, strings.TrimPrefix(path+"."+k, "."), inner, depth+1)
	}
	for i, inner := range array {
		flattenInto(out, fmt.Sprintf("%s[%d]", path, i), inner, depth+1)
	}
}

func show(v any) string {
	text, err := compactJSON(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return text
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

// objects reads a JSON array of objects.
func (in jsonIn) objects() ([]map[string]any, error) {
	list, ok := in.JSON.value.([]any)
	if !ok || len(list) == 0 {
		return nil, fmt.Errorf("the document must be an array of objects, and is %s", jsonKind(in.JSON.value))
	}
	out := make([]map[string]any, len(list))
	for i, item := range list {
		if out[i], ok = item.(map[string]any); !ok {
			return nil, fmt.Errorf("item %d of the array is no object: %s", i, jsonKind(item))
		}
	}
	return out, nil
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
