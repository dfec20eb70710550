// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package main

// This file runs one agent and checks that nothing was lost.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"sync"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"

	"github.com/leanctx/leanctx/internal/adktest"
	"github.com/leanctx/leanctx/reduction"
	"github.com/leanctx/leanctx/toolsearch"
)

// ledger remembers what the tools returned, by call id.
type ledger struct {
	mu       sync.Mutex
	returned map[string]string
	stopped  bool
}

func (l *ledger) note(id, text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.returned[id] = text
}

func (l *ledger) stopOnce() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	first := !l.stopped
	l.stopped = true
	return first
}

func trial[M adk.MessageType](ctx context.Context, p *plan) outcome {
	out := outcome{kind: p.kind, expected: p.cancel}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	books := &ledger{returned: map[string]string{}}
	final := &auditor[M]{}
	handlers, err := middlewares[M](ctx, p, books)
	if err != nil {
		out.err = err
		return out
	}
	model := &adktest.Model[M]{Respond: script[M](p, cancel)}
	a := adktest.Agent[M]{Model: model, Handlers: append(handlers, final), Streaming: p.streaming, Store: &adktest.Store{}, Max: 40}
	runner, err := a.Runner(ctx)
	if err != nil {
		out.err = err
		return out
	}
	const id = "checkpoint"
	got := adktest.Collect(runner.Run(ctx, []M{adktest.User[M]("work")}, adk.WithCheckPointID(id)))
	for got.Err == nil && got.Interrupted != nil {
		out.resumed = true
		events, err := runner.Resume(ctx, id)
		if err != nil {
			out.err = err
			return out
		}
		got = adktest.Collect(events)
	}
	out.err = got.Err
	if got.Err == nil {
		check(ctx, p, books, final.messages, &out)
	}
	return out
}

func middlewares[M adk.MessageType](ctx context.Context, p *plan, books *ledger) ([]adk.TypedChatModelAgentMiddleware[M], error) {
	search, err := toolsearch.NewTyped[M](ctx, &toolsearch.Config{
		DynamicTools: tools(p, books), Protocol: p.protocol, AllowUnloadedCalls: p.rng.IntN(2) == 0,
	})
	if err != nil {
		return nil, err
	}
	reduce, err := reduction.NewTyped[M](ctx, &reduction.TypedConfig[M]{
		Backend: p.store, ProvideReadTool: true, MaxLengthForTrunc: 6_000, MaxTokensForClear: 6_000,
		ClearTargetTokens: int64(p.rng.IntN(2)) * 3_000,
	})
	return []adk.TypedChatModelAgentMiddleware[M]{search, reduce}, err
}

// tools are five of each form; each returns a content that its arguments choose.
func tools(p *plan, books *ledger) (all []tool.BaseTool) {
	for name, form := range adktest.Forms {
		name = strings.ReplaceAll(name, " ", "_")
		for i := range 5 {
			info := &schema.ToolInfo{Name: fmt.Sprintf("%s__produce_%d", name, i), Desc: "produces a long text"}
			all = append(all, adktest.Tool(form, info, func(ctx context.Context, args string) (string, error) {
				if p.interrupt && books.stopOnce() {
					return "", tool.Interrupt(ctx, "wait")
				}
				var key string
				var size int
				if _, err := fmt.Sscanf(args, `{"key":%q,"size":%d}`, &key, &size); err != nil {
					return "", fmt.Errorf("arguments %q: %w", args, err)
				}
				text := content(key, size)
				books.note(key, text)
				return text, nil
			}))
		}
	}
	return all
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
	key := fmt.Sprintf("functions.produce:%d.%d", n, i)
	args := fmt.Sprintf(`{"key":%q,"size":%d}`, key, 200+p.rng.IntN(24_000))
	if p.protocol == toolsearch.SearchCall {
		return adktest.ToolCall{ID: key, Name: "call_tool", Args: fmt.Sprintf(`{"name":%q,"arguments":%s}`, name(p), args)}
	}
	return adktest.ToolCall{ID: key, Name: name(p), Args: args}
}

// auditor keeps the messages that a run ends with.
type auditor[M adk.MessageType] struct {
	*adk.TypedBaseChatModelAgentMiddleware[M]
	messages []M
}

// AfterAgent is called when a run has ended well.
func (a *auditor[M]) AfterAgent(ctx context.Context, state *adk.TypedChatModelAgentState[M]) (context.Context, error) {
	a.messages = state.Messages
	return ctx, nil
}

var storedPath = regexp.MustCompile(`/tmp/(?:trunc|clear)/[^\s"<]+`)

// check follows every result to the bytes that the tool returned.
func check[M adk.MessageType](ctx context.Context, p *plan, books *ledger, messages []M, out *outcome) {
	for _, m := range messages {
		for _, r := range adktest.Results(m) {
			original, ours := books.returned[r.ID]
			if !ours {
				continue
			}
			size := int64(len(original))
			switch found, err := follow(ctx, p, r.Args, original); {
			case found:
				out.checked += size
			case strings.Contains(r.Args, unsaved) || errors.Is(err, errUnsaved):
				out.unsaved += size
			default:
				out.lost += size
				out.what = fmt.Sprintf("run %d (%s), result %s: %v; the model sees %.300q", p.n, p.kind, r.ID, err, r.Args)
			}
		}
	}
}

// unsaved is what a notice says of a stream whose middle a failing store did not take. What
// such a notice left of the stream may be cleared, and so stored, later.
const unsaved = "was not saved"

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
	if err == nil && strings.Contains(string(data), unsaved) {
		return false, errUnsaved
	}
	if err == nil && string(data) != original {
		err = fmt.Errorf("%s holds %d other bytes", path, len(data))
	}
	return err == nil, err
}
