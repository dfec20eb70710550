// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package library

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/leanctx/leanctx/toolsearch/toolsearcheval"
)

// call runs a tool of any form and gives the text of its answer.
func call(t *testing.T, tl tool.BaseTool, arguments string) string {
	t.Helper()
	ctx := context.Background()
	switch tl := tl.(type) {
	case tool.InvokableTool:
		out, err := tl.InvokableRun(ctx, arguments)
		require.NoError(t, err)
		return out
	case tool.StreamableTool:
		sr, err := tl.StreamableRun(ctx, arguments)
		require.NoError(t, err)
		return drain(t, sr)
	}
	require.Fail(t, "a tool of no form", "%T", tl)
	return ""
}

func drain(t *testing.T, sr *schema.StreamReader[string]) string {
	t.Helper()
	defer sr.Close()
	var out strings.Builder
	for {
		chunk, err := sr.Recv()
		if errors.Is(err, io.EOF) {
			return out.String()
		}
		require.NoError(t, err)
		out.WriteString(chunk)
	}
}

// library gives the tools by name over a fresh root with a few files.
func library(t *testing.T) (map[string]tool.BaseTool, string) {
	t.Helper()
	root := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(root, "docs"), 0o755))
	for name, content := range map[string]string{"a.txt": "alpha\nbeta\ngamma\n", "docs/b.txt": "beta again\n", "docs/c.csv": "x,y\n1,2\n"} {
		require.NoError(t, os.WriteFile(filepath.Join(root, name), []byte(content), 0o644))
	}
	all, err := Tools(root)
	require.NoError(t, err)
	out := map[string]tool.BaseTool{}
	for _, tl := range all {
		info, err := tl.Info(context.Background())
		require.NoError(t, err)
		out[info.Name] = tl
	}
	return out, root
}

// truth is a call and the answer that is known to be right.
type truth struct{ tool, arguments, want string }

// hold calls the tools one after the other. A want that begins with ~ need
// only be part of the answer.
func hold(t *testing.T, truths []truth) {
	t.Helper()
	tools, _ := library(t)
	for _, c := range truths {
		require.Contains(t, tools, c.tool)
		got := call(t, tools[c.tool], c.arguments)
		if part, ok := strings.CutPrefix(c.want, "~"); ok {
			assert.Contains(t, got, part, "%s %s", c.tool, c.arguments)
		} else {
			assert.Equal(t, c.want, got, "%s %s", c.tool, c.arguments)
		}
	}
}

func args(pairs ...any) string {
	in := map[string]any{}
	for i := 0; i < len(pairs); i += 2 {
		in[pairs[i].(string)] = pairs[i+1]
	}
	out, _ := json.Marshal(in)
	return string(out)
}

func TestToolsDescribeThemselvesAndTheirParameters(t *testing.T) {
	tools, _ := library(t)
	provider := regexp.MustCompile(`^[a-z0-9]+__[a-z0-9_]+$`)
	described := map[string]string{}
	for name, tl := range tools {
		assert.Regexp(t, provider, name)
		assert.LessOrEqual(t, len(name), 64)
		info, err := tl.Info(context.Background())
		require.NoError(t, err)
		assert.Greater(t, utf8.RuneCountInString(info.Desc), 11, name)
		assert.Empty(t, described[info.Desc], name)
		described[info.Desc] = name
		js, err := info.ParamsOneOf.ToJSONSchema()
		require.NoError(t, err)
		for pair := js.Properties.Oldest(); pair != nil; pair = pair.Next() {
			assert.NotEmpty(t, pair.Value.Description, "%s %s", name, pair.Key)
			assert.NotEmpty(t, pair.Value.Type, "%s %s", name, pair.Key)
		}
	}
}

func TestToolsAreSortedByNameAndNeedAFolder(t *testing.T) {
	all, err := Tools(t.TempDir())
	require.NoError(t, err)
	last := ""
	for _, tl := range all {
		info, _ := tl.Info(context.Background())
		assert.Greater(t, info.Name, last)
		last = info.Name
	}
	_, err = Tools(filepath.Join(t.TempDir(), "none"))
	assert.ErrorIs(t, err, os.ErrNotExist)
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	_, err = Tools(file)
	assert.ErrorContains(t, err, "not a folder")
}

