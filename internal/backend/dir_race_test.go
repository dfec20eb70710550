// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package backend_test

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/cloudwego/eino/adk/filesystem"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/backend"
)

func TestDir_ReadsFileWhileItIsReplaced(t *testing.T) {
	ctx := context.Background()
	store, err := backend.NewDir(t.TempDir())
	require.NoError(t, err)
	defer store.Close()
	write := func(c string) error {
		return store.Write(ctx, &filesystem.WriteRequest{FilePath: "a", Content: strings.Repeat(c, 100)})
	}
	require.NoError(t, write("0"))
	var writers sync.WaitGroup
	stop := make(chan struct{})
	writers.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				if write("1") != nil {
					return
				}
			}
		}
	})
	for range 2000 {
		content, err := store.Read(ctx, &filesystem.ReadRequest{FilePath: "a"})
		if err != nil {
			close(stop)
			writers.Wait()
			require.NoError(t, err)
		}
		require.Len(t, content.Content, 100)
	}
	close(stop)
	writers.Wait()
}
