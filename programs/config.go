// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package programs

// The configuration and its checks.

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

	// Allow reports whether programs may call a tool. It can only restrict further: search tools,
	// transfer and exit tools, and tools in ReturnDirectly are always rejected. It is called for each
	// call and must be safe for concurrent use. A panic means no. If nil, all other tools are allowed.
	Allow func(*schema.ToolInfo) bool

	// MaxIterations is the agent's own MaxIterations, which a handler cannot read: a program that
	// would use up the last of them ends with an answer instead. Each time a program waits, one is
	// used up, and one or two at its end. If zero, defaults to 20, as in Eino.
	MaxIterations int

	// OnEvent receives an einolean.KindProgramEnded for each program. It is called synchronously,
	// and by several goroutines at once. If nil, nothing is reported.
	OnEvent func(context.Context, einolean.Event)
}

// fieldError returns the error for a field of Config; "" is the whole configuration.
func fieldError(field string, err error) error {
	return &einolean.FieldError{Package: "programs", Field: field, Err: err}
}

// check returns all mistakes of the configuration.
func (c *Config) check() error {
	var problems []error
	if safe.IsNil(c.Interpreter) {
		problems = append(problems, fieldError("Interpreter", errors.New("it is nil: set it to javascript.New(javascript.Limits{}) of the module programs/javascript")))
	} else if checker, ok := c.Interpreter.(interface{ Check() error }); ok {
		if err := safe.Call("Check", checker.Check); err != nil {
			problems = append(problems, fieldError("Interpreter", err))
		}
	}
	if c.MaxIterations < 0 {
		problems = append(problems, fieldError("MaxIterations", fmt.Errorf("%d is negative", c.MaxIterations)))
	}
	return errors.Join(problems...)
}

// allows reports whether programs may call a tool.
func (c *Config) allows(info *schema.ToolInfo) bool {
	if c.Allow == nil {
		return true
	}
	ok, err := safe.Value("Allow", func() (bool, error) { return c.Allow(info), nil })
	return ok && err == nil
}

func (c *Config) maxModelCalls() int {
	if c.MaxIterations > 0 {
		return c.MaxIterations
	}
	return defaultMaxIterations
}

// emit sends an event to OnEvent and to the watchers of the run.
func (c *Config) emit(ctx context.Context, ev einolean.Event) {
	ev.Time = time.Now()
	programturn.NotifyEnded(ctx, ev)
	if c.OnEvent == nil {
		return
	}
	_ = safe.Call("OnEvent", func() error { c.OnEvent(ctx, ev); return nil })
}

// nameTakenError is the error for an agent with another tool of this name.
func nameTakenError(name string) error {
	return fieldError("", fmt.Errorf("another tool of the agent is named %s: give it another name", name))
}
