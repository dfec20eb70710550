// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package mcptools

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/toolschema"
	"github.com/einolean/einolean/toolsearch/toolset"
)

// corpusTool is a tool as a server lists it, and what must come of it.
type corpusTool struct {
	Tool     json.RawMessage `json:"tool"`
	Generate struct {
		Pad    string `json:"pad"`
		Bytes  int    `json:"bytes"`
		Nest   string `json:"nest"`
		Levels int    `json:"levels"`
		Key    string `json:"key"`
	} `json:"generate"`
	Want struct {
		Offered      *bool             `json:"offered"`
		Reason       string            `json:"reason"`
		Schema       json.RawMessage   `json:"schema"`
		Or           []json.RawMessage `json:"or"`
		Mended       bool              `json:"mended"`
		Shows        map[string]any    `json:"shows"`
		Absent       []string          `json:"absent"`
		OutputSchema json.RawMessage   `json:"outputSchema"`
		OutputOr     []json.RawMessage `json:"output_or"`
	} `json:"want"`
	Calls []struct {
		Arguments json.RawMessage `json:"arguments"`
		Server    json.RawMessage `json:"server"`
	} `json:"calls"`
}

// definition is the tool as it is listed.
func (c corpusTool) definition(t *testing.T) string {
	t.Helper()
	g := c.Generate
	if g.Pad == "" && g.Nest == "" {
		return string(c.Tool)
	}
	tree := exactSchema(t, string(c.Tool))
	at, last := tree.(map[string]any), ""
	steps := strings.Split(strings.TrimPrefix(g.Pad+g.Nest, "/"), "/")
	for _, step := range steps[:len(steps)-1] {
		at = at[step].(map[string]any)
	}
	last = steps[len(steps)-1]
	if g.Pad != "" {
		at[last] = strings.Repeat("x", g.Bytes)
	}
	for range g.Levels {
		if g.Key == "anyOf" {
			at[last] = map[string]any{"anyOf": []any{at[last]}}
		} else {
			at[last] = map[string]any{"type": "object", "properties": map[string]any{"k": at[last]}}
		}
	}
	text, err := json.Marshal(tree)
	require.NoError(t, err)
	return string(text)
}

// same reports whether two texts are the same JSON, in which numbers have all their digits.
func same(a, b []byte) bool {
	x, okX := hashJSON(string(a))
	y, okY := hashJSON(string(b))
	return okX && okY && x == y
}

func oneOf(got []byte, want json.RawMessage, or []json.RawMessage) bool {
	for _, w := range append([]json.RawMessage{want}, or...) {
		if same(got, w) {
			return true
		}
	}
	return false
}

func TestSchema_Corpus(t *testing.T) {
	files, err := filepath.Glob("testdata/corpus/schemas/*.json")
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(files), 100)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".json"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			var c corpusTool
			require.NoError(t, json.Unmarshal(text, &c))
			definition := c.definition(t)
			script := &scripted{tools: []string{`{"name":"neighbor","inputSchema":{"type":"object"}}`, definition, `{"name":"last"}`}}
			s := open(t, map[string]Server{"srv": script.server()}, Options{})
			names := namesIn(t, ctx, s)
			require.Contains(t, names, "srv__neighbor")
			require.Contains(t, names, "srv__last")
			status := statusOf(s, "srv")
			require.Equal(t, 3, status.Tools+status.Skipped)
			offered := status.Skipped == 0
			if c.Want.Offered != nil {
				require.Equal(t, *c.Want.Offered, offered, "%v", status.SkippedErr)
			}
			if !offered {
				require.ErrorContains(t, status.SkippedErr, c.Want.Reason)
				return
			}
			c.check(t, s, readTool(definition))
		})
	}
}

func (c corpusTool) check(t *testing.T, s *Servers, own *mcp.Tool) {
	t.Helper()
	info, err := find(t, ctx, s, toolName("srv", own.Name, true, nil)).Info(ctx)
	require.NoError(t, err)
	params, err := info.ToJSONSchema()
	require.NoError(t, err)
	shown, err := json.Marshal(params)
	require.NoError(t, err)
	if len(c.Want.Schema) > 0 {
		got := shown
		tree, _ := serverSchemaOf(own)
		repaired, _ := toolschema.Repair(tree)
		if c.Want.Mended {
			got, err = json.Marshal(repaired)
			require.NoError(t, err)
		}
		asRepaired, err := json.Marshal(repaired)
		require.NoError(t, err)
		require.True(t, oneOf(got, c.Want.Schema, c.Want.Or) || oneOf(asRepaired, c.Want.Schema, c.Want.Or), "got\n%s\nwant\n%s\nor %s", got, c.Want.Schema, c.Want.Or)
	}
	passesAsRoot(t, shown)
	_, _, keys, err := repairedParameters(own)
	require.NoError(t, err)
	names := shownNamesOf(keys)
	view := exactSchema(t, string(shown))
	for pointer, want := range c.Want.Shows {
		got, _ := json.Marshal(at(view, names(pointer)))
		wanted, _ := json.Marshal(want)
		require.True(t, same(got, []byte(names(string(wanted)))), "%s: got %s, want %s", pointer, got, wanted)
	}
	for _, pointer := range c.Want.Absent {
		require.Nil(t, at(view, names(pointer)), pointer)
	}
	if output, _ := info.Extra[toolset.OutputSchemaKey].(string); len(c.Want.OutputSchema) > 0 {
		require.True(t, oneOf([]byte(output), c.Want.OutputSchema, c.Want.OutputOr), "output schema: got %s", output)
	}
	for _, call := range c.Calls {
		arguments, server := names(string(call.Arguments)), names(string(call.Server))
		answer := ask(t, ctx, s, info.Name, arguments)
		var compact bytes.Buffer
		require.NoError(t, json.Compact(&compact, []byte(server)))
		require.True(t, same([]byte(answer), compact.Bytes()), "sent %s\ngot  %s\nwant %s", arguments, answer, server)
	}
}

// passesAsRoot checks what every provider demands of a schema.
func passesAsRoot(t *testing.T, shown []byte) {
	t.Helper()
	root := exactSchema(t, string(shown)).(map[string]any)
	require.Equal(t, "object", root["type"])
	require.NotNil(t, root["properties"])
	for _, keyword := range []string{"$ref", "anyOf", "oneOf", "allOf", "not"} {
		require.NotContains(t, root, keyword)
	}
	passes(t, root, 0)
}

var template = regexp.MustCompile(`\{\{([^{}"]*)\}\}`)

// shownNamesOf returns a function that puts in the shown names for {{name}}.
func shownNamesOf(keys propertyNames) func(string) string {
	return func(text string) string {
		return template.ReplaceAllStringFunc(text, func(found string) string {
			name := strings.Trim(found, "{}")
			for shown, own := range keys {
				if own == name {
					return shown
				}
			}
			return name
		})
	}
}

// at is what a JSON pointer leads to; nil for nothing.
func at(v any, pointer string) any {
	for _, step := range strings.Split(pointer, "/")[1:] {
		step = strings.NewReplacer("~1", "/", "~0", "~").Replace(step)
		switch node := v.(type) {
		case map[string]any:
			v = node[step]
		case []any:
			i, err := strconv.Atoi(step)
			if err != nil || i >= len(node) {
				return nil
			}
			v = node[i]
		default:
			return nil
		}
	}
	return v
}
