// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// Limits of what call_tool answers, whatever strangers call and describe their tools.

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/adktest"
	"github.com/einolean/einolean/internal/dev/race"
	"github.com/einolean/einolean/internal/dev/textstest"
	"github.com/einolean/einolean/internal/einorun"
	"github.com/einolean/einolean/internal/prompt"
	"github.com/einolean/einolean/internal/toolschema"
	"github.com/einolean/einolean/toolsearch/internal/catalog"
	"github.com/einolean/einolean/toolsearch/internal/protocol"
)

func toolWith(t testing.TB, name, desc, params string) tool.BaseTool {
	t.Helper()
	s, err := schema.NewParamsOneOfByParams(map[string]*schema.ParameterInfo{}).ToJSONSchema()
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal([]byte(params), s))
	return adktest.Tool(adktest.Invokable, &schema.ToolInfo{Name: name, Desc: desc, ParamsOneOf: schema.NewParamsOneOfByJSONSchema(s)}, nil)
}

// agentTools are the tools of an agent without tools of its own.
func agentTools(t testing.TB, cfg Config) []tool.BaseTool {
	t.Helper()
	h, err := New(context.Background(), &cfg)
	require.NoError(t, err)
	rc := &einorun.RunContext{}
	_, err = einorun.Begin(context.Background(), h, rc)
	require.NoError(t, err)
	return rc.Tools
}

func TestCallTool_BoundsArgumentErrors(t *testing.T) {
	race.Skip(t, "reads long schemas")
	const room = 24 << 10 // for all but the schema
	textstest.InBothLanguages(t, protocol.Prompts, func(t *testing.T, all *prompt.Texts) {
		for _, name := range []string{"huge", strings.Repeat("n", 5000)} {
			for _, c := range []struct {
				schema    string
				shortened bool
			}{
				{adktest.Properties(2, 0, "description"), false}, {adktest.Properties(20, 1<<18, "description"), true}, {adktest.Properties(1000, 1<<18, "const"), true},
			} {
				for _, x := range agentTools(t, Config{Protocol: SearchCall, DynamicTools: []tool.BaseTool{toolWith(t, name, "Does it.", c.schema)}}) {
					info, err := x.Info(context.Background())
					require.NoError(t, err)
					if info.Name != "call_tool" {
						continue
					}
					for _, called := range []string{name, "nobody"} {
						answer, err := x.(tool.InvokableTool).InvokableRun(context.Background(), `{"name":"`+called+`","arguments":{"p0001":7}}`)
						require.NoError(t, err)
						require.LessOrEqual(t, len(answer), catalog.MaxShown+room)
						if called == name && len(c.schema) <= toolschema.MaxCheckedBytes {
							require.Equal(t, c.shortened, strings.Contains(answer,
								all.Render("shortened", protocol.Data{Shortened: true})), "%.200s", answer)
						}
					}
				}
			}
		}
	})
}
