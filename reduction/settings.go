// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package reduction

// A configuration and what follows from it. ToolConfig is read only here, and where its handlers are called.

import (
	"context"
	"errors"
	"slices"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean/internal/backend"
	"github.com/einolean/einolean/internal/readtool"
	"github.com/einolean/einolean/reduction/internal/clearing"
	"github.com/einolean/einolean/reduction/internal/notice"
	"github.com/einolean/einolean/reduction/internal/offload"
	"github.com/einolean/einolean/reduction/internal/reader"
	"github.com/einolean/einolean/reduction/internal/report"
	"github.com/einolean/einolean/reduction/internal/tokencount"
	"github.com/einolean/einolean/reduction/internal/toolpolicy"
	"github.com/einolean/einolean/reduction/internal/truncate"
)

// settings is a configuration and what follows from it. It is immutable, except for what files, estimator and
// clearedKeys remember.
type settings[M adk.MessageType] struct {
	cfg       *TypedConfig[M]          // with defaults, and callbacks that cannot panic
	estimator *tokencount.Estimator[M] // the default counter; nil if the user's counts

	files     *offload.Offloader
	policies  toolpolicy.Table
	decider   clearing.Decider // to be completed for a run
	truncator truncate.Truncator
	reader    reader.Reader
	reporter  report.Reporter

	mayClear    bool // some results may be cleared
	retries     bool // requests that are refused as too long are shortened and sent again
	hasPreviews bool // results of some tool have a Preview

	clearedKeys report.RecentKeys // results that were reported as cleared
}

// newSettings reads a configuration with defaults. isNamed is true if the user has set ReadFileToolName: any tool
// of that name then counts as the read tool.
func newSettings[M adk.MessageType](c *TypedConfig[M], isNamed bool) *settings[M] {
	files := &offload.Offloader{Showable: notice.Showable, Timeout: max(c.StoreTimeout, 0)}
	s := &settings[M]{
		cfg: c, files: files, policies: newPolicyTable(c, files), reporter: c.OnEvent,
		mayClear: !c.SkipClear, retries: c.Overflow != nil, hasPreviews: c.Preview != nil,
	}
	for _, tool := range c.ToolConfig {
		s.mayClear = s.mayClear || tool.ClearHandler != nil && !tool.SkipClear
		s.hasPreviews = s.hasPreviews || tool.Preview != nil
	}
	if c.TokenCounter == nil {
		s.estimator = new(tokencount.Estimator[M])
		c.TokenCounter = func(_ context.Context, msgs []M, tools []*schema.ToolInfo) (int64, error) {
			return s.estimator.Count(msgs, tools), nil
		}
	}
	resultDirs := offload.Directories(c.RootDir)
	s.reader = reader.Reader{
		Name: c.ReadFileToolName, Explicit: isNamed || c.ProvideReadTool, Media: c.ClearMedia, Report: s.reporter,
	}
	if c.ProvideReadTool {
		readable := readtool.AllowBelow(append(resultDirs, backend.CatalogDir)...)
		s.reader.Tool = reader.NewTool(c.ReadFileToolName, files.Stores, readable, readtool.JSONQuery(c.JSONQuery))
		c.GenTruncOffloadFilePath = restrictToRoot(c.RootDir, offload.TruncDir, readable, c.GenTruncOffloadFilePath)
		c.GenClearOffloadFilePath = restrictToRoot(c.RootDir, offload.ClearDir, readable, c.GenClearOffloadFilePath)
	}
	s.decider = clearing.Decider{
		CanPass: s.canPassReferences(),
		Root:    c.RootDir, MinSavingBytes: c.MinSavingBytes, MaxArgumentBytes: c.MaxArgumentBytes,
		CustomPaths: c.GenTruncOffloadFilePath != nil, IsResult: readtool.AllowBelow(resultDirs...),
	}
	s.truncator = s.newTruncator()
	return s
}

