// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package reduction

import (
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/leanctx/leanctx/internal/race"
	"github.com/leanctx/leanctx/internal/texts"
)

func TestNoticesOfBothPackagesInBothLanguagesAreKnown(t *testing.T) {
	v := noticeData{bytes: 12345, headBytes: 100, tailBytes: 200, path: "/tmp/trunc/a.b:c-d", tool: "read_file", head: "{{.head}} </persisted", tail: "<tail>\n", shown: "{\"a\":1}"}
	for _, w := range []*notices{english, chinese} {
		for _, tool := range []string{"read_file", ""} {
			v.tool = tool
			require.Equal(t, notice{clearedNotice, v.path, v.bytes}, recognise(w.fill(w.cleared, v)))
			require.Equal(t, notice{truncatedNotice, v.path, v.bytes}, recognise(w.fill(w.truncated, v)))
			require.Equal(t, notice{truncatedNotice, v.path, v.bytes}, recognise(w.fill(w.previewed, v)))
			require.Equal(t, notice{truncatedNotice, v.path, v.bytes}, recognise("what was passed on"+w.fill(w.found, v)))
			require.Equal(t, notice{truncatedNotice, v.path, v.bytes}, recognise("what was passed on"+w.fill(w.stream, v)))
			require.Equal(t, noNotice, recognise("what was passed on"+w.fill(w.unsaved, v)).kind, "there is nothing to point at")
			require.NotContains(t, w.fill(w.unsaved, v), v.path)
			require.Equal(t, tool != "", strings.Contains(w.fill(w.cleared, v), "read_file"))
		}
		require.Equal(t, clearedNotice, recognise(w.fill(w.placeholder, v)).kind)
		for _, f := range []template{w.cleared, w.truncated, w.stream, w.previewed, w.found} {
			require.Equal(t, f.length(w.hinted(v)), len(w.fill(f, v)))
		}
	}
	for name, kind := range map[string]noticeKind{"cleared": clearedNotice, "truncated": truncatedNotice, "stream": truncatedNotice, "placeholder": clearedNotice} {
		for i, lang := range []*texts.Texts{noticeTexts.English(), noticeTexts.Chinese()} {
			n := recognise(template(lang.Pieces("eino/" + name)).fill(v))
			require.Equal(t, kind, n.kind, name, i)
			require.Equal(t, kind == clearedNotice && name == "placeholder", n.path == "", name, i)
		}
	}
}

func TestTextThatOnlyLooksLikeANoticeIsNotOne(t *testing.T) {
	for _, text := range []string{
		"", "x", openTag, closeTag, openTag + closeTag,
		openTag + "Old result (5 bytes), saved in full to: /a\nRead it." + closeTag + " and more",
		"and before " + openTag + "Old result (5 bytes), saved in full to: /a\nRead it." + closeTag,
		openTag + "Old result (five bytes), saved in full to: /a\nRead it." + closeTag,
		openTag + "Old result (5 bytes), saved in full to: \nRead it." + closeTag,
		openTag + "Old result (5 bytes), saved in full to: /" + strings.Repeat("a", 5000) + "\nRead it." + closeTag,
		openTag + "Old result (5 bytes), saved in full to: /a\n" + strings.Repeat("Read it.", 100) + closeTag,
		"[Old tool result content cleared] ",
	} {
		require.Equal(t, notice{}, recognise(text), text)
	}
	require.Equal(t, notice{}, noticeIn([]string{"[Old tool result content cleared]", "text"}))
	require.Equal(t, notice{}, noticeIn(nil))
	one, two := english.fill(english.truncated, noticeData{path: "/1"}), english.fill(english.truncated, noticeData{path: "/2"})
	require.Equal(t, notice{}, noticeIn([]string{one, two}))
	require.Equal(t, "/1", noticeIn([]string{one, "caption", one}).path)
}

func TestTemplateFieldsInToolOutputAreNotExpanded(t *testing.T) {
	out := english.fill(english.truncated, noticeData{path: "/p", head: "{{.path}}", tail: "{{.bytes}}"})
	require.Contains(t, out, "{{.path}}")
	require.Contains(t, out, "{{.bytes}}")
}

