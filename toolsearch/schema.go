// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// This file reads the JSON schemas of tools, which strangers write: every walk through one
// is bounded, and a schema that is too deep or refers to itself counts as none.

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/cloudwego/eino/schema"

	"github.com/leanctx/leanctx/internal/keyword"
)

const (
	// noParameters is the schema of a tool that takes none.
	noParameters = `{"type":"object","properties":{}}`

	maxSchemaDepth = 64
	maxSchemaNodes = 20_000

	// What is indexed of a schema; more would drown what the tool is about.
	maxIndexedDepth = 3
	maxIndexed      = 100 // parameters
	maxIndexedBytes = 16 << 10
)

// schemaText is the JSON schema of a tool's arguments. A schema that cannot be read is
// answered like none: the model still learns the tool's name and description.
func schemaText(info *schema.ToolInfo) (text string) {
	defer func() {
		if recover() != nil {
			text = noParameters
		}
	}()
	if info.ParamsOneOf == nil {
		return noParameters
	}
	s, err := info.ToJSONSchema()
	if err != nil || s == nil || !walk(info, nil) {
		return noParameters
	}
	b, err := json.Marshal(s)
	if err != nil {
		return noParameters
	}
	return string(b)
}

// parameters are the parameters of a tool for an index: names, descriptions and enum
// values, nested ones as well.
func parameters(info *schema.ToolInfo) (params []keyword.Param) {
	size := 0
	walk(info, func(p keyword.Param, depth int) bool {
		size += len(p.Name) + len(p.Description)
		for _, v := range p.Enum {
			size += len(v)
		}
		if len(params) == maxIndexed || size > maxIndexedBytes {
			return false
		}
		if depth <= maxIndexedDepth {
			params = append(params, p)
		}
		return true
	})
	return params
}

// list and values make lists of schemas without naming their type: the schema package is
// Eino's choice, and no requirement of this module.
func list[T any](v ...T) []T { return v }

func values[M ~map[string]T, T any](m M) []T { return slices.Collect(maps.Values(m)) }

// walk visits the properties of a tool's schema, nearest first, and reports whether it saw
// all of it within its bounds. A visit that returns false ends it; a nil visit only looks.
func walk(info *schema.ToolInfo, visit func(p keyword.Param, depth int) bool) (all bool) {
	defer func() {
		if recover() != nil {
			all = false
		}
	}()
	if info.ParamsOneOf == nil {
		return true
	}
	root, err := info.ToJSONSchema()
	if err != nil || root == nil {
		return err == nil
	}
	nodes, depths := list(root), []int{0}
	for i := 0; i < len(nodes); i++ {
		if nodes[i] == nil {
			continue
		}
		if len(nodes) > maxSchemaNodes || depths[i] >= maxSchemaDepth {
			return false
		}
		depth := depths[i] + 1
		for p := nodes[i].Properties.Oldest(); p != nil; p = p.Next() {
			nodes, depths = append(nodes, p.Value), append(depths, depth)
			if p.Value == nil || visit == nil {
				continue
			}
			if !visit(keyword.Param{Name: p.Key, Description: p.Value.Description, Enum: enumTexts(p.Value.Enum)}, depth) {
				return false
			}
		}
		n := nodes[i]
		for _, s := range slices.Concat(n.AllOf, n.AnyOf, n.OneOf, n.PrefixItems,
			values(n.DependentSchemas), values(n.PatternProperties), values(n.Definitions), list(
				n.Items, n.Not, n.If, n.Then, n.Else, n.Contains, n.AdditionalProperties, n.PropertyNames, n.ContentSchema)) {
			nodes, depths = append(nodes, s), append(depths, depth)
		}
	}
	return true
}

// enumTexts are the values of an enum that are texts or numbers.
func enumTexts(values []any) []string {
	const most = 50
	var out []string
	for _, v := range values {
		switch v.(type) {
		case string, float64, int, int64, json.Number:
			if len(out) < most {
				out = append(out, fmt.Sprint(v))
			}
		}
	}
	return out
}
