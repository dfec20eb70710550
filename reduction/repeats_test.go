// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package reduction_test

// The Config fields DedupeResults and MaxArgumentBytes.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/adk/filesystem"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean"
	"github.com/einolean/einolean/internal/backend"
	"github.com/einolean/einolean/internal/dev/adktest"
	"github.com/einolean/einolean/internal/dev/backendtest"
	"github.com/einolean/einolean/internal/dev/race"
	"github.com/einolean/einolean/internal/einorun"
	"github.com/einolean/einolean/reduction"
	"github.com/einolean/einolean/store"
)

// talk is n messages of size bytes: questions, calls and results.
func talk[M adk.MessageType](n, size int) []M {
	filler := strings.Repeat("some words of a conversation ", size/29+1)[:size]
	var out []M
	for i := 0; len(out) < n; i++ {
		id := fmt.Sprintf("call_%d", i)
		out = append(out, adktest.User[M](filler), adktest.Assistant[M](filler, adktest.ToolCall{ID: id, Name: "shell", Args: `{}`}), adktest.Result[M](id, "shell", filler))
	}
	return out[:n]
}

func TestDedupeResults_NewDuplicateBecomesReference(t *testing.T) {
	adktest.EachType(t, testDedupeResultsNewDuplicateBecomesReference[*schema.Message],
		testDedupeResultsNewDuplicateBecomesReference[*schema.AgenticMessage])
}

func testDedupeResultsNewDuplicateBecomesReference[M adk.MessageType](t *testing.T) {
	s, memory := shapeOf[M](), backend.NewMemory(0)
	var events []einolean.Event
	cfg := &reduction.TypedConfig[M]{Backend: memory, DedupeResults: true, MinSavingBytes: 50, MaxTokensForClear: 1 << 40,
		OnEvent: func(_ context.Context, e einolean.Event) { events = append(events, e) }}
	mw := typed(t, cfg)
	content := strings.Repeat("the same file\n", 100)
	say := func(id, name string) []M {
		return []M{adktest.Assistant[M]("", adktest.ToolCall{ID: id, Name: name}), adktest.Result[M](id, name, content)}
	}
	msgs := append([]M{adktest.User[M]("go")}, say("a", "read")...)
	require.Equal(t, msgs, before(t, mw, msgs), "the first one stays")
	// Two in one round, of another tool.
	msgs = append(msgs, adktest.Assistant[M]("", adktest.ToolCall{ID: "b", Name: "cat"}, adktest.ToolCall{ID: "c", Name: "cat"}), adktest.Result[M]("b", "cat", content), adktest.Result[M]("c", "cat", content))
	whole := copyAll(msgs)
	out := before(t, mw, msgs)
	require.Equal(t, whole, msgs, "what was handed over has changed")
	require.Equal(t, msgs[:4], out[:4], "the prefix has changed")
	for i, id := range []string{"b", "c"} {
		text := s.answers(out[4+i])[0].joined()
		require.Contains(t, text, "Same result again (1400 bytes)")
		require.Contains(t, text, "result of read (a) above")
		require.Equal(t, "/tmp/clear/"+id, pathIn(text))
		require.Equal(t, content, stored(t, memory, pathIn(text)))
		require.Equal(t, einolean.KindResultReferred, events[i].Kind)
		require.Equal(t, "repeat", events[i].Output.Rule)
		require.Equal(t, []int{1400, len(text)}, []int{events[i].Output.Before.Bytes, events[i].Output.After.Bytes})
	}
	require.Len(t, events, 2)
	require.Equal(t, out, before(t, mw, out))
	later := resumed(t, out)
	require.Equal(t, later, before(t, typed(t, cfg), later), "resumed")
	require.Equal(t, out, before(t, typed(t, cfg), msgs), "a history that was kept whole")

	// The earlier one is cleared later, and another comes: nothing visible equals it.
	cfg.MaxTokensForClear = 1
	out = append(out, rounds[M](1, 10)[1:]...)
	gone := before(t, typed(t, cfg), out)
	require.Equal(t, out[4:6], gone[4:6], "a reference has changed")
	require.Equal(t, content, stored(t, memory, pathIn(s.answers(gone[2])[0].joined())))
	again := append(gone, say("d", "cat")...)
	require.Equal(t, again, before(t, typed(t, cfg), again), "the first one is not visible any more")

	// A history that is cut in front.
	for _, m := range before(t, typed(t, cfg), out[3:])[1:3] {
		require.Equal(t, content, stored(t, memory, pathIn(s.answers(m)[0].joined())))
	}
}

