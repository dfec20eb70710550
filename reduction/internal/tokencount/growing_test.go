// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package tokencount

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/adktest"
	"github.com/einolean/einolean/internal/dev/race"
	"github.com/einolean/einolean/reduction/internal/rounds"
)

// Whatever is added and replaced, the size is the one that a new run would estimate.
func TestGrowing_SizeLikeThatOfANewRun(t *testing.T) {
	adktest.EachType(t, testGrowingSizeLikeThatOfANewRun[*schema.Message], testGrowingSizeLikeThatOfANewRun[*schema.AgenticMessage])
}

func testGrowingSizeLikeThatOfANewRun[M adk.MessageType](t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 1))
	e, corrected := new(Estimator[M]), 0
	for range race.Cases(300) {
		threshold, factor := []int64{50, 400, 1 << 40}[r.IntN(3)], []float64{0, 0, 1.3}[r.IntN(3)]
		g := e.Grow(threshold, factor)
		tools := []*schema.ToolInfo{{Name: "shell", Desc: "runs"}}[:r.IntN(2)]
		definitions := int64(0)
		for _, info := range tools {
			definitions += e.ToolTokens(info)
		}
		var msgs []M
		for range 3 + r.IntN(20) {
			text := strings.Repeat(fmt.Sprint("word ", r.IntN(100), " "), 1+r.IntN(30))
			m := adktest.User[M](text)
			switch r.IntN(3) {
			case 0:
				reported := int(1.2 * float64(e.Count(msgs, tools)))
				m = adktest.Reporting(adktest.Assistant[M](text, adktest.ToolCall{ID: "c", Name: "shell", Args: "{}"}), reported)
			case 1:
				m = adktest.Result[M]("c", "shell", text)
			}
			msgs = append(msgs, m)
			g.Add(m)
			if i := r.IntN(len(msgs)); r.IntN(6) == 0 && adktest.Role(msgs[i]) == "tool" {
				notice := "<persisted-output>Old result (99 bytes), saved in full to: /tmp/clear/c\n</persisted-output>"
				msgs[i] = adktest.Result[M]("c", "shell", notice)
				g.Replace(i, msgs[i])
			} else if r.IntN(6) == 0 && adktest.Role(msgs[i]) == "assistant" {
				msgs[i] = rounds.Apply(msgs[i], rounds.Edit{Mark: true})
				g.Mark(i)
			}
			run := new(Tracker)
			run.Fix(factor)
			want := e.Size(run, msgs, tools, threshold, -1)
			got := g.Size(definitions)
			require.Equal(t, want, got, "seed %d", seed)
			require.Equal(t, e.Count(msgs, tools), g.Uncorrected(definitions), "seed %d", seed)
			require.Equal(t, RoughSizes(msgs), g.Rough(), "seed %d", seed)
			require.True(t, g.MayReach(definitions, got.Tokens), "seed %d", seed)
			if got.Factor != 1 && factor == 0 {
				corrected++
			}
		}
	}
	require.NotZero(t, corrected)
}