func TestATailIsTheEndFromTheStartOfACharacter(t *testing.T) {
	for n := range 20 {
		end := &tail{max: n}
		all := ""
		for _, s := range []string{"häß", "lich ", "日本", "語", "", "a very long piece of text that is longer than the tail 語"} {
			end.add(s)
			all += s
			got := end.text()
			require.True(t, strings.HasSuffix(all, got))
			require.LessOrEqual(t, len(got), n)
			require.GreaterOrEqual(t, len(got), min(n, len(all))-3)
		}
	}
	end := &tail{max: 100}
	end.skip([]string{"abc", "def", "ghi"}, 4)
	require.Equal(t, "efghi", end.text())
}

func TestRoundsPairCallsWithTheirResults(t *testing.T) {
	assistant := func(calls ...string) view {
		v := view{}
		for i, c := range calls {
			id, name, _ := strings.Cut(c, "/")
			v.calls = append(v.calls, call{index: i, id: id, name: name})
		}
		return v
	}
	tool := func(results ...string) view {
		v := view{}
		for i, r := range results {
			id, name, _ := strings.Cut(r, "/")
			v.results = append(v.results, result{index: i, id: id, name: name})
		}
		return v
	}
	user := view{}
	for name, c := range map[string]struct {
		history []view
		want    string
	}{
		"in order":                       {[]view{assistant("1", "2"), tool("1"), tool("2")}, "1@1 2@2"},
		"swapped":                        {[]view{assistant("1", "2"), tool("2"), tool("1")}, "1@2 2@1"},
		"missing":                        {[]view{assistant("1", "2"), tool("2")}, "1- 2@1"},
		"an orphan":                      {[]view{tool("0"), assistant("1"), tool("x"), tool("1")}, "1@3"},
		"a user in between":              {[]view{assistant("1"), user, tool("1")}, "1@2"},
		"late":                           {[]view{assistant("1"), assistant("2"), tool("1"), tool("2")}, "1@2 | 2@3"},
		"an id again in another round":   {[]view{assistant("1"), tool("1"), assistant("1"), tool("1")}, "1@1 | 1@3"},
		"an id again, the first missing": {[]view{assistant("1"), assistant("1"), tool("1")}, "1- | 1@2"},
		"an id twice in one round":       {[]view{assistant("1/a", "1/b"), tool("1/b"), tool("1/a")}, "1@2 1@1"},
		"an id twice, without names":     {[]view{assistant("1/a", "1/b"), tool("1/"), tool("1/")}, "1@1 1@2"},
		"no ids":                         {[]view{assistant("/a", "/b", "/a"), tool("/b"), tool("/a"), tool("/a")}, "@2 @1 @3"},
		"ids that were lost":             {[]view{assistant("1/a", "2/b"), tool("/b"), tool("/")}, "1@2 2@1"},
		"lost, of another name":          {[]view{assistant("1/a"), tool("/z")}, "1-"},
		"no ids belong to the newest":    {[]view{assistant("/a"), assistant("/b"), tool("/a")}, "- | -"},
		"several in one message":         {[]view{assistant("1", "2"), tool("2", "1", "3")}, "1@1 2@1"},
		"twice the same result":          {[]view{assistant("1"), tool("1"), tool("1")}, "1@1"},
	} {
		var got []string
		for _, r := range roundsIn(c.history) {
			var pairs []string
			for _, p := range r.pairs {
				s := p.call.id + "-"
				if p.found {
					s = fmt.Sprint(p.call.id, "@", p.at)
				}
				pairs = append(pairs, s)
			}
			got = append(got, strings.Join(pairs, " "))
		}
		require.Equal(t, c.want, strings.Join(got, " | "), name)
	}
}

func TestStreamReaderAnswersAfterItWasClosed(t *testing.T) {
	// What cutStream relies on: a copy of a stream can be closed twice and then be
	// read, without the source being asked.
	r, _ := schema.Pipe[string](0)
	one := oneOf(schema.StreamReaderWithConvert(r, func(s string) (string, error) { return s, nil }))
	one.Close()
	one.Close()
	_, err := one.Recv()
	require.ErrorIs(t, err, schema.ErrRecvAfterClosed)
	c := &streamCut[string]{ended: true, err: io.ErrNoProgress}
	require.Equal(t, io.ErrNoProgress, c.afterEnd(err))
	require.Equal(t, io.EOF, c.afterEnd(err))
	require.Equal(t, io.ErrShortWrite, c.afterEnd(io.ErrShortWrite))
}

func roundsIn(vs []view) []round {
	p := pairer{rounds: []round{}}
	for i, v := range vs {
		p.next(i, v)
	}
	return p.rounds
}

