// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package main

// One agent runs, and nothing may be lost.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean/internal/dev/adktest"
	"github.com/einolean/einolean/reduction"
	"github.com/einolean/einolean/toolsearch"
	"github.com/einolean/einolean/window"
)

// ledger remembers what the tools returned, by call id.
type ledger struct {
	mu        sync.Mutex
	results   map[string]string
	sizes     map[string]int
	isStopped bool
	failed    atomic.Bool // a tool was told to fail
}

func (l *ledger) note(id, text string, size int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.results[id], l.sizes[id] = text, size
}

func (l *ledger) lookup(id string) (text string, size int, ours bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	text, ours = l.results[id]
	return text, l.sizes[id], ours
}

func (l *ledger) stopOnce() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	first := !l.isStopped
	l.isStopped = true
	return first
}

// one makes a run, on either message type.
func one(ctx context.Context, p *plan) outcome {
	if p.agentic {
		return trial[*schema.AgenticMessage](ctx, p)
	}
	return trial[*schema.Message](ctx, p)
}

func trial[M adk.MessageType](ctx context.Context, p *plan) (out outcome) {
	out.kind = p.kind
	ctx, cancel := context.WithCancel(context.WithValue(context.WithValue(ctx, tenantKey{}, p.tenant), nameKey{}, p.name()))
	defer cancel()
	books := &ledger{results: map[string]string{}, sizes: map[string]int{}}
	handlers, err := middlewares[M](ctx, p, books)
	if err != nil {
		out.err = err
		return out
	}
	seen := &auditor[M]{}
	handlers = append(handlers, seen)
	if p.collector != nil {
		handlers = append(handlers, window.HandlerFor[M](p.collector))
	}
	a := adktest.Agent[M]{Handlers: handlers, Streaming: p.streaming, Store: &adktest.Store{}, Max: 40}
	respond := watchModel(p, books, seen, script[M](p, cancel))
	a.Model = &adktest.Model[M]{Respond: respond}
	if p.provider != nil {
		h := newHosted(p.provider, respond)
		a.Configure = func(c *adk.TypedChatModelAgentConfig[M]) { c.Model = h }
		defer func() { out.continued, out.problems = h.continued, append(out.problems, h.problems...) }()
	}
	deleted := p.startDeleting(context.WithoutCancel(ctx))
	runAgent(ctx, p, a, &out)
	out.isExpected = p.cancel && errors.Is(out.err, context.Canceled) || books.failed.Load() && errors.Is(out.err, errTool)
	if books.failed.Load() && out.err == nil {
		out.problems = append(out.problems, "nobody was told that a tool failed")
	}
	check(context.WithoutCancel(ctx), p, books, seen.messages, &out)
	out.problems = append(out.problems, deleted()...)
	out.calls = p.logRange()
	return out
}

// runAgent runs the agent to its end, over a checkpoint if it is interrupted.
func runAgent[M adk.MessageType](ctx context.Context, p *plan, a adktest.Agent[M], out *outcome) {
	runner, err := a.Runner(ctx)
	if err != nil {
		out.err = err
		return
	}
	const id = "checkpoint"
	interrupted, err := consume(p, runner.Run(ctx, []M{adktest.User[M]("work")}, adk.WithCheckPointID(id)))
	for err == nil && interrupted {
		out.isResumed = true
		events, problem := runner.Resume(ctx, id)
		if problem != nil {
			out.err = problem
			return
		}
		interrupted, err = consume(p, events)
	}
	out.err = err
}

// consume reads the events of a run, and their streams as the plan says.
func consume[M adk.MessageType](p *plan, it *adk.AsyncIterator[*adk.TypedAgentEvent[M]]) (interrupted bool, err error) {
	var waiting []*adk.TypedMessageVariant[M]
	read := func(v *adk.TypedMessageVariant[M]) {
		if problem := readStream(v.MessageStream); err == nil {
			err = problem
		}
	}
	for {
		event, more := it.Next()
		if !more {
			break
		}
		if err == nil {
			err = event.Err
		}
		interrupted = interrupted || event.Action != nil && event.Action.Interrupted != nil
		switch {
		case event.Output == nil || event.Output.MessageOutput == nil || p.events == never:
		case p.events == late:
			waiting = append(waiting, event.Output.MessageOutput)
		default:
			read(event.Output.MessageOutput)
		}
	}
	for _, v := range waiting {
		read(v)
	}
	return interrupted, err
}

