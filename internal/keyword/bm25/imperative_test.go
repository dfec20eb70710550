// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package bm25

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/keyword"
)

func TestSearch_StopWordCountsAsVerb(t *testing.T) {
	x := New(allWords(), []keyword.Doc{
		{Name: "social__search_video", Description: "Finds a video."},
		{Name: "social__like_video", Description: "Adds a like to a video."},
		{Name: "social__share_video", Description: "Sends a video to a friend."},
	})
	for _, text := range []string{"Like the video", "please like that video", "Open it, then like the video", "I want to like the video", "can you like my video"} {
		require.Equal(t, "social__like_video", answers(t, x, text, 3)[0], text)
	}
}

func TestIsImperative_OnlyWhereTheVerbStands(t *testing.T) {
	x := New(allWords(), []keyword.Doc{{Name: "social__like_video"}, {Name: "files__make_folder"}})
	for text, want := range map[string]bool{
		"Like the video":                true,
		"LIKE the video":                true,
		"Thanks! Make a folder":         true,
		"please make a folder":          true,
		"I'd like to see the video":     false,
		"like to see the video":         false,
		"make sure the folder is there": false,
		"a video like this":             false,
		"videos that make people laugh": false,
		"tomato like":                   false,
		"give me the video":             false,
	} {
		q := parsed(x, text)
		counts := slices.ContainsFunc(q.terms, func(w term) bool { return w.text == "like" || w.text == "make" })
		require.Equal(t, want, counts, text)
	}
}
