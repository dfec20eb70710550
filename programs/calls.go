// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package programs

// What a program may call, and what it reads of it.

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

// calls decides what programs may call.
type calls struct {
	config *Config
	direct map[string]bool             // tools whose result ends the run
	infos  map[string]*schema.ToolInfo // of the agent's list, as the model was shown it
	checks map[*schema.ToolInfo]*toolschema.Check
}

// shown are the tools of a list; those that were there before are known.
func (o calls) shown(infos []*schema.ToolInfo) calls {
	if o.infos = map[string]*schema.ToolInfo{}; o.checks == nil {
		o.checks = map[*schema.ToolInfo]*toolschema.Check{}
	}
	for _, info := range infos {
		if info != nil && !isOurs(info.Name) && !strings.HasPrefix(info.Name, "__") {
			o.infos[info.Name] = info
		}
	}
	return o
}

// resolve is the name of the tool that a name may mean.
func (o calls) resolve(written string) string {
	if o.infos[written] != nil {
		return written
	}
	c, list := o.catalog()
	if at, ok := c.Resolve(toolnames.Unescape(written), func(int) bool { return true }); ok {
		return list[at]
	}
	return written
}

func (o calls) catalog() (*names.Catalog, []string) {
	var list []string
	for name := range o.infos {
		list = append(list, name)
	}
	slices.Sort(list)
	return names.New(list), list
}

// near are the signatures of tools that a wrong name may have meant.
func (o calls) near(written string) (lines []string) {
	const most = 3
	c, list := o.catalog()
	for _, at := range c.Suggest(written, most) {
		lines = append(lines, signature(o.infos[list[at]]))
	}
	return lines
}

// check is what is wrong with arguments of a tool, and its signature.
func (o calls) check(name, arguments string) (problem, sign string) {
	info := o.infos[name]
	var v any
	if json.Unmarshal([]byte(arguments), &v) != nil {
		return "", signature(info)
	}
	return toolschema.Problem(o.schema(info).Validate(v)), signature(info)
}

// rounded is where in arguments a number may have been rounded, "" if there is none.
func (o calls) rounded(info *schema.ToolInfo, arguments string) string {
	if !strings.Contains(arguments, "e+") {
		return ""
	}
	return o.schema(info).Rounded(arguments)
}

// schema is that of a tool's arguments, ready for checks.
func (o calls) schema(info *schema.ToolInfo) *toolschema.Check {
	c, ok := o.checks[info]
	if !ok {
		text, _ := toolschema.Text(info.ParamsOneOf)
		c = toolschema.Compile(text)
		o.checks[info] = c
	}
	return c
}

// typed is a result as a program reads it: that of a tool which says that it returns a string is one,
// also if it looks like something else.
func (o calls) typed(ctx context.Context, name, text string) string {
	info := o.infos[name]
	if t := programturn.ToolsOf(ctx); t != nil {
		if found, ok := t.Resolve(ctx, name); ok {
			info = found.Info
		}
	}
	if info == nil || !toolschema.IsString(returns(info)) {
		return text
	}
	if trimmed := strings.TrimSpace(text); !json.Valid([]byte(trimmed)) || strings.HasPrefix(trimmed, `"`) {
		return text
	}
	quoted, err := json.Marshal(text)
	if err != nil {
		return text
	}
	return string(quoted)
}

// reply answers a call that must not leave the program, or that needs no tool. Any other call it
// returns under the name of its tool.
func (o calls) reply(ctx context.Context, c Call) (Call, *journal.Answer) {
	if c.Path != "" || c.Tool == "" {
		return c, stored(ctx, c.Path)
	}
	c = plain(c)
	hidden, isHidden := programturn.Tool{}, false
	tools := programturn.ToolsOf(ctx)
	if tools != nil {
		hidden, isHidden = tools.Resolve(ctx, c.Tool)
	}
	info := hidden.Info
	if !isHidden {
		c.Tool = o.resolve(c.Tool)
		info = o.infos[c.Tool]
	} else if info != nil {
		c.Tool = info.Name
	}
	return c, o.refusal(ctx, c, hidden.Refusal, info, isHidden)
}

// refusal is why a call does not leave the program; nil if it does.
func (o calls) refusal(ctx context.Context, c Call, refused string, info *schema.ToolInfo, isHidden bool) *journal.Answer {
	refuse := func(text string) *journal.Answer { return &journal.Answer{Tool: c.Tool, Text: text, Failed: true} }
	tools := programturn.ToolsOf(ctx)
	switch {
	case refused != "":
		return refuse(refused)
	case isOurs(c.Tool):
		return refuse(say("meta", data{Name: c.Tool}))
	case o.direct[c.Tool], c.Tool == adk.TransferToAgentToolName, c.Tool == adk.ToolInfoExit.Name:
		return refuse(say("direct", data{Name: c.Tool}))
	case info == nil && tools == nil:
		return refuse(say("no-tool", data{Name: c.Tool, Words: o.near(c.Tool)}))
	case info == nil:
		near := append(tools.Suggest(ctx, c.Tool), o.near(c.Tool)...)
		return refuse(say("no-tool", data{Name: c.Tool, Words: near[:min(len(near), 3)], Search: true}))
	case !o.config.allows(info):
		return refuse(say("forbidden", data{Name: c.Tool}))
	}
	check := o.check
	if isHidden {
		check = tools.Check
	}
	problem, sign := check(c.Tool, c.Arguments)
	switch {
	case !strings.HasPrefix(strings.TrimLeft(c.Arguments, " \t\r\n"), "{"):
		return refuse(say("one-object", data{Name: c.Tool, Signature: sign}))
	case problem != "":
		return refuse(say("bad-arguments", data{Reason: problem, Signature: sign}))
	}
	if at := o.rounded(info, c.Arguments); at != "" {
		return refuse(say("bad-arguments", data{Reason: say("rounded", data{Name: at}), Signature: sign}))
	}
	return nil
}

// plain returns what models write of call_tool as the call itself.
func plain(c Call) Call {
	if c.Tool != toolnames.Call {
		return c
	}
	a := jsontext.DecodeArguments(c.Arguments)
	if name := toolnames.Called(a); name != "" {
		c.Tool, c.Arguments = name, a.Raw("arguments", "args", "parameters", "params", "input", "tool_input", "tool_arguments")
	}
	if strings.TrimSpace(c.Arguments) == "" {
		c.Arguments = "{}"
	}
	return c
}

// stored answers stored(path).
func stored(ctx context.Context, path string) *journal.Answer {
	results := programturn.ResultsOf(ctx)
	if results == nil {
		return &journal.Answer{Text: say("no-store", data{Name: path}), Failed: true}
	}
	text, err := results.Stored(ctx, path)
	if err != nil {
		return &journal.Answer{Text: say("no-store", data{Name: path, Reason: safe.ErrorText(err)}), Failed: true}
	}
	return &journal.Answer{Text: text}
}
