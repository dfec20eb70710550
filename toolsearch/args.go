// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// This file decodes the arguments that models write: JSON that is often not quite what
// the schema asks for.

import (
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/bytedance/sonic"
)

// arguments are decoded arguments of a search tool. Keys are lower case.
type arguments struct {
	fields map[string]any
	bare   any // the value, where it is not an object
	text   string
}

// decodeArguments never fails: what is not JSON is taken as text.
func decodeArguments(text string) arguments {
	text = strings.ToValidUTF8(strings.TrimSpace(text), "\uFFFD")
	if text == "" {
		return arguments{}
	}
	var m map[string]any
	if sonic.ConfigStd.UnmarshalFromString(text, &m) == nil {
		return arguments{fields: lowerKeys(m), text: text}
	}
	var v any
	if sonic.ConfigStd.UnmarshalFromString(text, &v) == nil {
		return arguments{bare: v}
	}
	return arguments{bare: brokenObject(text)}
}

// raw is the value under the first of the keys that is there, as the model wrote it:
// decoding loses digits of long numbers. "" if there is none.
func (a arguments) raw(keys ...string) string {
	var m map[string]json.RawMessage
	if a.fields == nil || sonic.ConfigStd.UnmarshalFromString(a.text, &m) != nil {
		return ""
	}
	m = lowerKeys(m)
	for _, k := range keys {
		if v, ok := m[k]; ok {
			return string(v)
		}
	}
	return ""
}

// lowerKeys makes keys lower case; where several become one, the lower-case key itself
// wins, and otherwise the first in order.
func lowerKeys[T any](m map[string]T) map[string]T {
	if !hasUpper(m) {
		return m
	}
	lower := make(map[string]T, len(m))
	for _, k := range slices.Backward(slices.Sorted(maps.Keys(m))) {
		lower[strings.ToLower(k)] = m[k]
	}
	for k := range lower {
		if v, ok := m[k]; ok {
			lower[k] = v
		}
	}
	return lower
}

func hasUpper[T any](m map[string]T) bool {
	for k := range m {
		if strings.ToLower(k) != k {
			return true
		}
	}
	return false
}

// brokenObject gives up on text that was meant to be an object, and takes any other
// text as it is.
func brokenObject(text string) any {
	if strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[") {
		return nil
	}
	return strings.Trim(text, "\"")
}

// texts returns the texts under the first of the keys that is there: a text, a number,
// or a list of them. Without any of the keys the value counts that is not an object.
func (a arguments) texts(keys ...string) []string {
	for _, k := range keys {
		if v, ok := a.fields[k]; ok {
			if t := textsOf(v); len(t) > 0 {
				return t
			}
		}
	}
	return textsOf(a.bare)
}

func textsOf(v any) []string {
	switch v := v.(type) {
	case string:
		if strings.TrimSpace(v) != "" {
			return []string{v}
		}
	case float64:
		return []string{strconv.FormatFloat(v, 'g', -1, 64)}
	case []any:
		var out []string
		for _, e := range v {
			if _, nested := e.([]any); !nested {
				out = append(out, textsOf(e)...)
			}
		}
		return out
	case map[string]any:
		return textsOf(v["query"])
	}
	return nil
}

// number returns the whole number under the first of the keys that holds one: as a
// number, with decimals, or as text. Zero if there is none.
func (a arguments) number(keys ...string) int {
	for _, k := range keys {
		f, ok := a.fields[k].(float64)
		if s, isText := a.fields[k].(string); isText {
			parsed, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
			f, ok = parsed, err == nil
		}
		if ok && !math.IsNaN(f) {
			return int(math.Max(-1, math.Min(f, math.MaxInt32)))
		}
	}
	return 0
}