// readStream reads a stream to its end. The ends of named sources are not failures.
func readStream[M adk.MessageType](r *schema.StreamReader[M]) error {
	if r == nil {
		return nil
	}
	defer r.Close()
	for {
		_, err := r.Recv()
		if _, named := schema.GetSourceName(err); err == nil || named {
			continue
		}
		if errors.Is(err, io.EOF) {
			err = nil
		}
		return err
	}
}

func middlewares[M adk.MessageType](ctx context.Context, p *plan, books *ledger) ([]adk.TypedChatModelAgentMiddleware[M], error) {
	search, err := toolsearch.NewTyped[M](ctx, &toolsearch.Config{
		DynamicTools: producers(p, books), Protocol: p.protocol, AllowUnloadedCalls: p.rng.IntN(2) == 0, OnEvent: p.watch(),
	})
	if err != nil {
		return nil, err
	}
	reduce, err := reduction.NewTyped[M](ctx, &reduction.TypedConfig[M]{
		Backend: p.store, ProvideReadTool: true, MaxLengthForTrunc: 6_000, MaxTokensForClear: 6_000,
		ClearTargetTokens: int64(p.rng.IntN(2)) * 3_000, OnEvent: p.watch(),
	})
	return []adk.TypedChatModelAgentMiddleware[M]{search, reduce}, err
}

// watchModel keeps what the model is sent, and tells which paths it is shown.
func watchModel[M adk.MessageType](p *plan, books *ledger, seen *auditor[M], respond func(int, adktest.Wire[M]) adktest.Turn) func(int, adktest.Wire[M]) adktest.Turn {
	return func(n int, w adktest.Wire[M]) adktest.Turn {
		seen.messages = w.Messages
		for _, m := range w.Messages {
			for _, r := range adktest.Results(m) {
				text, size, ours := books.lookup(r.ID)
				if path := storedPath.FindString(r.Args); p.claims != nil && ours && text != r.Args && path != "" {
					p.claims(claim{Path: path, Key: p.owner + "/" + r.ID, Size: size})
				}
			}
		}
		return respond(n, w)
	}
}

// script is a model that searches, calls tools, some at once, and ends.
func script[M adk.MessageType](p *plan, cancel func()) func(int, adktest.Wire[M]) adktest.Turn {
	return func(n int, w adktest.Wire[M]) adktest.Turn {
		if p.cancel && n == p.turns/2 {
			cancel()
		}
		if n >= p.turns {
			return adktest.Say("done")
		}
		if n%4 == 0 {
			return adktest.Do(search(p, n))
		}
		var calls []adktest.ToolCall
		for i := range 1 + p.rng.IntN(4) {
			calls = append(calls, produce(p, n, i))
		}
		if p.tenant != "" {
			calls = append(calls, spy(p, n))
		}
		return adktest.Do(calls...)
	}
}

func search(p *plan, n int) adktest.ToolCall {
	id := fmt.Sprintf("search:%d", n)
	switch p.protocol {
	case toolsearch.Regexp:
		return adktest.ToolCall{ID: id, Name: "tool_search", Args: `{"regex_pattern":"produce"}`}
	case toolsearch.SearchLoad:
		return adktest.ToolCall{ID: id, Name: "load_tool", Args: fmt.Sprintf(`{"tool_name":%q}`, name(p))}
	}
	return adktest.ToolCall{ID: id, Name: "tool_search", Args: `{"query":"long text","max_results":20}`}
}

func name(p *plan) string {
	forms := []string{"invokable", "streamable", "enhanced", "enhanced_streamable"}
	return fmt.Sprintf("%s__produce_%d", forms[p.rng.IntN(4)], p.rng.IntN(5))
}

