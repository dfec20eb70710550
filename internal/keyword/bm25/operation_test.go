// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package bm25

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/keyword"
)

// store has tools that do different things to the same keys.
var store = []keyword.Doc{
	{Name: "kv__setting_set", Description: "Changes a setting in the store."},
	{Name: "kv__setting_get", Description: "Returns a setting in the store."},
	{Name: "kv__setting_delete", Description: "Deletes a setting in the store."},
	{Name: "kv__setting_lock", Description: "Locks a setting in the store."},
}

func TestSearch_PrefersRequestedOperation(t *testing.T) {
	x := New(allWords(), store)
	for text, first := range map[string]string{
		"Show me the settings in the store": "kv__setting_get",
		"remove the setting from the store": "kv__setting_delete",
	} {
		require.Equal(t, first, answers(t, x, text, 5)[0], text)
		require.Equal(t, answers(t, x, text, 1), answers(t, x, text, 5)[:1], "the limit does not change the order")
	}
}

// Tools that only write are shown to those who ask to read, if there is nothing else.
func TestSearch_ShowsOnlyWritingTools(t *testing.T) {
	x := New(allWords(), slices.Concat(store[:1], store[2:]))
	require.Len(t, answers(t, x, "Show me the settings in the store", 5), 3)
}

func TestSearch_ReadOnlyHintComesBeforeName(t *testing.T) {
	docs := []keyword.Doc{
		{Name: "kv__delete_preview", Description: "Preview of the keys of a store."},
		{Name: "kv__get_preview", Description: "Preview of the keys of a store."},
	}
	const text = "what is in the preview"
	require.Equal(t, "kv__get_preview", answers(t, New(allWords(), docs), text, 1)[0])
	docs[0].Hints = keyword.Hints{ReadOnly: true}
	require.Equal(t, "kv__delete_preview", answers(t, New(allWords(), docs), text, 1)[0])
}

// Only the order of the first five answers depends on the operation.
func TestPreferOperation_KeepsTheSet(t *testing.T) {
	x := New(allWords(), slices.Concat(toolbox, store))
	for _, text := range []string{"show the files in a directory of the store", "delete an issue and a setting", "查询设置", "remove a time zone", "list issues to create"} {
		all, first := answers(t, x, text, 0), answers(t, x, text, reordered)
		require.ElementsMatch(t, all[:min(reordered, len(all))], first, text)
	}
}

func TestSearch_DeprecatedToolsRankBehindSimilarOnes(t *testing.T) {
	docs := []keyword.Doc{
		{Name: "files__list_files", Description: "Deprecated: use show_files. Lists the files of a directory."},
		{Name: "files__show_files", Description: "Replaces the deprecated list. Lists the files of a directory."},
	}
	require.Equal(t, "files__show_files", answers(t, New(allWords(), docs), "files of a directory", 1)[0])
	require.Len(t, answers(t, New(allWords(), docs[:1]), "files of a directory", 1), 1, "it is found if there is no other")
}

func TestSearch_DeprecatedToolRanksBehindItsReplacement(t *testing.T) {
	docs := []keyword.Doc{
		{Name: "desk__list_tickets", Description: "Deprecated, use desk__search_tickets."},
		{Name: "desk__search_tickets", Description: "Finds requests of customers by state, queue and person who works on them."},
		{Name: "desk__open_ticket", Description: "Opens a ticket."},
		{Name: "mail__list_messages", Description: "Lists the messages of a mailbox."},
	}
	x := New(allWords(), docs)
	require.Equal(t, "desk__search_tickets", answers(t, x, "list tickets", 1)[0])
	require.Equal(t, "desk__list_tickets", answers(t, x, "desk__list_tickets", 1)[0], "the query names it")

	docs[0].Description = "Deprecated, use it for old tickets only."
	require.Equal(t, "desk__list_tickets", answers(t, New(allWords(), docs), "list tickets", 1)[0], "no replacement is named")
}
