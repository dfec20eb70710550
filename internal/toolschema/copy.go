// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package toolschema

// Copies of what describes a tool, so that nobody changes what was handed over.

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"

	"github.com/bytedance/sonic"
	"github.com/cloudwego/eino/schema"
)

// CopyMap copies the values of a map of ToolInfo.Extra: maps and slices within them. What pointers
// refer to is shared.
func CopyMap(extra map[string]any) map[string]any {
	if extra == nil {
		return nil
	}
	dup := make(map[string]any, len(extra))
	for k, v := range extra {
		dup[k] = copyValue(v, MaxDepth)
	}
	return dup
}

// copyValue copies maps and slices within a value. It shares what pointers refer to, and
// everything below depth.
func copyValue(v any, depth int) any {
	if depth == 0 {
		return v
	}
	switch v := v.(type) {
	case nil, bool, string, int, int64, float64:
		return v
	case map[string]any:
		dup := maps.Clone(v)
		for k, x := range dup {
			dup[k] = copyValue(x, depth-1)
		}
		return dup
	case []any:
		dup := slices.Clone(v)
		for i, x := range dup {
			dup[i] = copyValue(x, depth-1)
		}
		return dup
	}
	return copyByKind(reflect.ValueOf(v), depth)
}

// copyByKind copies maps and slices of other types.
func copyByKind(v reflect.Value, depth int) any {
	assign := func(to func(reflect.Value), x reflect.Value) {
		if dup := copyValue(x.Interface(), depth-1); dup != nil {
			x = reflect.ValueOf(dup)
		}
		to(x)
	}
	switch {
	case v.Kind() == reflect.Map && !v.IsNil():
		dup := reflect.MakeMapWithSize(v.Type(), v.Len())
		for it := v.MapRange(); it.Next(); {
			assign(func(x reflect.Value) { dup.SetMapIndex(it.Key(), x) }, it.Value())
		}
		return dup.Interface()
	case v.Kind() == reflect.Slice && !v.IsNil():
		dup := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		for i := range v.Len() {
			assign(dup.Index(i).Set, v.Index(i))
		}
		return dup.Interface()
	}
	return v.Interface()
}

// Copy copies parameters. Those given as a JSON schema return that schema itself,
// which must be copied; others build one for each caller.
func Copy(p *schema.ParamsOneOf) (dup *schema.ParamsOneOf) {
	if p == nil {
		return nil
	}
	defer func() {
		if recover() != nil {
			dup = p
		}
	}()
	s, err := p.ToJSONSchema()
	converted, _ := p.ToJSONSchema()
	if err != nil || s == nil || s != converted {
		c := *p
		return &c
	}
	k := newCopier(s)
	dup = schema.NewParamsOneOfByJSONSchema(k.copyNode(s))
	for i := 0; i < len(k.copies); i++ {
		n := k.copies[i]
		if from := n.Properties; from != nil {
			n.Properties = emptyOf(from)
			for p := from.Oldest(); p != nil; p = p.Next() {
				n.Properties.Set(p.Key, k.copyNode(p.Value))
			}
		}
		n.AllOf, n.AnyOf, n.OneOf, n.PrefixItems = k.copyList(n.AllOf), k.copyList(n.AnyOf), k.copyList(n.OneOf), k.copyList(n.PrefixItems)
		n.Not, n.If, n.Then, n.Else = k.copyNode(n.Not), k.copyNode(n.If), k.copyNode(n.Then), k.copyNode(n.Else)
		n.Items, n.Contains, n.PropertyNames = k.copyNode(n.Items), k.copyNode(n.Contains), k.copyNode(n.PropertyNames)
		n.AdditionalProperties, n.ContentSchema = k.copyNode(n.AdditionalProperties), k.copyNode(n.ContentSchema)
		n.Definitions = k.byName(n.Definitions)
		n.DependentSchemas, n.PatternProperties = k.byName(n.DependentSchemas), k.byName(n.PatternProperties)
		n.MaxLength, n.MinLength, n.MaxItems, n.MinItems = pointed(n.MaxLength), pointed(n.MinLength), pointed(n.MaxItems), pointed(n.MinItems)
		n.MaxContains, n.MinContains = pointed(n.MaxContains), pointed(n.MinContains)
		n.MaxProperties, n.MinProperties = pointed(n.MaxProperties), pointed(n.MinProperties)
		n.TypeEnhanced, n.Required = slices.Clone(n.TypeEnhanced), slices.Clone(n.Required)
		n.DependentRequired, _ = copyValue(n.DependentRequired, MaxDepth).(map[string][]string)
		n.Enum, _ = copyValue(n.Enum, MaxDepth).([]any)
		n.Examples, _ = copyValue(n.Examples, MaxDepth).([]any)
		n.Const, n.Default = copyValue(n.Const, MaxDepth), copyValue(n.Default, MaxDepth)
		n.Extras = CopyMap(n.Extras)
	}
	return dup
}

// copier copies the nodes of a schema, each once: a schema may contain itself.
type copier[T any] struct {
	done   map[*T]*T
	copies []*T
}

func newCopier[T any](*T) *copier[T] { return &copier[T]{done: map[*T]*T{}} }

func (k *copier[T]) copyNode(node *T) *T {
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

func (k *copier[T]) copyList(nodes []*T) []*T {
	dup := slices.Clone(nodes)
	for i, n := range dup {
		dup[i] = k.copyNode(n)
	}
	return dup
}

func (k *copier[T]) byName(nodes map[string]*T) map[string]*T {
	dup := maps.Clone(nodes)
	for name, n := range dup {
		dup[name] = k.copyNode(n)
	}
	return dup
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

// PlainText differs for different values of Extra; ok is false if they hold more than
// texts, numbers, lists and maps.
func PlainText(extra map[string]any) (text string, ok bool) {
	for _, v := range extra {
		if !isPlain(v, MaxDepth) {
			return "", false
		}
	}
	text, err := sonic.ConfigStd.MarshalToString(extra)
	return text, err == nil
}

func isPlain(v any, depth int) bool {
	switch v := v.(type) {
	case nil, bool, string, int, int64, float64, []string:
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

// CopyInfo copies an info, with a schema of its own.
func CopyInfo(info *schema.ToolInfo) *schema.ToolInfo {
	return WithOwnParams(ShallowInfo(info))
}

// WithOwnParams gives a copy of an info a schema of its own.
func WithOwnParams(dup *schema.ToolInfo) *schema.ToolInfo {
	dup.ParamsOneOf = Copy(dup.ParamsOneOf)
	return dup
}

// ShallowInfo copies an info and its Extra: a schema takes longer.
func ShallowInfo(info *schema.ToolInfo) *schema.ToolInfo {
	dup := *info
	dup.Extra = CopyMap(dup.Extra)
	return &dup
}