// produce calls a tool. Ids repeat across runs, as they do with models that count.
func produce(p *plan, n, i int) adktest.ToolCall {
	o := order{
		Key: fmt.Sprintf("functions.produce:%d.%d", n, i), Size: 200 + p.rng.IntN(24_000),
		Source: source(p.rng.IntN(int(sources))), Chunk: 1 + p.rng.IntN(4_000),
		Dropped: p.fails || p.cancel,
	}
	if p.interrupt && o.Source == readNamed {
		o.Source = readMerged // Eino cannot save the ends of named sources in a checkpoint
	}
	if p.fails && n > p.turns/2 && p.rng.IntN(3) == 0 {
		o.Fails, o.At = true, p.rng.IntN(o.Size+1)
	}
	args, err := json.Marshal(o)
	if err != nil {
		panic(err)
	}
	if p.protocol == toolsearch.SearchCall {
		return adktest.ToolCall{ID: o.Key, Name: "call_tool", Args: fmt.Sprintf(`{"name":%q,"arguments":%s}`, name(p), args)}
	}
	return adktest.ToolCall{ID: o.Key, Name: name(p), Args: string(args)}
}

// spy reads a path at which another tenant may have something.
func spy(p *plan, n int) adktest.ToolCall {
	path := fmt.Sprintf("/tmp/%s/functions.produce:%d.0", []string{"trunc", "clear"}[p.rng.IntN(2)], 1+p.rng.IntN(3))
	return adktest.ToolCall{ID: fmt.Sprintf("read:%d", n), Name: "read_file", Args: fmt.Sprintf(`{"file_path":%q}`, path)}
}

// auditor keeps the messages that a model was sent last, or that a run ends with.
type auditor[M adk.MessageType] struct {
	*adk.TypedBaseChatModelAgentMiddleware[M]
	messages []M
}

// AfterAgent is called when a run has ended well.
func (a *auditor[M]) AfterAgent(ctx context.Context, state *adk.TypedChatModelAgentState[M]) (context.Context, error) {
	a.messages = state.Messages
	return ctx, nil
}

var (
	storedPath = regexp.MustCompile(`/tmp/(?:trunc|clear)/[^\s"<]+`)
	anyTenant  = regexp.MustCompile(`tenant-\d+`)
)

// check follows every result to the bytes that the tool returned.
func check[M adk.MessageType](ctx context.Context, p *plan, books *ledger, messages []M, out *outcome) {
	for _, m := range messages {
		for _, r := range adktest.Results(m) {
			for _, tenant := range anyTenant.FindAllString(r.Args, -1) {
				if tenant != p.tenant {
					out.problems = append(out.problems, fmt.Sprintf("%s reads what %s stored: %.200q", p.tenant, tenant, r.Args))
					break
				}
			}
			original, _, ours := books.lookup(r.ID)
			if !ours {
				continue
			}
			size := int64(len(original))
			switch found, err := follow(ctx, p, r.Args, original); {
			case found:
				out.checkedBytes += size
			case strings.Contains(r.Args, unsavedMark) || errors.Is(err, errUnsaved):
				out.unsavedBytes += size
			case p.cleaner != nil && (errors.Is(err, fs.ErrNotExist) || errors.Is(err, errShown)):
				out.deletedBytes += size
			default:
				out.lostBytes += size
				out.description = fmt.Sprintf("run %d (%s), result %s: %v; the model sees %.300q", p.n, p.kind, r.ID, err, r.Args)
			}
		}
	}
}

// unsaved is what a notice says of a stream whose middle a failing store did not take. What
// such a notice left of the stream may be cleared, and so stored, later.
const unsavedMark = "was not saved"

// errShown says that a cut result was cleared when its file had been deleted.
var errShown = errors.New("the stored text is what a model was shown")

var errUnsaved = errors.New("the stored text says that a part was not saved")

func follow(ctx context.Context, p *plan, shown, original string) (bool, error) {
	if shown == original {
		return true, nil
	}
	path := storedPath.FindString(shown)
	if path == "" {
		return false, errors.New("no path")
	}
	content, _, err := p.truth.ReadRange(ctx, path, 0, -1)
	if err != nil {
		return false, err
	}
	defer func() { _ = content.Close() }()
	data, err := io.ReadAll(content)
	if err == nil && strings.Contains(string(data), unsavedMark) {
		return false, errUnsaved
	}
	if p.cleaner != nil && storedPath.Match(data) {
		return false, errShown
	}
	if err == nil && string(data) != original {
		err = fmt.Errorf("%s holds %d other bytes", path, len(data))
	}
	return err == nil, err
}
