// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package offload

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/backend"
)

// A stream whose first name another writer took meanwhile has another name, and both names are known to be used.
func TestStream_ClaimsBothNamesAfterALostRace(t *testing.T) {
	ctx := context.Background()
	files := backend.NewMemory(0)
	v := newOffloader()
	s := v.Open(files)
	w := v.Stream(ctx, s, Place{Path: "/f"}, []string{"ours"})
	require.NoError(t, files.Create(ctx, "/f", strings.NewReader("another's")))
	p, err := w.Commit(nil)
	require.NoError(t, err)
	require.NotEqual(t, "/f", p)
	require.True(t, s.Holds(ctx, p, "ours"))
	size, used := s.KnownSize(ctx, "/f")
	require.True(t, used)
	require.Equal(t, -1, size, "what the other writer stored is unknown")
	size, used = s.KnownSize(ctx, p)
	require.True(t, used)
	require.Equal(t, len("ours"), size)
}
