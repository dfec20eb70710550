// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// This file decodes the arguments that models write: JSON that is often not quite what
// the schema asks for.

import (
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

// raw is the text of the value under a key, digit for digit; "" if it is not there.
func (a arguments) raw(key string) string {
	node, err := sonic.GetFromString(a.text, key)
	if err != nil {
		return ""
	}
	text, err := node.Raw()
	if err != nil {
		return ""
	}
	return text
}

// decodeArguments never fails: what is not JSON is taken as text.
func decodeArguments(text string) arguments {
	text = strings.TrimSpace(text)
	if text == "" {
		return arguments{}
	}
	var v any
	if sonic.ConfigStd.UnmarshalFromString(text, &v) != nil {
		return arguments{bare: brokenObject(text)}
	}
	m, ok := v.(map[string]any)
	if !ok {
		return arguments{bare: v}
	}
	return arguments{fields: lowerKeys(m), text: text}
}

// lowerKeys makes keys lower case; where several become one, the lower-case key itself
// wins, and otherwise the first in order.
func lowerKeys(m map[string]any) map[string]any {
	lower := make(map[string]any, len(m))
	for _, k := range slices.Backward(slices.Sorted(maps.Keys(m))) {
		if l := strings.ToLower(k); l != k && m[l] == nil {
			lower[l] = m[k]
		}
	}
	for k, v := range m {
		if strings.ToLower(k) == k {
			lower[k] = v
		}
	}
	return lower
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
