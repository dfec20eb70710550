// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cloudwego/eino/schema"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/einoleantest"
	"github.com/einolean/einolean/toolsearch/toolsearcheval"
	"github.com/einolean/einolean/window"
)

// runSelf makes the test's own binary the program.
const runSelf = "EINOLEAN_TEST_RUN"

// serveTools makes the test's own binary an MCP server.
const serveTools = "EINOLEAN_TEST_SERVE"

func TestMain(m *testing.M) {
	if os.Getenv(runSelf) != "" {
		main()
	}
	if os.Getenv(serveTools) == "" {
		os.Exit(m.Run())
	}
	server := mcp.NewServer(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	mcp.AddTool(server, &mcp.Tool{Name: "convert_length", Description: "Converts a length between miles and kilometres"},
		func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
			return &mcp.CallToolResult{}, nil, nil
		})
	if err := server.Run(context.Background(), &mcp.StdioTransport{}); err != nil {
		os.Exit(1)
	}
}

// call runs the program as from a shell whose output goes into a pipe.
func call(t *testing.T, stdin string, args ...string) (out, messages string, code int) {
	t.Helper()
	var o, e bytes.Buffer
	code = run(context.Background(), streams{strings.NewReader(stdin), &o, &e}, args)
	return o.String(), e.String(), code
}

const three = `{"name":"mail__send","description":"Sends a message to people by electronic mail.","params":{"to":"addresses"}}
{"name":"mail__draft","description":"Sends a message to people by electronic mail.","params":{"to":""}}
{"name":"x","description":"Weather"}
`

func file(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "tools.json")
	require.NoError(t, os.WriteFile(name, []byte(text), 0o600))
	return name
}

