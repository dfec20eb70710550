// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package reduction_test

// Checks of the Config, its defaults and limits.

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean"
	"github.com/einolean/einolean/internal/backend"
	"github.com/einolean/einolean/internal/dev/adktest"
	"github.com/einolean/einolean/internal/dev/backendtest"
	"github.com/einolean/einolean/internal/dev/race"
	"github.com/einolean/einolean/internal/tokens"
	"github.com/einolean/einolean/reduction"
	"github.com/einolean/einolean/store"
)

func TestNew_ReportsEveryInvalidField(t *testing.T) {
	ctx := context.Background()
	_, err := reduction.New(ctx, nil)
	require.EqualError(t, err, "reduction: the configuration is nil: pass reduction.Recommended(backend) or a &reduction.Config{Backend: ...}")

	_, err = reduction.New(ctx, &reduction.Config{MaxLengthForTrunc: -1, ProvideReadTool: true, Backend: &discard{},
		ToolConfig: map[string]*reduction.ToolReductionConfig{"a": {Backend: &drainStore{}}, "b": {Backend: backend.NewMemory(0)}}})
	for _, field := range []string{"MaxLengthForTrunc: is -1", "Backend: is a *reduction_test.discard, and must implement store.Reader", `ToolConfig["a"].Backend: is a *reduction_test.drainStore, and must implement store.Reader`} {
		require.ErrorContains(t, err, field)
	}
	_, err = reduction.New(ctx, &reduction.Config{
		MaxLengthForTrunc: -1, MaxTokensForClear: -2, ClearRetentionSuffixLimit: -3, ClearAtLeastTokens: -4,
		ClearTargetTokens: -5, MinSavingBytes: -6,
		ToolConfig: map[string]*reduction.ToolReductionConfig{"b": nil, "a": {Backend: (*store.Memory)(nil)}},
	})
	var wrong []string
	for _, each := range err.(interface{ Unwrap() []error }).Unwrap() {
		var field *einolean.FieldError
		require.ErrorAs(t, each, &field)
		require.Equal(t, "reduction", field.Package)
		wrong = append(wrong, field.Field)
	}
	require.Equal(t, []string{"Backend", "MaxLengthForTrunc", "MaxTokensForClear", "ClearRetentionSuffixLimit", "ClearAtLeastTokens", "ClearTargetTokens",
		"MinSavingBytes", `ToolConfig["a"].Backend`, `ToolConfig["b"]`}, wrong)
	for _, text := range []string{"Backend: is required unless SkipTruncation is set", "MaxLengthForTrunc: is -1", "MinSavingBytes: is -6", `ToolConfig["b"]: is nil`} {
		require.ErrorContains(t, err, text)
	}

	for what, c := range map[string]*reduction.Config{
		"Backend: is nil inside an interface": {Backend: (*store.Dir)(nil), SkipTruncation: true},
		"ClearTargetTokens: is 160001":        {SkipTruncation: true, ClearTargetTokens: 160_001},
		"ClearTargetTokens: is 11":            {SkipTruncation: true, ClearTargetTokens: 11, MaxTokensForClear: 10},
		"ProvideReadTool: is set, but there":  {SkipTruncation: true, ProvideReadTool: true},
		"RootDir: is \"/a\\nb\"":              {SkipTruncation: true, RootDir: "/a\nb"},
		"RootDir: is \"/\\xff\"":              {SkipTruncation: true, RootDir: "/\xff"},
		"RootDir: is \"/aaaa":                 {SkipTruncation: true, RootDir: "/" + strings.Repeat("a", 4000)},
		"must implement store.Reader":         {Backend: backendtest.NewFaulty(backend.NewMemory(0), nil).WriteOnly(), ProvideReadTool: true},
	} {
		_, err := reduction.New(ctx, c)
		require.ErrorContains(t, err, what)
	}
	for _, c := range []*reduction.Config{
		{SkipTruncation: true}, {Backend: backend.NewMemory(0)}, {Backend: backend.NewMemory(0), ClearTargetTokens: 160_000},
	} {
		_, err := reduction.New(ctx, c)
		require.NoError(t, err)
	}
}

