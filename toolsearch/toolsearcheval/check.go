// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package toolsearcheval

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/cloudwego/eino/schema"
)

// check lists everything that is wrong: a misspelt name would count as a miss for ever.
func check(tools []*schema.ToolInfo, cases []Case) error {
	var wrong []error
	known := map[string]bool{}
	for i, t := range tools {
		if t == nil {
			wrong = append(wrong, fmt.Errorf("toolsearcheval: tools[%d] is nil", i))
			continue
		}
		known[t.Name] = true
	}
	ids := map[string]bool{}
	for _, c := range cases {
		if c.ID != "" && ids[c.ID] {
			wrong = append(wrong, fmt.Errorf("toolsearcheval: two cases have the ID %q", c.ID))
		}
		ids[c.ID] = true
		for _, problem := range problems(c, known) {
			wrong = append(wrong, fmt.Errorf("toolsearcheval: case %q (%.60q) %w", c.ID, c.Query, problem))
		}
	}
	return errors.Join(wrong...)
}

// problems are what is wrong with one case.
func problems(c Case, known map[string]bool) (wrong []error) {
	for i, name := range c.Relevant {
		if !known[name] {
			wrong = append(wrong, fmt.Errorf("names the tool %q, which is not in the catalogue", name))
		}
		if slices.Contains(c.Relevant[:i], name) {
			wrong = append(wrong, fmt.Errorf("names the tool %q twice", name))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.Equivalent)) {
		if !slices.Contains(c.Relevant, name) {
			wrong = append(wrong, fmt.Errorf("has equivalents of %q, which is not among its relevant tools", name))
		}
		for _, other := range c.Equivalent[name] {
			if !known[other] {
				wrong = append(wrong, fmt.Errorf("names the tool %q, which is not in the catalogue", other))
			}
		}
	}
	return wrong
}
