// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package vault

import (
	"context"
	"fmt"
	"hash/maphash"
	"io"
	"path"
	"runtime"
	"strings"
	"testing"

	"github.com/cloudwego/eino/adk/filesystem"
	"github.com/stretchr/testify/require"

	"github.com/leanctx/leanctx/internal/backend"
	"github.com/leanctx/leanctx/internal/race"
)

func TestMentionsFindsPathsOfResultsInArguments(t *testing.T) {
	for args, want := range map[string][]string{
		``:                            nil,
		`{"path":"/tmp/trunc/c1"}`:    {"/tmp/trunc/c1"},
		`{"path":"\/tmp\/clear\/c1"}`: {"/tmp/clear/c1"},
		`diff /tmp/trunc/a:0 /tmp/trunc/=2e=2e /tmp/clear/b-x.y|wc`: {"/tmp/trunc/a:0", "/tmp/trunc/=2e=2e", "/tmp/clear/b-x.y"},
		`ls /tmp/trunc/ /tmp/truncated`:                             nil,
		`cat /tmp/trunc/last`:                                       {"/tmp/trunc/last"},
	} {
		require.Equal(t, want, Mentions("/tmp", args), args)
	}
	require.Len(t, Mentions("/tmp", strings.Repeat("/tmp/trunc/a ", 100)), maxMentions)
}

func TestContainsFindsAPieceAnywhereInStoredContent(t *testing.T) {
	var b strings.Builder
	for i := range 40_000 {
		fmt.Fprintf(&b, "line %d of a long content\n", i%20_000)
	}
	content := b.String()
	memory := backend.NewMemory(0)
	require.NoError(t, memory.Create(context.Background(), "/f", strings.NewReader(content)))
	ranged := newStore(memory)
	whole := newStore(struct {
		backend.Backend
		backend.Reader
	}{memory, memory})
	for _, s := range []*Store{ranged, whole} {
		for _, part := range []string{content, content[:1], content[len(content)-300:], content[compareSize-100 : compareSize+5000], content[700_000:900_000]} {
			require.True(t, s.contains(context.Background(), "/f", part))
		}
		for _, part := range []string{content + "x", "not there", content[:300] + "x", strings.Repeat("line 1 of a long content\n", 2)} {
			require.False(t, s.contains(context.Background(), "/f", part))
		}
		require.False(t, s.contains(context.Background(), "/missing", "x"))
	}
	many := strings.Repeat("needle", 1000)
	require.NoError(t, memory.Create(context.Background(), "/g", strings.NewReader(many)))
	require.False(t, ranged.contains(context.Background(), "/g", "needleneedlX"), "it gives up at some point")
}

// counted is a store with windows that counts its readers which are not closed.
type counted struct {
	*backend.Memory
	open *int
}

type countedReader struct {
	io.ReadCloser
	open *int
}

func (s counted) ReadRange(ctx context.Context, p string, offset, length int64) (io.ReadCloser, int64, error) {
	r, size, err := s.Memory.ReadRange(ctx, p, offset, length)
	if err != nil {
		return nil, 0, err
	}
	*s.open++
	return &countedReader{r, s.open}, size, nil
}

func (r *countedReader) Close() error { *r.open--; return r.ReadCloser.Close() }

func TestEveryReaderThatIsOpenedIsClosed(t *testing.T) {
	ctx := context.Background()
	long := strings.Repeat("a line of a long content\n", 20_000)
	for name, ask := range map[string]func(*Vault, *Store){
		"the size":             func(_ *Vault, s *Store) { _, _ = s.Size(ctx, "/f") },
		"the same content":     func(_ *Vault, s *Store) { require.True(t, s.Holds(ctx, "/f", long)) },
		"another of its size":  func(_ *Vault, s *Store) { require.False(t, s.Holds(ctx, "/f", "b"+long[1:])) },
		"a piece":              func(_ *Vault, s *Store) { require.True(t, s.contains(ctx, "/f", long[25:100_000])) },
		"a piece not there":    func(_ *Vault, s *Store) { require.False(t, s.contains(ctx, "/f", long[:300]+"?")) },
		"a piece too large":    func(_ *Vault, s *Store) { require.False(t, s.contains(ctx, "/f", long+"?")) },
		"the first bytes":      func(_ *Vault, s *Store) { require.True(t, s.Begins(ctx, "/f", long[:1000])) },
		"other first bytes":    func(_ *Vault, s *Store) { require.False(t, s.Begins(ctx, "/f", "b")) },
		"a window":             func(_ *Vault, s *Store) { _, err := s.Piece(ctx, "/f", 5, 10); require.NoError(t, err) },
		"a file known already": func(_ *Vault, s *Store) { s.still(ctx, "/f", fingerprintOf(long)) },
		"a file of other size": func(_ *Vault, s *Store) { s.still(ctx, "/f", fingerprintOf("short")) },
		"storing it again": func(v *Vault, s *Store) {
			for range 2 {
				_, _, err := v.Save(ctx, s, Place{Path: "/f"}, long)
				require.NoError(t, err)
			}
		},
	} {
		open := 0
		store := counted{backend.NewMemory(0), &open}
		require.NoError(t, store.Create(ctx, "/f", strings.NewReader(long)))
		v := newVault()
		ask(v, v.Open(store))
		require.Zero(t, open, name)
	}
}

