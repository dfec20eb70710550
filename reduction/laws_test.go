// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package reduction_test

// The laws: of clearing over random histories, of truncation over random results in all four
// forms, and of every store, whatever it can do and whatever of it breaks.

import (
	"bytes"
	"context"
	"encoding/gob"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/adk/filesystem"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean"
	"github.com/einolean/einolean/internal/backend"
	"github.com/einolean/einolean/internal/dev/adktest"
	"github.com/einolean/einolean/internal/dev/backendtest"
	"github.com/einolean/einolean/internal/dev/race"
	"github.com/einolean/einolean/reduction"
	"github.com/einolean/einolean/reduction/internal/offload"
	"github.com/einolean/einolean/store"
)

// histories is how many random ones each law is held against, per message type
// and kind of store. EINOLEAN_HISTORIES asks for more.
func histories() uint64 {
	if n, err := strconv.ParseUint(os.Getenv("EINOLEAN_HISTORIES"), 10, 64); err == nil {
		return n
	}
	return 10
}

func TestLawsOfClearingHoldOverRandomHistories(t *testing.T) {
	defer func() { require.NoError(t, adk.SetLanguage(adk.LanguageEnglish)) }()
	for kind, open := range storeKinds {
		t.Run(kind+"/Message", func(t *testing.T) { clearLaws[*schema.Message](t, open) })
		t.Run(kind+"/AgenticMessage", func(t *testing.T) { clearLaws[*schema.AgenticMessage](t, open) })
	}
}

