// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// This file checks arguments against a tool's JSON schema before call_tool runs it.

import (
	"encoding/json"
	"strings"

	"github.com/bytedance/sonic"
	"github.com/google/jsonschema-go/jsonschema"
)

// maxSchemaBytes bounds the schemas that are checked: compiling one takes time, and
// strangers write them. Arguments for a larger schema go to the tool unchecked.
const maxSchemaBytes = 256 << 10

// fit returns the arguments as the tool gets them, or what is wrong with them. raw is
// their text as the model wrote it: an object, or a text that holds one. None at all is
// an empty object.
func (e *entry) fit(raw string) (args, problem string) {
	v, raw, ok := readArguments(raw)
	if !ok {
		return "", say("no-object", hint{})
	}
	e.checkOnce.Do(func() { e.check = compile(e.parameters()) })
	if err := e.check.validate(v); err != nil {
		return "", validationText(err)
	}
	return raw, ""
}

// exactJSON keeps whole numbers whole.
var exactJSON = sonic.Config{UseInt64: true, CopyString: true}.Froze()

func readArguments(raw string) (object map[string]any, text string, ok bool) {
	for range 2 { // an object, or a text that holds one
		if raw = strings.TrimSpace(raw); raw == "" || raw == "null" {
			return map[string]any{}, "{}", true
		}
		var v any
		if exactJSON.UnmarshalFromString(raw, &v) != nil {
			return nil, "", false
		}
		if object, ok = v.(map[string]any); ok {
			return object, raw, true
		}
		if raw, ok = v.(string); !ok {
			return nil, "", false
		}
	}
	return nil, "", false
}

// check is a schema, ready for checking values against it. Nil checks nothing.
type check struct {
	resolved *jsonschema.Resolved
	tree     any            // the schema as plain JSON
	patterns map[string]int // instructions of each pattern in it
}

// compile returns nil for a schema that cannot be checked: whether arguments fit it is
// the tool's own affair then.
func compile(text string) (c *check) {
	defer func() {
		if recover() != nil {
			c = nil
		}
	}()
	var s jsonschema.Schema
	var tree any
	if len(text) > maxSchemaBytes || json.Unmarshal([]byte(text), &s) != nil || json.Unmarshal([]byte(text), &tree) != nil {
		return nil
	}
	patterns, ok := patternsOf(tree)
	if !ok {
		return nil
	}
	if !isKnownDraft(s.Schema) {
		s.Schema = "" // the drafts differ little in what tools use; unknown ones would fail every value
	}
	if root, ok := tree.(map[string]any); ok {
		delete(root, "$id") // references within the schema mean the same without it
	}
	r, err := s.Resolve(nil)
	if err != nil {
		return nil
	}
	return &check{r, tree, patterns}
}

func isKnownDraft(uri string) bool {
	switch uri {
	case "", "http://json-schema.org/draft-07/schema#", "https://json-schema.org/draft-07/schema#", "https://json-schema.org/draft/2020-12/schema":
		return true
	}
	return false
}

// validate returns what is wrong with a value. Where searchResult out could take too long,
// nothing is.
func (c *check) validate(v any) (err error) {
	if c == nil || !c.affords(v) {
		return nil
	}
	defer func() {
		if recover() != nil {
			err = nil
		}
	}()
	return c.resolved.Validate(v)
}

// validationText is what the model reads of an error.
func validationText(err error) string {
	const most = 400 // runes
	s := strings.ToValidUTF8(err.Error(), "\uFFFD")
	s = strings.ReplaceAll(strings.TrimPrefix(s, "validating root: "), "<invalid reflect.Value>", "null")
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}
