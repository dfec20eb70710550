// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package digest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/continuation"
	"github.com/einolean/einolean/internal/dev/adktest"
	"github.com/einolean/einolean/internal/message"
)

// turn is a message, as plain data.
type turn struct{ kind, id, text string }

func (t turn) as(n int) turn { return turn{t.kind, t.id, fmt.Sprint(t.text, " changed ", n)} }

// conversation is made up: calls with their results, in the order of the calls.
func conversation(r *rand.Rand) (out []turn) {
	out = []turn{{"system", "", "be good"}, {"user", "", "go"}}
	for i := range 1 + r.IntN(4) {
		calls := 1 + r.IntN(3)
		for j := range calls {
			out = append(out, turn{"call", fmt.Sprint(i, "-", j), fmt.Sprint("args", r.IntN(3))})
		}
		for j := range calls {
			out = append(out, turn{"result", fmt.Sprint(i, "-", j), fmt.Sprint("result", r.IntN(3))})
		}
		if r.IntN(2) == 0 {
			out = append(out, turn{"user", "", fmt.Sprint("more", r.IntN(3))})
		}
	}
	return out
}

func messages[M adk.MessageType](turns []turn) (out []M) {
	for _, t := range turns {
		switch t.kind {
		case "system":
			out = append(out, adktest.System[M](t.text))
		case "user":
			out = append(out, adktest.User[M](t.text))
		case "call":
			out = append(out, adktest.Assistant[M]("", adktest.ToolCall{ID: t.id, Name: "shell", Args: t.text}))
		case "result":
			out = append(out, adktest.Result[M](t.id, "shell", t.text))
		}
	}
	return out
}

func TestGuard_MarkCoversAllEarlierMessages(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	t.Run("Message", func(t *testing.T) { tellsAll(t, rand.New(rand.NewPCG(seed, 1)), messages[*schema.Message]) })
	t.Run("AgenticMessage", func(t *testing.T) { tellsAll(t, rand.New(rand.NewPCG(seed, 1)), messages[*schema.AgenticMessage]) })
}

func tellsAll[M adk.MessageType](t *testing.T, r *rand.Rand, made func([]turn) []M) {
	keeper := NewGuard[M](nil)
	mark := func(turns []turn) string { return keeper.Mark(made(turns), continuation.SignedThinking) }
	for n := range 80 {
		turns := conversation(r)
		is := mark(turns)
		require.Equal(t, is, mark(slices.Clone(turns)), "it is the same again")

		at := r.IntN(len(turns))
		changed := slices.Clone(turns)
		changed[at] = changed[at].as(n)
		require.NotEqual(t, is, mark(changed), "message %d of %v", at, turns)
		require.NotEqual(t, is, mark(slices.Delete(slices.Clone(turns), at, at+1)), "without message %d of %v", at, turns)

		shuffled := slices.Clone(turns)
		for i := 1; i < len(shuffled); i++ {
			if shuffled[i].kind == "result" && shuffled[i-1].kind == "result" && r.IntN(2) == 0 {
				shuffled[i], shuffled[i-1] = shuffled[i-1], shuffled[i]
			}
		}
		require.Equal(t, is, mark(shuffled), "parallel calls end in any order: %v", turns)

		// What is marked is stale once something before it is another, and only then.
		stale := func(now []turn) bool { return keeper.Stale(made(now))(at, continuation.Stored, mark(turns[:at])) }
		require.False(t, stale(turns))
		for i := range turns {
			other := slices.Clone(turns)
			other[i] = other[i].as(n)
			require.Equal(t, i < at, stale(other), "message %d, seen from %d of %v", i, at, turns)
		}
	}
}

func TestMarkForeign_MarksOnlyAnswersWithState(t *testing.T) {
	t.Run("Message", testMarkForeign[*schema.Message])
	t.Run("AgenticMessage", testMarkForeign[*schema.AgenticMessage])
}

func testMarkForeign[M adk.MessageType](t *testing.T) {
	plain := adktest.Assistant[M]("an answer")
	require.Same(t, plain, MarkForeign([]M{plain}, 0)[0], "it has no state")

	stored := func() M {
		return message.WithExtra(adktest.Assistant[M]("an answer"), map[string]any{"_eino_ext_agenticopenai_auto_cached": true})
	}
	early, own, late := stored(), continuation.Marked(stored(), sessionKey, "digest"), stored()
	out := MarkForeign([]M{early, own, late}, 1)
	require.Same(t, early, out[0], "it stands before the change")
	require.Same(t, own, out[1], "it has a mark")
	require.Equal(t, anotherRequest, continuation.MarkOf(out[2], sessionKey))
	require.Empty(t, continuation.MarkOf(late, sessionKey), "messages do not change")
}
