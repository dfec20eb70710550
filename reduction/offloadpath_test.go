// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package reduction_test

// Paths of stored results: call ids, RootDir and the path generators.

import (
	"context"
	"fmt"
	"strings"
	"sync"
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

//claim:security-05
func TestOffloadPath_CallIDNeverLeavesRoot_R01(t *testing.T) {
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

//claim:security-06
func TestOffloadPath_SameCallIDInTwoSessions_R02(t *testing.T) {
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

func TestOffloadPath_SameContentIsOneFile_R02(t *testing.T) {
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

func TestOffloadPath_PathOfHistoryIsNotOverwritten_R02(t *testing.T) {
	adktest.Both(t, testOffloadPathPathOfHistoryIsNotOverwritten[*schema.Message], testOffloadPathPathOfHistoryIsNotOverwritten[*schema.AgenticMessage])
}

func testOffloadPathPathOfHistoryIsNotOverwritten[M adk.MessageType](t *testing.T, streaming bool) {
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

func TestGenOffloadFilePath_InvalidPathUsesDefault(t *testing.T) {
	for _, path := range []string{"", "a\nb", "x</persisted-output>", "\xff", "a\u2028b", strings.Repeat("a", 5000), strings.Repeat("a", 900)} {
		gen := func(context.Context, *reduction.ToolDetail) (string, error) { return path, nil }
		mw := typed(t, &reduction.Config{Backend: backend.NewMemory(0), MaxLengthForTrunc: 1000, MaxTokensForClear: 1, GenTruncOffloadFilePath: gen, GenClearOffloadFilePath: gen})
		for _, f := range forms {
			content := strings.Repeat("x", 3000)
			out, err := f.run(context.Background(), mw, callC, `{}`, []string{content})
			require.NoError(t, err)
			require.Equal(t, "/tmp/trunc/c", pathIn(out), "%q, %s", path, f.name)
			require.LessOrEqual(t, len(out), 1000)
		}
		msgs := rounds[*schema.Message](3, 900)
		require.Equal(t, msgs, before(t, mw, msgs), "%q", path)
	}
}

// Every other path is shown as it is, and leads to the content: one with a space, with a dot
// at which a sentence could end, in another script, or that looks like half a notice.
func TestGenOffloadFilePath_ValidPathIsKept(t *testing.T) {
	for _, path := range []string{"/my results/a b", "/a. b", "/a.b.", "/結果/一", "/a: /b", "/persisted-output", "/<persisted", "/a~b\u00a0c", "/" + strings.Repeat("a", 200)} {
		for _, f := range forms {
			memory := backend.NewMemory(0)
			gen := func(context.Context, *reduction.ToolDetail) (string, error) { return path, nil }
			mw := typed(t, &reduction.Config{Backend: memory, MaxLengthForTrunc: 1000, MaxTokensForClear: 1, GenTruncOffloadFilePath: gen})
			content := strings.Repeat("x", 3000)
			out, err := f.run(context.Background(), mw, callC, `{}`, []string{content})
			require.NoError(t, err)
			require.Contains(t, out, "saved to: "+path+"\n", "%s", f.name)
			require.Equal(t, content, stored(t, memory, path), "%q, %s", path, f.name)
			msgs := rounds[*schema.Message](3, 10)
			msgs[2].Content = out
			require.Contains(t, before(t, mw, msgs)[2].Content, path, "the notice of what is cleared names the same file")
			require.Equal(t, content, stored(t, memory, path), "%q, %s", path, f.name)
		}
	}
}

func TestGenOffloadFilePath_TakenPathGetsSuffix(t *testing.T) {
	gen := func(_ context.Context, d *reduction.ToolDetail) (string, error) {
		return "/results/" + d.ToolContext.Name, nil
	}
	for kind, open := range storeKinds {
		store, memory := open(t)
		mw := typed(t, &reduction.Config{Backend: store, MaxLengthForTrunc: 1000, MaxTokensForClear: 1, GenTruncOffloadFilePath: gen, GenClearOffloadFilePath: gen})
		seen := map[string]bool{}
		for i, f := range forms {
			content := strings.Repeat(fmt.Sprint("content ", i, "\n"), 500)
			out, err := f.run(context.Background(), mw, callC, `{}`, []string{content})
			require.NoError(t, err)
			path := pathIn(out)
			require.True(t, strings.HasPrefix(path, "/results/shell"), "%s: %q", kind, path)
			require.False(t, seen[path])
			seen[path] = true
			require.Equal(t, content, stored(t, memory, path))
		}
		msgs := rounds[*schema.Message](4, 900)
		for i, m := range before(t, mw, msgs) {
			if p := pathIn(m.Content); p != "" {
				require.Equal(t, msgs[i].Content, stored(t, memory, p))
			}
		}
	}
}

// A file that a notice names is never another call's, also if the store has lost it: the model would read something else
// there.
func TestOffloadPath_NamedFileIsNeverReused(t *testing.T) {
	adktest.EachType(t, testOffloadPathNamedFileIsNeverReused[*schema.Message], testOffloadPathNamedFileIsNeverReused[*schema.AgenticMessage])
}

func testOffloadPathNamedFileIsNeverReused[M adk.MessageType](t *testing.T) {
	run := func(history []M, word string) []M {
		model := adktest.Script[M](adktest.Do(adktest.ToolCall{ID: "same", Name: "shell", Args: `{"lines":200,"word":"` + word + `"}`}))
		handler := typed(t, &reduction.TypedConfig[M]{Backend: store.NewMemory(0), MaxLengthForTrunc: 900, SkipClear: true})
		require.NoError(t, adktest.Agent[M]{Model: model, Tools: sampleTools(), Handlers: adktest.Handlers[M](handler)}.Run(t.Context(), history).Err)
		return model.Wires()[1].Messages
	}
	first := run([]M{adktest.User[M]("go")}, "first")
	second := run(append(first, adktest.Assistant[M]("done"), adktest.User[M]("again")), "second")
	var paths []string
	for _, m := range second {
		for _, r := range adktest.Results(m) {
			paths = append(paths, tmpPath.FindString(r.Args))
		}
	}
	require.Len(t, paths, 2)
	require.Equal(t, "/tmp/trunc/same", paths[0])
	require.NotEqual(t, paths[0], paths[1])
}

func TestOffloadPath_ParallelCallsOfOneID(t *testing.T) {
	for kind, open := range storeKinds {
		for _, f := range forms {
			t.Run(kind+"/"+f.name, func(t *testing.T) {
				files, memory := open(t)
				// Two instances over one store, as two agents of one process have.
				mws := []wrapper{
					typed(t, &reduction.Config{Backend: files, MaxLengthForTrunc: 1000}),
					typed(t, &reduction.Config{Backend: files, MaxLengthForTrunc: 1000}),
				}
				if kind != "all interfaces" {
					mws[1] = mws[0] // stores that are not pointers are known only to their middleware
				}
				var wg sync.WaitGroup
				outs := make([]string, 20)
				contents := make([]string, len(outs))
				for i := range outs {
					contents[i] = strings.Repeat(fmt.Sprintf("content %d\n", i%15), 500)
					wg.Add(1)
					go func() {
						defer wg.Done()
						out, err := f.run(context.Background(), mws[i%2], &adk.ToolContext{Name: "t", CallID: "functions.shell:0"}, `{}`, []string{contents[i][:100], contents[i][100:]})
						if err == nil {
							outs[i] = out
						}
					}()
				}
				wg.Wait()
				for i, out := range outs {
					require.LessOrEqual(t, len(out), 1000)
					require.Equal(t, contents[i], stored(t, memory, pathIn(out)))
				}
			})
		}
	}
}
