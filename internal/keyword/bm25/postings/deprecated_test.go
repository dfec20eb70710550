// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package postings

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestIsDeprecated_OnlyTheToolItself(t *testing.T) {
	for text, want := range map[string]bool{
		"[DEPRECATED] Lists the files.":                     true,
		"Deprecated: use list_files instead.":               true,
		"This tool is deprecated. Use list_files.":          true,
		"已弃用，请使用 list_files。":                               true,
		"Lists the files; replaces the deprecated ls.":      false,
		"Replaces the deprecated ls.":                       false,
		"Lists deprecated packages.":                        false,
		"Marks a package as deprecated.":                    false,
		"Finds what is not deprecated.":                     false,
		"Lists the files. The old parameter is deprecated.": false,
		"": false,
	} {
		require.Equal(t, want, isDeprecated(text), "%q", text)
	}
}

func TestHasName_WholeNamesOnly(t *testing.T) {
	for text, want := range map[string]bool{
		"Deprecated, use desk__search_tickets.":  true,
		"Deprecated: use `search_tickets`":       true,
		"[deprecated] search_tickets_v2 instead": false,
		"Deprecated, old_search_tickets is new":  false,
		"Deprecated, search for tickets":         false,
	} {
		require.Equal(t, want, hasName(text, "desk__search_tickets"), text)
	}
	require.False(t, hasName("Deprecated: search instead", "desk__search"), "it may be any word")
	require.True(t, hasName("Deprecated: desk__search instead", "desk__search"))
	require.False(t, hasName("", "desk__search"))
}