func TestNew_CopiesConfig(t *testing.T) {
	files := backend.NewMemory(0)
	c := &reduction.Config{Backend: files, MaxLengthForTrunc: 1000, TruncExcludeTools: []string{"kept"},
		ToolConfig: map[string]*reduction.ToolReductionConfig{"skipped": {SkipTruncation: true}}}
	mw := typed(t, c)
	c.Backend, c.MaxLengthForTrunc, c.TruncExcludeTools[0], c.ToolConfig["skipped"].SkipTruncation = nil, 1, "x", false
	delete(c.ToolConfig, "skipped")
	for name, cut := range map[string]bool{"kept": false, "skipped": false, "other": true} {
		out, err := runInvokable(context.Background(), mw, &adk.ToolContext{Name: name, CallID: "c"}, `{}`, []string{strings.Repeat("x", 2000)})
		require.NoError(t, err)
		require.Equal(t, cut, len(out) <= 1000, name)
	}
}

func TestConfig_DefaultsMatchEino(t *testing.T) {
	files := backend.NewMemory(0)
	mw := typed(t, &reduction.Config{Backend: files})
	whole, err := runInvokable(context.Background(), mw, callC, `{}`, []string{strings.Repeat("x", 50_000)})
	require.NoError(t, err)
	require.Len(t, whole, 50_000)
	cut, err := runInvokable(context.Background(), mw, callC, `{}`, []string{strings.Repeat("x", 50_001)})
	require.NoError(t, err)
	require.Equal(t, "/tmp/trunc/c", pathIn(cut))
	require.Contains(t, cut, "read_file")
	each := float64(tokens.Estimate(rounds[*schema.Message](1, 10_000)[2].Content)) / 10_000
	for _, size := range []float64{155_000, 165_000} { // tokens
		msgs := rounds[*schema.Message](10, int(size/10/each))
		out := before(t, mw, msgs)
		require.Equal(t, size > 160_000, strings.Contains(out[2].Content, "/tmp/clear/call_0"), size)
		require.Equal(t, msgs[20], out[20], "one round is kept")
	}
}

func TestClearRetentionSuffixLimit_AnyNumberOfRounds(t *testing.T) {
	for _, keep := range []int{1, 2, 5, 6} {
		mw := typed(t, &reduction.Config{Backend: backend.NewMemory(0), MaxTokensForClear: 1, ClearRetentionSuffixLimit: keep})
		msgs := rounds[*schema.Message](5, 500)
		out := before(t, mw, append(msgs, schema.UserMessage("thanks"), schema.AssistantMessage("bye", nil)))
		for i := range 5 {
			require.Equal(t, i < 5-keep, strings.Contains(out[2*i+2].Content, "persisted-output"), "round %d of 5, keeping %d", i, keep)
		}
	}
}

// A limit without room for a notice counts as the least that has: whatever is longer is cut to that,
// and what is not stays.
//
//claim:migration-03
func TestMaxLengthForTrunc_RaisesSmallLimits(t *testing.T) {
	const least = 413
	for limit := 1; limit <= 2*least; limit += 7 {
		for where, c := range map[string]*reduction.Config{
			"general":    {MaxLengthForTrunc: limit},
			"of a tool":  {ToolConfig: map[string]*reduction.ToolReductionConfig{callC.Name: {MaxLengthForTrunc: limit}}},
			"of neither": {MaxLengthForTrunc: limit, ToolConfig: map[string]*reduction.ToolReductionConfig{callC.Name: {}}},
		} {
			c.Backend = backend.NewMemory(0)
			mw := typed(t, c)
			for _, f := range forms {
				short, long := strings.Repeat("s", max(limit, least)), strings.Repeat("line\n", 500)
				out, err := f.run(context.Background(), mw, callC, `{}`, []string{short})
				require.NoError(t, err)
				require.Equal(t, short, out, "%s, %s, %d", where, f.name, limit)
				out, err = f.run(context.Background(), mw, callC, `{}`, []string{long})
				require.NoError(t, err)
				require.LessOrEqual(t, len(out), max(limit, least), "%s, %s, %d", where, f.name, limit)
				require.NotEmpty(t, pathIn(out))
			}
		}
	}
}

