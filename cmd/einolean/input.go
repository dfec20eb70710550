// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package main

// Reading files within a size limit, with clear errors.

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"reflect"
	"strings"

	"github.com/einolean/einolean/internal/display"
)

// maxInput is the most that is read of a file, in bytes, also of one that unpacks to more.
var maxInput int64 = 256 << 20

// isShare reports whether x is between 0 and 1. It rejects NaN, which would pass every threshold.
func isShare(x float64) bool { return x >= 0 && x <= 1 }

// readAll reads a file, or standard input for "-". A file that is compressed with gzip is
// unpacked.
func readAll(s streams, name string) ([]byte, error) {
	r := s.in
	if name != "-" {
		file, err := os.Open(name)
		if err != nil {
			return nil, fail(exitInput, "%s: %w", name, unnamed(err))
		}
		defer file.Close()
		r = file
	}
	text, err := bounded(name, r, "holds")
	if err != nil || !bytes.HasPrefix(text, []byte{0x1f, 0x8b}) {
		return text, err
	}
	z, err := gzip.NewReader(bytes.NewReader(text))
	if err != nil {
		return nil, fail(exitInput, "%s: it begins as a gzip file and is none: %w", name, err)
	}
	return bounded(name, z, "unpacks to")
}

// bounded reads at most maxInput bytes.
func bounded(name string, r io.Reader, verb string) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxInput+1))
	switch {
	case err != nil:
		return nil, fail(exitInput, "%s: it cannot be read to its end: %w", name, unnamed(err))
	case int64(len(text)) > maxInput:
		return nil, fail(exitInput, "%s %s more than %s bytes: split it into files of fewer lines", name, verb,
			display.Grouped(int(maxInput)))
	}
	return bytes.TrimPrefix(text, []byte("\ufeff")), nil // as some editors and shells begin a file
}

// unnamed removes the file name from an error whose message is prefixed with the name already.
func unnamed(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}

// decode reads JSON. Its errors describe the JSON text, not Go types.
func decode(data []byte, dst any) error {
	return describeJSONError(json.Unmarshal(data, dst), int64(len(data)))
}

// describeJSONError rephrases an error of a JSON text of size bytes.
func describeJSONError(err error, size int64) error {
	var broken *json.SyntaxError
	var other *json.UnmarshalTypeError
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF), errors.As(err, &broken) && broken.Offset >= size:
		return errors.New("the JSON ends too early")
	case errors.As(err, &broken):
		return fmt.Errorf("this is no JSON from byte %d on", broken.Offset)
	case errors.As(err, &other) && other.Type.Kind() == reflect.Func:
		return fmt.Errorf("%q cannot be set in JSON, because it is a function", other.Field)
	case errors.As(err, &other) && other.Field != "":
		return fmt.Errorf("%q is a JSON %s and should be %s", other.Field, other.Value, kindOf(other.Type))
	case errors.As(err, &other):
		return fmt.Errorf("this is a JSON %s and should be %s", other.Value, kindOf(other.Type))
	}
	return err
}

// kindOf returns JSON's name for a type.
func kindOf(t reflect.Type) string {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t.Kind() {
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Slice, reflect.Array:
		return "an array"
	case reflect.Struct, reflect.Map:
		return "an object"
	case reflect.Float64:
		return "a number"
	}
	return "a whole number"
}

// lines splits JSON Lines.
func lines(name string, text []byte) (all []json.RawMessage, err error) {
	all, bad := split(text)
	if len(bad) > 0 {
		return nil, fail(exitInput, "%s:%d: this is neither a JSON document nor JSON Lines", name, bad[0])
	}
	return all, nil
}

// readable splits JSON Lines and skips invalid lines, such as the last line of a killed program. If most lines
// are invalid, the file is of another kind.
func readable(name string, text []byte) (all []json.RawMessage, torn []int, err error) {
	if all, torn = split(text); len(torn) >= max(1, len(all)) {
		all, err = lines(name, text)
	}
	return all, torn, err
}

// split returns the lines that are JSON, and the numbers of those that are not.
func split(text []byte) (all []json.RawMessage, bad []int) {
	n := 0
	for line := range bytes.Lines(text) {
		n++
		switch line = bytes.TrimSpace(line); {
		case len(line) == 0:
		case json.Valid(line):
			all = append(all, json.RawMessage(line))
		default:
			bad = append(bad, n)
		}
	}
	return all, bad
}

// numbered formats line numbers, the first few of many.
func numbered(lines []int) string {
	const most = 5
	var b strings.Builder
	b.WriteString("line ")
	if len(lines) > 1 {
		b.Reset()
		b.WriteString("lines ")
	}
	for i, n := range lines[:min(most, len(lines))] {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprint(&b, n)
	}
	if more := len(lines) - most; more > 0 {
		fmt.Fprintf(&b, " and %s more", display.Grouped(more))
	}
	return b.String()
}

// What looksLike recognizes.
const (
	holdsTools    = "tools"
	holdsMessages = "messages"
)

// looksLike classifies an object: a tool, a message, or unclear.
func looksLike(raw json.RawMessage) string {
	var o struct {
		Role        string          `json:"role"`
		Type        string          `json:"type"`
		Name        string          `json:"name"`
		Content     json.RawMessage `json:"content"`
		Description string          `json:"description"`
		Function    json.RawMessage `json:"function"`
		InputSchema json.RawMessage `json:"inputSchema"`
		Anthropic   json.RawMessage `json:"input_schema"`
		Messages    json.RawMessage `json:"messages"`
		Input       json.RawMessage `json:"input"`
		Tools       json.RawMessage `json:"tools"`
	}
	if json.Unmarshal(raw, &o) != nil {
		return ""
	}
	switch {
	case o.Role != "", o.Messages != nil, o.Input != nil:
		return holdsMessages
	case o.Function != nil, o.Tools != nil, o.Name != "" && (o.Description != "" || o.InputSchema != nil || o.Anthropic != nil):
		return holdsTools
	}
	return ""
}
