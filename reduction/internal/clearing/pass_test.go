// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package clearing

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/backend"
	"github.com/einolean/einolean/internal/dev/backendtest"
	"github.com/einolean/einolean/reduction/internal/notice"
	"github.com/einolean/einolean/reduction/internal/offload"
	"github.com/einolean/einolean/reduction/internal/rounds"
	"github.com/einolean/einolean/reduction/internal/tokencount"
	"github.com/einolean/einolean/reduction/internal/toolpolicy"
)

// long makes results of one round, all of the same rule.
func (c *chances) long(store *offload.Store) (out []Plan) {
	for i := range c.IntN(8) {
		id := fmt.Sprintf("call_%d", c.Int())
		pair := &rounds.Pair{Call: rounds.Call{ID: id, Name: "shell", Args: `{"script":"` + strings.Repeat("echo ", c.IntN(300)) + `"}`}, HasResult: true, MessageIndex: i + 1, Result: rounds.Result{ID: id, Texts: []string{strings.Repeat("a line of a result\n", c.IntN(1000))}}}
		r := NewCandidate(rounds.Round{}, pair, toolpolicy.ToolPolicy{Store: store})
		r.Tokens = len(pair.Result.Texts[0]) / 4
		out = append(out, KeepPlan(&r))
	}
	return out
}

// Results share a budget so that none is much longer than another that was cut, and what is small stays.
func TestResultsThatMustFitAreMadeLevel(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	c, levelled := newChances(seed), 0
	for range 300 {
		is, sum := c.long(c.stores[0]), 0
		for _, each := range is {
			sum += each.Candidate.Tokens
		}
		budget := c.IntN(sum + 2)
		edits, err := c.Decider.ShortenToBudget(context.Background(), is, budget)
		require.NoError(t, err)
		if sum <= budget {
			require.Empty(t, edits, "all of it fits")
			continue
		}
		left, least := sum, 1<<30
		cut := map[int]bool{}
		for i := range edits {
			e := &edits[i]
			left += e.resultTokens() - e.Plan.Candidate.Tokens
			least, cut[e.Plan.Candidate.MessageIndex] = min(least, e.Plan.Candidate.Tokens), true
			require.Less(t, e.bytesAfter, e.Plan.Candidate.Size)
			require.NotEmpty(t, e.Plan.file.path, "where all of it will be")
			require.True(t, left <= budget || e.bytesAfter >= minExcerptBytes/2, "no result is cut to nothing: %d bytes", e.bytesAfter)
		}
		small := 0
		for _, each := range is {
			if !cut[each.Candidate.MessageIndex] {
				require.True(t, each.Candidate.Size <= minExcerptBytes || each.Candidate.Tokens <= least, "%d tokens stay, but %d are cut", each.Candidate.Tokens, least)
				small += each.Candidate.Tokens
			}
		}
		if budget-small >= len(edits)*(minExcerptBytes/2) {
			require.LessOrEqual(t, left, budget, "there was room for what always stays")
			levelled++
		}
	}
	require.Greater(t, levelled, 50)
}

// After a save, the messages name no file that does not hold what they took out, whatever the store does.
func TestNothingIsTakenOutThatIsNotStored(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	seen := map[string]int{}
	for n := range uint64(300) {
		c := newChances(seed + n)
		faults := backendtest.NewFaulty(c.memory, func(call backendtest.Call) backendtest.Fault {
			if c.IntN(3) == 0 && (call.Op == backendtest.OpWrite || call.Op == backendtest.OpCreate) {
				return backendtest.Fault{Mode: backendtest.Fail}
			}
			return backendtest.Fault{}
		})
		files := &offload.Offloader{Showable: notice.Showable}
		s := &Saver{Decider: &c.Decider, Files: files}
		var edits []Change
		for _, each := range c.long(files.Open(faults.ReadWrite())) {
			require.NotNil(t, each.Candidate)
			c.Complete(each.Candidate)
			if e, why, err := c.Decide(context.Background(), each.Candidate); why == "" {
				require.NoError(t, err)
				edits = append(edits, e)
			}
		}
		before := len(edits)
		kept, lost, differs := s.Save(context.Background(), edits)
		require.Equal(t, before, len(kept)+lost)
		require.LessOrEqual(t, c.failed, maxReports, "a store that is down is not told again and again")
		require.True(t, lost == 0 || differs)
		for i := range kept {
			e := &kept[i]
			require.True(t, e.Replaces())
			if !e.replacement.KeepContent {
				require.Equal(t, strings.Join(e.Plan.Candidate.Result.Texts, ""), held(t, c.memory, notice.FromTexts([]string{e.replacement.Text}).Path))
				seen["result"]++
			}
			for _, v := range e.Plan.argumentRefs {
				require.Contains(t, *e.newArgs, v.path)
				require.Equal(t, strings.Trim(e.Plan.Candidate.Call.Args[v.start:v.end], `"`), held(t, c.memory, v.path))
				seen["argument"]++
			}
		}
		seen["lost"] += lost
	}
	for _, way := range []string{"result", "argument", "lost"} {
		require.Greater(t, seen[way], 50, "%v", seen)
	}
}

func held(t *testing.T, m *backend.Memory, path string) string {
	r, _, err := m.ReadRange(context.Background(), path, 0, -1)
	require.NoError(t, err, path)
	defer r.Close()
	content, err := io.ReadAll(r)
	require.NoError(t, err)
	return string(content)
}

// The newest results are spared only while the others make room, and only if they save next to nothing.
func TestWhatIsSparedWouldSaveNextToNothing(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	c, spared := newChances(seed), 0
	for range 2000 {
		var edits []Change
		messages := 2 + c.IntN(40)
		for at := 0; at < messages; at += 1 + c.IntN(8) {
			size := c.IntN(1500)
			r := &Candidate{MessageIndex: at, Result: rounds.Result{Texts: []string{strings.Repeat("x ", size/2)}}, CallMessageIndex: at, Size: size, Policy: toolpolicy.ToolPolicy{HasHandler: c.IntN(20) == 0}}
			edits = append(edits, Change{Plan: Plan{Candidate: r}, bytesAfter: min(size, 60)})
		}
		each := int64(c.IntN(20_000)) // tokens of a message
		sizes := slices.Repeat([]int64{each}, messages)
		before, counted := int64(messages)*each, 0
		count := func() tokencount.Size {
			counted++
			return tokencount.Size{Tokens: before, Factor: 1, Exact: true}
		}
		threshold := before - c.Int64N(min(before+1, 2000))
		n := TrimForPromptCache(edits, sizes, threshold, count)
		require.LessOrEqual(t, counted, 1, "a request is counted once, if at all")
		if n == len(edits) {
			continue
		}
		spared++
		require.Positive(t, n, "the oldest is always cleared")
		var saves int64
		makes := before
		for i := range edits {
			if i < n {
				makes -= edits[i].tokenSaving()
				continue
			}
			require.False(t, edits[i].Plan.Candidate.Policy.HasHandler, "the user's code has decided on it")
			saves += edits[i].roughSaving()
		}
		require.Less(t, makes, threshold, "the others make room")
		require.Less(t, saves*negligibleShare, int64(messages-edits[n].Plan.Candidate.MessageIndex)*each-saves)
	}
	require.Greater(t, spared, 50)
}
