// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package search

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/adktest"
	"github.com/einolean/einolean/internal/jsontext"
	"github.com/einolean/einolean/internal/toolnames"
)

// The advice after a search that failed points to the list of tools only if there is one.
func TestAdvice_NamesTheListOnlyIfThereIsOne(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	s := over(t, adktest.Simple("a", "does a"))
	require.Contains(t, Advice(ctx, s, jsontext.DecodeArguments(`{"query":"x"}`)), "<available-deferred-tools>")
	s.For = &anybody{names: []string{"a"}, denied: toolnames.Set{"a": true}}
	require.NotContains(t, Advice(ctx, s, jsontext.DecodeArguments(`{"query":"x"}`)), "<available-deferred-tools>")
}
