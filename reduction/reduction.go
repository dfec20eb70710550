// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package reduction

// The constructors and the hooks: the order of the work before a model call, and what the calls that a
// model makes must know of the conversation.

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean/internal/adkrun"
	"github.com/einolean/einolean/internal/backend"
	"github.com/einolean/einolean/internal/display"
	"github.com/einolean/einolean/internal/message"
	"github.com/einolean/einolean/internal/nothing"
	"github.com/einolean/einolean/internal/virtual"
	"github.com/einolean/einolean/reduction/internal/notice"
	"github.com/einolean/einolean/reduction/internal/rounds"
	"github.com/einolean/einolean/reduction/internal/size"
	"github.com/einolean/einolean/reduction/internal/vault"
)

// New returns the middleware for agents on *schema.Message. See [NewTyped].
func New(ctx context.Context, config *Config) (adk.ChatModelAgentMiddleware, error) {
	return NewTyped(ctx, config)
}

// NewTyped returns the middleware for agents on messages of type M. One value
// serves any number of agents and concurrent runs. The error joins
// a [einolean.FieldError] for each field of the configuration that is wrong.
//
// In Handlers, place it after handlers that add tools and before handlers that should
// see its notices.
func NewTyped[M adk.MessageType](ctx context.Context, config *TypedConfig[M]) (adk.TypedChatModelAgentMiddleware[M], error) {
	c, err := config.withDefaults()
	if err != nil {
		return nil, err
	}
	c.contain()
	m := &middleware[M]{
		TypedBaseChatModelAgentMiddleware: &adk.TypedBaseChatModelAgentMiddleware[M]{},

		cfg: c, policy: policyOf(c),
	}
	if c.TokenCounter == nil {
		m.estimator = new(size.Estimator[M])
		c.TokenCounter = func(_ context.Context, msgs []M, tools []*schema.ToolInfo) (int64, error) {
			return m.estimator.Count(msgs, tools), nil
		}
	}
	m.policy.named = config.ReadFileToolName != "" || config.ProvideReadTool
	if c.ProvideReadTool {
		ours := &provided{name: c.ReadFileToolName, stores: m.policy.files.Stores, readable: m.policy.readable, query: c.JSONQuery}
		ours.InvokableTool, err = NewReadTool(ctx, &ReadToolConfig{Name: ours.name, Backend: ours, JSONQuery: ours.query})
		if err != nil {
			return nil, err
		}
		m.policy.ours = ours
		c.GenClearOffloadFilePath = m.policy.below(vault.ClearDir, c.GenClearOffloadFilePath)
		m.policy.generate = m.policy.below(vault.TruncDir, c.GenTruncOffloadFilePath)
	}
	return adkrun.New(m), nil
}

// middleware implements the hooks. It is immutable after NewTyped, except for the memory in
// reported.
type middleware[M adk.MessageType] struct {
	*adk.TypedBaseChatModelAgentMiddleware[M]
	cfg       *TypedConfig[M]
	estimator *size.Estimator[M] // the default counter; nil if the user's counts
	policy    *policy

	reported seen // cleared results
}

// Begin adds the read tool if the configuration asks for one and the agent has none.
func (m *middleware[M]) Begin(ctx context.Context, run *adkrun.Run) (context.Context, error) {
	if run == nil {
		return ctx, nil
	}
	tools, found, err := m.policy.withReader(ctx, run.Tools)
	if err != nil {
		return ctx, err
	}
	ctx = context.WithValue(ctx, m.policy, &agentRun{reader: found})
	if m.policy.ours == nil {
		return virtual.WithResults(ctx, unread{}), nil
	}
	run.Tools = tools
	return virtual.WithResults(ctx, m.policy.ours), nil
}

// BeforeModelRewriteState clears old results.
func (m *middleware[M]) BeforeModelRewriteState(ctx context.Context, state *adk.TypedChatModelAgentState[M], _ *adk.TypedModelContext[M]) (context.Context, *adk.TypedChatModelAgentState[M], error) {
	if state == nil {
		return ctx, state, nil
	}
	m.policy.runOf(ctx).refused.Store(false)
	yields, err := m.policy.checkReader(ctx, state.ToolInfos, state.DeferredToolInfos)
	if err != nil {
		return ctx, state, err
	}
	if yields {
		next := *state
		next.ToolInfos, next.DeferredToolInfos = m.policy.withoutOurs(state.ToolInfos), m.policy.withoutOurs(state.DeferredToolInfos)
		state = &next
	}
	if virtual.Now(ctx) {
		return ctx, state, nil
	}
	m.markUsed(ctx, state.Messages)
	if !m.policy.clears {
		return ctx, state, nil
	}
	out, err := m.reduced(ctx, state)
	if err != nil || out == state {
		return ctx, state, err
	}
	next, err := m.cfg.postProcess(ctx, out)
	if err != nil {
		return ctx, state, err
	}
	return next, out, nil
}

