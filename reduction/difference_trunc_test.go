// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package reduction_test

// Here and in difference_clear_test.go is a test for each fault of Eino's
// package, by its id in docs/differences.md.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/adk/filesystem"
	fsmw "github.com/cloudwego/eino/adk/middlewares/filesystem"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/backend"
	"github.com/einolean/einolean/internal/dev/adktest"
	"github.com/einolean/einolean/internal/dev/backendtest"
	"github.com/einolean/einolean/reduction"
)

var callC = &adk.ToolContext{Name: "shell", CallID: "c"}

//claim:security-05
func TestR01_NoCallIDLeavesTheRoot(t *testing.T) {
	for _, id := range hostileIDs {
		for _, f := range forms {
			log := &writes{}
			mw := typed(t, &reduction.Config{Backend: log, MaxLengthForTrunc: 1000, MaxTokensForClear: 1, RootDir: "/data/results"})
			out, err := f.run(context.Background(), mw, &adk.ToolContext{Name: "shell", CallID: id}, `{}`, []string{strings.Repeat("x", 5000)})
			require.NoError(t, err)
			msgs := []*schema.Message{
				adktest.Assistant[*schema.Message]("", adktest.ToolCall{ID: id, Name: "shell"}), adktest.Result[*schema.Message](id, "shell", strings.Repeat("y", 900)),
				adktest.Assistant[*schema.Message]("", adktest.ToolCall{ID: "last", Name: "shell"}), adktest.Result[*schema.Message]("last", "shell", "z"),
			}
			out += before(t, mw, msgs)[1].Content
			require.Len(t, log.paths, 2)
			for i, dir := range []string{"/data/results/trunc/", "/data/results/clear/"} {
				name, ok := strings.CutPrefix(log.paths[i], dir)
				require.True(t, ok, "id %q was written to %q", id, log.paths[i])
				require.NotContains(t, name, "/")
				require.NotEqual(t, ".", strings.Trim(name, ".")+".", "id %q", id)
				require.LessOrEqual(t, len(name), 160)
			}
			require.Equal(t, 2, strings.Count(out, "<persisted-output>"), "an id forged a notice: %q", out)
			require.Equal(t, 2, strings.Count(out, "</persisted-output>"))
		}
	}
}

// writes remembers what was written where; the last write wins, as on a disk.
type writes struct {
	paths   []string
	content map[string]string
}

func (w *writes) Write(_ context.Context, r *filesystem.WriteRequest) error {
	if w.content == nil {
		w.content = map[string]string{}
	}
	w.paths = append(w.paths, r.FilePath)
	w.content[r.FilePath] = r.Content
	return nil
}

//claim:security-06
func TestR02_OneCallIDInTwoSessionsIsTwoFiles(t *testing.T) {
	for kind, open := range storeKinds {
		store, memory := open(t)
		mw := typed(t, &reduction.Config{Backend: store, MaxLengthForTrunc: 1000})
		alice, bob := strings.Repeat("alice ", 500), strings.Repeat("bob ", 500)
		for _, f := range forms {
			a, err := f.run(context.Background(), mw, callC, `{}`, []string{alice})
			require.NoError(t, err)
			b, err := f.run(context.Background(), mw, callC, `{}`, []string{bob})
			require.NoError(t, err)
			require.Equal(t, alice, stored(t, memory, pathIn(a)), kind)
			require.Equal(t, bob, stored(t, memory, pathIn(b)), kind)
		}
	}
}

func TestR02_TheSameContentUnderOneIDIsOneFile(t *testing.T) {
	for kind, open := range storeKinds {
		store, _ := open(t)
		mw := typed(t, &reduction.Config{Backend: store, MaxLengthForTrunc: 1000})
		want := "/tmp/trunc/c"
		if kind == "write only" {
			want = writeOnlyName(want, strings.Repeat("same ", 500))
		}
		for _, f := range forms {
			out, err := f.run(context.Background(), mw, callC, `{}`, []string{strings.Repeat("same ", 500)})
			require.NoError(t, err)
			require.Equal(t, want, pathIn(out), "%s, %s", kind, f.name)
		}
	}
}

func TestR02_APathThatTheHistoryShowsIsNotWrittenToByAnotherProcess(t *testing.T) {
	adktest.Both(t, shownPathStays[*schema.Message], shownPathStays[*schema.AgenticMessage])
}

