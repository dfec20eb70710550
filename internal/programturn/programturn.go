// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

// Package programturn is what the handlers of this module tell each other about programs. While a
// program runs, the agent takes turns in which no model is asked: package programs answers them.
// Nothing that a handler does for a model call is due in such a turn.
package programturn

import (
	"context"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean"
)

type (
	programsKey struct{}
	toolsKey    struct{}
	resultsKey  struct{}
	watcherKey  struct{}
)

// failedKey is followed by the id of a call in the run-local values.
const failedKey = "__einolean_failed__"

// Programs are those of one run, by package programs.
type Programs interface {
	// Now reports whether the turn under way is a virtual one, from the hook before its model call
	// to the end of its calls.
	Now() bool
	// Inner reports whether a call is one that a program makes. No model reads its result.
	Inner(ctx context.Context, callID string) bool
}

// Tools are those that the agent's list does not show, by package toolsearch.
type Tools interface {
	// Resolve finds a tool by its name as a model writes it. It is false for any other tool, and
	// for one that the caller may not know of.
	Resolve(ctx context.Context, written string) (Tool, bool)
	// Near are the signatures of tools that a wrong name may have meant.
	Suggest(ctx context.Context, written string) []string
	// Check is what is wrong with arguments of a tool, "" if nothing is, and its signature.
	Check(name, arguments string) (problem, signature string)
	// Most is how many different tools may be called at once.
	Most() int
}

// Tool is a tool that programs may call, unless there is a refusal.
type Tool struct {
	Info    *schema.ToolInfo
	Refusal string
}

// Results finds what reduction has taken out of the conversation.
type Results interface {
	// Stored returns the content of a path that a notice named.
	Stored(ctx context.Context, path string) (string, error)
}

// ofAgent is what belongs to one agent. An agent that it runs as a tool has none of it.
type ofAgent[T any] struct {
	value T
	agent string
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

func with[T any](ctx context.Context, key any, value T) context.Context {
	return context.WithValue(ctx, key, ofAgent[T]{value, agentOf(ctx)})
}

func of[T any](ctx context.Context, key any) (value T) {
	if own, ok := ctx.Value(key).(ofAgent[T]); ok && own.agent == agentOf(ctx) {
		return own.value
	}
	return value
}

// WithPrograms gives the run of an agent its programs.
func WithPrograms(ctx context.Context, p Programs) context.Context {
	return with(ctx, programsKey{}, p)
}

// ProgramsOf returns them; nil if there are none.
func ProgramsOf(ctx context.Context) Programs { return of[Programs](ctx, programsKey{}) }

// WithTools gives the run of an agent its hidden tools.
func WithTools(ctx context.Context, t Tools) context.Context { return with(ctx, toolsKey{}, t) }

// ToolsOf returns them; nil if there are none.
func ToolsOf(ctx context.Context) Tools { return of[Tools](ctx, toolsKey{}) }

// WithResults gives the run of an agent what finds stored results.
func WithResults(ctx context.Context, r Results) context.Context { return with(ctx, resultsKey{}, r) }

// ResultsOf returns it; nil if there is none.
func ResultsOf(ctx context.Context) Results { return of[Results](ctx, resultsKey{}) }

// WithWatcher has w told of each program of an agent that ended, whatever its OnEvent is: nothing
// of what a program read is in a request.
func WithWatcher(ctx context.Context, w func(context.Context, einolean.Event)) context.Context {
	before := watcherOf(ctx)
	return with(ctx, watcherKey{}, func(ctx context.Context, e einolean.Event) {
		if w(ctx, e); before != nil {
			before(ctx, e)
		}
	})
}

func watcherOf(ctx context.Context) func(context.Context, einolean.Event) {
	return of[func(context.Context, einolean.Event)](ctx, watcherKey{})
}

// Ended tells the watchers of a program that ended.
func Ended(ctx context.Context, e einolean.Event) {
	if w := watcherOf(ctx); w != nil {
		w(ctx, e)
	}
}

// Now reports whether the turn under way is a virtual one: no model is asked.
func InProgramTurn(ctx context.Context) bool {
	p := ProgramsOf(ctx)
	return p != nil && p.Now()
}

// Inner reports whether a call is one that a program makes.
func IsProgramCall(ctx context.Context, callID string) bool {
	p := ProgramsOf(ctx)
	return p != nil && p.Inner(ctx, callID)
}

// Fail marks a call that something answered in its tool's place: in a program its promise is
// rejected. The mark is kept with the run, so it holds after a resume as well. Without programs
// it does nothing.
func Fail(ctx context.Context, callID string) {
	if ProgramsOf(ctx) != nil && callID != "" {
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
