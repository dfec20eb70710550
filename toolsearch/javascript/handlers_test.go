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
	"github.com/einolean/einolean/internal/race"
	"github.com/einolean/einolean/reduction"
	"github.com/einolean/einolean/toolsearch"
)

// Whatever handlers of Eino's stand beside, a program reads what its calls returned, and each call
// runs once. Only summarization has a place: behind toolsearch or reduction it never sees what a
// program reads; before both, it summarises that, and the program is told so.
func TestProgramsWorkBesideOtherHandlers(t *testing.T) {
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
			h, summaries, first := others[M](t, s, rand.New(rand.NewPCG(seed, 3)))
			m := adktest.Script[M](program(code, files), adktest.Say("done"))
			out := adktest.Agent[M]{Model: m, Handlers: h, Streaming: streaming}.Run(t.Context(), []M{adktest.User[M]("go")})
			require.NoError(t, out.Err)
			require.Len(t, m.Wires(), 2)
			all := strings.Join(m.Wires()[1].MessagesDump, "\n")
			require.NotContains(t, all, "call(c0.", "no call of a program is left")
			if first {
				require.NotEmpty(t, summaries.Wires())
				require.Contains(t, all, "The call ran and was not repeated")
				require.Less(t, len(s.Times()), 6)
				for _, n := range s.Times() {
					require.Equal(t, 1, n)
				}
				return
			}
			require.Empty(t, summaries.Wires())
			require.Contains(t, all, "400 340003 340014\n(4 calls of list_orders, none failed; 1 call of long, none failed; 1 call of measure, none failed)")
			require.Contains(t, all, "kept")
			require.Len(t, s.Times(), 6)
		})
	}
}

// A handler may replace the conversation while a program runs, with the result of a call beside the
// program in it: that call keeps a result, as providers want.
func TestACallBesideAProgramIsAnsweredWhereItsResultIsLost(t *testing.T) {
	adktest.Both(t, lostBeside[*schema.Message], lostBeside[*schema.AgenticMessage])
}

func lostBeside[M adk.MessageType](t *testing.T, streaming bool) {
	summaries := &adktest.Model[M]{Respond: func(int, adktest.Wire[M]) adktest.Turn { return adktest.Say("THE SUMMARY") }}
	summarize, err := summarization.NewTyped(t.Context(), &summarization.TypedConfig[M]{Model: summaries, Trigger: &summarization.TriggerCondition{ContextTokens: 8_000}})
	require.NoError(t, err)
	search, err := toolsearch.NewTyped[M](t.Context(), config(&shop{}))
	require.NoError(t, err)
	turn := program(`print((await tools.long({customer: 1})).length)`)
	turn.Calls = append(turn.Calls, adktest.ToolCall{ID: "d", Name: "call_tool", Args: `{"name":"measure","arguments":{"text":"x"}}`})
	m := adktest.Script[M](turn, adktest.Say("done"))
	out := adktest.Agent[M]{Model: m, Handlers: []adk.TypedChatModelAgentMiddleware[M]{summarize, search}, Streaming: streaming}.Run(t.Context(), []M{adktest.User[M]("go")})
	require.NoError(t, out.Err)
	require.NotEmpty(t, summaries.Wires())
	results := resultsByCall(t, m.Wires()[1].Messages)
	require.Len(t, results, 2)
	require.Contains(t, results[0], "(1 call of long, 1 failed)", "it was made")
	for _, text := range results {
		require.Contains(t, text, "The call ran and was not repeated")
	}
}

// others are handlers that change a conversation, in random order: they patch it, clear it at once,
// and summarise it when it is long. first says that summarization stands before toolsearch and
// reduction.
func others[M adk.MessageType](t *testing.T, s *shop, r *rand.Rand) (h []adk.TypedChatModelAgentMiddleware[M], summaries *adktest.Model[M], first bool) {
	t.Helper()
	must := func(m adk.TypedChatModelAgentMiddleware[M], err error) adk.TypedChatModelAgentMiddleware[M] {
		require.NoError(t, err)
		return m
	}
	store := filesystem.NewInMemoryBackend()
	summaries = &adktest.Model[M]{Respond: func(int, adktest.Wire[M]) adktest.Turn { return adktest.Say("THE SUMMARY") }}
	const summary, ours = 0, 3 // those from ours on settle programs
	all := []adk.TypedChatModelAgentMiddleware[M]{
		must(summarization.NewTyped(t.Context(), &summarization.TypedConfig[M]{Model: summaries, Trigger: &summarization.TriggerCondition{ContextTokens: 8_000}})),
		must(patchtoolcalls.NewTyped[M](t.Context(), nil)),
		must(fsmiddleware.NewTyped[M](t.Context(), &fsmiddleware.MiddlewareConfig{Backend: store})),
		must(toolsearch.NewTyped[M](t.Context(), config(s))),
		must(reduction.NewTyped(t.Context(), &reduction.TypedConfig[M]{Backend: store, MaxLengthForTrunc: 2_000, MaxTokensForClear: 1})),
	}
	settled := false
	for _, i := range r.Perm(len(all)) {
		h = append(h, all[i])
		first = first || i == summary && !settled
		settled = settled || i >= ours
	}
	return h, summaries, first
}