func TestAVaultOpensEachStoreOnce(t *testing.T) {
	v := newVault()
	a, b := backend.NewMemory(0), backend.NewMemory(0)
	first, second := v.Open(a), v.Open(b)
	require.NotSame(t, first, second)
	require.Same(t, first, v.Open(a))
	require.Equal(t, []*Store{first, second}, v.Stores())
	require.Nil(t, v.Open(nil))
}

func TestRangesOfAWholeFileAreThoseOfAStoreWithRanges(t *testing.T) {
	ctx := context.Background()
	memory := backend.NewMemory(0)
	require.NoError(t, memory.Create(ctx, "/f", strings.NewReader("0123456789")))
	ranged, whole := newStore(memory), newStore(struct {
		backend.Backend
		backend.Reader
	}{memory, memory})
	read := func(s *Store, offset, length int64) (string, int64) {
		r, size, err := s.ReadRange(ctx, "/f", offset, length)
		require.NoError(t, err)
		defer r.Close()
		text, err := io.ReadAll(r)
		require.NoError(t, err)
		return string(text), size
	}
	for offset := range int64(13) {
		for length := int64(-1); length < 13; length++ {
			wantText, wantSize := read(ranged, offset, length)
			text, size := read(whole, offset, length)
			require.Equal(t, wantText, text, "%d bytes from %d", length, offset)
			require.Equal(t, wantSize, size)
		}
	}
}

func TestEveryNameThatIsTriedIsThePathAndAKnownSuffix(t *testing.T) {
	longest := 0
	for _, at := range []Place{{Path: "/tmp/trunc/c1"}, {Path: "/tmp/trunc/c1", alone: true}} {
		for n := range at.tries() {
			for _, sum := range []func() string{anySum, func() string { return SumOf("content") }} {
				suffix, ok := strings.CutPrefix(at.candidate(n, sum), at.Path)
				require.True(t, ok)
				require.True(t, suffix == "" || IsSuffix(suffix), suffix)
				require.True(t, MadeFor(at.candidate(n, sum), "c1"))
				longest = max(longest, len(suffix))
			}
		}
	}
	require.Equal(t, SuffixSize, longest, "room is left for the longest")
	require.Len(t, Padding, SuffixSize)
}

func TestAStreamGetsASuffixInAStoreWithoutCreateAny(t *testing.T) {
	ctx := context.Background()
	memory := backend.NewMemory(0)
	v := newVault()
	s := v.Open(struct {
		backend.Backend
		backend.Creator
		backend.RangeReader
	}{memory, memory, memory})
	for range 2 {
		w := v.Stream(ctx, s, Place{Path: "/tmp/trunc/c1"}, []string{"one"})
		p, err := w.Commit(nil)
		require.NoError(t, err)
		require.True(t, MadeFor(p, "c1") && p != "/tmp/trunc/c1", p)
		require.True(t, s.Holds(ctx, p, "one"))
	}
	p, err := v.Stream(ctx, s, Place{Path: "/own", Fixed: true}, []string{"two"}).Commit(nil)
	require.NoError(t, err)
	require.Equal(t, "/own", p)
}

