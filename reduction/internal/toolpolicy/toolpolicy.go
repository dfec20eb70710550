// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

// Package toolpolicy tells what holds for the results of each tool: a table of what the configuration says, and
// the rule that follows from it, as plain data.
package toolpolicy

import (
	"cmp"
	"errors"

	"github.com/einolean/einolean/internal/jsontext"
	"github.com/einolean/einolean/internal/toolnames"
	"github.com/einolean/einolean/reduction/internal/offload"
)

// Reason is why a result is left as it is.
type Reason string

// The reasons, which users see.
const (
	Excluded     Reason = "excluded"       // by a list
	Skipped      Reason = "skipped"        // by the configuration
	Exempt       Reason = "exempt"         // it loads tools, or is a page that was just read
	NotSmaller   Reason = "not_smaller"    // its replacement saves too little
	Handler      Reason = "handler"        // the user's handler said so
	NotStored    Reason = "not_stored"     // the store did not take it
	TooFewTokens Reason = "too_few_tokens" // the pass saves too little
)

// ErrNoStore is that a user's handler wants to store something where there is no store.
var ErrNoStore = errors.New("no backend for offload")

// Rule is the rule for the results of one tool, when they return or when they are old.
type ToolPolicy struct {
	Store      *offload.Store // nil: nowhere to put content
	SkipReason Reason         // if not empty, the reason to leave results alone
	Handled    bool           // a handler of the user's decides
	Reads      bool           // the tool reads stored content back

	Limit   int  // the most bytes of a returned result
	Compact bool // which may become shorter JSON

	defaultSkip Reason // Leave, if there were no handler
}

// Refers reports whether references may replace parts of results and calls.
func (r ToolPolicy) Refers() bool { return r.Store != nil && r.SkipReason == "" && !r.Handled }

// ByDefault is the rule without a handler.
func (r ToolPolicy) ByDefault() ToolPolicy {
	r.Handled, r.SkipReason = false, r.defaultSkip
	return r
}

// left completes a rule: that a list excludes the tool or its own configuration skips it counts more than
// a handler, and the general configuration less.
func (r ToolPolicy) resolve(excluded, skipped bool) ToolPolicy {
	switch {
	case excluded:
		r.SkipReason = Excluded
	case skipped:
		r.SkipReason = Skipped
	case !r.Handled:
		r.SkipReason = r.defaultSkip
	}
	r.Handled = r.Handled && r.SkipReason == ""
	return r
}

// Phase is what the configuration says of results that return, or of old ones.
type PhaseConfig struct {
	Skip    bool
	Exclude []string        // tools, by name or pattern
	Tools   map[string]Tool // those with a configuration of their own
}

// Tool is the own configuration of a tool in a phase.
type Tool struct{ Skip, Handles bool }

// Table is what the configuration says of all tools.
type Table struct {
	Store    *offload.Store
	Stores   map[string]*offload.Store // of tools with their own; nil: the general one
	Limit    int
	Limits   map[string]int // the same
	Compact  bool
	Returned PhaseConfig
	Old      PhaseConfig
}

// OnReturn is the rule for a returned result. Content just read from the store is not
// cut: the model would read it again, endlessly. Nor are answers that load tools:
// toolsearch reads from the history which tools are loaded.
func (t *Table) ForTruncation(tool, args string, reads bool) ToolPolicy {
	own, excluded := t.Returned.Tools[tool], t.Returned.excludes(tool, args)
	r := ToolPolicy{Store: cmp.Or(t.Stores[tool], t.Store), Handled: own.Handles, Limit: cmp.Or(t.Limits[tool], t.Limit), Reads: reads}
	r.Compact = t.Compact && !reads && !toolnames.Loads(tool) && !excluded
	switch {
	case reads || toolnames.Loads(tool):
		r.defaultSkip = Exempt
	case t.Returned.Skip && t.Limits[tool] == 0, r.Store == nil:
		r.defaultSkip = Skipped
	}
	return r.resolve(excluded, own.Skip)
}

// OnceOld is the rule for an old result. Only answers that load tools are exempt.
func (t *Table) ForClearing(tool, args string, reads bool) ToolPolicy {
	own := t.Old.Tools[tool]
	r := ToolPolicy{Store: cmp.Or(t.Stores[tool], t.Store), Handled: own.Handles, Reads: reads}
	switch {
	case toolnames.Loads(tool):
		r.defaultSkip = Exempt
	case t.Old.Skip:
		r.defaultSkip = Skipped
	}
	return r.resolve(t.Old.excludes(tool, args), own.Skip)
}

// excludes reports whether the list names a tool, or the one that call_tool of package toolsearch runs.
func (p *PhaseConfig) excludes(tool, args string) bool {
	if toolnames.Match(p.Exclude, tool) {
		return true
	}
	return tool == toolnames.Call && len(p.Exclude) > 0 && toolnames.Match(p.Exclude, toolnames.CalledTool(jsontext.DecodeArguments(args)))
}
