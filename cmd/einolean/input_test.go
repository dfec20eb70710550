// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// full is an output that takes so many bytes.
type full struct{ left int }

var errFull = errors.New("no space left on device")

func (f *full) Write(p []byte) (int, error) {
	if len(p) > f.left {
		n := f.left
		f.left = 0
		return n, errFull
	}
	f.left -= len(p)
	return len(p), nil
}

// everyCommand is one use of each command that writes results, by its name and how it is used.
func everyCommand(t *testing.T) map[string][]string {
	tools, chat, seen := file(t, three), file(t, jsonOf(t, talk(2, 10))), recorded(t)
	queries := file(t, `{"query":"weather","relevant":["x"]}`)
	return map[string][]string{
		"eval": {"eval", tools}, "eval --json": {"eval", tools, "--json"}, "eval --queries": {"eval", tools, "--queries", queries},
		"search": {"search", tools, "mail"}, "search --json": {"search", tools, "mail", "--json"}, "search --why": {"search", tools, "mail", "--why"},
		"replay": {"replay", chat}, "replay --json": {"replay", chat, "--json"},
		"view": {"view", seen}, "view --call": {"view", seen, "--call", "1"}, "view --json": {"view", seen, "--json"},
		"version": {"version"}, "version --json": {"version", "--json"}, "help": {"help"},
	}
}

func TestCommands_FailIfOutputCannotBeWritten(t *testing.T) {
	all := everyCommand(t)
	for _, c := range commands {
		if c.name != "bench" { // it asks a model: see TestBench_FailsIfOutputCannotBeWritten
			require.Contains(t, all, c.name)
		}
		all[c.name+" --schema"], all[c.name+" --help"] = []string{c.name, "--schema"}, []string{c.name, "--help"}
	}
	for name, args := range all {
		t.Run(name, func(t *testing.T) {
			out, messages, code := call(t, "", args...)
			require.Zero(t, code, messages)
			require.NotEmpty(t, out)
			for _, room := range []int{0, len(out) / 2, len(out) - 1} {
				var says bytes.Buffer
				code := run(context.Background(), streams{strings.NewReader(""), &full{left: room}, &says}, args)
				require.Equal(t, exitMissed, code, "with room for %d of %d bytes", room, len(out))
				if name != "help" {
					require.Contains(t, says.String(), "could not be written: no space left on device")
				}
			}
		})
	}
}

//claim:security-70
func TestInput_SizeIsBounded(t *testing.T) {
	before := maxInput
	maxInput = 100_000
	defer func() { maxInput = before }()
	var bomb bytes.Buffer
	z := gzip.NewWriter(&bomb)
	_, err := z.Write(bytes.Repeat([]byte(" "), 10_000_000))
	require.NoError(t, err)
	require.NoError(t, z.Close())
	packed, plain := file(t, bomb.String()), file(t, strings.Repeat(" ", 100_001))
	for name, says := range map[string]string{packed: "unpacks to more than 100,000 bytes", plain: "holds more than 100,000 bytes"} {
		for _, args := range [][]string{{"replay", name}, {"eval", name}, {"view", name}, {"search", name, "x"}} {
			_, messages, code := call(t, "", args...)
			require.Equal(t, exitInput, code)
			require.Contains(t, messages, says)
			require.Contains(t, messages, "split it")
		}
	}
}

