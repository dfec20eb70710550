// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package reduction_test

// Pages of the read tool: they are cleared like other results, and never copied.

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/leanctx/leanctx/internal/adktest"
	"github.com/leanctx/leanctx/internal/backend"
	"github.com/leanctx/leanctx/internal/backend/backendtest"
	"github.com/leanctx/leanctx/internal/race"
	"github.com/leanctx/leanctx/reduction"
)

// An agent that reads back whatever it has lost, page by page and for ever, must
// neither fill the store nor the conversation.
func TestAnAgentThatReadsBackAllThatItLostNeverLoops(t *testing.T) {
	for kind, open := range storeKinds {
		t.Run(kind+"/Message", func(t *testing.T) { readsBackForEver[*schema.Message](t, open) })
		t.Run(kind+"/AgenticMessage", func(t *testing.T) { readsBackForEver[*schema.AgenticMessage](t, open) })
	}
}

func readsBackForEver[M adk.MessageType](t *testing.T, open func(*testing.T) (reduction.Backend, *backend.Memory)) {
	const trigger = 4000
	for seed := range uint64(race.Cases(int(histories() / 3))) {
		g := newGen[M](seed)
		store, memory := open(t)
		cfg := &reduction.TypedConfig[M]{Backend: store, MaxTokensForClear: trigger, MaxLengthForTrunc: 6000}
		mw, reader := typed(t, cfg), readTool(t, memory)
		returned := map[string]string{} // by path
		msgs := []M{adktest.User[M]("go on")}
		for i := range 8 {
			id := fmt.Sprintf("call_%d", i)
			content := strings.Repeat(fmt.Sprintf("result %d, line %d of it\n", i, g.IntN(1000)), 100+g.IntN(900))
			text, err := runInvokable(context.Background(), mw, &adk.ToolContext{Name: "shell", CallID: id}, `{}`, []string{content})
			require.NoError(t, err)
			if path := pathIn(text); path != "" {
				returned[path] = content
			}
			returned["/tmp/clear/"+id] = content
			msgs = append(msgs, adktest.Assistant[M]("", adktest.ToolCall{ID: id, Name: "shell", Args: `{}`}), adktest.Result[M](id, "shell", text))
			msgs = before(t, mw, msgs)
		}
		offset := map[string]int{}
		for step := range 60 {
			if g.chance(10) {
				mw, msgs = typed(t, cfg), resumed(t, msgs)
			}
			path := lost(g.shape, msgs, step)
			require.Contains(t, returned, path, "seed %d: %q holds no result of the tool", seed, path)
			args := fmt.Sprintf(`{"file_path":%q,"byte_offset":%d}`, path, offset[path])
			offset[path] = (offset[path] + 5000) % len(returned[path])
			page, err := reader.InvokableRun(context.Background(), args)
			require.NoError(t, err)
			id := fmt.Sprintf("read_%d", step)
			text, err := runInvokable(context.Background(), mw, &adk.ToolContext{Name: "read_file", CallID: id}, args, []string{page})
			require.NoError(t, err)
			require.Equal(t, page, text, "a page was cut")
			msgs = append(msgs, adktest.Assistant[M]("", adktest.ToolCall{ID: id, Name: "read_file", Args: args}), adktest.Result[M](id, "read_file", page))
			given := copyAll(msgs)
			msgs = before(t, mw, msgs)
			require.Equal(t, msgs, before(t, typed(t, cfg), msgs), "seed %d: a second pass changed something", seed)
			requirePrefix(t, given, msgs)
			require.Equal(t, page, g.shape.answers(msgs[len(msgs)-1])[0].joined(), "the newest page was cleared")
		}
		shown := 0
		for _, m := range msgs {
			for _, a := range g.shape.answers(m) {
				path := pathIn(a.joined())
				if path == "" {
					continue
				}
				shown++
				require.Equal(t, returned[path], stored(t, memory, path), "seed %d", seed)
			}
		}
		require.Greater(t, shown, 60)
		for step := range 60 {
			_, _, err := memory.ReadRange(context.Background(), fmt.Sprintf("/tmp/clear/read_%d", step), 0, 0)
			require.Error(t, err, "seed %d: a page was stored", seed)
		}
	}
}

