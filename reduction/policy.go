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
	"github.com/einolean/einolean/internal/message"
	"github.com/einolean/einolean/internal/readtool"
	"github.com/einolean/einolean/internal/toolnames"
	"github.com/einolean/einolean/internal/warn"
	"github.com/einolean/einolean/reduction/internal/notice"
	"github.com/einolean/einolean/reduction/internal/rounds"
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

// policy is a configuration and what follows from it: where content goes, what reads it back, how long a
// request is, and who is told. It is immutable, except for the memory in files.
type policy[M adk.MessageType] struct {
	*TypedConfig[M]                    // with defaults, and callbacks that cannot panic
	estimator       *size.Estimator[M] // the default counter; nil if the user's counts

	files   *vault.Vault
	general *vault.Store
	stores  map[string]*vault.Store // of tools with a Backend of their own
	clears  bool                    // clearing can change anything at all

	named    bool                       // the configuration names or provides the read tool
	ours     *provided                  // the tool of ProvideReadTool; nil for none
	results  func(filePath string) bool // stored results by default
	readable func(filePath string) bool // these, and what else ours always reads

	reported seen // cleared results
}

// policyOf reads a configuration with defaults.
func policyOf[M adk.MessageType](c *TypedConfig[M]) *policy[M] {
	files := &vault.Vault{Showable: notice.Showable}
	trunc, clear := path.Join(c.RootDir, vault.TruncDir), path.Join(c.RootDir, vault.ClearDir)
	p := &policy[M]{
		TypedConfig: c,
		files:       files, general: files.Open(c.Backend), stores: make(map[string]*vault.Store), clears: !c.SkipClear,
		results: readtool.Under(trunc, clear), readable: readtool.Under(trunc, clear, backend.CatalogDir),
	}
	for name, own := range c.ToolConfig {
		p.stores[name] = files.Open(own.Backend)
		p.clears = p.clears || own.ClearHandler != nil && !own.SkipClear
	}
	return p
}

// below makes a path generator give way to the default path where the read tool could not read its own.
func (p *policy[M]) below(dir string, generate func(context.Context, *ToolDetail) (string, error)) func(context.Context, *ToolDetail) (string, error) {
	if generate == nil {
		return nil
	}
	return func(ctx context.Context, detail *ToolDetail) (string, error) {
		at, err := generate(ctx, detail)
		if err == nil && !p.readable(at) {
			at = vault.DefaultPath(p.RootDir, dir, detail.ToolContext.CallID)
		}
		return at, err
	}
}