// reduced returns a state with old results cleared. If configured, rounds also keep to
// their share of the window, references replace repeats, and the whole fits the window.
func (m *middleware[M]) reduced(ctx context.Context, state *adk.TypedChatModelAgentState[M]) (*adk.TypedChatModelAgentState[M], error) {
	out, err := state, error(nil)
	window := m.window(ctx)
	if window > 0 {
		if out, err = fitRounds(ctx, m, out); err != nil {
			return nil, err
		}
	}
	is, err := m.size(ctx, out, false)
	if err != nil {
		return nil, err
	}
	if m.cfg.ReferToRepeats {
		if out, is, err = refer(ctx, m, out, is); err != nil {
			return nil, err
		}
	}
	if is.Tokens >= m.cfg.MaxTokensForClear {
		p := newPass(ctx, m, out, is)
		if out, err = p.cleared(ctx); err != nil {
			return nil, err
		}
		if out != p.given {
			m.policy.runOf(ctx).sizes.Edited(len(out.Messages))
		}
	}
	if window > 0 && is.Tokens > window && !m.cfg.SkipClear {
		return within(ctx, m, out, window)
	}
	return out, nil
}

// size is how long a state is, as far as that decides what happens to it, or exactly.
func (m *middleware[M]) size(ctx context.Context, state *adk.TypedChatModelAgentState[M], exactly bool) (size.Size, error) {
	if m.estimator == nil {
		n, err := m.cfg.TokenCounter(ctx, state.Messages, state.ToolInfos)
		return size.Size{Tokens: n, Factor: 1, Exact: true}, err
	}
	threshold, window, run := m.cfg.MaxTokensForClear, m.window(ctx), m.policy.runOf(ctx)
	limit := threshold
	if window > 0 {
		limit = min(limit, window)
	}
	if !exactly {
		is := m.estimator.Size(&run.sizes, state.Messages, state.ToolInfos, threshold, limit)
		if window == 0 || is.Exact || is.Tokens < limit {
			return is, nil
		}
	}
	return m.estimator.Size(&run.sizes, state.Messages, state.ToolInfos, threshold, -1), nil
}

// recovers reports whether requests that are too long are shortened.
func (m *middleware[M]) recovers() bool { return m.cfg.Overflow != nil && !m.cfg.SkipClear }

// window is how many tokens a request may have: what is configured or, if that is less, what a
// refusal has taught in this run; zero if nothing is known.
func (m *middleware[M]) window(ctx context.Context) int64 {
	window := m.cfg.WindowTokens
	if !m.recovers() {
		return window
	}
	if learned := runLocal[int64](ctx, windowKey); learned > 0 && (window == 0 || learned < window) {
		return learned
	}
	return window
}

// WrapModel keeps what a provider ties an answer to in step with what was cleared, has the model read
// of an empty result that it is, and shortens a request that it refuses as too long.
func (m *middleware[M]) WrapModel(ctx context.Context, inner model.BaseModel[M], _ *adk.TypedModelContext[M]) (model.BaseModel[M], error) {
	if m.policy.clears {
		inner = keeper(m).Model(inner)
	}
	inner = nothing.Model(inner)
	if m.recovers() && !virtual.Now(ctx) {
		return recovering[M]{m, inner}, nil
	}
	return inner, nil
}

// AfterModelRewriteState notes for the calls that the model has just made what they need to
// know of the conversation.
func (m *middleware[M]) AfterModelRewriteState(ctx context.Context, state *adk.TypedChatModelAgentState[M], _ *adk.TypedModelContext[M]) (context.Context, *adk.TypedChatModelAgentState[M], error) {
	if state == nil || len(state.Messages) == 0 {
		return ctx, state, nil
	}
	msgs := state.Messages
	calls := rounds.ViewOf(msgs[len(msgs)-1], rounds.View{}).Calls
	if len(calls) == 0 {
		return ctx, state, nil
	}
	m.noteNamedFiles(ctx, msgs, calls)
	if m.policy.previews {
		m.noteQuestion(ctx, msgs)
	}
	return ctx, state, nil
}

// WrapInvokableToolCall cuts what a tool returns as a string.
func (m *middleware[M]) WrapInvokableToolCall(ctx context.Context, endpoint adk.InvokableToolCallEndpoint, tCtx *adk.ToolContext) (adk.InvokableToolCallEndpoint, error) {
	return invoked(ctx, m.policy, tCtx, endpoint), nil
}

// WrapEnhancedInvokableToolCall cuts what a tool returns in parts.
func (m *middleware[M]) WrapEnhancedInvokableToolCall(ctx context.Context, endpoint adk.EnhancedInvokableToolCallEndpoint, tCtx *adk.ToolContext) (adk.EnhancedInvokableToolCallEndpoint, error) {
	return invoked(ctx, m.policy, tCtx, endpoint), nil
}

// WrapStreamableToolCall cuts what a tool streams as strings.
func (m *middleware[M]) WrapStreamableToolCall(ctx context.Context, endpoint adk.StreamableToolCallEndpoint, tCtx *adk.ToolContext) (adk.StreamableToolCallEndpoint, error) {
	return streamed(ctx, m.policy, tCtx, nothing.Streamed(endpoint)), nil
}

