// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package javascript

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/race"
	"github.com/einolean/einolean/programs"
)

// Twenty programs that wait hold no more than the limit together, and what they print is what
// they print alone, whichever lost their memory.
func TestTogether_BoundsWaitingPrograms(t *testing.T) {
	race.Skip(t, "runs forty programs")
	const code = `const a = new Array(1 << 20).fill(Math.random()); let sum = 0;
		for (let i = 0; i < 3; i++) { const r = await Promise.all([1, 2].map(n => tools.get({n}))); sum += r[0] + r[1]; print(Date.now(), sum, a[7]) }`
	start := func(in programs.Interpreter, i int) *execution {
		p, err := in.Start(t.Context(), programs.Program{Code: code, Seed: fmt.Sprint(i), Time: time.UnixMilli(0)})
		require.NoError(t, err)
		t.Cleanup(p.Close)
		return p.(*execution)
	}
	goOn := func(r *execution) {
		var results []programs.Result
		for _, c := range r.State().Calls {
			results = append(results, programs.Result{Number: c.Number, Text: fmt.Sprint(c.Number)})
		}
		require.NoError(t, r.Resume(t.Context(), results))
	}
	alone, limited := New(Limits{Time: time.Hour}), New(Limits{Time: time.Hour, MaxTotalMemory: 50 << 20})
	var programs []*execution
	for i := range 20 {
		programs = append(programs, start(limited, i))
	}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random, lost := rand.New(rand.NewPCG(seed, 0)), 0
	for range 3 {
		for _, i := range random.Perm(len(programs)) {
			goOn(programs[i])
			var held int64
			for _, p := range programs {
				if p.machine != nil {
					held += p.machine.memory.size()
				} else if len(p.State().Calls) > 0 {
					lost++
				}
			}
			require.LessOrEqual(t, held, int64(50<<20))
			require.Equal(t, held, limited.(*interpreter).waiting.bytes)
		}
	}
	require.Positive(t, lost)
	for i, p := range programs {
		want := start(alone, i)
		for len(want.State().Calls) > 0 {
			goOn(want)
		}
		require.Equal(t, want.State(), p.State())
	}
}

// Calls beyond MaxConcurrentCalls follow, and the program notices nothing but that.
func TestParallel_BoundsConcurrentCalls(t *testing.T) {
	const code = `for (let round = 0; round < 2; round++) { const r = await Promise.all(Array.from({length: 7}, (_, i) => tools.get({i}))); print(r) }`
	printed := map[string]bool{}
	for _, parallel := range []int{1, 3, 7, 100} {
		p, err := New(Limits{MaxConcurrentCalls: parallel, MaxBatches: 2}).Start(t.Context(), programs.Program{Code: code})
		require.NoError(t, err)
		made := 0
		for len(p.State().Calls) > 0 {
			var results []programs.Result
			for _, c := range p.State().Calls {
				made++
				require.Equal(t, made, c.Number)
				results = append(results, programs.Result{Number: c.Number, Text: fmt.Sprint(c.Number)})
			}
			require.LessOrEqual(t, len(results), parallel)
			require.NoError(t, p.Resume(context.Background(), results))
		}
		require.Empty(t, p.State().Error)
		printed[p.State().Printed] = true
	}
	require.Len(t, printed, 1)
}
