// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package programs

// Which calls of programs are allowed, and how programs read results.

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean/internal/jsontext"
	"github.com/einolean/einolean/internal/keyword/names"
	"github.com/einolean/einolean/internal/programturn"
	"github.com/einolean/einolean/internal/safe"
	"github.com/einolean/einolean/internal/toolnames"
	"github.com/einolean/einolean/internal/toolschema"
	"github.com/einolean/einolean/programs/internal/journal"
)

// callGate checks the calls of programs.
type callGate struct {
	config *Config
	direct map[string]bool             // by name: tools whose result ends the run
	infos  map[string]*schema.ToolInfo // by name: the visible tools
	checks map[*schema.ToolInfo]*toolschema.Check
}

// withTools returns a gate for another list of visible tools. Compiled schemas of tools that stay
// are reused.
func (g callGate) withTools(infos []*schema.ToolInfo) callGate {
	if g.infos = map[string]*schema.ToolInfo{}; g.checks == nil {
		g.checks = map[*schema.ToolInfo]*toolschema.Check{}
	}
	for _, info := range infos {
		if info != nil && !isProgramTool(info.Name) && !strings.HasPrefix(info.Name, "__") {
			g.infos[info.Name] = info
		}
	}
	return g
}

// resolve returns the name of the tool that a written name means. An unknown name is returned as it
// is.
func (g callGate) resolve(written string) string {
	if g.infos[written] != nil {
		return written
	}
	c, list := g.catalog()
	if at, ok := c.Resolve(toolnames.Unescape(written), func(int) bool { return true }); ok {
		return list[at]
	}
	return written
}

// catalog returns the names of the visible tools, also as a sorted list.
func (g callGate) catalog() (*names.Catalog, []string) {
	var list []string
	for name := range g.infos {
		list = append(list, name)
	}
	slices.Sort(list)
	return names.New(list), list
}

// suggest returns the signatures of tools with a similar name.
func (g callGate) suggest(written string) (lines []string) {
	c, list := g.catalog()
	for _, at := range c.Suggest(written, maxSuggestions) {
		lines = append(lines, signature(g.infos[list[at]]))
	}
	return lines
}

// check validates the arguments of a visible tool. It returns the problem, "" if there is none, and
// the tool's signature.
func (g callGate) check(name, arguments string) (problem, sig string) {
	info := g.infos[name]
	var v any
	if json.Unmarshal([]byte(arguments), &v) != nil {
		return "", signature(info)
	}
	if check := g.schema(info); check.Validate(v) != nil {
		problem = toolschema.JoinProblems(check.Problems(v))
	}
	return problem, signature(info)
}

// roundedField returns the path of a number that may have been rounded, or "".
func (g callGate) roundedField(info *schema.ToolInfo, arguments string) string {
	if !strings.Contains(arguments, "e+") {
		return ""
	}
	return g.schema(info).Rounded(arguments)
}

// schema returns the compiled schema of a tool's parameters.
func (g callGate) schema(info *schema.ToolInfo) *toolschema.Check {
	c, ok := g.checks[info]
	if !ok {
		text, _ := toolschema.Text(info.ParamsOneOf)
		c = toolschema.Compile(text)
		g.checks[info] = c
	}
	return c
}

// programResult returns a result as a program reads it: the interpreter reads JSON as its value. So
// text is quoted that is a string although it looks like JSON: all text of a tool that declares a
// string, and a number, boolean or null of a tool that declares no output. It is decided once, when
// the result arrives; the journal keeps the decision.
func (g callGate) programResult(ctx context.Context, name, text string) string {
	info := g.infos[name]
	if t := programturn.ToolsOf(ctx); t != nil {
		if found, ok := t.Resolve(ctx, name); ok {
			info = found.Info
		}
	}
	output := ""
	if info != nil {
		output = outputSchema(info)
	}
	switch {
	case output == "":
		return quoteScalar(text)
	case toolschema.IsString(output):
		return quoteJSON(text)
	}
	return text
}

// quoteScalar quotes a text that is a number, a boolean or null.
func quoteScalar(text string) string {
	if start := strings.TrimLeft(text, " \t\r\n"); strings.HasPrefix(start, "{") || strings.HasPrefix(start, "[") {
		return text
	}
	return quoteJSON(text)
}

