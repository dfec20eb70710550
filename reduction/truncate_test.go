// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package reduction_test

// Truncation of new results.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/backend"
	"github.com/einolean/einolean/internal/dev/adktest"
	"github.com/einolean/einolean/reduction"
	"github.com/einolean/einolean/store"
)

func total() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}

// orders is a list of n records.
func orders(n int) string {
	var all []string
	for i := range n {
		all = append(all, fmt.Sprintf(`{"id":%d,"customer":"Customer %d","currency":"EUR","total":%d.50,"note":""}`, 1000+i, i, i*3))
	}
	return `{"page":1,"orders":[` + strings.Join(all, ",\n") + `]}`
}

// shownIn is what a notice of a Preview shows.
func shownIn(t *testing.T, notice string) string {
	t.Helper()
	_, shown, ok := strings.Cut(notice, "\nPreview:\n")
	require.True(t, ok, notice)
	return strings.TrimSuffix(shown, "\n</persisted-output>")
}

//claim:security-22
func TestTruncate_ResultIsShorterAndWithinLimit_R07(t *testing.T) {
	for _, size := range []int{501, 502, 600, 1000, 50_001} {
		for _, limit := range []int{413, 450, 500} {
			for _, f := range forms {
				mw := typed(t, &reduction.Config{Backend: backend.NewMemory(0), MaxLengthForTrunc: limit})
				out, err := f.run(context.Background(), mw, callC, `{}`, []string{strings.Repeat("x", size)})
				require.NoError(t, err)
				require.LessOrEqual(t, len(out), limit, "%s, %d bytes", f.name, size)
			}
		}
	}
}

func TestTruncate_PartsShareLimit_R07(t *testing.T) {
	store := backend.NewMemory(0)
	mw := typed(t, &reduction.Config{Backend: store})
	var texts []string
	for i := range 1000 {
		texts = append(texts, fmt.Sprintf("%-60d", i))
	}
	out, err := runEnhanced(context.Background(), mw, callC, `{}`, texts)
	require.NoError(t, err)
	require.LessOrEqual(t, len(out), 50_000)
	require.Equal(t, strings.Join(texts, ""), stored(t, store, pathIn(out)))

	// One large part among many tiny ones keeps what the limit allows.
	out, err = runEnhanced(context.Background(), mw, callC, `{}`, append([]string{strings.Repeat("x", 60_000)}, texts[:99]...))
	require.NoError(t, err)
	require.Greater(t, len(out), 40_000)
	require.LessOrEqual(t, len(out), 50_000)
}

func TestTruncate_KeepsToolsOwnResult_R08(t *testing.T) {
	cached := &schema.ToolResult{Parts: []schema.ToolOutputPart{
		{Type: schema.ToolPartTypeText, Text: strings.Repeat("x", 5000), Extra: map[string]any{"k": "v"}},
		{Type: schema.ToolPartTypeImage, Image: &schema.ToolOutputImage{MessagePartCommon: schema.MessagePartCommon{Base64Data: &png}}},
		{Type: schema.ToolPartTypeText, Text: "end"},
	}}
	given := deepCopy(cached)
	for _, own := range []map[string]*reduction.ToolReductionConfig{nil, {"shell": {TruncHandler: func(_ context.Context, d *reduction.ToolDetail) (*reduction.TruncResult, error) {
		d.ToolResult.Parts[0].Text = "a handler that writes to what it gets"
		return nil, nil
	}}}} {
		mw := typed(t, &reduction.Config{Backend: backend.NewMemory(0), MaxLengthForTrunc: 1000, ToolConfig: own})
		run, err := mw.WrapEnhancedInvokableToolCall(context.Background(), func(context.Context, *schema.ToolArgument, ...tool.Option) (*schema.ToolResult, error) {
			return cached, nil
		}, callC)
		require.NoError(t, err)
		out, err := run(context.Background(), &schema.ToolArgument{})
		require.NoError(t, err)
		require.Equal(t, given, cached)
		require.Contains(t, out.Parts, cached.Parts[1], "the image stays")
	}
}

func TestTruncate_NoticeOmitsMissingReadTool_R10(t *testing.T) {
	adktest.Both(t, testTruncateNoticeOmitsMissingReadTool[*schema.Message], testTruncateNoticeOmitsMissingReadTool[*schema.AgenticMessage])
}

func testTruncateNoticeOmitsMissingReadTool[M adk.MessageType](t *testing.T, streaming bool) {
	for _, provide := range []bool{false, true} {
		for _, has := range []bool{false, true} {
			if provide && has {
				continue // two tools of one name: an error at the start
			}
			m := adktest.Script[M](adktest.Do(adktest.ToolCall{ID: "c1", Name: "shell", Args: `{}`}), adktest.Do(adktest.ToolCall{ID: "c2", Name: "shell", Args: `{}`}), adktest.Say("done"))
			tools := []tool.BaseTool{adktest.Tool(adktest.Streamable, &schema.ToolInfo{Name: "shell"}, func(context.Context, string) (string, error) { return strings.Repeat("x", 3000), nil })}
			if has {
				tools = append(tools, adktest.Simple("fetch_saved", "reads"))
			}
			a := adktest.Agent[M]{Model: m, Streaming: streaming, Tools: tools, Handlers: adktest.Handlers(typed(t, &reduction.TypedConfig[M]{
				Backend: backend.NewMemory(0), MaxLengthForTrunc: 1000, MaxTokensForClear: 1, ProvideReadTool: provide, ReadFileToolName: "fetch_saved"}))}
			out := a.Run(context.Background(), []M{adktest.User[M]("hello")})
			require.NoError(t, out.Err)
			wires := m.Wires()
			for i, dump := range []string{wires[2].MessagesDump[2], wires[2].MessagesDump[4]} { // cleared, truncated
				require.Contains(t, dump, fmt.Sprintf("/tmp/trunc/c%d", i+1))
				require.Equal(t, provide || has, strings.Contains(dump, "fetch_saved"), dump)
			}
			require.Equal(t, provide || has, strings.Contains(fmt.Sprint(wires[0].ToolNames), "fetch_saved"))
		}
	}
}

