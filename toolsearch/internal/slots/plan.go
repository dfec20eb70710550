// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package slots

import (
	"context"
	"slices"
	"sync"

	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean/internal/safe"
	"github.com/einolean/einolean/toolsearch/internal/catalog"
)

// maxBoundTools is how many tools have slots of their own: Eino prepares each listed tool again for every batch of
// calls.
const maxBoundTools = 512

// sharedSlots is how many shared slots of each form there are. When those of its form run out, a tool gets one of
// another form with the same kind of result.
var sharedSlots = [formCount]int{
	invokable: 32, streamable: 8, invokableStreamable: 8,
	enhancedInvokable: 32, enhancedStreamable: 8, enhancedInvokableStreamable: 8,
}

// Plan is the slots for a set of tools. It serves many runs.
type Plan struct {
	boundTools  []*catalog.Tool // each with a slot for the whole run
	positions   map[string]int  // of the names of bound tools
	sharedForms []toolForm      // of the shared slots; the last slot answers calls that got none
	namesFixed  bool            // Eino keeps the names of listed tools
}

// NewPlan plans the slots for tools. mayJoin says that other tools may join during a run.
func NewPlan(tools *catalog.Set, mayJoin bool) *Plan {
	p := &Plan{positions: map[string]int{}, namesFixed: !rereadsToolNames()}
	var counts [formCount]int // of shared slots
	for t := range tools.All() {
		if tools.Len() > maxBoundTools && !p.namesFixed {
			f := formOf(t.Value)
			counts[f] = min(counts[f]+1, sharedSlots[f])
			continue
		}
		p.positions[t.Info.Name] = len(p.boundTools)
		p.boundTools = append(p.boundTools, t)
	}
	if mayJoin && !p.namesFixed {
		counts = sharedSlots
	} else { // for the answers to calls of removed tools
		counts[invokable] = max(counts[invokable], sharedSlots[streamable])
	}
	for f, n := range counts {
		p.sharedForms = append(p.sharedForms, slices.Repeat([]toolForm{toolForm(f)}, n)...)
	}
	p.sharedForms = append(p.sharedForms, invokable)
	return p
}

// rereadsToolNames reports whether Eino asks the tools of a list for their names before each batch of calls. A process
// tries it once.
var rereadsToolNames = sync.OnceValue(func() bool {
	ok, err := safe.Value("trying a tool that changes its name", tryRenaming)
	return ok && err == nil
})

// tryRenaming calls a tool under two names, through one tools node with one list, as an agent does.
func tryRenaming() (bool, error) {
	ctx, t := context.Background(), &renamingTool{}
	node, err := compose.NewToolNode(ctx, &compose.ToolsNodeConfig{Tools: []tool.BaseTool{t}})
	if err != nil {
		return false, err
	}
	list := compose.WithToolList(t)
	for _, t.name = range []string{unusedPrefix + "a", unusedPrefix + "b"} {
		call := schema.ToolCall{ID: "1", Function: schema.FunctionCall{Name: t.name, Arguments: "{}"}}
		if _, err := node.Invoke(ctx, schema.AssistantMessage("", []schema.ToolCall{call}), list); err != nil {
			return false, err
		}
	}
	return true, nil
}

// renamingTool is a tool that changes its name.
type renamingTool struct{ name string }

func (t *renamingTool) Info(context.Context) (*schema.ToolInfo, error) {
	return &schema.ToolInfo{Name: t.name, Desc: unusedDesc}, nil
}

func (t *renamingTool) InvokableRun(context.Context, string, ...tool.Option) (string, error) {
	return "", nil
}

// IsCallbacksEnabled keeps Eino from running callbacks.
func (t *renamingTool) IsCallbacksEnabled() bool { return true }