// previews reports whether results of some tool have a Preview.
func (p *policy[M]) previews() bool {
	for _, own := range p.ToolConfig {
		if own.Preview != nil {
			return true
		}
	}
	return p.Preview != nil
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
func (p *policy[M]) report(ctx context.Context, tool, callID string, o output) {
	if p.OnEvent == nil && o.kind != einolean.KindStoreFailed {
		return
	}
	p.send(ctx, einolean.Event{Kind: o.kind, Tool: tool, CallID: callID, Err: o.err, Output: &einolean.OutputChange{
		Before: einolean.Size{Bytes: o.before, Tokens: size.OfBytes(o.before)},
		After:  einolean.Size{Bytes: o.after, Tokens: size.OfBytes(o.after)},
		Path:   o.path, Rule: o.rule, Reason: string(o.reason), Stream: o.stream,
	}})
}

// send calls the user's OnEvent, and drops its panic; if nobody listens, a warning goes to the log.
func (p *policy[M]) send(ctx context.Context, e einolean.Event) {
	e.Time = time.Now()
	if p.OnEvent == nil {
		if level := e.Level(); level >= slog.LevelWarn { // else it would be copied in vain
			warn.Send(ctx, level, string(e.Kind), e)
		}
		return
	}
	defer func() { _ = recover() }()
	p.OnEvent(ctx, e)
}

// unset is the configuration of a tool without one.
var unset ToolReductionConfig

// truncation is the rule for a returned result. Content just read from the store is not
// cut: the model would read it again, endlessly. Nor are answers that load tools:
// toolsearch reads from the history which tools are loaded.
func (p *policy[M]) truncation(ctx context.Context, tool string) rule {
	own, excluded := cmp.Or(p.ToolConfig[tool], &unset), toolnames.Match(p.TruncExcludeTools, tool)
	r := rule{store: cmp.Or(p.stores[tool], p.general), trunc: own.TruncHandler, limit: cmp.Or(own.MaxLengthForTrunc, p.MaxLengthForTrunc), preview: p.Preview, reads: p.readsPages(ctx, tool)}
	if own.Preview != nil {
		r.preview = own.Preview
	}
	r.compact = p.CompactJSON && !r.reads && !toolnames.Loads(tool) && !excluded
	switch {
	case r.reads || toolnames.Loads(tool):
		r.otherwise = ReasonExempt
	case p.SkipTruncation && own.MaxLengthForTrunc == 0, r.store == nil:
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
func (p *policy[M]) clearing(ctx context.Context, tool string) rule {
	own := cmp.Or(p.ToolConfig[tool], &unset)
	r := rule{store: cmp.Or(p.stores[tool], p.general), clear: own.ClearHandler, reads: p.readsPages(ctx, tool)}
	switch {
	case toolnames.Loads(tool):
		r.otherwise = ReasonExempt
	case p.SkipClear:
		r.otherwise = ReasonSkipped
	}
	if r.leave = r.left(toolnames.Match(p.ClearExcludeTools, tool), own.SkipClear); r.leave != "" {
		r.clear = nil
	}
	return r
}

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
func (p *policy[M]) runOf(ctx context.Context) *agentRun {
	if b, ok := ctx.Value(p).(*agentRun); ok {
		return b
	}
	return &agentRun{}
}

// readerKind is the kind of the read tool, empty as long as that is unknown, as it is outside a run.
func (p *policy[M]) readerKind(ctx context.Context) readerKind {
	found := p.runOf(ctx).reader
	if found != noReader && (p.ours == nil || found != ownReader) {
		return found
	}
	if later := readerKind(runLocal[string](ctx, readerKey+p.ReadFileToolName)); later != "" || found == noReader {
		return later
	}
	return found
}

// reader is the tool that a notice names, empty if the agent has none, and whether it is one of this
// package's.
func (p *policy[M]) reader(ctx context.Context) (name string, own bool) {
	kind := p.readerKind(ctx)
	if kind == noReader {
		return "", false
	}
	return p.ReadFileToolName, kind == ownReader
}

// readsPages reports whether a tool is the read tool. A tool that the configuration does
// not name needs other evidence.
func (p *policy[M]) readsPages(ctx context.Context, tool string) bool {
	return tool == p.ReadFileToolName && (p.named || p.readerKind(ctx) != foreignReader)
}

// withReader returns the tools of a run with the read tool, in the form that they require, and its
// kind. One of its name that the agent has is used if it is made for reading page by page. Any other
// is an error: notices would send the model to it.
func (p *policy[M]) withReader(ctx context.Context, tools []tool.BaseTool) ([]tool.BaseTool, readerKind, error) {
	found, at := readerAmong(ctx, tools, p.ReadFileToolName)
	if p.ours == nil {
		return tools, found, nil
	}
	out := slices.Clone(tools)
	switch found {
	case noReader:
		var added tool.BaseTool = p.ours
		if p.WindowTokens > 0 && slices.ContainsFunc(tools, returnsParts) { // then the model accepts media as well
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
func (p *policy[M]) sayNotAdded(ctx context.Context) {
	p.send(ctx, einolean.Event{Kind: einolean.KindReadToolNotAdded, Tool: p.ReadFileToolName, Err: errors.New("the agent has a tool of that name, which is used: it must read the Backend")})
}

// clash is the error for two tools with the name of the read tool.
func (p *policy[M]) clash(how string) error {
	return &einolean.FieldError{Package: "reduction", Field: "ReadFileToolName", Err: fmt.Errorf(
		"ProvideReadTool adds a read tool named %q, but %s, which cannot be used in its place: set config.ReadFileToolName to a name that no other tool has, or config.ProvideReadTool = false",
		p.ReadFileToolName, how)}
}

// checkReader looks for the read tool among the tools of a model call, including those that later
// handlers added: if the run began without one, and once if this middleware provides it. Of two tools
// of one name Eino runs the later: if that reads page by page, yields says that the model must not see
// this middleware's; otherwise it is an error, before the first call.
func (p *policy[M]) checkReader(ctx context.Context, lists ...[]*schema.ToolInfo) (yields bool, err error) {
	run := p.runOf(ctx)
	if run.reader != noReader && (p.ours == nil || run.looked.Swap(true)) {
		return false, nil
	}
	var named []*schema.ToolInfo
	for _, list := range lists {
		for _, info := range list {
			if info != nil && info.Name == p.ReadFileToolName {
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
		_ = adk.SetRunLocalValue(ctx, readerKey+p.ReadFileToolName, string(pagesReader))
		return true, nil
	}
	found := noReader
	for _, info := range named {
		if kind := kindOf(info); found == noReader || kind == foreignReader {
			found = kind
		}
	}
	_ = adk.SetRunLocalValue(ctx, readerKey+p.ReadFileToolName, string(found))
	return false, nil
}

// withoutOurs returns the tools of a model call without the read tool of this package.
func (p *policy[M]) withoutOurs(infos []*schema.ToolInfo) []*schema.ToolInfo {
	if infos == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(infos), func(t *schema.ToolInfo) bool {
		return t != nil && t.Name == p.ReadFileToolName && readtool.Made(t)
	})
}

// size is how long a state is, as far as that decides what happens to it, or exactly.
func (p *policy[M]) size(ctx context.Context, state *adk.TypedChatModelAgentState[M], exactly bool) (size.Size, error) {
	if p.estimator == nil {
		n, err := p.TokenCounter(ctx, state.Messages, state.ToolInfos)
		return size.Size{Tokens: n, Factor: 1, Exact: true}, err
	}
	threshold, window, run := p.MaxTokensForClear, p.window(ctx), p.runOf(ctx)
	limit := threshold
	if window > 0 {
		limit = min(limit, window)
	}
	if !exactly {
		is := p.estimator.Size(&run.sizes, state.Messages, state.ToolInfos, threshold, limit)
		if window == 0 || is.Exact || is.Tokens < limit {
			return is, nil
		}
	}
	return p.estimator.Size(&run.sizes, state.Messages, state.ToolInfos, threshold, -1), nil
}

// recovers reports whether requests that are too long are shortened.
func (p *policy[M]) recovers() bool { return p.Overflow != nil && !p.SkipClear }

// window is how many tokens a request may have: what is configured or, if that is less, what a
// refusal has taught in this run; zero if nothing is known.
func (p *policy[M]) window(ctx context.Context) int64 {
	window := p.WindowTokens
	if !p.recovers() {
		return window
	}
	if learned := runLocal[int64](ctx, windowKey); learned > 0 && (window == 0 || learned < window) {
		return learned
	}
	return window
}

// namedFiles lists, sorted, the files that notices in a history name. A notice naming a file that its
// call could not have written is a forgery.
func (p *policy[M]) namedFiles(msgs []M) (names []string) {
	eachNoticed(msgs, func(r rounds.Result) {
		n := notice.In(r.Texts)
		if n.Path != "" && (n.Cleared() || p.GenTruncOffloadFilePath != nil || vault.MadeFor(n.Path, r.ID)) {
			names = append(names, vault.Clean(n.Path))
		}
	})
	slices.Sort(names)
	return slices.Compact(names)
}

// eachNoticed calls f with the results that may be notices.
func eachNoticed[M adk.MessageType](msgs []M, f func(rounds.Result)) {
	for _, m := range msgs {
		for p := message.Parts(m); p.Next(); {
			if p.Kind != message.Result {
				continue
			}
			may := false
			for item := p.Parts(); item.Next(); {
				may = may || notice.Ends(item.Text())
			}
			if may {
				f(rounds.ResultIn(p.Part))
			}
		}
	}
}

// runLocal returns the value under a key, if it has this type.
func runLocal[T any](ctx context.Context, key string) T {
	v, _, _ := adk.GetRunLocalValue(ctx, key)
	got, _ := v.(T)
	return got
}

// Keys of run-local values, which survive an interrupt. Outside a run there are none, and
// nothing is kept.
const (
	namedFilesKey = "__einolean_reduction_shown__"    // files in the conversation's notices that calls of this round would otherwise overwrite
	windowKey     = "__einolean_reduction_window__"   // how many tokens a request may have, since one was refused
	questionKey   = "__einolean_reduction_question__" // the last texts of the user and the model
	readerKey     = "__einolean_reduction_reader__"   // and the tool's name: which kind was found among the tools of a model call
)

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