// canPassReferences reports whether arguments of calls may be references, and every store can be read.
func (s *settings[M]) canPassReferences() bool {
	isUnreadable := func(store *offload.Store) bool { return !store.Readable() }
	return s.cfg.ResolveReferences && !slices.ContainsFunc(s.files.Stores, isUnreadable)
}

func (s *settings[M]) newTruncator() truncate.Truncator {
	t := truncate.Truncator{
		Root: s.cfg.RootDir, Files: s.files, Rules: &s.policies, Reader: &s.reader, Report: s.reporter,
		CanPass:      s.canPassReferences() && s.cfg.GenTruncOffloadFilePath == nil,
		TruncHandler: s.callTruncHandler, Preview: s.preview,
		Previews:    func(tool string) bool { return s.previewOf(tool) != nil },
		NoticePaths: func(ctx context.Context) []string { return runLocal[[]string](ctx, noticeFilesKey) },
	}
	if generate := s.cfg.GenTruncOffloadFilePath; generate != nil {
		t.Name = func(ctx context.Context, detail truncate.Detail) (string, error) {
			return generate(ctx, toolDetail(detail))
		}
	}
	return t
}

// newPolicyTable is what a configuration says of all tools.
func newPolicyTable[M adk.MessageType](c *TypedConfig[M], files *offload.Offloader) toolpolicy.Table {
	newPhase := func(skip bool, exclude []string) toolpolicy.PhaseConfig {
		return toolpolicy.PhaseConfig{Skip: skip, Exclude: exclude, Tools: make(map[string]toolpolicy.Tool)}
	}
	t := toolpolicy.Table{
		Store: files.Open(c.Backend), Stores: make(map[string]*offload.Store),
		Limit: c.MaxLengthForTrunc, Limits: make(map[string]int), Compact: c.CompactJSON,
		Truncation: newPhase(c.SkipTruncation, c.TruncExcludeTools),
		Clearing:   newPhase(c.SkipClear, c.ClearExcludeTools),
	}
	for name, tool := range c.ToolConfig {
		t.Stores[name], t.Limits[name] = files.Open(tool.Backend), tool.MaxLengthForTrunc
		t.Truncation.Tools[name] = toolpolicy.Tool{Skip: tool.SkipTruncation, HasHandler: tool.TruncHandler != nil}
		t.Clearing.Tools[name] = toolpolicy.Tool{Skip: tool.SkipClear, HasHandler: tool.ClearHandler != nil}
	}
	return t
}

// pathGenerator is GenTruncOffloadFilePath or GenClearOffloadFilePath.
type pathGenerator = func(context.Context, *ToolDetail) (string, error)

// restrictToRoot returns a path generator that gives the default path where the read tool could not read the path
// of another generator. It is nil if that is.
func restrictToRoot(root, dir string, readable func(string) bool, generate pathGenerator) pathGenerator {
	if generate == nil {
		return nil
	}
	return func(ctx context.Context, detail *ToolDetail) (string, error) {
		filePath, err := generate(ctx, detail)
		if err == nil && !readable(filePath) {
			filePath = offload.DefaultPath(root, dir, detail.ToolContext.CallID)
		}
		return filePath, err
	}
}

func toolDetail(d truncate.Detail) *ToolDetail {
	return &ToolDetail{ToolContext: d.Tool, ToolArgument: d.Args, ToolResult: d.Result, StreamToolResult: d.Stream}
}

// callTruncHandler calls the user's handler for a result that returns. The stream of its answer belongs to the
// middleware, which closes it, also if the answer does not count.
func (s *settings[M]) callTruncHandler(
	ctx context.Context, detail truncate.Detail,
) (answer truncate.Answer, err error) {
	result, err := s.cfg.ToolConfig[detail.Tool.Name].TruncHandler(ctx, toolDetail(detail))
	if result != nil {
		answer = truncate.Answer{
			Replaces: result.NeedTrunc, Result: result.ToolResult, Stream: result.StreamToolResult,
			Stores: result.NeedOffload, Path: result.OffloadFilePath, Content: result.OffloadContent,
		}
	}
	if errors.Is(err, UseDefault) {
		answer.ByDefault, err = true, nil
	}
	return answer, err
}

