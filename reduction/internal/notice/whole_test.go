// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package notice

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Every notice of both languages is recognized as a whole text and in place of a result, whether it says how to pass
// the content on or not. Text beside it makes it other text.
func TestWhole_RecognizesEachNotice(t *testing.T) {
	for _, texts := range []*Texts{english, chinese} {
		for _, canPass := range []bool{false, true} {
			for _, tool := range []string{"", "read_file"} {
				data := Data{Bytes: 1234, HeadBytes: 5, TailBytes: 3, Path: "/tmp/clear/c1", Tool: tool, CanSearch: canPass, CanPass: canPass,
					head: "start", tail: "end", Preview: "a line\nanother", Call: "c0", Medium: "image/png"}
				pass := texts.HintPass.fill(data)
				for _, form := range []template{
					texts.Cleared, texts.Page, texts.LongPage, texts.Duplicate, texts.Truncated, texts.Stream, texts.Previewed, texts.StreamWithErrors, texts.Medium,
				} {
					text := texts.Fill(form, data)
					n, ok := Whole(text)
					require.True(t, ok, text)
					require.Equal(t, data.Path, n.Path)
					require.Equal(t, data.Path, Parse(text).Path)
					for _, other := range []string{text + " more", "more " + text, text + text} {
						_, ok = Whole(other)
						require.False(t, ok, other)
					}
				}
				text := texts.Fill(texts.Cleared, data)
				require.Equal(t, canPass, strings.HasSuffix(text, "\n"+pass+closeTag), text)

				data.Path += ArgMark + "1"
				text = texts.Fill(texts.Argument, data)
				n, ok := Whole(text)
				require.True(t, ok, text)
				require.Equal(t, data.Path, n.Path)
				require.Equal(t, data.Bytes, n.Bytes)
				require.Equal(t, canPass, strings.HasSuffix(text, "\n"+pass+"]"), text)
			}
		}
		for form, isPage := range map[string]bool{
			texts.Fill(texts.Page, Data{Path: "/a"}): true, texts.Fill(texts.LongPage, Data{Path: "/a"}): true, texts.Fill(texts.Cleared, Data{Path: "/a"}): false,
		} {
			require.Equal(t, isPage, IsPage(form), form)
		}
		n, ok := Whole(texts.Fill(texts.Placeholder, Data{}))
		require.True(t, ok)
		require.Empty(t, n.Path)
	}
	for _, other := range []string{"", "[", "[]", "[a, b]", "[Value: /tmp/clear/c1]", "<persisted-output>", "<persisted-output></persisted-output>", "/tmp/clear/c1"} {
		_, ok := Whole(other)
		require.False(t, ok, other)
	}
}
