// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package bm25

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/keyword"
)

// What one tool is about is a parameter of all others.
func TestSearch_NameCountsThoughManyHaveTheWord(t *testing.T) {
	docs := []keyword.Doc{{Name: "subscription_list", Description: "Lists what the current account may use."}}
	for i := range 36 {
		docs = append(docs, keyword.Doc{
			Name: fmt.Sprintf("resource%d_list", i), Description: "Shows my resources of one kind.",
			Params: []keyword.Param{{Name: "subscription", Description: "The subscription, one of my subscriptions."}},
		})
	}
	require.Contains(t, answers(t, New(allWords(), docs), "Show me my subscriptions", 3), "subscription_list")
}
