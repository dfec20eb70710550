// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

// Package toolschema measures the parameters of tools, which strangers write. Made
// of Go pointers, a schema can be part of itself or be as large as it likes, so it
// is looked at within bounds before anything is written of it.
package toolschema

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"

	"github.com/cloudwego/eino/schema"
)

const (
	// MaxDepth is how many levels of a schema are looked at.
	MaxDepth = 64

	// MaxNodes is how many schemas within a schema are looked at.
	MaxNodes = 20_000
)

// Bytes is the length of p as JSON. Of a schema beyond the bounds it is the length
// of the names and descriptions within them; what cannot be written counts as
// nothing. Bytes returns 0 for nil and never panics.
func Bytes(p *schema.ParamsOneOf) (n int) {
	defer func() {
		if recover() != nil {
			n = 0
		}
	}()
	if p == nil {
		return 0
	}
	if seen, all := described(p); !all {
		return seen
	}
	s, err := p.ToJSONSchema()
	if err != nil || s == nil {
		return 0
	}
	seen, all := walk(p)
	if !all {
		return seen
	}
	text, err := json.Marshal(s)
	if err != nil {
		return 0
	}
	return len(text)
}

// Names lists the parameters of the first level, in the order of the schema. Of a
// schema that cannot be read there are none.
func Names(p *schema.ParamsOneOf) (names []string) {
	defer func() {
		if recover() != nil {
			names = nil
		}
	}()
	if p == nil {
		return nil
	}
	if _, all := described(p); !all {
		return nil
	}
	s, err := p.ToJSONSchema()
	if err != nil || s == nil {
		return nil
	}
	for prop := s.Properties.Oldest(); prop != nil; prop = prop.Next() {
		names = append(names, prop.Key)
	}
	return names
}

// described looks at parameters that are described in Eino's own way, which
// becomes a schema by recursion. The field is not exported; a name that is gone
// one day finds nothing, and what is found then is the schema.
func described(p *schema.ParamsOneOf) (bytes int, all bool) {
	params := reflect.ValueOf(p).Elem().FieldByName("params")
	if params.Kind() != reflect.Map {
		return 0, true
	}
	type level struct {
		info  reflect.Value // of a *schema.ParameterInfo
		depth int
	}
	var todo []level
	enter := func(infos reflect.Value, depth int) {
		for it := infos.MapRange(); it.Next() && len(todo) <= MaxNodes; {
			bytes += it.Key().Len()
			todo = append(todo, level{it.Value(), depth})
		}
	}
	enter(params, 0)
	for i := 0; i < len(todo); i++ {
		if len(todo) > MaxNodes || todo[i].depth >= MaxDepth {
			return bytes, false
		}
		if todo[i].info.IsNil() {
			continue
		}
		info := todo[i].info.Elem()
		bytes += info.FieldByName("Desc").Len()
		if elem := info.FieldByName("ElemInfo"); !elem.IsNil() {
			todo = append(todo, level{elem, todo[i].depth + 1})
		}
		enter(info.FieldByName("SubParams"), todo[i].depth+1)
	}
	return bytes, true
}

// list and values make lists of schemas without naming their type: the schema
// package is Eino's choice, and no requirement of this module.
func list[T any](v ...T) []T { return v }

func values[M ~map[string]T, T any](m M) []T { return slices.Collect(maps.Values(m)) }

// present leaves out what is nil.
func present[T any](v []*T) []*T { return slices.DeleteFunc(v, func(n *T) bool { return n == nil }) }

// walk looks at a schema, the nearest parts first.
func walk(p *schema.ParamsOneOf) (bytes int, all bool) {
	root, err := p.ToJSONSchema()
	if err != nil {
		return 0, false
	}
	nodes, depths := list(root), []int{0}
	for i := 0; i < len(nodes); i++ {
		n := nodes[i]
		if len(nodes) > MaxNodes || depths[i] >= MaxDepth {
			return bytes, false
		}
		bytes += len(n.Description) + len(n.Title)
		for prop := n.Properties.Oldest(); prop != nil; prop = prop.Next() {
			bytes += len(prop.Key)
			nodes = append(nodes, present(list(prop.Value))...)
		}
		nodes = append(nodes, present(slices.Concat(n.AllOf, n.AnyOf, n.OneOf, n.PrefixItems,
			values(n.DependentSchemas), values(n.PatternProperties), values(n.Definitions),
			list(n.Items, n.Not, n.If, n.Then, n.Else, n.Contains, n.AdditionalProperties, n.PropertyNames, n.ContentSchema)))...)
		for len(depths) < len(nodes) {
			depths = append(depths, depths[i]+1)
		}
	}
	return bytes, true
}