func TestANameThatWasTakenCanBeUsedOnceItIsFree(t *testing.T) {
	ctx := context.Background()
	store := backend.NewMemory(0)
	require.NoError(t, store.Create(ctx, "/f", strings.NewReader("another's")))
	v := newVault()
	s := v.Open(store)
	p, _, err := v.Save(ctx, s, Place{Path: "/f"}, "ours")
	require.NoError(t, err)
	require.NotEqual(t, "/f", p)
	require.True(t, s.claims.take(s.claimName(ctx, "/f"), fingerprintOf("later")), "nobody of this process holds the name")
}

func newVault() *Vault {
	return New(func(string) bool { return true }, func(backend.Backend) bool { return false })
}

func TestAStreamThatIsStoredAlreadyIsNotStoredAgain(t *testing.T) {
	ctx := context.Background()
	for name, powers := range map[string]func(*backend.Memory) backend.Backend{
		"all": func(m *backend.Memory) backend.Backend { return m },
		"write and read": func(m *backend.Memory) backend.Backend {
			return struct {
				backend.Backend
				backend.Reader
			}{m, m}
		},
	} {
		for _, byUs := range []bool{false, true} {
			if name == "all" && !byUs {
				continue // a file that was begun is not compared with what others stored
			}
			memory := backend.NewMemory(0)
			v := newVault()
			s := v.Open(powers(memory))
			if byUs {
				_, _, err := v.Save(ctx, s, Place{Path: "/held"}, "one two")
				require.NoError(t, err)
			} else {
				require.NoError(t, memory.Create(ctx, "/held", strings.NewReader("one two")))
			}
			w := v.Stream(ctx, s, Place{Path: "/new"}, []string{"one"})
			w.Write(" two")
			p, err := w.Commit([]string{"/missing", "/held"})
			require.NoError(t, err, name)
			require.Equal(t, "/held", p, "%s, stored by us: %v", name, byUs)
			_, err = s.Size(ctx, "/new")
			require.True(t, Missing(err, "/new"), name)
		}
	}
}

func TestWhatIsRecordedOfANameIsItsSizeIfThatIsKnown(t *testing.T) {
	ctx := context.Background()
	v := newVault()
	s := v.Open(backend.NewMemory(0))
	recorded := func(p string) []any { size, used := s.Recorded(ctx, p); return []any{size, used} }

	require.Equal(t, []any{-1, false}, recorded("/f"), "nothing was stored there")
	v.Note(ctx, map[string]bool{"/f": true})
	require.Equal(t, []any{-1, true}, recorded("/f"), "a history names it")
	p, _, err := v.Save(ctx, s, Place{Path: "/g"}, "four")
	require.NoError(t, err)
	require.Equal(t, []any{4, true}, recorded(p))
}

func TestAStreamAndAWholeTextHaveOneFingerprint(t *testing.T) {
	text := strings.Repeat("some words of which a stream is made\n", 1000)
	for _, n := range []int{1, 7, 128, 4096, 50_000} {
		var h maphash.Hash
		h.SetSeed(seed)
		for rest := text; rest != ""; {
			k := min(n, len(rest))
			_, _ = h.WriteString(rest[:k])
			rest = rest[k:]
		}
		require.Equal(t, fingerprintOf(text).hash, h.Sum64())
	}
}

func TestClaimsAreBoundedAndForgetTheOldest(t *testing.T) {
	l := &claims{}
	busy := fingerprintOf("busy")
	require.True(t, l.take("/busy", busy))
	for i := range maxClaims + 100 {
		name := fmt.Sprint("/f", i)
		require.True(t, l.take(name, busy))
		l.finish(name, busy, true)
	}
	require.LessOrEqual(t, len(l.byName), maxClaims+1)
	require.LessOrEqual(t, len(l.order), maxClaims+1)
	require.False(t, l.take("/busy", fingerprintOf("other")), "what is being written stays")
	_, used := l.known("/f1")
	require.False(t, used)
	_, used = l.known(fmt.Sprint("/f", maxClaims+99))
	require.True(t, used)
	l.finish("/unknown", busy, true)
}

func TestAClaimEndsWithItsLastWriter(t *testing.T) {
	l, a, b := &claims{}, fingerprintOf("a"), fingerprintOf("b")
	require.True(t, l.take("/f", a))
	require.True(t, l.take("/f", a))
	require.False(t, l.take("/f", b))
	l.finish("/f", a, false)
	require.False(t, l.take("/f", b))
	l.finish("/f", a, false)
	require.True(t, l.take("/f", b), "nothing came of it")
	l.finish("/f", b, true)
	require.False(t, l.take("/f", a))
	l.note("/f")
	got, _ := l.known("/f")
	require.Equal(t, b, got, "what is known stays known")
	l.note("/g")
	require.False(t, l.take("/g", a))
	require.False(t, l.take("/g", fingerprint{}))
}