func TestInput_ErrorsDescribeInputNotGoTypes(t *testing.T) {
	tools, chat := file(t, three), file(t, jsonOf(t, talk(2, 3)))
	for name, c := range map[string]struct {
		args []string
		says string
	}{
		"a conversation to eval":              {[]string{"eval", chat}, "holds messages and not tools: einolean replay reads it"},
		"tools to replay":                     {[]string{"replay", tools}, "it holds tools and no conversation: einolean eval examines them"},
		"OpenAI's tools to replay":            {[]string{"replay", file(t, `{"tools":[{"type":"function","function":{"name":"a"}}]}`)}, "it holds tools and no conversation"},
		"a name that is a number":             {[]string{"eval", file(t, `[{"name":1}]`)}, `"name" is a JSON number and should be a string`},
		"a tool that is a list":               {[]string{"eval", file(t, `[[]]`)}, "this is a JSON array and should be an object"},
		"a truncated list":                    {[]string{"eval", file(t, `[{"name":"a"}`)}, "the JSON ends too early"},
		"an invalid list":                     {[]string{"replay", file(t, `[{"role":"user",}]`)}, "this is no JSON from byte 17 on"},
		"messages that are a string":          {[]string{"replay", file(t, `{"messages":"hello"}`)}, `"messages" is a JSON string and should be an array`},
		"prices that are an object":           {[]string{"replay", chat, "--prices", file(t, `{}`)}, "this is a JSON object and should be an array"},
		"a policy that is a list":             {[]string{"replay", chat, "--config", file(t, `[]`)}, "this is a JSON array and should be an object"},
		"a policy with a wrong type":          {[]string{"replay", chat, "--config", file(t, `{"MaxLengthForTrunc":"many"}`)}, `"MaxLengthForTrunc" is a JSON string and should be a whole number`},
		"a policy with a fraction of a token": {[]string{"replay", chat, "--config", file(t, `{"MaxTokensForClear":1.5}`)}, `"MaxTokensForClear" is a JSON number 1.5 and should be a whole number`},
		"a policy with a function":            {[]string{"replay", chat, "--config", file(t, `{"Preview":"PreviewByKind"}`)}, `"Preview" cannot be set in JSON`},
		"a policy with trailing text":         {[]string{"replay", chat, "--config", file(t, `{"SkipClear":true} {}`)}, "this is no JSON from byte"},
		"an empty policy":                     {[]string{"replay", chat, "--config", file(t, "")}, "the JSON ends too early"},
		"a folder":                            {[]string{"eval", t.TempDir()}, "is a directory"},
		"a missing file":                      {[]string{"eval", filepath.Join(t.TempDir(), "none.json")}, "none.json: no such file or directory"},
	} {
		t.Run(name, func(t *testing.T) {
			_, messages, code := call(t, "", c.args...)
			require.Equal(t, exitInput, code)
			require.Contains(t, messages, c.says)
			for _, word := range []string{"Go value", "Go struct", "unmarshal", " json:"} {
				require.NotContains(t, messages, word)
			}
		})
	}
}

func TestVersion_PrintsBuildInfo(t *testing.T) {
	own, compiler, eino := versionOf(&debug.BuildInfo{
		GoVersion: "go1.99", Main: debug.Module{Version: "v1.2.3"}, Deps: []*debug.Module{{Path: "github.com/cloudwego/eino", Version: "v0.9.21"}},
	})
	require.Equal(t, []string{"v1.2.3", "go1.99", "v0.9.21"}, []string{own, compiler, eino})
	own, _, _ = versionOf(&debug.BuildInfo{Main: debug.Module{Version: "(devel)"}})
	require.Equal(t, devel, own)
	own, _, _ = versionOf(nil)
	require.Equal(t, devel, own)
	out, _, code := call(t, "", "--version")
	require.Zero(t, code)
	require.Contains(t, out, "einolean "+devel+", built with go1")
	_, _, code = call(t, "", "version", "now")
	require.Equal(t, exitUsage, code)
}

func TestBounded_ReturnsReadError(t *testing.T) {
	_, err := bounded("a", errReader{}, "holds")
	require.ErrorContains(t, err, "cannot be read to its end: it broke")
	require.Equal(t, fmt.Sprint(os.ErrExist), fmt.Sprint(unnamed(&os.PathError{Op: "open", Path: "x", Err: os.ErrExist})))
}

type errReader struct{}

func (errReader) Read([]byte) (int, error) { return 0, errors.New("it broke") }
