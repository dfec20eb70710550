// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// Indexes are built before they are searched.

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/adktest"
	"github.com/einolean/einolean/internal/einorun"
	"github.com/einolean/einolean/toolsearch/index"
	"github.com/einolean/einolean/toolsearch/internal/catalog"
	"github.com/einolean/einolean/toolsearch/toolset"
)

// telling is an index that tells when it is built.
type telling chan string

func (b telling) Build(catalog.InternalOnly) error {
	b <- "built"
	return nil
}

func (b telling) Search(context.Context, index.Query) ([]index.Result, error) { return nil, nil }

// While the model writes its first search, the index is built: at the start of a run, and again
// when the tools have changed during the run. Where all tools are shown there is nothing to search.
func TestNewIndex_BuildsBeforeFirstSearch(t *testing.T) {
	for _, c := range []struct {
		above int
		want  []string
	}{{0, []string{"built", "built", ""}}, {1, []string{"built", "built", ""}}, {1 << 20, []string{"", "", ""}}} {
		synctest.Test(t, func(t *testing.T) {
			ctx, builds := context.Background(), make(telling, 9)
			one, err := toolset.New(ctx, adktest.Comparable("a", nil))
			require.NoError(t, err)
			two, err := one.Update(ctx, adktest.Comparable("a", nil), adktest.Comparable("b", nil))
			require.NoError(t, err)
			source := &switched{one}
			h, err := New(ctx, &Config{Source: source, MinTokensToHide: c.above,
				NewIndex: func(context.Context, []*schema.ToolInfo) (index.Index, error) { return builds, nil }})
			require.NoError(t, err)
			ctx, err = einorun.Begin(ctx, h, &einorun.RunContext{})
			require.NoError(t, err)
			for i, set := range []*toolset.Set{one, two, two} {
				source.set = set
				_, _, err := h.BeforeModelRewriteState(ctx, &adk.ChatModelAgentState{Messages: []*schema.Message{schema.UserMessage("please")}}, nil)
				require.NoError(t, err)
				synctest.Wait()
				select {
				case got := <-builds:
					require.Equal(t, c.want[i], got, "model call %d", i)
				default:
					require.Empty(t, c.want[i], "model call %d", i)
				}
			}
		})
	}
}

// switched is a source whose set a test switches.
type switched struct{ set *toolset.Set }

func (s *switched) Tools(context.Context) (*toolset.Set, error) { return s.set, nil }