func TestDedupeResults_KeepsDuplicateOfResultToClear(t *testing.T) {
	adktest.EachType(t, testDedupeResultsKeepsDuplicateOfResultToClear[*schema.Message],
		testDedupeResultsKeepsDuplicateOfResultToClear[*schema.AgenticMessage])
}

func testDedupeResultsKeepsDuplicateOfResultToClear[M adk.MessageType](t *testing.T) {
	msgs := append(rounds[M](1, 900), rounds[M](1, 900)[1:]...)
	for name, cfg := range map[string]reduction.TypedConfig[M]{
		"threshold": {MaxTokensForClear: 1}, "window": {MaxTokensForClear: 1 << 40, WindowTokens: 500},
	} {
		cfg.Backend, cfg.DedupeResults = backend.NewMemory(0), true
		out := before(t, typed(t, &cfg), msgs)
		require.Contains(t, shapeOf[M]().answers(out[2])[0].joined(), "Old result", name)
		require.Equal(t, msgs[4], out[4], name)
	}
}

func TestDedupeResults_KeepsUnstoredAndExcluded(t *testing.T) {
	down := backendtest.NewFaulty(backend.NewMemory(0), backendtest.Every(backendtest.Fault{Mode: backendtest.Fail}))
	handler := func(context.Context, *reduction.ToolDetail) (*reduction.ClearResult, error) { return nil, nil }
	for name, cfg := range map[string]*reduction.Config{
		"off":        {Backend: backend.NewMemory(0)},
		"broken":     {Backend: down, DedupeResults: true},
		"no backend": {SkipTruncation: true, DedupeResults: true},
		"excluded":   {Backend: backend.NewMemory(0), DedupeResults: true, ClearExcludeTools: []string{"shell"}},
		"skipped":    {Backend: backend.NewMemory(0), DedupeResults: true, SkipClear: true},
		"handler": {Backend: backend.NewMemory(0), DedupeResults: true, ToolConfig: map[string]*reduction.ToolReductionConfig{
			"shell": {ClearHandler: handler}}},
	} {
		msgs := append(rounds[*schema.Message](1, 900), rounds[*schema.Message](1, 900)[1:]...)
		require.Equal(t, msgs, before(t, typed(t, cfg), msgs), name)
	}
}

func TestDedupeResults_DoesNotQuoteInvalidIDs(t *testing.T) {
	memory := backend.NewMemory(0)
	mw := typed(t, &reduction.Config{Backend: memory, DedupeResults: true})
	for _, id := range hostileIDs {
		for _, name := range []string{"shell", "</persisted-output>", "a\nb", strings.Repeat("n", 100)} {
			content := strings.Repeat(fmt.Sprintf("%q of %q\n", id, name), 100)
			call := adktest.ToolCall{ID: id, Name: name}
			msgs := []*schema.Message{adktest.Assistant[*schema.Message]("", call), adktest.Result[*schema.Message](id, name, content),
				adktest.Assistant[*schema.Message]("", call), adktest.Result[*schema.Message](id, name, content)}
			text := before(t, mw, msgs)[3].Content
			require.Less(t, len(text), 400, "%q %q", id, name)
			require.Equal(t, 1, strings.Count(text, "</persisted-output>"))
			require.Equal(t, content, stored(t, memory, pathIn(text)))
		}
	}
}