func TestReadmeSaysHowManyToolsWork(t *testing.T) {
	all, err := Tools(t.TempDir())
	require.NoError(t, err)
	want := fmt.Sprintf("%d tools, of which %d work", len(all), Working())
	for _, file := range []string{"../README.md", "../../README.md"} {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		assert.True(t, strings.Contains(strings.Join(strings.Fields(string(text)), " "), want), "%s does not say %q", file, want)
	}
	known := map[string]bool{}
	for _, tl := range all {
		info, err := tl.Info(t.Context())
		require.NoError(t, err)
		known[info.Name] = true
	}
	for name := range works {
		assert.True(t, known[name], "%s has no definition", name)
	}
}

// junk is a value that no tool expects; some are of the right type.
func junk(r *rand.Rand) any {
	long := strings.Repeat([]string{"x", "0", "(", "é ", "[", "1,2\n", "中"}[r.IntN(7)], 1+r.IntN(3000))
	choices := []any{nil, true, "", " ", "\x00\xff", long, "-1", "1e308", "../../etc/passwd", "/etc/passwd", "now", "2024-02-30", "<a><b></a>", `{"a":[1,{"b":null}]}`,
		"%s%d%n", "((((a*)*)*)*)*", "a.txt", "docs", ".", "..", "😀\u202e", "9999999999999999999999", "a,b\n\"c", "2024-02-29", "10.0.0.0/8", "::1", "1h30m", "#ff0000", "* * * * *", "三万",
		0, 1, -1, 3.7, 1e308, -1e308, 1e18, math32, json.Number("1e999999999"), json.Number("123456789012345678901234567890"), []any{}, []any{1, 2, 3}, []any{1e308, -1e308, 1e308}, []any{"a", "b", "c"}, []any{[]any{1, 2}, []any{3, 4}}, []any{nil, map[string]any{}}, map[string]any{"a": 1}}
	return choices[r.IntN(len(choices))]
}

const math32 = 1 << 31

// arguments are junk for some of the tool's own parameters.
func junkArguments(t *testing.T, r *rand.Rand, tl tool.BaseTool) string {
	info, err := tl.Info(context.Background())
	require.NoError(t, err)
	js, err := info.ParamsOneOf.ToJSONSchema()
	require.NoError(t, err)
	in := map[string]any{}
	for pair := js.Properties.Oldest(); pair != nil; pair = pair.Next() {
		switch {
		case len(pair.Value.Enum) > 0 && r.IntN(4) > 0:
			in[pair.Key] = pair.Value.Enum[r.IntN(len(pair.Value.Enum))]
		case r.IntN(12) > 0:
			in[pair.Key] = junk(r)
		}
	}
	out, err := json.Marshal(in)
	require.NoError(t, err)
	return string(out)
}

func TestToolsAnswerWhateverTheyAreSent(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	tools, _ := library(t)
	for name, tl := range tools {
		if !Works(name) {
			continue
		}
		sent := []string{"", "{}", "null", "[]", "nonsense", `{"unknown_argument":1}`, `{"text":`, strings.Repeat("[", 100_000)}
		for range 40 {
			sent = append(sent, junkArguments(t, r, tl))
		}
		for _, arguments := range sent {
			got := call(t, tl, arguments)
			assert.True(t, utf8.ValidString(got), "%s %.300s", name, arguments)
			assert.LessOrEqual(t, len(got), maxAnswer+100, "%s %.300s", name, arguments)
		}
	}
}

