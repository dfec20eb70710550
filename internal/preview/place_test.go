// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package preview

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// At the position of each part, the text has what the part shows, with its keys.
func TestParts_PositionsMatchText(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	r := rand.New(rand.NewPCG(seed, 0))
	shown := 0
	for n := 0; n < 200 || n < 2000 && shown <= 500; n++ {
		text := anyJSON(r, 3)
		parts, ok := Parts(text, cutInto(40+r.IntN(200)))
		require.True(t, ok, "seed %d: %s", seed, text)
		for _, p := range parts {
			for _, around := range []string{"{%s}", "[%s]"} {
				if said := fmt.Sprintf(around, p.Text); json.Valid([]byte(said)) {
					require.JSONEq(t, said, fmt.Sprintf(around, text[p.Start:p.End]), "seed %d: %s", seed, text)
					shown++
				}
			}
		}
	}
	require.Greater(t, shown, 500)
}

// anyJSON is a random document with white space in it.
func anyJSON(r *rand.Rand, depth int) string {
	var items []string
	object := r.IntN(2) == 0
	for i := range 2 + r.IntN(6) {
		value := fmt.Sprint(r.IntN(1e6))
		switch n := r.IntN(4); {
		case n == 0:
			value = fmt.Sprintf("%q", strings.Repeat("word ", r.IntN(5)))
		case n == 1 && depth > 0:
			value = anyJSON(r, depth-1)
		}
		if object {
			value = fmt.Sprintf("%q: %s", fmt.Sprint("key", i), value)
		}
		items = append(items, value)
	}
	all := strings.Join(items, " ,\n")
	if object {
		return "{ " + all + " }"
	}
	return "[ " + all + " ]"
}
