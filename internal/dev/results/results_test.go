// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package results

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestMake_FactsAreInTheText(t *testing.T) {
	all := 0
	for _, group := range []Group{Tuning, Further, HeldOut} {
		for _, name := range Formats(group) {
			r := Generate(name, 1)
			require.Equal(t, r, Generate(name, 1), name)
			require.InDelta(t, formats[name].bytes, len(r.Text), 8000, name)
			require.Len(t, r.Facts, FactsPerResult, name)
			for _, f := range r.Facts {
				require.NotEmpty(t, f.Question)
				require.False(t, strings.Contains(f.Question, f.Answer), "%s: %q has %q", name, f.Question, f.Answer)
			}
			t.Logf("%-14s %7d bytes, %3d facts: %q -> %q", name, len(r.Text), len(r.Facts), r.Facts[0].Question, r.Facts[0].Answer)
			all += len(r.Facts)
		}
	}
	require.GreaterOrEqual(t, all, 300)
}