func shownPathStays[M adk.MessageType](t *testing.T, streaming bool) {
	// The store cannot be read, and knows the first content from another process.
	log := &writes{content: map[string]string{"/tmp/trunc/functions.shell:0": "the first content"}}
	history := []M{
		adktest.User[M]("hello"), adktest.Assistant[M]("", adktest.ToolCall{ID: "functions.shell:0", Name: "shell", Args: `{}`}),
		adktest.Result[M]("functions.shell:0", "shell", "<persisted-output>Old result (17 bytes), saved in full to: /tmp/trunc/functions.shell:0\nRead it with read_file.</persisted-output>"),
		adktest.Assistant[M]("I see"), adktest.User[M]("again"),
	}
	big := strings.Repeat("the second content ", 500)
	m := adktest.Script[M](adktest.Do(adktest.ToolCall{ID: "functions.shell:0", Name: "shell", Args: `{}`}), adktest.Say("done"))
	a := adktest.Agent[M]{Model: m, Streaming: streaming,
		Handlers: adktest.Handlers(typed(t, &reduction.TypedConfig[M]{Backend: log, MaxLengthForTrunc: 1000})),
		Tools:    []tool.BaseTool{adktest.Tool(adktest.Streamable, &schema.ToolInfo{Name: "shell"}, func(context.Context, string) (string, error) { return big, nil })}}
	out := a.Run(context.Background(), history)
	require.NoError(t, out.Err)
	require.Equal(t, "the first content", log.content["/tmp/trunc/functions.shell:0"])
	require.Equal(t, big, log.content[pathIn(adktest.Text(out.Messages[1]))])
}

//claim:security-38
func TestR06_AStoreThatIsDownCostsTheSavingAndNotTheResult(t *testing.T) {
	down := &failing{errors.New("dial tcp 10.0.0.7:9000: connection refused")}
	mw := typed(t, &reduction.Config{Backend: down, MaxLengthForTrunc: 1000, MaxTokensForClear: 1})
	paid := strings.Repeat("payment made\n", 200)
	for _, f := range forms {
		out, err := f.run(context.Background(), mw, callC, `{}`, []string{paid})
		require.NoError(t, err)
		require.NotContains(t, out, "10.0.0.7")
		if !f.stream {
			require.Equal(t, paid, out)
		}
	}
	msgs := rounds[*schema.Message](3, 500)
	require.Equal(t, msgs, before(t, mw, msgs))
	down.err = nil
	require.NotEqual(t, msgs, before(t, mw, msgs), "the next call works")
}

