// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package history

import (
	"context"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/continuation"
	"github.com/einolean/einolean/internal/dev/adktest"
)

func TestContinuationGuard_FollowsMovedMessages(t *testing.T) {
	adktest.EachType(t, testMoved[*schema.Message], testMoved[*schema.AgenticMessage])
}

// Signed thinking depends on the texts of this middleware before it. Where a later handler inserts messages, these are
// still the same texts.
func testMoved[M adk.MessageType](t *testing.T) {
	const answer = 2
	msgs := []M{NewReminder[M](lists[0]), adktest.User[M]("please"), adktest.Assistant[M]("thought"), NewReminder[M](lists[1]), adktest.User[M]("and")}
	before := Request[M]{list: lists[0], messages: msgs[:answer], ownPositions: []int{0}}
	mark := before.ContinuationGuard(nil).Mark(nil, continuation.SignedThinking)
	after := Request[M]{list: lists[0], messages: msgs, ownPositions: []int{0, 3}}.ContinuationGuard(func(context.Context) {})
	for inserted := range 4 {
		var moved []M
		for range inserted {
			moved = append(moved, adktest.User[M]("of a later handler"))
		}
		moved = append(moved, msgs...)
		require.False(t, after.Stale(moved)(inserted+answer, continuation.SignedThinking, mark), "%d inserted messages", inserted)
		require.True(t, after.Stale(moved)(inserted+answer+2, continuation.SignedThinking, mark), "%d inserted messages", inserted)
	}
}

func TestUsage_KeepsProviderSearchAfterOtherResults(t *testing.T) {
	u := Usage{isSent: true}
	u.Add(Content{IsAnswer: true, HasProviderSearch: true, Calls: []Call{{ID: "1", Name: "own"}}}, nil, testAgent{})
	require.True(t, u.HasProviderSearch)
	u.Add(Content{Results: []Result{{ID: "1", Name: "own", Text: "done"}}}, nil, testAgent{})
	require.True(t, u.HasProviderSearch)
}
