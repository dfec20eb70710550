// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// A Source in a run, and what other tests make tools and sets with.

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/adktest"
	"github.com/einolean/einolean/internal/einorun"
	"github.com/einolean/einolean/toolsearch/toolset"
)

func setOf(t testing.TB, tools ...tool.BaseTool) *toolset.Set {
	t.Helper()
	s, err := toolset.New(context.Background(), tools...)
	require.NoError(t, err)
	return s
}

// sourceFunc is a Source of somebody else's.
type sourceFunc func(context.Context) (*toolset.Set, error)

func (f sourceFunc) Tools(ctx context.Context) (*toolset.Set, error) { return f(ctx) }

// A source that takes longer than a model call waits for it is a call late, and no more.
//
//claim:mcp-14
func TestSource_LateAnswerIsUsedInNextCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		set := setOf(t, adktest.Simple("post", "posts a letter"))
		source := sourceFunc(func(context.Context) (*toolset.Set, error) {
			time.Sleep(sourceTimeout + time.Second)
			return set, nil
		})
		h, err := New(context.Background(), &Config{Source: source})
		require.NoError(t, err)
		rc := &einorun.RunContext{}
		ctx, err := einorun.Begin(context.Background(), h, rc)
		require.NoError(t, err)
		state := &adk.ChatModelAgentState{Messages: []*schema.Message{schema.UserMessage("send it")}}
		for range 2 {
			time.Sleep(2 * time.Second) // the answer comes
			ctx, state, err = h.BeforeModelRewriteState(ctx, state, &adk.ModelContext{})
			require.NoError(t, err)
			state.Messages = append(state.Messages, schema.AssistantMessage("wait", nil))
		}
		answer, err := rc.Tools[0].(tool.InvokableTool).InvokableRun(ctx, `{"query":"letter"}`)
		require.NoError(t, err)
		require.Contains(t, answer, "post")
		time.Sleep(sourceTimeout + time.Second)
	})
}
