// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package javascript

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
)

// A number of few bytes is not written out with a million digits: a result may have thousands.
func TestASmallNumberTakesLittleMemory(t *testing.T) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	require.Equal(t, `["1e-999999",0e-999999,"-1.5E-999999"]`, exact(`[1e-999999,0e-999999,-1.5E-999999]`))
	runtime.ReadMemStats(&after)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(1<<20))
}
