// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package einonext_test

import (
	"context"
	"testing"

	"github.com/cloudwego/eino/adk/filesystem"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/store"
)

// Our stores take what runs in the background outputs.
func TestStoresAreAppenders(t *testing.T) {
	ctx := context.Background()
	files := store.NewMemory(0)
	made, err := store.NewAppender[filesystem.AppendRequest](files)
	require.NoError(t, err)
	var output filesystem.Appender = made
	for _, text := range []string{"one ", "two"} {
		require.NoError(t, output.Append(ctx, &filesystem.AppendRequest{FilePath: "/tasks/1", Content: text}))
	}
	got, err := files.Read(ctx, &filesystem.ReadRequest{FilePath: "/tasks/1"})
	require.NoError(t, err)
	require.Equal(t, "one two", got.Content)
}
