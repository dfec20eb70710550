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
	"math/rand/v2"
	"path"
	"strings"
	"testing"

	"github.com/cloudwego/eino/adk/filesystem"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/backend"
	"github.com/einolean/einolean/store"
)

func TestPathsIn_FindsPathsInArguments(t *testing.T) {
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
	require.Len(t, PathsIn("/tmp", strings.Repeat("/tmp/trunc/a ", 100)), maxPathsIn)
}

func TestContains_FindsPartAnywhere(t *testing.T) {
	var b strings.Builder
	for i := range 40_000 {
		fmt.Fprintf(&b, "line %d of a long content\n", i%20_000)
	}
	content := b.String()
	memory := backend.NewMemory(0)
	require.NoError(t, memory.Create(context.Background(), "/f", strings.NewReader(content)))
	ranged := openStore(memory)
	whole := openStore(struct {
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

// counted is a store with ranges that counts its open readers.
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

func TestStore_ClosesEveryReader(t *testing.T) {
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
		"storing it again": func(o *Offloader, s *Store) {
			for range 2 {
				require.NoError(t, o.Save(ctx, Item{s, Place{Path: "/f"}, long}).Err)
			}
		},
	} {
		open := 0
		files := counted{backend.NewMemory(0), &open}
		require.NoError(t, files.Create(ctx, "/f", strings.NewReader(long)))
		o := newOffloader()
		ask(o, o.Open(files))
		require.Zero(t, open, name)
	}
}

// failingReads is a store whose reads fail, or return neither content nor an error.
type failingReads struct {
	store.Backend
	err error
}

func (m failingReads) Read(context.Context, *filesystem.ReadRequest) (*filesystem.FileContent, error) {
	return nil, m.err
}

func TestStore_FailedReadIsNotEmptyContent(t *testing.T) {
	ctx := context.Background()
	for _, err := range []error{errors.New("boom"), nil} {
		s := openStore(&failingReads{backend.NewMemory(0), err})
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
		require.False(t, IsMissing(got, "/f"))
		o := newOffloader()
		saved := o.Save(ctx, Item{o.Open(&failingReads{backend.NewMemory(0), err}), Place{Path: "/f"}, "content"})
		require.NoError(t, saved.Err)
		require.NotEqual(t, "/f", saved.Path, "something may be there")
	}
}

func TestOpen_ReturnsSameStoreForSameBackend(t *testing.T) {
	o := newOffloader()
	a, b := backend.NewMemory(0), backend.NewMemory(0)
	first, second := o.Open(a), o.Open(b)
	require.NotSame(t, first, second)
	require.Same(t, first, o.Open(a))
	require.Equal(t, []*Store{first, second}, o.Stores)
	require.Nil(t, o.Open(nil))
}

func TestReadRange_SameForStoresWithoutRanges(t *testing.T) {
	ctx := context.Background()
	memory := backend.NewMemory(0)
	require.NoError(t, memory.Create(ctx, "/f", strings.NewReader("0123456789")))
	ranged, whole := openStore(memory), openStore(struct {
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

func TestCandidateName_IsPathWithBoundedSuffix(t *testing.T) {
	longest := 0
	memory := backend.NewMemory(0)
	content, at := "content", Place{Path: "/tmp/trunc/c1"}
	for _, s := range []*Store{openStore(memory), openStore(struct {
		store.Backend
		store.Reader
	}{memory, memory}), openStore(&struct{ store.Backend }{memory})} {
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

func TestStream_GetsSuffixWithoutFirstFreeCreator(t *testing.T) {
	ctx := context.Background()
	memory := backend.NewMemory(0)
	o := newOffloader()
	s := o.Open(struct {
		store.Backend
		store.Creator
		store.RangeReader
	}{memory, memory, memory})
	for range 2 {
		w := o.Stream(ctx, s, Place{Path: "/tmp/trunc/c1"}, []string{"one"})
		p, err := w.Commit(nil)
		require.NoError(t, err)
		require.True(t, BelongsToCall(p, "c1") && p != "/tmp/trunc/c1", p)
		require.True(t, s.Holds(ctx, p, "one"))
	}
	p, err := o.Stream(ctx, s, Place{Path: "/own", Fixed: true}, []string{"two"}).Commit(nil)
	require.NoError(t, err)
	require.Equal(t, "/own", p)
}

func TestSave_ReleasesNameThatIsTaken(t *testing.T) {
	ctx := context.Background()
	files := backend.NewMemory(0)
	require.NoError(t, files.Create(ctx, "/f", strings.NewReader("another's")))
	o := newOffloader()
	s := o.Open(files)
	got := o.Save(ctx, Item{s, Place{Path: "/f"}, "ours"})
	require.NoError(t, got.Err)
	require.NotEqual(t, "/f", got.Path)
	later := "later"
	require.True(t, o.names.acquire(keyOf("/f"), &later, false), "nobody holds the name")
}

// keyOf returns the key of a path in a store without scopes.
func keyOf(p string) uint64 { return maphash.String(hashSeed, p) }

func newOffloader() *Offloader { return &Offloader{Showable: func(string) bool { return true }} }

func openStore(b store.Backend) *Store { return newOffloader().Open(b) }

func TestStream_ReturnsPathOfExistingCopy(t *testing.T) {
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
			o := newOffloader()
			s := o.Open(powers(memory))
			if byUs {
				require.NoError(t, o.Save(ctx, Item{s, Place{Path: "/held"}, "one two"}).Err)
			} else {
				require.NoError(t, memory.Create(ctx, "/held", strings.NewReader("one two")))
			}
			w := o.Stream(ctx, s, Place{Path: "/new"}, []string{"one"})
			w.Write(" two")
			p, err := w.Commit([]string{"/missing", "/held"})
			require.NoError(t, err, name)
			require.Equal(t, "/held", p, "%s, stored by us: %v", name, byUs)
			_, err = s.Size(ctx, "/new")
			require.True(t, IsMissing(err, "/new"), name)
		}
	}
}

func TestKnownSize_NegativeForUnknownContent(t *testing.T) {
	ctx := context.Background()
	o := newOffloader()
	s := o.Open(backend.NewMemory(0))
	recorded := func(p string) []any { size, used := s.KnownSize(ctx, p); return []any{size, used} }

	require.Equal(t, []any{-1, false}, recorded("/f"), "nothing was stored there")
	o.ReservePaths(ctx, []string{"/f"})
	require.Equal(t, []any{-1, true}, recorded("/f"), "a history names it")
	got := o.Save(ctx, Item{s, Place{Path: "/g"}, "four"})
	require.NoError(t, got.Err)
	require.Equal(t, []any{4, true}, recorded(got.Path))
}

func TestFingerprint_SameForStreamAndText(t *testing.T) {
	text := strings.Repeat("some words of which a stream is made\n", 1000)
	for _, n := range []int{1, 7, 128, 4096, 50_000} {
		var h maphash.Hash
		h.SetSeed(hashSeed)
		for rest := text; rest != ""; {
			k := min(n, len(rest))
			_, _ = h.WriteString(rest[:k])
			rest = rest[k:]
		}
		require.Equal(t, fingerprintOf(text).hash, h.Sum64())
	}
}

func TestNameRegistry_DropsOldestNames(t *testing.T) {
	var k nameRegistry
	busy, other := "busy", "other"
	require.True(t, k.acquire(keyOf("/busy"), &busy, false))
	for i := range maxKnown + 100 {
		name := keyOf(fmt.Sprint("/f", i))
		require.True(t, k.acquire(name, &busy, false))
		k.release(name, fingerprint{size: 4}, true)
	}
	require.LessOrEqual(t, len(k.byName), maxKnown+1)
	require.LessOrEqual(t, len(k.order), maxKnown+1)
	require.False(t, k.acquire(keyOf("/busy"), &other, false), "what is being written stays")
	_, used := k.lookup(keyOf("/f1"))
	require.False(t, used)
	_, used = k.lookup(keyOf(fmt.Sprint("/f", maxKnown+99)))
	require.True(t, used)
	k.release(keyOf("/unknown"), fingerprint{size: 4}, true)
}

func TestNameRegistry_NameIsTakenUntilLastRelease(t *testing.T) {
	var k nameRegistry
	a, same, b := "a", "a", "b"
	is := fingerprintOf(b)
	require.True(t, k.acquire(keyOf("/f"), &a, false))
	require.True(t, k.acquire(keyOf("/f"), &same, false))
	require.False(t, k.acquire(keyOf("/f"), &b, false))
	require.False(t, k.acquire(keyOf("/f"), nil, false))
	k.release(keyOf("/f"), is, false)
	require.False(t, k.acquire(keyOf("/f"), &b, false))
	k.release(keyOf("/f"), is, false)
	require.True(t, k.acquire(keyOf("/f"), &b, false), "nothing came of it")
	k.release(keyOf("/f"), is, true)
	require.False(t, k.acquire(keyOf("/f"), &a, false))
	require.False(t, k.acquire(keyOf("/f"), &b, false), "the store is asked what it holds")
	require.True(t, k.acquire(keyOf("/f"), &b, true), "nothing else can have the name")
	require.Nil(t, k.byName[keyOf("/f")].pending, "it is not kept in memory")
	k.reserve(keyOf("/f"))
	got, _ := k.lookup(keyOf("/f"))
	require.Equal(t, is, got, "what is known stays known")
	k.reserve(keyOf("/g"))
	require.False(t, k.acquire(keyOf("/g"), &a, false))
	require.False(t, k.acquire(keyOf("/g"), nil, false))
}

// slowStore is a store that can be read but cannot refuse a name. It waits between the check of a name and the write.
type slowStore struct {
	*backend.Memory
	looked, write chan struct{}
}

func (s slowStore) Write(ctx context.Context, req *filesystem.WriteRequest) error {
	s.looked <- struct{}{}
	<-s.write
	return s.Memory.Write(ctx, req)
}

// The stores include one that is a value and one that cannot be compared.
func TestSave_ConcurrentOffloadersLoseNothing(t *testing.T) {
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
			o := newOffloader()
			got := o.Save(ctx, Item{o.Open(files), Place{Path: "/f"}, content})
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
			require.True(t, openStore(memory).Holds(ctx, got.path, got.content), "%s: %s", name, got.path)
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

// Every id has its own path, directly below the directory.
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

// Every path that this package makes is recognized, whatever the id, with and without a suffix.
func TestDefaultPath_IsRecognized(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	pieces := []string{"call", "1", "Z", "_", ".", ":", "-", "=", "/", "..", " ", "\"", "\x00", "é", "\xff", strings.Repeat("x", 99)}
	for range 2000 {
		id := ""
		for range r.IntN(6) {
			id += pieces[r.IntN(len(pieces))]
		}
		for _, dir := range []string{TruncDir, ClearDir} {
			p := DefaultPath("/root", dir, id)
			for _, p := range []string{p, withSuffix(p, SumOf("content"), 1), withSuffix(p, randomSum(), maxTries)} {
				require.Equal(t, []string{p}, PathsIn("/root", `{"path":"`+p+`"}`), "id %q", id)
				require.True(t, BelongsToCall(p, id), "id %q", id)
				require.Contains(t, Directories("/root"), path.Dir(p))
				require.Equal(t, dir == ClearDir, IsClearPath(p), p)
			}
		}
	}
}

func TestBelongsToCall_ComparesWholeName(t *testing.T) {
	for p, want := range map[string]bool{
		"/tmp/clear/call_1": true, "/tmp/clear/call_1-0000": true, "/tmp/clear/call_12": false, "/tmp/clear/call_2": false,
		"/tmp/clear/-call_1": false, "/tmp/clear/call_": false, "/tmp/call_1/other": false, "/tmp/clear": false, "": false,
	} {
		require.Equal(t, want, BelongsToCall(p, "call_1"), p)
	}
}

// isSuffix reports whether s is a suffix that a path gets if it is taken.
func isSuffix(s string) bool {
	return s[0] == '-' && len(s) > 26 && len(s) <= SuffixSize && !strings.ContainsAny(s, "/.")
}