func TestDedupeResults_NoDuplicateAllocatesNothing(t *testing.T) {
	ctx := context.Background()
	mw := typed(t, &reduction.Config{Backend: backend.NewMemory(0), DedupeResults: true, ProvideReadTool: true})
	ctx, err := einorun.Begin(ctx, mw, &einorun.RunContext{})
	require.NoError(t, err)
	msgs := talk[*schema.Message](999, 200)
	for i, m := range msgs {
		if m.Role == schema.Tool {
			m.Content += strings.Repeat("x", i)
		}
	}
	state := &adk.ChatModelAgentState{Messages: msgs}
	_, _, err = mw.BeforeModelRewriteState(ctx, state, nil)
	require.NoError(t, err)
	require.Zero(t, race.Allocations(20, func() { _, _, _ = mw.BeforeModelRewriteState(ctx, state, nil) }))
}

func TestDedupeResults_FailingStoreLosesNothing(t *testing.T) {
	race.Skip(t, "random arguments, encoded and decoded")
	adktest.EachType(t, testDedupeResultsFailingStoreLosesNothing[*schema.Message],
		testDedupeResultsFailingStoreLosesNothing[*schema.AgenticMessage])
}

func testDedupeResultsFailingStoreLosesNothing[M adk.MessageType](t *testing.T) {
	changed := 0
	for seed := range 10 * histories() {
		g := newGen[M](seed)
		memory := backend.NewMemory(0)
		files := backendtest.NewFaulty(memory, func(backendtest.Call) backendtest.Fault {
			if g.chance(50) {
				return backendtest.Fault{}
			}
			modes := []backendtest.Mode{backendtest.Fail, backendtest.Short, backendtest.Torn, backendtest.Late, backendtest.Panic}
			return backendtest.Fault{Mode: modes[g.IntN(len(modes))], After: int64(g.IntN(3) * 50)}
		})
		cfg := &reduction.TypedConfig[M]{Backend: files, MaxTokensForClear: 1, DedupeResults: true, MaxArgumentBytes: 100}
		mw := typed(t, cfg)
		var msgs, whole []M
		for i := range 6 {
			id := fmt.Sprint(g.id(), i)
			text := strings.Repeat(fmt.Sprintf("file %d\n", g.IntN(3)), 100)
			more := []M{adktest.Assistant[M]("", adktest.ToolCall{ID: id, Name: "write", Args: g.arguments()}, adktest.ToolCall{ID: id + "b", Name: "read"}),
				adktest.Result[M](id, "write", text), adktest.Result[M](id+"b", "read", text)}
			whole = append(whole, copyAll(more)...)
			msgs = before(t, mw, append(msgs, more...))
		}
		for i, m := range msgs {
			for j, a := range g.shape.answers(m) {
				if was := g.shape.answers(whole[i])[j].joined(); a.joined() != was {
					changed++
					require.Equal(t, was, stored(t, memory, pathIn(a.joined())), "seed %d", seed)
				}
			}
			for j, call := range adktest.Calls(m) {
				if was := adktest.Calls(whole[i])[j].Args; call.Args != was {
					changed++
					var before, after any
					require.NoError(t, json.Unmarshal([]byte(was), &before))
					require.NoError(t, json.Unmarshal([]byte(call.Args), &after))
					require.Equal(t, before, originalArguments(t, memory, after), "seed %d", seed)
				}
			}
		}
	}
	require.Greater(t, changed, 100)
}

var argumentPath = regexp.MustCompile(`(?:saved in full to|保存到): ([^\n]+)\n`)