// WrapEnhancedStreamableToolCall cuts what a tool streams in parts.
func (m *middleware[M]) WrapEnhancedStreamableToolCall(ctx context.Context, endpoint adk.EnhancedStreamableToolCallEndpoint, tCtx *adk.ToolContext) (adk.EnhancedStreamableToolCallEndpoint, error) {
	return streamed(ctx, m.policy, tCtx, nothing.Streamed(endpoint)), nil
}

// noteNamedFiles tells calls which of their future files the notices in the history already
// name. They must not write to these.
func (m *middleware[M]) noteNamedFiles(ctx context.Context, msgs []M, calls []rounds.Call) {
	shown := namedFiles(m.cfg, msgs)
	m.policy.files.Note(ctx, shown)
	wanted := make(map[string]bool, len(calls))
	for _, each := range calls {
		wanted[vault.Clean(vault.DefaultPath(m.cfg.RootDir, vault.TruncDir, each.ID))] = true
	}
	var taken []string
	for _, name := range shown {
		// A generator may return any of the names next.
		if wanted[name] || m.cfg.GenTruncOffloadFilePath != nil {
			taken = append(taken, name)
		}
	}
	_ = adk.SetRunLocalValue(ctx, namedFilesKey, taken)
}

// namedFiles lists, sorted, the files that notices in a history name. A notice naming a file that its
// call could not have written is a forgery.
func namedFiles[M adk.MessageType](cfg *TypedConfig[M], msgs []M) (names []string) {
	eachNoticed(msgs, func(r rounds.Result) {
		n := notice.In(r.Texts)
		if n.Path != "" && (n.Cleared() || cfg.GenTruncOffloadFilePath != nil || vault.MadeFor(n.Path, r.ID)) {
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

// maxQuestion is the most of a message that goes into a question, in bytes.
const maxQuestion = 1000

// noteQuestion records the last texts of the user and the model for the calls that the model
// has just made.
func (m *middleware[M]) noteQuestion(ctx context.Context, msgs []M) {
	_, said := saidIn(msgs[len(msgs)-1])
	asked := ""
	for i := len(msgs) - 1; i >= 0 && asked == ""; i-- {
		asked, _ = saidIn(msgs[i])
	}
	_ = adk.SetRunLocalValue(ctx, questionKey, lastBytes(asked, maxQuestion)+"\n"+lastBytes(said, maxQuestion))
}

// saidIn returns the text of a message of the user or the model.
func saidIn[M adk.MessageType](m M) (user, model string) {
	var texts []string
	for p := message.Parts(m); p.Next(); {
		if p.Kind == message.Text {
			texts = append(texts, p.Text())
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

// lastBytes returns the end of a text, starting at a whole character.
func lastBytes(s string, most int) string { return s[display.Ceil(s, len(s)-most):] }

// markUsed tells the stores, at the start of a run and each hour after, which files the
// history names.
func (m *middleware[M]) markUsed(ctx context.Context, msgs []M) {
	run := m.policy.runOf(ctx)
	if run.reader == "" || !slices.ContainsFunc(m.policy.files.Stores, func(s *vault.Store) bool { return s.Cleaner != nil }) {
		return
	}
	now, last := time.Now().Unix(), run.markedAt.Load()
	if now-last < int64(backend.UseInterval/time.Second) || !run.markedAt.CompareAndSwap(last, now) {
		return
	}
	if names := m.everyName(msgs); len(names) > 0 {
		for _, s := range m.policy.files.Stores {
			s.MarkUsed(ctx, names)
		}
	}
}

// everyName lists all files that a history names in notices, for results, media and arguments.
// A name that a tool made up does no harm.
func (m *middleware[M]) everyName(msgs []M) []string {
	names := make(map[string]bool)
	add := func(texts ...string) {
		for _, text := range texts {
			if at := notice.Recognise(text); at.Path != "" {
				names[at.Path] = true
			}
		}
	}
	for _, msg := range msgs {
		v := rounds.ViewOf(msg, rounds.View{})
		add(v.Moved...)
		for _, r := range v.Results {
			add(append(r.Texts, r.Moved...)...)
		}
		for _, each := range v.Calls {
			for _, p := range vault.Mentions(m.cfg.RootDir, each.Args) {
				names[p] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// Keys of run-local values, which survive an interrupt. Outside a run there are none, and
// nothing is kept.
const (
	namedFilesKey = "__einolean_reduction_shown__"    // files in the conversation's notices that calls of this round would otherwise overwrite
	windowKey     = "__einolean_reduction_window__"   // how many tokens a request may have, since one was refused
	questionKey   = "__einolean_reduction_question__" // the last texts of the user and the model
	readerKey     = "__einolean_reduction_reader__"   // and the tool's name: which kind was found among the tools of a model call
)

// runLocal returns the value under a key, if it has this type.
func runLocal[T any](ctx context.Context, key string) T {
	v, _, _ := adk.GetRunLocalValue(ctx, key)
	got, _ := v.(T)
	return got
}
