// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package message

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"
)

func TestInCallOrder_MovesResultsOfABatch(t *testing.T) {
	t.Run("plain", testInCallOrderMovesResultsOfABatch[*schema.Message])
	t.Run("agentic", testInCallOrderMovesResultsOfABatch[*schema.AgenticMessage])
}

// A history is written as words: calls "?a,b", a result "a", a user's message
// "user", and a nil message "nil".
func testInCallOrderMovesResultsOfABatch[M adk.MessageType](t *testing.T) {
	for _, c := range []struct {
		name    string
		history []string
		want    []string // nil: as it is
	}{
		{"empty", nil, nil},
		{"in order", []string{"user", "?a,b,c", "a", "b", "c", "user"}, nil},
		{"reversed", []string{"user", "?a,b,c", "c", "b", "a", "user"}, []string{"user", "?a,b,c", "a", "b", "c", "user"}},
		{"two batches", []string{"?a,b", "b", "a", "?c,d", "d", "c"}, []string{"?a,b", "a", "b", "?c,d", "c", "d"}},
		{"the second batch", []string{"?a,b", "a", "b", "?a,b", "b", "a"}, []string{"?a,b", "a", "b", "?a,b", "a", "b"}},
		{"one result is missing", []string{"?a,b,c", "c", "a"}, []string{"?a,b,c", "a", "c"}},
		{"a user's message ends the batch", []string{"?a,b,c", "c", "b", "user", "a"}, []string{"?a,b,c", "b", "c", "user", "a"}},
		{"a nil message ends the batch", []string{"?a,b", "b", "nil", "a"}, nil},
		{"no calls before", []string{"user", "b", "a"}, nil},
		{"results first", []string{"b", "a"}, nil},
		{"a result of no call", []string{"?a,b", "b", "x", "a"}, []string{"?a,b", "a", "x", "b"}},
		{"no ids", []string{"?,", "", ""}, nil},
		{"a result without an id", []string{"?a,b", "b", "", "a"}, []string{"?a,b", "a", "", "b"}},
		{"an id of two calls", []string{"?a,x,x,b", "b", "x", "x", "a"}, []string{"?a,x,x,b", "a", "x", "x", "b"}},
		{"two results of a call", []string{"?a,b", "b", "a", "b", "a"}, []string{"?a,b", "a", "a", "b", "b"}},
		{"two results of a call, in order", []string{"?a,b", "a", "a", "b"}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			history := make([]M, len(c.history))
			for i, word := range c.history {
				history[i] = wordMessage[M](word)
			}
			got := InCallOrder(history)
			if c.want == nil {
				require.True(t, SameSlice(history, got))
				return
			}
			require.Equal(t, c.want, words(got))
			require.Equal(t, c.history, words(history), "the input")
		})
	}
}

// TestInCallOrder_KeepsMixedMessages: a message with results and other content ends a batch.
func TestInCallOrder_KeepsMixedMessages(t *testing.T) {
	calls := NewCallMessage[*schema.AgenticMessage]([]ToolCall{{ID: "a"}, {ID: "b"}, {ID: "c"}, {ID: "d"}})
	result := func(parts ...Part) *schema.AgenticMessage { return New[*schema.AgenticMessage](schema.Tool, parts...) }
	part := func(id string) Part { return NewResult(id, "t", NewText("result of "+id)) }
	a, b, both := part("a"), part("b"), result(part("c"), part("d"))
	mixed := []*schema.AgenticMessage{calls, result(b), result(a, NewText("and another question"))}
	require.True(t, SameSlice(mixed, InCallOrder(mixed)))

	moved := InCallOrder([]*schema.AgenticMessage{calls, both, result(b), result(a)})
	require.Same(t, both, moved[3], "a message with several results moves as a whole")
}

// TestInCallOrder_Invariants: over random histories, nothing is lost, only results within their batch move, the results
// with a clear id are in order, and a second pass changes nothing.
func TestInCallOrder_Invariants(t *testing.T) {
	t.Run("plain", testInCallOrderInvariants[*schema.Message])
	t.Run("agentic", testInCallOrderInvariants[*schema.AgenticMessage])
}

func testInCallOrderInvariants[M adk.MessageType](t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	changed := 0
	for range 20_000 {
		history := make([]M, r.IntN(14))
		for i := range history {
			history[i] = wordMessage[M](randomWord(r))
		}
		given, before := slices.Clone(history), words(history)
		got := InCallOrder(history)
		require.Equal(t, before, words(history), "the messages of the input")
		require.True(t, slices.Equal(given, history), "the input")
		require.ElementsMatch(t, pointers(given), pointers(got), "%q", before)
		require.True(t, SameSlice(got, InCallOrder(got)), "a second pass changes %q", words(got))
		require.Equal(t, slices.Equal(given, got), SameSlice(given, got) || SameSlice(history, got), "%q: a copy without a change", before)
		requireBatchesInOrder(t, history, got)
		if !slices.Equal(given, got) {
			changed++
		}
	}
	require.Greater(t, changed, 500)
}

