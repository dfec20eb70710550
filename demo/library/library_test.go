// Copyright einolean authors
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
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/golden"
	"github.com/einolean/einolean/toolsearch/toolsearcheval"
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

func TestTools_SortedByNameAndNeedAFolder(t *testing.T) {
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

func TestWorkingTools_LeavesOutDefinitions(t *testing.T) {
	all, err := Tools(t.TempDir())
	require.NoError(t, err)
	working, err := WorkingTools(t.TempDir())
	require.NoError(t, err)
	require.Len(t, working, Working())
	require.Greater(t, len(all), len(working))
	for _, tl := range working {
		_, isDefinition := tl.(definition)
		require.False(t, isDefinition)
	}
	_, err = WorkingTools(filepath.Join(t.TempDir(), "none"))
	require.ErrorIs(t, err, os.ErrNotExist)
}

func TestReadme_StatesHowManyToolsWork(t *testing.T) {
	all, err := Tools(t.TempDir())
	require.NoError(t, err)
	want := fmt.Sprintf("%d tools, of which %d work", len(all), Working())
	for _, file := range []string{"../../examples/README.md", "../../README.md"} {
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
	for name := range implementations {
		assert.True(t, known[name], "%s has no definition", name)
	}
}

// TestTools_DoNotLeaveTheRoot sends every tool for files every known path out of the root.
func TestTools_DoNotLeaveTheRoot(t *testing.T) {
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

func TestStreamableRun_EndsIfReaderCloses(t *testing.T) {
	tools, root := library(t)
	require.NoError(t, os.WriteFile(filepath.Join(root, "long.txt"), bytes.Repeat([]byte("line\n"), 10_000), 0o600))
	sr, err := tools["files__read_lines"].(tool.StreamableTool).StreamableRun(t.Context(), `{"path":"long.txt","count":10000}`)
	require.NoError(t, err)
	first, err := sr.Recv()
	require.NoError(t, err)
	assert.Equal(t, "1: line\n", first)
	sr.Close()
}

func TestInvokableRun_ReportsErrors(t *testing.T) {
	tools, _ := library(t)
	for _, c := range []struct{ tool, arguments, want string }{
		{"text__reverse", `{}`, `required: missing properties: ["text"]`},
		{"text__reverse", `[1]`, `the arguments must be one JSON object`},
		{"text__reverse", `null`, `required: missing properties: ["text"]`},
		{"files__read", `{"path":"none.txt"}`, `error: there is no "none.txt"; folder__list and folder__find show what there is`},
		{"image__show", `nonsense`, "error: image__show is only a definition; it is not part of the demonstration, whatever its arguments"},
	} {
		require.Contains(t, call(t, tools[c.tool], c.arguments), c.want)
	}
}

func TestBounded_CutsBetweenCharacters(t *testing.T) {
	got := bounded(strings.Repeat("中", maxAnswer))
	assert.True(t, utf8.ValidString(got))
	assert.Contains(t, got, "[cut here: the first 1048575 of 3145728 bytes]")
}

// graded is where the graded set of toolsearcheval keeps the descriptions of these tools.
const graded = "../../toolsearch/toolsearcheval/testdata/library.jsonl"

// With EINOLEAN_UPDATE=1 it writes the catalog first.
func TestTools_GoldenCatalog(t *testing.T) {
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
	golden.Check(t, graded, out.String())
}
