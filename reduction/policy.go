// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package reduction

// What differs from tool to tool: its configuration, what its handlers and its Preview get and
// answer, and the rule that follows for its results; and which tool of a run reads stored
// content. The exclude lists and ToolConfig are read here only.

import (
	"cmp"
	"context"
	"errors"
	"sync/atomic"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"

	"github.com/leanctx/leanctx/internal/language"
	previews "github.com/leanctx/leanctx/internal/preview"
	"github.com/leanctx/leanctx/internal/safe"
	"github.com/leanctx/leanctx/internal/toolnames"
	"github.com/leanctx/leanctx/reduction/internal/vault"
)

// ToolReductionConfig overrides the configuration for one tool. Zero fields come from
// the general configuration. The order of precedence is: the exclude lists, the Skip
// fields here, the handlers here, the limit here, the general Skip fields, the default
// handlers.
type ToolReductionConfig struct {
	// Backend stores this tool's content. If nil, defaults to the general Backend.
	Backend Backend

	// SkipTruncation leaves this tool's results alone when they return, even if
	// there is a TruncHandler.
	SkipTruncation bool

	// TruncHandler decides on each result when it returns. Its error is returned
	// as the tool's error, unless it is [UseDefault]. If nil, results longer than
	// MaxLengthForTrunc are cut.
	TruncHandler func(ctx context.Context, detail *ToolDetail) (*TruncResult, error)

	// SkipClear leaves this tool's old results alone, even if there is a
	// ClearHandler.
	SkipClear bool

	// ClearHandler decides on each old result. Its error ends the run, unless it is
	// [UseDefault]. If nil, the result is stored and replaced by a notice.
	ClearHandler func(ctx context.Context, detail *ToolDetail) (*ClearResult, error)

	// MaxLengthForTrunc is how many bytes of text this tool's results may have,
	// with the same least value as the general limit. If set, they are cut even if
	// the general SkipTruncation is set. If zero, the general limit holds.
	MaxLengthForTrunc int

	// Preview writes what this tool's results show when they are cut. If nil, the
	// general Preview does; [PreviewHeadTail] turns that off.
	Preview Preview
}

// UseDefault is returned by a TruncHandler or a ClearHandler as its error to leave the
// result to the middleware, which then does what it would do without the handler.
// Errors that wrap it count as well. The handler's other return values are ignored.
//
//lint:ignore ST1012 it is an answer, as io.EOF is
var UseDefault = errors.New("use the default")

// ToolDetail is one result, as a handler or a path generator sees it. Exactly one
// of ToolResult and StreamToolResult is set. A handler must not change what it
// points to, and must not keep it.
type ToolDetail struct {
	// ToolContext names the tool and the call.
	ToolContext *adk.ToolContext

	// ToolArgument holds the arguments of the call. It is nil if there are none.
	ToolArgument *schema.ToolArgument

	// ToolResult is what the tool returned. A tool that returns a string is one
	// part of text.
	ToolResult *schema.ToolResult

	// StreamToolResult is the stream that the tool is returning, in a copy for the
	// handler, which may read as much of it as it likes. It is closed for the handler
	// when TruncResult.NeedTrunc is false or the handler fails, and otherwise when
	// TruncResult.StreamToolResult has ended.
	StreamToolResult *schema.StreamReader[*schema.ToolResult]
}

// TruncResult is the decision of a TruncHandler. Nil means the zero value.
type TruncResult struct {
	// NeedTrunc says to replace the result. If false, the result passes unchanged, and
	// the other fields are ignored.
	NeedTrunc bool

	// ToolResult takes the place of ToolDetail.ToolResult. If it has no parts, the
	// original passes. If the tool returns a string, the first part is used.
	ToolResult *schema.ToolResult

	// StreamToolResult takes the place of ToolDetail.StreamToolResult. It belongs
	// to the middleware from then on. If it is nil, ToolResult is sent as one
	// chunk.
	StreamToolResult *schema.StreamReader[*schema.ToolResult]

	// NeedOffload says that OffloadContent is to be stored first. When that fails,
	// or when the file already holds something else, the original goes on. It is
	// an error if there is no Backend.
	NeedOffload bool

	// OffloadFilePath is where in the Backend.
	OffloadFilePath string

	// OffloadContent is what to store.
	OffloadContent string
}

// ClearResult is the decision of a ClearHandler. Nil means the zero value.
type ClearResult struct {
	// NeedClear says to replace the result. If false, the result stays as it is, and
	// the other fields are ignored.
	NeedClear bool

	// ToolArgument takes the place of the call's arguments. If nil, they stay.
	ToolArgument *schema.ToolArgument

	// ToolResult takes the place of the result. If it has no parts, the result stays.
	// Media that were in the result before keep properties that a ToolResult cannot
	// express, such as a file name.
	ToolResult *schema.ToolResult

	// NeedOffload says that OffloadContent is to be stored first. When that fails,
	// or when the file already holds something else, everything stays as it is. It
	// is an error if there is no Backend.
	NeedOffload bool

	// OffloadFilePath is where in the Backend.
	OffloadFilePath string

	// OffloadContent is what to store.
	OffloadContent string
}

// Preview writes the visible part of a cut result, in at most MaxBytes bytes. It must be
// deterministic and safe for concurrent use. If it panics, or returns nothing, more than
// MaxBytes, or text that is not UTF-8, the start and the end of the result are shown. It is
// not called for streams, whose start is sent before they are known to be too long; but if
// a Preview is set, their notice shows lines that look like errors.
type Preview func(PreviewRequest) string

