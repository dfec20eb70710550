// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// Fuzz targets, each with its law, and bad input by hand.

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/cloudwego/eino/components/tool"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/adktest"
	"github.com/einolean/einolean/internal/einorun"
	"github.com/einolean/einolean/internal/toolnames"
)

// metaToolsOf are the search tools of every protocol over some tools, each with the key
// under which it lists what it found.
func metaToolsOf(t testing.TB) (tools []tool.InvokableTool, keys []string) {
	for protocol, byName := range map[Protocol]map[string]string{
		Keyword: {toolnames.Search: "matches"}, Regexp: {toolnames.Search: "selectedTools"},
		SearchLoad: {toolnames.SearchTools: "results", toolnames.Load: "loaded"}, SearchCall: {toolnames.Search: "tools", toolnames.Call: ""},
	} {
		h, err := New(context.Background(), &Config{Protocol: protocol, DynamicTools: []tool.BaseTool{
			adktest.Simple("send_email", "Sends an email"), adktest.Simple("github__create_issue", "Creates an issue"), adktest.Simple("查询天气", "查询城市的天气"),
		}})
		require.NoError(t, err)
		rc := &einorun.RunContext{}
		_, err = einorun.Begin(context.Background(), h, rc)
		require.NoError(t, err)
		for _, x := range rc.Tools {
			info, _ := x.Info(context.Background())
			if key, ok := byName[info.Name]; ok {
				tools, keys = append(tools, x.(tool.InvokableTool)), append(keys, key)
			}
		}
	}
	require.Len(t, tools, 6)
	return tools, keys
}

// Whatever a model writes as arguments, it gets an answer, and the run goes on.
//
//claim:security-12
func FuzzDecodeArguments(f *testing.F) {
	for _, seed := range badArguments() {
		f.Add(seed)
	}
	tools, keys := metaToolsOf(f)
	f.Fuzz(func(t *testing.T, args string) {
		for i, x := range tools {
			answer, err := x.InvokableRun(context.Background(), args)
			require.NoError(t, err)
			if keys[i] == "" {
				require.NotEmpty(t, answer)
				continue
			}
			var fields map[string]any
			require.NoError(t, json.Unmarshal([]byte(answer), &fields), answer)
			require.IsType(t, []any{}, fields[keys[i]], answer)
		}
	})
}

// badArguments are arguments that models have written, or could.
func badArguments() []string {
	return []string{
		"", " ", "{}", "null", "true", "5", `"send email"`, "send email", `["send","email"]`, `{"query":""}`, `{"query":" \t\n"}`, `{"query":null}`, `{"query":5}`,
		`{"query":["send","email"]}`, `{"query":[["send"]]}`, `{"query":{"query":"send"}}`, `{"query":{"query":{"query":{}}}}`, `{"query":true}`, `{"Query":"send"}`, `{"QUERY":"x","query":"send"}`,
		`{"queries":["send","issue"]}`, `{"q":"send"}`, `{"query":"send","max_results":"5"}`, `{"query":"send","max_results":5.5}`, `{"query":"send","max_results":-1}`,
		`{"query":"send","max_results":1e999}`, `{"query":"send","max_results":"NaN"}`, `{"query":"send","max_results":[1]}`, `{"query":"send"`, `{"query":"send`, `{query:"send"}`,
		`{"query":"send"}{"query":"email"}`, `{"query":"select:"}`, `{"query":"select:,,,"}`, `{"query":"select:SEND_EMAIL"}`, "{\"query\":\"se\xffnd\"}", `{"query":"\ud800"}`,
		`{"query":"+"}`, `{"query":"+ + +"}`, `{"query":"select:\"send_email\" 'github__create_issue'"}`, `{"regex_pattern":"("}`, `{"regex_pattern":".*"}`, `{"regex_pattern":["a","b"]}`,
		`{"tool_name":7}`, `{"tool_names":"send_email,github__create_issue"}`, `{"tool_name":"send_email","tool_names":[null,{}]}`, `{"name":"send_email","arguments":"{}"}`,
		`{"name":["send_email"],"arguments":[]}`, `{"name":"send_email","arguments":{"value":1}}`, `{"name":"send_email","arguments":{"value":"` + "\\u0000" + `"}}`, "\x00", "[[[[[[", `{"query":` + strings.Repeat("[", 5000),
	}
}

