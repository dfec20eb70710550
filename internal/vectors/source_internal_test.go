// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package vectors

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/backend"
)

// Others may write into the store.
func TestSource_ReadsOnlyItsOwnFiles(t *testing.T) {
	s := Source{Model: "m"}
	require.True(t, s.isVersion(s.path([]Key{KeyOf("a")})))
	require.False(t, s.isVersion(Source{Model: "other"}.path(nil)))
	for _, path := range []string{
		"", "/etc/passwd", s.latest(), s.prefix() + "/../../x.txt", s.prefix() + "../x.txt", s.prefix() + "aa/bb.txt", backend.CatalogDir + "/other.txt", s.path(nil) + "/..",
	} {
		require.False(t, s.isVersion(path), path)
	}
}
