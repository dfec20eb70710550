// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package replay

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/race"
	"github.com/einolean/einolean/reduction"
	"github.com/einolean/einolean/store"
)

// sample is every fifteenth invented run, except for the longest. To invent all takes ten seconds.
var sample = sync.OnceValue(func() (out []Recorded) {
	n := 0
	_ = Invent(func(r Recorded) error {
		if n++; n%15 == 0 && size(r) <= 500_000 {
			out = append(out, r)
		}
		return nil
	})
	return out
})

func TestSample_IsNotSmall(t *testing.T) { require.Greater(t, len(sample()), 12) }

func size(r Recorded) (n int) {
	for _, m := range r.Conversation.Messages() {
		n += len(m.Content)
	}
	return n
}

// The golden file holds the cost of the sampled runs under each policy, to two digits.
func TestPolicies_GoldenBills(t *testing.T) {
	race.Skip(t, "replays every sampled run under every policy")
	var got strings.Builder
	for _, share := range []float64{0, .48} {
		table := NewTable(Policies())
		for _, r := range sample() {
			bills, err := Each(context.Background(), r.Conversation, Policies(), Options{ReadBacks: share})
			require.NoError(t, err, r.Name)
			table.Add(r, bills)
		}
		fmt.Fprintf(&got, "%.0f %% of the cut results read back\n%s\n", share*100, table)
	}
	const file = "testdata/bills.golden.txt"
	if os.Getenv("EINOLEAN_UPDATE") != "" {
		require.NoError(t, os.WriteFile(file, []byte(got.String()), 0o644))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, string(want), got.String(), "EINOLEAN_UPDATE=1 rewrites it")
}

// rounds is a conversation of n calls that return what result says.
func rounds(n int, result func(i int) string) []*schema.Message {
	msgs := []*schema.Message{schema.UserMessage("look")}
	for i := range n {
		msgs = append(msgs, schema.AssistantMessage("", []schema.ToolCall{{ID: "same", Function: schema.FunctionCall{Name: "shell", Arguments: fmt.Sprintf(`{"n":%d}`, i)}}}),
			schema.ToolMessage(result(i), "same"))
	}
	return append(msgs, schema.AssistantMessage("done", nil))
}

// text is n lines that say which result they are of.
func text(i, n int) string {
	return strings.Repeat(fmt.Sprintf("line of the result with number %d\n", i), n)
}

func run(t *testing.T, msgs []*schema.Message, policy string, o Options) Bill {
	t.Helper()
	for _, p := range Policies() {
		if p.Name == policy {
			b, err := New(msgs).Run(context.Background(), p, o)
			require.NoError(t, err)
			return b
		}
	}
	t.Fatalf("there is no policy %q", policy)
	return Bill{}
}

func TestRun_WithoutReductionWritesEachMessageOnce(t *testing.T) {
	msgs := rounds(3, func(i int) string { return text(i, 50) })
	got := run(t, msgs, "no reduction", Options{})
	var written, cached, before int64
	for i, m := range msgs {
		if m.Role == schema.Assistant {
			cached += before
			before = 0
			for _, sent := range msgs[:i] {
				before += Tokens(sent)
			}
			written = before
		}
	}
	require.Equal(t, Bill{Calls: 4, Written: written, Cached: cached, Largest: written}, got)
	require.InDelta(t, 1.25*float64(written)+.1*float64(cached), Cards[0].Cost(got), 1e-6)
}

func TestRun_ClearedPrefixIsWrittenAgain(t *testing.T) {
	msgs := rounds(12, func(i int) string { return text(i, 300) })
	none := run(t, msgs, "no reduction", Options{Trigger: 8000})
	for _, policy := range []string{"Eino", "einolean", "low mark, keep 5"} {
		got := run(t, msgs, policy, Options{Trigger: 8000})
		require.Greater(t, got.Written, none.Written, policy)
		require.Less(t, got.Cached, none.Cached, policy)
		require.Less(t, got.Largest, none.Largest, policy)
		require.Zero(t, got.Lost, policy)
		require.Positive(t, got.Edited, policy)
	}
	require.Equal(t, none, run(t, msgs, "einolean", Options{Trigger: 1 << 40}), "below the trigger nothing changes")
}

func TestRun_QuotedLostResultIsReadAgain(t *testing.T) {
	msgs := rounds(8, func(i int) string { return text(i, 300) })
	msgs[len(msgs)-1] = schema.AssistantMessage("As said: line of the result with number 0, and line of the result with number 7", nil)
	require.Zero(t, run(t, msgs, "no reduction", Options{Trigger: 8000}).Lost)
	for _, policy := range []string{"Eino", "einolean", "mask all but the last 10", "low mark, keep 5"} {
		got := run(t, msgs, policy, Options{Trigger: 8000})
		lost := 1
		if policy == "mask all but the last 10" {
			lost = 0 // eight results, all visible
		}
		require.Equal(t, lost, got.Lost, policy)
		require.Equal(t, 9+lost, got.Calls, policy)
	}
}