func TestSearch_ReadsEveryToolFormat(t *testing.T) {
	const s = `{"type":"object","properties":{"to":{"type":"string","description":"who"}}}`
	for name, text := range map[string]string{
		"JSON Lines":        `{"name":"mail__send","description":"Sends electronic mail to people","inputSchema":` + s + "}\n\n" + `{"name":"b","description":"Brews coffee in the kitchen"}`,
		"OpenAI":            `{"tools":[{"type":"function","function":{"name":"mail__send","description":"Sends electronic mail to people","parameters":` + s + `}},{"type":"function","name":"b","description":"Brews coffee in the kitchen","parameters":` + s + `}]}`,
		"Anthropic":         `[{"name":"mail__send","description":"Sends electronic mail to people","input_schema":` + s + `},{"name":"b","description":"Brews coffee in the kitchen"}]`,
		"MCP tools/list":    `{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"mail__send","description":"Sends electronic mail to people","inputSchema":` + s + `},{"name":"b","description":"Brews coffee in the kitchen","inputSchema":` + s + `}]}}`,
		"a byte order mark": "\ufeff" + `[{"name":"mail__send","description":"Sends electronic mail to people","inputSchema":` + s + `},{"name":"b","description":"Brews coffee in the kitchen"}]`,
		"MCP, result only":  `{"tools":[{"name":"mail__send","description":"Sends electronic mail to people","inputSchema":` + s + `},{"name":"b","description":"Brews coffee in the kitchen","inputSchema":` + s + `}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			out, messages, code := call(t, "", "search", file(t, text), "electronic", "mail", "--json")
			require.Zero(t, code, messages)
			var got searchJSON
			require.NoError(t, json.Unmarshal([]byte(out), &got))
			require.Equal(t, "einolean.search/1", got.Schema)
			require.Equal(t, 2, got.Tools)
			require.Equal(t, "mail__send", got.Hits[0].Name)
			fromPipe, _, code := call(t, text, "search", "-", "electronic", "mail", "--json")
			require.Zero(t, code)
			require.Equal(t, out, fromPipe)
		})
	}
}

// A type that is null, as some servers write it, is no type. TestExitCode_ReflectsOutcome has the same for eval.
func TestSearch_ReadsPropertiesOfTypeNull(t *testing.T) {
	for key, text := range toolsOfTypeNull {
		for _, more := range [][]string{nil, {"--json"}, {"--why"}} {
			out, messages, code := call(t, "", append([]string{"search", file(t, "["+text+"]"), "reads", "mail"}, more...)...)
			require.Zero(t, code, "%s %v: %s", key, more, messages)
			require.Contains(t, out, "null_type", "%s %v", key, more)
		}
	}
}

func TestReplay_ReadsPropertiesOfTypeNull(t *testing.T) {
	for key, text := range toolsOfTypeNull {
		chat := file(t, `{"messages":`+jsonOf(t, talk(2, 10))+`,"tools":[`+text+`]}`)
		for _, more := range [][]string{nil, {"--json"}} {
			out, messages, code := call(t, "", append([]string{"replay", chat}, more...)...)
			require.Zero(t, code, "%s %v: %s", key, more, messages)
			require.NotEmpty(t, out, "%s %v", key, more)
		}
	}
}

// toolsOfTypeNull are tools with a property whose type is null, by the key of their schema.
var toolsOfTypeNull = map[string]string{
	"inputSchema":         `{"name":"null_type","description":"Reads mail","inputSchema":` + schemaOfTypeNull + `}`,
	"input_schema":        `{"name":"null_type","description":"Reads mail","input_schema":` + schemaOfTypeNull + `}`,
	"function.parameters": `{"type":"function","function":{"name":"null_type","description":"Reads mail","parameters":` + schemaOfTypeNull + `}}`,
	"parameters":          `{"type":"function","name":"null_type","description":"Reads mail","parameters":` + schemaOfTypeNull + `}`,
}

const schemaOfTypeNull = `{"type":"object","properties":{"a":{"type":null}}}`

func TestEval_ReportsProblemsWithAdvice(t *testing.T) {
	out, messages, code := call(t, "", "eval", file(t, three))
	require.Zero(t, code, messages)
	require.Equal(t, `2 of 3 tools are found by their own words
no model or user was asked: words that they use and no tool has are not counted; --queries or --model measures them
     1 with the description of another tool
     1 with hardly any description
     1 found, but after another tool
     1 with parameters that are not described

mail__draft  it has the description of mail__send
  try:       say what only this tool does

with hardly any description
  x  its description has 7 characters
  try: say in one sentence what it does and when to use it

mail__draft  its own words find mail__send first
  both say:  mail, sends, message, people, electronic
  only this: draft
  try:       say in its first sentence what it does that mail__send does not, with its own words: draft

with parameters that are not described
  mail__draft  to
  try: describe them: searches read their words too

`, out)
	out, _, _ = call(t, "", "eval", file(t, three), "--json")
	var got evalJSON
	require.NoError(t, json.Unmarshal([]byte(out), &got))
	require.Equal(t, "einolean.eval/1", got.Schema)
	require.Equal(t, 2, got.FoundTools)
	require.Len(t, got.Findings, 4)
	first, _, _ := call(t, "", "eval", file(t, `{"name":"a","description":"Brews coffee in the kitchen","params":{"cups":""}}`+"\n"+`{"name":"b"}`), "--top", "1")
	require.Contains(t, first, "without a description\n  b\n", "what matters most is told first")
	out, _, _ = call(t, "", "eval", file(t, three), "--top", "1")
	require.Contains(t, out, "and 3 findings")
}

// The tools resemble a published catalog: placeholders, and tools of several servers with one purpose.
func TestEval_RecognizesPlaceholderDescriptions(t *testing.T) {
	out, messages, code := call(t, "", "eval", file(t, `{"name":"cloudflare__d1_delete_database","description":"Description not available"}
{"name":"atlassian__jira_update_sprint","description":"Description not available."}
{"name":"hub__todo","description":"TODO"}
{"name":"hub__none"}
{"name":"zhihu__search","description":"暂无描述"}
{"name":"notion__API-retrieve-a-page","description":"Retrieve a page. Its description and what else is available."}
{"name":"github__get_teams","description":"Get details of the teams the user is a member of"}
{"name":"asana__get_teams_for_user","description":"Get the teams which the user has access to"}
{"name":"zz__list_teams","description":"Get details of the teams the user is a member of, in a workspace"}
{"name":"drone_planner","description":"用于规划无人机优化的飞行路径，并描述路线。"}`), "--json", "--index", "keyword")
	require.Zero(t, code, messages)
	var got evalJSON
	require.NoError(t, json.Unmarshal([]byte(out), &got))
	rank := 0
	for _, f := range got.Findings {
		require.GreaterOrEqual(t, f.rank(), rank, "worst first")
		rank = f.rank()
		require.NotEqual(t, f.Tool, "drone_planner", "a description with such a word in it is none")
		if strings.Contains("cloudflare__d1_delete_database atlassian__jira_update_sprint hub__todo zhihu__search", f.Tool) {
			require.Equal(t, rulePlaceholder, f.Rule, "what has no words is not told to begin with them")
		}
		for _, w := range append(f.Distinct, f.Shared...) {
			require.NotContains(t, stopWords, w)
			require.NotContains(t, []string{"description", "available"}, w, "words of placeholders")
		}
	}
	require.Equal(t, ruleNone, got.Findings[0].Rule)
	text, _, _ := call(t, "", "eval", file(t, three))
	require.True(t, strings.HasPrefix(text, "2 of 3 tools are found"), "the summary stands on top")
	require.Equal(t, 1, strings.Count(text, "are found by"))
}

func TestEval_TopLimitsFindings(t *testing.T) {
	var many strings.Builder
	for i := range 40 {
		fmt.Fprintf(&many, "{\"name\":\"none_%d\"}\n", i)
	}
	out, _, code := call(t, "", "eval", file(t, many.String()+three), "--top", "8")
	require.Zero(t, code)
	require.Contains(t, out, "    40 without a description")
	require.Contains(t, out, "its own words find mail__send first")
	require.Contains(t, out, "… and 36 findings")
}

func TestEvalQueries_PrintsMeasures(t *testing.T) {
	queries := file(t, `{"query":"send electronic mail","relevant":["mail__send"],"equiv":{"mail__send":["mail__draft"]},"kind":"request"}`+"\n"+`{"query":"weather","relevant":["x"],"kind":"keyword"}`)
	out, messages, code := call(t, "", "eval", file(t, three), "--queries", queries)
	require.Zero(t, code, messages)
	require.Contains(t, out, "recall@5")
	out, _, code = call(t, "", "eval", file(t, three), "--queries", queries, "--json")
	require.Zero(t, code)
	var got measuredJSON
	require.NoError(t, json.Unmarshal([]byte(out), &got))
	require.Equal(t, "einolean.eval.queries/1", got.Schema)
	require.Equal(t, toolsearcheval.Measures{Queries: 2, Recall1: 1, Recall5: 1, Recall10: 1, NDCG10: 1, MRR: 1}, got.All)
	require.Equal(t, 1, got.Kinds["keyword"].Queries)
	require.Empty(t, got.Misses)
	_, messages, code = call(t, "", "eval", file(t, three), "--queries", file(t, `{"query":"weather","relevant":["mail__send"]}`), "--fail-under", ".9")
	require.Equal(t, exitMissed, code)
	require.Contains(t, messages, "recall@5 is 0.000")
}

func TestEvalQueries_ListsMisses(t *testing.T) {
	queries := file(t, `{"id":"a","query":"weather","relevant":["mail__send"]}`+"\n"+`{"id":"b","query":"\u001b[2Jweather","relevant":["mail__draft"]}`)
	for _, index := range []string{"bm25", "keyword", "fuse"} {
		out, messages, code := call(t, "", "eval", file(t, three), "--queries", queries, "--index", index, "--top", "1")
		require.Zero(t, code, messages)
		require.Contains(t, out, "nDCG@10")
		require.Contains(t, out, "2 queries lack a relevant tool among the first five:\n")
		require.Contains(t, out, `a "weather" misses mail__send; found:`+"\n  1. x ")
		require.Contains(t, out, "… and 1 more")
		all, _, _ := call(t, "", "eval", file(t, three), "--queries", queries, "--index", index)
		require.NotContains(t, all, "\x1b")
		out, _, _ = call(t, "", "eval", file(t, three), "--queries", queries, "--index", index, "--json")
		var got measuredJSON
		require.NoError(t, json.Unmarshal([]byte(out), &got))
		require.Equal(t, index, got.Index)
		require.Len(t, got.Misses, 2)
		first := got.Misses[0]
		require.Equal(t, []any{"a", "", "weather", []string{"mail__send"}, []string{"x"}}, []any{first.ID, first.Kind, first.Query, first.Missing, first.Found})
	}
}

func TestSearch_IndexFlagSelectsIndex(t *testing.T) {
	scores := map[float64]bool{}
	for _, index := range []string{"bm25", "keyword", "fuse"} {
		out, messages, code := call(t, "", "search", file(t, three), "electronic", "mail", "--index", index, "--json", "--why")
		require.Zero(t, code, messages)
		var got searchJSON
		require.NoError(t, json.Unmarshal([]byte(out), &got))
		require.Contains(t, got.Hits[0].Name, "mail__")
		scores[got.Hits[0].Score] = true
	}
	require.Len(t, scores, 3, "each ranks by a score of its own")
}

func TestExitCode_ReflectsOutcome(t *testing.T) {
	tools := file(t, three)
	for name, c := range map[string]struct {
		args []string
		code int
		says string
	}{
		"no command":                 {nil, exitUsage, ""},
		"help":                       {[]string{"help"}, exitDone, ""},
		"an unknown command":         {[]string{"evil"}, exitUsage, `unknown command "evil"`},
		"an unknown flag":            {[]string{"eval", tools, "--fast"}, exitUsage, "there is no flag --fast. See einolean eval --help\n"},
		"a flag without value":       {[]string{"eval", tools, "--top"}, exitUsage, "--top needs a value. See einolean eval --help\n"},
		"a number flag with a word":  {[]string{"eval", tools, "--top", "some"}, exitUsage, "--top cannot be \"some\". See einolean eval --help\n"},
		"a boolean flag with a word": {[]string{"eval", tools, "--json=some"}, exitUsage, "--json cannot be \"some\". See einolean eval --help\n"},
		"no file to replay":          {[]string{"replay"}, exitUsage, "give a file of a conversation, such as the body of a request. See einolean replay --help\n"},
		"no file":                    {[]string{"eval"}, exitUsage, "one file"},
		"a missing file":             {[]string{"eval", "none.json"}, exitInput, "none.json"},
		"invalid JSON":               {[]string{"eval", file(t, "{}\nhello")}, exitInput, ":2: this is neither"},
		"an empty file":              {[]string{"eval", file(t, "\n")}, exitInput, "is empty"},
		"an empty list":              {[]string{"eval", file(t, "[]")}, exitInput, "holds no tools"},
		"a tool without a name":      {[]string{"eval", file(t, `[{"description":"a"}]`)}, exitInput, "tool 1: a tool has no name"},
		"servers":                    {[]string{"eval", file(t, `{"mcpServers":{"a":{"command":"true"}}}`)}, exitInput, "--connect"},
		"servers and comments":       {[]string{"eval", file(t, "// mine\n"+`{"mcpServers":{"a":{"command":"true",},},}`)}, exitInput, "--connect"},
		"servers, invalid JSON":      {[]string{"eval", "--connect", file(t, "/* a\nb */{\"mcpServers\":\n{\"a\" {}}}")}, exitInput, "line 3"},
		"one bad tool":               {[]string{"eval", file(t, `[{"name":"bad","description":"a","inputSchema":[1]},{"name":"null_type","description":"Reads mail","inputSchema":{"type":"object","properties":{"a":{"type":null,"description":"b"}}}}]`)}, exitDone, "left out"},
		"an unknown index":           {[]string{"search", tools, "a", "--index", "vectors"}, exitUsage, "bm25, keyword or fuse"},
		"an unknown color":           {[]string{"search", tools, "a", "--color", "red"}, exitUsage, "auto, always or never"},
		"a threshold in percent":     {[]string{"eval", tools, "--fail-under", "90"}, exitUsage, "between 0 and 1"},
		"no threshold":               {[]string{"eval", tools, "--fail-under", "NaN"}, exitUsage, "between 0 and 1"},
		"no queries":                 {[]string{"eval", tools, "--queries", file(t, "\n")}, exitInput, "holds no queries"},
		"queries in a list":          {[]string{"eval", tools, "--queries", file(t, `[{"query":"weather"}]`)}, exitInput, "query 1: this is a JSON array and should be an object"},
		"queries with CRLF":          {[]string{"eval", tools, "--queries", file(t, "\ufeff"+`{"query":"mail","relevant":["mail__send"]}`+"\r\n"), "--fail-under", "1"}, exitDone, ""},
		"a threshold is met":         {[]string{"eval", tools, "--fail-under", ".6", "--max-findings", "4"}, exitDone, ""},
		"a threshold is missed":      {[]string{"eval", tools, "--fail-under", ".9"}, exitMissed, "67 %"},
		"too many findings":          {[]string{"eval", tools, "--max-findings", "3"}, exitMissed, "4 findings"},
		"no conversation":            {[]string{"view", file(t, `{"a":1}`)}, exitInput, "holds no line of package window"},
		"an unknown conversation":    {[]string{"view", recorded(t), "--conversation", "b"}, exitInput, "no such conversation"},
	} {
		t.Run(name, func(t *testing.T) {
			_, messages, code := call(t, "", c.args...)
			require.Equal(t, c.code, code, messages)
			require.Contains(t, messages, c.says)
		})
	}
}

func TestHelp_GoesToStandardOutput(t *testing.T) {
	for _, c := range commands {
		out, messages, code := call(t, "", c.name, "--help")
		require.Zero(t, code)
		require.Empty(t, messages)
		require.Contains(t, out, "einolean "+c.name+" "+c.arguments)
		require.Contains(t, out, "  --schema")
		require.NotRegexp(t, `(?m)^  -[a-z]`, out, "flags have two dashes, as in all texts")
	}
}

func TestSearch_ColorsAndMessagesFollowFlags(t *testing.T) {
	tools := file(t, three)
	t.Setenv("NO_COLOR", "")
	plain, _, _ := call(t, "", "search", tools, "mail")
	require.NotContains(t, plain, "\x1b")
	colored, _, _ := call(t, "", "search", tools, "mail", "--color", "always")
	require.Contains(t, colored, "\x1b[")
	_, messages, _ := call(t, "", "search", tools, "mail")
	require.Contains(t, messages, "3 tools")
	_, messages, _ = call(t, "", "search", tools, "mail", "--quiet")
	require.Empty(t, messages)
	nothing, _, _ := call(t, "", "search", tools, "zzzzqqqq")
	require.Equal(t, "no tool fits\n", nothing)
	why, _, _ := call(t, "", "search", tools, "mail", "--why")
	require.Greater(t, len(why), len(plain))
}

// recorded writes a file as a collector does.
func recorded(t *testing.T) string {
	t.Helper()
	see := window.New(window.Config{Conversation: func(context.Context) (string, error) { return "acme/42", nil }})
	h := see.Handler()
	ctx, _, err := h.BeforeAgent(context.Background(), nil)
	require.NoError(t, err)
	m, err := h.WrapModel(ctx, einoleantest.Script[*schema.Message](einoleantest.Say("26 miles")), nil)
	require.NoError(t, err)
	_, err = m.Generate(ctx, []*schema.Message{schema.UserMessage("How far is it?")})
	require.NoError(t, err)
	var b bytes.Buffer
	require.NoError(t, see.WriteJSON(&b))
	return file(t, b.String())
}

func TestView_PrintsLinesOrWritesPage(t *testing.T) {
	name := recorded(t)
	out, _, code := call(t, "", "view", name)
	require.Zero(t, code)
	require.Contains(t, out, "> How far is it?")
	page := filepath.Join(t.TempDir(), "page.html")
	_, messages, code := call(t, "", "view", name, "-o", page)
	require.Zero(t, code, messages)
	text, err := os.ReadFile(page)
	require.NoError(t, err)
	require.Contains(t, string(text), "How far is it?")
	out, _, code = call(t, "", "view", "--json", name)
	require.Zero(t, code)
	require.Contains(t, out, `"id": "acme/42"`)
}

func TestConnect_ListsToolsAndReportsFailedServers(t *testing.T) {
	self, err := os.Executable()
	require.NoError(t, err)
	config, err := json.Marshal(map[string]any{"mcpServers": map[string]any{
		"units": map[string]any{"command": self, "env": map[string]string{serveTools: "1"}},
		"gone":  map[string]any{"command": filepath.Join(t.TempDir(), "none")},
	}})
	require.NoError(t, err)
	name := file(t, string(config))
	out, messages, code := call(t, "", "search", name, "miles", "--connect")
	require.Zero(t, code, messages)
	require.Contains(t, out, "convert_length")
	require.Contains(t, messages, "left out gone")
	_, messages, code = call(t, "", "search", name, "miles", "--connect", "--strict")
	require.Equal(t, exitServer, code)
	require.Contains(t, messages, "gone")
}

func TestRun_InterruptEndsCommand(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var out, messages bytes.Buffer
	require.Equal(t, exitInterrupted, run(ctx, streams{strings.NewReader(""), &out, &messages}, []string{"eval", file(t, three)}))
}