// callClearHandler calls the user's handler for an old result.
func (s *settings[M]) callClearHandler(ctx context.Context, detail *ToolDetail) (clearing.Answer, error) {
	result, err := s.cfg.ToolConfig[detail.ToolContext.Name].ClearHandler(ctx, detail)
	switch {
	case errors.Is(err, UseDefault):
		return clearing.Answer{ByDefault: true}, nil
	case err != nil || result == nil || !result.NeedClear:
		return clearing.Answer{}, err
	}
	answer := clearing.Answer{
		Replaces: true, Stores: result.NeedOffload, Path: result.OffloadFilePath, Content: result.OffloadContent,
	}
	if result.ToolArgument != nil {
		answer.Args = &result.ToolArgument.Text
	}
	if result.ToolResult != nil {
		answer.Parts = result.ToolResult.Parts
	}
	return answer, nil
}

// previewOf is the Preview of a tool's results, nil if there is none.
func (s *settings[M]) previewOf(tool string) Preview {
	if entry := s.cfg.ToolConfig[tool]; entry != nil && entry.Preview != nil {
		return entry.Preview
	}
	return s.cfg.Preview
}

func (s *settings[M]) preview(ctx context.Context, detail truncate.Detail, text string, room int) string {
	r := PreviewRequest{Text: text, MaxBytes: room, Tool: detail.Tool.Name, Question: runLocal[string](ctx, questionKey)}
	if detail.Args != nil {
		r.Arguments = detail.Args.Text
	}
	return s.previewOf(detail.Tool.Name)(r)
}

// threshold is how many tokens a request may have before old results are cleared.
func (s *settings[M]) threshold(startsTurn bool) int64 {
	if startsTurn && s.cfg.MaxTokensAtTurnStart > 0 {
		return s.cfg.MaxTokensAtTurnStart
	}
	return s.cfg.MaxTokensForClear
}

// sizeFor is the size of a state, as exact as needed to compare it with a threshold and the window.
func (s *settings[M]) sizeFor(
	ctx context.Context, state *adk.TypedChatModelAgentState[M], threshold int64,
) (tokencount.Size, error) {
	if s.estimator == nil {
		return s.exactSize(ctx, state)
	}
	window, limit := s.window(ctx), threshold
	if window > 0 {
		limit = min(limit, window)
	}
	tracker := s.tracker(ctx, state.Messages)
	size := s.estimator.Size(tracker, state.Messages, state.ToolInfos, s.cfg.MaxTokensForClear, limit)
	if window == 0 || size.Exact || size.Tokens < limit {
		return size, nil
	}
	return s.exactSize(ctx, state)
}

// exactSize is the size of a state, with every text read.
func (s *settings[M]) exactSize(
	ctx context.Context, state *adk.TypedChatModelAgentState[M],
) (tokencount.Size, error) {
	if s.estimator == nil {
		n, err := s.cfg.TokenCounter(ctx, state.Messages, state.ToolInfos)
		return tokencount.Size{Tokens: n, Factor: 1, Exact: true}, err
	}
	tracker := s.tracker(ctx, state.Messages)
	return s.estimator.Size(tracker, state.Messages, state.ToolInfos, s.cfg.MaxTokensForClear, -1), nil
}

// tracker is what is known of the sizes of messages.
func (s *settings[M]) tracker(ctx context.Context, msgs []M) *tokencount.Tracker {
	if r := runFrom(ctx, s); r != nil {
		return &r.sizes
	}
	t := new(tokencount.Tracker)
	t.Fix(storedFactor(msgs))
	return t
}

// window is how many tokens a request may have: WindowTokens or, if that is less, what a refusal has shown in this
// run. Zero means unknown.
func (s *settings[M]) window(ctx context.Context) int64 {
	window := s.cfg.WindowTokens
	if !s.retries {
		return window
	}
	if learned := runLocal[int64](ctx, windowKey); learned > 0 && (window == 0 || learned < window) {
		return learned
	}
	return window
}
