// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

// Package adktest runs real Eino agents with a scripted model, for tests: one script
// serves both message types, streaming or not, and every request is recorded.
package adktest

import (
	"cmp"
	"context"
	"sync"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/schema"
)

// ToolCall is one call that the model makes.
type ToolCall struct{ ID, Name, Args string }

// Turn is one answer of the model: text, tool calls, or both.
type Turn struct {
	Text  string
	Calls []ToolCall
	Err   error // returned instead of an answer
	Usage *schema.TokenUsage

	Breaks     error // the stream fails with it after BreakAfter chunks; an answer in one piece fails with it
	BreakAfter int
}

// Say is a turn of plain text, which ends a run.
func Say(text string) Turn { return Turn{Text: text} }

// Do is a turn of tool calls.
func Do(calls ...ToolCall) Turn { return Turn{Calls: calls} }

// Wire is one request as the model got it.
type Wire[M adk.MessageType] struct {
	Messages      []M
	Tools         []*schema.ToolInfo // model.WithTools
	Deferred      []*schema.ToolInfo // model.WithDeferredTools; nil when the option was not given
	ToolSearch    *schema.ToolInfo   // model.WithToolSearchTool
	ByStream      bool
	MessagesDump  []string // each message rendered when the request came
	ToolNames     []string
	DeferredNames []string
}

// Model is a chat model that answers by a function. It is safe for concurrent use
// if Respond is.
type Model[M adk.MessageType] struct {
	// Respond gives the answer to request n (from 0).
	Respond func(n int, w Wire[M]) Turn

	mu    sync.Mutex
	wires []Wire[M]
}

// Script is a model that answers with the turns in order, and says "done" after the last.
func Script[M adk.MessageType](turns ...Turn) *Model[M] {
	return &Model[M]{Respond: func(n int, _ Wire[M]) Turn {
		if n < len(turns) {
			return turns[n]
		}
		return Say("done")
	}}
}

// Wires returns the requests so far.
func (m *Model[M]) Wires() []Wire[M] {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]Wire[M](nil), m.wires...)
}

// Reset forgets the requests so far: the next one is request 0 again.
func (m *Model[M]) Reset() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.wires = nil
}

// Generate answers in one piece.
func (m *Model[M]) Generate(_ context.Context, input []M, opts ...model.Option) (M, error) {
	return Whole[M](m.answer(input, false, opts))
}

// Stream answers in chunks.
func (m *Model[M]) Stream(_ context.Context, input []M, opts ...model.Option) (*schema.StreamReader[M], error) {
	return InChunks[M](m.answer(input, true, opts))
}

// Whole is a turn in one piece.
func Whole[M adk.MessageType](t Turn) (M, error) {
	if err := cmp.Or(t.Err, t.Breaks); err != nil {
		return *new(M), err
	}
	message := Assistant[M](t.Text, t.Calls...)
	if t.Usage != nil {
		codecFor[M]().report(message, t.Usage)
	}
	return message, nil
}

// InChunks is a turn as a stream: its text in two chunks.
func InChunks[M adk.MessageType](t Turn) (*schema.StreamReader[M], error) {
	if t.Err != nil {
		return nil, t.Err
	}
	c := codecFor[M]()
	chunks := c.chunks(t)
	if t.Usage != nil {
		c.report(chunks[len(chunks)-1], t.Usage)
	}
	if t.Breaks != nil {
		return Broken(chunks[:min(t.BreakAfter, len(chunks))], t.Breaks), nil
	}
	return schema.StreamReaderFromArray(chunks), nil
}

// Broken is a stream that ends with err after the chunks.
func Broken[M adk.MessageType](chunks []M, err error) *schema.StreamReader[M] {
	r, w := schema.Pipe[M](len(chunks) + 1)
	for _, c := range chunks {
		w.Send(c, nil)
	}
	w.Send(*new(M), err)
	w.Close()
	return r
}

func (m *Model[M]) answer(input []M, stream bool, opts []model.Option) Turn {
	o := model.GetCommonOptions(&model.Options{}, opts...)
	w := Wire[M]{
		Messages: append([]M(nil), input...), Tools: o.Tools, Deferred: o.DeferredTools,
		ToolSearch: o.ToolSearchTool, ByStream: stream,
		ToolNames: Names(o.Tools), DeferredNames: Names(o.DeferredTools),
	}
	for _, msg := range input {
		w.MessagesDump = append(w.MessagesDump, Dump(msg))
	}
	m.mu.Lock()
	n := len(m.wires)
	m.wires = append(m.wires, w)
	m.mu.Unlock()
	return m.Respond(n, w)
}

// Names lists the names of tools, in order.
func Names(infos []*schema.ToolInfo) []string {
	names := make([]string, 0, len(infos))
	for _, i := range infos {
		names = append(names, i.Name)
	}
	return names
}
