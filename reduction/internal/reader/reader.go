// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

// Package reader finds the tool that reads stored content back, and has one for agents without it. Handlers
// add tools in any order, so which tool it is is known only in a run.
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
	"github.com/einolean/einolean/internal/programturn"
	"github.com/einolean/einolean/internal/readtool"
	"github.com/einolean/einolean/internal/toolschema"
	"github.com/einolean/einolean/reduction/internal/report"
)

// Reader is the read tool of the agents of one middleware.
type Reader struct {
	Name     string
	Explicit bool  // the configuration says so: then any tool of that name is it
	Tool     *Tool // to add to an agent that has none; nil: none
	Media    bool  // which returns media where other tools do
	Report   report.Reporter
}

// run is what is known of a run. Its key in a context is the Reader.
type run struct {
	kind   kind
	looked atomic.Bool // at the tools of the first model call
}

// runOf returns what is known of a run. Outside a run that is nothing yet, and nobody keeps it.
func (r *Reader) runOf(ctx context.Context) *run {
	if of, ok := ctx.Value(r).(*run); ok {
		return of
	}
	return &run{}
}

// Begin returns the context of a run with some tools, and these with the read tool, in the form that they
// require. One of its name that the agent has is used if it is made for reading page by page. Any other
// is an error: notices would send the model to it.
func (r *Reader) Begin(ctx context.Context, tools []tool.BaseTool) (context.Context, []tool.BaseTool, error) {
	found, at := findTool(ctx, tools, r.Name)
	if r.Tool == nil {
		return programturn.WithResults(context.WithValue(ctx, r, &run{kind: found}), unread{}), tools, nil
	}
	switch found {
	case none:
		var added tool.BaseTool = r.Tool
		if r.Media && slices.ContainsFunc(tools, returnsParts) { // then the model accepts media as well
			added = &mediaTool{r.Tool}
		}
		tools, found = append(slices.Clone(tools), added), ours
	case ours:
		if other := providedIn(tools[at]); other != nil && other != r.Tool {
			return ctx, nil, r.clash("another middleware of the agent provides one of that name, for its own Backend")
		}
	case pages:
		r.sayNotAdded(ctx)
	default:
		return ctx, nil, r.clash(fmt.Sprintf("the agent has a %T of that name", tools[at]))
	}
	return programturn.WithResults(context.WithValue(ctx, r, &run{kind: found}), r.Tool), tools, nil
}

// providedIn is the tool that a middleware of this package added; nil for any other.
func providedIn(t tool.BaseTool) *Tool {
	switch t := t.(type) {
	case *Tool:
		return t
	case *mediaTool:
		return t.Tool
	}
	return nil
}

// sayNotAdded reports that another handler's tool reads what is stored.
func (r *Reader) sayNotAdded(ctx context.Context) {
	r.Report.Send(ctx, einolean.Event{Kind: einolean.KindReadToolNotAdded, Tool: r.Name, Err: errors.New("the agent has a tool of that name, which is used: it must read the Backend")})
}

// clash is the error for two tools with the name of the read tool.
func (r *Reader) clash(how string) error {
	return &einolean.FieldError{Package: "reduction", Field: "ReadFileToolName", Err: fmt.Errorf(
		"ProvideReadTool adds a read tool named %q, but %s, which cannot be used in its place: set config.ReadFileToolName to a name that no other tool has, or config.ProvideReadTool = false",
		r.Name, how)}
}