func TestReadBacks_ReadTruncatedResults(t *testing.T) {
	msgs := rounds(10, func(i int) string { return text(i, 600) }) // of 20,000 bytes
	const policy = "einolean, MaxLengthForTrunc 12,000"
	require.Zero(t, run(t, msgs, policy, Options{Trigger: 1 << 40}).ReadBacks)
	all := run(t, msgs, policy, Options{Trigger: 1 << 40, ReadBacks: 1})
	require.Equal(t, 10, all.ReadBacks)
	require.Equal(t, 21, all.Calls)
	require.Equal(t, 10, all.Edited)
	some := run(t, msgs, policy, Options{Trigger: 1 << 40, ReadBacks: .48}).ReadBacks
	require.True(t, 0 < some && some < 10, some)
}

func TestBill_CountsUnreadableResults(t *testing.T) {
	msgs := rounds(12, func(i int) string { return text(i, 300) })
	for policy, kept := range map[string]bool{"Eino": true, "einolean": true, "low mark, keep 5": false} {
		got := run(t, msgs, policy, Options{Trigger: 8000})
		require.Positive(t, got.Edited)
		require.Equal(t, kept, got.Unreadable == 0, policy)
	}
}

// A handler may change the messages that it gets. The next replay must not see the change.
func TestEach_ChangesNoConversation(t *testing.T) {
	for _, r := range sample()[:3] {
		before, err := json.Marshal(r.Conversation.Messages())
		require.NoError(t, err)
		first, err := Each(context.Background(), r.Conversation, Policies(), Options{Trigger: 4000, ReadBacks: .5})
		require.NoError(t, err)
		again, err := Each(context.Background(), r.Conversation, Policies(), Options{Trigger: 4000, ReadBacks: .5})
		require.NoError(t, err)
		require.Equal(t, first, again, r.Name)
		after, err := json.Marshal(r.Conversation.Messages())
		require.NoError(t, err)
		require.JSONEq(t, string(before), string(after), r.Name)
	}
}

func TestRead_ReadsUsersOwnConversation(t *testing.T) {
	data, err := json.Marshal(rounds(2, func(i int) string { return text(i, 5) }))
	require.NoError(t, err)
	c, err := Read(data)
	require.NoError(t, err)
	require.Equal(t, 3, c.Calls())
	ids := make(map[string]bool)
	for _, m := range c.Messages() {
		for _, tc := range m.ToolCalls {
			require.False(t, ids[tc.ID], "one id for two calls")
			ids[tc.ID] = true
		}
		if m.Role == schema.Tool {
			require.True(t, ids[m.ToolCallID])
		}
	}
	_, err = Read([]byte(`{"role":"user"}`))
	require.ErrorContains(t, err, "JSON array of messages")
	_, err = Read([]byte(`[null,{"role":"user","content":"x"}]`))
	require.NoError(t, err)
}

func TestEach_ErrorNamesPolicy(t *testing.T) {
	_, err := Each(context.Background(), New(rounds(1, func(int) string { return "x" })), []Policy{{"broken", func(ctx context.Context, _ *store.Memory, _ int64) (adk.ChatModelAgentMiddleware, error) {
		return reduction.New(ctx, &reduction.Config{})
	}}}, Options{})
	require.ErrorContains(t, err, "broken")
}

func TestTuning_HalvesAreAboutEqual(t *testing.T) {
	n := 0
	for i := range 1000 {
		if (Recorded{Name: fmt.Sprint("run-", i)}).Tuning() {
			n++
		}
	}
	require.InDelta(t, 500, n, 60)
}

// The invented runs are the same every time, and their results range from 1 to 100 kB.
func TestInvent_RunsSpreadAndAreReproducible(t *testing.T) {
	var sizes [2][3]int // by half: below 4.6 kB, below 22 kB, more
	n := 0
	require.NoError(t, Invent(func(r Recorded) error {
		n++
		half := 0
		if r.Tuning() {
			half = 1
		}
		for _, m := range r.Conversation.Messages() {
			if m.Role != schema.Tool {
				continue
			}
			require.Less(t, len(m.Content), 150_000, r.Name)
			switch size := len(m.Content); {
			case size < 4_600:
				sizes[half][0]++
			case size < 22_000:
				sizes[half][1]++
			default:
				sizes[half][2]++
			}
		}
		return nil
	}))
	require.GreaterOrEqual(t, n, 200)
	for _, half := range sizes {
		for _, count := range half {
			require.Greater(t, count, 200, "%v", sizes)
		}
	}
	for kind := range inventedKinds {
		a, _ := json.Marshal(inventOne(kind, 3).Conversation.Messages())
		b, _ := json.Marshal(inventOne(kind, 3).Conversation.Messages())
		require.Equal(t, string(a), string(b))
	}
}
