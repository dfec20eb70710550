// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package formats_test

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/formats"
)

// A line is only ever added here, with EINOLEAN_UPDATE=1.
const sums = "sums.txt"

//claim:operations-04
func TestSamples_AreNeverChanged(t *testing.T) {
	text, err := os.ReadFile(sums)
	require.NoError(t, err)
	known := make(map[string]string)
	for line := range strings.Lines(string(text)) {
		sum, name, ok := strings.Cut(strings.TrimSpace(line), "  ")
		require.True(t, ok, line)
		known[name] = sum
	}
	var added strings.Builder
	found := 0
	require.NoError(t, fs.WalkDir(formats.Files(), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := fs.ReadFile(formats.Files(), name)
		if err != nil {
			return err
		}
		sum := fmt.Sprintf("%x", sha256.Sum256(content))
		if known[name] == "" {
			fmt.Fprintf(&added, "%s  %s\n", sum, name)
			return nil
		}
		found++
		require.Equal(t, known[name], sum, "the sample %s has changed: stored conversations do not change with it", name)
		return nil
	}))
	require.Equal(t, len(known), found, "a sample is gone")
	if os.Getenv("EINOLEAN_UPDATE") == "1" {
		require.NoError(t, os.WriteFile(sums, append(text, added.String()...), 0o644))
		return
	}
	require.Empty(t, added.String(), "run with EINOLEAN_UPDATE=1 to add these samples")
}
