// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package programs

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/adktest"
	"github.com/einolean/einolean/internal/toolnames"
	"github.com/einolean/einolean/programs/internal/journal"
)

// Events tell results as they come; a provider wants them in the order of the calls.
func TestRepairHistory_SortsResultsByCall(t *testing.T) {
	adktest.EachType(t, testRepairHistorySorts[*schema.Message], testRepairHistorySorts[*schema.AgenticMessage])
}

func testRepairHistorySorts[M adk.MessageType](t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	g := rand.New(rand.NewPCG(seed, 1))
	for range 300 {
		var calls []adktest.ToolCall
		for i := range 2 + g.IntN(6) {
			name := toolnames.Run
			if i > 0 && g.IntN(2) == 0 {
				name = "search"
			}
			calls = append(calls, adktest.ToolCall{ID: string(rune('a'+i)) + "-call", Name: name, Args: `{}`})
		}
		g.Shuffle(len(calls), func(i, j int) { calls[i], calls[j] = calls[j], calls[i] })
		ask := adktest.Assistant[M]("", calls...)
		var results []M
		for _, c := range calls {
			results = append(results, adktest.Result[M](c.ID, c.Name, "of "+c.ID))
		}
		want := slices.Concat([]M{adktest.User[M]("hello"), ask}, results, []M{adktest.Assistant[M]("done")})
		g.Shuffle(len(results), func(i, j int) { results[i], results[j] = results[j], results[i] })
		told := slices.Concat(want[:2], results, want[len(want)-1:])
		got := repairHistory(told)
		require.Len(t, got, len(want))
		for i := range want {
			require.Equal(t, adktest.Dump(want[i]), adktest.Dump(got[i]), "message %d", i)
		}
	}
}

// An answer in a checkpoint is read as it was saved, also one of a version that did not quote numbers.
func TestResults_JournalDecidesHowTextIsRead(t *testing.T) {
	for _, text := range []string{`12`, `"12"`, `null`} {
		require.Equal(t, text, resultOf(journal.Answer{Number: 1, Tool: "count", Text: text}).Text)
	}
}
