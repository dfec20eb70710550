// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package main

// Tools that return nothing. Claude's adapter drops an empty result, and the call is then without
// one: the provider refuses that request and every later one.

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/cloudwego/eino-ext/components/model/claude"
	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/provider"
	"github.com/einolean/einolean/reduction"
	"github.com/einolean/einolean/store"
	"github.com/einolean/einolean/toolsearch"
)

type silentTool struct{ name string }

func (s silentTool) Info(context.Context) (*schema.ToolInfo, error) {
	return &schema.ToolInfo{Name: s.name, Desc: "Says nothing.", ParamsOneOf: schema.NewParamsOneOfByParams(map[string]*schema.ParameterInfo{"value": {Type: schema.String}})}, nil
}

type (
	silentText   struct{ silentTool }
	silentStream struct {
		silentTool
		chunks []string
	}
	silentParts struct {
		silentTool
		result *schema.ToolResult
	}
	silentPartStream struct {
		silentTool
		chunks []*schema.ToolResult
	}
)

func (silentText) InvokableRun(context.Context, string, ...tool.Option) (string, error) {
	return "", nil
}

func (s silentStream) StreamableRun(context.Context, string, ...tool.Option) (*schema.StreamReader[string], error) {
	return schema.StreamReaderFromArray(s.chunks), nil
}

func (s silentParts) InvokableRun(context.Context, *schema.ToolArgument, ...tool.Option) (*schema.ToolResult, error) {
	return s.result, nil
}

func (s silentPartStream) StreamableRun(context.Context, *schema.ToolArgument, ...tool.Option) (*schema.StreamReader[*schema.ToolResult], error) {
	return schema.StreamReaderFromArray(s.chunks), nil
}

func emptyText(text string) *schema.ToolResult {
	return &schema.ToolResult{Parts: []schema.ToolOutputPart{{Type: schema.ToolPartTypeText, Text: text}}}
}

// withPicture is a result whose text is empty beside an image.
func withPicture() *schema.ToolResult {
	data := "iVBORw0KGgo="
	r := emptyText("")
	r.Parts = append(r.Parts, schema.ToolOutputPart{Type: schema.ToolPartTypeImage, Image: &schema.ToolOutputImage{MessagePartCommon: schema.MessagePartCommon{Base64Data: &data, MIMEType: "image/png"}}})
	return r
}

func silentTools(pictures bool) (all []tool.BaseTool) {
	named := func(name string) silentTool { return silentTool{name} }
	all = []tool.BaseTool{
		silentText{named("text")},
		silentStream{named("stream_none"), nil},
		silentStream{named("stream_empty"), []string{"", " "}},
		silentParts{named("parts_nil"), nil},
		silentParts{named("parts_none"), &schema.ToolResult{}},
		silentParts{named("parts_empty"), emptyText("")},
		silentPartStream{named("part_stream_none"), nil},
		silentPartStream{named("part_stream_nil"), []*schema.ToolResult{nil}},
		silentPartStream{named("part_stream_blank"), []*schema.ToolResult{emptyText(""), emptyText("\n")}},
	}
	if pictures {
		all = append(all, silentParts{named("picture"), withPicture()})
	}
	return all
}

func TestClaude_AcceptsEmptyResults(t *testing.T) {
	for name, stream := range map[string]bool{"generate": false, "stream": true} {
		t.Run("Message/"+name, func(t *testing.T) { emptyResults[*schema.Message](t, stream, true) })
		t.Run("AgenticMessage/"+name, func(t *testing.T) { emptyResults[*schema.AgenticMessage](t, stream, false) })
	}
}

func emptyResults[M adk.MessageType](t *testing.T, stream, pictures bool) {
	ctx := t.Context()
	for _, with := range []string{"toolsearch", "reduction", "both", "hidden"} {
		t.Run(with, func(t *testing.T) {
			silent := silentTools(pictures)
			c := newAgent[M](t, provider.Anthropic, stream)
			if m, err := claude.NewChatModel(ctx, claudeAt(c.server.URL())); !stream && pictures {
				require.NoError(t, err)
				c.agent.Model = any(m).(modelOf[M]) // the adapter itself
			}
			search := toolsearch.Config{DynamicTools: c.ran.tools(hidden...), AllowUnloadedCalls: true}
			if with == "hidden" {
				search.DynamicTools = append(search.DynamicTools, silent...)
			} else {
				c.agent.ToolsConfig.Tools = silent
			}
			if with != "reduction" {
				h, err := toolsearch.NewTyped[M](ctx, &search)
				require.NoError(t, err)
				c.agent.Handlers = append(c.agent.Handlers, h)
			}
			if with == "reduction" || with == "both" {
				h, err := reduction.NewTyped(ctx, &reduction.TypedConfig[M]{Backend: store.NewMemory(0)})
				require.NoError(t, err)
				c.agent.Handlers = append(c.agent.Handlers, h)
			}
			var all []provider.Call
			for _, each := range silent {
				info, err := each.Info(ctx)
				require.NoError(t, err)
				all = append(all, blind(info.Name))
				c.ask("Do it.", calls(blind(info.Name)), says("Done."))
			}
			c.store()
			c.ask("All at once.", calls(all...), says("Done."))
			require.GreaterOrEqual(t, strings.Count(string(c.last().Body), "(no output)"), 9*2)
			for _, m := range c.history {
				text, err := json.Marshal(m)
				require.NoError(t, err)
				require.NotContains(t, string(text), "(no output)")
			}
		})
	}
}

type modelOf[M adk.MessageType] = model.BaseModel[M]

func claudeAt(url string) *claude.Config {
	return &claude.Config{BaseURL: &url, APIKey: key, Model: "claude-on-loopback", MaxTokens: 1000}
}
