// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package reduction_test

import (
	"context"
	"strings"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean"
	"github.com/einolean/einolean/internal/backend"
	"github.com/einolean/einolean/internal/dev/backendtest"
	"github.com/einolean/einolean/internal/einorun"
	"github.com/einolean/einolean/internal/tokens"
	"github.com/einolean/einolean/reduction"
	"github.com/einolean/einolean/store"
)

func TestNewNamesEveryFieldThatIsWrong(t *testing.T) {
	ctx := context.Background()
	_, err := reduction.New(ctx, nil)
	require.EqualError(t, err, "reduction: the configuration is nil")

	_, err = reduction.New(ctx, &reduction.Config{MaxLengthForTrunc: -1, ProvideReadTool: true, Backend: &discard{},
		ToolConfig: map[string]*reduction.ToolReductionConfig{"a": {Backend: &drainStore{}}, "b": {Backend: backend.NewMemory(0)}}})
	for _, field := range []string{"MaxLengthForTrunc: is -1", "Backend: is a *reduction_test.discard, which cannot read", `ToolConfig["a"].Backend: is a *reduction_test.drainStore, which cannot read`} {
		require.ErrorContains(t, err, field)
	}
	_, err = reduction.New(ctx, &reduction.Config{
		MaxLengthForTrunc: -1, MaxTokensForClear: -2, ClearRetentionSuffixLimit: -3, ClearAtLeastTokens: -4,
		Savings:    reduction.Savings{ClearTargetTokens: -5, MinSavingBytes: -6},
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
	for _, text := range []string{"Backend: is missing", "MaxLengthForTrunc: is -1", "MinSavingBytes: is -6", `ToolConfig["b"]: is nil`} {
		require.ErrorContains(t, err, text)
	}

	for what, c := range map[string]*reduction.Config{
		"Backend: is missing":                {Backend: (*store.Dir)(nil), SkipTruncation: true},
		"ClearTargetTokens: is 160001":       {SkipTruncation: true, Savings: reduction.Savings{ClearTargetTokens: 160_001}},
		"ClearTargetTokens: is 11":           {SkipTruncation: true, Savings: reduction.Savings{ClearTargetTokens: 11}, MaxTokensForClear: 10},
		"ProvideReadTool: is set, but there": {SkipTruncation: true, ProvideReadTool: true},
		"RootDir: is \"/a\\nb\"":             {SkipTruncation: true, RootDir: "/a\nb"},
		"RootDir: is \"/\\xff\"":             {SkipTruncation: true, RootDir: "/\xff"},
		"RootDir: is \"/aaaa":                {SkipTruncation: true, RootDir: "/" + strings.Repeat("a", 4000)},
		"cannot read":                        {Backend: backendtest.NewFaulty(backend.NewMemory(0), nil).WriteOnly(), ProvideReadTool: true},
	} {
		_, err := reduction.New(ctx, c)
		require.ErrorContains(t, err, what)
	}
	for _, c := range []*reduction.Config{
		{SkipTruncation: true}, {Backend: backend.NewMemory(0)}, {Backend: backend.NewMemory(0), Savings: reduction.Savings{ClearTargetTokens: 160_000}},
	} {
		_, err := reduction.New(ctx, c)
		require.NoError(t, err)
	}
}

func TestLaterChangesOfAConfigurationHaveNoEffect(t *testing.T) {
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

func TestDefaultsAreThoseOfEino(t *testing.T) {
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

func TestAnyNumberOfRoundsCanBeKept(t *testing.T) {
	for _, keep := range []int{1, 2, 5, 6} {
		mw := typed(t, &reduction.Config{Backend: backend.NewMemory(0), MaxTokensForClear: 1, ClearRetentionSuffixLimit: keep})
		msgs := rounds[*schema.Message](5, 500)
		out := before(t, mw, append(msgs, schema.UserMessage("thanks"), schema.AssistantMessage("bye", nil)))
		for i := range 5 {
			require.Equal(t, i < 5-keep, strings.Contains(out[2*i+2].Content, "persisted-output"), "round %d of 5, keeping %d", i, keep)
		}
	}
}

func TestSeveralBackendsAreReadByOneProvidedTool(t *testing.T) {
	general, own := backend.NewMemory(0), backend.NewMemory(0)
	plain := backendtest.NewFaulty(backend.NewMemory(0), nil).ReadWrite()
	mw := typed(t, &reduction.Config{Backend: general, MaxLengthForTrunc: 1000, ProvideReadTool: true, ToolConfig: map[string]*reduction.ToolReductionConfig{
		"own": {Backend: own}, "plain": {Backend: plain},
	}})
	run := &einorun.RunContext{}
	_, err := einorun.Begin(context.Background(), mw, run)
	require.NoError(t, err)
	require.Len(t, run.Tools, 1)
	reader := run.Tools[0].(tool.InvokableTool)
	for _, f := range forms {
		for _, name := range []string{"shell", "own", "plain"} {
			content := strings.Repeat(name+" "+f.name+"\n", 200)
			out, err := f.run(context.Background(), mw, &adk.ToolContext{Name: name, CallID: "c"}, `{}`, []string{content})
			require.NoError(t, err)
			require.Equal(t, content, readBack(t, reader, pathIn(out)), "%s, %s", name, f.name)
		}
	}
	answer, err := reader.InvokableRun(context.Background(), `{"file_path":"/tmp/elsewhere"}`)
	require.NoError(t, err)
	require.Contains(t, answer, "No saved result")
}

// A limit without room for a notice counts as the least that has: whatever is longer is cut to that,
// and what is not stays.
//
//claim:migration-03
func TestSmallLimitsAreRaised(t *testing.T) {
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