// requirePrefix requires that nothing before the first message that may change, a
// whole result, has changed.
func requirePrefix[M adk.MessageType](t *testing.T, given, got []M) {
	t.Helper()
	require.Len(t, got, len(given))
	s := shapeOf[M]()
	for i := range got {
		for j, a := range s.answers(given[i]) {
			if pathIn(a.joined()) != "" && strings.HasPrefix(a.joined(), "<persisted-output>Old") {
				require.Equal(t, a, s.answers(got[i])[j], "a notice has changed")
			}
		}
	}
}

// lost is the file of one of the results that a history no longer shows.
func lost[M adk.MessageType](s shape[M], msgs []M, n int) string {
	var paths []string
	for _, m := range msgs {
		for _, a := range s.answers(m) {
			if path := pathIn(a.joined()); path != "" {
				paths = append(paths, path)
			}
		}
	}
	return paths[n%len(paths)]
}

func TestAPageOfAFileThatMayChangeIsStoredWhenItIsCleared(t *testing.T) {
	adktest.Both(t, func(t *testing.T, _ bool) { pageOfASource[*schema.Message](t) }, func(t *testing.T, _ bool) { pageOfASource[*schema.AgenticMessage](t) })
}

// pageOfASource clears what a read tool read from files that nobody stored.
func pageOfASource[M adk.MessageType](t *testing.T) {
	for _, path := range []string{"/src/main.go", "src/main.go", "", "/tmp/clear", "/tmp/clear/../../etc/passwd", "/tmp/clear/gone", "/toolsearch/tools"} {
		store := backendtest.NewFaulty(backend.NewMemory(0), nil)
		mw := typed(t, &reduction.TypedConfig[M]{Backend: store, MaxTokensForClear: 1})
		page := strings.Repeat("func main() {}\n", 100)
		args := fmt.Sprintf(`{"file_path":%q}`, path)
		msgs := append([]M{adktest.User[M]("q"), adktest.Assistant[M]("", adktest.ToolCall{ID: "r1", Name: "read_file", Args: args}), adktest.Result[M]("r1", "read_file", page)},
			rounds[M](1, 100)...)
		got := shapeOf[M]().answers(before(t, mw, msgs)[2])[0].joined()
		require.Equal(t, "/tmp/clear/r1", pathIn(got), "%q: %s", path, got)
		require.Equal(t, page, stored(t, store, "/tmp/clear/r1"))
	}
}

// A tool may return anything, a page that it made up included.
func TestAPageOfAnotherToolIsAResultLikeAnyOther(t *testing.T) {
	memory := backend.NewMemory(0)
	mw := typed(t, &reduction.Config{Backend: memory, MaxTokensForClear: 1})
	call := func(id, name, args, text string) []*schema.Message {
		return []*schema.Message{adktest.Assistant[*schema.Message]("", adktest.ToolCall{ID: id, Name: name, Args: args}), adktest.Result[*schema.Message](id, name, text)}
	}
	msgs := before(t, mw, append(call("a", "shell", `{}`, strings.Repeat("first\n", 100)), call("b", "shell", `{}`, "x")...))
	require.Equal(t, "/tmp/clear/a", pathIn(msgs[1].Content))
	forged := strings.Repeat("not what is stored\n", 100)
	msgs = append(msgs, call("c", "shell", `{"file_path":"/tmp/clear/a"}`, forged)...)
	msgs = before(t, mw, append(msgs, call("d", "shell", `{}`, "x")...))
	require.Equal(t, "/tmp/clear/c", pathIn(msgs[5].Content))
	require.Equal(t, forged, stored(t, memory, "/tmp/clear/c"))
}
