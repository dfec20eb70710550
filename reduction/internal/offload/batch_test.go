// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package offload

import (
	"context"
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/cloudwego/eino/adk/filesystem"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/backend"
	"github.com/einolean/einolean/store"
)

// hooked is a store that cannot create files. It calls before at each write and each read.
type hooked struct {
	store.Backend
	store.Reader
	before func(op, filePath string)
}

func (h hooked) Write(ctx context.Context, req *filesystem.WriteRequest) error {
	h.before("write", req.FilePath)
	return h.Backend.Write(ctx, req)
}

func (h hooked) Read(ctx context.Context, req *filesystem.ReadRequest) (*filesystem.FileContent, error) {
	h.before("read", req.FilePath)
	return h.Reader.Read(ctx, req)
}

// newBatch returns a store that calls before, its Offloader, and n items for it.
func newBatch(before func(op, filePath string), n int) (*Offloader, *Store, []Item) {
	memory, o := backend.NewMemory(0), newOffloader()
	s := o.Open(hooked{memory, memory, before})
	var items []Item
	for i := range n {
		items = append(items, Item{Store: s, At: Place{Path: fmt.Sprint("/", i)}, Content: fmt.Sprint("content ", i)})
	}
	return o, s, items
}

func TestSaveAll_KeepsOrder(t *testing.T) {
	var order []string
	o, s, items := newBatch(func(op, p string) {
		if op == "write" {
			order = append(order, p)
		}
	}, 3)
	items = append(items, items[1], Item{Store: s, At: Place{Path: "/0"}, Content: "other"})
	got := o.SaveAll(t.Context(), items, 3)
	require.Len(t, got, 5)
	for i, each := range got {
		require.NoError(t, each.Err)
		require.Equal(t, i == 3, each.Existed)
		require.True(t, s.Holds(t.Context(), each.Path, items[i].Content))
	}
	require.Equal(t, []string{"/0", "/1", "/2", got[4].Path}, order)
	require.Empty(t, o.SaveAll(t.Context(), nil, 3))
}

func TestSaveAll_PanicFailsOnlyItsItem(t *testing.T) {
	for name, wrong := range map[string]func(){"panics": func() { panic("boom") }, "ends its goroutine": runtime.Goexit} {
		for _, at := range []string{"write", "read"} {
			t.Run(name+"/"+at, func(t *testing.T) {
				broken := true
				o, s, items := newBatch(func(op, p string) {
					if broken && op == at && p == "/1" {
						wrong()
					}
				}, 4)
				got := o.SaveAll(t.Context(), items, 3)
				require.Len(t, got, 4)
				broken = false
				for i, each := range got {
					if each.Err != nil {
						require.Equal(t, 1, i)
						require.ErrorContains(t, each.Err, `storing "/1": the store `)
						continue
					}
					require.True(t, s.Holds(t.Context(), each.Path, items[i].Content))
				}
				again := o.Save(t.Context(), items[1])
				require.NoError(t, again.Err)
				require.Equal(t, "/1", again.Path, "the name is free")
			})
		}
	}
}

func TestSaveAll_StopsAfterFailuresInARow(t *testing.T) {
	for _, wrong := range []func(){func() { panic("boom") }, runtime.Goexit} {
		calls := 0
		o, _, items := newBatch(func(op, p string) {
			if calls++; p != "/1" {
				wrong()
			}
		}, 9)
		got := o.SaveAll(t.Context(), items, 3)
		require.Len(t, got, 5, "one failed, one did not, three failed in a row")
	}
}

func TestSaveAll_DoesNotWaitForHangingStore(t *testing.T) {
	for _, at := range []string{"write", "read"} {
		t.Run(at, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			free := make(chan struct{})
			o, s, items := newBatch(func(op, p string) {
				if op == at && p == "/1" {
					cancel()
					<-free
				}
			}, 4)
			got := o.SaveAll(ctx, items, 3)
			close(free)
			require.Eventually(t, func() bool {
				pendingWrites.mu.Lock()
				defer pendingWrites.mu.Unlock()
				return len(pendingWrites.byName) == 0
			}, time.Minute, time.Millisecond, "the call returns")
			require.Len(t, got, 4)
			require.NoError(t, got[0].Err)
			for _, each := range got[1:] {
				require.ErrorIs(t, each.Err, context.Canceled)
			}
			_, used := s.KnownSize(t.Context(), "/1")
			require.Equal(t, at == "write", used, "what was looked for is not written any more")
		})
	}
}

func TestSaveAll_EndedContextSavesNothing(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	o, _, items := newBatch(func(string, string) { t.Error("called") }, 2)
	for _, each := range o.SaveAll(ctx, items, 3) {
		require.ErrorIs(t, each.Err, context.Canceled)
	}
}

// Stores in memory are called on the goroutine of the caller, with the same results as others.
func TestSaveAll_MemoryGivesSameResults(t *testing.T) {
	memory := backend.NewMemory(0)
	for name, c := range map[string]struct {
		backend    store.Backend
		isInMemory bool
	}{
		"store.Memory":    {store.NewMemory(0), true},
		"InMemoryBackend": {filesystem.NewInMemoryBackend(), true},
		"other":           {hooked{memory, memory, func(string, string) {}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			o := newOffloader()
			s := o.Open(c.backend)
			require.Equal(t, c.isInMemory, o.isInMemory())
			items := []Item{{s, Place{Path: "/a"}, "first"}, {s, Place{Path: "/a"}, "other"}, {s, Place{Path: "/a"}, "first"}}
			ended, cancel := context.WithCancel(t.Context())
			cancel()
			for _, result := range o.SaveAll(ended, items, 3) {
				require.ErrorIs(t, result.Err, context.Canceled)
			}
			want := []SaveResult{{Path: "/a"}, {Path: "/a-" + SumOf("other")}, {Path: "/a", Existed: true}}
			require.Equal(t, want, o.SaveAll(t.Context(), items, 3))
			o.Open(hooked{memory, memory, nil})
			require.False(t, o.isInMemory(), "saving asks the other stores as well")
		})
	}
}
