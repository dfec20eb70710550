// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package slots

import (
	"context"
	"sync"

	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean/internal/safe"
)

// asksAgain reports whether Eino asks the tools of a list for their names before each round of
// calls. It is tried once in a process.
var asksAgain = sync.OnceValue(func() bool {
	ok, err := safe.Value("trying a tool that changes its name", tryRenaming)
	return ok && err == nil
})

// tryRenaming calls a tool twice, under two names, through one tools node with one list, as an
// agent does.
func tryRenaming() (bool, error) {
	ctx, t := context.Background(), &renamed{}
	node, err := compose.NewToolNode(ctx, &compose.ToolsNodeConfig{Tools: []tool.BaseTool{t}})
	if err != nil {
		return false, err
	}
	list := compose.WithToolList(t)
	for _, t.name = range []string{prefix + "a", prefix + "b"} {
		call := schema.AssistantMessage("", []schema.ToolCall{{ID: "1", Function: schema.FunctionCall{Name: t.name, Arguments: "{}"}}})
		if _, err := node.Invoke(ctx, call, list); err != nil {
			return false, err
		}
	}
	return true, nil
}

// renamed is a tool that changes its name.
type renamed struct{ name string }

func (r *renamed) Info(context.Context) (*schema.ToolInfo, error) {
	return &schema.ToolInfo{Name: r.name, Desc: slotDesc}, nil
}

func (r *renamed) InvokableRun(context.Context, string, ...tool.Option) (string, error) {
	return "", nil
}

// IsCallbacksEnabled keeps Eino from telling callbacks of the trial.
func (r *renamed) IsCallbacksEnabled() bool { return true }
