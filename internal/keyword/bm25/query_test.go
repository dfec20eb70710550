// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package bm25

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/keyword"
)

func clausesOf(text string) (clauses []string) {
	start := 0
	for _, end := range appendClauseEnds(nil, text) {
		clauses = append(clauses, strings.TrimSpace(text[start:end]))
		start = end
	}
	return clauses
}

func TestAppendClauseEnds_SplitsQuery(t *testing.T) {
	for text, want := range map[string]int{
		"":                                 1,
		"send mail":                        1,
		"find example.com at 4.5 stars":    1,
		"Find a hotel. Then book it!":      3, // what is left at the end is empty
		"find it, and then mail it":        2,
		"read the file\nsort its lines":    2,
		"a bus or a train to the airport":  1,
		"查天气,然后发邮件给我":                      2,
		"合并两个文件":                           1,
		"a. b. c":                          1,
		strings.Repeat("send mail. ", 100): maxClauses,
	} {
		require.Len(t, clausesOf(text), want, "%q: %q", text, clausesOf(text))
	}
}

func TestAppendValueSpans_FindsQuotesAndAddresses(t *testing.T) {
	for text, want := range map[string][]string{
		"send mail":                                nil,
		`play "Hey Jude" now`:                      {`"Hey Jude"`},
		"play 'Hey Jude', don't wait":              {"'Hey Jude'"},
		"it's the dogs' dinner":                    nil,
		"播放「晴天」和《稻香》":                              {"「晴天」", "《稻香》"},
		"open https://a.b/c?d=e or x@y.org, ok":    {"https://a.b/c?d=e", "x@y.org,"},
		`an "open end`:                             nil,
		`"` + strings.Repeat("x", maxQuoted) + `"`: nil,
		`""`: nil,
	} {
		var got []string
		for _, s := range appendValueSpans(nil, text) {
			got = append(got, text[s.start:s.end])
		}
		require.Equal(t, want, got, "%q", text)
	}
}

func TestSearch_PolitenessMatchesOnlyAlone(t *testing.T) {
	x := New(allWords(), []keyword.Doc{{Name: "a", Description: "这个怎么样"}, {Name: "b", Description: "天气"}})
	require.Equal(t, []string{"b"}, answers(t, x, "这个天气怎么样", 0))
	require.Equal(t, []string{"a"}, answers(t, x, "怎么样", 0), "there is nothing else")
}

var phraseDocs = []keyword.Doc{
	{Name: "set_status", Description: "Set your status."},
	{Name: "create_meeting", Description: "Create a meeting."},
	{Name: "delete_file", Description: "Delete a file."},
	{Name: "restore_file", Description: "Restore a file from the trash."},
	{Name: "disable_device", Description: "Off."},
	{Name: "rotate_log", Description: "Turn a log over."},
}

func TestSearch_PhrasesHaveTheirOwnMeaning(t *testing.T) {
	x := New(allWords(), phraseDocs)
	for text, want := range map[string]string{
		"set up a meeting":                  "create_meeting",
		"setting up something":              "create_meeting",
		"set it up, please":                 "create_meeting",
		"set my status":                     "set_status",
		"throw the old report away":         "delete_file",
		"shut that thing down":              "disable_device",
		"turn off":                          "disable_device",
		"set a thing that we put somewhere": "set_status",
	} {
		require.Equal(t, want, answers(t, x, text, 1)[0], text)
	}
}

func TestParse_FindsPhrases(t *testing.T) {
	x := New(allWords(), phraseDocs)
	for text, want := range map[string][]string{
		"":                         nil,
		"set":                      nil,
		"set up":                   {"set up"},
		"Set-up":                   {"set up"},
		"set. Up":                  nil,
		"set all of this here up":  {"set up"},
		"set a b c d e up":         nil,
		"shut down and then set a": {"shut down"},
		"throw it out throw away":  {"throw out", "throw away"},
	} {
		var found []string
		for _, w := range parsed(x, text).terms {
			if len(w.expansions) > 0 && w.expansions[0].relation == "meaning of" {
				found = append(found, w.text)
			}
		}
		require.Equal(t, want, found, "%q", text)
	}
}

func TestSearch_OppositesDoNotMatch(t *testing.T) {
	x := New(allWords(), []keyword.Doc{
		{Name: "delete_file"}, {Name: "activate_user"}, {Name: "subscribe_list"}, {Name: "connect_socket"}, {Name: "description"},
	})
	for _, text := range []string{"undelete", "deactivate", "unsubscribe", "disconnect"} {
		require.Empty(t, answers(t, x, text, 0), text)
	}
	require.Equal(t, []string{"delete_file"}, answers(t, x, "delet", 0))
	require.Equal(t, []string{"description"}, answers(t, x, "descriptions", 0))
}

func TestSearch_IdentifierMatchesParameterName(t *testing.T) {
	x := New(allWords(), []keyword.Doc{
		{Name: "a", Description: "Due date. The date when it is due."},
		{Name: "b", Params: []keyword.Param{{Name: "date"}, {Name: "due"}}},
		{Name: "c", Params: []keyword.Param{{Name: "Due_Date"}, {Name: "x"}, {Name: "y"}, {Name: "z"}}},
	})
	require.Equal(t, []string{"c"}, answers(t, x, "due_date", 1))
}

// An explanation shows the words of the query as they are written, not their stems.
func TestExplain_ShowsQueryWordsUnstemmed(t *testing.T) {
	x := New(allWords(), []keyword.Doc{{Name: "create_invoices", Description: "Creates invoices for companies. 天气"}, {Name: "weather", Description: "Weather of cities"}})
	terms := func(text string, doc int) (words []string) {
		for _, term := range x.Explain(text, doc).Terms {
			words = append(words, term.Term)
		}
		return words
	}
	require.Equal(t, []string{"Companies", "Invoices", "creating"}, terms("Companies Invoices creating", 0))
	require.Equal(t, []string{"get", "Cities", "getCities"}, terms("getCities", 1))
	require.Contains(t, terms("set up an invoice", 0), "set up")
	require.Contains(t, terms("天气", 1), "天气")
	for _, word := range terms("naïve CAFÉ ＡＢＣ", 0) {
		require.Contains(t, []string{"naive", "CAFE", "ABC"}, word)
	}
}
