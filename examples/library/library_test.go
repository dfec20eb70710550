// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package library

// This file holds what is true of every tool, and the helpers of the other tests.

import (
	"context"
	"encoding/json"
	"errors"
	"io"
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
)

// call runs a tool of any form and gives the text of its answer.
func call(t *testing.T, tl tool.BaseTool, arguments string) string {
	t.Helper()
	ctx := context.Background()
	switch tl := tl.(type) {
	case tool.EnhancedInvokableTool:
		out, err := tl.InvokableRun(ctx, &schema.ToolArgument{Text: arguments})
		require.NoError(t, err)
		return texts(out)
	case tool.InvokableTool:
		out, err := tl.InvokableRun(ctx, arguments)
		require.NoError(t, err)
		return out
	case tool.EnhancedStreamableTool:
		sr, err := tl.StreamableRun(ctx, &schema.ToolArgument{Text: arguments})
		require.NoError(t, err)
		return drain(t, sr, texts)
	case tool.StreamableTool:
		sr, err := tl.StreamableRun(ctx, arguments)
		require.NoError(t, err)
		return drain(t, sr, func(s string) string { return s })
	}
	require.Fail(t, "a tool of no form", "%T", tl)
	return ""
}

func drain[C any](t *testing.T, sr *schema.StreamReader[C], text func(C) string) string {
	t.Helper()
	defer sr.Close()
	var out strings.Builder
	for {
		chunk, err := sr.Recv()
		if errors.Is(err, io.EOF) {
			return out.String()
		}
		require.NoError(t, err)
		out.WriteString(text(chunk))
	}
}

func texts(r *schema.ToolResult) string {
	var out strings.Builder
	for _, p := range r.Parts {
		out.WriteString(p.Text)
	}
	return out.String()
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

func TestEveryServerHasANameThatItsToolsBeginWith(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range Servers(t.TempDir()) {
		assert.NotEmpty(t, s.Title)
		assert.False(t, seen[s.Name], s.Name)
		seen[s.Name] = true
		assert.NotEmpty(t, s.Tools, s.Name)
		for _, tl := range s.Tools {
			info, err := tl.Info(context.Background())
			require.NoError(t, err)
			assert.True(t, strings.HasPrefix(info.Name, s.Name+"__"), info.Name)
		}
	}
}

func TestEveryToolDescribesItselfAndItsParameters(t *testing.T) {
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

func TestADuplicateNameIsRefused(t *testing.T) {
	tl := define("a__b", "does something", textSpaces)(folder{})
	_, err := merge([]Server{{Name: "a", Tools: []tool.BaseTool{tl}}, {Name: "c", Tools: []tool.BaseTool{tl}}})
	assert.ErrorContains(t, err, `"a__b"`)
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

func TestNoToolPanicsFailsOrFloodsWhateverItIsSent(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	tools, _ := library(t)
	for name, tl := range tools {
		sent := []string{"", "{}", "null", "[]", "nonsense", `{"unknown_argument":1}`, `{"text":`, strings.Repeat("[", 100_000)}
		for range 40 {
			sent = append(sent, junkArguments(t, r, tl))
		}
		for _, arguments := range sent {
			began := time.Now()
			got := call(t, tl, arguments)
			assert.True(t, utf8.ValidString(got), "%s %.300s", name, arguments)
			assert.LessOrEqual(t, len(got), maxAnswer+100, "%s %.300s", name, arguments)
			if d := time.Since(began); d > 2*time.Second {
				t.Logf("slow: %s took %v on %.300s", name, d, arguments)
			}
		}
	}
}

func TestWrongArgumentsAreExplained(t *testing.T) {
	hold(t, []truth{
		{"text__reverse", `{}`, `error: the argument "text" is missing: The text to work on`},
		{"text__reverse", `{"txt":"a"}`, `error: there is no argument "txt"; this tool takes: text, by`},
		{"text__reverse", `[1]`, `error: the arguments must be one JSON object with: text, by`},
		{"text__reverse", `{"text":"a","by":"lines"}`, `error: the argument "by" must be one of characters, words, and is "lines"`},
		{"text__reverse", `{"text":["a"]}`, `error: the argument "text" must be a text, and holds a JSON array`},
		{"text__wrap", `{"text":"a","width":0}`, `error: the argument "width" must be at least 1, and is 0`},
		{"text__wrap", `{"text":"a","width":1e999}`, `error: the argument "width" must be at most 10000, and is 1e999`},
		{"text__wrap", `{"text":"a","width":"wide"}`, `error: the argument "width" must be a whole number, and holds a JSON string`},
		{"statistics__mean", `{"numbers":[]}`, `error: the argument "numbers" needs at least 1 values and has 0`},
		{"statistics__mean", `{"numbers":["a"]}`, `error: the argument "numbers" must be a number, and holds a JSON string`},
	})
}

func TestArgumentsThatAreAlmostRightAreUnderstood(t *testing.T) {
	hold(t, []truth{
		{"text__repeat", `{"text":12,"count":"3"}`, "121212"},
		{"text__repeat", `{"text":"a","count":3.0,"separator":null}`, "aaa"},
		{"statistics__mean", `{"numbers":5}`, "5"},
		{"statistics__mean", `{"numbers":"[1,2,3]"}`, "2"},
		{"text__reverse", `{"text":"a b","by":" WORDS"}`, "b a"},
		{"text__count_occurrences", `{"text":"Aa","phrase":"a","ignore_case":"true"}`, "2"},
	})
}

func TestALongAnswerIsCutBetweenCharacters(t *testing.T) {
	got := bounded(strings.Repeat("中", maxAnswer))
	assert.True(t, utf8.ValidString(got))
	assert.Contains(t, got, "[cut here: the first 1048575 of 3145728 bytes]")
}

func TestTheFirstWrongArgumentIsExplained(t *testing.T) {
	hold(t, []truth{
		{"calendar__days_between", `{"end":"soon","start":"2024-01-01"}`, `error: "soon" is not a date; write it as YYYY-MM-DD, such as 2024-02-29`},
		{"calendar__days_between", `{"end":"soon","start":"once"}`, `error: "once" is not a date; write it as YYYY-MM-DD, such as 2024-02-29`},
		{"calendar__days_between", `{"end":["2024-01-01"],"start":"2024-01-01"}`, `error: the argument "end" must be a text, and holds a JSON array`},
		{"china__weekday", `{"date":""}`, `error: “”不是日期,请写成 2024-02-29 或 2024年2月29日`},
		{"version__sort", `{"versions":["1.0.0","one"]}`, `error: "one" is not a version such as 1.4.2 or v2.0.0-rc.1`},
		{"lines__sort", `{"text":"b\na","descending":"perhaps"}`, `error: the argument "descending" must be true or false, and holds a JSON string`},
	})
}
