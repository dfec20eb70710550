// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package einorun

import (
	"reflect"

	"github.com/cloudwego/eino/components"

	"github.com/einolean/einolean/internal/safe"
)

// ReportedType is the type that a tool or a model reports; "" if it reports none.
func ReportedType(v any) string {
	typ, _ := safe.Value("GetType", func() (string, error) {
		typ, _ := components.GetType(v)
		return typ, nil
	})
	return typ
}

// TypeOf is the type of a tool or a model as callbacks see it: the reported one, or else its
// Go type.
func TypeOf(v any) string {
	if typ := ReportedType(v); typ != "" {
		return typ
	}
	r := reflect.TypeOf(v)
	for r.Kind() == reflect.Pointer {
		r = r.Elem()
	}
	return r.Name()
}

// RunsCallbacks reports whether a tool or a model runs its own callbacks.
func RunsCallbacks(v any) bool {
	yes, _ := safe.Value("IsCallbacksEnabled", func() (bool, error) { return components.IsCallbacksEnabled(v), nil })
	return yes
}
