// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package jsontext

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func FuzzBlankComments(f *testing.F) {
	for _, seed := range []string{`{"a": 1, /* b */ "c": [1, 2,], }// d`, `"`, `"\`, "/*", "//", ",]", "\uFEFF{}"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		once := BlankComments([]byte(text))
		require.Len(t, once, len(text))
		require.Equal(t, strings.Count(text, "\n"), strings.Count(string(once), "\n"))
		if json.Valid([]byte(text)) {
			require.Equal(t, text, string(once))
		}
	})
}
