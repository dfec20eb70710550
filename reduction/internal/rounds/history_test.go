// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package rounds

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/adktest"
	"github.com/einolean/einolean/internal/dev/race"
)

// Rounds that are read again after an edit are those of the edited messages.
func TestHistory_RereadLikeSplit(t *testing.T) {
	adktest.EachType(t, testHistoryRereadLikeSplit[*schema.Message], testHistoryRereadLikeSplit[*schema.AgenticMessage])
}

func testHistoryRereadLikeSplit[M adk.MessageType](t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 1))
	for range race.Cases(500) {
		var msgs []M
		var h History[M]
		add := func(m M) {
			msgs = append(msgs, m)
			h.Add(m)
		}
		for i := range 2 + r.IntN(6) {
			var calls []adktest.ToolCall
			for range 1 + r.IntN(3) {
				calls = append(calls, adktest.ToolCall{ID: fmt.Sprint("c", r.IntN(8)), Name: "shell", Args: fmt.Sprint(i)})
			}
			add(adktest.Assistant[M]("", calls...))
			for _, c := range calls {
				if r.IntN(5) > 0 {
					add(adktest.Result[M](c.ID, c.Name, fmt.Sprint("result ", r.IntN(100))))
				}
			}
			all := h.Rounds()
			round := all[r.IntN(len(all))]
			edit := Edit{Mark: true, Args: map[int]string{round.Pairs[0].Call.Index: "new"}}
			msgs[round.MessageIndex] = Apply(msgs[round.MessageIndex], edit)
			for _, pair := range round.Pairs {
				if pair.HasResult {
					edit := Edit{Results: []Replacement{{Index: pair.Result.Index, Text: "short"}}}
					msgs[pair.MessageIndex] = Apply(msgs[pair.MessageIndex], edit)
				}
			}
			h.Reread(round.MessageIndex, msgs)
			require.Equal(t, Split(msgs), h.Rounds(), "seed %d", seed)
		}
	}
}
