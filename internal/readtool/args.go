// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package readtool

// This file reads the arguments of a call and writes those of the next one.

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/leanctx/leanctx/internal/lenient"
)

// request is what a call asks for. Numbers are never negative; zero means that the
// argument is absent.
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
	jq         string
}

// names lists the names of each argument: first its own, then those that models use
// instead. The first one that has a value wins.
var names = map[string][]string{
	"file_path":   {"file_path", "path", "file", "filename", "uri", "url", "input"},
	"offset":      {"offset", "line", "start_line", "line_offset", "line_number", "start"},
	"limit":       {"limit", "max_lines", "line_limit", "num_lines", "lines", "max_results", "count"},
	"byte_offset": {"byte_offset", "offset_bytes", "start_byte", "byte_start"},
	"byte_limit":  {"byte_limit", "limit_bytes", "max_bytes", "bytes", "length"},
	"tail":        {"tail", "last", "last_lines", "from_end"},
	"pattern":     {"pattern", "regex", "regexp", "regex_pattern", "grep"},
	"context":     {"context", "context_lines"},
	"query":       {"query", "search", "keywords", "question", "q"},
	"jq":          {"jq", "jq_query", "json_query", "jq_filter"},
}

// Path returns the path that the arguments of a call name, empty if they name none.
func Path(arguments string) string {
	req, _ := parse(arguments)
	return req.path
}

// parse reads arguments. It returns false if they name no path. Arguments that are not
// an object are a path.
func parse(arguments string) (req request, ok bool) {
	given := lenient.Decode(arguments)
	paths := append(given.Texts(names["file_path"]...), given.Bare()...)
	if len(paths) == 0 {
		return request{}, false
	}
	number := func(argument string) int64 { return max(0, given.Number(names[argument]...)) }
	tail := given.Number(names["tail"]...)
	req = request{
		path:       cleanPath(paths[0]),
		offset:     number("offset"),
		limit:      number("limit"),
		byteOffset: number("byte_offset"),
		byteLimit:  number("byte_limit"),
		tail:       max(tail, -tail), // "tail": -20 asks for the last 20 lines
		pattern:    strings.Join(given.Texts(names["pattern"]...), "|"),
		context:    number("context"),
		query:      strings.TrimSpace(strings.Join(given.Texts(names["query"]...), " ")),
		jq:         strings.TrimSpace(strings.Join(given.Texts(names["jq"]...), ", ")),
	}
	return req, req.path != ""
}

// cleanPath removes the quotes and the like that models put around a path.
func cleanPath(filePath string) string {
	filePath = strings.Trim(filePath, " \t\r\n\"'`<>")
	return strings.TrimPrefix(filePath, "file://")
}

// call writes the arguments of the next call, in the order in which its methods are
// called.
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

// number adds an argument, unless it is zero or less.
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

// json returns the finished object.
func (c *call) json() string { return c.String() + "}" }

// quoted returns s as a JSON string that a model can copy, with only the escapes that
// JSON needs.
func quoted(s string) string {
	var b strings.Builder
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(s) // a string can always be encoded
	return strings.TrimSuffix(b.String(), "\n")
}
