// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package truncate

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The size decides whether a stream is worth compacting: it is that of the output, however the text is split.
func TestCompactor_SizeIsThatOfItsOutput(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 1))
	pretty, compact := prettyJSON(t, 40)
	for name, text := range map[string]string{
		"pretty": pretty, "compact": compact, "with text behind": pretty + "\n\nthe end", "text": "no JSON at all", "empty": "",
	} {
		for range 20 {
			var j compactor
			var out strings.Builder
			for rest := text; rest != ""; {
				n := 1 + r.IntN(len(rest))
				j.add(rest[:n])
				rest = rest[n:]
				if r.IntN(2) == 0 {
					out.WriteString(j.take())
				}
			}
			out.WriteString(j.take())
			require.Equal(t, out.Len(), j.size, name)
			require.Equal(t, name == "pretty" || name == "with text behind", j.isWorthwhile(len(text)), name)
			if json.Valid([]byte(text)) {
				require.JSONEq(t, text, out.String(), name)
			}
		}
	}
}
