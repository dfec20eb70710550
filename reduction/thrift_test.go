// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package reduction_test

// How often the prompt cache is broken.

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/leanctx/leanctx/internal/adktest"
	"github.com/leanctx/leanctx/internal/backend"
	"github.com/leanctx/leanctx/reduction"
)

func TestTheCacheIsNotBrokenAtEveryCallWhereTextAloneExceedsTheThreshold(t *testing.T) {
	forBoth(t, longText[*schema.Message], longText[*schema.AgenticMessage])
}

func longText[M adk.MessageType](t *testing.T) {
	configs := map[string]reduction.TypedConfig[M]{
		"zero":      {},
		"target":    {ClearTargetTokens: 4000},
		"retention": {ClearRetentionSuffixLimit: 3},
		"small":     {MinSavingBytes: 1},
		"thrifty":   {ReferToRepeats: true, ClearArgumentsOver: 500},
	}
	for name, cfg := range configs {
		cfg.Backend, cfg.MaxTokensForClear = backend.NewMemory(0), 8000
		mw := typed(t, &cfg)
		msgs := []M{adktest.User[M](strings.Repeat("what a user may paste, word by word; ", 1200))} // about 10,000 tokens
		broken, cleared := 0, 0
		const calls = 40
		for i := range calls {
			id := fmt.Sprintf("call_%d", i)
			msgs = append(msgs, adktest.Assistant[M]("", adktest.ToolCall{ID: id, Name: "shell", Args: `{}`}),
				adktest.Result[M](id, "shell", strings.Repeat(fmt.Sprintf("result %d\n", i), 60)))
			out := before(t, mw, msgs)
			if fmt.Sprint(adkDump(msgs)) != fmt.Sprint(adkDump(out)) {
				broken++
			}
			msgs = out
		}
		for _, m := range msgs {
			for _, a := range shapeOf[M]().answers(m) {
				if pathIn(a.joined()) != "" {
					cleared++
				}
			}
		}
		require.Greater(t, cleared, calls/2, "%s: old results are cleared all the same", name)
		require.LessOrEqual(t, broken, calls/4, name)
	}
}

func adkDump[M adk.MessageType](msgs []M) (out []string) {
	for _, m := range msgs {
		out = append(out, adktest.Dump(m))
	}
	return out
}

func TestTheRecommendedConfigurationWorksAsItIs(t *testing.T) {
	adktest.Both(t, recommendedWorks[*schema.Message], recommendedWorks[*schema.AgenticMessage])
}

// recommendedWorks runs a whole agent that writes and reads files for longer than its
// threshold, and has it read everything back.
func recommendedWorks[M adk.MessageType](t *testing.T, streaming bool) {
	memory := reduction.NewMemoryBackend(0)
	mw, err := reduction.NewTyped(context.Background(), reduction.RecommendedTyped[M](memory))
	require.NoError(t, err)
	page := func(i int) string { return strings.Repeat(fmt.Sprintf("line of the file %d, as it was\n", i), 300) }
	var turns []adktest.Turn
	for i := range 30 {
		turns = append(turns, adktest.Do(
			adktest.ToolCall{ID: fmt.Sprint("w", i), Name: "write", Args: render(map[string]any{"content": page(i)})},
			adktest.ToolCall{ID: fmt.Sprint("r", i), Name: "read", Args: fmt.Sprintf(`{"file":%d}`, i)},
			adktest.ToolCall{ID: fmt.Sprint("again", i), Name: "read", Args: fmt.Sprintf(`{"file":%d}`, i)}))
	}
	turns = append(turns, adktest.Do(adktest.ToolCall{ID: "back", Name: "read_file", Args: `{"file_path":"/tmp/clear/w0-arg1","byte_offset":0}`}), adktest.Say("done"))
	m := adktest.Script[M](turns...)
	out := adktest.Agent[M]{Model: m, Streaming: streaming, Max: 40, Handlers: adktest.Handlers(mw), Tools: []tool.BaseTool{
		adktest.Tool(adktest.Invokable, &schema.ToolInfo{Name: "write"}, func(context.Context, string) (string, error) { return "ok", nil }),
		adktest.Tool(adktest.Invokable, &schema.ToolInfo{Name: "read"}, func(_ context.Context, args string) (string, error) {
			n := 0
			_, err := fmt.Sscanf(args, `{"file":%d}`, &n)
			return page(n), err
		})}}.Run(context.Background(), []M{adktest.User[M]("go on")})
	require.NoError(t, out.Err)
	kinds := map[string]int{}
	wires := m.Wires()
	last := wires[len(wires)-1].Messages
	for _, msg := range last {
		for _, call := range adktest.Calls(msg) {
			if strings.Contains(call.Args, "saved in full to: /tmp/clear/"+call.ID+"-arg1") {
				kinds["argument"]++
			}
		}
		for _, a := range shapeOf[M]().answers(msg) {
			text := a.joined()
			switch {
			case strings.Contains(text, "Same result again"):
				kinds["repeat"]++
			case strings.Contains(text, "Old result"):
				kinds["cleared"]++
			default:
				continue
			}
			var n int
			_, err := fmt.Sscanf(strings.TrimLeft(a.id, "rwagin"), "%d", &n)
			require.NoError(t, err)
			require.Equal(t, page(n), stored(t, memory, pathIn(text)))
		}
	}
	require.Equal(t, 30, kinds["repeat"])
	require.Greater(t, kinds["cleared"], 20)
	require.Greater(t, kinds["argument"], 20)
	require.Contains(t, adktest.Text(last[len(last)-1]), "line of the file 0, as it was")
	size := func(msgs []M) (n int) {
		for _, msg := range msgs {
			n += len(adktest.Dump(msg))
		}
		return n
	}
	require.Less(t, size(last), 200_000, "of 900,000 bytes")
}
