// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package reduction

// What holds for the results of a tool, by its name. The exclude lists and ToolConfig
// are read here only.

import (
	"context"

	"github.com/cloudwego/eino/adk"

	"github.com/leanctx/leanctx/internal/toolnames"
	"github.com/leanctx/leanctx/reduction/internal/vault"
)

type (
	truncHandler = func(ctx context.Context, detail *ToolDetail) (*TruncResult, error)
	clearHandler = func(ctx context.Context, detail *ToolDetail) (*ClearResult, error)
)

// rule is what holds for one tool in one phase.
type rule struct {
	store *vault.Store // nil: nowhere to put content
	trunc truncHandler
	clear clearHandler // a nil handler means the default one
	leave Reason       // not empty: the results are left alone

	limit     int // bytes that a result may have when it returns
	preview   Preview
	reads     bool   // the tool reads stored content back
	otherwise Reason // leave, if there were no handler
}

// byDefault is the rule without a handler.
func (r rule) byDefault() rule {
	r.trunc, r.clear, r.leave = nil, nil, r.otherwise
	return r
}

// policy is the part of a configuration that differs from tool to tool.
type policy struct {
	readTool             string
	named                bool // the configuration names or provides it
	skipTrunc, skipClear bool
	limit                int // bytes
	preview              Preview
	noTrunc, noClear     map[string]bool
	general              *vault.Store
	own                  map[string]*ToolReductionConfig
	stores               map[string]*vault.Store // of those with a Backend of their own
}

// policyOf reads a configuration whose defaults are filled in.
func policyOf[M adk.MessageType](c *TypedConfig[M], files *vault.Vault) *policy {
	p := &policy{
		readTool:  c.ReadFileToolName,
		skipTrunc: c.SkipTruncation, skipClear: c.SkipClear,
		limit:   c.MaxLengthForTrunc,
		preview: c.Preview,
		noTrunc: setOf(c.TruncExcludeTools), noClear: setOf(c.ClearExcludeTools),
		general: files.Open(c.Backend),
		own:     c.ToolConfig,
		stores:  make(map[string]*vault.Store),
	}
	for name, own := range c.ToolConfig {
		p.stores[name] = files.Open(own.Backend)
	}
	return p
}

func setOf(names []string) map[string]bool {
	set := make(map[string]bool, len(names))
	for _, n := range names {
		set[n] = true
	}
	return set
}

// truncation is the rule for a result that returns. What was just read from the store
// is not cut: the model would read it again, without end. Nor are answers that load
// tools: toolsearch reads from the history which tools are loaded.
func (p *policy) truncation(ctx context.Context, tool string) rule {
	own := p.own[tool]
	r := rule{store: p.storeOf(tool), limit: p.limit, preview: p.preview, reads: p.readsPages(ctx, tool)}
	if own != nil && own.MaxLengthForTrunc > 0 {
		r.limit = own.MaxLengthForTrunc
	}
	if own != nil && own.Preview != nil {
		r.preview = own.Preview
	}
	switch {
	case r.reads || toolnames.Loads(tool):
		r.otherwise = ReasonExempt
	case p.skipTrunc && (own == nil || own.MaxLengthForTrunc == 0), r.store == nil:
		r.otherwise = ReasonSkipped
	}
	switch {
	case p.noTrunc[tool]:
		r.leave = ReasonExcluded
	case own != nil && own.SkipTruncation:
		r.leave = ReasonSkipped
	case own != nil && own.TruncHandler != nil:
		r.trunc = own.TruncHandler
	default:
		r.leave = r.otherwise
	}
	return r
}

// clearing is the rule for an old result. Only answers that load tools are exempt.
func (p *policy) clearing(ctx context.Context, tool string) rule {
	own := p.own[tool]
	r := rule{store: p.storeOf(tool), reads: p.readsPages(ctx, tool)}
	switch {
	case toolnames.Loads(tool):
		r.otherwise = ReasonExempt
	case p.skipClear:
		r.otherwise = ReasonSkipped
	}
	switch {
	case p.noClear[tool]:
		r.leave = ReasonExcluded
	case own != nil && own.SkipClear:
		r.leave = ReasonSkipped
	case own != nil && own.ClearHandler != nil:
		r.clear = own.ClearHandler
	default:
		r.leave = r.otherwise
	}
	return r
}

func (p *policy) storeOf(tool string) *vault.Store {
	if s := p.stores[tool]; s != nil {
		return s
	}
	return p.general
}

// clears reports whether clearing can change anything at all.
func (p *policy) clears() bool {
	if !p.skipClear {
		return true
	}
	for _, own := range p.own {
		if own.ClearHandler != nil && !own.SkipClear {
			return true
		}
	}
	return false
}
