// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package reduction

// A configuration and what follows from it, and what is known and noted of a run. ToolConfig is read only
// here and where a handler in it is asked.

import (
	"context"
	"errors"
	"maps"
	"path"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean"
	"github.com/einolean/einolean/internal/backend"
	"github.com/einolean/einolean/internal/display"
	"github.com/einolean/einolean/internal/message"
	"github.com/einolean/einolean/internal/readtool"
	"github.com/einolean/einolean/reduction/internal/clearing"
	"github.com/einolean/einolean/reduction/internal/notice"
	"github.com/einolean/einolean/reduction/internal/offload"
	"github.com/einolean/einolean/reduction/internal/reader"
	"github.com/einolean/einolean/reduction/internal/report"
	"github.com/einolean/einolean/reduction/internal/rounds"
	"github.com/einolean/einolean/reduction/internal/tokencount"
	"github.com/einolean/einolean/reduction/internal/toolpolicy"
	"github.com/einolean/einolean/reduction/internal/truncate"
)

// policy is a configuration and what follows from it: where content goes, what reads it back, how long a
// request is, and who is told. It is immutable, except for the memory in files and what was reported.
type settings[M adk.MessageType] struct {
	*TypedConfig[M]                          // with defaults, and callbacks that cannot panic
	estimator       *tokencount.Estimator[M] // the default counter; nil if the user's counts

	files   *offload.Offloader
	rules   toolpolicy.Table
	decider clearing.Decider // but for the user's code, which sees messages
	cutter  truncate.Truncator
	reader  reader.Reader
	report  report.Reporter

	clears   bool // clearing can change anything at all
	recovers bool // requests that are too long are shortened
	previews bool // results of some tool have a Preview

	reported report.Seen // cleared results
}

// policyOf reads a configuration with defaults. What has the read tool's name is it if named is set.
func policyOf[M adk.MessageType](c *TypedConfig[M], named bool) *settings[M] {
	files := &offload.Offloader{Showable: notice.Showable}
	trunc, clear := path.Join(c.RootDir, offload.TruncDir), path.Join(c.RootDir, offload.ClearDir)
	p := &settings[M]{TypedConfig: c, files: files, report: c.OnEvent, clears: !c.SkipClear, recovers: c.Overflow != nil && !c.SkipClear, previews: c.Preview != nil}
	for _, own := range c.ToolConfig {
		p.clears = p.clears || own.ClearHandler != nil && !own.SkipClear
		p.previews = p.previews || own.Preview != nil
	}
	if c.TokenCounter == nil {
		p.estimator = new(tokencount.Estimator[M])
		c.TokenCounter = func(_ context.Context, msgs []M, tools []*schema.ToolInfo) (int64, error) {
			return p.estimator.Count(msgs, tools), nil
		}
	}
	p.rules = rulesOf(c, files)
	p.reader = reader.Reader{Name: c.ReadFileToolName, Explicit: named || c.ProvideReadTool, Media: c.WindowTokens > 0, Report: p.report}
	if c.ProvideReadTool {
		readable := readtool.AllowBelow(trunc, clear, backend.CatalogDir)
		p.reader.Tool = reader.NewTool(c.ReadFileToolName, files.Stores, readable, readtool.JSONQuery(c.JSONQuery))
		for dir, generate := range map[string]*func(context.Context, *ToolDetail) (string, error){offload.ClearDir: &c.GenClearOffloadFilePath, offload.TruncDir: &c.GenTruncOffloadFilePath} {
			if *generate != nil {
				*generate = restrictToRoot(c.RootDir, dir, readable, *generate)
			}
		}
	}
	p.decider = clearing.Decider{
		Root: c.RootDir, MinSavingBytes: c.MinSavingBytes, MaxArgumentBytes: c.ClearArgumentsOver,
		CustomPaths: c.GenTruncOffloadFilePath != nil, IsResult: readtool.AllowBelow(trunc, clear),
	}
	p.cutter = truncate.Truncator{
		Root: c.RootDir, Files: files, Rules: &p.rules, Reader: &p.reader, Report: p.report,
		TruncHandler: p.askTrunc, Preview: p.preview,
		Previews:    func(tool string) bool { return p.previewOf(tool) != nil },
		NoticePaths: func(ctx context.Context) []string { return runLocal[[]string](ctx, namedFilesKey) },
	}
	if generate := c.GenTruncOffloadFilePath; generate != nil {
		p.cutter.Name = func(ctx context.Context, detail truncate.Detail) (string, error) {
			return generate(ctx, toolDetail(detail))
		}
	}
	return p
}

