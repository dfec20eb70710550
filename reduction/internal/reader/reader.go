// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

// Package reader finds the tool of an agent that reads stored results, and provides one for agents without it.
// Handlers add tools in any order, so the tool is known only during a run.
package reader

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean"
	"github.com/einolean/einolean/internal/display"
	"github.com/einolean/einolean/internal/einorun"
	"github.com/einolean/einolean/internal/programturn"
	"github.com/einolean/einolean/internal/readtool"
	"github.com/einolean/einolean/internal/toolschema"
	"github.com/einolean/einolean/reduction/internal/report"
)

// Reader is the read tool of the agents of one middleware.
type Reader struct {
	Name     string
	Explicit bool  // the configuration names the tool: any tool of that name is the read tool
	Tool     *Tool // added to agents that have none; nil: nothing is added
	Media    bool  // the added tool returns media if other tools do
	Report   report.Reporter
}

// runState is the state of one run. Its context key is the Reader.
type runState struct {
	kind         kind
	toolsChecked atomic.Bool // Check has seen the tools of the first model call
}

// stateFrom returns the state of the run. Outside a run it is empty and not saved.
func (r *Reader) stateFrom(ctx context.Context) *runState {
	if state, ok := ctx.Value(r).(*runState); ok {
		return state
	}
	return &runState{}
}

// Begin returns the context of a run, and the tools of the agent with the read tool added. If the agent already has a
// tool of that name, it is used if it reads page by page. Any other tool of the name is an error, because notices
// would send the model to it.
func (r *Reader) Begin(ctx context.Context, tools []tool.BaseTool) (context.Context, []tool.BaseTool, error) {
	found, at := findTool(ctx, tools, r.Name)
	if r.Tool == nil {
		return programturn.WithResults(context.WithValue(ctx, r, &runState{kind: found}), noResults{}), tools, nil
	}
	switch found {
	case kindNone:
		var added tool.BaseTool = r.Tool
		if r.Media && slices.ContainsFunc(tools, returnsParts) { // the model then accepts media
			added = &mediaTool{r.Tool}
		}
		tools, found = append(slices.Clone(tools), added), kindOurs
	case kindOurs:
		if other := providedIn(tools[at]); other != nil && other != r.Tool {
			return ctx, nil, r.nameCollision("another middleware of the agent provides one of that name, for its own Backend")
		}
	case kindPages:
		r.reportNotAdded(ctx)
	default:
		return ctx, nil, r.nameCollision(fmt.Sprintf("the agent has a %T of that name", tools[at]))
	}
	return programturn.WithResults(context.WithValue(ctx, r, &runState{kind: found}), r.Tool), tools, nil
}

// providedIn returns the tool if a middleware of this package has added it, and nil otherwise.
func providedIn(t tool.BaseTool) *Tool {
	switch t := t.(type) {
	case *Tool:
		return t
	case *mediaTool:
		return t.Tool
	}
	return nil
}

// reportNotAdded reports that another handler's tool is used as the read tool.
func (r *Reader) reportNotAdded(ctx context.Context) {
	r.Report.Send(ctx, einolean.Event{Kind: einolean.KindReadToolNotAdded, Tool: r.Name, Err: errors.New("the agent has a tool of that name, which is used: it must read the Backend")})
}

// nameCollision returns the error for two tools with the name of the read tool.
func (r *Reader) nameCollision(how string) error {
	return &einolean.FieldError{Package: "reduction", Field: "ReadFileToolName", Err: fmt.Errorf(
		"ProvideReadTool adds a read tool named %q, but %s, which cannot be used in its place: set config.ReadFileToolName to a name that no other tool has, or config.ProvideReadTool = false",
		r.Name, how)}
}

