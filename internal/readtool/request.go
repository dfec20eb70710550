// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package readtool

// The arguments of a call, and those of the next one.

import (
	"strconv"
	"strings"

	"github.com/einolean/einolean/internal/display"
	"github.com/einolean/einolean/internal/jsontext"
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

// argumentNames lists the names of each argument: first its own, then those that models use instead. The first one
// with a value wins.
var argumentNames = map[string][]string{
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
	req, _ := parseRequest(arguments)
	return req.path
}

// parseRequest reads arguments. It returns false if they name no path. Arguments that are not an object are a path.
func parseRequest(arguments string) (req request, ok bool) {
	decoded := jsontext.DecodeArguments(arguments)
	paths := append(decoded.Texts(argumentNames["file_path"]...), decoded.BareTexts()...)
	if len(paths) == 0 {
		return request{}, false
	}
	number := func(argument string) int64 { return max(0, decoded.Number(argumentNames[argument]...)) }
	tail := decoded.Number(argumentNames["tail"]...)
	req = request{
		path:       strings.TrimPrefix(strings.Trim(paths[0], " \t\r\n\"'`<>"), "file://"), // models put quotes and the like around it
		offset:     number("offset"),
		limit:      number("limit"),
		byteOffset: number("byte_offset"),
		byteLimit:  number("byte_limit"),
		tail:       max(tail, -tail), // "tail": -20 asks for the last 20 lines
		pattern:    strings.Join(decoded.Texts(argumentNames["pattern"]...), "|"),
		context:    number("context"),
		query:      strings.TrimSpace(strings.Join(decoded.Texts(argumentNames["query"]...), " ")),
		jq:         strings.TrimSpace(strings.Join(decoded.Texts(argumentNames["jq"]...), ", ")),
	}
	return req, req.path != ""
}

// nextArguments writes the arguments of the next call for the same path, from names and values in turn. It omits
// empty texts, and numbers that are zero or less.
func (r request) nextArguments(arguments ...any) string {
	call := `{"file_path":` + display.Quoted(r.path)
	for i := 0; i < len(arguments); i += 2 {
		value := ""
		switch v := arguments[i+1].(type) {
		case string:
			if v != "" {
				value = display.Quoted(v)
			}
		case int64:
			if v > 0 {
				value = strconv.FormatInt(v, 10)
			}
		}
		if value != "" {
			call += "," + display.Quoted(arguments[i].(string)) + ":" + value
		}
	}
	return call + "}"
}

// longestTerm is the length of the longest search argument, as it is quoted in an answer.
func (r request) longestTerm() int {
	return max(len(display.Quoted(r.pattern)), len(display.Quoted(r.query)), len(display.Quoted(r.jq))/2)
}

// quotedBytes is how much room the arguments take when an answer repeats them once.
func (r request) quotedBytes() int {
	return len(display.Quoted(r.path)) + len(display.Quoted(r.pattern)) + len(display.Quoted(r.query))
}
