// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// What depends on Eino's version, besides the hooks and messages: run-local values and the
// ids of calls. Messages are in internal/wire.

import (
	"context"
	"reflect"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components"
	"github.com/cloudwego/eino/compose"

	"github.com/leanctx/leanctx/internal/safe"
)

// The run-local values survive a checkpoint: the tools that the model saw in its last call,
// the model calls since the last use of each, what the events reported, the names that slots
// stand for, whether the run shows all tools, and which ones it showed when it stopped doing
// so.
const (
	visibleKey  = "__leanctx_toolsearch_visible__"
	idleKey     = "__leanctx_toolsearch_idle__"
	reportedKey = "__leanctx_toolsearch_reported__"
	boundKey    = "__leanctx_toolsearch_bound__"
	showsAllKey = "__leanctx_toolsearch_shows_all__"
	shownKey    = "__leanctx_toolsearch_shown__"

	notHiddenKey = "__leanctx_toolsearch_not_hidden__"
)

// runLocal returns a value that the run keeps. Its error says that there is no run.
func runLocal[T any](ctx context.Context, key string) (value T, ok bool, err error) {
	v, _, err := adk.GetRunLocalValue(ctx, key)
	value, ok = v.(T)
	return value, ok, err
}

// setRunLocal keeps a value for the run. Outside a run it does nothing: there is nothing to
// resume.
func setRunLocal(ctx context.Context, key string, value any) {
	_ = adk.SetRunLocalValue(ctx, key, value)
}

// callID returns the id of the current tool call.
func callID(ctx context.Context) string { return compose.GetToolCallID(ctx) }

// reportedType is the type that a tool or a model reports; "" if it reports none.
func reportedType(v any) string {
	typ, _ := safe.Value("GetType", func() (string, error) {
		typ, _ := components.GetType(v)
		return typ, nil
	})
	return typ
}

// typeOf is the type of a tool or a model as callbacks see it: the reported one, or else its
// Go type.
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

// runsCallbacks reports whether a tool or a model runs its own callbacks.
func runsCallbacks(v any) bool {
	yes, _ := safe.Value("IsCallbacksEnabled", func() (bool, error) { return components.IsCallbacksEnabled(v), nil })
	return yes
}
