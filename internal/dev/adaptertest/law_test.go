// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package adaptertest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/reduction"
	"github.com/einolean/einolean/store"
	"github.com/einolean/einolean/toolsearch"
)

const conversations = 60 // of each adapter

// In each request of random conversations, the request and what the server kept add up to what the agent means to
// send, each text and each tool. A request that extends the last request and its answer builds on that answer.
func TestSessions_ModelSeesWhatAgentSends(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	if s, err := strconv.ParseUint(os.Getenv("SEED"), 10, 64); err == nil {
		seed = s
	}
	t.Logf("SEED=%d", seed)
	for n := range uint64(conversations) {
		t.Run(fmt.Sprintf("ark/%d", n), func(t *testing.T) { converse[*schema.Message](t, rand.New(rand.NewPCG(seed, n))) })
		t.Run(fmt.Sprintf("agenticopenai/%d", n), func(t *testing.T) { converse[*schema.AgenticMessage](t, rand.New(rand.NewPCG(seed, n))) })
	}
}

func converse[M adk.MessageType](t *testing.T, r *rand.Rand) {
	c := newChat[M](t, r.IntN(2) == 0)
	c.own(tools(page, "read")...)
	denied := ""
	search := toolsearch.Config{UnloadAfter: r.IntN(4), Protocol: []toolsearch.Protocol{toolsearch.Keyword, toolsearch.SearchLoad}[r.IntN(2)]}
	if r.IntN(3) == 0 {
		search.Filter = func(_ context.Context, q toolsearch.FilterRequest) (bool, error) { return q.Tool.Name != denied, nil }
	}
	reduce := reduction.TypedConfig[M]{MaxTokensForClear: int64(500 + r.IntN(5000)), MaxLengthForTrunc: 2500 + r.IntN(3000),
		ClearRetentionSuffixLimit: 1 + r.IntN(2), Backend: store.NewMemory(1 << 24)}
	if r.IntN(2) == 0 {
		reduce.ClearTargetTokens = reduce.MaxTokensForClear / 2
	}
	switch r.IntN(6) {
	case 0:
		reduce.ClearMessageRewriter = func(context.Context, M, []M) ([]M, error) { return nil, nil }
	case 1:
		reduce.ClearMessageRewriter = func(context.Context, M, []M) ([]M, error) { return []M{user[M]("It is done.")}, nil }
	}
	first := r.IntN(2) == 0
	if first {
		c.search(search)
	}
	c.reduce(reduce)
	if !first {
		c.search(search)
	}
	tap := newTap[M]()
	c.agent.Handlers = append(c.agent.Handlers, tap)
	var last *Seen
	for run := range 5 {
		if r.IntN(4) == 0 {
			denied = []string{"", "mail", "weather"}[r.IntN(3)]
		}
		tap.given = nil
		calls := 0
		c.decide = func(s Seen) Turn { calls++; return turn(r, s, calls) }
		seen := c.ask(fmt.Sprintf("Question %d?", run))
		for i := range seen {
			checkLaw(t, tap.given[i], seen[i], last, isArk[M]())
			last = &seen[i]
		}
		if r.IntN(3) == 0 { // what Eino keeps, in place of what the events showed
			c.history = stored(t, tap.state)[1:] // without the instruction, which is the agent's
		}
	}
}

// turn is what a model might do.
func turn(r *rand.Rand, s Seen, calls int) Turn {
	if calls > 6 || r.IntN(5) == 0 {
		return Turn{Text: fmt.Sprintf("Answer %d.", r.IntN(1000))}
	}
	var t Turn
	for range 1 + r.IntN(3) {
		name := s.Tools[r.IntN(len(s.Tools))]
		hidden := []string{"weather", "mail", "calendar"}[r.IntN(3)]
		switch name {
		case "tool_search":
			t.Calls = append(t.Calls, find(hidden))
		case "search_tools":
			t.Calls = append(t.Calls, Call{name, fmt.Sprintf(`{"query":%q}`, hidden)})
		case "load_tool":
			t.Calls = append(t.Calls, Call{name, fmt.Sprintf(`{"tool_name":%q}`, hidden)})
		default:
			t.Calls = append(t.Calls, use(name, strconv.Itoa(r.IntN(1000))))
		}
	}
	return t
}

func checkLaw(t *testing.T, meant given, seen Seen, last *Seen, ark bool) {
	t.Helper()
	require.Equal(t, brief(meant.lines), brief(seen.Lines()))
	require.ElementsMatch(t, meant.tools, seen.Tools)
	if last == nil {
		return
	}
	before, now := brief(last.Lines()), brief(meant.lines)
	same := len(before) <= len(now) && slices.Equal(before, now[:len(before)])
	if ark {
		was, now := slices.Sorted(slices.Values(last.Tools)), slices.Sorted(slices.Values(meant.tools))
		same = same && slices.Equal(was, now)
	}
	if same {
		require.Equal(t, last.Answer, seen.BuiltOn, "nothing changed: the session goes on")
	}
}

// brief keeps failures readable: of a long line it is the start and the end, and the size.
// The results of parallel calls come in any order.
func brief(lines []string) (out []string) {
	lines = slices.Clone(lines)
	for i := range lines {
		for j := i; j > 0 && strings.HasPrefix(lines[j], "output") && strings.HasPrefix(lines[j-1], "output") && lines[j] < lines[j-1]; j-- {
			lines[j], lines[j-1] = lines[j-1], lines[j]
		}
	}
	for _, l := range lines {
		if len(l) > 120 {
			l = fmt.Sprintf("%s … %s (%d bytes)", l[:80], l[len(l)-40:], len(l))
		}
		out = append(out, l)
	}
	return out
}
