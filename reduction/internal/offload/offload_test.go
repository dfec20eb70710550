// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package offload

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"math"
	"path"
	"strings"
	"testing"

	"github.com/cloudwego/eino/adk/filesystem"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/backend"
	"github.com/einolean/einolean/store"
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
		require.Equal(t, want, PathsIn("/tmp", args), args)
	}
	require.Len(t, PathsIn("/tmp", strings.Repeat("/tmp/trunc/a ", 100)), maxMentions)
}

func TestContainsFindsAPieceAnywhereInStoredContent(t *testing.T) {
	var b strings.Builder
	for i := range 40_000 {
		fmt.Fprintf(&b, "line %d of a long content\n", i%20_000)
	}
	content := b.String()
	memory := backend.NewMemory(0)
	require.NoError(t, memory.Create(context.Background(), "/f", strings.NewReader(content)))
	ranged := opened(memory)
	whole := opened(struct {
		store.Backend
		store.Reader
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
	require.False(t, ranged.contains(context.Background(), "/g", "needleneedlX"))
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
	for name, ask := range map[string]func(*Offloader, *Store){
		"the size":             func(_ *Offloader, s *Store) { _, _ = s.Size(ctx, "/f") },
		"the same content":     func(_ *Offloader, s *Store) { require.True(t, s.Holds(ctx, "/f", long)) },
		"another of its size":  func(_ *Offloader, s *Store) { require.False(t, s.Holds(ctx, "/f", "b"+long[1:])) },
		"a piece":              func(_ *Offloader, s *Store) { require.True(t, s.contains(ctx, "/f", long[25:100_000])) },
		"a piece not there":    func(_ *Offloader, s *Store) { require.False(t, s.contains(ctx, "/f", long[:300]+"?")) },
		"a piece too large":    func(_ *Offloader, s *Store) { require.False(t, s.contains(ctx, "/f", long+"?")) },
		"a window":             func(_ *Offloader, s *Store) { _, err := s.ReadAt(ctx, "/f", 5, 10); require.NoError(t, err) },
		"a file known already": func(_ *Offloader, s *Store) { s.findContent(ctx, fingerprintOf(long), []string{"/f"}) },
		"a file of other size": func(_ *Offloader, s *Store) { s.findContent(ctx, fingerprintOf("short"), []string{"/f"}) },
		"storing it again": func(v *Offloader, s *Store) {
			for range 2 {
				require.NoError(t, v.Save(ctx, Item{s, Place{Path: "/f"}, long}).Err)
			}
		},
	} {
		open := 0
		files := counted{backend.NewMemory(0), &open}
		require.NoError(t, files.Create(ctx, "/f", strings.NewReader(long)))
		v := newVault()
		ask(v, v.Open(files))
		require.Zero(t, open, name)
	}
}

// mute is a store whose reads fail, or return nothing at all.
type mute struct {
	store.Backend
	err error
}

func (m mute) Read(context.Context, *filesystem.ReadRequest) (*filesystem.FileContent, error) {
	return nil, m.err
}

// TestAReadThatFailsIsNoEmptyText: neither when content is compared, nor when it is shown.
func TestAReadThatFailsIsNoEmptyText(t *testing.T) {
	ctx := context.Background()
	for _, err := range []error{errors.New("boom"), nil} {
		s := opened(&mute{backend.NewMemory(0), err})
		require.True(t, s.Readable())
		_, got := s.Size(ctx, "/f")
		require.Error(t, got)
		_, _, got = s.ReadRange(ctx, "/f", 0, -1)
		require.Error(t, got)
		_, got = s.ReadAt(ctx, "/f", 0, 0)
		require.Error(t, got)
		require.False(t, s.Holds(ctx, "/f", ""))
		require.False(t, s.contains(ctx, "/f", ""))
		require.Empty(t, s.findContent(ctx, fingerprintOf(""), []string{"/f"}))
		require.True(t, s.exists(ctx, "/f", false), "nobody knows")
		require.False(t, Missing(got, "/f"))
		v := newVault()
		saved := v.Save(ctx, Item{v.Open(&mute{backend.NewMemory(0), err}), Place{Path: "/f"}, "content"})
		require.NoError(t, saved.Err)
		require.NotEqual(t, "/f", saved.Path, "something may be there")
	}
}

func TestAVaultOpensEachStoreOnce(t *testing.T) {
	v := newVault()
	a, b := backend.NewMemory(0), backend.NewMemory(0)
	first, second := v.Open(a), v.Open(b)
	require.NotSame(t, first, second)
	require.Same(t, first, v.Open(a))
	require.Equal(t, []*Store{first, second}, v.Stores)
	require.Nil(t, v.Open(nil))
}

func TestRangesOfAWholeFileAreThoseOfAStoreWithRanges(t *testing.T) {
	ctx := context.Background()
	memory := backend.NewMemory(0)
	require.NoError(t, memory.Create(ctx, "/f", strings.NewReader("0123456789")))
	ranged, whole := opened(memory), opened(struct {
		store.Backend
		store.Reader
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
		for _, length := range []int64{-1, 0, 1, 2, 5, 9, 10, 11, 12, math.MaxInt64} {
			wantText, wantSize := read(ranged, offset, length)
			text, size := read(whole, offset, length)
			require.Equal(t, wantText, text, "%d bytes from %d", length, offset)
			require.Equal(t, wantSize, size)
		}
	}
}

func TestEveryNameThatIsTriedIsThePathAndAKnownSuffix(t *testing.T) {
	longest := 0
	memory := backend.NewMemory(0)
	content, at := "content", Place{Path: "/tmp/trunc/c1"}
	for _, s := range []*Store{opened(memory), opened(struct {
		store.Backend
		store.Reader
	}{memory, memory}), opened(&struct{ store.Backend }{memory})} {
		for _, of := range []*string{&content, nil} {
			tries := 0
			for name, unique := s.candidateName(at, 0, of); name != ""; name, unique = s.candidateName(at, tries, of) {
				suffix, ok := strings.CutPrefix(name, at.Path)
				require.True(t, ok)
				require.Equal(t, unique, suffix != "")
				require.True(t, suffix == "" || isSuffix(suffix), suffix)
				require.True(t, BelongsToCall(name, "c1"))
				longest = max(longest, len(suffix))
				tries++
			}
			want := 1
			if s.Readable() {
				want = maxTries
			}
			require.Equal(t, want, tries)
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
		store.Backend
		store.Creator
		store.RangeReader
	}{memory, memory, memory})
	for range 2 {
		w := v.Stream(ctx, s, Place{Path: "/tmp/trunc/c1"}, []string{"one"})
		p, err := w.Commit(nil)
		require.NoError(t, err)
		require.True(t, BelongsToCall(p, "c1") && p != "/tmp/trunc/c1", p)
		require.True(t, s.Holds(ctx, p, "one"))
	}
	p, err := v.Stream(ctx, s, Place{Path: "/own", Fixed: true}, []string{"two"}).Commit(nil)
	require.NoError(t, err)
	require.Equal(t, "/own", p)
}

func TestANameThatWasTakenCanBeUsedOnceItIsFree(t *testing.T) {
	ctx := context.Background()
	files := backend.NewMemory(0)
	require.NoError(t, files.Create(ctx, "/f", strings.NewReader("another's")))
	v := newVault()
	s := v.Open(files)
	got := v.Save(ctx, Item{s, Place{Path: "/f"}, "ours"})
	require.NoError(t, got.Err)
	require.NotEqual(t, "/f", got.Path)
	later := "later"
	require.True(t, v.known.acquire(named("/f"), &later, false), "nobody holds the name")
}

// named is what a name is known by in a store without scopes.
func named(p string) uint64 { return maphash.String(seed, p) }

func newVault() *Offloader { return &Offloader{Showable: func(string) bool { return true }} }

func opened(b store.Backend) *Store { return newVault().Open(b) }

func TestAStreamThatIsStoredAlreadyIsNotStoredAgain(t *testing.T) {
	ctx := context.Background()
	for name, powers := range map[string]func(*backend.Memory) store.Backend{
		"all": func(m *backend.Memory) store.Backend { return m },
		"write and read": func(m *backend.Memory) store.Backend {
			return struct {
				store.Backend
				store.Reader
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
				require.NoError(t, v.Save(ctx, Item{s, Place{Path: "/held"}, "one two"}).Err)
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
	recorded := func(p string) []any { size, used := s.KnownSize(ctx, p); return []any{size, used} }

	require.Equal(t, []any{-1, false}, recorded("/f"), "nothing was stored there")
	v.ReservePaths(ctx, []string{"/f"})
	require.Equal(t, []any{-1, true}, recorded("/f"), "a history names it")
	got := v.Save(ctx, Item{s, Place{Path: "/g"}, "four"})
	require.NoError(t, got.Err)
	require.Equal(t, []any{4, true}, recorded(got.Path))
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

func TestKnownNamesAreBoundedAndTheOldestGo(t *testing.T) {
	var k nameRegistry
	busy, other := "busy", "other"
	require.True(t, k.acquire(named("/busy"), &busy, false))
	for i := range maxKnown + 100 {
		name := named(fmt.Sprint("/f", i))
		require.True(t, k.acquire(name, &busy, false))
		k.finish(name, fingerprint{size: 4}, true)
	}
	require.LessOrEqual(t, len(k.byName), maxKnown+1)
	require.LessOrEqual(t, len(k.order), maxKnown+1)
	require.False(t, k.acquire(named("/busy"), &other, false), "what is being written stays")
	_, used := k.of(named("/f1"))
	require.False(t, used)
	_, used = k.of(named(fmt.Sprint("/f", maxKnown+99)))
	require.True(t, used)
	k.finish(named("/unknown"), fingerprint{size: 4}, true)
}

func TestANameIsTakenUntilItsLastWriterHasFinished(t *testing.T) {
	var k nameRegistry
	a, same, b := "a", "a", "b"
	is := fingerprintOf(b)
	require.True(t, k.acquire(named("/f"), &a, false))
	require.True(t, k.acquire(named("/f"), &same, false))
	require.False(t, k.acquire(named("/f"), &b, false))
	require.False(t, k.acquire(named("/f"), nil, false))
	k.finish(named("/f"), is, false)
	require.False(t, k.acquire(named("/f"), &b, false))
	k.finish(named("/f"), is, false)
	require.True(t, k.acquire(named("/f"), &b, false), "nothing came of it")
	k.finish(named("/f"), is, true)
	require.False(t, k.acquire(named("/f"), &a, false))
	require.False(t, k.acquire(named("/f"), &b, false), "the store is asked what it holds")
	require.True(t, k.acquire(named("/f"), &b, true), "nothing else can have the name")
	require.Nil(t, k.byName[named("/f")].writing, "it is not kept in memory")
	k.note(named("/f"))
	got, _ := k.of(named("/f"))
	require.Equal(t, is, got, "what is known stays known")
	k.note(named("/g"))
	require.False(t, k.acquire(named("/g"), &a, false))
	require.False(t, k.acquire(named("/g"), nil, false))
}

// slowStore is a store that can be read and cannot refuse a name: between the look at a
// name and the write, it waits.
type slowStore struct {
	*backend.Memory
	looked, write chan struct{}
}

func (s slowStore) Write(ctx context.Context, req *filesystem.WriteRequest) error {
	s.looked <- struct{}{}
	<-s.write
	return s.Memory.Write(ctx, req)
}

// TestTwoVaultsThatWriteOneNameAtOnceLoseNothing: also to a store that is a value, or that
// cannot be compared.
func TestTwoVaultsThatWriteOneNameAtOnceLoseNothing(t *testing.T) {
	type readWrite struct {
		store.Backend
		store.Reader
	}
	ctx := context.Background()
	for name, open := range map[string]func(slowStore) store.Backend{
		"a value":               func(s slowStore) store.Backend { return readWrite{s, s} },
		"a pointer":             func(s slowStore) store.Backend { return &readWrite{s, s} },
		"one without identity":  func(s slowStore) store.Backend { return incomparable{readWrite{s, s}, nil} },
		"one that wraps itself": func(s slowStore) store.Backend { return wrapping{readWrite{s, s}} },
	} {
		memory := backend.NewMemory(0)
		slow := slowStore{memory, make(chan struct{}, 4), make(chan struct{})}
		files := open(slow)
		type saved struct {
			path, content string
			err           error
		}
		done := make(chan saved)
		save := func(content string) {
			v := newVault()
			got := v.Save(ctx, Item{v.Open(files), Place{Path: "/f"}, content})
			done <- saved{got.Path, content, got.Err}
		}
		go save("first")
		<-slow.looked // the name was free, and is not yet written
		go save("second")
		<-slow.looked
		close(slow.write)
		for range 2 {
			got := <-done
			require.NoError(t, got.err, name)
			require.True(t, opened(memory).Holds(ctx, got.path, got.content), "%s: %s", name, got.path)
		}
		require.Empty(t, pendingWrites.byName, "nothing is kept")
	}
}

type incomparable struct {
	store.Backend
	_ func()
}

func (s incomparable) Read(ctx context.Context, req *filesystem.ReadRequest) (*filesystem.FileContent, error) {
	return s.Backend.(store.Reader).Read(ctx, req)
}

type wrapping struct{ store.Backend }

func (w wrapping) Innermost() any { return w.Backend }

func (w wrapping) InnermostPath(_ context.Context, p string) (string, error) { return "/in" + p, nil }

func (w wrapping) Read(ctx context.Context, req *filesystem.ReadRequest) (*filesystem.FileContent, error) {
	return w.Backend.(store.Reader).Read(ctx, req)
}

// FuzzDefaultPath: every id has a path of its own directly below the root.
func FuzzDefaultPath(f *testing.F) {
	for _, id := range []string{"", "..", "../../x", "a/b", "a\x00", "call_1", strings.Repeat("x", 300)} {
		f.Add(id, id+"x")
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		p, q := DefaultPath("/root", TruncDir, a), DefaultPath("/root", TruncDir, b)
		require.Equal(t, a == b, p == q)
		require.Equal(t, "/root/trunc", path.Dir(p))
		require.True(t, BelongsToCall(p, a) && BelongsToCall(p+"-suffix", a))
	})
}

func TestAFileIsMadeForItsCallOnly(t *testing.T) {
	for p, want := range map[string]bool{
		"/tmp/clear/call_1": true, "/tmp/clear/call_1-0000": true, "/tmp/clear/call_12": false, "/tmp/clear/call_2": false,
		"/tmp/clear/-call_1": false, "/tmp/clear/call_": false, "/tmp/call_1/other": false, "/tmp/clear": false, "": false,
	} {
		require.Equal(t, want, BelongsToCall(p, "call_1"), p)
	}
}

// isSuffix reports whether a path may have got s because its name was taken.
func isSuffix(s string) bool {
	return s[0] == '-' && len(s) > 26 && len(s) <= SuffixSize && !strings.ContainsAny(s, "/.")
}