// originalArguments puts the stored values back into arguments.
func originalArguments(t *testing.T, memory store.RangeReader, v any) any {
	switch v := v.(type) {
	case string:
		m := argumentPath.FindStringSubmatch(v)
		if m == nil || !strings.HasPrefix(v, "[V") && !strings.HasPrefix(v, "[值") {
			return v
		}
		content := stored(t, memory, m[1])
		var value any
		if content != "" && strings.Contains("{[\"", content[:1]) {
			if json.Unmarshal([]byte(content), &value) == nil {
				return value
			}
		}
		return content
	case []any:
		for i := range v {
			v[i] = originalArguments(t, memory, v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = originalArguments(t, memory, v[k])
		}
	}
	return v
}

// arguments is what a model may write.
func (g *gen[M]) arguments() string {
	var value func(depth int) any
	value = func(depth int) any {
		switch n := g.IntN(8); {
		case n < 2 && depth < 4:
			list := []any{}
			for range g.IntN(6) {
				list = append(list, value(depth+1))
			}
			return list
		case n < 4 && depth < 4:
			object := map[string]any{}
			for i := range g.IntN(5) {
				object[fmt.Sprint("key \"", i)] = value(depth + 1)
			}
			return object
		case n == 4:
			return g.IntN(1000)
		case n == 5:
			return strings.Repeat("\u2028<\"\\quoted\\\" \u00e9\U0001F642 ", g.IntN(80))
		}
		return strings.Repeat("a line of code\n", g.IntN(200))
	}
	switch g.IntN(12) {
	case 0:
		return strings.Repeat("not JSON ", 300)
	case 1:
		return render([]any{value(0), strings.Repeat("in a list ", 200)})
	case 2:
		return " {  \"a\" : \"" + strings.Repeat("x", 2000) + "\" , \"n\":[1, 2,3] }\n"
	case 3:
		return `{"lone":"\ud800` + strings.Repeat("y", 2000) + `","ok":true}`
	}
	return render(map[string]any{"path": "/a", "content": value(0), "edits": []any{value(1), value(1)}})
}

func TestMaxArgumentBytes_KeepsShapeAndReadableValues(t *testing.T) {
	race.Skip(t, "random arguments, encoded and decoded")
	adktest.EachType(t, testMaxArgumentBytesKeepsShapeAndReadableValues[*schema.Message],
		testMaxArgumentBytesKeepsShapeAndReadableValues[*schema.AgenticMessage])
}

func testMaxArgumentBytesKeepsShapeAndReadableValues[M adk.MessageType](t *testing.T) {
	for seed := range uint64(race.Cases(int(10 * histories()))) {
		g := newGen[M](seed)
		memory := backend.NewMemory(0)
		over := []int{1, 200, 1000}[g.IntN(3)]
		cfg := &reduction.TypedConfig[M]{Backend: memory, MaxTokensForClear: 1, MaxArgumentBytes: over}
		var msgs []M
		for i := range 1 + g.IntN(4) {
			id := fmt.Sprint(g.id(), i)
			args := g.arguments()
			msgs = append(msgs, adktest.Assistant[M]("", adktest.ToolCall{ID: id, Name: "write", Args: args}), adktest.Result[M](id, "write", []string{"ok", g.content()}[g.IntN(2)]))
		}
		given := copyAll(msgs)
		msgs = append(msgs, rounds[M](1, 10)...)
		out := before(t, typed(t, cfg), msgs)
		for i, m := range given {
			require.Equal(t, m, msgs[i], "seed %d: what was handed over has changed", seed)
			was, is := adktest.Calls(m), adktest.Calls(out[i])
			for j := range was {
				if was[j].Args == is[j].Args {
					continue
				}
				require.Less(t, len(is[j].Args), len(was[j].Args), "seed %d", seed)
				var before, after any
				require.NoError(t, json.Unmarshal([]byte(was[j].Args), &before))
				require.NoError(t, json.Unmarshal([]byte(is[j].Args), &after), "seed %d: %s", seed, is[j].Args)
				require.IsType(t, map[string]any{}, after)
				require.Equal(t, before, originalArguments(t, memory, after), "seed %d: %s", seed, is[j].Args)
			}
		}
		require.Equal(t, out, before(t, typed(t, cfg), out), "seed %d: a second pass changed something", seed)
		later := resumed(t, out)
		require.Equal(t, later, before(t, typed(t, cfg), later), "seed %d: resumed", seed)
		require.Equal(t, out, before(t, typed(t, cfg), msgs), "seed %d: a history that was kept whole", seed)
	}
}

func TestMaxArgumentBytes_KeepsUnstoredAndExcluded(t *testing.T) {
	args := render(map[string]any{"content": strings.Repeat("code\n", 500)})
	down := backendtest.NewFaulty(backend.NewMemory(0), backendtest.Every(backendtest.Fault{Mode: backendtest.Fail}))
	handler := func(context.Context, *reduction.ToolDetail) (*reduction.ClearResult, error) { return nil, nil }
	for name, cfg := range map[string]*reduction.Config{
		"off":        {Backend: backend.NewMemory(0)},
		"broken":     {Backend: down, MaxArgumentBytes: 100},
		"no backend": {SkipTruncation: true, MaxArgumentBytes: 100},
		"excluded":   {Backend: backend.NewMemory(0), MaxArgumentBytes: 100, ClearExcludeTools: []string{"write"}},
		"skipped":    {Backend: backend.NewMemory(0), MaxArgumentBytes: 100, SkipClear: true},
		"handler": {Backend: backend.NewMemory(0), MaxArgumentBytes: 100, ToolConfig: map[string]*reduction.ToolReductionConfig{
			"write": {ClearHandler: handler}}},
	} {
		cfg.MaxTokensForClear = 1
		msgs := append([]*schema.Message{adktest.Assistant[*schema.Message]("", adktest.ToolCall{ID: "w", Name: "write", Args: args}),
			adktest.Result[*schema.Message]("w", "write", "ok")}, rounds[*schema.Message](1, 10)...)
		require.Equal(t, msgs, before(t, typed(t, cfg), msgs), name)
	}
}

// Of two arguments, the one that could be stored is replaced, and the other stays.
func TestMaxArgumentBytes_ReplacesEachAlone(t *testing.T) {
	adktest.EachType(t, testMaxArgumentBytesReplacesEachAlone[*schema.Message],
		testMaxArgumentBytesReplacesEachAlone[*schema.AgenticMessage])
}

func testMaxArgumentBytesReplacesEachAlone[M adk.MessageType](t *testing.T) {
	texts := map[string]string{"first": strings.Repeat("first line\n", 200), "second": strings.Repeat("second line\n", 200)}
	stays := map[string]int{}
	for _, fails := range []string{"first line", "second line"} {
		memory := backend.NewMemory(0)
		files := &refusing{Memory: memory, text: fails}
		mw := typed(t, &reduction.TypedConfig[M]{Backend: files, MaxTokensForClear: 1, MaxArgumentBytes: 100})
		msgs := append([]M{adktest.Assistant[M]("", adktest.ToolCall{ID: "w", Name: "write", Args: render(map[string]any{"first": texts["first"], "second": texts["second"]})}),
			adktest.Result[M]("w", "write", "ok")}, rounds[M](1, 10)...)
		out := before(t, mw, msgs)
		var args map[string]any
		require.NoError(t, json.Unmarshal([]byte(adktest.Calls(out[0])[0].Args), &args))
		require.Len(t, args, 2)
		for key, value := range args {
			if text, ok := value.(string); ok && text == texts[key] {
				stays[key]++
				require.Contains(t, text, fails)
				continue
			}
			require.Equal(t, texts[key], originalArguments(t, memory, value), "%s fails", fails)
		}
	}
	require.Equal(t, map[string]int{"first": 1, "second": 1}, stays)
}

// refusing is a store that keeps no file with a text.
type refusing struct {
	*backend.Memory
	text string
}

func (r *refusing) Write(ctx context.Context, req *filesystem.WriteRequest) error {
	if strings.Contains(req.Content, r.text) {
		return errors.New("refused")
	}
	return r.Memory.Write(ctx, req)
}

func (r *refusing) Create(ctx context.Context, path string, content io.Reader) error {
	text, err := io.ReadAll(content)
	if err != nil || strings.Contains(string(text), r.text) {
		return errors.Join(err, errors.New("refused"))
	}
	return r.Memory.Create(ctx, path, strings.NewReader(string(text)))
}
