// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package reduction

// The rules for the results of each tool, which tool of a run reads stored content, and reports.
// The exclude lists and ToolConfig are read only here.

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"log/slog"
	"path"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean"
	"github.com/einolean/einolean/internal/backend"
	"github.com/einolean/einolean/internal/display"
	"github.com/einolean/einolean/internal/lenient"
	"github.com/einolean/einolean/internal/readtool"
	"github.com/einolean/einolean/internal/toolnames"
	"github.com/einolean/einolean/internal/warn"
	"github.com/einolean/einolean/reduction/internal/notice"
	"github.com/einolean/einolean/reduction/internal/size"
	"github.com/einolean/einolean/reduction/internal/vault"
)

var errNoBackend = errors.New("no backend for offload")

// rule is the rule for one tool in one phase.
type rule struct {
	store *vault.Store // nil: nowhere to put content
	trunc func(ctx context.Context, detail *ToolDetail) (*TruncResult, error)
	clear func(ctx context.Context, detail *ToolDetail) (*ClearResult, error) // a nil handler means the default one
	leave Reason                                                              // if not empty, the reason to leave results alone

	limit     int  // the most bytes of a returned result
	compact   bool // it may become shorter JSON
	preview   Preview
	reads     bool   // the tool reads stored content back
	otherwise Reason // leave, if there were no handler
}

// refers reports whether references may replace parts of results and calls.
func (r rule) refers() bool { return r.store != nil && r.leave == "" && r.clear == nil }

// left is the reason to leave results alone: that a list excludes the tool or its own configuration
// skips it, or else, without a handler, the general one.
func (r rule) left(excluded, skipped bool) Reason {
	switch {
	case excluded:
		return ReasonExcluded
	case skipped:
		return ReasonSkipped
	case r.trunc != nil || r.clear != nil:
		return ""
	}
	return r.otherwise
}

// byDefault is the rule without a handler.
func (r rule) byDefault() rule {
	r.trunc, r.clear, r.leave = nil, nil, r.otherwise
	return r
}

// policy is what a configuration says about the results of each tool: what happens to them, where
// their content goes, what reads it back, and who is told. It is immutable, except for the memory
// in files.
type policy struct {
	files    *vault.Vault
	root     string
	generate func(ctx context.Context, toolDetail *ToolDetail) (filePath string, err error) // for truncated results
	onEvent  func(context.Context, einolean.Event)                                          // nil: nobody wants to know

	readTool             string
	named                bool // the configuration names or provides it
	skipTrunc, skipClear bool
	clears               bool // clearing can change anything at all
	previews             bool // results of some tool have a Preview
	compact              bool
	limit                int // bytes
	preview              Preview
	noTrunc, noClear     []string
	general              *vault.Store
	byTool               map[string]ToolReductionConfig
	stores               map[string]*vault.Store // of those with a Backend of their own

	ours         *provided                  // the tool of ProvideReadTool; nil for none
	returnsMedia bool                       // ours returns media in their original form, if the model accepts them
	results      func(filePath string) bool // stored results by default
	readable     func(filePath string) bool // these, and what else ours always reads
}

