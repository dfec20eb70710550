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

	"github.com/cloudwego/eino/components/tool"
)

func jsonServer() Server {
	return Server{Name: "json", Title: "JSON documents", Tools: []tool.BaseTool{
		define("json__format", "Formats a JSON document with indentation so that people can read it.", jsonFormat),
		define("json__minify", "Writes a JSON document as short as possible, without blanks.", jsonMinify),
		define("json__validate", "Checks whether a text is valid JSON and says where the first mistake is.", jsonValidate),
		define("json__get", "Gets a value out of a JSON document by its path, such as users[0].name.", jsonGet),
		define("json__set", "Sets the value at a path in a JSON document and returns the new document.", jsonSet),
		define("json__delete", "Removes the value at a path from a JSON document and returns the new document.", jsonDelete),
		define("json__keys", "Lists the keys of the JSON object at a path, with the type of each value.", jsonKeys),
		define("json__merge", "Merges a JSON document into another (merge patch, RFC 7396): objects deeply, null removes.", jsonMerge),
		define("json__diff", "Lists the differences between two JSON documents, path by path.", jsonDiff),
		define("json__flatten", "Flattens a nested JSON document into one level of dotted paths.", jsonFlatten),
		define("json__unflatten", "Builds a nested JSON document from one level of dotted paths.", jsonUnflatten),
		define("json__infer_schema", "Infers a simple JSON Schema from an example document.", jsonSchema),
		define("json__sort_array", "Sorts a JSON array of objects by one of their keys.", jsonSort),
		define("json__to_csv", "Turns a JSON array of objects into CSV with a header line.", jsonToCSV),
	}}
}

type jsonIn struct {
	JSON string `json:"json" jsonschema_description:"The JSON document, as text"`
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

func jsonFormat(in jsonIn) (string, error) {
	v, err := parseJSON(in.JSON)
	if err != nil {
		return "", err
	}
	return indentJSON(v)
}

func jsonMinify(in jsonIn) (string, error) {
	v, err := parseJSON(in.JSON)
	if err != nil {
		return "", err
	}
	return compactJSON(v)
}

func jsonValidate(in jsonIn) (string, error) {
	v, err := parseJSON(in.JSON)
	if err != nil {
		return err.Error(), nil
	}
	return "valid JSON: " + jsonKind(v), nil
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
	Path string `json:"path" jsonschema_description:"The path, such as users[0].name; a lone dot is the whole document"`
}

func jsonGet(in jsonPathIn) (string, error) {
	v, err := in.find()
	if err != nil {
		return "", err
	}
	if text, ok := v.(string); ok {
		return text, nil
	}
	return indentJSON(v)
}

func (in jsonPathIn) find() (any, error) {
	v, err := parseJSON(in.JSON)
	if err != nil {
		return nil, err
	}
	return lookup(v, steps(in.Path))
}

type jsonSetIn struct {
	jsonPathIn
	Value string `json:"value" jsonschema_description:"The new value as JSON; what is not valid JSON is taken as a string"`
}

func jsonSet(in jsonSetIn) (string, error) {
	doc, err := parseJSON(in.JSON)
	if err != nil {
		return "", err
	}
	value, err := parseJSON(in.Value)
	if err != nil {
		value = in.Value
	}
	if doc, err = put(doc, steps(in.Path), value); err != nil {
		return "", err
	}
	return indentJSON(doc)
}

func jsonDelete(in jsonPathIn) (string, error) {
	doc, err := parseJSON(in.JSON)
	if err != nil {
		return "", err
	}
	path := steps(in.Path)
	if len(path) == 0 {
		return "", fmt.Errorf("the path is empty; the whole document cannot be removed")
	}
	parent, err := lookup(doc, path[:len(path)-1])
	if err != nil {
		return "", err
	}
	if _, err := lookup(parent, path[len(path)-1:]); err != nil {
		return "", err
	}
	last := path[len(path)-1]
	switch p := parent.(type) {
	case map[string]any:
		delete(p, last)
	case []any:
		i, _ := strconv.Atoi(last)
		if doc, err = put(doc, path[:len(path)-1], slices.Delete(p, i, i+1)); err != nil {
			return "", err
		}
	}
	return indentJSON(doc)
}

func jsonKeys(in jsonPathIn) (string, error) {
	v, err := in.find()
	if err != nil {
		return "", err
	}
	object, ok := v.(map[string]any)
	if !ok {
		return "", fmt.Errorf("the value at %q is no object: %s", in.Path, jsonKind(v))
	}
	var out []string
	for _, k := range slices.Sorted(maps.Keys(object)) {
		out = append(out, k+": "+jsonKind(object[k]))
	}
	return strings.Join(out, "\n"), nil
}

type twoJSONIn struct {
	First  string `json:"first" jsonschema_description:"The first JSON document"`
	Second string `json:"second" jsonschema_description:"The second JSON document"`
}

func (in twoJSONIn) parse() (first, second any, err error) {
	return both(parseJSON, in.First, in.Second)
}

func jsonMerge(in twoJSONIn) (string, error) {
	first, second, err := in.parse()
	if err != nil {
		return "", err
	}
	return indentJSON(mergePatch(first, second))
}

func jsonDiff(in twoJSONIn) (string, error) {
	first, second, err := in.parse()
	if err != nil {
		return "", err
	}
	a, b := flatten(first), flatten(second)
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
}

func jsonFlatten(in jsonIn) (string, error) {
	v, err := parseJSON(in.JSON)
	if err != nil {
		return "", err
	}
	return indentJSON(flatten(v))
}
