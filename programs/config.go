// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package programs

// The configuration, and what is wrong with it.

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean"
	"github.com/einolean/einolean/internal/programturn"
	"github.com/einolean/einolean/internal/safe"
)

// Config configures the handler.
type Config struct {
	// Interpreter runs the programs, such as javascript.New of the module programs/javascript. If
	// it has a method Check() error, its error is New's. Required.
	Interpreter Interpreter

	// Allow says which tools programs may call; the others only the model can call. It is asked
	// for each call. A panic means no. If nil, programs may call every tool but those that search,
	// that end or hand over the agent, or whose result ends the run.
	Allow func(*schema.ToolInfo) bool

	// MaxIterations is the agent's own MaxIterations, which a handler cannot read: a program that
	// would use up the last of them ends with an answer instead. Each time a program waits, one is
	// used up, and one or two at its end. If zero, defaults to 20, as in Eino.
	MaxIterations int

	// OnEvent receives an einolean.KindProgramEnded for each program. It is called synchronously,
	// and by several goroutines at once. If nil, nothing is reported.
	OnEvent func(context.Context, einolean.Event)
}

func wrong(field string, err error) error {
	return &einolean.FieldError{Package: "programs", Field: field, Err: err}
}

func (s *Config) check() error {
	var all []error
	if safe.IsNil(s.Interpreter) {
		all = append(all, wrong("Interpreter", errors.New("it is nil: set it to javascript.New(javascript.Limits{}) of the module programs/javascript")))
	} else if in, ok := s.Interpreter.(interface{ Check() error }); ok {
		if err := safe.Call("Check", in.Check); err != nil {
			all = append(all, wrong("Interpreter", err))
		}
	}
	if s.MaxIterations < 0 {
		all = append(all, wrong("MaxIterations", fmt.Errorf("%d is negative", s.MaxIterations)))
	}
	return errors.Join(all...)
}

// allows reports whether programs may call a tool.
func (s *Config) allows(info *schema.ToolInfo) bool {
	if s.Allow == nil {
		return true
	}
	ok, err := safe.Value("Allow", func() (bool, error) { return s.Allow(info), nil })
	return ok && err == nil
}

func (s *Config) maxTurns() int {
	const einos = 20
	if s.MaxIterations > 0 {
		return s.MaxIterations
	}
	return einos
}

func (s *Config) emit(ctx context.Context, ev einolean.Event) {
	ev.Time = time.Now()
	programturn.Ended(ctx, ev)
	if s.OnEvent == nil {
		return
	}
	_ = safe.Call("OnEvent", func() error { s.OnEvent(ctx, ev); return nil })
}

func taken(name string) error {
	return wrong("", fmt.Errorf("another tool of the agent is named %s: give it another name", name))
}
