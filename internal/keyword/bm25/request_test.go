// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package bm25

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/keyword"
)

func TestIsRequestFor_TellsRequestsFromSmallTalk(t *testing.T) {
	x := New(allWords(), []keyword.Doc{
		{Name: "go__format", Server: "go", Description: "Formats Go code exactly as it can for you, this morning or today."},
		{Name: "translate", Description: "Translates a text into another language."},
	})
	for doc, texts := range [][]string{
		{"format it", "please format this", "call go__format", "go on, 12", `go on with "main"`, "把代码格式化"},
		{"Can you translate this?", "translate", "翻译一下"},
	} {
		for _, text := range texts {
			require.True(t, x.IsRequestFor(text, doc), text)
		}
	}
	for _, text := range []string{"", "Go on.", "Good morning!", "What can you do for me?", "Exactly.", "今天怎么样？", "继续。"} {
		require.False(t, x.IsRequestFor(text, 0), text)
	}
	require.False(t, x.IsRequestFor("format it", 1), "another tool is meant")
}