//claim:security-22
func TestR07_WhatIsCutIsShorterAndWithinTheLimit(t *testing.T) {
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

func TestR07_ManySmallPartsShareTheLimit(t *testing.T) {
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

func TestR08_TheToolsOwnResultIsNotChanged(t *testing.T) {
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

func TestR09_ReadingBackIsNeverStoredAgain(t *testing.T) {
	adktest.Both(t, readFileDoesNotLoop[*schema.Message], readFileDoesNotLoop[*schema.AgenticMessage])
}

// readFileDoesNotLoop has Eino's own file system tools read what was stored.
func readFileDoesNotLoop[M adk.MessageType](t *testing.T, streaming bool) {
	ctx := context.Background()
	files := filesystem.NewInMemoryBackend()
	fsTools, err := fsmw.NewTyped[M](ctx, &fsmw.MiddlewareConfig{Backend: files})
	require.NoError(t, err)
	long := strings.Repeat("one long line without an end ", 4000)
	m := adktest.Script[M](
		adktest.Do(adktest.ToolCall{ID: "c1", Name: "shell", Args: `{}`}),
		adktest.Do(adktest.ToolCall{ID: "c2", Name: "read_file", Args: `{"file_path":"/tmp/trunc/c1"}`}),
		adktest.Do(adktest.ToolCall{ID: "c3", Name: "read_file", Args: `{"file_path":"/tmp/trunc/c1"}`}),
		adktest.Say("done"))
	a := adktest.Agent[M]{Model: m, Streaming: streaming, Max: 6,
		Handlers: adktest.Handlers(fsTools, typed(t, &reduction.TypedConfig[M]{Backend: files, MaxTokensForClear: 1})),
		Tools:    []tool.BaseTool{adktest.Tool(adktest.Invokable, &schema.ToolInfo{Name: "shell"}, func(context.Context, string) (string, error) { return long, nil })}}
	out := a.Run(ctx, []M{adktest.User[M]("hello")})
	require.NoError(t, out.Err)
	got, err := files.LsInfo(ctx, &filesystem.LsInfoRequest{Path: "/tmp/trunc"})
	require.NoError(t, err)
	require.Len(t, got, 1, "what was read back was stored again")
	for _, i := range []int{3, 5} {
		require.NotContains(t, adktest.Text(out.Messages[i]), "persisted-output")
	}
}

func TestR09_AnotherToolThatReadsAStoredResultPointsAtTheSameFile(t *testing.T) {
	for kind, open := range storeKinds {
		for _, f := range forms {
			t.Run(kind+"/"+f.name, func(t *testing.T) {
				store, memory := open(t)
				mw := typed(t, &reduction.Config{Backend: store, MaxLengthForTrunc: 1000})
				content := strings.Repeat("a line of the result\n", 500)
				first, err := f.run(context.Background(), mw, callC, `{}`, []string{content})
				require.NoError(t, err)
				path := pathIn(first)
				for i, args := range []string{`{"command":"cat ` + path + `"}`, `{"command":"cat ` + strings.ReplaceAll(path, "/", `\/`) + `"}`} {
					tc := &adk.ToolContext{Name: "execute", CallID: fmt.Sprint("again", i)}
					out, err := f.run(context.Background(), mw, tc, args, []string{content[:500], content[500:]})
					require.NoError(t, err)
					require.Equal(t, path, pathIn(out))
				}
				if kind == "write only" || f.stream {
					return // a part of it cannot be told from something new
				}
				out, err := f.run(context.Background(), mw, &adk.ToolContext{Name: "execute", CallID: "part"}, `{"command":"tail -n 100 `+path+`"}`, []string{content[len(content)-2100:]})
				require.NoError(t, err)
				require.Equal(t, path, pathIn(out))
				out, err = f.run(context.Background(), mw, &adk.ToolContext{Name: "execute", CallID: "other"}, `{"command":"wc `+path+`"}`, []string{strings.Repeat("not in there", 500)})
				require.NoError(t, err)
				require.Equal(t, "/tmp/trunc/other", pathIn(out))
				require.Equal(t, strings.Repeat("not in there", 500), stored(t, memory, "/tmp/trunc/other"))
			})
		}
	}
}

func TestR10_AnAgentWithoutReadToolIsNotToldToUseIt(t *testing.T) {
	adktest.Both(t, readToolIsNamedIfThere[*schema.Message], readToolIsNamedIfThere[*schema.AgenticMessage])
}

func readToolIsNamedIfThere[M adk.MessageType](t *testing.T, streaming bool) {
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

func TestR14_AToolsOwnBackendIsUsedWithoutAHandlerAndTheGeneralOneWithIt(t *testing.T) {
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
	require.ErrorContains(t, err, "no backend for offload")
}

func TestR20_MediaAfterTheLimitOfAStreamArrive(t *testing.T) {
	image := &schema.ToolResult{Parts: []schema.ToolOutputPart{{Type: schema.ToolPartTypeImage, Image: &schema.ToolOutputImage{MessagePartCommon: schema.MessagePartCommon{Base64Data: &png}}}}}
	store := backend.NewMemory(0)
	mw := typed(t, &reduction.Config{Backend: store, MaxLengthForTrunc: 1000})
	run, err := mw.WrapEnhancedStreamableToolCall(context.Background(), func(context.Context, *schema.ToolArgument, ...tool.Option) (*schema.StreamReader[*schema.ToolResult], error) {
		return pipe(resultOf("head"), image, nil, resultOf(strings.Repeat("x", 800)), image, resultOf(strings.Repeat("y", 3000)), image, resultOf("tail")), nil
	}, callC)
	require.NoError(t, err)
	out, err := run(context.Background(), nil)
	require.NoError(t, err)
	got, err := adktest.Drain(out)
	require.NoError(t, err)
	images := 0
	for _, r := range got {
		if r == nil {
			continue
		}
		for _, p := range r.Parts {
			if p.Image != nil {
				images++
			}
		}
	}
	require.Equal(t, 3, images)
	require.Equal(t, "head"+strings.Repeat("x", 800)+strings.Repeat("y", 3000)+"tail", stored(t, store, "/tmp/trunc/c"))
}

func TestR21_AStreamOfExactlyTheLimitIsWhole(t *testing.T) {
	mw := typed(t, &reduction.Config{Backend: backend.NewMemory(0), MaxLengthForTrunc: 1000})
	for _, f := range forms {
		out, err := f.run(context.Background(), mw, callC, `{}`, []string{strings.Repeat("x", 400), strings.Repeat("y", 600)})
		require.NoError(t, err)
		require.Len(t, out, 1000)
		out, err = f.run(context.Background(), mw, callC, `{}`, []string{strings.Repeat("x", 401), strings.Repeat("y", 600)})
		require.NoError(t, err)
		require.Contains(t, out, "/tmp/trunc/c")
	}
}

func TestR21_ChunksPassWhileTheSourceIsStillRunning(t *testing.T) {
	mw := typed(t, &reduction.Config{Backend: backend.NewMemory(0), MaxLengthForTrunc: 2000})
	src, w := schema.Pipe[string](0)
	out := streamOf(t, mw, src)
	for i := range 5 {
		go w.Send(fmt.Sprintf("chunk %d", i), nil)
		chunk, err := out.Recv()
		require.NoError(t, err)
		require.Equal(t, fmt.Sprintf("chunk %d", i), chunk)
	}
	go func() {
		w.Send(strings.Repeat("x", 5000), nil)
		w.Close()
	}()
	last, err := out.Recv()
	require.NoError(t, err)
	require.Contains(t, last, "/tmp/trunc/c")
	require.True(t, utf8.ValidString(last))
	_, err = out.Recv()
	require.Equal(t, io.EOF, err)
}

func TestX01_AHandlerThatReadsNothingOfAStreamLeavesNothingRunning(t *testing.T) {
	for _, answer := range []func() (*reduction.TruncResult, error){
		func() (*reduction.TruncResult, error) { return nil, nil },
		func() (*reduction.TruncResult, error) { return nil, errors.New("no") },
		func() (*reduction.TruncResult, error) {
			return &reduction.TruncResult{NeedTrunc: true, ToolResult: resultOf("short")}, nil
		},
		func() (*reduction.TruncResult, error) {
			return &reduction.TruncResult{NeedTrunc: true, StreamToolResult: pipe(resultOf("sh"), resultOf("ort"))}, nil
		},
		func() (*reduction.TruncResult, error) {
			return &reduction.TruncResult{NeedTrunc: true, StreamToolResult: pipe(resultOf("short")), NeedOffload: true, OffloadFilePath: "/x", OffloadContent: "y"}, nil
		},
	} {
		store := backendtest.NewFaulty(backend.NewMemory(0), backendtest.Every(backendtest.Fault{Mode: backendtest.Fail}))
		mw := typed(t, &reduction.Config{Backend: store, ToolConfig: map[string]*reduction.ToolReductionConfig{"shell": {
			TruncHandler: func(context.Context, *reduction.ToolDetail) (*reduction.TruncResult, error) { return answer() },
		}}})
		r, w := schema.Pipe[string](0)
		done := make(chan struct{})
		go func() {
			defer close(done)
			defer w.Close()
			for i := 0; i < 100 && !w.Send("chunk", nil); i++ {
			}
		}()
		run, err := mw.WrapStreamableToolCall(context.Background(), func(context.Context, string, ...tool.Option) (*schema.StreamReader[string], error) { return r, nil }, callC)
		require.NoError(t, err)
		if out, err := run(context.Background(), `{}`); err == nil {
			_, err = adktest.Drain(out)
			require.NoError(t, err)
		}
		<-done
	}
}

// listed are the ids of the section on reduction in docs/differences.md.
func listed(t *testing.T) map[string]bool {
	t.Helper()
	text, err := os.ReadFile("../docs/differences.md")
	require.NoError(t, err)
	_, section, ok := strings.Cut(string(text), "\n## reduction\n")
	require.True(t, ok, "no section on reduction")
	section, _, _ = strings.Cut(section, "\n## ")
	ids := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^\| ((?:R|X)-\d+) \|`).FindAllStringSubmatch(section, -1) {
		ids[m[1]] = true
	}
	return ids
}
