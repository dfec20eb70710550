// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

// Package programs lets a model write short programs that call the agent's tools: the tool run_code.
// One program makes many calls while no model is asked, and the model reads only what it prints.
//
// The calls of a program are ordinary calls of the agent, under the tools' own names: approvals,
// other handlers, callbacks, limits and checkpoints apply to them as to the model's own calls, and
// an interrupted program goes on where it was. Whenever a program waits for calls, the agent takes
// a virtual turn: all hooks run, and the answer of the "model" is those calls. The end of a program
// is such a turn as well, with a call of program_output, whose result is what the program printed.
// In the next request to a model that is the result of run_code, and nothing of the calls is left.
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
		return nil, wrong("", errors.New("the configuration is nil: pass a &programs.Config{Interpreter: ...}"))
	}
	own := *config
	if err := own.check(); err != nil {
		return nil, err
	}
	return einorun.New(&handler[M]{config: &own}), nil
}

// handler is safe for concurrent use: the state of a run is in its context.
type handler[M adk.MessageType] struct {
	*adk.TypedBaseChatModelAgentMiddleware[M]
	config *Config
}

// Begin adds the tools.
func (h *handler[M]) Begin(ctx context.Context, rc *einorun.RunContext) (context.Context, error) {
	if rc == nil {
		return ctx, nil
	}
	if err := misplaced(ctx); err != nil {
		return ctx, err
	}
	if rc.ReturnDirectly[toolnames.Run] {
		return ctx, wrong("", fmt.Errorf("%s is in ReturnDirectly: its first result only says that the program runs; take it out", toolnames.Run))
	}
	for _, t := range rc.Tools {
		if info, err := safe.Value("Info", func() (*schema.ToolInfo, error) { return t.Info(ctx) }); err == nil && info != nil && isOurs(info.Name) {
			return ctx, taken(info.Name)
		}
	}
	r := newRun[M](h.config, rc.ReturnDirectly)
	rc.Tools = append(rc.Tools[:len(rc.Tools):len(rc.Tools)], ourTool{codeInfo(data{}), r.start}, ourTool{outputInfo(), r.output})
	return programturn.WithPrograms(ctx, r), nil
}

// misplaced is what is wrong with the order of the agent's handlers so far.
func misplaced(ctx context.Context) error {
	switch {
	case programturn.ProgramsOf(ctx) != nil:
		return wrong("", errors.New("the agent has two handlers of programs: leave one of them out"))
	case programturn.ToolsOf(ctx) != nil:
		return wrong("", errors.New("put programs.New before toolsearch.New in Handlers"))
	case programturn.ResultsOf(ctx) != nil:
		return wrong("", errors.New("put programs.New before reduction.New in Handlers"))
	}
	return nil
}

func runOf[M adk.MessageType](ctx context.Context) *run[M] {
	r, _ := programturn.ProgramsOf(ctx).(*run[M])
	return r
}

// BeforeModelRewriteState goes on with the programs whose calls have been answered.
func (h *handler[M]) BeforeModelRewriteState(ctx context.Context, state *adk.TypedChatModelAgentState[M], _ *adk.TypedModelContext[M]) (context.Context, *adk.TypedChatModelAgentState[M], error) {
	r := runOf[M](ctx)
	if r == nil || state == nil {
		return ctx, state, nil
	}
	next := *state
	var err error
	if next.ToolInfos, err = r.show(ctx, state.ToolInfos); err != nil {
		return ctx, state, err
	}
	if next.Messages, err = r.advanceAll(ctx, state.Messages); err != nil {
		return ctx, state, err
	}
	return ctx, &next, nil
}

// WrapModel answers a virtual turn, in the place of the model and of all that other handlers put
// around it.
func (h *handler[M]) WrapModel(ctx context.Context, m model.BaseModel[M], _ *adk.TypedModelContext[M]) (model.BaseModel[M], error) {
	if r := runOf[M](ctx); r != nil && r.Now() {
		return answering[M]{r.pending}, nil
	}
	return m, nil
}

// answering is the model of a virtual turn: no model is asked.
type answering[M adk.MessageType] struct{ answer M }

func (a answering[M]) Generate(context.Context, []M, ...model.Option) (M, error) {
	return a.answer, nil
}

func (a answering[M]) Stream(context.Context, []M, ...model.Option) (*schema.StreamReader[M], error) {
	return schema.StreamReaderFromArray([]M{a.answer}), nil
}

// AfterModelRewriteState counts the turn, and tells the calls of a model apart.
func (h *handler[M]) AfterModelRewriteState(ctx context.Context, state *adk.TypedChatModelAgentState[M], _ *adk.TypedModelContext[M]) (context.Context, *adk.TypedChatModelAgentState[M], error) {
	r := runOf[M](ctx)
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
