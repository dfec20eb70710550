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

// What a file system says of a file is an answer of the store; only a network that is silent is none.
func TestOnlyAStoreThatDoesNotAnswerRests(t *testing.T) {
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
		"a file that exists":      {os.Link(taken, taken), false},
		"a file that is missing":  {func() error { _, err := os.Open(filepath.Join(dir, "none")); return err }(), false},
		"a directory in a file":   {os.Mkdir(filepath.Join(taken, "below"), 0o700), false},
		"no space for a name":     {os.Mkdir(filepath.Join(dir, string(make([]byte, 4))), 0o700), false},
		"an answer of the server": {errors.New("access denied"), false},
		"a caller that gave up":   {&url.Error{Op: "Get", URL: "http://x", Err: context.Canceled}, false},
		"a caller out of time":    {context.DeadlineExceeded, false},
		"a port that is closed":   {&url.Error{Op: "Get", URL: "http://x", Err: refused}, true},
		"a limit of ours":         {fmt.Errorf("slow: %w", os.ErrDeadlineExceeded), true},
		"a name without address":  {&net.DNSError{Err: "no such host", Name: "x", IsNotFound: true}, true},
	} {
		t.Run(name, func(t *testing.T) {
			require.Error(t, c.err)
			require.Equal(t, c.want, unreachable(c.err))
		})
	}
}
