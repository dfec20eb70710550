// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package reduction_test

// Invariants over random histories and results.

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/backend"
	"github.com/einolean/einolean/internal/message"
	"github.com/einolean/einolean/reduction"
)

func TestClear_InvariantsOverRandomHistories(t *testing.T) {
	defer func() { require.NoError(t, adk.SetLanguage(adk.LanguageEnglish)) }()
	for kind, open := range storeKinds {
		t.Run(kind+"/Message", func(t *testing.T) { testClearInvariantsOverRandomHistories[*schema.Message](t, open) })
		t.Run(kind+"/AgenticMessage", func(t *testing.T) { testClearInvariantsOverRandomHistories[*schema.AgenticMessage](t, open) })
	}
}

func testClearInvariantsOverRandomHistories[M adk.MessageType](t *testing.T, open func(*testing.T) (reduction.Backend, *backend.Memory)) {
	for seed := range histories() {
		files, memory := open(t)
		l := &lawbook[M]{T: t, gen: newGen[M](seed), store: files, memory: memory, seed: seed}
		l.config()
		l.msgs = l.history()
		l.originals = copyAll(l.msgs)
		for range 1 + l.IntN(4) {
			l.pass()
			if t.Failed() {
				return
			}
			l.next()
		}
		l.readAll()
	}
}

// lawbook is one conversation under observation.
type lawbook[M adk.MessageType] struct {
	*testing.T
	*gen[M]
	seed      uint64
	store     reduction.Backend
	memory    *backend.Memory
	cfg       reduction.TypedConfig[M]
	mw        adk.TypedChatModelAgentMiddleware[M]
	msgs      []M
	originals []M // what the tools returned, message by message
}

// readAll follows every path in the conversation through the read tool, page by
// page.
func (l *lawbook[M]) readAll() {
	require.NoError(l.T, adk.SetLanguage(adk.LanguageEnglish))
	reader := readTool(l.T, l.memory)
	for i, m := range l.msgs {
		first := l.shape.answers(l.originals[i])
		for j, a := range l.shape.answers(m) {
			if a.joined() != first[j].joined() {
				require.Equal(l.T, first[j].joined(), readBack(l.T, reader, pathIn(a.joined())), "seed %d", l.seed)
			}
		}
	}
}

func (l *lawbook[M]) config() {
	l.cfg = reduction.TypedConfig[M]{
		Backend: l.store, MaxTokensForClear: 1, ClearRetentionSuffixLimit: l.IntN(3),
		MinSavingBytes: l.IntN(2) * l.IntN(200),
	}
	if l.chance(30) {
		l.cfg.MaxTokensForClear, l.cfg.ClearTargetTokens = 2000, 1000
	}
	if l.chance(20) {
		l.cfg.ClearAtLeastTokens = int64(l.IntN(500))
	}
	if l.chance(10) {
		l.cfg.ClearExcludeTools = []string{"grep"}
	}
	if l.chance(50) {
		l.cfg.Preview = reduction.PreviewByKind
	}
	if l.chance(20) {
		l.cfg.GenClearOffloadFilePath = func(_ context.Context, d *reduction.ToolDetail) (string, error) {
			return "/elsewhere/" + fmt.Sprintf("%x", d.ToolContext.CallID), nil
		}
	}
	l.cfg.DedupeResults = l.chance(50)
	l.mw = typed(l.T, &l.cfg)
}

// pass runs the phase and checks every law.
func (l *lawbook[M]) pass() {
	given := copyAll(l.msgs)
	out := before(l.T, l.mw, l.msgs)
	where := fmt.Sprintf("seed %d", l.seed)
	require.Equal(l.T, given, l.msgs, "%s: what was handed over has changed", where)
	require.Len(l.T, out, len(given), where)
	given, l.originals = message.InCallOrder(given), message.InCallOrder(l.originals)
	for i := range out {
		l.message(fmt.Sprintf("%s, message %d", where, i), given[i], out[i], l.originals[i])
	}
	again := before(l.T, l.mw, out)
	require.Equal(l.T, out, again, "%s: a second pass changed something", where)
	fresh := typed(l.T, &l.cfg)
	require.Equal(l.T, out, before(l.T, fresh, out), "%s: another instance changed something", where)
	l.msgs = out
}