type odd struct{ n int }

func (odd) Write(context.Context, *filesystem.WriteRequest) error { return nil }

type empty struct{}

func (empty) Write(context.Context, *filesystem.WriteRequest) error { return nil }

type function func()

func (function) Write(context.Context, *filesystem.WriteRequest) error { return nil }

func TestMiddlewaresOverOneStoreShareWhatIsKnownOfIt(t *testing.T) {
	a, b := backend.NewMemory(0), backend.NewMemory(0)
	known := allClaims.of(a, true)
	require.Same(t, known, allClaims.of(a, true))
	require.NotSame(t, known, allClaims.of(b, true))
	require.Same(t, known, allClaims.of(a, true), "whichever store came between")
	require.Same(t, allClaims.of(odd{1}, false), allClaims.of(odd{1}, false), "equal values are one store")
	require.NotSame(t, allClaims.of(odd{1}, false), allClaims.of(odd{2}, false))
	require.Same(t, allClaims.of(empty{}, false), allClaims.of(empty{}, false))
	require.NotSame(t, allClaims.of(function(nil), false), allClaims.of(function(nil), false), "what cannot be compared is nobody else")
	require.True(t, allClaims.of(function(nil), false).mayHaveForgotten("/f"))
	var l claimsOfStores
	first := &odd{}
	l.of(first, false)
	for range maxUnreadable {
		l.of(&odd{}, false)
	}
	require.Len(t, l.unreadable, maxUnreadable)
	runtime.GC()
	require.True(t, l.of(first, false).mayHaveForgotten("/f"), "it was dropped")
}

// TestAStoreAtTheAddressOfAnEarlierOneIsNew: a process that makes a store for each
// request makes many, and the address of one that is gone is used again.
func TestAStoreAtTheAddressOfAnEarlierOneIsNew(t *testing.T) {
	race.Skip(t, "makes thousands of stores and collects them")
	for name, open := range map[string]func() backend.Backend{
		"a pointer":           func() backend.Backend { return &large{} },
		"a value with one":    func() backend.Backend { return struct{ backend.Backend }{&large{}} },
		"one inside an array": func() backend.Backend { return several{{to: &large{}}} },
	} {
		t.Run(name, func(t *testing.T) {
			var l claimsOfStores
			for i := range 2 * maxDropped {
				if i%(maxDropped/4) == 0 {
					runtime.GC()
				}
				if l.of(open(), false).mayHaveForgotten("/f") {
					t.Fatal("a new store is taken for one that was dropped")
				}
			}
			require.LessOrEqual(t, len(l.dropped), maxDropped)
			kept := make([]backend.Backend, maxDropped+maxUnreadable)
			for i := range kept {
				kept[i] = open()
				l.of(kept[i], false)
			}
			require.LessOrEqual(t, len(l.dropped), maxDropped)
			runtime.GC()
			require.True(t, l.of(kept[0], false).mayHaveForgotten("/f"))
			require.True(t, l.of(open(), false).mayHaveForgotten("/f"), "which ones were dropped is not known of so many")
			runtime.KeepAlive(kept)
		})
	}
}

// large is a store of which few have room in a block of memory.
type large struct {
	odd
	_ [4 << 10]byte
}

type several [2]struct {
	n  int
	to *large
	ch chan int
}

func (several) Write(context.Context, *filesystem.WriteRequest) error { return nil }

// FuzzDefaultPath: every id has a path of its own directly below the root.
func FuzzDefaultPath(f *testing.F) {
	for _, id := range []string{"", "..", "../../x", "a/b", "a\x00", "call_1", strings.Repeat("x", 300)} {
		f.Add(id, id+"x")
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		p, q := DefaultPath("/root", TruncDir, a), DefaultPath("/root", TruncDir, b)
		require.Equal(t, a == b, p == q)
		require.Equal(t, "/root/trunc", path.Dir(p))
		require.True(t, MadeFor(p, a) && MadeFor(p+"-suffix", a))
	})
}
