// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package reduction

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/leanctx/leanctx"
	"github.com/leanctx/leanctx/internal/adktest"
	"github.com/leanctx/leanctx/internal/race"
)

// bothTypes runs a test for both message types.
func bothTypes(t *testing.T, plain, agentic func(*testing.T)) {
	t.Run("Message", plain)
	t.Run("AgenticMessage", agentic)
}

// reporting returns a copy of an answer with the provider's count in it.
func reporting[M adk.MessageType](m M, prompt int) M {
	switch m := any(m).(type) {
	case *schema.Message:
		out := *m
		out.ResponseMeta = &schema.ResponseMeta{Usage: &schema.TokenUsage{PromptTokens: prompt}}
		return any(&out).(M)
	case *schema.AgenticMessage:
		out := *m
		out.ResponseMeta = &schema.AgenticResponseMeta{TokenUsage: &schema.TokenUsage{PromptTokens: prompt}}
		return any(&out).(M)
	}
	panic("no such type")
}

// charged is a conversation of n rounds with a provider that counts ratio times the
// estimate.
func charged[M adk.MessageType](n int, ratio float64) []M {
	e, out := newEstimator[M](), []M{adktest.User[M]("look into it")}
	sent := e.count(out, nil)
	for i := range n {
		id := fmt.Sprint("call_", i)
		round := []M{
			reporting(adktest.Assistant[M]("", adktest.ToolCall{ID: id, Name: "shell", Args: `{}`}), int(ratio*float64(sent))),
			adktest.Result[M](id, "shell", strings.Repeat(fmt.Sprintf("line %d of what the tool says\n", i), 200)),
		}
		sent += e.count(round, nil)
		out = append(out, round...)
	}
	return out
}

// looked runs the hook in a new run and returns the messages and what the pass said.
func looked[M adk.MessageType](t *testing.T, c *TypedConfig[M], msgs []M) ([]M, *leanctx.Pass) {
	t.Helper()
	var pass *leanctx.Pass
	c.Backend = NewMemoryBackend(0)
	c.OnEvent = func(_ context.Context, e leanctx.Event) {
		if e.Pass != nil {
			pass = e.Pass
		}
	}
	mw, err := NewTyped(context.Background(), c)
	require.NoError(t, err)
	ctx, _, err := mw.BeforeAgent(context.Background(), &adk.ChatModelAgentContext{})
	require.NoError(t, err)
	_, state, err := mw.BeforeModelRewriteState(ctx, &adk.TypedChatModelAgentState[M]{Messages: msgs}, nil)
	require.NoError(t, err)
	return state.Messages, pass
}

func TestWhatTheProviderReportsCorrectsTheEstimate(t *testing.T) {
	bothTypes(t, corrects[*schema.Message], corrects[*schema.AgenticMessage])
}

func corrects[M adk.MessageType](t *testing.T) {
	for _, ratio := range []float64{.7, .9, 1, 1.3, 1.7} {
		msgs := charged[M](12, ratio)
		want := ratio * float64(newEstimator[M]().count(msgs, nil))
		_, pass := looked(t, &TypedConfig[M]{MaxTokensForClear: int64(want * 1.02)}, msgs)
		require.Nil(t, pass, "below the threshold in the provider's tokens: %v", ratio)
		_, pass = looked(t, &TypedConfig[M]{MaxTokensForClear: int64(want * .98)}, msgs)
		require.NotNil(t, pass, "above it: %v", ratio)
		require.InEpsilon(t, want, pass.Before, .01)
		// What clearing saves is in the same tokens.
		_, pass = looked(t, &TypedConfig[M]{MaxTokensForClear: int64(want * .98), ClearTargetTokens: int64(want / 2)}, msgs)
		require.Less(t, float64(pass.After), want/2)
		require.Greater(t, float64(pass.After), want*.4)
		require.EqualValues(t, 7, pass.Cleared, "of 12: %v", ratio)
	}
}

func TestACountOfAnotherRequestCorrectsNothing(t *testing.T) {
	bothTypes(t, ofOthers[*schema.Message], ofOthers[*schema.AgenticMessage])
}

func ofOthers[M adk.MessageType](t *testing.T) {
	e := newEstimator[M]()
	whole := charged[M](40, 1)
	all := float64(e.count(whole, nil))
	factor := func(msgs []M, threshold float64) float64 {
		_, f := e.corrected(&counted{}, msgs, nil, int64(threshold))
		return f
	}
	// A history that was kept whole, of a conversation in which old results were
	// cleared when it had half of its tokens: later answers report what was left.
	kept := slices.Clone(whole)
	for i := len(kept) / 2; i < len(kept); i++ {
		if strings.Contains(fmt.Sprint(adktest.Calls(kept[i])), "call_") {
			kept[i] = reporting(kept[i], int(all/4))
		}
	}
	require.InDelta(t, 1, factor(kept, all/2), .01)
	// The same, kept as it was sent.
	sent, pass := looked(t, &TypedConfig[M]{MaxTokensForClear: int64(all / 2)}, charged[M](40, 1.4))
	require.Positive(t, pass.Cleared)
	require.Equal(t, 1., factor(sent, all*2), "behind a notice no request stands as it was sent")
	// Reports of something else, and of one answer.
	require.Equal(t, 1., factor(charged[M](10, 3), all*2))
	require.Equal(t, 1., factor(charged[M](10, .1), all*2))
	require.Equal(t, 1., factor(charged[M](1, 1.4), all*2))
	require.InDelta(t, 1.4, factor(charged[M](2, 1.4), all*2), .05)
	// One that is off among three.
	odd := charged[M](10, 1.2)
	odd[19] = reporting(odd[19], int(1.7*float64(e.count(odd[:19], nil))))
	require.InDelta(t, 1.2, factor(odd, all*2), .05)
}