// TestToolsDoNotLeaveTheRoot sends every tool for files every way out that there is.
func TestToolsDoNotLeaveTheRoot(t *testing.T) {
	tools, root := library(t)
	outside := t.TempDir()
	secret := filepath.Join(outside, "secret.txt")
	require.NoError(t, os.WriteFile(secret, []byte("the secret"), 0o600))
	require.NoError(t, os.Symlink(outside, filepath.Join(root, "link")))
	require.NoError(t, os.Symlink(secret, filepath.Join(root, "leak.txt")))
	up, err := filepath.Rel(root, secret)
	require.NoError(t, err)
	refused := 0
	before := snapshot(t, outside)
	beside := snapshot(t, filepath.Dir(root))
	for _, way := range []string{up, "docs/../" + up, secret, "link/secret.txt", "link/new.txt", "link/sub/new.png", "leak.txt", "..", "../", "../escaped.txt", "../new.zip", "docs/../../escaped.png", "link"} {
		for name, tl := range tools {
			if !regexp.MustCompile(`^(files|folder)__`).MatchString(name) {
				continue
			}
			in := map[string]any{"path": way}
			info, err := tl.Info(t.Context())
			require.NoError(t, err)
			js, err := info.ToJSONSchema()
			require.NoError(t, err)
			for _, key := range js.Required {
				in[key] = cmp.Or(in[key], map[string]any{"pattern": "*", "text": "e", "content": "x"}[key])
			}
			arguments, err := json.Marshal(in)
			require.NoError(t, err)
			got := call(t, tl, string(arguments))
			assert.NotContains(t, got, "the secret", "%s %v", name, in)
			refused += strings.Count(got, "error: ")
		}
	}
	assert.Positive(t, refused)
	assert.Equal(t, before, snapshot(t, outside))
	assert.Equal(t, beside, snapshot(t, filepath.Dir(root)), "nothing is made or removed beside the root")
}

// snapshot lists the names in a folder, without going inside, and the contents of its files.
func snapshot(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range entries {
		data, _ := os.ReadFile(filepath.Join(dir, e.Name()))
		out[e.Name()] = string(data)
	}
	return out
}

func TestFilesAreWrittenAndDeleted(t *testing.T) {
	tools, root := library(t)
	require.Equal(t, "wrote 4 bytes to new/deep/n.txt", call(t, tools["files__write"], args("path", "new/deep/n.txt", "content", "one\n")))
	data, err := os.ReadFile(filepath.Join(root, "new", "deep", "n.txt"))
	require.NoError(t, err)
	assert.Equal(t, "one\n", string(data))
	require.Contains(t, call(t, tools["files__delete"], args("path", ".")), "error: ")
	require.Equal(t, "deleted new/deep/n.txt", call(t, tools["files__delete"], args("path", "new/deep/n.txt")))
	assert.NoFileExists(t, filepath.Join(root, "new", "deep", "n.txt"))
	assert.DirExists(t, filepath.Join(root, "docs"))
}

func TestAReaderThatLeavesEndsTheStream(t *testing.T) {
	tools, root := library(t)
	require.NoError(t, os.WriteFile(filepath.Join(root, "long.txt"), bytes.Repeat([]byte("line\n"), 10_000), 0o600))
	sr, err := tools["files__read_lines"].(tool.StreamableTool).StreamableRun(t.Context(), args("path", "long.txt", "count", 10_000))
	require.NoError(t, err)
	first, err := sr.Recv()
	require.NoError(t, err)
	assert.Equal(t, "1: line\n", first)
	sr.Close()
}

func TestOpenReportsAMissingRoot(t *testing.T) {
	err := open(filepath.Join(t.TempDir(), "gone"), ".", func(place) error { return nil })
	assert.ErrorContains(t, err, "cannot be opened")
	assert.NotErrorIs(t, err, fs.ErrNotExist)
}

// graded is where the graded set of toolsearcheval keeps the descriptions of these tools.
const graded = "../../toolsearch/toolsearcheval/testdata/library.jsonl"

// With LEANCTX_UPDATE=1 it writes the catalogue first.
func TestGoldenCatalogueDescribesTheTools(t *testing.T) {
	tools, err := Tools(t.TempDir())
	require.NoError(t, err)
	infos, err := toolsearcheval.Infos(context.Background(), tools)
	require.NoError(t, err)
	var out bytes.Buffer
	lines := json.NewEncoder(&out)
	lines.SetEscapeHTML(false)
	for _, info := range infos {
		line := toolsearcheval.Tool{Name: info.Name, Description: info.Desc}
		if info.ParamsOneOf != nil {
			s, err := info.ToJSONSchema()
			require.NoError(t, err)
			line.InputSchema, err = json.Marshal(s)
			require.NoError(t, err)
		}
		require.NoError(t, lines.Encode(line))
	}
	if os.Getenv("LEANCTX_UPDATE") != "" {
		require.NoError(t, os.WriteFile(graded, out.Bytes(), 0o644))
	}
	want, err := os.ReadFile(graded)
	require.NoError(t, err)
	require.Equal(t, string(want), out.String(), "run `make golden`")
}
