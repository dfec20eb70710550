// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch_test

// The order of results in a history that was stored from events.

import (
	"strings"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/adktest"
)

func TestHistory_ResultsComeInCallOrder_X13(t *testing.T) {
	playAll(t, scenariosX13())
}

func scenariosX13() []scenario {
	return []scenario{
		{"X-13", "results in another order than their calls", readsOrder[*schema.Message], readsOrder[*schema.AgenticMessage],
			"c b a", "a b c"},
	}
}

// readsOrder returns the ids of the results that the model reads, where the history has them in another order.
func readsOrder[M adk.MessageType](t *testing.T, s implementation[M]) string {
	history := append(userRequest[M](), adktest.Assistant[M]("", toolCall("a", "own"), toolCall("b", "own"), toolCall("c", "own")))
	for _, id := range []string{"c", "b", "a"} {
		history = append(history, adktest.Result[M](id, "own", "result of "+id))
	}
	given := append([]M(nil), history...)
	tr := s.run(history, simpleTools("own"), []adktest.Turn{adktest.Do(toolCall("d", "own"))}, s.mustBuild(t, simpleTools("get_weather")...))
	require.NoError(t, tr.Err)
	require.Equal(t, given, history, "the history of the caller")
	require.Equal(t, resultIDs(tr.wires[0])+" d", resultIDs(tr.wires[1]), "the order stays in the state of the run")
	return resultIDs(tr.wires[0])
}

func resultIDs[M adk.MessageType](w adktest.Wire[M]) string {
	var ids []string
	for _, m := range w.Messages {
		for _, r := range adktest.Results(m) {
			ids = append(ids, r.ID)
		}
	}
	return strings.Join(ids, " ")
}
