// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package compare

// All settings, and what each of them took with the model that follows rules.

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"

	einosearch "github.com/cloudwego/eino/adk/middlewares/dynamictool/toolsearch"
	einoreduction "github.com/cloudwego/eino/adk/middlewares/reduction"

	"github.com/einolean/einolean/reduction"
	"github.com/einolean/einolean/store"
)

// All are the settings of tools, each without and with a reduction of results, and both of Eino's
// own middlewares in one agent. The caller owns the slice.
func All() (all []Arm) {
	for _, a := range Arms() {
		all = append(all, a, Reduced(a))
	}
	return append(all,
		einos("Eino v0.9.21 `toolsearch` and `reduction`", einoreduction.Config{}),
		einos("Eino v0.9.21 `toolsearch` and `reduction`, at the limits of `Recommended`", einoreduction.Config{MaxLengthForTrunc: 10_000, MaxTokensForClear: 32_000}),
	)
}

// einos is an arm with both of Eino's own middlewares. It has our read tool, since Eino's reduction
// brings none and a file system would add six tools.
func einos(name string, limits einoreduction.Config) Arm {
	return Arm{name, func(ctx context.Context, all tools) (tools, handlers, error) {
		files := store.NewMemory(0)
		read, err := reduction.NewReadTool(ctx, &reduction.ReadToolConfig{Backend: files})
		if err != nil {
			return nil, nil, err
		}
		search, err := einosearch.New(ctx, &einosearch.Config{DynamicTools: all})
		if err != nil {
			return nil, nil, err
		}
		config := limits
		config.Backend, config.TruncExcludeTools, config.ClearExcludeTools = files, []string{"read_file"}, []string{"tool_search"}
		reduce, err := einoreduction.New(ctx, &config)
		return tools{read}, handlers{search, reduce}, err
	}}
}

// Took is what a task took with a setting: model calls, tokens of all requests at four bytes, and
// of those what begins as an earlier request does.
type Took struct {
	Calls  int   `json:"calls"`
	Tokens int64 `json:"tokens"`
	Cached int64 `json:"cached"`
}

// Add adds what another task took.
func (t *Took) Add(other Took) {
	t.Calls, t.Tokens, t.Cached = t.Calls+other.Calls, t.Tokens+other.Tokens, t.Cached+other.Cached
}

//go:embed measured.json
var measured []byte

// Measured is what each task took with each setting and the model that follows rules, by the name
// of the arm and the id of the task. make report writes it.
func Measured() (all map[string]map[string]Took, err error) {
	if err := json.Unmarshal(measured, &all); err != nil {
		return nil, fmt.Errorf("compare: measured.json: %w", err)
	}
	return all, nil
}