// policyOf reads a configuration with defaults.
func policyOf[M adk.MessageType](c *TypedConfig[M]) *policy {
	files := &vault.Vault{Showable: notice.Showable}
	trunc, clear := path.Join(c.RootDir, vault.TruncDir), path.Join(c.RootDir, vault.ClearDir)
	p := &policy{
		files: files, root: c.RootDir, generate: c.GenTruncOffloadFilePath, onEvent: c.OnEvent,
		results: readtool.Under(trunc, clear), readable: readtool.Under(trunc, clear, backend.CatalogDir),
		returnsMedia: c.WindowTokens > 0,

		readTool:  c.ReadFileToolName,
		skipTrunc: c.SkipTruncation, skipClear: c.SkipClear,
		clears:  !c.SkipClear,
		limit:   c.MaxLengthForTrunc,
		preview: c.Preview, previews: c.Preview != nil, compact: c.CompactJSON,
		noTrunc: c.TruncExcludeTools, noClear: c.ClearExcludeTools,
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

// below makes a path generator give way to the default path where the read tool could not read its own.
func (p *policy) below(dir string, generate func(context.Context, *ToolDetail) (string, error)) func(context.Context, *ToolDetail) (string, error) {
	if generate == nil {
		return nil
	}
	return func(ctx context.Context, detail *ToolDetail) (string, error) {
		at, err := generate(ctx, detail)
		if err == nil && !p.readable(at) {
			at = vault.DefaultPath(p.root, dir, detail.ToolContext.CallID)
		}
		return at, err
	}
}

// output is the outcome of a result, in bytes of text.
type output struct {
	kind          einolean.Kind
	before, after int
	path, rule    string
	reason        Reason
	stream        bool
	err           error
}

// The reasons to replace a result.
const (
	byLimit     = "limit"     // its length
	byThreshold = "threshold" // the length of the conversation
	byHandler   = "handler"   // the user's handler
	byRepeat    = "repeat"    // an equal result that the model sees
	byRound     = "round"     // the length of all results of its round
	byWindow    = "window"    // the length of the whole request
)

// report reports the outcome of a call's result. Without an OnEvent only failures are reported,
// and nothing else allocates.
func (p *policy) report(ctx context.Context, tool, callID string, o output) {
	if p.onEvent == nil && o.kind != einolean.KindStoreFailed {
		return
	}
	p.send(ctx, einolean.Event{Kind: o.kind, Tool: tool, CallID: callID, Err: o.err, Output: &einolean.OutputChange{
		Before: einolean.Size{Bytes: o.before, Tokens: size.OfBytes(o.before)},
		After:  einolean.Size{Bytes: o.after, Tokens: size.OfBytes(o.after)},
		Path:   o.path, Rule: o.rule, Reason: string(o.reason), Stream: o.stream,
	}})
}

// send calls the user's OnEvent, and drops its panic; if nobody listens, a warning goes to the log.
func (p *policy) send(ctx context.Context, e einolean.Event) {
	e.Time = time.Now()
	if p.onEvent == nil {
		if level := e.Level(); level >= slog.LevelWarn { // else it would be copied in vain
			warn.Send(ctx, level, string(e.Kind), e)
		}
		return
	}
	defer func() { _ = recover() }()
	p.onEvent(ctx, e)
}

// truncation is the rule for a returned result. Content just read from the store is not
// cut: the model would read it again, endlessly. Nor are answers that load tools:
// toolsearch reads from the history which tools are loaded.
func (p *policy) truncation(ctx context.Context, tool string) rule {
	own, excluded := p.byTool[tool], toolnames.Match(p.noTrunc, tool)
	r := rule{store: cmp.Or(p.stores[tool], p.general), trunc: own.TruncHandler, limit: cmp.Or(own.MaxLengthForTrunc, p.limit), preview: p.preview, reads: p.readsPages(ctx, tool)}
	if own.Preview != nil {
		r.preview = own.Preview
	}
	r.compact = p.compact && !r.reads && !toolnames.Loads(tool) && !excluded
	switch {
	case r.reads || toolnames.Loads(tool):
		r.otherwise = ReasonExempt
	case p.skipTrunc && own.MaxLengthForTrunc == 0, r.store == nil:
		r.otherwise = ReasonSkipped
	}
	r.leave = r.left(excluded, own.SkipTruncation)
	return r
}

// excludesThrough reports whether a list names the tool that call_tool of package toolsearch runs.
func excludesThrough(names []string, tool, args string) bool {
	return tool == toolnames.Call && len(names) > 0 && toolnames.Match(names, toolnames.Called(lenient.Decode(args)))
}

// clearing is the rule for an old result. Only answers that load tools are exempt.
func (p *policy) clearing(ctx context.Context, tool string) rule {
	own := p.byTool[tool]
	r := rule{store: cmp.Or(p.stores[tool], p.general), clear: own.ClearHandler, reads: p.readsPages(ctx, tool)}
	switch {
	case toolnames.Loads(tool):
		r.otherwise = ReasonExempt
	case p.skipClear:
		r.otherwise = ReasonSkipped
	}
	if r.leave = r.left(toolnames.Match(p.noClear, tool), own.SkipClear); r.leave != "" {
		r.clear = nil
	}
	return r
}

// readerKind is the kind of tool that an agent has under the name of the read tool.
type readerKind string

const (
	noReader      readerKind = "none"
	foreignReader readerKind = "foreign" // some tool of that name
	pagesReader   readerKind = "pages"   // one that is made for reading page by page
	ownReader     readerKind = "own"     // one of this package's
)

// agentRun is what one middleware, whose policy is its key in a context, records of a run.
type agentRun struct {
	reader readerKind  // empty: unknown, outside a run
	looked atomic.Bool // at the tools of the first model call
	sizes  size.Run

	referred atomic.Bool  // the whole history was searched for repeats
	markedAt atomic.Int64 // when files were marked as used, in seconds
	fitted   atomic.Bool  // all rounds keep to their share of the window
	refused  atomic.Bool  // the request of this model call, as too long
	target   atomic.Int64 // how long it may be then
}

// runOf returns what is recorded of a run. Outside a run that is nothing yet, and nobody keeps it.
func (p *policy) runOf(ctx context.Context) *agentRun {
	if b, ok := ctx.Value(p).(*agentRun); ok {
		return b
	}
	return &agentRun{}
}

// readerKind is the kind of the read tool, empty as long as that is unknown, as it is outside a run.
func (p *policy) readerKind(ctx context.Context) readerKind {
	found := p.runOf(ctx).reader
	if found != noReader && (p.ours == nil || found != ownReader) {
		return found
	}
	if later := readerKind(runLocal[string](ctx, readerKey+p.readTool)); later != "" || found == noReader {
		return later
	}
	return found
}

// reader is the tool that a notice names, empty if the agent has none, and whether it is one of this
// package's.
func (p *policy) reader(ctx context.Context) (name string, own bool) {
	kind := p.readerKind(ctx)
	if kind == noReader {
		return "", false
	}
	return p.readTool, kind == ownReader
}

// readsPages reports whether a tool is the read tool. A tool that the configuration does
// not name needs other evidence.
func (p *policy) readsPages(ctx context.Context, tool string) bool {
	return tool == p.readTool && (p.named || p.readerKind(ctx) != foreignReader)
}

// withReader returns the tools of a run with the read tool, in the form that they require, and its
// kind. One of its name that the agent has is used if it is made for reading page by page. Any other
// is an error: notices would send the model to it.
func (p *policy) withReader(ctx context.Context, tools []tool.BaseTool) ([]tool.BaseTool, readerKind, error) {
	found, at := readerAmong(ctx, tools, p.readTool)
	if p.ours == nil {
		return tools, found, nil
	}
	out := slices.Clone(tools)
	switch found {
	case noReader:
		var added tool.BaseTool = p.ours
		if p.returnsMedia && slices.ContainsFunc(tools, returnsParts) { // then the model accepts media as well
			added = &mediaReader{p.ours}
		}
		out = append(out, added)
	case ownReader:
		if other := providedIn(tools[at]); other != nil && other != p.ours {
			return nil, found, p.clash("another middleware of the agent provides one of that name, for its own Backend")
		}
	case pagesReader:
		p.sayNotAdded(ctx)
		return tools, found, nil
	default:
		return nil, found, p.clash(fmt.Sprintf("the agent has a %T of that name", tools[at]))
	}
	return out, ownReader, nil
}

// providedIn is the tool that a middleware of this package added; nil for any other.
func providedIn(t tool.BaseTool) *provided {
	switch t := t.(type) {
	case *provided:
		return t
	case *mediaReader:
		return t.provided
	}
	return nil
}

// sayNotAdded reports that another handler's tool reads what is stored.
func (p *policy) sayNotAdded(ctx context.Context) {
	p.send(ctx, einolean.Event{Kind: einolean.KindReadToolNotAdded, Tool: p.readTool, Err: errors.New("the agent has a tool of that name, which is used: it must read the Backend")})
}

// clash is the error for two tools with the name of the read tool.
func (p *policy) clash(how string) error {
	return &einolean.FieldError{Package: "reduction", Field: "ReadFileToolName", Err: fmt.Errorf(
		"ProvideReadTool adds a read tool named %q, but %s, which cannot be used in its place: set config.ReadFileToolName to a name that no other tool has, or config.ProvideReadTool = false",
		p.readTool, how)}
}

// checkReader looks for the read tool among the tools of a model call, including those that later
// handlers added: if the run began without one, and once if this middleware provides it. Of two tools
// of one name Eino runs the later: if that reads page by page, yields says that the model must not see
// this middleware's; otherwise it is an error, before the first call.
func (p *policy) checkReader(ctx context.Context, lists ...[]*schema.ToolInfo) (yields bool, err error) {
	run := p.runOf(ctx)
	if run.reader != noReader && (p.ours == nil || run.looked.Swap(true)) {
		return false, nil
	}
	var named []*schema.ToolInfo
	for _, list := range lists {
		for _, info := range list {
			if info != nil && info.Name == p.readTool {
				named = append(named, info)
			}
		}
	}
	if p.ours != nil && len(named) < 2 {
		return false, nil
	}
	if p.ours != nil {
		if last := named[len(named)-1]; kindOf(last) != pagesReader {
			return false, p.clash(fmt.Sprintf("a handler after this one added another, described as %q", display.Short(last.Desc, maxDescription)))
		}
		p.sayNotAdded(ctx)
		_ = adk.SetRunLocalValue(ctx, readerKey+p.readTool, string(pagesReader))
		return true, nil
	}
	found := noReader
	for _, info := range named {
		if kind := kindOf(info); found == noReader || kind == foreignReader {
			found = kind
		}
	}
	_ = adk.SetRunLocalValue(ctx, readerKey+p.readTool, string(found))
	return false, nil
}

// withoutOurs returns the tools of a model call without the read tool of this package.
func (p *policy) withoutOurs(infos []*schema.ToolInfo) []*schema.ToolInfo {
	if infos == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(infos), func(t *schema.ToolInfo) bool {
		return t != nil && t.Name == p.readTool && readtool.Made(t)
	})
}

// maxSeen bounds the keys that a seen remembers. The oldest go first.
const maxSeen = 1 << 15

var seenSeed = maphash.MakeSeed()

// keyOf is a hash of texts.
func keyOf(texts ...string) uint64 {
	var h maphash.Hash
	h.SetSeed(seenSeed)
	for _, s := range texts {
		_, _ = h.WriteString(s)
		_ = h.WriteByte(0)
	}
	return h.Sum64()
}

// seen remembers the last keys it was given. The zero value is ready for use, by any number of
// goroutines.
type seen struct {
	mu    sync.Mutex
	known map[uint64]bool
	order []uint64 // oldest first
}

// add reports whether a key is new.
func (s *seen) add(key uint64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.known[key] {
		return false
	}
	if s.known == nil {
		s.known = make(map[uint64]bool)
	}
	if len(s.order) >= maxSeen {
		delete(s.known, s.order[0])
		s.order = s.order[1:]
	}
	s.known[key] = true
	s.order = append(s.order, key)
	return true
}