func TestAnswersAfterAClearingInTheSameRunCount(t *testing.T) {
	bothTypes(t, afterAClearing[*schema.Message], afterAClearing[*schema.AgenticMessage])
}

func afterAClearing[M adk.MessageType](t *testing.T) {
	e := newEstimator[M]()
	msgs := charged[M](10, 1)
	mw, err := NewTyped(context.Background(), &TypedConfig[M]{Backend: NewMemoryBackend(0), MaxTokensForClear: e.count(msgs, nil)})
	require.NoError(t, err)
	ctx, _, err := mw.BeforeAgent(context.Background(), &adk.ChatModelAgentContext{})
	require.NoError(t, err)
	hook := func(msgs []M) []M {
		_, state, err := mw.BeforeModelRewriteState(ctx, &adk.TypedChatModelAgentState[M]{Messages: msgs}, nil)
		require.NoError(t, err)
		return state.Messages
	}
	out := hook(msgs)
	require.NotEqual(t, msgs, out)
	run := mw.(*middleware[M]).clear.policy.begun(ctx).texts()
	for i := range 3 {
		id := fmt.Sprint("later_", i)
		out = append(slices.Clone(out), reporting(adktest.Assistant[M]("", adktest.ToolCall{ID: id, Name: "shell", Args: `{}`}), int(1.5*float64(e.count(out, nil)))), adktest.Result[M](id, "shell", "done"))
		out = hook(out)
	}
	_, factor := e.corrected(run, out, nil, 1<<40)
	require.InDelta(t, 1.5, factor, .02)
}

// A text is known by where it is: whatever happens to a history, the estimate in a run
// is that of the same messages outside of one.
func TestWhatARunKnowsOfItsTextsIsRight(t *testing.T) {
	bothTypes(t, knows[*schema.Message], knows[*schema.AgenticMessage])
}

func knows[M adk.MessageType](t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 1))
	e := newEstimator[M]()
	next := func() M {
		text := strings.Repeat(fmt.Sprint("word ", r.IntN(1000), " "), 1+r.IntN(5))
		switch r.IntN(3) {
		case 0:
			return adktest.User[M](text)
		case 1:
			return adktest.Assistant[M](text, adktest.ToolCall{ID: "c", Name: "shell", Args: fmt.Sprintf(`{"n":%d}`, r.IntN(100))})
		}
		return adktest.Result[M]("c", "shell", text)
	}
	for range race.Cases(2000) {
		run := &counted{}
		var msgs []M
		for range 6 + r.IntN(6) {
			switch at := r.IntN(len(msgs) + 1); r.IntN(8) {
			case 0:
				msgs = slices.Insert(slices.Clone(msgs), at, next())
			case 1:
				msgs = slices.Delete(slices.Clone(msgs), at, min(len(msgs), at+r.IntN(4)))
			case 2:
				if at < len(msgs) {
					msgs = slices.Clone(msgs)
					msgs[at] = next()
				}
			default:
				msgs = append(msgs, next())
			}
			tools := []*schema.ToolInfo{{Name: "shell", Desc: "runs"}, {Name: fmt.Sprint("tool ", r.IntN(3))}}[:r.IntN(3)]
			got, _ := e.corrected(run, msgs, tools, 1<<40)
			require.Equal(t, e.count(msgs, tools), got, "seed %d", seed)
		}
	}
}

// One context may serve several model calls at once: each counts right, with the run's
// knowledge or without.
func TestModelCallsOfOneRunMayCountAtTheSameTime(t *testing.T) {
	bothTypes(t, atOnce[*schema.Message], atOnce[*schema.AgenticMessage])
}

func atOnce[M adk.MessageType](t *testing.T) {
	e, run := newEstimator[M](), &counted{}
	var wg sync.WaitGroup
	for i := range 8 {
		msgs := charged[M](10+i, 0)
		want := e.count(msgs, nil)
		wg.Go(func() {
			for range 20 {
				if got, _ := e.corrected(run, msgs, nil, 1<<40); got != want {
					t.Errorf("%d tokens, want %d", got, want)
				}
				run.edited(len(msgs))
			}
		})
	}
	wg.Wait()
}

func TestATextIsReadOnceInARun(t *testing.T) {
	bothTypes(t, readOnce[*schema.Message], readOnce[*schema.AgenticMessage])
}

func readOnce[M adk.MessageType](t *testing.T) {
	e, run, msgs := newEstimator[M](), &counted{}, charged[M](20, 0)
	first, _ := e.corrected(run, msgs, nil, 1<<40)
	for i := range run.texts.known {
		run.texts.known[i].tokens += 1000 // a text that is read again counts less
	}
	known := int64(len(run.texts.known)) * 1000
	again, _ := e.corrected(run, msgs, nil, 1<<40)
	require.Equal(t, first+known, again)
	hello := adktest.User[M]("hello")
	for name, changed := range map[string][]M{
		"behind": append(slices.Clone(msgs), hello), "before": append([]M{hello}, msgs...), "between": slices.Insert(slices.Clone(msgs), 7, hello),
	} {
		got, _ := e.corrected(run, changed, nil, 1<<40)
		require.Equal(t, again+e.count([]M{hello}, nil), got, name)
		got, _ = e.corrected(run, msgs, nil, 1<<40)
		require.Equal(t, again, got, name)
	}
}
