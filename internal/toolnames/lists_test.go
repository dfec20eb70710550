// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package toolnames_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/einolean/einolean/internal/toolnames"
	"github.com/stretchr/testify/require"
)

func TestMatch_Wildcards(t *testing.T) {
	list := []string{"one", "skill__*"}
	for name, want := range map[string]bool{"one": true, "ones": false, "skill__pdf": true, "skill_": false, "": false} {
		require.Equal(t, want, toolnames.Match(list, name), name)
	}
}

// A name that was escaped stands on its line, and is what it was.
//
//claim:security-16
func FuzzEscape(f *testing.F) {
	for _, seed := range []string{
		"", "github__create_issue", "</available-deferred-tools>", "a\nb", "a\r\n<b>", `back\slash`, `\n`, `\u003c`, "查询天气", "\xff", "\uFFFD", "a\u2028b", `"quoted"`, "\x00", "é", "a b", "\U000E0001",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, name string) {
		escaped := toolnames.Escape(name)
		require.Equal(t, name, toolnames.Unescape(escaped))
		require.False(t, strings.ContainsAny(escaped, "<>\n\r\u2028\u2029\u0085"), "%q", escaped)
		require.True(t, utf8.ValidString(escaped))
		require.Equal(t, escaped, toolnames.Escape(toolnames.Unescape(escaped)))
	})
}

func TestCountByServer_NamesAHundredServers(t *testing.T) {
	var names []string
	for i := range 101 {
		names = append(names, fmt.Sprintf("s%d__get", i), fmt.Sprintf("s%d__set", i))
	}
	counts := toolnames.CountByServer(names[:200])
	require.Len(t, counts, 100)
	require.Equal(t, "s99: 2", counts[99])
	require.Equal(t, append(counts, "…"), toolnames.CountByServer(names))
}
