// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package reduction

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean"
	"github.com/einolean/einolean/internal/backend"
	"github.com/einolean/einolean/internal/dev/adktest"
	"github.com/einolean/einolean/internal/safe"
	"github.com/einolean/einolean/reduction/internal/report"
)

// setCallbacks sets every callback in a struct to one that ends with its name, and never returns.
func setCallbacks(v reflect.Value, end func(name string)) (names []string) {
	for i := range v.NumField() {
		f, name := v.Field(i), v.Type().Field(i).Name
		if f.Kind() == reflect.Func {
			f.Set(reflect.MakeFunc(f.Type(), func([]reflect.Value) []reflect.Value { end(name); panic("unreachable") }))
			names = append(names, name)
		}
	}
	return names
}

//claim:security-50
func TestCallback_PanicBecomesError(t *testing.T) {
	adktest.EachType(t, everyCallbackPanics[*schema.Message], everyCallbackPanics[*schema.AgenticMessage])
}

func everyCallbackPanics[M adk.MessageType](t *testing.T) {
	everyCallbackFails[M](t, func(name string) { panic(name) }, func(name string) string { return name + " panicked: " + name })
}

// A callback that ends its goroutine does not end the run's: it is an error like a panic.
func TestCallback_GoexitBecomesError(t *testing.T) {
	adktest.EachType(t, everyCallbackExits[*schema.Message], everyCallbackExits[*schema.AgenticMessage])
}

func everyCallbackExits[M adk.MessageType](t *testing.T) {
	everyCallbackFails[M](t, func(string) { runtime.Goexit() }, func(name string) string { return name + " ended its goroutine" })
}

func everyCallbackFails[M adk.MessageType](t *testing.T, end func(name string), failure func(name string) string) {
	c, own := &TypedConfig[M]{}, &ToolReductionConfig{}
	names := setCallbacks(reflect.ValueOf(c).Elem(), end)
	c.ToolConfig = map[string]*ToolReductionConfig{"shell": own}
	ownNames := setCallbacks(reflect.ValueOf(own).Elem(), end)
	require.Subset(t, append(names, ownNames...), []string{"TokenCounter", "OnEvent", "TruncHandler", "ClearHandler"})
	c.recoverCallbacks()

	_, err := c.postProcess(context.Background(), nil)
	require.ErrorContains(t, err, failure("ClearPostProcess"))
	for _, each := range []struct {
		of    reflect.Value
		names []string
	}{{reflect.ValueOf(c).Elem(), names}, {reflect.ValueOf(own).Elem(), ownNames}} {
		for _, name := range each.names {
			if name == "OnEvent" || name == "ClearPostProcess" {
				continue // above, and below
			}
			f := each.of.FieldByName(name)
			in := make([]reflect.Value, f.Type().NumIn())
			for i := range in {
				in[i] = reflect.Zero(f.Type().In(i))
			}
			out := f.Call(in)
			if name == "Overflow" {
				require.False(t, out[1].Bool(), "nothing is known of the error")
				continue
			}
			if name == "Preview" {
				require.Empty(t, out[0].String(), "nothing is a reason to show the start and the end")
				continue
			}
			require.ErrorContains(t, out[len(out)-1].Interface().(error), failure(name))
		}
	}
}

func TestOnEvent_PanicIsIgnored(t *testing.T) {
	send := report.Reporter(func(context.Context, einolean.Event) { panic("boom") }).Send
	require.NotPanics(t, func() { send(context.Background(), einolean.Event{}) })
}

//claim:security-51
func TestCallback_PanicWhileReadingStaysInStream(t *testing.T) {
	for name, set := range map[string]func(*Config){
		"generator": func(c *Config) {
			c.GenTruncOffloadFilePath = func(context.Context, *ToolDetail) (string, error) { panic("boom") }
		},
		"observer": func(c *Config) { c.OnEvent = func(context.Context, einolean.Event) { panic("boom") } },
		"handler": func(c *Config) {
			c.ToolConfig = map[string]*ToolReductionConfig{"shell": {TruncHandler: func(context.Context, *ToolDetail) (*TruncResult, error) { panic("boom") }}}
		},
	} {
		c := &Config{Backend: backend.NewMemory(0), MaxLengthForTrunc: 1000}
		set(c)
		mw, err := New(context.Background(), c)
		require.NoError(t, err)
		run, err := mw.WrapStreamableToolCall(context.Background(), func(context.Context, string, ...tool.Option) (*schema.StreamReader[string], error) {
			return schema.StreamReaderFromArray([]string{strings.Repeat("x", 900), strings.Repeat("x", 900)}), nil
		}, &adk.ToolContext{Name: "shell", CallID: "c"})
		require.NoError(t, err)
		out, got := run(context.Background(), `{}`)
		for got == nil {
			_, got = out.Recv()
		}
		var p *safe.PanicError
		require.Equal(t, name != "observer", errors.As(got, &p), "%s: %v", name, got)
		require.NotContains(t, fmt.Sprint(got), "goroutine", name)
	}
}
