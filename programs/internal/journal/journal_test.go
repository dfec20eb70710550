// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// A call of a program is known by its id, whatever ids others have: a program's number is that of its own
// calls, and of no other's.
func TestCallNumber_IdentifiesOneProgram(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 1))
	for range 2000 {
		var programs []Kept
		for i := range 1 + r.IntN(4) {
			inner := fmt.Sprintf("call_%d", i)
			if r.IntN(3) == 0 {
				inner += CollisionMark + RandomID()
			}
			programs = append(programs, Kept{ID: fmt.Sprintf("call_%d", i), Inner: inner})
		}
		at, n := r.IntN(len(programs)), 1+r.IntN(1000)
		id := programs[at].InnerID(n)
		for i := range programs {
			want := 0
			if i == at {
				want = n
			}
			require.Equal(t, want, programs[i].CallNumber(id), "seed %d: %s of %+v", seed, id, programs[i])
			require.Zero(t, programs[i].CallNumber(programs[i].EndID()), "seed %d", seed)
			require.Zero(t, programs[i].CallNumber(programs[i].ID), "seed %d", seed)
		}
	}
	k := Kept{Inner: "c"}
	for _, id := range []string{"", "c", "c.", "c.0", "c.-1", "c.x", "c1.1", "d.1", "c-end"} {
		require.Zero(t, k.CallNumber(id), id)
	}
}

// Outside a run nothing is kept, and nothing fails that only reads.
func TestJournal_EmptyOutsideRun(t *testing.T) {
	var j Journal
	require.Equal(t, &Record{}, j.Load(t.Context()))
	require.Nil(t, j.Record)
	require.Zero(t, Turns(t.Context()))
	require.Empty(t, Collisions(t.Context()))
	require.Error(t, CountTurn(t.Context()))
}
