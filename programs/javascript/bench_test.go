// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package javascript_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/programs/javascript"
)

// Fifty results of 9 KB in one batch, and one after the other.
func BenchmarkProgram(b *testing.B) {
	row := `{"id":1,"total":495,"note":"no special note here, move along"},`
	result := "[" + strings.TrimSuffix(strings.Repeat(row, 150), ",") + "]"
	for _, c := range []struct{ name, code string }{
		{"batch", `const r = await Promise.all(Array.from({length: 50}, (_, i) => tools.list({page: i}))); print(r.flat().filter(o => o.total > 490).length)`},
		{"sequence", `let n = 0; for (let i = 0; i < 50; i++) n += (await tools.list({page: i})).length; print(n)`},
		{"nothing", `print(1)`},
	} {
		b.Run(c.name, func(b *testing.B) {
			in := javascript.New(javascript.Limits{Rounds: 100})
			_, err := finish(b.Context(), in, "print(1)", "")
			require.NoError(b, err)
			for b.Loop() {
				s, err := finish(b.Context(), in, c.code, result)
				require.NoError(b, err)
				require.Empty(b, s.Error)
			}
		})
	}
}
