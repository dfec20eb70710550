// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// Calls of what the user hands over: functions, tools, stores and the model. A panic in any of them is that call's error.

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"time"

	"github.com/cloudwego/eino/adk/filesystem"
	"github.com/cloudwego/eino/components"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"

	"github.com/leanctx/leanctx"
	"github.com/leanctx/leanctx/internal/safe"
)

// emit hands an event to OnEvent.
func (s *settings) emit(ctx context.Context, ev leanctx.Event) {
	if s.cfg.OnEvent == nil {
		return
	}
	ev.Time = time.Now()
	_ = safe.Call("OnEvent", func() error { s.cfg.OnEvent(ctx, ev); return nil })
}

// callFilter asks the Filter; an error means no.
func (s *settings) callFilter(ctx context.Context, req FilterRequest) (bool, error) {
	ok, err := safe.Value("Filter", func() (bool, error) { return s.cfg.Filter(ctx, req) })
	return ok && err == nil, err
}

// writeFile stores a text.
func writeFile(ctx context.Context, b Backend, path, content string) error {
	return safe.Call(fmt.Sprintf("toolsearch: Backend, writing %q,", path), func() error {
		return b.Write(ctx, &filesystem.WriteRequest{FilePath: path, Content: content})
	})
}

// readInfo asks a tool what it is.
func readInfo(ctx context.Context, t tool.BaseTool) (*schema.ToolInfo, error) {
	if safe.IsNil(t) {
		return nil, errors.New("the tool is nil")
	}
	info, err := safe.Value("Info", func() (*schema.ToolInfo, error) { return t.Info(ctx) })
	switch {
	case err != nil:
		return nil, infoError(t, err)
	case info == nil:
		return nil, fmt.Errorf("Info of %T returned nil", t)
	case info.Name == "":
		return nil, fmt.Errorf("Info of %T has an empty Name (description %.60q)", t, info.Desc)
	}
	return info, nil
}

func infoError(t tool.BaseTool, err error) error {
	var panicked *safe.PanicError
	if errors.As(err, &panicked) {
		panicked.What = fmt.Sprintf("Info of %T", t)
		return panicked
	}
	return fmt.Errorf("reading Info of %T: %w", t, err)
}

// reportedType is the type that a tool or a model reports; "" if it reports none.
func reportedType(v any) string {
	typ, _ := safe.Value("GetType", func() (string, error) {
		typ, _ := components.GetType(v)
		return typ, nil
	})
	return typ
}

// typeOf is the type of a tool or a model as callbacks are told it: what it reports, or
// else its type in Go.
func typeOf(v any) string {
	if typ := reportedType(v); typ != "" {
		return typ
	}
	r := reflect.TypeOf(v)
	for r.Kind() == reflect.Pointer {
		r = r.Elem()
	}
	return r.Name()
}

// runsCallbacks reports whether a tool or a model runs callbacks by itself.
func runsCallbacks(v any) bool {
	yes, _ := safe.Value("IsCallbacksEnabled", func() (bool, error) { return components.IsCallbacksEnabled(v), nil })
	return yes
}

// errTooLate is the error of within where the context ended first.
var errTooLate = errors.New("it did not answer in time")

// within returns what f returns, or errTooLate once ctx has ended: f is then left to
// finish, and what it returns is dropped.
func within[T any](ctx context.Context, f func() (T, error)) (T, error) {
	type outcome struct {
		value T
		err   error
	}
	answers := make(chan outcome, 1)
	go func() {
		value, err := f()
		answers <- outcome{value, err}
	}()
	select {
	case a := <-answers:
		return a.value, a.err
	case <-ctx.Done():
		var none T
		return none, errTooLate
	}
}
