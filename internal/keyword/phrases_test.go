// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package keyword

import (
	"testing"

	"github.com/stretchr/testify/require"
)

var phraseDocs = []Doc{
	{Name: "set_status", Description: "Set your status."},
	{Name: "create_meeting", Description: "Create a meeting."},
	{Name: "delete_file", Description: "Delete a file."},
	{Name: "restore_file", Description: "Restore a file from the trash."},
	{Name: "disable_device", Description: "Off."},
	{Name: "rotate_log", Description: "Turn a log over."},
}

func TestPhrasesMeanSomethingElseThanTheirWords(t *testing.T) {
	x := NewBM25(phraseDocs)
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
		require.Equal(t, want, answers(t, x, text, Options{Limit: 1})[0], text)
	}
}

func TestPhrasesInAText(t *testing.T) {
	x := NewBM25(phraseDocs)
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
		for _, w := range x.read(text, make([]uint8, len(x.texts))).wants {
			if len(w.matches) > 0 && w.matches[0].relation == "meaning of" {
				found = append(found, w.text)
			}
		}
		require.Equal(t, want, found, "%q", text)
	}
}

func TestPhrasesAreWellFormed(t *testing.T) {
	for first, phrases := range knowledge().phrases {
		for _, p := range phrases {
			require.Equal(t, first, p.words[0])
			require.GreaterOrEqual(t, len(p.words), 2, "%q", p.text)
			require.NotEmpty(t, p.means, "%q", p.text)
		}
	}
}

func TestOppositesAreNotOffered(t *testing.T) {
	x := NewBM25([]Doc{
		{Name: "delete_file"}, {Name: "activate_user"}, {Name: "subscribe_list"}, {Name: "connect_socket"}, {Name: "description"},
	})
	for _, text := range []string{"undelete", "deactivate", "unsubscribe", "disconnect"} {
		require.Empty(t, answers(t, x, text, Options{}), text)
	}
	require.Equal(t, []string{"delete_file"}, answers(t, x, "delet", Options{}))
	require.Equal(t, []string{"description"}, answers(t, x, "descriptions", Options{}))
}

func TestIdentifiersOfParameters(t *testing.T) {
	for text, want := range map[string]string{
		"due_date": "due_date", "a_b c": "a_b", "max2_n,": "max2_n", "": "", "plain": "", "_x": "", "x_": "", "a b_c": "", "日_期": "",
	} {
		require.Equal(t, want, leadingIdentifier(text), "%q", text)
	}
	x := NewBM25([]Doc{
		{Name: "a", Description: "Due date. The date when it is due."},
		{Name: "b", Params: []Param{{Name: "date"}, {Name: "due"}}},
		{Name: "c", Params: []Param{{Name: "Due_Date"}, {Name: "x"}, {Name: "y"}, {Name: "z"}}},
	})
	require.Equal(t, []string{"c"}, answers(t, x, "due_date", Options{Limit: 1}))
}