func (l *lawbook[M]) message(where string, given, got, original M) {
	require.Equal(l.T, restOf(given), restOf(got), "%s: something else changed", where)
	was, is, first := l.shape.answers(given), l.shape.answers(got), l.shape.answers(original)
	require.Len(l.T, is, len(was), where)
	for i := range is {
		if is[i].joined() == was[i].joined() {
			continue
		}
		require.Less(l.T, len(is[i].joined()), len(was[i].joined()), "%s: it did not shrink", where)
		path := pathIn(is[i].joined())
		require.NotEmpty(l.T, path, "%s: no path in %q", where, is[i].joined())
		require.Equal(l.T, first[i].joined(), stored(l.T, l.memory, path), "%s: lost, at %q", where, path)
	}
	// What earlier passes put there must still be right.
	for i := range is {
		if text := is[i].joined(); text != first[i].joined() {
			require.Equal(l.T, first[i].joined(), stored(l.T, l.memory, pathIn(text)), "%s: lost since, at %q", where, pathIn(text))
		}
	}
}

// next makes the conversation go on: more rounds, a restart, a checkpoint, or a
// history that was put together from events.
func (l *lawbook[M]) next() {
	if l.chance(30) {
		l.mw = typed(l.T, &l.cfg)
	}
	if l.chance(20) {
		l.msgs = resumed(l.T, l.msgs)
	}
	require.NoError(l.T, adk.SetLanguage([]adk.Language{adk.LanguageEnglish, adk.LanguageChinese}[l.IntN(2)]))
	if l.chance(15) {
		l.msgs = copyAll(l.originals)
		for i, m := range l.msgs { // as Eino leaves it behind
			if restOf(m) != "nil" && len(l.shape.answers(m)) == 0 && l.chance(50) {
				l.msgs[i] = withExtra(m, processedKey, true)
			}
		}
		l.originals = copyAll(l.msgs)
	}
	more := l.more(1 + l.IntN(3))
	l.msgs = append(l.msgs[:len(l.msgs):len(l.msgs)], more...)
	l.originals = append(l.originals, copyAll(more)...)
}

func TestTruncate_InvariantsOverRandomResults(t *testing.T) {
	for kind, open := range storeKinds {
		for _, f := range forms {
			t.Run(kind+"/"+f.name, func(t *testing.T) {
				cuts := 0
				for seed := range 2 * histories() {
					cuts += truncationLaws(t, newGen[*schema.Message](seed), f, open)
				}
				require.Greater(t, cuts, 10, "hardly anything was cut")
			})
		}
	}
}

func truncationLaws(t *testing.T, g *gen[*schema.Message], f form, open func(*testing.T) (reduction.Backend, *backend.Memory)) (cuts int) {
	files, memory := open(t)
	limit := 413 + g.IntN(3000)
	cfg := &reduction.Config{Backend: files, MaxLengthForTrunc: limit}
	if g.chance(50) {
		cfg.Preview = reduction.PreviewByKind
	}
	mw := typed(t, cfg)
	paths := map[string]string{} // content by path
	for n := range 6 {
		tc := &adk.ToolContext{Name: "shell", CallID: g.id()}
		chunks := g.chunks()
		content := strings.Join(chunks, "")
		out, err := f.run(context.Background(), mw, tc, `{}`, chunks)
		require.NoError(t, err)
		where := fmt.Sprintf("call %d, id %q, limit %d, %d bytes", n, tc.CallID, limit, len(content))
		if out == content {
			continue
		}
		require.Greater(t, len(content), limit, "%s: within the limit, and changed", where)
		require.LessOrEqual(t, len(out), limit, where)
		path := pathIn(out)
		require.NotEmpty(t, path, "%s: no path in %q", where, out)
		require.Equal(t, content, stored(t, memory, path), "%s: lost, at %q", where, path)
		require.True(t, strings.HasPrefix(path, "/tmp/trunc/") && !strings.Contains(path[len("/tmp/trunc/"):], "/"), "%s: left the root with %q", where, path)
		require.True(t, !utf8.ValidString(content) || utf8.ValidString(out), "%s: a character was split", where)
		if f.stream {
			head := out[:strings.LastIndex(out, "\n<persisted-output>")]
			require.True(t, strings.HasPrefix(content, head), "%s: what was passed on is not the start", where)
			require.False(t, limit > 600 && head == "", "%s: nothing was passed on", where)
		}
		if was, ok := paths[path]; ok {
			require.Equal(t, was, content, "%s: %q was written over", where, path)
		}
		paths[path] = content
		cuts++
	}
	for path, content := range paths {
		require.Equal(t, content, stored(t, memory, path), "lost since, at %q", path)
	}
	return cuts
}
