// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package safe_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/safe"
)

func TestCall_ReturnsErrorUnchanged(t *testing.T) {
	require.NoError(t, safe.Call("x", func() error { return nil }))
	require.Same(t, io.EOF, safe.Call("x", func() error { return io.EOF }))
	got, err := safe.Value("x", func() (int, error) { return 3, io.EOF })
	require.Equal(t, 3, got)
	require.Same(t, io.EOF, err)
}

// hostile panics when it is printed.
type hostile struct{}

func (hostile) String() string { panic("again") }

func TestCall_PanicBecomesPanicError(t *testing.T) {
	var none map[string]int
	for name, f := range map[string]func(){
		"a text":        func() { panic("boom") },
		"an error":      func() { panic(fmt.Errorf("boom: %w", io.EOF)) },
		"nil":           func() { panic(nil) },
		"the runtime's": func() { none["x"] = 1 },
		"hostile":       func() { panic(hostile{}) },
	} {
		t.Run(name, func(t *testing.T) {
			check := func(err error) {
				var p *safe.PanicError
				require.ErrorAs(t, err, &p)
				assert.Equal(t, "TokenCounter", p.Source)
				assert.NotErrorIs(t, err, io.EOF)
				assert.Equal(t, "TokenCounter panicked: "+p.Value, err.Error())
				assert.Equal(t, err.Error(), fmt.Sprintf("%v", err))
				assert.Equal(t, fmt.Sprintf("%q", err.Error()), fmt.Sprintf("%q", err))
				assert.Contains(t, fmt.Sprintf("%+v", err), "safe_test.go", "the stack")
			}
			check(safe.Call("TokenCounter", func() error { f(); return nil }))
			got, err := safe.Value("TokenCounter", func() (string, error) { f(); return "x", nil })
			assert.Empty(t, got)
			check(err)
		})
	}
	require.ErrorContains(t, safe.Call("x", func() error { panic("boom") }), "boom")
}

func TestErrorText_RecoversFromPanic(t *testing.T) {
	inner := safe.Call("inner", func() error { panic("boom") })
	outer := safe.Call("outer", func() error { return errors.Join(io.EOF, inner) })
	require.ErrorIs(t, outer, io.EOF)
	require.ErrorIs(t, outer, inner)
}

func TestIsNil_TypedNil(t *testing.T) {
	for _, v := range []any{nil, (*int)(nil), map[string]int(nil), (func())(nil), []int(nil), (chan int)(nil)} {
		require.True(t, safe.IsNil(v), "%T", v)
	}
	for _, v := range []any{0, "", struct{}{}, new(int), map[string]int{}, []int{}, func() {}} {
		require.False(t, safe.IsNil(v), "%T", v)
	}
}

// mute is an error whose text cannot be had.
type mute struct{}

func (mute) Error() string { panic("no") }

func TestErrorText_NilAndPlainErrors(t *testing.T) {
	require.Equal(t, "EOF", safe.ErrorText(io.EOF))
	require.Empty(t, safe.ErrorText(nil))
	require.Equal(t, "an error whose Error method panics", safe.ErrorText(mute{}))
}

//claim:security-55
func TestWait_GoexitAndHang(t *testing.T) {
	got, err := safe.Wait(t.Context(), "x", func() (int, error) { return 3, io.EOF })
	require.Equal(t, 3, got)
	require.Same(t, io.EOF, err)
	_, err = safe.Wait(t.Context(), "the store", func() (int, error) { panic("boom") })
	require.EqualError(t, err, "the store panicked: boom")
	_, err = safe.Wait(t.Context(), "the store", func() (int, error) { runtime.Goexit(); return 0, nil })
	require.EqualError(t, err, "the store ended its goroutine")
	ctx, cancel := context.WithCancel(t.Context())
	called, forever := make(chan struct{}), make(chan struct{})
	defer close(forever)
	go func() {
		<-called
		cancel()
	}()
	_, err = safe.Wait(ctx, "x", func() (int, error) { close(called); <-forever; return 0, nil })
	require.ErrorIs(t, err, context.Canceled)
	_, err = safe.Wait(ctx, "x", func() (int, error) { t.Error("called"); return 0, nil })
	require.ErrorIs(t, err, context.Canceled)
}

func TestWaitGated_AbandonedCallClosesGate(t *testing.T) {
	var gate safe.Gate
	forever, calls := make(chan struct{}), atomic.Int32{}
	given, giveUp := context.WithCancel(t.Context())
	ask := func(ctx context.Context) error {
		_, err := safe.WaitGated(ctx, &gate, "the index", func() (int, error) { calls.Add(1); giveUp(); <-forever; return 0, nil })
		return err
	}
	require.ErrorIs(t, ask(given), context.Canceled)
	for range 3 {
		require.ErrorIs(t, ask(t.Context()), safe.ErrBusy)
	}
	require.EqualValues(t, 1, calls.Load())
	close(forever)
	require.NoError(t, ask(t.Context()), "it is open again")
	require.EqualValues(t, 2, calls.Load())
}

func TestWaitGated_StaysOpenIfContextIsHonored(t *testing.T) {
	var gate safe.Gate
	var all sync.WaitGroup
	for i := range 200 {
		all.Go(func() {
			ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i%3)*time.Millisecond)
			defer cancel()
			_, err := safe.WaitGated(ctx, &gate, "x", func() (int, error) { <-ctx.Done(); return 0, ctx.Err() })
			assert.ErrorIs(t, err, context.DeadlineExceeded)
		})
	}
	all.Wait()
	_, err := safe.WaitGated(t.Context(), &gate, "x", func() (int, error) { return 0, nil })
	require.NoError(t, err)
}
