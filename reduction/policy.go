// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package reduction

// The rules for the results of each tool, and which tool of a run reads stored content.
// The exclude lists and ToolConfig are read only here.

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"sync/atomic"

	"github.com/cloudwego/eino/adk"

	"github.com/leanctx/leanctx/internal/toolnames"
	"github.com/leanctx/leanctx/reduction/internal/vault"
)

var errNoBackend = errors.New("no backend for offload")

// rule is the rule for one tool in one phase.
type rule struct {
	store *vault.Store // nil: nowhere to put content
	trunc truncHandler
	clear clearHandler // a nil handler means the default one
	leave Reason       // if not empty, the reason to leave results alone

	limit     int  // the most bytes of a returned result
	compact   bool // it may become shorter JSON
	preview   Preview
	reads     bool   // the tool reads stored content back
	otherwise Reason // leave, if there were no handler
}

// refers reports whether references may replace parts of results and calls.
func (r rule) refers() bool { return r.store != nil && r.leave == "" && r.clear == nil }

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
	clears               bool // clearing can change anything at all
	previews             bool // results of some tool have a Preview
	compact              bool
	limit                int // bytes
	preview              Preview
	noTrunc, noClear     map[string]bool
	general              *vault.Store
	byTool               map[string]ToolReductionConfig
	stores               map[string]*vault.Store // of those with a Backend of their own
}

// policyOf reads a configuration with defaults.
func policyOf[M adk.MessageType](c *TypedConfig[M], files *vault.Vault) *policy {
	p := &policy{
		readTool:  c.ReadFileToolName,
		skipTrunc: c.SkipTruncation, skipClear: c.SkipClear,
		clears:  !c.SkipClear,
		limit:   c.MaxLengthForTrunc,
		preview: c.Preview, previews: c.Preview != nil, compact: c.CompactJSON,
		noTrunc: setOf(c.TruncExcludeTools), noClear: setOf(c.ClearExcludeTools),
		general: files.Open(c.Backend),
		byTool:  make(map[string]ToolReductionConfig),
		stores:  make(map[string]*vault.Store),
	}
	for name, own := range c.ToolConfig {
		p.byTool[name], p.stores[name] = *own, files.Open(own.Backend)
		p.clears = p.clears || own.ClearHandler != nil && !own.SkipClear
		p.previews = p.previews || own.Preview != nil
	}
	return p
}

// truncation is the rule for a returned result. Content just read from the store is not
// cut: the model would read it again, endlessly. Nor are answers that load tools:
// toolsearch reads from the history which tools are loaded.
func (p *policy) truncation(ctx context.Context, tool string) rule {
	own := p.byTool[tool]
	r := rule{store: p.storeOf(tool), limit: cmp.Or(own.MaxLengthForTrunc, p.limit), preview: p.preview, reads: p.readsPages(ctx, tool)}
	if own.Preview != nil {
		r.preview = own.Preview
	}
	r.compact = p.compact && !r.reads && !toolnames.Loads(tool) && !excludes(p.noTrunc, tool)
	switch {
	case r.reads || toolnames.Loads(tool):
		r.otherwise = ReasonExempt
	case p.skipTrunc && own.MaxLengthForTrunc == 0, r.store == nil:
		r.otherwise = ReasonSkipped
	}
	switch {
	case excludes(p.noTrunc, tool):
		r.leave = ReasonExcluded
	case own.SkipTruncation:
		r.leave = ReasonSkipped
	case own.TruncHandler != nil:
		r.trunc = own.TruncHandler
	default:
		r.leave = r.otherwise
	}
	return r
}

// excludes reports whether a list names a tool. A trailing * matches any rest.
func excludes(names map[string]bool, tool string) bool {
	if names[tool] {
		return true
	}
	for name := range names {
		if prefix, ok := strings.CutSuffix(name, "*"); ok && strings.HasPrefix(tool, prefix) {
			return true
		}
	}
	return false
}

// clearing is the rule for an old result. Only answers that load tools are exempt.
func (p *policy) clearing(ctx context.Context, tool string) rule {
	own := p.byTool[tool]
	r := rule{store: p.storeOf(tool), reads: p.readsPages(ctx, tool)}
	switch {
	case toolnames.Loads(tool):
		r.otherwise = ReasonExempt
	case p.skipClear:
		r.otherwise = ReasonSkipped
	}
	switch {
	case excludes(p.noClear, tool):
		r.leave = ReasonExcluded
	case own.SkipClear:
		r.leave = ReasonSkipped
	case own.ClearHandler != nil:
		r.clear = own.ClearHandler
	default:
		r.leave = r.otherwise
	}
	return r
}

func (p *policy) storeOf(tool string) *vault.Store { return cmp.Or(p.stores[tool], p.general) }

func setOf(names []string) map[string]bool {
	set := make(map[string]bool, len(names))
	for _, n := range names {
		set[n] = true
	}
	return set
}

// readerKind is the kind of tool that an agent has under the name of the read tool.
type readerKind string

const (
	noReader      readerKind = "none"
	foreignReader readerKind = "foreign" // some tool of that name
	pagesReader   readerKind = "pages"   // one that is made for reading page by page
	ownReader     readerKind = "own"     // one of this package's
)

// runKey holds, in the context of a run, what one middleware recorded at its start.
type runKey struct{ of *policy }

type agentRun struct {
	reader readerKind
	looked atomic.Bool // at the tools of the first model call
	counts counted

	referred atomic.Bool  // the whole history was searched for repeats
	markedAt atomic.Int64 // when files were marked as used, in seconds
	fitted   atomic.Bool  // all rounds keep to their share of the window
}

// counted returns the run's knowledge of the texts of its messages; nil outside a run.
func (b *agentRun) counted() *counted {
	if b == nil {
		return nil
	}
	return &b.counts
}

// begin records the agent's read tool in the context of a run.
func (p *policy) begin(ctx context.Context, found readerKind) context.Context {
	return context.WithValue(ctx, runKey{p}, &agentRun{reader: found})
}

// runOf is nil outside a run.
func (p *policy) runOf(ctx context.Context) *agentRun {
	b, _ := ctx.Value(runKey{p}).(*agentRun)
	return b
}

// readerKind returns the known kind of the read tool. Outside a run it is unknown.
func (p *policy) readerKind(ctx context.Context) (r readerKind, known bool) {
	b := p.runOf(ctx)
	if b == nil {
		return noReader, false
	}
	if b.reader != noReader {
		return b.reader, true
	}
	late, ok := runText(ctx, readerKey+p.readTool)
	if !ok {
		return noReader, false
	}
	return readerKind(late), true
}

// seeksReader reports whether the tools of a model call must be searched for the read
// tool: if the run began without one, and once if this middleware provides it.
func (p *policy) seeksReader(ctx context.Context, provides bool) bool {
	b := p.runOf(ctx)
	return b != nil && (b.reader == noReader || provides && !b.looked.Swap(true))
}

// readerName is the tool that a notice names, empty if the agent has none.
func (p *policy) readerName(ctx context.Context) string {
	if r, known := p.readerKind(ctx); known && r == noReader {
		return ""
	}
	return p.readTool
}

// ownPages reports whether the read tool is one of this package's.
func (p *policy) ownPages(ctx context.Context) bool {
	r, _ := p.readerKind(ctx)
	return r == ownReader
}

// readsPages reports whether a tool is the read tool. A tool that the configuration does
// not name needs other evidence.
func (p *policy) readsPages(ctx context.Context, tool string) bool {
	if tool != p.readTool {
		return false
	}
	r, _ := p.readerKind(ctx)
	return p.named || r != foreignReader
}