// rulesOf is what a configuration says of all tools.
func rulesOf[M adk.MessageType](c *TypedConfig[M], files *offload.Offloader) toolpolicy.Table {
	t := toolpolicy.Table{
		Store: files.Open(c.Backend), Stores: make(map[string]*offload.Store), Limit: c.MaxLengthForTrunc, Limits: make(map[string]int), Compact: c.CompactJSON,
		Returned: toolpolicy.PhaseConfig{Skip: c.SkipTruncation, Exclude: c.TruncExcludeTools, Tools: make(map[string]toolpolicy.Tool)},
		Old:      toolpolicy.PhaseConfig{Skip: c.SkipClear, Exclude: c.ClearExcludeTools, Tools: make(map[string]toolpolicy.Tool)},
	}
	for name, own := range c.ToolConfig {
		t.Stores[name], t.Limits[name] = files.Open(own.Backend), own.MaxLengthForTrunc
		t.Returned.Tools[name] = toolpolicy.Tool{Skip: own.SkipTruncation, Handles: own.TruncHandler != nil}
		t.Old.Tools[name] = toolpolicy.Tool{Skip: own.SkipClear, Handles: own.ClearHandler != nil}
	}
	return t
}

// below makes a path generator give way to the default path where the read tool could not read its own.
func restrictToRoot(root, dir string, readable func(string) bool, generate func(context.Context, *ToolDetail) (string, error)) func(context.Context, *ToolDetail) (string, error) {
	return func(ctx context.Context, detail *ToolDetail) (string, error) {
		at, err := generate(ctx, detail)
		if err == nil && !readable(at) {
			at = offload.DefaultPath(root, dir, detail.ToolContext.CallID)
		}
		return at, err
	}
}

func toolDetail(d truncate.Detail) *ToolDetail {
	return &ToolDetail{ToolContext: d.Tool, ToolArgument: d.Args, ToolResult: d.Result, StreamToolResult: d.Stream}
}

// askTrunc asks the user's handler for a result that returns. Also the stream of an answer that does not
// count is the middleware's, which closes it.
func (p *settings[M]) askTrunc(ctx context.Context, detail truncate.Detail) (answer truncate.Answer, err error) {
	got, err := p.ToolConfig[detail.Tool.Name].TruncHandler(ctx, toolDetail(detail))
	if got != nil {
		answer = truncate.Answer{
			Replaces: got.NeedTrunc, Result: got.ToolResult, Stream: got.StreamToolResult,
			Stores: got.NeedOffload, Path: got.OffloadFilePath, Content: got.OffloadContent,
		}
	}
	if errors.Is(err, UseDefault) {
		answer.ByDefault, err = true, nil
	}
	return answer, err
}

// askClear asks the user's handler for an old result.
func (p *settings[M]) askClear(ctx context.Context, detail *ToolDetail) (clearing.Answer, error) {
	got, err := p.ToolConfig[detail.ToolContext.Name].ClearHandler(ctx, detail)
	switch {
	case errors.Is(err, UseDefault):
		return clearing.Answer{ByDefault: true}, nil
	case err != nil || got == nil || !got.NeedClear:
		return clearing.Answer{}, err
	}
	answer := clearing.Answer{Replaces: true, Stores: got.NeedOffload, Path: got.OffloadFilePath, Content: got.OffloadContent}
	if got.ToolArgument != nil {
		answer.Args = &got.ToolArgument.Text
	}
	if got.ToolResult != nil {
		answer.Parts = got.ToolResult.Parts
	}
	return answer, nil
}

// previewOf is the Preview of a tool's results, nil for none.
func (p *settings[M]) previewOf(tool string) Preview {
	if own := p.ToolConfig[tool]; own != nil && own.Preview != nil {
		return own.Preview
	}
	return p.Preview
}

func (p *settings[M]) preview(ctx context.Context, of truncate.Detail, text string, room int) string {
	args := ""
	if of.Args != nil {
		args = of.Args.Text
	}
	return p.previewOf(of.Tool.Name)(PreviewRequest{Text: text, MaxBytes: room, Tool: of.Tool.Name, Arguments: args, Question: runLocal[string](ctx, questionKey)})
}

// agentRun is what one middleware, whose policy is its key in a context, records of a run.
type run struct {
	sizes tokencount.Tracker

	referred atomic.Bool  // the whole history was searched for repeats
	markedAt atomic.Int64 // when files were marked as used, in seconds
	fitted   atomic.Bool  // all rounds keep to their share of the window
	refused  atomic.Bool  // the request of this model call, as too long
	target   atomic.Int64 // how long it may be then
}

// runOf returns what is recorded of a run. Outside a run that is nothing yet, and nobody keeps it.
func (p *settings[M]) runOf(ctx context.Context) (r *run, inRun bool) {
	if b, ok := ctx.Value(p).(*run); ok {
		return b, true
	}
	return &run{}, false
}

