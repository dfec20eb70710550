// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package backend

import (
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// ownedInfo is that of a file of another owner, or of nobody who is known.
type ownedInfo struct {
	fs.FileInfo
	sys any
}

func (o ownedInfo) Sys() any { return o.sys }

func TestOwnedByUs_ComparesUserIDs(t *testing.T) {
	at := filepath.Join(t.TempDir(), "dir")
	require.NoError(t, os.Mkdir(at, 0o700))
	info, err := os.Stat(at)
	require.NoError(t, err)
	require.True(t, ownedByUs(info))
	require.False(t, ownedByUs(ownedInfo{info, nil}))
	stat := *info.Sys().(*syscall.Stat_t)
	stat.Uid++
	require.False(t, ownedByUs(ownedInfo{info, &stat}))
}
