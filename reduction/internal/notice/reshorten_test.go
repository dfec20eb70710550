// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package notice

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A notice made shorter still shows parts of the same file, whatever kind of notice it was.
func TestTexts_ReshortenShowsPartsOfTheSameFile(t *testing.T) {
	var b strings.Builder
	for i := range 300 {
		fmt.Fprintf(&b, "line %d of a result\n", i)
	}
	text := b.String()
	data := Data{Path: "/tmp/trunc/call_1", Tool: "read_file", Bytes: len(text)}
	for _, texts := range []*Texts{english, chinese} {
		excerpt := texts.RenderExcerpt(text, data, 3000)
		preview := texts.RenderPreview(len(text), data, 3000, func(room int) string { return text[:room] })
		stream := data
		stream.HeadBytes = 1000
		streamEnd, ok := texts.RenderStreamEnd(texts.Stream, stream, text[4000:], 2000)
		require.True(t, ok)
		for kind, before := range map[string][]string{"excerpt": {excerpt}, "preview": {preview}, "stream": {text[:1000], streamEnd}} {
			for limit := 600; limit < 1500; limit += 37 {
				got, ok := texts.Reshorten(before, data, limit)
				require.True(t, ok, kind)
				require.LessOrEqual(t, len(got), limit, kind)
				require.Equal(t, Notice{truncatedNotice, data.Path, len(text)}, Parse(got), kind)
				head, tail, found := Excerpt([]string{got})
				require.Equal(t, kind != "preview", found)
				if kind == "preview" {
					head, _ = previewIn([]string{got})
				}
				require.NotEmpty(t, head, kind)
				require.True(t, strings.HasPrefix(text, head), kind)
				require.True(t, strings.HasSuffix(text, tail), kind)
				require.Equal(t, kind == "excerpt", tail != "", kind)
			}
		}
		_, ok = texts.Reshorten([]string{excerpt}, data, 50)
		require.False(t, ok, "not even the notice fits")
	}
}
