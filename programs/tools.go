// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package programs

// The tools run_code and program_output, and the agent's list of tools.

import (
	"context"
	"embed"

	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean/internal/display"
	"github.com/einolean/einolean/internal/prompt"
	"github.com/einolean/einolean/internal/toolnames"
	"github.com/einolean/einolean/internal/toolschema"
)

//go:embed prompt
var promptFiles embed.FS

// prompts are the texts that a model reads.
var prompts = prompt.Load(promptFiles, "prompt")

// data is the data of the templates. Each uses some of it.
type data struct {
	Name, Reason, Signature string
	Words                   []string
	Limit, Total            int
	Search                  bool // there are tools to be found by a search
}

// say renders a text in the language that is set.
func say(name string, d data) string {
	d.Name = clipped(d.Name)
	return prompts.Current().Say(name, d)
}

// clipped makes text from a model or a tool safe to quote in an answer.
func clipped(s string) string { return display.Clip(s, 80) }

// ourTool is run_code or program_output.
type ourTool struct {
	info *schema.ToolInfo
	run  func(ctx context.Context, args string) (string, error)
}

func (t ourTool) Info(context.Context) (*schema.ToolInfo, error) { return t.info, nil }

func (t ourTool) InvokableRun(ctx context.Context, args string, _ ...tool.Option) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	return t.run(ctx, args)
}

func codeInfo(d data) *schema.ToolInfo {
	return &schema.ToolInfo{Name: toolnames.Run, Desc: say("run_code", d), ParamsOneOf: schema.NewParamsOneOfByParams(map[string]*schema.ParameterInfo{
		"code": {Type: schema.String, Required: true, Desc: say("run_code.code", d)},
	})}
}

// outputInfo describes program_output. No model is shown it.
func outputInfo() *schema.ToolInfo {
	return &schema.ToolInfo{Name: toolnames.Output, Desc: say("program_output", data{})}
}

func isCode(info *schema.ToolInfo) bool { return info != nil && info.Name == toolnames.Run }

// describe describes run_code, for a whole run: with what tools of the agent return, which no list of
// tools says.
func describe(infos []*schema.ToolInfo) *schema.ToolInfo {
	const most = 30
	d := data{}
	for _, info := range infos {
		if info != nil && !isOurs(info.Name) && returns(info) != "" && len(d.Words) < most {
			d.Words = append(d.Words, signature(info))
		}
	}
	return codeInfo(d)
}

func isOurs(name string) bool { return name == toolnames.Run || name == toolnames.Output }

// signature is a tool as the line of TypeScript that the author of a program reads.
func signature(info *schema.ToolInfo) string {
	params, _ := toolschema.Text(info.ParamsOneOf)
	return toolschema.Signature(info.Name, info.Desc, params, returns(info))
}

// returns is the schema of what a tool returns, "" if it does not say.
func returns(info *schema.ToolInfo) string {
	text, _ := info.Extra[toolschema.OutputKey].(string)
	return text
}