//claim:migration-09 security-12
func TestSearchTools_AnswerBadArguments(t *testing.T) {
	tools, keys := metaToolsOf(t)
	for _, args := range badArguments() {
		for i, x := range tools {
			answer, err := x.InvokableRun(context.Background(), args)
			require.NoError(t, err, args)
			require.NotEmpty(t, answer)
			if keys[i] != "" && !strings.Contains(answer, `"hint"`) {
				require.NotContains(t, answer, `:[]`, "%s: nothing was found, and nothing is said", args)
			}
		}
	}
}

func TestSearchTools_AcceptForgivingArguments(t *testing.T) {
	tools, keys := metaToolsOf(t)
	search := tools[indexOf(keys, "matches")]
	for _, args := range []string{
		`"send email"`, `send email`, `["send email"]`, `{"query":["send email"]}`, `{"Query":"send email"}`, `{"q":"send email"}`, `{"keywords":["send","email"]}`,
		`{"query":"select:send_email"}`, `{"query":"SELECT:send_email"}`, `{"query":"select: \"send_email\""}`, `{"query":"select:Send-Email"}`, `{"query":"select:sendEmail,"}`,
		`{"query":"select:send_email send_email"}`, `{"query":"select:\n- send_email"}`, `{"query":"  select:[send_email]  "}`, `{"name":"select:send_email"}`, ` {"query" : "send email" } `,
	} {
		answer, err := search.InvokableRun(context.Background(), args)
		require.NoError(t, err)
		require.Contains(t, answer, `"send_email"`, args)
		require.NotContains(t, answer, "github", args)
	}
}

func indexOf(list []string, s string) int {
	for i, x := range list {
		if x == s {
			return i
		}
	}
	return -1
}

//claim:security-12 security-54
func TestSearchTools_BoundHugeArguments(t *testing.T) {
	var tools []tool.BaseTool
	for i := range 2000 {
		tools = append(tools, adktest.Simple(fmt.Sprintf("server%d__do_thing_%d", i%20, i), "Does a thing"))
	}
	h, err := New(context.Background(), &Config{DynamicTools: tools})
	require.NoError(t, err)
	rc := &einorun.RunContext{}
	_, err = einorun.Begin(context.Background(), h, rc)
	require.NoError(t, err)
	search := rc.Tools[0].(tool.InvokableTool)

	var real, none []string
	for i := range 3000 {
		real = append(real, fmt.Sprintf("server%d__do_thing_%d", i%20, i))
		none = append(none, fmt.Sprintf("nobody_%d", i))
	}
	quoted, _ := json.Marshal(none)
	for _, c := range []struct{ name, query, want string }{
		{"a hundred kilobytes of words", `"` + strings.Repeat("thing ", 17_000) + `"`, `{"matches":["server`},
		{"a hundred kilobytes of unknown words", `"` + strings.Repeat("zyx ", 25_000) + `"`, "No tool matches."},
		{"a word of a hundred kilobytes", `"` + strings.Repeat("z", 100_000) + `"`, "No tool matches."},
		{"thousands of names", `"select:` + strings.Join(real, ",") + `"`, "Only the first 100 names were looked at"},
		{"thousands of unknown names", `"select:` + strings.Join(none, ",") + `"`, "90 more of the names do not exist either. Only the first 100 names were looked at"},
		{"thousands of queries", string(quoted), "Only the first 20 queries were run"},
		{"a name of a hundred kilobytes", `"select:` + strings.Repeat("z", 100_000) + `"`, "No tool is named"},
	} {
		t.Run(c.name, func(t *testing.T) {
			answer, err := search.InvokableRun(context.Background(), `{"query":`+c.query+`}`)
			require.NoError(t, err)
			require.Contains(t, answer, c.want)
			require.Less(t, len(answer), 8_000, "an answer must not be what it saves")
		})
	}
}
