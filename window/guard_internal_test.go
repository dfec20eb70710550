// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package window

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// Requests may be recorded in another order than they were sent: setting the content of one call changes no other call.
func TestSlot_SetContentChangesOneCall(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	for range 500 {
		last := 1 + r.IntN(8)
		s := slot{lastCall: last}
		contents := make([]uint64, last+1) // by call; the first is 1
		size := s.setContent(&slotContent{hash: 100, firstCall: 1}, 1)
		for i := range contents {
			contents[i] = 100
		}
		for range r.IntN(12) {
			call, hash := 1+r.IntN(last), r.Uint64N(4)
			size += s.setContent(&slotContent{hash: hash, firstCall: call, text: "a text"}, call)
			contents[call] = hash
			held := int64(0)
			for _, k := range s.contents {
				held += k.size()
			}
			require.Equal(t, held, size, "bytes")
			for call := 1; call <= last; call++ {
				require.Equal(t, contents[call], s.contentAt(call).hash, "call %d of %d", call, last)
			}
		}
	}
}