// size is how long a state is, as far as that decides what happens to it, or exactly.
func (p *settings[M]) size(ctx context.Context, state *adk.TypedChatModelAgentState[M], exactly bool) (tokencount.Size, error) {
	if p.estimator == nil {
		n, err := p.TokenCounter(ctx, state.Messages, state.ToolInfos)
		return tokencount.Size{Tokens: n, Factor: 1, Exact: true}, err
	}
	threshold, window := p.MaxTokensForClear, p.window(ctx)
	run, _ := p.runOf(ctx)
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

// window is how many tokens a request may have: what is configured or, if that is less, what a
// refusal has taught in this run; zero if nothing is known.
func (p *settings[M]) window(ctx context.Context) int64 {
	window := p.WindowTokens
	if !p.recovers {
		return window
	}
	if learned := runLocal[int64](ctx, windowKey); learned > 0 && (window == 0 || learned < window) {
		return learned
	}
	return window
}

// namedFiles lists, sorted, the files that notices in a history name. A notice naming a file that its
// call could not have written is a forgery.
func (p *settings[M]) namedFiles(msgs []M) (names []string) {
	eachNoticed(msgs, func(r rounds.Result) {
		n := notice.FromTexts(r.Texts)
		if n.Path != "" && (n.IsPlaceholder() || p.GenTruncOffloadFilePath != nil || offload.BelongsToCall(n.Path, r.ID)) {
			names = append(names, offload.Clean(n.Path))
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
				may = may || notice.HasEnvelope(item.Text())
			}
			if may {
				f(rounds.ResultIn(p.Part))
			}
		}
	}
}

// noteNamedFiles tells calls which of their future files the notices in the history already
// name. They must not write to these.
func (p *settings[M]) noteNamedFiles(ctx context.Context, msgs []M, calls []rounds.Call) {
	shown := p.namedFiles(msgs)
	p.files.ReservePaths(ctx, shown)
	wanted := make(map[string]bool, len(calls))
	for _, each := range calls {
		wanted[offload.Clean(offload.DefaultPath(p.RootDir, offload.TruncDir, each.ID))] = true
	}
	var taken []string
	for _, name := range shown {
		// A generator may return any of the names next.
		if wanted[name] || p.GenTruncOffloadFilePath != nil {
			taken = append(taken, name)
		}
	}
	_ = adk.SetRunLocalValue(ctx, namedFilesKey, taken)
}

// maxQuestion is the most of a message that goes into a question, in bytes.
const maxQuestion = 1000

// noteQuestion records the last texts of the user and the model for the calls that the model
// has just made.
func (p *settings[M]) noteQuestion(ctx context.Context, msgs []M) {
	_, said := textOf(msgs[len(msgs)-1])
	asked := ""
	for i := len(msgs) - 1; i >= 0 && asked == ""; i-- {
		asked, _ = textOf(msgs[i])
	}
	_ = adk.SetRunLocalValue(ctx, questionKey, lastBytes(asked)+"\n"+lastBytes(said))
}

// saidIn returns the text of a message of the user or the model.
func textOf[M adk.MessageType](m M) (user, model string) {
	var texts []string
	for part := message.Parts(m); part.Next(); {
		if part.Kind == message.Text {
			texts = append(texts, part.Text())
		}
	}
	switch text := strings.Join(texts, "\n"); message.Role(m) {
	case schema.User:
		return text, ""
	case schema.Assistant:
		return "", text
	}
	return "", ""
}

func lastBytes(text string) string { return text[display.Ceil(text, len(text)-maxQuestion):] }

// markUsed tells the stores, at the start of a run and each hour after, which files the
// history names.
func (p *settings[M]) markUsed(ctx context.Context, run *run, msgs []M) {
	if !slices.ContainsFunc(p.files.Stores, func(s *offload.Store) bool { return s.Cleaner != nil }) {
		return
	}
	now, last := time.Now().Unix(), run.markedAt.Load()
	if now-last < int64(backend.UseInterval/time.Second) || !run.markedAt.CompareAndSwap(last, now) {
		return
	}
	if names := p.noticePaths(msgs); len(names) > 0 {
		for _, s := range p.files.Stores {
			if err := s.MarkUsed(ctx, names); err != nil && ctx.Err() == nil {
				p.report.Send(ctx, einolean.Event{Kind: einolean.KindStoreFailed, Err: err})
			}
		}
	}
}

// everyName lists all files that a history names in notices, for results, media and arguments.
// A name that a tool made up does no harm.
func (p *settings[M]) noticePaths(msgs []M) []string {
	names := make(map[string]bool)
	add := func(texts ...string) {
		for _, text := range texts {
			if at := notice.Parse(text); at.Path != "" {
				names[at.Path] = true
			}
		}
	}
	for _, msg := range msgs {
		v := rounds.ViewOf(msg, rounds.View{})
		add(v.Moved...)
		for _, r := range v.Results {
			add(append(r.Texts, r.MediaRefs...)...)
		}
		for _, each := range v.Calls {
			for _, name := range offload.PathsIn(p.RootDir, each.Args) {
				names[name] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(names))
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
)
