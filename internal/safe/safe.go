// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

// Package safe calls code that may panic: callbacks, stores and tools of users.
package safe

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"runtime/debug"
	"sync"
)

// PanicError is the error of a call that panicked. It wraps nothing: a panic with io.EOF is not the
// end of a stream.
type PanicError struct {
	// Source names the code that panicked, such as "TokenCounter".
	Source string

	// Value is what it panicked with, as text.
	Value string

	// Stack is the stack at that time. Only the %+v verb prints it.
	Stack string
}

// Error returns the source and the value.
func (e *PanicError) Error() string { return e.Source + " panicked: " + e.Value }

// Format adds the stack for %+v.
func (e *PanicError) Format(s fmt.State, verb rune) {
	switch {
	case verb == 'q':
		_, _ = fmt.Fprintf(s, "%q", e.Error())
	case verb == 'v' && s.Flag('+'):
		_, _ = fmt.Fprintf(s, "%s\n%s", e.Error(), e.Stack)
	default:
		_, _ = fmt.Fprint(s, e.Error())
	}
}

// Call runs f and returns its error. A panic of f becomes a [*PanicError] with the given source.
func Call(what string, f func() error) (err error) {
	defer func() { err = recovered(recover(), what, err) }()
	return f()
}

// Value is Call for an f that also returns a value, which is zero if f panics.
func Value[T any](what string, f func() (T, error)) (value T, err error) {
	defer func() { err = recovered(recover(), what, err) }()
	return f()
}

// recovered returns the error of a call, given the result of recover.
func recovered(p any, what string, err error) error {
	if p == nil {
		return err
	}
	return &PanicError{Source: what, Value: fmt.Sprint(p), Stack: string(debug.Stack())}
}

// ErrorText returns the text of an error, even if its Error method panics; "" for nil.
func ErrorText(err error) (text string) {
	if err == nil {
		return ""
	}
	defer func() {
		if recover() != nil {
			text = "an error whose Error method panics"
		}
	}()
	return err.Error()
}

// IsNil reports whether v is nil, or an interface around a nil pointer, map, function,
// slice or channel: calling a method of it may panic.
func IsNil(v any) bool {
	if v == nil {
		return true
	}
	r := reflect.ValueOf(v)
	switch r.Kind() {
	case reflect.Pointer, reflect.Map, reflect.Func, reflect.Slice, reflect.Chan, reflect.Interface:
		return r.IsNil()
	}
	return false
}

// Wait is Value on a separate goroutine. When the context ends, Wait returns without waiting for f.
// An f that ends its goroutine, as FailNow of a test does, is an error.
func Wait[T any](ctx context.Context, what string, f func() (T, error)) (value T, err error) {
	if err := ctx.Err(); err != nil {
		return value, err
	}
	return wait(ctx, what, f)
}

// wait is Wait without the check of ctx before f.
func wait[T any](ctx context.Context, what string, f func() (T, error)) (value T, err error) {
	type outcome struct {
		value T
		err   error
	}
	done := make(chan outcome, 1)
	go func() {
		got := outcome{err: fmt.Errorf("%s ended its goroutine", what)}
		defer func() { done <- got }()
		got.value, got.err = Value(what, f)
	}()
	select {
	case got := <-done:
		return got.value, got.err
	case <-ctx.Done():
		return value, ctx.Err()
	}
}

// Once is a value that is created on first use, once for all callers.
type Once[T any] struct {
	once  sync.Once
	value T
	err   error
}

// Get returns the value that f creates. A panic of f is the error.
func (o *Once[T]) Get(what string, f func() (T, error)) (T, error) {
	o.once.Do(func() { o.value, o.err = Value(what, f) })
	return o.value, o.err
}

// NonNil is Value, and nil without an error is an error as well.
func NonNil[T any](what string, f func() (T, error)) (T, error) {
	value, err := Value(what, f)
	if err == nil && IsNil(value) {
		err = errors.New(what + " returned nil")
	}
	return value, err
}
