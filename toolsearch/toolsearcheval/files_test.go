// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package toolsearcheval_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/toolsearch/index"
	"github.com/einolean/einolean/toolsearch/toolsearcheval"
)

func TestLoad_ReportsBrokenLine(t *testing.T) {
	dir := t.TempDir()
	good, bad := filepath.Join(dir, "tools.jsonl"), filepath.Join(dir, "cases.jsonl")
	require.NoError(t, os.WriteFile(good, []byte(`{"name":"a","description":"d","params":{"x":"the x"}}`+"\n"), 0o600))
	require.NoError(t, os.WriteFile(bad, []byte("{\"query\":\"q\"}\n\n{oops\n"), 0o600))
	_, _, err := toolsearcheval.Load(good, bad)
	require.ErrorContains(t, err, "cases.jsonl:3")
	tools, err := toolsearcheval.LoadTools(good)
	require.NoError(t, err)
	require.Equal(t, "a", tools[0].Name)

	require.NoError(t, os.WriteFile(good, []byte("\ufeff{\"name\":\"a\"}\r\n\r\n{\"name\":\"b\"}\r\n"), 0o600))
	tools, err = toolsearcheval.LoadTools(good)
	require.NoError(t, err, "as Windows writes it")
	require.Len(t, tools, 2)

	_, _, err = toolsearcheval.Load(bad, good)
	require.ErrorContains(t, err, "cases.jsonl:3")
	_, err = toolsearcheval.LoadCases(filepath.Join(dir, "none"))
	require.ErrorIs(t, err, os.ErrNotExist)
}

func TestLoadTools_KeepsMCPSchemas(t *testing.T) {
	file := filepath.Join(t.TempDir(), "tools.jsonl")
	line := `{"name":"a","description":"d","inputSchema":{"type":"object","properties":{"unit":{"type":"string","enum":["furlong","rod"]}},"required":["unit"]}}`
	require.NoError(t, os.WriteFile(file, []byte(line+"\n"+`{"name":"b","description":"d","inputSchema":null}`), 0o600))
	tools, err := toolsearcheval.LoadTools(file)
	require.NoError(t, err)
	s, err := tools[0].ToJSONSchema()
	require.NoError(t, err)
	text, err := json.Marshal(s)
	require.NoError(t, err)
	require.JSONEq(t, `{"type":"object","properties":{"unit":{"type":"string","enum":["furlong","rod"]}},"required":["unit"]}`, string(text))
	require.Nil(t, tools[1].ParamsOneOf)

	require.NoError(t, os.WriteFile(file, []byte(`{"name":"bad_one","inputSchema":["type"]}`), 0o600))
	_, err = toolsearcheval.LoadTools(file)
	require.ErrorContains(t, err, "tools.jsonl:1")
	require.ErrorContains(t, err, "bad_one")
}

// describing is a tool that has nothing but a description.
type describing struct {
	info *schema.ToolInfo
	err  error
}

func (d describing) Info(context.Context) (*schema.ToolInfo, error) { return d.info, d.err }

func TestInfos_ReportsEveryToolWithoutInfo(t *testing.T) {
	infos, err := toolsearcheval.Infos(context.Background(), []tool.BaseTool{
		describing{info: &schema.ToolInfo{Name: "fine"}}, nil, describing{}, describing{err: errors.New("out of order")},
	})
	require.Len(t, infos, 1)
	require.ErrorContains(t, err, "tools[1]")
	require.ErrorContains(t, err, "tools[2]")
	require.ErrorContains(t, err, "tools[3]: out of order")
}

func TestEvaluate_InvalidCasesAreErrors(t *testing.T) {
	_, err := toolsearcheval.Evaluate(context.Background(), index.Keyword, append(catalogue("a", "b"), nil), []toolsearcheval.Case{
		{ID: "c9", Query: "q", Relevant: []string{"gone"}},
		{ID: "c9", Query: "q", Relevant: []string{"a", "a"}},
		{ID: "c10", Query: "q", Relevant: []string{"a"}, Equivalent: map[string][]string{"a": {"lost"}, "b": {"a"}}},
	})
	for _, problem := range []string{
		`tools[2] is nil`,
		`case "c9" ("q") names the tool "gone"`,
		`two cases have the ID "c9"`,
		`names the tool "a" twice`,
		`names the tool "lost"`,
		`has equivalents of "b"`,
	} {
		require.ErrorContains(t, err, problem)
	}
}

func TestRanks_HaveALineForEachCase(t *testing.T) {
	f := fixed{"a": {"b", "a"}, "loud": {"b"}}
	r, err := toolsearcheval.Evaluate(context.Background(), f.index, catalogue("a", "b"), []toolsearcheval.Case{
		{ID: "second", Query: "a", Relevant: []string{"a"}},
		{ID: "lost", Query: "in two\n lines", Relevant: []string{"a"}},
		{ID: "quiet", Query: "silent"},
		{ID: "noise", Query: "loud"},
	})
	require.NoError(t, err)
	var fields []string
	for _, line := range strings.Split(strings.TrimSpace(r.Ranks()), "\n") {
		fields = append(fields, strings.Join(strings.Fields(line), " "))
	}
	require.Equal(t, []string{"2 second a", "- lost in two lines", "none quiet silent", "some noise loud"}, fields)
}

// listener is a testing.TB that keeps what a helper reports.
type listener struct {
	testing.TB
	said []string
}

func (l *listener) Helper() {}
func (l *listener) Errorf(format string, args ...any) {
	l.said = append(l.said, fmt.Sprintf(format, args...))
}