// requireBatchesInOrder checks each message of a history that was ordered. It knows what a batch is by itself.
func requireBatchesInOrder[M adk.MessageType](t *testing.T, before, after []M) {
	t.Helper()
	var ids []string // of the calls of the batch, each that is clear
	var group []M    // results of the batch so far
	last := -1
	for i, m := range after {
		if results := Results(m); len(results) > 0 {
			position := slices.Index(ids, results[0].ID())
			if position >= 0 {
				require.GreaterOrEqual(t, position, last, "%q of %q", words(after), words(before))
				last = position
			} else {
				require.True(t, before[i] == m, "a result without a clear id moved: %q of %q", words(after), words(before))
			}
			group = append(group, m)
			continue
		}
		require.True(t, before[i] == m, "%q of %q", words(after), words(before))
		require.ElementsMatch(t, pointers(before[i-len(group):i]), pointers(group), "a result left its batch")
		ids, group, last = clearIDs(m), nil, -1
	}
}

// clearIDs returns the ids of calls, without those that are empty or occur twice.
func clearIDs[M adk.MessageType](m M) (ids []string) {
	counts := map[string]int{}
	for _, c := range Calls(m) {
		counts[c.ID]++
	}
	for _, c := range Calls(m) {
		if c.ID != "" && counts[c.ID] == 1 {
			ids = append(ids, c.ID)
		}
	}
	return ids
}

func TestInCallOrder_AllocatesNothingInOrder(t *testing.T) {
	t.Run("plain", testInCallOrderAllocatesNothingInOrder[*schema.Message])
	t.Run("agentic", testInCallOrderAllocatesNothingInOrder[*schema.AgenticMessage])
}

func testInCallOrderAllocatesNothingInOrder[M adk.MessageType](t *testing.T) {
	var history []M
	for range 100 {
		for _, word := range []string{"user", "?a,b,c", "a", "b", "c", "?d", "d"} {
			history = append(history, wordMessage[M](word))
		}
	}
	require.Zero(t, testing.AllocsPerRun(10, func() { InCallOrder(history) }))
}

func BenchmarkInCallOrder(b *testing.B) {
	b.Run("plain", benchmarkInCallOrder[*schema.Message])
	b.Run("agentic", benchmarkInCallOrder[*schema.AgenticMessage])
}

func benchmarkInCallOrder[M adk.MessageType](b *testing.B) {
	var history []M
	for range 200 {
		for _, word := range []string{"?a,b,c", "a", "b", "c", "user"} {
			history = append(history, wordMessage[M](word))
		}
	}
	for b.Loop() {
		InCallOrder(history)
	}
}

// wordMessage makes a message of a word, see testInCallOrderMovesResultsOfABatch.
func wordMessage[M adk.MessageType](word string) M {
	switch {
	case word == "nil":
		return *new(M)
	case word == "user":
		return New[M](schema.User, NewText(word))
	case strings.HasPrefix(word, "?"):
		var calls []ToolCall
		for _, id := range strings.Split(word[1:], ",") {
			calls = append(calls, ToolCall{ID: id, Name: "t"})
		}
		return NewCallMessage[M](calls)
	}
	return NewResultMessage[M](word, "t", NewText("result of "+word))
}

// words are the messages as words.
func words[M adk.MessageType](msgs []M) []string {
	list := make([]string, len(msgs))
	for i, m := range msgs {
		var ids []string
		for _, c := range Calls(m) {
			ids = append(ids, c.ID)
		}
		switch results := Results(m); {
		case IsNil(m):
			list[i] = "nil"
		case len(results) > 0:
			list[i] = results[0].ID()
		case ids != nil:
			list[i] = "?" + strings.Join(ids, ",")
		default:
			list[i] = "user"
		}
	}
	return list
}

// randomWord is mostly a call or a result, of few ids.
func randomWord(r *rand.Rand) string {
	ids := []string{"a", "b", "c", "d", ""}
	switch n := r.IntN(20); {
	case n == 0:
		return "nil"
	case n == 1:
		return "user"
	case n < 5:
		calls := make([]string, 1+r.IntN(5))
		for i := range calls {
			calls[i] = ids[r.IntN(len(ids))]
		}
		return "?" + strings.Join(calls, ",")
	}
	return ids[r.IntN(len(ids))]
}

// pointers are the addresses of messages, for comparison by identity.
func pointers[M adk.MessageType](msgs []M) []string {
	list := make([]string, len(msgs))
	for i, m := range msgs {
		list[i] = fmt.Sprintf("%p", m)
	}
	return list
}
