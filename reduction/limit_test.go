// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package reduction_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/leanctx/leanctx"
	"github.com/leanctx/leanctx/internal/backend"
	"github.com/leanctx/leanctx/internal/race"
	"github.com/leanctx/leanctx/reduction"
)

// inLanguages runs a test in each language.
func inLanguages(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	t.Cleanup(func() { _ = adk.SetLanguage(adk.LanguageEnglish) })
	for name, l := range map[string]adk.Language{"English": adk.LanguageEnglish, "Chinese": adk.LanguageChinese} {
		require.NoError(t, adk.SetLanguage(l))
		t.Run(name, f)
	}
}

// The least limit is documented. Below it New refuses; from it on results are cut,
// whatever the id, the path and the store.
func TestEveryLimitThatNewAcceptsCuts(t *testing.T) {
	race.Skip(t, "cuts at each of many limits")
	ids := []string{"c", strings.Repeat("x", 128), strings.Repeat("../", 100), "call_0123456789abcdef0123456789abcdef"}
	paths := []string{"", "/short", "/" + strings.Repeat("long", 60), "/" + strings.Repeat("longer", 600)}
	inLanguages(t, func(t *testing.T) {
		for _, root := range []string{"", "/" + strings.Repeat("root", 50)} {
			for _, name := range []string{"", "read_the_results_that_were_saved_before"} {
				least := 400 + len(orElse(root, "/tmp")) + len(orElse(name, "read_file"))
				cfg := reduction.Config{Backend: &discard{}, RootDir: root, ReadFileToolName: name, MaxLengthForTrunc: least - 1}
				_, err := reduction.New(context.Background(), &cfg)
				require.ErrorContains(t, err, fmt.Sprintf("MaxLengthForTrunc: is %d, and must be at least %d", least-1, least))
				cfg.MaxLengthForTrunc, cfg.ToolConfig = 0, map[string]*reduction.ToolReductionConfig{"shell": {MaxLengthForTrunc: least - 1}}
				_, err = reduction.New(context.Background(), &cfg)
				require.ErrorContains(t, err, fmt.Sprintf(`ToolConfig["shell"].MaxLengthForTrunc: is %d, and must be at least %d`, least-1, least))
				for _, path := range paths {
					for _, id := range ids {
						cutsAt(t, reduction.Config{RootDir: root, ReadFileToolName: name, MaxLengthForTrunc: least}, path, id)
					}
				}
			}
		}
	})
}

func orElse(s, or string) string {
	if s == "" {
		return or
	}
	return s
}

func cutsAt(t *testing.T, cfg reduction.Config, path, id string) {
	t.Helper()
	if path != "" {
		cfg.GenTruncOffloadFilePath = func(context.Context, *reduction.ToolDetail) (string, error) { return path, nil }
	}
	for _, size := range []int{cfg.MaxLengthForTrunc + 1, 100_000} {
		for _, f := range forms {
			for _, broken := range []bool{false, f.stream} {
				store := backend.NewMemory(0)
				cfg.Backend = store
				if broken {
					cfg.Backend = &failing{fmt.Errorf("down")}
				}
				out, err := f.run(context.Background(), typed(t, &cfg), &adk.ToolContext{Name: "shell", CallID: id}, `{}`, []string{strings.Repeat("x", size)})
				require.NoError(t, err)
				where := fmt.Sprintf("%s, %d bytes, limit %d, path %.20q, id %.20q", f.name, size, cfg.MaxLengthForTrunc, path, id)
				require.LessOrEqual(t, len(out), cfg.MaxLengthForTrunc, where)
				if !broken {
					require.Equal(t, strings.Repeat("x", size), stored(t, store, pathIn(out)), where)
				}
			}
		}
	}
}