// Check looks for the read tool among the tools of a model call, including those that later handlers have added. It
// does so if the run began without a read tool, and once if this middleware provides it. Of two tools with one name,
// Eino runs the later. If that one reads page by page, yields says that this middleware's tool must be hidden from
// the model. Otherwise Check returns an error.
func (r *Reader) Check(ctx context.Context, lists ...[]*schema.ToolInfo) (yields bool, err error) {
	state := r.stateFrom(ctx)
	if state.kind != kindNone && (r.Tool == nil || state.toolsChecked.Swap(true)) {
		return false, nil
	}
	var named []*schema.ToolInfo
	for _, list := range lists {
		for _, info := range list {
			if info != nil && info.Name == r.Name {
				named = append(named, info)
			}
		}
	}
	if r.Tool != nil {
		if len(named) < 2 {
			return false, nil
		}
		if last := named[len(named)-1]; kindOf(last) != kindPages {
			return false, r.nameCollision(fmt.Sprintf(
				"a handler after this one added another, described as %q", display.Short(last.Desc, maxDescription)))
		}
		r.reportNotAdded(ctx)
		_ = adk.SetRunLocalValue(ctx, foundKey+r.Name, string(kindPages))
		return true, nil
	}
	found := kindNone
	for _, info := range named {
		if each := kindOf(info); found == kindNone || each == kindUnknown {
			found = each
		}
	}
	_ = adk.SetRunLocalValue(ctx, foundKey+r.Name, string(found))
	return false, nil
}

// Without returns tools without the read tool of this package.
func (r *Reader) Without(infos []*schema.ToolInfo) []*schema.ToolInfo {
	if infos == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(infos), func(t *schema.ToolInfo) bool {
		return t != nil && t.Name == r.Name && readtool.IsReadTool(t)
	})
}

// kindIn returns the kind of the read tool. It is empty outside a run, and as long as the kind is unknown.
func (r *Reader) kindIn(ctx context.Context) kind {
	found := r.stateFrom(ctx).kind
	if found != kindNone && (r.Tool == nil || found != kindOurs) {
		return found
	}
	v, _, _ := adk.GetRunLocalValue(ctx, foundKey+r.Name)
	if later, ok := v.(string); ok && later != "" || found == kindNone {
		return kind(later)
	}
	return found
}

// Of returns the name of the read tool for notices, empty if the agent has none. isOurs says that it is a tool of this
// package.
func (r *Reader) Of(ctx context.Context) (name string, isOurs bool) {
	found := r.kindIn(ctx)
	if found == kindNone {
		return "", false
	}
	return r.Name, found == kindOurs
}

// IsReadTool reports whether a tool is the read tool. Unless the configuration names the tool, it must also look like
// a read tool.
func (r *Reader) IsReadTool(ctx context.Context, tool string) bool {
	return tool == r.Name && (r.Explicit || r.kindIn(ctx) != kindUnknown)
}

// maxDescription is how much of another tool's description an error quotes, in bytes.
const maxDescription = 80

// returnsParts reports whether a tool returns results of several parts. A slot may be of any type without a tool that
// returns them.
func returnsParts(t tool.BaseTool) bool {
	if slot, ok := t.(einorun.Slot); ok && slot.StandsForNone() {
		return false
	}
	switch t.(type) {
	case tool.EnhancedInvokableTool, tool.EnhancedStreamableTool:
		return true
	}
	return false
}

// kind is the kind of the tool that an agent has under the name of the read tool.
type kind string

const (
	kindNone    kind = "none"
	kindUnknown kind = "foreign" // some tool of that name
	kindPages   kind = "pages"   // one that is made for reading page by page
	kindOurs    kind = "own"     // one of this package's
)

// findTool finds the tools with a name. Of several, the least trusted one counts. Tools whose Info fails are skipped;
// the agent reports them.
func findTool(ctx context.Context, tools []tool.BaseTool, name string) (found kind, at int) {
	found, at = kindNone, -1
	for i, t := range tools {
		if t == nil {
			continue
		}
		info, err := t.Info(ctx)
		if err != nil || info == nil || info.Name != name {
			continue
		}
		if r := kindOf(info); at < 0 || found == kindOurs || r == kindUnknown {
			found, at = r, i
		}
	}
	return found, at
}

// kindOf returns the kind of a tool. Eino's own read_file answers page by page, by offset and limit. A tool with the
// same arguments is assumed to do the same. Nothing is known about other tools of that name.
func kindOf(info *schema.ToolInfo) kind {
	if readtool.IsReadTool(info) {
		return kindOurs
	}
	have := toolschema.Names(info.ParamsOneOf)
	for _, want := range []string{"file_path", "offset", "limit"} {
		if !slices.Contains(have, want) {
			return kindUnknown
		}
	}
	return kindPages
}

// foundKey, with the name of the tool, is the key of a run-local value that survives an interrupt: the kind that was
// found among the tools of a model call.
const foundKey = "__einolean_reduction_reader__"
