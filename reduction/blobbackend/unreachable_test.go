// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package blobbackend

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// An error of a file system is an answer of the store. Only a network without an answer makes a store unreachable.
func TestUnreachable_OnlyForSilentStores(t *testing.T) {
	dir := t.TempDir()
	taken := filepath.Join(dir, "taken")
	require.NoError(t, os.WriteFile(taken, nil, 0o600))
	refused := func() error {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		require.NoError(t, l.Close())
		_, err = net.Dial("tcp", l.Addr().String())
		return err
	}()
	for name, c := range map[string]struct {
		err  error
		want bool
	}{
		"a file that exists":       {os.Link(taken, taken), false},
		"a file that is missing":   {func() error { _, err := os.Open(filepath.Join(dir, "none")); return err }(), false},
		"a directory in a file":    {os.Mkdir(filepath.Join(taken, "below"), 0o700), false},
		"an invalid name":          {os.Mkdir(filepath.Join(dir, string(make([]byte, 4))), 0o700), false},
		"an answer of the server":  {errors.New("access denied"), false},
		"a canceled call":          {&url.Error{Op: "Get", URL: "http://x", Err: context.Canceled}, false},
		"a deadline of the caller": {context.DeadlineExceeded, false},
		"a port that is closed":    {&url.Error{Op: "Get", URL: "http://x", Err: refused}, true},
		"our own timeout":          {fmt.Errorf("slow: %w", os.ErrDeadlineExceeded), true},
		"a name without address":   {&net.DNSError{Err: "no such host", Name: "x", IsNotFound: true}, true},
	} {
		t.Run(name, func(t *testing.T) {
			require.Error(t, c.err)
			require.Equal(t, c.want, unreachable(c.err))
		})
	}
}
