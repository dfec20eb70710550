// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package store_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/store"
)

// What DeleteUnused frees can be used at once, whoever calls it.
func TestScoped_DeleteUnusedFreesRoom(t *testing.T) {
	for name, deleting := range map[string]func(memory *store.Memory, scoped store.Backend) store.Cleaner{
		"through the scope": func(_ *store.Memory, scoped store.Backend) store.Cleaner {
			c, _ := store.As[store.Cleaner](scoped)
			return c
		},
		"in the store below": func(memory *store.Memory, _ store.Backend) store.Cleaner { return memory },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				memory := store.NewMemory(0)
				scoped := store.Scoped(memory, store.Scope{Key: func(context.Context) (string, error) { return "acme/42", nil }, MaxBytes: 1000})
				content := strings.Repeat("x", 900)
				require.NoError(t, scoped.Write(t.Context(), &request{FilePath: "/a", Content: content}))
				time.Sleep(2 * time.Second)
				err := scoped.Write(t.Context(), &request{FilePath: "/b", Content: content})
				require.ErrorContains(t, err, `scope "acme/42" stores 900 of 1000 bytes, and needs 900 more`)

				time.Sleep(2 * time.Second)
				files, _, err := deleting(memory, scoped).DeleteUnused(t.Context(), "", time.Now().Add(time.Hour))
				require.NoError(t, err)
				require.Equal(t, 1, files)
				require.NoError(t, scoped.Write(t.Context(), &request{FilePath: "/b", Content: content}))
			})
		})
	}
}

// selfWrapper is a store that unwraps to itself.
type selfWrapper struct{ store.Backend }

func (s *selfWrapper) Unwrap() store.Backend { return s }

func TestAs_ReturnsForStoreThatWrapsItself(t *testing.T) {
	_, ok := store.As[store.Cleaner](&selfWrapper{})
	require.False(t, ok)
	require.NotNil(t, store.Scoped(&selfWrapper{}, store.Scope{}))
}
