// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestReport_IsDeterministicAndDependsOnTheSeed(t *testing.T) {
	for _, a := range areas {
		var first, second, other strings.Builder
		report(&first, a, 1, 8, true)
		report(&second, a, 1, 8, true)
		report(&other, a, 2, 8, true)
		require.Equal(t, first.String(), second.String())
		require.NotEqual(t, first.String(), other.String())
	}
}
