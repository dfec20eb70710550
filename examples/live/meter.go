// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"sync"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean"
)

// meter is a handler that measures each model call. It comes last in the list, where it
// sees what the model sees. It prints nothing by itself: the answer may be streaming to the
// screen while it measures.
type meter struct {
	*adk.BaseChatModelAgentMiddleware
	all  int // tools, hidden ones included
	full int // bytes of the definitions of all of them

	mu    sync.Mutex
	lines []string
}

// AfterModelRewriteState notes the status line of a model call.
func (m *meter) AfterModelRewriteState(ctx context.Context, state *adk.ChatModelAgentState, _ *adk.ModelContext) (context.Context, *adk.ChatModelAgentState, error) {
	saved := max(0, m.full-definitions(state.ToolInfos)) / 4
	line := fmt.Sprintf("%d of %d tools visible, about %d tokens of definitions saved", len(state.ToolInfos), m.all, saved)
	if last := len(state.Messages) - 1; last >= 0 {
		if meta := state.Messages[last].ResponseMeta; meta != nil && meta.Usage != nil {
			u := meta.Usage
			line = fmt.Sprintf("%d tokens in (%d cached), %d out; ", u.PromptTokens, u.PromptTokenDetails.CachedTokens, u.CompletionTokens) + line
		}
	}
	m.note(line)
	return ctx, state, nil
}

func (m *meter) note(line string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.lines = append(m.lines, line)
}

// flush prints what was noted since the last time.
func (m *meter) flush(out io.Writer) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, l := range m.lines {
		fmt.Fprintf(out, "\n  [%s]", l)
	}
	if len(m.lines) > 0 {
		fmt.Fprintln(out)
	}
	m.lines = nil
}

// reduced notes what the reduction did.
func (m *meter) reduced(_ context.Context, e einolean.Event) {
	if e.Kind != einolean.KindResultTruncated && e.Kind != einolean.KindResultCleared && e.Kind != einolean.KindStoreFailed {
		return
	}
	m.note(e.String())
}

// definitions is the size of tools as they go over the wire, in bytes.
func definitions(infos []*schema.ToolInfo) int {
	size := 0
	for _, i := range infos {
		size += len(i.Name) + len(i.Desc)
		if i.ParamsOneOf == nil {
			continue
		}
		if s, err := i.ToJSONSchema(); err == nil {
			if text, err := json.Marshal(s); err == nil {
				size += len(text)
			}
		}
	}
	return size
}
