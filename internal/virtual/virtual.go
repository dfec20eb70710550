// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

// Package virtual is what the handlers of this module tell each other about programs. While a
// program runs, the agent takes turns in which no model is asked: package toolsearch answers them.
// Nothing that a handler does for a model call is due in such a turn.
package virtual

import (
	"context"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/compose"
)

type (
	turnsKey   struct{}
	resultsKey struct{}
)

// failedKey is followed by the id of a call in the run-local values.
const failedKey = "__einolean_failed__"

// Turns runs the programs of one run.
type Turns[M adk.MessageType] interface {
	// Settle returns the conversation without the calls of programs, and whether a program goes
	// on: then this turn is a virtual one. Asking again gives the same.
	Settle(ctx context.Context, msgs []M) (next []M, virtual bool, err error)
	// Inner reports whether a call is one that a program makes. No model reads its result.
	Inner(ctx context.Context, callID string) bool
	// Now reports whether the model call that begins is a virtual one.
	Now() bool
}

// Results finds what reduction has taken out of the conversation.
type Results interface {
	// Stored returns the content of a path that a notice named.
	Stored(ctx context.Context, path string) (string, error)
}

// ofAgent is what belongs to one agent. An agent that it runs as a tool has none of it.
type ofAgent struct {
	turns any
	agent string
}

// WithTurns gives a run its programs.
func WithTurns[M adk.MessageType](ctx context.Context, t Turns[M]) context.Context {
	return context.WithValue(ctx, turnsKey{}, ofAgent{t, agentOf(ctx)})
}

// agentOf names the agent of a context, with those that run it.
func agentOf(ctx context.Context) (name string) {
	for _, segment := range compose.GetCurrentAddress(ctx) {
		if segment.Type == adk.AddressSegmentAgent {
			name += segment.ID + "\n"
		}
	}
	return name
}

// turns are the programs of the agent of a context, of type T.
func turns[T any](ctx context.Context) (t T, ok bool) {
	own, ok := ctx.Value(turnsKey{}).(ofAgent)
	if !ok || own.agent != agentOf(ctx) {
		return t, false
	}
	t, ok = own.turns.(T)
	return t, ok
}

// Settle settles the programs of a run before a model call, if it has any. Every handler that does
// something for a model call asks first, and goes on with the messages it gets.
func Settle[M adk.MessageType](ctx context.Context, msgs []M) (next []M, isVirtual bool, err error) {
	if t, ok := turns[Turns[M]](ctx); ok {
		return t.Settle(ctx, msgs)
	}
	return msgs, false, nil
}

// Now reports whether the model call that begins is a virtual one: no model is asked.
func Now(ctx context.Context) bool {
	t, ok := turns[interface{ Now() bool }](ctx)
	return ok && t.Now()
}

// Inner reports whether a call is one that a program makes.
func Inner(ctx context.Context, callID string) bool {
	t, ok := turns[interface {
		Inner(context.Context, string) bool
	}](ctx)
	return ok && t.Inner(ctx, callID)
}

// WithResults gives a run what finds stored results.
func WithResults(ctx context.Context, r Results) context.Context {
	return context.WithValue(ctx, resultsKey{}, r)
}

// ResultsOf returns it, nil if there is none.
func ResultsOf(ctx context.Context) Results {
	r, _ := ctx.Value(resultsKey{}).(Results)
	return r
}

// Fail marks a call that something answered in its tool's place: in a program its promise is
// rejected. The mark is kept with the run, so it holds after a resume as well. Without programs
// it does nothing.
func Fail(ctx context.Context, callID string) {
	if _, ok := turns[any](ctx); ok && callID != "" {
		_ = adk.SetRunLocalValue(ctx, failedKey+callID, true)
	}
}

// Failed reports whether a call is marked, and takes the mark off.
func Failed(ctx context.Context, callID string) bool {
	v, ok, err := adk.GetRunLocalValue(ctx, failedKey+callID)
	if err != nil || !ok {
		return false
	}
	_ = adk.DeleteRunLocalValue(ctx, failedKey+callID)
	failed, _ := v.(bool)
	return failed
}