// pairedSlowly is the rule for pairs, written down without regard to cost: every
// round is looked at for every result.
func pairedSlowly(vs []view) []round {
	rounds := []round{}
	for i, v := range vs {
		for _, r := range v.results {
			for n := len(rounds) - 1; n >= 0; n-- {
				to := rounds[n].waiting(r, true)
				if to == nil && r.id == "" {
					to = rounds[n].waiting(r, false)
				}
				if to != nil {
					to.found, to.at, to.result = true, i, r
				}
				if to != nil || r.id == "" {
					break
				}
			}
		}
		if len(v.calls) > 0 {
			p := pairer{rounds: rounds}
			p.begin(i, v)
			rounds = p.rounds
		}
	}
	return rounds
}

func TestPairsAreThoseOfTheRuleOverRandomHistories(t *testing.T) {
	for seed := range uint64(race.Cases(2000)) {
		g := rand.New(rand.NewPCG(seed, 3))
		id := func() string { return []string{"", "a", "b", "c", fmt.Sprint(g.IntN(20))}[g.IntN(5)] }
		name := func() string { return []string{"", "x", "y"}[g.IntN(3)] }
		var vs []view
		for range 1 + g.IntN(30) {
			var v view
			for i := range g.IntN(4) {
				if g.IntN(2) == 0 {
					v.calls = append(v.calls, call{index: i, id: id(), name: name()})
				}
			}
			for i := range g.IntN(4) * (1 - min(1, len(v.calls))) {
				v.results = append(v.results, result{index: i, id: id(), name: name()})
			}
			vs = append(vs, v)
		}
		require.Equal(t, pairedSlowly(vs), roundsIn(vs), "seed %d", seed)
	}
}

// A result that came twice, or that belongs to no call, does not make pairing look
// through all rounds.
func TestPairingIsLinearInTheHistory(t *testing.T) {
	race.Skip(t, "pairs 300,000 messages")
	const rounds = 100_000
	history := func(n int) []view {
		vs := make([]view, 0, 3*n)
		for i := range n {
			id := fmt.Sprintf("call_%d", i)
			vs = append(vs,
				view{calls: []call{{id: id, name: "shell"}}},
				view{results: []result{{id: id, name: "shell"}, {index: 1, id: id, name: "shell"}}},
				view{results: []result{{id: "orphan_" + id, name: "shell"}, {index: 1, id: fmt.Sprintf("call_%d", i/2), name: "shell"}}})
		}
		return vs
	}
	vs := history(rounds)
	start := time.Now()
	got := roundsIn(vs)
	took := time.Since(start)
	require.Len(t, got, rounds)
	for i, r := range got {
		require.True(t, r.pairs[0].found)
		require.Equal(t, 3*i+1, r.pairs[0].at)
	}
	t.Logf("%d rounds: %v", rounds, took)
	require.Less(t, took, 30*time.Second, "a look at every round for each of these results takes minutes")
}

func TestNoNoticeSaysThatThereAreNoErrors(t *testing.T) {
	files, err := noticeFiles.ReadDir("notice")
	require.NoError(t, err)
	for _, f := range files {
		if f.IsDir() {
			continue
		}
		text, err := noticeFiles.ReadFile("notice/" + f.Name())
		require.NoError(t, err)
		for _, never := range []string{"no error", "0 errors", "without error", "没有错误", "无错误", "0 个错误"} {
			require.NotContains(t, strings.ToLower(string(text)), never, f.Name())
		}
	}
}

func TestWhatWasSeenLongAgoIsForgotten(t *testing.T) {
	var s seen
	require.False(t, s.some())
	for key := range uint64(maxSeen + 2) {
		require.True(t, s.add(key))
		require.False(t, s.add(key), "it is there")
	}
	require.True(t, s.some())
	require.Len(t, s.known, maxSeen)
	for key, has := range map[uint64]bool{0: false, 1: false, 2: true, maxSeen + 1: true} {
		require.Equal(t, has, s.has(key), "%d", key)
	}
}

func TestAKeyTellsWhereATextEnds(t *testing.T) {
	require.Equal(t, keyOf("a", "bc"), keyOf("a", "bc"))
	require.NotEqual(t, keyOf("a", "bc"), keyOf("ab", "c"))
	require.NotEqual(t, keyOf("a"), keyOf("a", ""))
}