// The least limit is documented. From it on results are cut, whatever the id, the path and the store.
func TestMaxLengthForTrunc_EveryAcceptedLimitTruncates(t *testing.T) {
	race.Skip(t, "cuts at each of many limits")
	ids := []string{"c", strings.Repeat("x", 128), strings.Repeat("../", 100), "call_0123456789abcdef0123456789abcdef"}
	paths := []string{"", "/short", "/" + strings.Repeat("long", 60), "/" + strings.Repeat("longer", 600)}
	inLanguages(t, func(t *testing.T) {
		for _, root := range []string{"", "/" + strings.Repeat("root", 50)} {
			for _, name := range []string{"", "read_the_results_that_were_saved_before"} {
				least := 400 + len(orElse(root, "/tmp")) + len(orElse(name, "read_file"))
				for _, path := range paths {
					for _, id := range ids {
						cutsAt(t, reduction.Config{RootDir: root, ReadFileToolName: name, MaxLengthForTrunc: least}, path, id)
						cutsAt(t, reduction.Config{RootDir: root, ReadFileToolName: name,
							MaxLengthForTrunc: least + 80, ResolveReferences: true}, path, id)
					}
				}
			}
		}
	})
}

// inLanguages runs a test in each language.
func inLanguages(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	t.Cleanup(func() { _ = adk.SetLanguage(adk.LanguageEnglish) })
	for name, l := range map[string]adk.Language{"English": adk.LanguageEnglish, "Chinese": adk.LanguageChinese} {
		require.NoError(t, adk.SetLanguage(l))
		t.Run(name, f)
	}
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
				files := backend.NewMemory(0)
				cfg.Backend = files
				if broken {
					cfg.Backend = &failing{fmt.Errorf("down")}
				}
				out, err := f.run(context.Background(), typed(t, &cfg), &adk.ToolContext{Name: "shell", CallID: id}, `{}`, []string{strings.Repeat("x", size)})
				require.NoError(t, err)
				where := fmt.Sprintf("%s, %d bytes, limit %d, path %.20q, id %.20q", f.name, size, cfg.MaxLengthForTrunc, path, id)
				require.LessOrEqual(t, len(out), cfg.MaxLengthForTrunc, where)
				if !broken {
					require.Equal(t, strings.Repeat("x", size), stored(t, files, pathIn(out)), where)
				}
			}
		}
	}
}

