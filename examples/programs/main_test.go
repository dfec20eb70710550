// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRun_PrintsExpectedFigures(t *testing.T) {
	var out strings.Builder
	require.NoError(t, run(t.Context(), &out))
	for _, want := range []string{
		"calls, one by one         52 model calls    2,8", "calls, all at once         3 model calls      110,", "a program                  3 model calls        2,0",
		"answer               89\n",
		"the program asks         refund 4 orders of customer 7?", "4 4 orders refunded\n",
		"a call                     3 model calls        1,7", // less than with a program
	} {
		require.Contains(t, out.String(), want)
	}
}
