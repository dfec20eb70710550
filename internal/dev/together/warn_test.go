// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package together

// What the log of the first night says.

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/adk/filesystem"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean"
	"github.com/einolean/einolean/internal/dev/adktest"
	"github.com/einolean/einolean/reduction"
	"github.com/einolean/einolean/store"
	"github.com/einolean/einolean/toolsearch"
	"github.com/einolean/einolean/toolsearch/index"
)

// down is a store that can be read and takes nothing.
type down struct{ *store.Memory }

func (down) Write(context.Context, *filesystem.WriteRequest) error { return errors.New("disk is full") }
func (down) Create(context.Context, *filesystem.WriteRequest) error {
	return errors.New("disk is full")
}

// dumb is an index that finds nothing.
type dumb struct{}

func (dumb) Search(context.Context, index.Query) ([]index.Result, error) {
	return nil, errors.New("no such model")
}

// heard is what slog.Default writes in a test.
func heard(t *testing.T) *bytes.Buffer {
	t.Helper()
	was, out := slog.Default(), &bytes.Buffer{}
	slog.SetDefault(slog.New(slog.NewTextHandler(out, &slog.HandlerOptions{Level: slog.LevelDebug})))
	t.Cleanup(func() { slog.SetDefault(was) })
	return out
}

// Without OnEvent, the log reports once a minute that a failing store or index costs the saving.
// With einolean.Tee() as OnEvent, it reports nothing.
func TestOnEvent_UnsetLogsLostSaving(t *testing.T) {
	adktest.Both(t, warned[message], warned[agenticMessage])
}

func warned[M adk.MessageType](t *testing.T, streaming bool) {
	files := down{store.NewMemory(1 << 20)}
	broken := func(context.Context, []*schemaInfo) (index.Index, error) { return dumb{}, nil }
	for _, preset := range []bool{false, true} {
		for _, onEvent := range []func(context.Context, einolean.Event){nil, einolean.Tee()} {
			find := toolsearch.Config{DynamicTools: dynamicTools()}
			keep := reduction.TypedConfig[M]{Backend: files, MaxLengthForTrunc: 600}
			if preset {
				find, keep = *toolsearch.Recommended(dynamicTools()), *reduction.RecommendedTyped[M](files)
				find.MinTokensToHide, keep.MaxLengthForTrunc = 0, 600
			}
			find.NewIndex, find.OnEvent, keep.OnEvent = broken, onEvent, onEvent
			find.CatalogLimit, find.Backend = 3, files
			out := heard(t)
			m := adktest.Script[M](call("s", "tool_search", map[string]any{"query": "update item"}), call("a", "big", nil), call("b", "big", nil), adktest.Say("done"))
			agent, err := adk.NewTypedChatModelAgent(t.Context(), &adk.TypedChatModelAgentConfig[M]{
				Name: "a", Description: "d", Model: m, ToolsConfig: tools(big()), Handlers: adktest.Handlers(searchOf[M](t, find), reductionOf(t, keep)),
			})
			require.NoError(t, err)
			done := adktest.Collect(adk.NewTypedRunner(adk.TypedRunnerConfig[M]{Agent: agent, EnableStreaming: streaming}).Run(t.Context(), user[M]()))
			require.NoError(t, done.Err)
			if onEvent != nil {
				require.Empty(t, out.String())
				continue
			}
			for _, kind := range []einolean.Kind{einolean.KindStoreFailed, einolean.KindIndexFailed} {
				require.Equal(t, 1, strings.Count(out.String(), "level=WARN msg="+string(kind)), "%s\n%s", kind, out)
			}
			require.Contains(t, out.String(), "disk is full")
			require.Contains(t, out.String(), "no such model")
			require.Equal(t, 2, strings.Count(out.String(), "\n"), "nothing else is worth a line: %s", out)
		}
	}
}
