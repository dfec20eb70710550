// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

// Package programs lets a model write short programs that call the agent's tools: the tool run_code.
// One program makes many calls without a model call, and the model reads only what it prints.
//
// The calls of a program are ordinary calls of the agent, under the tools' own names. Approvals,
// other handlers, callbacks, limits and checkpoints apply to them as to the model's own calls. An
// interrupted program is resumed where it stopped.
//
// When a program waits for calls, the agent takes a program turn: all hooks run, and the answer of
// the "model" is those calls. The end of a program is a program turn as well, with a call of
// program_output, whose result is what the program printed. In the next request to a model, that
// is the result of run_code, and the calls of the program are removed.
//
// Put the handler first into Handlers, before toolsearch and reduction. It works without them; with
// toolsearch, programs call hidden tools as well, and searches answer with signatures.
package programs

import (
	"context"
	"errors"
	"fmt"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean/internal/einorun"
	"github.com/einolean/einolean/internal/programturn"
	"github.com/einolean/einolean/internal/safe"
	"github.com/einolean/einolean/internal/toolnames"
)

// New returns the handler for agents on *schema.Message. See NewTyped.
func New(ctx context.Context, config *Config) (adk.ChatModelAgentMiddleware, error) {
	return NewTyped[*schema.Message](ctx, config)
}

// NewTyped returns the handler for agents on either message type. Put it first into Handlers of the
// agent's configuration: a run with toolsearch or reduction before it ends at its start with an
// error. One instance serves any number of agents and concurrent runs. The error names every
// mistake in config at once.
func NewTyped[M adk.MessageType](_ context.Context, config *Config) (adk.TypedChatModelAgentMiddleware[M], error) {
	if config == nil {
		return nil, fieldError("", errors.New("the configuration is nil: pass a &programs.Config{Interpreter: ...}"))
	}
	c := *config
	if err := c.check(); err != nil {
		return nil, err
	}
	return einorun.New(&handler[M]{config: &c}), nil
}

// handler is safe for concurrent use. The state of a run is in its context.
type handler[M adk.MessageType] struct {
	*adk.TypedBaseChatModelAgentMiddleware[M]
	config *Config
}

// Begin adds run_code and program_output to the tools of the run.
func (h *handler[M]) Begin(ctx context.Context, rc *einorun.RunContext) (context.Context, error) {
	if rc == nil {
		return ctx, nil
	}
	if err := checkHandlerOrder(ctx); err != nil {
		return ctx, err
	}
	if rc.ReturnDirectly[toolnames.Run] {
		return ctx, fieldError("", fmt.Errorf("%s is in ReturnDirectly: its first result only says that the program runs; take it out", toolnames.Run))
	}
	for _, t := range rc.Tools {
		if info, err := safe.Value("Info", func() (*schema.ToolInfo, error) { return t.Info(ctx) }); err == nil && info != nil && isProgramTool(info.Name) {
			return ctx, nameTakenError(info.Name)
		}
	}
	r := newRun[M](h.config, rc.ReturnDirectly)
	rc.Tools = append(rc.Tools[:len(rc.Tools):len(rc.Tools)], programTool{runCodeInfo(promptData{}), r.start}, programTool{outputInfo(), r.output})
	return programturn.WithPrograms(ctx, r), nil
}

// checkHandlerOrder returns an error if a handler of this module stands before this one, or twice
// in the agent.
func checkHandlerOrder(ctx context.Context) error {
	switch {
	case programturn.ProgramsOf(ctx) != nil:
		return fieldError("", errors.New("the agent has two handlers of programs: leave one of them out"))
	case programturn.ToolsOf(ctx) != nil:
		return fieldError("", errors.New("put programs.New before toolsearch.New in Handlers"))
	case programturn.ResultsOf(ctx) != nil:
		return fieldError("", errors.New("put programs.New before reduction.New in Handlers"))
	}
	return nil
}

// runFrom returns the run of a context, or nil.
func runFrom[M adk.MessageType](ctx context.Context) *agentRun[M] {
	r, _ := programturn.ProgramsOf(ctx).(*agentRun[M])
	return r
}

// BeforeModelRewriteState resumes the programs with the results of their calls.
func (h *handler[M]) BeforeModelRewriteState(ctx context.Context, state *adk.TypedChatModelAgentState[M], _ *adk.TypedModelContext[M]) (context.Context, *adk.TypedChatModelAgentState[M], error) {
	r := runFrom[M](ctx)
	if r == nil || state == nil {
		return ctx, state, nil
	}
	next := *state
	var err error
	if next.ToolInfos, err = r.visibleTools(ctx, state.ToolInfos); err != nil {
		return ctx, state, err
	}
	if next.Messages, err = r.advanceAll(ctx, state.Messages); err != nil {
		return ctx, state, err
	}
	return ctx, &next, nil
}

// WrapModel replaces the model in a program turn, together with the wrappers of other handlers.
func (h *handler[M]) WrapModel(ctx context.Context, m model.BaseModel[M], _ *adk.TypedModelContext[M]) (model.BaseModel[M], error) {
	if r := runFrom[M](ctx); r != nil && r.InProgramTurn() {
		return programTurnModel[M]{r.turnAnswer}, nil
	}
	return m, nil
}

// programTurnModel is the model of a program turn. It returns a fixed answer.
type programTurnModel[M adk.MessageType] struct{ answer M }

func (a programTurnModel[M]) Generate(context.Context, []M, ...model.Option) (M, error) {
	return a.answer, nil
}

func (a programTurnModel[M]) Stream(context.Context, []M, ...model.Option) (*schema.StreamReader[M], error) {
	return schema.StreamReaderFromArray([]M{a.answer}), nil
}

// AfterModelRewriteState counts the turn and makes ids of calls unique.
func (h *handler[M]) AfterModelRewriteState(ctx context.Context, state *adk.TypedChatModelAgentState[M], _ *adk.TypedModelContext[M]) (context.Context, *adk.TypedChatModelAgentState[M], error) {
	r := runFrom[M](ctx)
	if r == nil || state == nil || len(state.Messages) == 0 {
		return ctx, state, nil
	}
	msgs, err := r.afterModel(ctx, state.Messages)
	if err != nil {
		return ctx, state, err
	}
	next := *state
	next.Messages = msgs
	return ctx, &next, nil
}
