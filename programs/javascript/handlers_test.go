// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package javascript_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/adk/filesystem"
	fsmiddleware "github.com/cloudwego/eino/adk/middlewares/filesystem"
	"github.com/cloudwego/eino/adk/middlewares/patchtoolcalls"
	"github.com/cloudwego/eino/adk/middlewares/summarization"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/adktest"
	"github.com/einolean/einolean/internal/dev/race"
	"github.com/einolean/einolean/reduction"
)

// Whatever handlers of Eino's stand behind, in any order, a program reads what its calls returned, each
// call runs once, and summarization sees none of it.
//
//claim:handlers-10
func TestPrograms_WorkBesideOtherHandlers(t *testing.T) {
	adktest.Both(t, besideOthers[*schema.Message], besideOthers[*schema.AgenticMessage])
}

func besideOthers[M adk.MessageType](t *testing.T, streaming bool) {
	const code = `let sum = 0
for (let c = 0; c < 4; c++) { const o = await tools.list_orders({customer: c}); sum += o.length }
const text = await tools.long({customer: 1})
print(sum, text.length, (await tools.measure({text})).bytes)`
	const files = `await tools.write_file({file_path: "/a.txt", content: "kept"}); print(await tools.read_file({file_path: "/a.txt"}))`
	for seed := range uint64(race.Cases(10)) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			s := &shop{}
			h, summaries := others[M](t, s, rand.New(rand.NewPCG(seed, 3)))
			turn := program(code, files)
			turn.Calls = append(turn.Calls, adktest.ToolCall{ID: "d", Name: "call_tool", Args: `{"name":"measure","arguments":{"text":"beside"}}`})
			m := adktest.Script[M](turn, adktest.Say("done"))
			out := adktest.Agent[M]{Model: m, Handlers: h, Streaming: streaming}.Run(t.Context(), []M{adktest.User[M]("go")})
			require.NoError(t, out.Err)
			require.Len(t, m.Wires(), 2)
			all := strings.Join(m.Wires()[1].MessagesDump, "\n")
			require.NotContains(t, all, "call(c0.", "no call of a program is left")
			require.Empty(t, summaries.Wires())
			require.Contains(t, all, "400 340003 340014")
			require.Contains(t, all, "kept")
			require.Len(t, s.Times(), 7)
		})
	}
}

// others are programs first, and handlers that change a conversation, in random order: they patch it,
// clear it at once, and summarise it when it is long.
func others[M adk.MessageType](t *testing.T, s *shop, r *rand.Rand) (h []adk.TypedChatModelAgentMiddleware[M], summaries *adktest.Model[M]) {
	t.Helper()
	must := func(m adk.TypedChatModelAgentMiddleware[M], err error) adk.TypedChatModelAgentMiddleware[M] {
		require.NoError(t, err)
		return m
	}
	store := filesystem.NewInMemoryBackend()
	summaries = &adktest.Model[M]{Respond: func(int, adktest.Wire[M]) adktest.Turn { return adktest.Say("THE SUMMARY") }}
	ours := handlers[M](t, config(s))
	all := []adk.TypedChatModelAgentMiddleware[M]{
		must(summarization.NewTyped(t.Context(), &summarization.TypedConfig[M]{Model: summaries, Trigger: &summarization.TriggerCondition{ContextTokens: 8_000}})),
		must(patchtoolcalls.NewTyped[M](t.Context(), nil)),
		must(fsmiddleware.NewTyped[M](t.Context(), &fsmiddleware.MiddlewareConfig{Backend: store})),
		ours[1],
		must(reduction.NewTyped(t.Context(), &reduction.TypedConfig[M]{Backend: store, MaxLengthForTrunc: 2_000, MaxTokensForClear: 1})),
	}
	h = ours[:1]
	for _, i := range r.Perm(len(all)) {
		h = append(h, all[i])
	}
	return h, summaries
}
