// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

// Package toolpolicy derives from the configuration what may be done to the results of each tool, as plain data.
package toolpolicy

import (
	"cmp"
	"errors"

	"github.com/einolean/einolean/internal/jsontext"
	"github.com/einolean/einolean/internal/toolnames"
	"github.com/einolean/einolean/reduction/internal/offload"
)

// Reason is why a result stays as it is.
type Reason string

// The reasons, which users see.
const (
	Excluded     Reason = "excluded"       // by a list
	Skipped      Reason = "skipped"        // by the configuration
	Exempt       Reason = "exempt"         // it loads tools, or the model is still reading it
	NotSmaller   Reason = "not_smaller"    // its replacement saves too little
	Handler      Reason = "handler"        // the user's handler said so
	NotStored    Reason = "not_stored"     // the store did not take it
	TooFewTokens Reason = "too_few_tokens" // the pass saves too little
)

// ErrNoStore says that a user's handler wants to store something but there is no Backend.
var ErrNoStore = errors.New("NeedOffload is set, but there is no Backend: set Backend in Config or in the tool's ToolConfig entry")

// ToolPolicy is what may be done to the results of one tool, either when they return or when they are old.
type ToolPolicy struct {
	Store      *offload.Store // nil: nowhere to put content
	SkipReason Reason         // why results stay as they are; empty: they may change
	HasHandler bool           // a handler of the user's decides
	IsReadTool bool           // the tool reads stored content back

	Limit   int  // the most bytes of a returned result
	Compact bool // the result may become shorter JSON

	defaultSkip Reason // SkipReason as if there were no handler
}

// MayReplaceParts reports whether references may replace parts of results and calls.
func (r ToolPolicy) MayReplaceParts() bool {
	return r.Store != nil && r.SkipReason == "" && !r.HasHandler
}

// ByDefault is the policy as if there were no handler.
func (r ToolPolicy) ByDefault() ToolPolicy {
	r.HasHandler, r.SkipReason = false, r.defaultSkip
	return r
}

// resolve completes a policy by the order of precedence: an exclude list, what the tool's own configuration skips,
// its handler, and the general configuration.
func (r ToolPolicy) resolve(excluded, skipped bool) ToolPolicy {
	switch {
	case excluded:
		r.SkipReason = Excluded
	case skipped:
		r.SkipReason = Skipped
	case !r.HasHandler:
		r.SkipReason = r.defaultSkip
	}
	r.HasHandler = r.HasHandler && r.SkipReason == ""
	return r
}

// PhaseConfig is what the configuration says of one phase, truncation or clearing.
type PhaseConfig struct {
	Skip    bool
	Exclude []string        // tools, by name or pattern
	Tools   map[string]Tool // those with a configuration of their own
}

// Tool is a tool's own configuration of a phase.
type Tool struct{ Skip, HasHandler bool }

// Table is what the configuration says of all tools.
type Table struct {
	Store      *offload.Store
	Stores     map[string]*offload.Store // of tools with a configuration of their own; nil: the general store
	Limit      int
	Limits     map[string]int // of tools with a configuration of their own; zero: the general limit
	Compact    bool
	Truncation PhaseConfig
	Clearing   PhaseConfig
}

// ForTruncation is the policy for a result that returns. Content just read from the store is not truncated: the
// model would read it again, endlessly. Nor are answers that load tools: toolsearch reads from the history which
// tools are loaded.
func (t *Table) ForTruncation(tool, args string, isReadTool bool) ToolPolicy {
	tool, through := calledTool(tool, args)
	config, excluded := t.Truncation.Tools[tool], t.Truncation.excludes(tool, through)
	r := ToolPolicy{
		Store: cmp.Or(t.Stores[tool], t.Store), HasHandler: config.HasHandler, IsReadTool: isReadTool,
		Limit: cmp.Or(t.Limits[tool], t.Limit),
	}
	r.Compact = t.Compact && !isReadTool && !toolnames.Loads(tool) && !excluded
	switch {
	case isReadTool || toolnames.Loads(tool):
		r.defaultSkip = Exempt
	case t.Truncation.Skip && t.Limits[tool] == 0, r.Store == nil:
		r.defaultSkip = Skipped
	}
	return r.resolve(excluded, config.Skip)
}

// ForClearing is the policy for an old result. Of the tools, only those that load tools are exempt. The pass also
// exempts results that the model is still reading.
func (t *Table) ForClearing(tool, args string, isReadTool bool) ToolPolicy {
	tool, through := calledTool(tool, args)
	config := t.Clearing.Tools[tool]
	r := ToolPolicy{Store: cmp.Or(t.Stores[tool], t.Store), HasHandler: config.HasHandler, IsReadTool: isReadTool}
	switch {
	case toolnames.Loads(tool):
		r.defaultSkip = Exempt
	case t.Clearing.Skip:
		r.defaultSkip = Skipped
	}
	return r.resolve(t.Clearing.excludes(tool, through), config.Skip)
}

// Protects reports whether the configuration keeps the results of a tool whole, even if a request is too long for
// the window: an exclude list or the tool's own configuration says so, or there is nowhere to put content. That
// truncation is off in general does not matter.
func (t *Table) Protects(tool, args string, isReadTool bool) bool {
	clearing, truncation := t.ForClearing(tool, args, isReadTool), t.ForTruncation(tool, args, isReadTool)
	if clearing.Store == nil || clearing.SkipReason != "" || truncation.SkipReason == Excluded {
		return true
	}
	return truncation.SkipReason == Skipped && !t.Truncation.Skip
}

// excludes reports whether the list names a tool, or the tool through which it is called.
func (p *PhaseConfig) excludes(tool, through string) bool {
	return toolnames.Match(p.Exclude, tool) || toolnames.Match(p.Exclude, through)
}

// calledTool returns the tool that a call runs. In requests, package toolsearch shows a call as the model wrote it: through
// call_tool, with the tool in the arguments.
func calledTool(tool, args string) (called, through string) {
	if tool == toolnames.Call {
		called = toolnames.CalledTool(jsontext.DecodeArguments(args))
	}
	return cmp.Or(called, tool), tool
}
