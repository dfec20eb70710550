// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package readtool

// This file reads the arguments of a call, in the forms in which models write
// them.

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"
)

// request is what a call asks for. Numbers are never negative; zero means that
// none was given.
type request struct {
	path       string
	offset     int64 // first line, from 1
	limit      int64 // lines, matches or passages
	byteOffset int64
	byteLimit  int64
	tail       int64 // lines from the end
	pattern    string
	context    int64 // lines around a match
	query      string
}

// names lists, for each argument, its own name and those that models use instead,
// without case and punctuation. The first that says something counts.
var names = map[string][]string{
	"file_path":   {"filepath", "path", "file", "filename", "uri", "url", "input"},
	"offset":      {"offset", "line", "startline", "lineoffset", "linenumber", "start"},
	"limit":       {"limit", "maxlines", "linelimit", "numlines", "lines", "maxresults", "count"},
	"byte_offset": {"byteoffset", "offsetbytes", "startbyte", "bytestart"},
	"byte_limit":  {"bytelimit", "limitbytes", "maxbytes", "bytes", "length"},
	"tail":        {"tail", "last", "lastlines", "fromend"},
	"pattern":     {"pattern", "regex", "regexp", "regexpattern", "grep"},
	"context":     {"context", "contextlines"},
	"query":       {"query", "search", "keywords", "question", "q"},
}

// parse reads arguments. ok is false where they name no path.
func parse(arguments string) (req request, ok bool) {
	given := decode(arguments, 2)
	req = request{
		path:       cleanPath(given.text("file_path", "")),
		offset:     given.number("offset"),
		limit:      given.number("limit"),
		byteOffset: given.number("byte_offset"),
		byteLimit:  given.number("byte_limit"),
		tail:       given.number("tail"),
		pattern:    given.text("pattern", "|"),
		context:    given.number("context"),
		query:      strings.TrimSpace(given.text("query", " ")),
	}
	return req, req.path != ""
}

// fields are arguments by their simplified names.
type fields map[string]any

// decode decodes arguments: an object, an object in a string, a list
// with one of these, or the path alone, as JSON or not. depth bounds how often a
// string is looked into.
func decode(arguments string, depth int) fields {
	arguments = strings.TrimSpace(arguments)
	decoder := json.NewDecoder(strings.NewReader(arguments))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		if strings.HasPrefix(arguments, "{") || strings.HasPrefix(arguments, "[") || arguments == "" {
			return nil
		}
		return fields{"filepath": arguments} // bare words
	}
	if list, ok := value.([]any); ok && len(list) > 0 {
		value = list[0]
	}
	switch v := value.(type) {
	case map[string]any:
		return simplified(v)
	case json.Number:
		return fields{"filepath": arguments}
	case string:
		if depth > 1 && strings.HasPrefix(strings.TrimSpace(v), "{") {
			return decode(v, depth-1)
		}
		return fields{"filepath": v}
	}
	return nil
}

func simplified(object map[string]any) fields {
	f := make(fields, len(object))
	keys := make([]string, 0, len(object))
	for key := range object {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	for _, key := range keys {
		simple := strings.Map(letterOrDigit, key)
		if _, taken := f[simple]; !taken {
			f[simple] = object[key]
		}
	}
	return f
}

func letterOrDigit(r rune) rune {
	switch {
	case 'A' <= r && r <= 'Z':
		return r + 'a' - 'A'
	case 'a' <= r && r <= 'z', '0' <= r && r <= '9':
		return r
	}
	return -1
}

// text is the first name of an argument that holds text. A list is joined with
// glue; of a list for which there is none, the first element counts.
func (f fields) text(argument, glue string) string {
	for _, name := range names[argument] {
		if s := asText(f[name], glue); s != "" {
			return s
		}
	}
	return ""
}

func asText(value any, glue string) string {
	switch v := value.(type) {
	case string:
		return v
	case json.Number:
		return v.String()
	case []any:
		var parts []string
		for _, element := range v {
			if s, ok := element.(string); ok && s != "" {
				parts = append(parts, s)
			}
		}
		if glue == "" && len(parts) > 1 {
			parts = parts[:1]
		}
		return strings.Join(parts, glue)
	}
	return ""
}

// number is the first name of an argument that holds a number above zero, or a
// text that is one. A negative number counts as its amount: "tail": -20.
func (f fields) number(argument string) int64 {
	for _, name := range names[argument] {
		if n := asNumber(f[name]); n != 0 {
			if n < 0 && argument != "tail" {
				return 0
			}
			return max(n, -n)
		}
	}
	return 0
}

func asNumber(value any) int64 {
	text := ""
	switch v := value.(type) {
	case json.Number:
		text = v.String()
	case string:
		text = strings.ReplaceAll(strings.TrimSpace(v), ",", "")
	case []any:
		if len(v) == 1 {
			return asNumber(v[0])
		}
	}
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return max(n, -math.MaxInt64)
	}
	f, _ := strconv.ParseFloat(text, 64) // infinite where it is out of range
	switch {
	case math.IsNaN(f):
		return 0
	case f >= math.MaxInt64:
		return math.MaxInt64
	case f <= -math.MaxInt64:
		return -math.MaxInt64
	}
	return int64(f)
}

// cleanPath takes off what models put around a path.
func cleanPath(filePath string) string {
	filePath = strings.Trim(filePath, " \t\r\n\"'`<>")
	return strings.TrimPrefix(filePath, "file://")
}

// call writes the arguments of a following call, in a fixed order.
type call struct{ bytes.Buffer }

// follow starts the arguments of a call for the same path.
func (r request) follow() *call {
	c := new(call)
	return c.text("file_path", r.path)
}

func (c *call) text(name, value string) *call {
	if value == "" {
		return c
	}
	return c.add(name, quoted(value))
}

// number adds an argument; zero or less means that there is none.
func (c *call) number(name string, value int64) *call {
	if value <= 0 {
		return c
	}
	return c.add(name, strconv.FormatInt(value, 10))
}

func (c *call) add(name, value string) *call {
	separator := ","
	if c.Len() == 0 {
		separator = "{"
	}
	c.WriteString(separator + quoted(name) + ":" + value)
	return c
}

// json is the finished object.
func (c *call) json() string { return c.String() + "}" }

// quoted is s as a JSON string that a model can copy: no escapes but those that
// must be.
func quoted(s string) string {
	var b strings.Builder
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(s) // a string can always be encoded
	return strings.TrimSuffix(b.String(), "\n")
}
