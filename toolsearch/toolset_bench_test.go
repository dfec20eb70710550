// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// What one change costs in a large set, and what many views of one set take.

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/cloudwego/eino/components/tool"
	"github.com/stretchr/testify/require"

	"github.com/leanctx/leanctx/internal/race"
)

// changes applies one change after another to a set of n tools, and returns how long each
// took, sorted.
func changes(t testing.TB, n, rounds int) []time.Duration {
	t.Helper()
	ctx, tools := context.Background(), manyTools(n)
	s := setOf(t, tools...)
	s.key()
	var took []time.Duration
	for i := range rounds {
		at := (i * 7919) % len(tools)
		next := withInfo(fmt.Sprintf("changed_%d", i), nil)
		switch i % 3 {
		case 0:
			tools = slices.Insert(tools, at, next)
		case 1:
			tools = slices.Replace(tools, at, at+1, next)
		default:
			tools = slices.Delete(tools, at, at+1)
		}
		begin := time.Now()
		var err error
		s, err = s.Update(ctx, tools...)
		require.NoError(t, err)
		s.key()
		took = append(took, time.Since(begin))
	}
	require.True(t, slices.Equal(tools, slices.Collect(s.All())))
	slices.Sort(took)
	return took
}

func TestOneChangeInALargeSetCostsLittle(t *testing.T) {
	race.Skip(t, "it measures time")
	tools := manyTools(10_000)
	begin := time.Now()
	setOf(t, tools...).key()
	anew := time.Since(begin)
	took := changes(t, 10_000, 300)
	median := took[len(took)/2]
	t.Log("median", median, "99 %", took[len(took)*99/100], "all anew", anew)
	require.Less(t, 20*median, anew)
}

func BenchmarkOneChangeIn10000(b *testing.B) {
	ctx, tools := context.Background(), manyTools(10_000)
	s := setOf(b, tools...)
	s.key()
	other := slices.Clone(tools)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		other[(i*7919)%len(other)] = withInfo(fmt.Sprintf("changed_%d", i), nil)
		s, _ = s.Update(ctx, other...)
		s.key()
	}
}

func BenchmarkTheSame10000(b *testing.B) {
	ctx, tools := context.Background(), manyTools(10_000)
	s := setOf(b, tools...)
	b.ReportAllocs()
	for b.Loop() {
		if again, _ := s.Update(ctx, tools...); again != s {
			b.Fatal("it is another set")
		}
	}
}

// A thousand users' views that leave a tenth of the tools out, and a thousand sets of all of
// them with a tool of one's own.
func TestViewsOfASharedSetTakeLittleMemory(t *testing.T) {
	race.Skip(t, "it measures memory")
	size := func() int64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	before := size()
	tools := manyTools(10_000)
	shared := setOf(t, tools...)
	for e := range shared.all() {
		e.definition()
	}
	shared.lookup("none")
	one := size() - before
	var views []*ToolSet
	before = size()
	for i := range 1000 {
		left := i % 10
		n := 0
		views = append(views, shared.filtered(func(*entry) bool { n++; return n%10 != left }))
	}
	selected := size() - before
	before = size()
	var unions []*ToolSet
	for i := range 1000 {
		unions = append(unions, Union(shared, setOf(t, []tool.BaseTool{withInfo(fmt.Sprintf("own_%d", i), nil)}...)))
	}
	united := size() - before
	t.Logf("one set %d KB; 1,000 views %d KB; 1,000 unions with one tool each %d KB", one>>10, selected>>10, united>>10)
	require.Less(t, selected, one, "so that all together take less than twice what one takes")
	require.Less(t, united, one)
	runtime.KeepAlive(views)
	runtime.KeepAlive(unions)
}