func TestAToolHasItsOwnLimit(t *testing.T) {
	for _, skip := range []bool{false, true} {
		mw := typed(t, &reduction.Config{Backend: backend.NewMemory(0), MaxLengthForTrunc: 5000, SkipTruncation: skip, ToolConfig: map[string]*reduction.ToolReductionConfig{
			"small":   {MaxLengthForTrunc: 1000},
			"large":   {MaxLengthForTrunc: 20_000},
			"skipped": {MaxLengthForTrunc: 1000, SkipTruncation: true},
		}})
		for _, f := range forms {
			for name, c := range map[string]struct{ size, most int }{
				"small": {3000, 1000}, "large": {15_000, 15_000}, "skipped": {3000, 3000}, "shell": {4000, 4000},
			} {
				out, err := f.run(context.Background(), mw, &adk.ToolContext{Name: name, CallID: "c"}, `{}`, []string{strings.Repeat("x", c.size)})
				require.NoError(t, err)
				require.LessOrEqual(t, len(out), c.most, "%s, %s", name, f.name)
				require.Equal(t, c.size > c.most, strings.Contains(out, "persisted-output"), "%s, %s", name, f.name)
			}
			out, err := f.run(context.Background(), mw, &adk.ToolContext{Name: "large", CallID: "d"}, `{}`, []string{strings.Repeat("x", 30_000)})
			require.NoError(t, err)
			require.LessOrEqual(t, len(out), 20_000)
			out, err = f.run(context.Background(), mw, &adk.ToolContext{Name: "shell", CallID: "d"}, `{}`, []string{strings.Repeat("x", 30_000)})
			require.NoError(t, err)
			require.Equal(t, skip, len(out) == 30_000, "the general limit and the general skip hold for the others")
		}
	}
	_, err := reduction.New(context.Background(), &reduction.Config{SkipTruncation: true, ToolConfig: map[string]*reduction.ToolReductionConfig{
		"a": {MaxLengthForTrunc: 1000}, "b": {MaxLengthForTrunc: -1}}})
	require.ErrorContains(t, err, `ToolConfig["a"].MaxLengthForTrunc: is set, but there is no Backend`)
	require.ErrorContains(t, err, `ToolConfig["b"].MaxLengthForTrunc: is -1, and must not be negative`)
}

// A handler may leave a result to the middleware, which then does what it would do
// without the handler.
func TestAHandlerMayLeaveTheResultToTheMiddleware(t *testing.T) {
	content := strings.Repeat("a line of the result\n", 400)
	wrapped := func(read int) func(context.Context, *reduction.ToolDetail) (*reduction.TruncResult, error) {
		return func(_ context.Context, d *reduction.ToolDetail) (*reduction.TruncResult, error) {
			for range read {
				_, _ = d.StreamToolResult.Recv()
			}
			return &reduction.TruncResult{NeedTrunc: true, ToolResult: resultOf("ignored")}, fmt.Errorf("too hard: %w", reduction.UseDefault)
		}
	}
	for _, f := range forms {
		for _, read := range []int{0, 1, 3} {
			if !f.stream && read > 0 {
				continue
			}
			own := map[string]*reduction.ToolReductionConfig{"shell": {TruncHandler: wrapped(read)}, "read_file": {TruncHandler: wrapped(read)}, "large": {TruncHandler: wrapped(read), MaxLengthForTrunc: 9000}}
			store := backend.NewMemory(0)
			var events []leanctx.Event
			mw := typed(t, &reduction.Config{Backend: store, MaxLengthForTrunc: 1000, ToolConfig: own,
				OnEvent: func(_ context.Context, e leanctx.Event) { events = append(events, e) }})
			run := func(mw wrapper, name string) string {
				out, err := f.run(context.Background(), mw, &adk.ToolContext{Name: name, CallID: "c"}, `{}`, []string{content[:2000], content[2000:]})
				require.NoError(t, err)
				return out
			}
			out := run(mw, "shell")
			require.LessOrEqual(t, len(out), 1000)
			require.Equal(t, content, stored(t, store, pathIn(out)))
			require.Equal(t, content, run(mw, "read_file"))
			require.Equal(t, content, run(mw, "large"))
			require.Len(t, events, 1, "nothing else was longer than its limit")
			require.Equal(t, leanctx.KindResultCut, events[0].Kind)
			skipping := typed(t, &reduction.Config{Backend: store, MaxLengthForTrunc: 1000, SkipTruncation: true, ToolConfig: own})
			require.Equal(t, content, run(skipping, "shell"))
		}
	}
	both(t, clearedByDefault[*schema.Message], clearedByDefault[*schema.AgenticMessage])
}

func clearedByDefault[M adk.MessageType](t *testing.T) {
	asked := 0
	handler := func(context.Context, *reduction.ToolDetail) (*reduction.ClearResult, error) {
		asked++
		return nil, reduction.UseDefault
	}
	msgs := rounds[M](4, 900)
	own := map[string]*reduction.ToolReductionConfig{"shell": {ClearHandler: handler}}
	plain := before(t, typed(t, &reduction.TypedConfig[M]{Backend: backend.NewMemory(0), MaxTokensForClear: 1}), msgs)
	store := backend.NewMemory(0)
	mw := typed(t, &reduction.TypedConfig[M]{Backend: store, MaxTokensForClear: 1, ToolConfig: own})
	out := before(t, mw, msgs)
	require.Equal(t, plain, out)
	require.Equal(t, 3, asked)
	require.Equal(t, out, before(t, mw, out), "a second pass changes nothing")
	require.Equal(t, 3, asked, "a handler is not asked about notices")
	require.Equal(t, msgs, before(t, typed(t, &reduction.TypedConfig[M]{Backend: store, MaxTokensForClear: 1, SkipClear: true, ToolConfig: own}), msgs))
}
