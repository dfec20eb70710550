// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// What depends on the version of Eino beside the hooks: the values that Eino keeps for a run,
// and the ids of calls. Messages are the affair of internal/wire.

import (
	"context"
	"reflect"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components"
	"github.com/cloudwego/eino/compose"

	"github.com/leanctx/leanctx/internal/safe"
)

// The run-local values survive a checkpoint: the tools that the model saw in its last call,
// for each the model calls since its last use, what the events reported, the names that
// slots stand for, whether the run shows all tools, and which it showed when it ceased to.
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

// setRunLocal keeps a value for the run. Outside of one there is nowhere to keep it, and
// nothing to resume.
func setRunLocal(ctx context.Context, key string, value any) {
	_ = adk.SetRunLocalValue(ctx, key, value)
}

// callID is the id of the tool call that the context is of.
func callID(ctx context.Context) string { return compose.GetToolCallID(ctx) }

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
