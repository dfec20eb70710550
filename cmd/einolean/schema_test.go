// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package main

// What --json writes is as --schema says.

import (
	"encoding/json"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/stretchr/testify/require"
)

func TestJSONOutput_MatchesSchema(t *testing.T) {
	queries := file(t, `{"id":"a","kind":"k","query":"electronic","relevant":["mail__send"]}`+"\n"+`{"query":"weather","relevant":["mail__send"]}`)
	window := filepath.Join("testdata", "window.jsonl")
	for name, args := range map[string][]string{
		"eval":                  {"eval", file(t, three)},
		"eval without findings": {"eval", file(t, `{"name":"weather","description":"Tells what the weather will be."}`)},
		"eval with queries":     {"eval", file(t, three), "--queries", queries},
		"search":                {"search", file(t, three), "electronic", "mail", "--why"},
		"search without a hit":  {"search", file(t, three), "zzzzqqqq"},
		"replay":                {"replay", file(t, jsonOf(t, talk(12, resultLines()))), "--trigger", strconv.Itoa(20 * resultLines())},
		"view":                  {"view", window},
		"view --call, searched": {"view", window, "--call", "2"},
		"view --call, cleared":  {"view", window, "--call", "4"},
	} {
		t.Run(name, func(t *testing.T) {
			out, messages, code := call(t, "", append(args, "--json")...)
			require.Equal(t, name == "search without a hit", code == exitMissed, messages)
			require.Contains(t, []int{exitDone, exitMissed}, code, messages)
			described, messages, code := call(t, "", append(args, "--schema")...)
			require.Zero(t, code, messages)
			var s jsonschema.Schema
			require.NoError(t, json.Unmarshal([]byte(described), &s))
			resolved, err := s.Resolve(nil)
			require.NoError(t, err)
			var v any
			require.NoError(t, json.Unmarshal([]byte(out), &v))
			require.NoError(t, resolved.Validate(v), out)
			v.(map[string]any)["schema"] = "another"
			require.Error(t, resolved.Validate(v), "it can tell one from another")
		})
	}
}
