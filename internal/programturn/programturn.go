// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

// Package programturn connects the handlers of this module in program turns. While a program runs,
// the agent takes turns without a model call, which package programs answers. In such a turn,
// handlers skip what they do for a model call.
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

// failedKey is the prefix of run-local keys; the id of a call follows.
const failedKey = "__einolean_failed__"

// Programs are the programs of one run. Package programs implements it.
type Programs interface {
	// InProgramTurn reports whether the current turn is a program turn. It lasts from the hook
	// before its model call to the end of its calls.
	InProgramTurn() bool
	// IsProgramCall reports whether a program made a call. No model reads its result.
	IsProgramCall(ctx context.Context, callID string) bool
}

// Tools are the hidden tools of one run. Package toolsearch implements it.
type Tools interface {
	// Resolve finds a hidden tool by its name as a model writes it. The result is false for any
	// other tool, and for a tool that the run may not see.
	Resolve(ctx context.Context, written string) (Tool, bool)
	// ReportDenied reports the call of a program for which Resolve found no tool, if a Filter denies the tool.
	ReportDenied(ctx context.Context, callID, written string)
	// Suggest returns the signatures of tools with a similar name.
	Suggest(ctx context.Context, written string) []string
	// Check validates the arguments of a tool. It returns the problem, "" if there is none, and
	// the tool's signature.
	Check(name, arguments string) (problem, signature string)
	// MaxParallelTools is how many different hidden tools programs may call in one turn.
	MaxParallelTools() int
}

// Tool is a hidden tool. If Refusal is not empty, programs may not call it.
type Tool struct {
	Info    *schema.ToolInfo
	Refusal string
}

// Results reads stored tool results. Package reduction implements it.
type Results interface {
	// ReadStored returns the content of a path from a notice.
	ReadStored(ctx context.Context, path string) (string, error)
}

// agentValue is a value for one agent. Agents that it runs as tools do not get it.
type agentValue[T any] struct {
	value T
	agent string
}

// agentOf returns the names of the agent of a context and of the agents that run it.
func agentOf(ctx context.Context) (name string) {
	for _, segment := range compose.GetCurrentAddress(ctx) {
		if segment.Type == adk.AddressSegmentAgent {
			name += segment.ID + "\n"
		}
	}
	return name
}

func withValue[T any](ctx context.Context, key any, value T) context.Context {
	return context.WithValue(ctx, key, agentValue[T]{value, agentOf(ctx)})
}

func valueOf[T any](ctx context.Context, key any) (value T) {
	if v, ok := ctx.Value(key).(agentValue[T]); ok && v.agent == agentOf(ctx) {
		return v.value
	}
	return value
}

// WithPrograms returns a context with the programs of an agent's run.
func WithPrograms(ctx context.Context, p Programs) context.Context {
	return withValue(ctx, programsKey{}, p)
}

// ProgramsOf returns the programs of a run, or nil.
func ProgramsOf(ctx context.Context) Programs { return valueOf[Programs](ctx, programsKey{}) }

// WithTools returns a context with the hidden tools of an agent's run.
func WithTools(ctx context.Context, t Tools) context.Context { return withValue(ctx, toolsKey{}, t) }

// ToolsOf returns the hidden tools of a run, or nil.
func ToolsOf(ctx context.Context) Tools { return valueOf[Tools](ctx, toolsKey{}) }

// WithResults returns a context with the reader of stored results of an agent's run.
func WithResults(ctx context.Context, r Results) context.Context {
	return withValue(ctx, resultsKey{}, r)
}

// ResultsOf returns the reader of stored results of a run, or nil.
func ResultsOf(ctx context.Context) Results { return valueOf[Results](ctx, resultsKey{}) }

// WithWatcher returns a context in which w gets the event of each program that ends, independent of
// OnEvent. Requests do not show what programs read.
func WithWatcher(ctx context.Context, w func(context.Context, einolean.Event)) context.Context {
	before := watcherOf(ctx)
	return withValue(ctx, watcherKey{}, func(ctx context.Context, e einolean.Event) {
		if w(ctx, e); before != nil {
			before(ctx, e)
		}
	})
}

func watcherOf(ctx context.Context) func(context.Context, einolean.Event) {
	return valueOf[func(context.Context, einolean.Event)](ctx, watcherKey{})
}

// NotifyEnded sends the event of a program that ended to the watchers.
func NotifyEnded(ctx context.Context, e einolean.Event) {
	if w := watcherOf(ctx); w != nil {
		w(ctx, e)
	}
}

// InProgramTurn reports whether the current turn is a program turn, without a model call.
func InProgramTurn(ctx context.Context) bool {
	p := ProgramsOf(ctx)
	return p != nil && p.InProgramTurn()
}

// IsProgramCall reports whether a program made a call.
func IsProgramCall(ctx context.Context, callID string) bool {
	p := ProgramsOf(ctx)
	return p != nil && p.IsProgramCall(ctx, callID)
}

// Fail marks a call that was answered without running its tool: in a program, its promise is
// rejected. The mark is a run-local value, so it survives a resume. Without programs, Fail does
// nothing.
func Fail(ctx context.Context, callID string) {
	if ProgramsOf(ctx) != nil && callID != "" {
		_ = adk.SetRunLocalValue(ctx, failedKey+callID, true)
	}
}

// TakeFailed reports whether a call is marked, and removes the mark.
func TakeFailed(ctx context.Context, callID string) bool {
	v, ok, err := adk.GetRunLocalValue(ctx, failedKey+callID)
	if err != nil || !ok {
		return false
	}
	_ = adk.DeleteRunLocalValue(ctx, failedKey+callID)
	failed, _ := v.(bool)
	return failed
}
