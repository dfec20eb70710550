// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package programs

// The tools run_code and program_output, and the texts of this package.

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

// prompts are the texts for the model.
var prompts = prompt.Load(promptFiles, "prompt")

// promptData is the data of all templates. Each uses some of the fields.
type promptData struct {
	Name, Reason, Signature string
	Words                   []string
	Limit, Total            int
	Search                  bool // the agent has a search tool
	Failed                  bool // a call failed
	AtOnce                  bool // the program makes calls at the same time
}

// render renders a text in the language of Eino.
func render(name string, d promptData) string {
	d.Name = excerpt(d.Name)
	return prompts.Current().Render(name, d)
}

// excerpt shortens and escapes text of a model or a tool, for quoting it in an answer.
func excerpt(s string) string { return display.Clip(s, maxExcerpt) }

// programTool is the tool run_code or program_output.
type programTool struct {
	info   *schema.ToolInfo
	invoke func(ctx context.Context, args string) (string, error)
}

func (t programTool) Info(context.Context) (*schema.ToolInfo, error) { return t.info, nil }

func (t programTool) InvokableRun(ctx context.Context, args string, _ ...tool.Option) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	return t.invoke(ctx, args)
}

// runCodeInfo describes run_code.
func runCodeInfo(d promptData) *schema.ToolInfo {
	return &schema.ToolInfo{Name: toolnames.Run, Desc: render("run_code", d), ParamsOneOf: schema.NewParamsOneOfByParams(map[string]*schema.ParameterInfo{
		"code": {Type: schema.String, Required: true, Desc: render("run_code.code", d)},
	})}
}

// outputInfo describes program_output, which is never visible to a model.
func outputInfo() *schema.ToolInfo {
	return &schema.ToolInfo{Name: toolnames.Output, Desc: render("program_output", promptData{})}
}

func isRunCode(info *schema.ToolInfo) bool { return info != nil && info.Name == toolnames.Run }

// describeRunCode describes run_code for a run. It lists the signatures of tools with an output
// schema, which a provider's list of tools does not show.
func describeRunCode(infos []*schema.ToolInfo) *schema.ToolInfo {
	d := promptData{}
	for _, info := range infos {
		if info != nil && !isProgramTool(info.Name) && outputSchema(info) != "" && len(d.Words) < maxSignatures {
			d.Words = append(d.Words, signature(info))
		}
	}
	return runCodeInfo(d)
}

// isProgramTool reports whether a name is that of a tool of this package.
func isProgramTool(name string) bool { return name == toolnames.Run || name == toolnames.Output }

// signature returns a tool as a line of TypeScript, which models read as documentation.
func signature(info *schema.ToolInfo) string {
	params, _ := toolschema.Text(info.ParamsOneOf)
	return toolschema.Signature(info.Name, info.Desc, params, outputSchema(info))
}

// outputSchema returns the JSON schema of a tool's result; "" if the tool declares none.
func outputSchema(info *schema.ToolInfo) string {
	text, _ := info.Extra[toolschema.OutputKey].(string)
	return text
}
