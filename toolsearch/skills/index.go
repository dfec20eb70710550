// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package skills

// An index in which the tools of a skill are found with it.

import (
	"context"
	"slices"

	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean/toolsearch/index"
)

// Index returns an index.Func with which the tools of a skill are found, and so loaded, with it: if
// the best result is a skill, its tools follow it. All else is as f ranks it.
func Index(f index.Func) index.Func {
	return func(ctx context.Context, tools []*schema.ToolInfo) (index.Index, error) {
		inner, err := f(ctx, tools)
		if err != nil {
			return nil, err
		}
		uses, known := map[string][]string{}, map[string]bool{}
		for _, t := range tools {
			known[t.Name] = true
			if names, ok := t.Extra[toolsKey].([]string); ok {
				uses[t.Name] = names
			}
		}
		if len(uses) == 0 {
			return inner, nil
		}
		for name, tools := range uses {
			uses[name] = slices.DeleteFunc(slices.Clone(tools), func(t string) bool { return !known[t] })
		}
		return &withTools{inner, uses}, nil
	}
}

type withTools struct {
	index.Index
	uses map[string][]string // by the name of the skill's tool
}

// Search ranks tools and skills.
func (x *withTools) Search(ctx context.Context, q index.Query) ([]index.Result, error) {
	found, err := x.Index.Search(ctx, q)
	if err != nil || len(found) == 0 || len(x.uses[found[0].Name]) == 0 {
		return found, err
	}
	best := found[0]
	next := []index.Result{best}
	for _, name := range x.uses[best.Name] {
		next = append(next, index.Result{Name: name, Score: best.Score, Confidence: best.Confidence})
	}
	for _, r := range found[1:] {
		if !slices.Contains(x.uses[best.Name], r.Name) {
			next = append(next, r)
		}
	}
	return next, nil
}