// quoteJSON quotes a text that is JSON and no string.
func quoteJSON(text string) string {
	if trimmed := strings.TrimSpace(text); !json.Valid([]byte(trimmed)) || strings.HasPrefix(trimmed, `"`) {
		return text
	}
	quoted, err := json.Marshal(text)
	if err != nil {
		return text
	}
	return string(quoted)
}

// reply answers a call that needs no tool or is rejected. It returns every other call under the
// name of its tool, and no answer.
func (g callGate) reply(ctx context.Context, id string, c Call) (Call, *journal.Answer) {
	if c.Path != "" || c.Tool == "" {
		return c, readStored(ctx, c.Path)
	}
	c = unwrapCallTool(c)
	hidden, isHidden := programturn.Tool{}, false
	tools := programturn.ToolsOf(ctx)
	if tools != nil {
		hidden, isHidden = tools.Resolve(ctx, c.Tool)
	}
	info := hidden.Info
	if !isHidden {
		c.Tool = g.resolve(c.Tool)
		info = g.infos[c.Tool]
	} else if info != nil {
		c.Tool = info.Name
	}
	if tools != nil && !isHidden && info == nil {
		tools.ReportDenied(ctx, id, c.Tool)
	}
	return c, g.refusal(ctx, c, hidden.Refusal, info, isHidden)
}

// refusal returns the answer to a call that is rejected, or nil.
func (g callGate) refusal(ctx context.Context, c Call, toolRefusal string, info *schema.ToolInfo, isHidden bool) *journal.Answer {
	refuse := func(text string) *journal.Answer { return &journal.Answer{Tool: c.Tool, Text: text, Failed: true} }
	tools := programturn.ToolsOf(ctx)
	switch {
	case toolRefusal != "":
		return refuse(toolRefusal)
	case isProgramTool(c.Tool):
		return refuse(render("meta", promptData{Name: c.Tool}))
	case g.direct[c.Tool], c.Tool == adk.TransferToAgentToolName, c.Tool == adk.ToolInfoExit.Name:
		return refuse(render("direct", promptData{Name: c.Tool}))
	case info == nil && tools == nil:
		return refuse(render("no-tool", promptData{Name: c.Tool, Words: g.suggest(c.Tool)}))
	case info == nil:
		near := append(tools.Suggest(ctx, c.Tool), g.suggest(c.Tool)...)
		return refuse(render("no-tool", promptData{Name: c.Tool, Words: near[:min(len(near), maxSuggestions)], Search: true}))
	case !g.config.allows(info):
		return refuse(render("forbidden", promptData{Name: c.Tool}))
	}
	check := g.check
	if isHidden {
		check = tools.Check
	}
	problem, sig := check(c.Tool, c.Arguments)
	switch {
	case !strings.HasPrefix(strings.TrimLeft(c.Arguments, " \t\r\n"), "{"):
		return refuse(render("one-object", promptData{Name: c.Tool, Signature: sig}))
	case problem != "":
		return refuse(render("bad-arguments", promptData{Reason: problem, Signature: sig}))
	}
	if at := g.roundedField(info, c.Arguments); at != "" {
		return refuse(render("bad-arguments", promptData{Reason: render("rounded", promptData{Name: at}), Signature: sig}))
	}
	return nil
}

// unwrapCallTool returns the call that the arguments of call_tool describe. Other calls are
// returned unchanged.
func unwrapCallTool(c Call) Call {
	if c.Tool != toolnames.Call {
		return c
	}
	a := jsontext.DecodeArguments(c.Arguments)
	if name := toolnames.CalledTool(a); name != "" {
		c.Tool, c.Arguments = name, a.Raw("arguments", "args", "parameters", "params", "input", "tool_input", "tool_arguments")
	}
	if strings.TrimSpace(c.Arguments) == "" {
		c.Arguments = "{}"
	}
	return c
}

// readStored answers a call of stored(path).
func readStored(ctx context.Context, path string) *journal.Answer {
	results := programturn.ResultsOf(ctx)
	if results == nil {
		return &journal.Answer{Text: render("no-store", promptData{Name: path}), Failed: true}
	}
	text, err := results.ReadStored(ctx, path)
	if err != nil {
		return &journal.Answer{Text: render("no-store", promptData{Name: path, Reason: safe.ErrorText(err)}), Failed: true}
	}
	return &journal.Answer{Text: quoteScalar(text)}
}