func clearLaws[M adk.MessageType](t *testing.T, open func(*testing.T) (reduction.Backend, *backend.Memory)) {
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

func (l *lawbook[M]) config() {
	l.cfg = reduction.TypedConfig[M]{
		Backend: l.store, MaxTokensForClear: 1, ClearRetentionSuffixLimit: l.IntN(3),
		Savings: reduction.Savings{MinSavingBytes: l.IntN(2) * l.IntN(200)},
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
	l.cfg.ReferToRepeats = l.chance(50)
	l.mw = typed(l.T, &l.cfg)
}

// pass runs the phase and checks every law.
func (l *lawbook[M]) pass() {
	given := copyAll(l.msgs)
	out := before(l.T, l.mw, l.msgs)
	where := fmt.Sprintf("seed %d", l.seed)
	require.Equal(l.T, given, l.msgs, "%s: what was handed over has changed", where)
	require.Len(l.T, out, len(given), where)
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

// resumed is what a checkpoint makes of messages.
func resumed[M adk.MessageType](t *testing.T, msgs []M) []M {
	out := make([]M, len(msgs))
	var checkpoint bytes.Buffer
	to, from := gob.NewEncoder(&checkpoint), gob.NewDecoder(&checkpoint)
	for i, m := range msgs {
		if restOf(m) != "nil" {
			require.NoError(t, to.Encode(m))
			require.NoError(t, from.Decode(&out[i]))
		}
	}
	return out
}

func TestLawsOfTruncationHoldOverRandomResults(t *testing.T) {
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

// chunks is what a tool may send, cut without regard to characters.
func (g *gen[M]) chunks() []string {
	s := g.content()
	for range g.IntN(3) {
		s += g.content() + g.content()
	}
	if g.chance(30) {
		s = strings.Repeat("長い行、改行なし🙂", g.IntN(600))
	}
	var out []string
	for s != "" {
		n := min(len(s), 1+g.IntN(700))
		if g.chance(10) {
			n = len(s)
		}
		out = append(out, s[:n])
		s = s[n:]
		if g.chance(10) {
			out = append(out, "")
		}
	}
	return out
}

func TestAStreamWithinTheLimitArrivesWholeWhateverTheChunks(t *testing.T) {
	for seed := range 5 * histories() {
		g := newGen[*schema.Message](seed)
		chunks := g.chunks()
		content := strings.Join(chunks, "")
		if len(content) < 413 { // less is no limit
			more := strings.Repeat("more ", 100)
			chunks, content = append(chunks, more), content+more
		}
		mw := typed(t, &reduction.Config{Backend: backend.NewMemory(0), MaxLengthForTrunc: len(content)})
		for _, f := range forms {
			out, err := f.run(context.Background(), mw, &adk.ToolContext{Name: "t", CallID: "c"}, `{}`, chunks)
			require.NoError(t, err)
			require.Equal(t, content, out, "seed %d, %s", seed, f.name)
		}
	}
}

func TestParallelCallsOfOneIDDoNotWriteOverEachOther(t *testing.T) {
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

// TestTheStoreMayFailAtAnyCall: whatever goes wrong at whichever call,
// the run goes on, no text of the store reaches the model, and what is not in the
// conversation is in the store.
//
//claim:security-38 security-39 security-55
func TestTheStoreMayFailAtAnyCall(t *testing.T) {
	modes := map[string]backendtest.Mode{
		"fails": backendtest.Fail, "short": backendtest.Short, "torn": backendtest.Torn,
		"late": backendtest.Late, "hangs": backendtest.Hang, "panics": backendtest.Panic, "ends its goroutine": backendtest.Exit,
	}
	offsets := []int64{0, 1, 700}
	if race.Enabled {
		offsets = offsets[2:]
	}
	for name, mode := range modes {
		for _, after := range offsets {
			for _, f := range forms {
				t.Run(fmt.Sprintf("%s/%d/%s", name, after, f.name), func(t *testing.T) {
					for n := 1; n <= 3; n++ {
						failingStore(t, backendtest.Fault{Mode: mode, After: after}, n, f)
					}
				})
			}
		}
	}
}

// failingStore lets every nth call of each kind go wrong.
func failingStore(t *testing.T, fault backendtest.Fault, n int, f form) {
	memory := backend.NewMemory(0)
	cancel := func() {}
	plan := func(c backendtest.Call) backendtest.Fault {
		if c.N%n != 0 {
			return backendtest.Fault{}
		}
		if fault.Mode == backendtest.Hang {
			defer cancel() // what hangs gets to hang, and no longer
		}
		return fault
	}
	var events []einolean.Event
	mw := typed(t, &reduction.Config{Backend: backendtest.NewFaulty(memory, plan), MaxLengthForTrunc: 1000,
		OnEvent: func(_ context.Context, e einolean.Event) { events = append(events, e) }})
	for i := range 4 {
		ctx, stop := context.WithCancel(context.Background())
		cancel = stop
		content := strings.Repeat(fmt.Sprintf("line of call %d\n", i), 600)
		out, err := f.run(ctx, mw, &adk.ToolContext{Name: "t", CallID: fmt.Sprintf("c%d", i/2)}, `{}`, []string{content[:333], content[333:]})
		stop()
		require.NoError(t, err)
		require.NotContains(t, out, "injected")
		require.NotContains(t, out, "secret")
		switch path := pathIn(out); {
		case path != "":
			require.Equal(t, content, stored(t, memory, path), "call %d", i)
		case f.stream:
			require.LessOrEqual(t, len(out), 1000)
			require.Contains(t, out, "not saved")
			require.True(t, strings.HasPrefix(content, out[:100]))
			require.Contains(t, out, content[len(content)-100:])
			require.Equal(t, einolean.KindStoreFailed, events[len(events)-1].Kind)
		default:
			require.Equal(t, content, out)
			require.Equal(t, einolean.KindStoreFailed, events[len(events)-1].Kind)
			require.Error(t, events[len(events)-1].Err)
		}
	}
}

func TestACutNeverSplitsACharacterWhateverTheChunks(t *testing.T) {
	race.Skip(t, "streams millions of chunks")
	for _, size := range []int{1, 2, 3, 4, 5, 7, 64} {
		for _, unit := range []string{"€", "🙂", "é", "a€🙂"} {
			content := strings.Repeat(unit, 2000)
			var chunks []string
			for rest := content; rest != ""; {
				n := min(size, len(rest))
				chunks = append(chunks, rest[:n])
				rest = rest[n:]
			}
			for limit := 1000; limit < 1004; limit++ {
				files := backend.NewMemory(0)
				mw := typed(t, &reduction.Config{Backend: files, MaxLengthForTrunc: limit})
				for i, f := range forms {
					out, err := f.run(context.Background(), mw, &adk.ToolContext{Name: "t", CallID: fmt.Sprint("c", i)}, `{}`, chunks)
					require.NoError(t, err)
					require.True(t, utf8.ValidString(out), "%s, %q in chunks of %d", f.name, unit, size)
					require.LessOrEqual(t, len(out), limit)
					require.Equal(t, content, stored(t, files, pathIn(out)))
				}
			}
		}
	}
}

// powerSets returns a store with each subset of the interfaces that callers ask for.
func powerSets(m backendtest.FullStore) []reduction.Backend {
	type (
		bk = store.Backend
		rd = store.Reader
		rg = store.RangeReader
		cr = store.Creator
		ca = store.AnyCreator
	)
	return []reduction.Backend{
		struct{ bk }{m}, struct {
			bk
			ca
		}{m, m}, struct {
			bk
			cr
		}{m, m}, struct {
			bk
			cr
			ca
		}{m, m, m}, struct {
			bk
			rg
		}{m, m}, struct {
			bk
			rg
			ca
		}{m, m, m}, struct {
			bk
			rg
			cr
		}{m, m, m}, struct {
			bk
			rg
			cr
			ca
		}{m, m, m, m}, struct {
			bk
			rd
		}{m, m}, struct {
			bk
			rd
			ca
		}{m, m, m}, struct {
			bk
			rd
			cr
		}{m, m, m}, struct {
			bk
			rd
			cr
			ca
		}{m, m, m, m}, struct {
			bk
			rd
			rg
		}{m, m, m}, struct {
			bk
			rd
			rg
			ca
		}{m, m, m, m}, struct {
			bk
			rd
			rg
			cr
		}{m, m, m, m}, struct {
			bk
			rd
			rg
			cr
			ca
		}{m, m, m, m, m},
	}
}

// powersOf says which of Reader, RangeReader, Creator and AnyCreator a store is.
func powersOf(b reduction.Backend) (p [4]bool) {
	_, p[0] = store.As[store.Reader](b)
	_, p[1] = store.As[store.RangeReader](b)
	_, p[2] = store.As[store.Creator](b)
	_, p[3] = store.As[store.AnyCreator](b)
	return p
}

//claim:security-38 security-40
func TestWhateverAStoreCanAndWhateverBreaksNothingIsLost(t *testing.T) {
	sets := len(powerSets(backend.NewMemory(0)))
	var seen struct{ cut, whole, unsaved, cleared int }
	seeds := 2 * histories()
	if race.Enabled || testing.Short() {
		seeds /= 4
	}
	for set := range sets {
		t.Run(fmt.Sprint(powersOf(powerSets(backend.NewMemory(0))[set])), func(t *testing.T) {
			for seed := range seeds {
				b := newBreaking(t, seed, set)
				for range 8 {
					switch b.call() {
					case "cut":
						seen.cut++
					case "whole":
						seen.whole++
					case "unsaved":
						seen.unsaved++
					}
					if b.chance(10) {
						b.clean()
					}
				}
				b.othersStand()
				seen.cleared += clearBreaking[*schema.Message](t, seed, set) + clearBreaking[*schema.AgenticMessage](t, seed, set)
			}
		})
	}
	for _, n := range []int{seen.cut, seen.whole, seen.unsaved, seen.cleared} {
		require.Greater(t, n, int(seeds)/4*sets, "too few of one outcome: %+v", seen)
	}
}

// breaking is a store with a set of interfaces, some calls of which go wrong, and
// which holds content of others. It is used by one goroutine at a time.
type breaking struct {
	*testing.T
	*gen[*schema.Message]
	seed    uint64
	memory  *backend.Memory
	faulty  *backendtest.Faulty
	store   reduction.Backend
	powers  [4]bool
	mw      wrapper
	others  map[string]string // by path
	cancel  func()
	faults  map[backendtest.Op]int // how likely each is to go wrong, in percent
	written bool                   // a write has gone wrong
}

func newBreaking(t *testing.T, seed uint64, set int) *breaking {
	g := newGen[*schema.Message](seed)
	b := &breaking{T: t, gen: g, seed: seed, memory: backend.NewMemory(0), others: map[string]string{}, cancel: func() {}, faults: map[backendtest.Op]int{}}
	for _, op := range []backendtest.Op{backendtest.OpWrite, backendtest.OpCreate, backendtest.OpRead, backendtest.OpReadRange, backendtest.OpDelete} {
		b.faults[op] = []int{0, 20, 70}[g.IntN(3)]
	}
	b.faulty = backendtest.NewFaulty(b.memory, b.plan)
	b.store = powerSets(b.faulty)[set]
	b.powers = powersOf(b.store)
	for _, dir := range []string{offload.TruncDir, offload.ClearDir} {
		for n := range callIDs {
			if g.chance(30) {
				path := offload.DefaultPath("/tmp", dir, callID(n))
				b.others[path] = strings.Repeat("of somebody else\n", 1+g.IntN(300))
				require.NoError(t, b.memory.Write(t.Context(), &filesystem.WriteRequest{FilePath: path, Content: b.others[path]}))
			}
		}
	}
	b.mw = typed(t, &reduction.Config{Backend: b.store, MaxLengthForTrunc: 1000})
	return b
}

const callIDs = 3

func callID(n int) string { return fmt.Sprintf("c/%d", n) }

func (b *breaking) readable() bool { return b.powers[0] || b.powers[1] }

// plan lets calls go wrong in every way but two. A store that says it kept what it
// did not keep can only be found out if it then tells its size. And what is written
// again, because a store cannot be asked for it, stays or is replaced whole, as every
// store must do.
func (b *breaking) plan(c backendtest.Call) backendtest.Fault {
	if !b.chance(b.faults[c.Op]) {
		return backendtest.Fault{}
	}
	mode := faultModes[1+b.IntN(len(faultModes)-1)]
	writes := c.Op == backendtest.OpWrite || c.Op == backendtest.OpCreate
	if mode == backendtest.Torn && writes {
		b.faults[backendtest.OpReadRange] = 0
		if !b.powers[1] {
			mode = backendtest.Short
		}
	}
	switch {
	case mode == backendtest.Short && c.Op == backendtest.OpWrite && b.has(c.Path):
		mode = backendtest.Fail
	case mode == backendtest.Hang && b.chance(80):
		mode = backendtest.Fail
	case mode == backendtest.Hang:
		defer b.cancel() // what hangs gets to hang, and no longer
	}
	b.written = b.written || writes || mode == backendtest.Hang
	return backendtest.Fault{Mode: mode, After: []int64{0, 1, 700, 1500}[b.IntN(4)]}
}

// call cuts one result and says what came of it.
func (b *breaking) call() string {
	f := forms[b.IntN(len(forms))]
	content := strings.Repeat(fmt.Sprintf("line %d of a result\n", b.IntN(3)), 80+10*b.IntN(8))
	ctx, stop := context.WithCancel(b.Context())
	defer stop()
	b.cancel, b.written = stop, false
	at := b.IntN(len(content))
	out, err := f.run(ctx, b.mw, &adk.ToolContext{Name: "t", CallID: callID(b.IntN(callIDs))}, `{}`, []string{content[:at], content[at:]})
	where := fmt.Sprintf("seed %d, %s", b.seed, f.name)
	require.NoError(b.T, err, where)
	require.NotContains(b.T, out, "injected", where)
	switch path := pathIn(out); {
	case out == content:
		require.False(b.T, f.stream, "%s: a stream is longer than its limit", where)
		return "whole"
	case path != "":
		require.LessOrEqual(b.T, len(out), 1000, where)
		require.Equal(b.T, content, stored(b.T, b.memory, path), "%s: lost, at %q", where, path)
		return "cut"
	}
	require.True(b.T, f.stream && b.written, "%s: lost, though nothing failed that had to be written", where)
	require.Contains(b.T, out, "not saved", where)
	require.LessOrEqual(b.T, len(out), 1000, where)
	require.True(b.T, strings.HasPrefix(content, out[:100]) && strings.Contains(out, content[len(content)-100:]), where)
	return "unsaved"
}

// clean lets the owner of the store delete what is in it, which may fail. What
// arrives later must not be taken for stored. A store that cannot be asked does not
// learn of it.
func (b *breaking) clean() {
	if !b.readable() {
		return
	}
	ctx, stop := context.WithCancel(b.Context())
	defer stop()
	b.cancel = stop
	var deleting sync.WaitGroup
	deleting.Go(func() { // which may end its goroutine
		defer func() { _ = recover() }()
		_, _, _ = b.faulty.DeleteUnused(ctx, "", time.Now().Add(time.Hour))
	})
	deleting.Wait()
	maps.DeleteFunc(b.others, func(path, _ string) bool { return !b.has(path) })
}

func (b *breaking) has(path string) bool {
	_, err := b.memory.Read(context.Background(), &filesystem.ReadRequest{FilePath: path})
	return err == nil
}

// othersStand holds that nothing was written over what somebody else had stored,
// as far as the store can tell that it is there.
func (b *breaking) othersStand() {
	if !b.readable() && !b.powers[2] {
		return
	}
	for path, content := range b.others {
		require.Equal(b.T, content, stored(b.T, b.memory, path), "seed %d: %q was written over", b.seed, path)
	}
}

// clearBreaking clears a history and says how many results were cleared.
func clearBreaking[M adk.MessageType](t *testing.T, seed uint64, set int) (cleared int) {
	b, g := newBreaking(t, seed, set), newGen[M](seed)
	mw := typed(t, &reduction.TypedConfig[M]{Backend: b.store, MaxTokensForClear: 1})
	msgs := g.history()
	for n := range callIDs {
		msgs = append(msgs, adktest.Assistant[M]("", adktest.ToolCall{ID: callID(n), Name: "shell", Args: `{}`}),
			adktest.Result[M](callID(n), "shell", strings.Repeat(fmt.Sprintln("result", n), 50)))
	}
	given := copyAll(msgs)
	out := msgs
	for range 3 {
		ctx, stop := context.WithCancel(t.Context())
		b.cancel = stop
		_, state, err := mw.BeforeModelRewriteState(ctx, &adk.TypedChatModelAgentState[M]{Messages: out}, nil)
		stop()
		require.NoError(t, err, "seed %d", seed)
		out = state.Messages
	}
	require.Equal(t, given, msgs)
	for i := range out {
		was, is := g.shape.answers(given[i]), g.shape.answers(out[i])
		for j := range is {
			if is[j].joined() != was[j].joined() {
				require.NotContains(t, is[j].joined(), "injected")
				require.Equal(t, was[j].joined(), stored(t, b.memory, pathIn(is[j].joined())), "seed %d, message %d", seed, i)
				cleared++
			}
		}
	}
	b.othersStand()
	return cleared
}

// restOf renders everything but the texts of results and the marks.
func restOf[M adk.MessageType](m M) string {
	switch m := any(deepCopy(m)).(type) {
	case *schema.Message:
		if m == nil {
			return "nil"
		}
		if m.Role == schema.Tool {
			m.Content = ""
			m.UserInputMultiContent = slices.DeleteFunc(m.UserInputMultiContent, func(p schema.MessageInputPart) bool { return p.Type == schema.ChatMessagePartTypeText })
		}
		m.Extra = withoutMarks(m.Extra)
		return render(m)
	case *schema.AgenticMessage:
		if m == nil {
			return "nil"
		}
		for _, b := range m.ContentBlocks {
			if b != nil && b.FunctionToolResult != nil {
				r := b.FunctionToolResult
				r.Content = slices.DeleteFunc(r.Content, func(c *schema.FunctionToolResultContentBlock) bool { return c.Text != nil })
				b.Extra = withoutMarks(b.Extra)
			}
		}
		m.Extra = withoutMarks(m.Extra)
		return render(m)
	}
	return ""
}

func withoutMarks(extra map[string]any) map[string]any {
	out := map[string]any{}
	for k, v := range extra {
		if k != processedKey && k != oursKey {
			out[k] = v
		}
	}
	return out
}
