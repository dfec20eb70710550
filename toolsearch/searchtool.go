// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// The search tools as Eino sees them, with answers in the form of the protocol or of the provider.

import (
	"context"
	"slices"
	"strings"

	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean/internal/jsontext"
	"github.com/einolean/einolean/toolsearch/internal/protocol"
	"github.com/einolean/einolean/toolsearch/internal/runstate"
	"github.com/einolean/einolean/toolsearch/internal/search"
)

// phasesOf are the phases of the Filter for each effect of a search tool.
var phasesOf = map[protocol.Effect]phases{
	protocol.FindAndLoad: phasesFind,
	protocol.FindOnly:    phasesSearch,
	protocol.LoadOnly:    phasesLoad,
}

// metaTool is a search tool of a run. It is immutable. Callbacks see the name of this type.
type metaTool struct {
	run  *run
	tool *protocol.Tool
}

// InvokableRun answers a search. Whatever the model wrote, the answer is text for it.
func (t *metaTool) InvokableRun(ctx context.Context, args string, _ ...tool.Option) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	answer, err := t.tool.Answer(ctx, t.searcher(ctx), jsontext.DecodeArguments(args))
	if id := compose.GetToolCallID(ctx); id != "" && err == nil {
		t.run.calls.Record(id, runstate.CallOutcome{IsSearch: true, Loaded: protocol.ParseLoadedNames(answer)})
	}
	return answer, err
}

// searcher returns a search of this model call.
func (t *metaTool) searcher(ctx context.Context) search.Searcher {
	return t.run.search(ctx, phasesOf[t.tool.Effect])
}

// HiddenTools returns the tools that a search may find, for package window. They are read only.
func (t *metaTool) HiddenTools(context.Context) []*schema.ToolInfo {
	return t.run.catalog().tools.Infos()
}

// Info describes the tool, in the current language.
func (t *metaTool) Info(context.Context) (*schema.ToolInfo, error) {
	return t.tool.Info(t.run.settings.promptParams), nil
}

// owner returns the instance that put the tool into a list.
func (t *metaTool) owner() *settings { return t.run.settings }

// searchTools returns the search tools of a run. With programs in the agent, the first one answers with signatures, unless
// the provider reads its answers. A model whose provider searches does not see them, but if it copies a call of one from
// the history, the call is answered.
func searchTools(r *run) (tools []tool.BaseTool) {
	p, rules := r.settings.protocol, r.settings.rules
	for i := range p.Tools {
		t := &metaTool{r, &p.Tools[i]}
		if i == 0 && r.answersSignatures && !rules.Native {
			t.tool = &p.ProgramSearch
		}
		if rules.Native && rules.ClientRuns {
			tools = append(tools, nativeTool{t})
		} else {
			tools = append(tools, t)
		}
	}
	if p.CallTool != nil {
		tools = append(tools, r.tools.slots.CallTools(&metaTool{r, p.CallTool})...)
	}
	return tools
}

// nativeTool is the search tool in native mode: its results are in the provider's form.
type nativeTool struct{ *metaTool }

// InvokableRun answers a search with the infos of the tools that it finds.
func (n nativeTool) InvokableRun(ctx context.Context, args *schema.ToolArgument, _ ...tool.Option) (*schema.ToolResult, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if args == nil {
		args = &schema.ToolArgument{}
	}
	r, rules := n.run, n.run.settings.rules
	s := n.searcher(ctx)
	found, err := protocol.Find(ctx, s, jsontext.DecodeArguments(args.Text))
	if err != nil {
		return nil, err
	}
	text, hits := protocol.Hint(&found), found.Hits
	if rules.ReturnOnce {
		visible := s.Access.Visible()
		hits = slices.DeleteFunc(slices.Clone(hits), func(x search.Hit) bool {
			return visible[x.Info.Name] || !r.calls.MarkReturned(x.Info.Name)
		})
	}
	if len(hits) == 0 && len(found.Hits) > 0 {
		text = strings.TrimSpace(protocol.Text("already-loaded", protocol.Data{Words: found.Names()}) + " " + text)
	}
	if len(hits) == 0 && (rules.EmptyAsText || rules.HintAsText && text != "") {
		return &schema.ToolResult{Parts: []schema.ToolOutputPart{{Type: schema.ToolPartTypeText, Text: text}}}, nil
	}
	infos := make([]*schema.ToolInfo, len(hits))
	names := make([]string, len(hits))
	for i, x := range hits {
		infos[i], names[i] = rules.Info(x.Tool), x.Info.Name
	}
	// An empty result is recorded, too: it is one of this middleware.
	r.calls.Record(compose.GetToolCallID(ctx), runstate.CallOutcome{IsSearch: true, Loaded: names})
	return &schema.ToolResult{Parts: []schema.ToolOutputPart{{
		Type: schema.ToolPartTypeToolSearchResult, ToolSearchResult: &schema.ToolSearchResult{Tools: infos},
	}}}, nil
}
