// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package reduction

import (
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/adktest"
)

func TestTurn_BeginsWithAMessageOfTheUsers(t *testing.T) {
	adktest.EachType(t, testTurnBeginsWithAMessageOfTheUsers[*schema.Message],
		testTurnBeginsWithAMessageOfTheUsers[*schema.AgenticMessage])
}

func testTurnBeginsWithAMessageOfTheUsers[M adk.MessageType](t *testing.T) {
	user, system := adktest.User[M]("look"), adktest.System[M]("be good")
	inserted := adktest.WithExtra(adktest.User[M]("a reminder"), map[string]any{"__toolsearch_reminder__": true})
	other := adktest.User[M]("For context: [planner] said: go on")
	call := adktest.Assistant[M]("", adktest.ToolCall{ID: "c", Name: "shell", Args: "{}"})
	result, answer := adktest.Result[M]("c", "shell", "done"), adktest.Assistant[M]("done")
	for name, c := range map[string]struct {
		msgs []M
		want turn
	}{
		"nothing":                      {nil, turn{}},
		"the first message":            {[]M{system, user}, turn{start: 1, previous: 1, isStart: true, hasTurns: true}},
		"a call":                       {[]M{system, user, call}, turn{start: 1, previous: 1, hasTurns: true}},
		"a resumed run":                {[]M{user, call, result}, turn{hasTurns: true}},
		"a reminder inside a turn":     {[]M{user, call, result, inserted}, turn{hasTurns: true}},
		"a reminder at a turn's start": {[]M{user, answer, user, inserted}, turn{start: 2, isStart: true, hasTurns: true}},
		"another agent's message":      {[]M{user, call, result, other}, turn{hasTurns: true}},
		"two messages one after other": {[]M{user, answer, user, user}, turn{start: 2, isStart: true, hasTurns: true}},
		"the third turn": {
			[]M{user, answer, user, call, result, answer, user},
			turn{start: 6, previous: 2, isStart: true, hasTurns: true},
		},
		"results without any user":      {[]M{call, result}, turn{}},
		"a handler's message, no other": {[]M{inserted}, turn{}},
	} {
		got := turnOf(c.msgs)
		require.Equal(t, c.want, got, name)
		require.Equal(t, got.isStart, startsTurn(c.msgs), name)
	}
}