func TestTruncate_MediaDoNotCount_X03(t *testing.T) {
	mw := typed(t, &reduction.Config{Backend: backend.NewMemory(0), MaxLengthForTrunc: 1000})
	data := strings.Repeat("A", 1<<20)
	result := &schema.ToolResult{Parts: []schema.ToolOutputPart{{Type: schema.ToolPartTypeImage, Image: &schema.ToolOutputImage{MessagePartCommon: schema.MessagePartCommon{Base64Data: &data}}}}}
	run, err := mw.WrapEnhancedInvokableToolCall(context.Background(), func(context.Context, *schema.ToolArgument, ...tool.Option) (*schema.ToolResult, error) {
		return result, nil
	}, callC)
	require.NoError(t, err)
	out, err := run(context.Background(), nil)
	require.NoError(t, err)
	require.Same(t, result, out)
}

func TestTruncate_ShowsRecords(t *testing.T) {
	content := orders(300)
	for _, f := range forms {
		files := store.NewMemory(0)
		mw := typed(t, &reduction.Config{Backend: files, MaxLengthForTrunc: 2000, Preview: reduction.PreviewByKind})
		out, err := f.run(context.Background(), mw, &adk.ToolContext{Name: "orders", CallID: "c1"}, `{}`, []string{content})
		require.NoError(t, err)
		require.LessOrEqual(t, len(out), 2000, f.name)
		require.Equal(t, content, stored(t, files, pathIn(out)), f.name)
		if f.stream {
			require.True(t, strings.HasPrefix(content, out[:strings.Index(out, "\n<persisted-output>")]), "of a stream the head is out before it is known to be long")
			continue
		}
		var table struct {
			Count int
			Rows  []any
			Same  map[string]any `json:"same in all"`
		}
		require.NoError(t, json.Unmarshal([]byte(shownIn(t, out)), &table), f.name)
		require.Equal(t, 300, table.Count)
		require.Equal(t, map[string]any{"currency": "EUR"}, table.Same)
		require.Greater(t, len(table.Rows), 30)
	}
}

func TestTruncate_DoesNotCopyContent(t *testing.T) {
	content := strings.Repeat("a line of output\n", 50<<20/17)
	kept := backend.NewMemory(0)
	mw := typed(t, &reduction.Config{Backend: kept})
	run, err := mw.WrapInvokableToolCall(context.Background(), func(context.Context, string, ...tool.Option) (string, error) { return content, nil }, callC)
	require.NoError(t, err)
	before := total()
	_, err = run(context.Background(), `{}`)
	require.NoError(t, err)
	require.Less(t, total()-before, uint64(len(content))+uint64(8<<20), "more than the store's own copy")
}

func TestTruncate_PassesErrorsAndMissingResults(t *testing.T) {
	ctx, boom := context.Background(), errors.New("boom")
	mw := typed(t, &reduction.Config{Backend: backend.NewMemory(0)})
	invokable, err := mw.WrapInvokableToolCall(ctx, func(context.Context, string, ...tool.Option) (string, error) { return "partial", boom }, callC)
	require.NoError(t, err)
	_, err = invokable(ctx, `{}`)
	require.Equal(t, boom, err)
	streamable, err := mw.WrapStreamableToolCall(ctx, func(context.Context, string, ...tool.Option) (*schema.StreamReader[string], error) { return nil, boom }, callC)
	require.NoError(t, err)
	_, err = streamable(ctx, `{}`)
	require.Equal(t, boom, err)
	enhanced, err := mw.WrapEnhancedInvokableToolCall(ctx, func(context.Context, *schema.ToolArgument, ...tool.Option) (*schema.ToolResult, error) {
		return nil, nil
	}, callC)
	require.NoError(t, err)
	out, err := enhanced(ctx, nil)
	require.NoError(t, err)
	require.Nil(t, out)
	enhancedStream, err := mw.WrapEnhancedStreamableToolCall(ctx, func(context.Context, *schema.ToolArgument, ...tool.Option) (*schema.StreamReader[*schema.ToolResult], error) {
		return nil, boom
	}, callC)
	require.NoError(t, err)
	_, err = enhancedStream(ctx, nil)
	require.Equal(t, boom, err)

	none, err := mw.WrapInvokableToolCall(ctx, nil, nil)
	require.NoError(t, err)
	require.Nil(t, none)
}
