// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// This file checks arguments against a tool's JSON schema before call_tool runs it.

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/bytedance/sonic"
	"github.com/google/jsonschema-go/jsonschema"
)

// maxSchemaBytes bounds the schemas that are checked: compiling one takes time, and
// strangers write them. Arguments for a larger schema go to the tool unchecked.
const maxSchemaBytes = 256 << 10

// fit returns the arguments as JSON text, or what is wrong with them. Arguments may be an
// object, or text that holds one; none at all is an empty object.
// raw is their text as the model wrote it, so that no digit of a long number is lost.
func (e *entry) fit(v any, raw string) (text, problem string) {
	if s, ok := v.(string); ok && strings.TrimSpace(s) != "" {
		var inner any
		if err := sonic.ConfigStd.UnmarshalFromString(s, &inner); err != nil {
			return "", shown(err.Error())
		}
		v, raw = inner, s
	}
	if v == nil || v == "" {
		v, raw = map[string]any{}, "{}"
	}
	if _, ok := v.(map[string]any); !ok {
		return "", fmt.Sprintf("arguments must be an object, not %s", kindOf(v))
	}
	e.checkOnce.Do(func() { e.check = compile(e.parameters()) })
	if err := validate(e.check, v); err != nil {
		return "", shownLong(err.Error())
	}
	if raw == "" {
		raw = encode(v)
	}
	return raw, ""
}

func kindOf(v any) string {
	switch v.(type) {
	case []any:
		return "a list"
	case float64:
		return "a number"
	case bool:
		return "a truth value"
	}
	return "text"
}

// compile returns nil for a schema that cannot be checked.
func compile(text string) (r *jsonschema.Resolved) {
	defer func() {
		if recover() != nil {
			r = nil
		}
	}()
	var s jsonschema.Schema
	if len(text) > maxSchemaBytes || refersToItself(text) || json.Unmarshal([]byte(text), &s) != nil {
		return nil
	}
	r, err := s.Resolve(nil)
	if err != nil {
		return nil
	}
	return r
}

// refersToItself reports whether a schema has references at all. A reference can lead back
// to itself without using up any of the value, and checking would then not end.
func refersToItself(text string) bool {
	return strings.Contains(text, `"$ref"`) || strings.Contains(text, `"$dynamicRef"`)
}

func validate(r *jsonschema.Resolved, v any) (err error) {
	if r == nil {
		return nil
	}
	defer func() {
		if recover() != nil {
			err = nil // a schema that cannot be checked is the tool's affair
		}
	}()
	return r.Validate(v)
}

// shownLong is a validator's message without its path through the schema.
func shownLong(s string) string {
	const most = 400 // runes
	s = strings.ToValidUTF8(s, "\uFFFD")
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}