func TestToolConfig_HasItsOwnLimit(t *testing.T) {
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

func TestToolConfig_BackendOfTool_R14(t *testing.T) {
	general, own := &writes{}, &writes{}
	handler := func(_ context.Context, d *reduction.ToolDetail) (*reduction.TruncResult, error) {
		return &reduction.TruncResult{NeedTrunc: true, ToolResult: resultOf("short"), NeedOffload: true, OffloadFilePath: "/mine", OffloadContent: "all"}, nil
	}
	mw := typed(t, &reduction.Config{Backend: general, MaxLengthForTrunc: 1000, MaxTokensForClear: 1, ToolConfig: map[string]*reduction.ToolReductionConfig{
		"own":     {Backend: own},
		"handled": {TruncHandler: handler},
		"skipped": {SkipTruncation: true, TruncHandler: handler, SkipClear: true, ClearHandler: func(context.Context, *reduction.ToolDetail) (*reduction.ClearResult, error) {
			return nil, errors.New("called")
		}},
	}})
	big := []string{strings.Repeat("x", 3000)}
	_, err := runInvokable(context.Background(), mw, &adk.ToolContext{Name: "own", CallID: "c"}, `{}`, big)
	require.NoError(t, err)
	require.Equal(t, []string{writeOnlyName("/tmp/trunc/c", big[0])}, own.paths)
	require.Empty(t, general.paths)
	out, err := runInvokable(context.Background(), mw, &adk.ToolContext{Name: "handled", CallID: "c"}, `{}`, big)
	require.NoError(t, err)
	require.Equal(t, "short", out)
	require.Equal(t, []string{"/mine"}, general.paths)
	out, err = runInvokable(context.Background(), mw, &adk.ToolContext{Name: "skipped", CallID: "c"}, `{}`, big)
	require.NoError(t, err)
	require.Equal(t, big[0], out)
	msgs := []*schema.Message{
		adktest.Assistant[*schema.Message]("", adktest.ToolCall{ID: "1", Name: "skipped"}), adktest.Result[*schema.Message]("1", "skipped", big[0]),
		adktest.Assistant[*schema.Message]("", adktest.ToolCall{ID: "2", Name: "skipped"}), adktest.Result[*schema.Message]("2", "skipped", big[0]),
	}
	require.Equal(t, msgs, before(t, mw, msgs))

	none := typed(t, &reduction.Config{SkipTruncation: true, ToolConfig: map[string]*reduction.ToolReductionConfig{"handled": {TruncHandler: handler}}})
	_, err = runInvokable(context.Background(), none, &adk.ToolContext{Name: "handled", CallID: "c"}, `{}`, big)
	require.ErrorContains(t, err, `reduction: truncating a result of "handled": NeedOffload is set, but there is no Backend: set Backend in Config`)
}

func TestMiddleware_NilValuesDoNotPanic_R15(t *testing.T) {
	adktest.EachType(t, testMiddlewareNilValuesDoNotPanic[*schema.Message], testMiddlewareNilValuesDoNotPanic[*schema.AgenticMessage])
}

func testMiddlewareNilValuesDoNotPanic[M adk.MessageType](t *testing.T) {
	var none M
	for _, own := range []*reduction.ToolReductionConfig{{},
		{ClearHandler: func(context.Context, *reduction.ToolDetail) (*reduction.ClearResult, error) { return nil, nil }},
		{ClearHandler: func(context.Context, *reduction.ToolDetail) (*reduction.ClearResult, error) {
			return &reduction.ClearResult{NeedClear: true}, nil
		}},
		{ClearHandler: func(context.Context, *reduction.ToolDetail) (*reduction.ClearResult, error) {
			return &reduction.ClearResult{NeedClear: true, ToolResult: &schema.ToolResult{}, ToolArgument: &schema.ToolArgument{}}, nil
		}},
		{TruncHandler: func(context.Context, *reduction.ToolDetail) (*reduction.TruncResult, error) {
			return &reduction.TruncResult{NeedTrunc: true}, nil
		}},
		{TruncHandler: func(context.Context, *reduction.ToolDetail) (*reduction.TruncResult, error) {
			return &reduction.TruncResult{NeedTrunc: true, ToolResult: &schema.ToolResult{}}, nil
		}},
	} {
		mw := typed(t, &reduction.TypedConfig[M]{Backend: backend.NewMemory(0), MaxTokensForClear: 1, ToolConfig: map[string]*reduction.ToolReductionConfig{"shell": own}})
		s := shapeOf[M]()
		msgs := append([]M{none}, rounds[M](2, 500)...)
		msgs = append(msgs, s.result("x", "shell"), s.result("y", "shell", part{medium: "image"}), none)
		_, state, err := mw.BeforeModelRewriteState(context.Background(), &adk.TypedChatModelAgentState[M]{Messages: msgs, ToolInfos: []*schema.ToolInfo{nil, {}}}, nil)
		require.NoError(t, err)
		require.Len(t, state.Messages, len(msgs))
		for _, f := range forms {
			out, err := f.run(context.Background(), mw, callC, `{}`, []string{strings.Repeat("x", 60_000)})
			require.NoError(t, err)
			require.NotEmpty(t, out)
		}
		_, nothing, err := mw.BeforeModelRewriteState(context.Background(), nil, nil)
		require.NoError(t, err)
		require.Nil(t, nothing)
	}
}
