// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package bm25

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/keyword"
	"github.com/einolean/einolean/internal/keyword/bm25/postings"
)

// chatTools have a message that needs the id of a channel, and a user whose id is optional.
func chatTools() []keyword.Doc {
	docs := []keyword.Doc{
		{Name: "chat__post_message", Description: "Posts a message.", Params: []keyword.Param{{Name: "channel_id", Required: true}, {Name: "text", Required: true}, {Name: "user_id"}}},
		{Name: "chat__list_channels", Description: "Lists all rooms of the workspace.", Params: []keyword.Param{{Name: "cursor"}}},
		{Name: "chat__list_archived_channels", Description: "Lists old rooms."},
		{Name: "chat__get_channel", Description: "One room.", Params: []keyword.Param{{Name: "channelId", Required: true}}},
		{Name: "chat__find_user", Description: "Finds a person."},
		{Name: "forum__list_channels", Description: "Lists boards."},
	}
	for _, name := range []string{"delete", "edit", "pin", "forward", "quote", "translate"} {
		docs = append(docs, keyword.Doc{Name: "chat__" + name + "_message", Description: "To " + name + " a message."})
	}
	return docs
}

func TestSearch_AddsToolThatFindsRequiredID(t *testing.T) {
	x := New(allWords(), chatTools())
	found := search(t, x, "post a message", 5)
	require.Len(t, found, 5)
	require.Equal(t, "chat__post_message", x.Name(found[0].Doc))
	require.Equal(t, "chat__list_channels", x.Name(found[4].Doc), "of the same server, with the fewest other words, and without the id itself")
	require.GreaterOrEqual(t, found[4].Confidence, found[0].Confidence/2)
	require.InDelta(t, found[4].Score, x.Explain("post a message", found[4].Doc).Score, 1e-12)
	require.Contains(t, x.Explain("post a message", found[4].Doc).String(), "finds what chat__post_message requires")
	for _, text := range []string{"post a message to 42", `post a message to "general"`, "+post a message", "forward a message", "delete the message"} {
		for _, name := range answers(t, x, text, 5) {
			require.NotContains(t, name, "list_channels", "%q gives it, or needs none", text)
		}
	}
	require.NotContains(t, answers(t, x, "post a message", 4), "chat__list_channels", "one of five places at the most")
}

// A limit returns the start of the same list, and splitting the documents does not change it.
func TestSearch_LimitReturnsStartOfAllResults(t *testing.T) {
	docs := chatTools()
	x := New(allWords(), docs)
	for _, text := range []string{"post a message", "post message chat", "message", "quote", "post"} {
		all := search(t, x, text, 0)
		for limit := 1; limit <= len(all); limit++ {
			require.Equal(t, all[:limit], search(t, x, text, limit), "%q: the first %d", text, limit)
		}
		for _, h := range all {
			require.Positive(t, h.Score, "%q", text)
		}
		split := Join(allWords(), postings.Part{Segment: postings.NewSegment(docs[:3])}, postings.Part{Segment: postings.NewSegment(docs[3:])})
		require.Equal(t, answers(t, x, text, 0), answers(t, split, text, 0), "%q", text)
	}
}

// A tool that answers words that the other results leave open gets a place.
func TestSearch_UnansweredWordsGetAPlace(t *testing.T) {
	docs := []keyword.Doc{{Name: "mail__send_letter", Description: "Sends a letter."}, {Name: "weather__now", Description: "The sky above a place at present."}}
	for _, name := range []string{"create", "list", "cancel", "capture", "export", "split"} {
		docs = append(docs, keyword.Doc{Name: "pay__" + name + "_refund_payment", Description: "Refund payment: " + name + "."})
	}
	x := New(allWords(), docs)
	for _, text := range []string{"refund payment customer letter", "letter refund payment"} {
		place := slices.Index(answers(t, x, text, 5), "mail__send_letter")
		require.Positive(t, place+1, "%q", text)
	}
}

func TestSearch_MatchesJoinedAndSplitWords(t *testing.T) {
	docs := []keyword.Doc{
		{Name: "filesystem__read", Description: "Reads."}, {Name: "time-zone__now", Description: "Now."}, {Name: "x", Params: []keyword.Param{{Name: "user_name"}}},
		{Name: "drive__read_file", Description: "Reads a file."}, {Name: "os__system_info", Description: "About the system."}, {Name: "clock__hands", Description: "A zone."},
		{Name: "dataBase__query", Description: "Asks."},
	}
	x := New(allWords(), docs)
	for text, want := range map[string]string{
		"file system read": "filesystem__read", "file-system read": "filesystem__read", "fileSystem read": "filesystem__read", "filesystem read": "filesystem__read",
		"timezone now": "time-zone__now", "time-zone now": "time-zone__now", "username": "x", "userName": "x", "user name": "x",
		"database query": "dataBase__query", "data base query": "dataBase__query",
	} {
		require.Equal(t, want, answers(t, x, text, 1)[0], "%q", text)
	}
}

// A plus requires every word of a text without spaces, not just one of them.
func TestSearch_PlusRequiresEveryChineseWord(t *testing.T) {
	x := New(allWords(), []keyword.Doc{
		{Name: "a", Description: "查询天气"}, {Name: "b", Description: "查询快递"}, {Name: "c", Description: "天气不好时快递的查询"},
		{Name: "d", Description: "query the weather"}, {Name: "e", Description: "query the weather of a delivery"},
	})
	for text, want := range map[string][]string{
		"+天气": {"a", "c", "d", "e"}, "+快递": {"b", "c", "e"}, "+天气快递": {"c", "e"}, "+快递 +天气": {"c", "e"}, "+天气快递 查询": {"c", "e"}, "+鱻": {},
	} {
		require.ElementsMatch(t, want, answers(t, x, text, 0), text)
	}
}

// Documents that cannot reach a place within the limit are skipped early, without effect on the results.
func TestSearch_PruningChangesNoResults(t *testing.T) {
	rng := newRand(t)
	words := strings.Fields("parcel kite umbrella violin garden planet bridge candle")
	for range 60 {
		docs := make([]keyword.Doc, spare)
		for i := range docs {
			var has []string
			for _, at := range rng.Perm(len(words))[:3+rng.IntN(2)] {
				has = append(has, words[at])
			}
			docs[i] = keyword.Doc{Name: strings.Join(has, "_"), Server: fmt.Sprint("s", rng.IntN(9))} // names score as high as they can
		}
		x, text := New(allWords(), docs), strings.Join(words[:2+rng.IntN(len(words)-1)], " ")
		all := search(t, x, text, 0)
		for _, limit := range []int{1, 2, 3, 5, 10, 20} {
			require.Equal(t, all[:min(limit, len(all))], search(t, x, text, limit), "%q: the first %d", text, limit)
		}
	}
}
