// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package notice

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A notice that is made shorter is within its limit if the limit has room for any of the content, and fails if not even a
// clear placeholder fits.
func TestReshorten_IsWithinItsLimitOrFails(t *testing.T) {
	content := strings.Repeat("a line of a long result\n", 200)
	v := Data{Path: "/tmp/trunc/c1", Tool: "read_file", Bytes: len(content)}
	for _, w := range []*Texts{english, chinese} {
		excerpt := w.RenderExcerpt(content, v, 2000)
		preview := w.RenderPreview(len(content), v, 2000, func(room int) string { return content[:room] })
		for limit := range 2500 {
			room, hasRoom := w.Room(len(content), v, limit)
			text, ok := w.Reshorten([]string{excerpt}, v, limit)
			require.Equal(t, hasRoom, ok, "an excerpt of %d bytes", limit)
			if room > 0 {
				require.LessOrEqual(t, len(text), limit)
				require.Equal(t, v.Path, Parse(text).Path)
			}
			if text, ok := w.Reshorten([]string{preview}, v, limit); ok {
				require.LessOrEqual(t, len(text), limit, "a preview")
				require.Equal(t, v.Path, Parse(text).Path)
			}
		}
	}
}
