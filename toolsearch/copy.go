// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// This file copies infos of tools, to the depth that whoever gets one can reach. A hidden
// tool's info serves all runs at once, and its maps may be the user's own.

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"

	"github.com/bytedance/sonic"
	"github.com/cloudwego/eino/schema"
)

// copyInfo copies an info, its Extra, and the schema of its parameters.
func copyInfo(info *schema.ToolInfo) *schema.ToolInfo {
	own := shallowInfo(info)
	own.ParamsOneOf = copyParams(own.ParamsOneOf)
	return own
}

// shallowInfo copies an info and its Extra: a schema takes longer.
func shallowInfo(info *schema.ToolInfo) *schema.ToolInfo {
	own := *info
	own.Extra = copyExtra(own.Extra)
	return &own
}

func copyExtra(extra map[string]any) map[string]any {
	if extra == nil {
		return nil
	}
	own := make(map[string]any, len(extra))
	for k, v := range extra {
		own[k] = copyValue(v, maxSchemaDepth)
	}
	return own
}

// copyValue copies maps and slices within a value. What pointers lead to is the user's to
// guard, and so is what lies below depth.
func copyValue(v any, depth int) any {
	if depth == 0 {
		return v
	}
	switch v := v.(type) {
	case nil, bool, string, int, int64, float64:
		return v
	case map[string]any:
		own := maps.Clone(v)
		for k, x := range own {
			own[k] = copyValue(x, depth-1)
		}
		return own
	case []any:
		own := slices.Clone(v)
		for i, x := range own {
			own[i] = copyValue(x, depth-1)
		}
		return own
	}
	return copyByKind(reflect.ValueOf(v), depth)
}

// copyByKind copies maps and slices of other types.
func copyByKind(v reflect.Value, depth int) any {
	set := func(to func(reflect.Value), x reflect.Value) {
		if own := copyValue(x.Interface(), depth-1); own != nil {
			x = reflect.ValueOf(own)
		}
		to(x)
	}
	switch {
	case v.Kind() == reflect.Map && !v.IsNil():
		own := reflect.MakeMapWithSize(v.Type(), v.Len())
		for it := v.MapRange(); it.Next(); {
			set(func(x reflect.Value) { own.SetMapIndex(it.Key(), x) }, it.Value())
		}
		return own.Interface()
	case v.Kind() == reflect.Slice && !v.IsNil():
		own := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		for i := range v.Len() {
			set(own.Index(i).Set, v.Index(i))
		}
		return own.Interface()
	}
	return v.Interface()
}

// copyParams copies parameters. Those that were given as a JSON schema hand out that schema
// itself; others make one for whoever asks.
func copyParams(p *schema.ParamsOneOf) (own *schema.ParamsOneOf) {
	if p == nil {
		return nil
	}
	defer func() {
		if recover() != nil {
			own = p
		}
	}()
	s, err := p.ToJSONSchema()
	again, _ := p.ToJSONSchema()
	if err != nil || s == nil || s != again {
		c := *p
		return &c
	}
	k := newCopier(s)
	own = schema.NewParamsOneOfByJSONSchema(k.of(s))
	for i := 0; i < len(k.copies); i++ {
		n := k.copies[i]
		if from := n.Properties; from != nil {
			n.Properties = emptyOf(from)
			for p := from.Oldest(); p != nil; p = p.Next() {
				n.Properties.Set(p.Key, k.of(p.Value))
			}
		}
		n.AllOf, n.AnyOf, n.OneOf, n.PrefixItems = k.list(n.AllOf), k.list(n.AnyOf), k.list(n.OneOf), k.list(n.PrefixItems)
		n.Not, n.If, n.Then, n.Else = k.of(n.Not), k.of(n.If), k.of(n.Then), k.of(n.Else)
		n.Items, n.Contains, n.PropertyNames = k.of(n.Items), k.of(n.Contains), k.of(n.PropertyNames)
		n.AdditionalProperties, n.ContentSchema = k.of(n.AdditionalProperties), k.of(n.ContentSchema)
		n.Definitions = k.byName(n.Definitions)
		n.DependentSchemas, n.PatternProperties = k.byName(n.DependentSchemas), k.byName(n.PatternProperties)
		n.MaxLength, n.MinLength, n.MaxItems, n.MinItems = pointed(n.MaxLength), pointed(n.MinLength), pointed(n.MaxItems), pointed(n.MinItems)
		n.MaxContains, n.MinContains = pointed(n.MaxContains), pointed(n.MinContains)
		n.MaxProperties, n.MinProperties = pointed(n.MaxProperties), pointed(n.MinProperties)
		n.TypeEnhanced, n.Required = slices.Clone(n.TypeEnhanced), slices.Clone(n.Required)
		n.DependentRequired, _ = copyValue(n.DependentRequired, maxSchemaDepth).(map[string][]string)
		n.Enum, _ = copyValue(n.Enum, maxSchemaDepth).([]any)
		n.Examples, _ = copyValue(n.Examples, maxSchemaDepth).([]any)
		n.Const, n.Default = copyValue(n.Const, maxSchemaDepth), copyValue(n.Default, maxSchemaDepth)
		n.Extras = copyExtra(n.Extras)
	}
	return own
}

// copier copies the nodes of a schema, each once: a schema may contain itself. Its parts
// are copied one after another, for the nodes in copies.
type copier[T any] struct {
	done   map[*T]*T
	copies []*T
}

func newCopier[T any](*T) *copier[T] { return &copier[T]{done: map[*T]*T{}} }

func (k *copier[T]) of(node *T) *T {
	if node == nil {
		return nil
	}
	c := k.done[node]
	if c == nil {
		c = pointed(node)
		k.done[node] = c
		k.copies = append(k.copies, c)
	}
	return c
}

func (k *copier[T]) list(nodes []*T) []*T {
	own := slices.Clone(nodes)
	for i, n := range own {
		own[i] = k.of(n)
	}
	return own
}

func (k *copier[T]) byName(nodes map[string]*T) map[string]*T {
	own := maps.Clone(nodes)
	for name, n := range own {
		own[name] = k.of(n)
	}
	return own
}

func pointed[T any](v *T) *T {
	if v == nil {
		return nil
	}
	c := *v
	return &c
}

// emptyOf is an empty ordered map of the type of another.
func emptyOf[T any](*T) *T {
	v := new(T)
	if err := json.Unmarshal([]byte("{}"), v); err != nil {
		panic(err)
	}
	return v
}

// plainText is a text that differs wherever two values of Extra do; ok is false where they
// hold more than texts, numbers, lists and maps.
func plainText(extra map[string]any) (text string, ok bool) {
	for _, v := range extra {
		if !isPlain(v, maxSchemaDepth) {
			return "", false
		}
	}
	text, err := sonic.ConfigStd.MarshalToString(extra)
	return text, err == nil
}

func isPlain(v any, depth int) bool {
	switch v := v.(type) {
	case nil, bool, string, int, int64, float64:
		return true
	case []string:
		return true
	case []any:
		return depth > 0 && !slices.ContainsFunc(v, func(x any) bool { return !isPlain(x, depth-1) })
	case map[string]any:
		for _, x := range v {
			if depth == 0 || !isPlain(x, depth-1) {
				return false
			}
		}
		return true
	}
	return false
}