// Check looks for the read tool among the tools of a model call, including those that later
// handlers added: if the run began without one, and once if this middleware provides it. Of two tools
// of one name Eino runs the later: if that reads page by page, yields says that the model must not see
// this middleware's; otherwise it is an error, before the first call.
func (r *Reader) Check(ctx context.Context, lists ...[]*schema.ToolInfo) (yields bool, err error) {
	of := r.runOf(ctx)
	if of.kind != none && (r.Tool == nil || of.looked.Swap(true)) {
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
	if r.Tool != nil && len(named) < 2 {
		return false, nil
	}
	if r.Tool != nil {
		if last := named[len(named)-1]; kindOf(last) != pages {
			return false, r.clash(fmt.Sprintf("a handler after this one added another, described as %q", display.Short(last.Desc, maxDescription)))
		}
		r.sayNotAdded(ctx)
		_ = adk.SetRunLocalValue(ctx, foundKey+r.Name, string(pages))
		return true, nil
	}
	found := none
	for _, info := range named {
		if each := kindOf(info); found == none || each == kindUnknown {
			found = each
		}
	}
	_ = adk.SetRunLocalValue(ctx, foundKey+r.Name, string(found))
	return false, nil
}

// Without returns the tools of a model call without the read tool of this package.
func (r *Reader) Without(infos []*schema.ToolInfo) []*schema.ToolInfo {
	if infos == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(infos), func(t *schema.ToolInfo) bool {
		return t != nil && t.Name == r.Name && readtool.IsReadTool(t)
	})
}

// kindIn is the kind of the read tool, empty as long as that is unknown, as it is outside a run.
func (r *Reader) kindIn(ctx context.Context) kind {
	found := r.runOf(ctx).kind
	if found != none && (r.Tool == nil || found != ours) {
		return found
	}
	v, _, _ := adk.GetRunLocalValue(ctx, foundKey+r.Name)
	if later, ok := v.(string); ok && later != "" || found == none {
		return kind(later)
	}
	return found
}

// Of is the tool that a notice names, empty if the agent has none, and whether it is one of this
// package's.
func (r *Reader) Of(ctx context.Context) (name string, own bool) {
	found := r.kindIn(ctx)
	if found == none {
		return "", false
	}
	return r.Name, found == ours
}

// Reads reports whether a tool is the read tool. A tool that the configuration does
// not name needs other evidence.
func (r *Reader) IsReadTool(ctx context.Context, tool string) bool {
	return tool == r.Name && (r.Explicit || r.kindIn(ctx) != kindUnknown)
}

// maxDescription is how much of another tool's description an error quotes, in bytes.
const maxDescription = 80

func returnsParts(t tool.BaseTool) bool {
	switch t.(type) {
	case tool.EnhancedInvokableTool, tool.EnhancedStreamableTool:
		return true
	}
	return false
}

// kind is the kind of tool that an agent has under the name of the read tool.
type kind string

const (
	none        kind = "none"
	kindUnknown kind = "foreign" // some tool of that name
	pages       kind = "pages"   // one that is made for reading page by page
	ours        kind = "own"     // one of this package's
)

// among looks for the tools of a name. Of several, the least trusted one counts. It
// skips tools whose Info fails; the agent itself reports them.
func findTool(ctx context.Context, tools []tool.BaseTool, name string) (found kind, at int) {
	found, at = none, -1
	for i, t := range tools {
		if t == nil {
			continue
		}
		info, err := t.Info(ctx)
		if err != nil || info == nil || info.Name != name {
			continue
		}
		if r := kindOf(info); at < 0 || found == ours || r == kindUnknown {
			found, at = r, i
		}
	}
	return found, at
}

// kindOf returns the kind of a tool. Eino's own read_file, the usual companion, answers
// page by page, by offset and limit; a tool with the same arguments is assumed to do the
// same. Nothing is known about other tools of that name, which may answer anything.
func kindOf(info *schema.ToolInfo) kind {
	if readtool.IsReadTool(info) {
		return ours
	}
	have := toolschema.Names(info.ParamsOneOf)
	for _, want := range []string{"file_path", "offset", "limit"} {
		if !slices.Contains(have, want) {
			return kindUnknown
		}
	}
	return pages
}

// foundKey is the key, with the tool's name, of a run-local value, which survives an interrupt: which kind was
// found among the tools of a model call.
const foundKey = "__einolean_reduction_reader__"