// PreviewRequest is a result that is cut.
type PreviewRequest struct {
	// Text is all of the result's text, as the tool returned it. It need not be valid
	// UTF-8.
	Text string
	// MaxBytes is how long the preview may be.
	MaxBytes int
	// Tool is the name of the tool.
	Tool string
	// Arguments are those of the call.
	Arguments string
	// Question is the end of the user's last message and of the model's text beside the
	// call, at most 1,000 bytes of each. It is empty outside of an agent's run.
	Question string
}

// PreviewHeadTail shows the start and the end, as a nil Preview does.
func PreviewHeadTail(r PreviewRequest) string {
	return previews.HeadTail(request(r))
}

// PreviewByKind previews a text by its format: a list of JSON records as a table, in which
// common values appear once; the start of other JSON, closed so that it parses; the text of
// an HTML page or of a snapshot of one; the errors, the end and each kind of line once of
// tests and logs; the start and the end of other text, with lines between them that look
// like errors or fit Question. Inside an MCP result, it previews the text. Text of
// uncertain format keeps its start and end. One megabyte takes some milliseconds; JSON of
// more than four megabytes keeps its start and end.
func PreviewByKind(r PreviewRequest) string {
	shown, _ := previews.Make(request(r))
	return shown
}

func request(r PreviewRequest) previews.Request {
	return previews.Request{Text: r.Text, Room: r.MaxBytes, Arguments: r.Arguments, Question: r.Question, Chinese: language.Chinese()}
}

// contained is a Preview that returns nothing in place of a panic.
func (p Preview) contained() Preview {
	if p == nil {
		return nil
	}
	return func(r PreviewRequest) string {
		shown, _ := safe.Value("Preview", func() (string, error) { return p(r), nil })
		return shown
	}
}

var errNoBackend = errors.New("no backend for offload")

// pathGenerator is the type of the two path generators of a configuration.
type pathGenerator = func(ctx context.Context, toolDetail *ToolDetail) (filePath string, err error)

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
	limit                int  // bytes
	preview              Preview
	noTrunc, noClear     map[string]bool
	general              *vault.Store
	byTool               map[string]ToolReductionConfig
	stores               map[string]*vault.Store // of those with a Backend of their own
}

// policyOf reads a configuration whose defaults are filled in.
func policyOf[M adk.MessageType](c *TypedConfig[M], files *vault.Vault) *policy {
	p := &policy{
		readTool:  c.ReadFileToolName,
		skipTrunc: c.SkipTruncation, skipClear: c.SkipClear,
		clears:  !c.SkipClear,
		limit:   c.MaxLengthForTrunc,
		preview: c.Preview, previews: c.Preview != nil,
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

// truncation is the rule for a result that returns. What was just read from the store
// is not cut: the model would read it again, without end. Nor are answers that load
// tools: toolsearch reads from the history which tools are loaded.
func (p *policy) truncation(ctx context.Context, tool string) rule {
	own := p.byTool[tool]
	r := rule{store: p.storeOf(tool), limit: cmp.Or(own.MaxLengthForTrunc, p.limit), preview: p.preview, reads: p.readsPages(ctx, tool)}
	if own.Preview != nil {
		r.preview = own.Preview
	}
	switch {
	case r.reads || toolnames.Loads(tool):
		r.otherwise = ReasonExempt
	case p.skipTrunc && own.MaxLengthForTrunc == 0, r.store == nil:
		r.otherwise = ReasonSkipped
	}
	switch {
	case p.noTrunc[tool]:
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
	case p.noClear[tool]:
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

// readerKind is what an agent has under the name of the read tool.
type readerKind string

const (
	noReader      readerKind = "none"
	foreignReader readerKind = "foreign" // some tool of that name
	pagesReader   readerKind = "pages"   // one that is made for reading page by page
	ownReader     readerKind = "own"     // one of this package's
)

// runKey holds, in the context of a run, what one middleware saw at its start.
type runKey struct{ of *policy }

type agentRun struct {
	reader readerKind
	looked atomic.Bool // at the tools of the first model call
	counts counted

	referred atomic.Bool  // the whole history was searched for repeats
	markedAt atomic.Int64 // when files were marked as used, in seconds
	fitted   atomic.Bool  // all rounds keep to their share of the window
}

// counted is what the run knows of the texts of its messages; nil outside of a run.
func (b *agentRun) counted() *counted {
	if b == nil {
		return nil
	}
	return &b.counts
}

// begin notes, in the context of a run, what its agent has for a read tool.
func (p *policy) begin(ctx context.Context, found readerKind) context.Context {
	return context.WithValue(ctx, runKey{p}, &agentRun{reader: found})
}

// run is nil outside of a run.
func (p *policy) run(ctx context.Context) *agentRun {
	b, _ := ctx.Value(runKey{p}).(*agentRun)
	return b
}

// readerKind says what is known of the read tool. Outside of a run nothing is.
func (p *policy) readerKind(ctx context.Context) (r readerKind, known bool) {
	b := p.run(ctx)
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

// seeksReader reports whether the tools of a model call must be looked at for the read
// tool: where the run began without one, and where this middleware provides it, once.
func (p *policy) seeksReader(ctx context.Context, provides bool) bool {
	b := p.run(ctx)
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

// readsPages reports whether a tool is the read tool. One that the configuration
// does not name is not, if nothing else speaks for it.
func (p *policy) readsPages(ctx context.Context, tool string) bool {
	if tool != p.readTool {
		return false
	}
	r, _ := p.readerKind(ctx)
	return p.named || r != foreignReader
}
