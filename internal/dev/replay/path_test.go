// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package replay

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/backend"
)

// Package reduction makes the paths of results from the same parts. Its TestDefaultPath_IsRecognized checks that end.
func TestStoredPath_MatchesDefaultPaths(t *testing.T) {
	for _, id := range []string{"call_1", "functions.grep:0", "a/b c", "", ".."} {
		for _, dir := range []string{backend.TruncDir, backend.ClearDir} {
			for _, root := range []string{"/", "/tmp/", "/users/a=2fb/"} {
				want := root + dir + "/" + backend.Component(id)
				require.Equal(t, want, storedPath.FindString("The result is stored at "+want+" (9 bytes)"))
			}
		}
	}
}
