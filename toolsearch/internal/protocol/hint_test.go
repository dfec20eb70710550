// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package protocol

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/adktest"
	"github.com/einolean/einolean/internal/jsontext"
	"github.com/einolean/einolean/internal/toolnames"
)

// The hint after a search that failed points to the list of tools only if there is one.
func TestEmptyResultHint_NamesListOnlyIfThereIsOne(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	s := searcherOf(t, adktest.Simple("a", "does a"))
	require.Contains(t, EmptyResultHint(ctx, s, jsontext.DecodeArguments(`{"query":"x"}`)), "<available-deferred-tools>")
	s.Access = &access{names: []string{"a"}, denied: toolnames.Set{"a": true}}
	require.NotContains(t, EmptyResultHint(ctx, s, jsontext.DecodeArguments(`{"query":"x"}`)), "<available-deferred-tools>")
}
