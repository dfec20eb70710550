// Copyright einolean authors
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
func Bytes(p *schema.ParamsOneOf) int {
	seen, all := walk(p)
	if !all {
		return seen
	}
	text, _ := write(p)
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
	if p == nil {
		return 0, true
	}
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

// walk returns the length of the names, titles and descriptions within the bounds, and
// whether that is all of them.
func walk(p *schema.ParamsOneOf) (bytes int, all bool) {
	defer func() {
		if recover() != nil {
			bytes, all = 0, false
		}
	}()
	if bytes, all = described(p); !all {
		return bytes, false
	}
	bytes = 0
	all = each(p, func(q Param) bool { bytes += len(q.Name); return true }, func(n int) { bytes += n })
	return bytes, all
}

// Param is one parameter of a tool, or of an object within.
type Param struct {
	Name, Description string
	Enum              []any
	Depth             int // 1 for a parameter of the tool
	Required          bool
}

// Each visits the parameters of a tool, the nearest first, and reports whether it saw the
// whole schema within the bounds. A visit that returns false ends it.
func Each(p *schema.ParamsOneOf, visit func(Param) bool) (all bool) {
	defer func() {
		if recover() != nil {
			all = false
		}
	}()
	if _, all := described(p); !all {
		return false
	}
	return each(p, visit, func(int) {})
}

// each also tells how long the title and the description of each schema are.
func each(p *schema.ParamsOneOf, visit func(Param) bool, words func(int)) bool {
	root, err := p.ToJSONSchema()
	if err != nil || root == nil {
		return err == nil
	}
	nodes, depths := list(root), []int{0}
	for i := 0; i < len(nodes); i++ {
		n, depth := nodes[i], depths[i]+1
		if len(nodes) > MaxNodes || depth > MaxDepth {
			return false
		}
		words(len(n.Description) + len(n.Title))
		for prop := n.Properties.Oldest(); prop != nil; prop = prop.Next() {
			for _, v := range present(list(prop.Value)) {
				nodes = append(nodes, v)
				if !visit(Param{prop.Key, v.Description, v.Enum, depth, slices.Contains(n.Required, prop.Key)}) {
					return false
				}
			}
		}
		nodes = append(nodes, present(slices.Concat(n.AllOf, n.AnyOf, n.OneOf, n.PrefixItems,
			values(n.DependentSchemas), values(n.PatternProperties), values(n.Definitions),
			list(n.Items, n.Not, n.If, n.Then, n.Else, n.Contains, n.AdditionalProperties, n.PropertyNames, n.ContentSchema)))...)
		for len(depths) < len(nodes) {
			depths = append(depths, depth)
		}
	}
	return true
}

// Text is the JSON schema of parameters. ok is false for none, and for those that are
// beyond the bounds or cannot be written.
func Text(p *schema.ParamsOneOf) (text string, ok bool) {
	if p == nil || !Each(p, func(Param) bool { return true }) {
		return "", false
	}
	return write(p)
}

func write(p *schema.ParamsOneOf) (text string, ok bool) {
	defer func() {
		if recover() != nil {
			text, ok = "", false
		}
	}()
	s, err := p.ToJSONSchema()
	if err != nil || s == nil {
		return "", false
	}
	b, err := json.Marshal(s)
	return string(b), err == nil
}
