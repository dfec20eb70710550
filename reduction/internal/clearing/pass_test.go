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

	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/backend"
	"github.com/einolean/einolean/internal/dev/backendtest"
	"github.com/einolean/einolean/internal/tokens"
	"github.com/einolean/einolean/reduction/internal/notice"
	"github.com/einolean/einolean/reduction/internal/offload"
	"github.com/einolean/einolean/reduction/internal/rounds"
	"github.com/einolean/einolean/reduction/internal/tokencount"
	"github.com/einolean/einolean/reduction/internal/toolpolicy"
)

// long makes results of one round, all with the same policy.
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

// Results share a budget so that none is much longer than another one that was shortened. Small ones stay.
func TestDecider_ShortensLongestResultsToEqualSize(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	c, fitted := newChances(seed), 0
	for range 300 {
		plans, sum := c.long(c.stores[0]), 0
		for _, each := range plans {
			sum += each.Candidate.Tokens
		}
		budget := c.IntN(sum + 2)
		changes, err := c.Decider.ShortenToBudget(context.Background(), plans, budget)
		require.NoError(t, err)
		if sum <= budget {
			require.Empty(t, changes, "all of it fits")
			continue
		}
		left, least := sum, 1<<30
		cut := map[int]bool{}
		for i := range changes {
			e := &changes[i]
			left += e.resultTokens() - e.Plan.Candidate.Tokens
			least, cut[e.Plan.Candidate.MessageIndex] = min(least, e.Plan.Candidate.Tokens), true
			require.Less(t, e.bytesAfter, e.Plan.Candidate.Size)
			require.NotEmpty(t, e.Plan.file.path, "where all of it will be")
			require.True(t, left <= budget || e.bytesAfter >= minExcerptBytes/2, "no result is cut to nothing: %d bytes", e.bytesAfter)
		}
		small := 0
		for _, each := range plans {
			if !cut[each.Candidate.MessageIndex] {
				require.True(t, each.Candidate.Size <= minExcerptBytes || each.Candidate.Tokens <= least, "%d tokens stay, but %d are cut", each.Candidate.Tokens, least)
				small += each.Candidate.Tokens
			}
		}
		if budget-small >= len(changes)*(minExcerptBytes/2) {
			require.LessOrEqual(t, left, budget, "there was room for what always stays")
			fitted++
		}
	}
	require.Greater(t, fitted, 50)
}

// After a save, messages name only files with the content that they replaced, whatever the store does.
func TestSaver_ReplacesOnlyStoredContent(t *testing.T) {
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
		var changes []Change
		for _, each := range c.long(files.Open(faults.ReadWrite())) {
			require.NotNil(t, each.Candidate)
			c.Complete(each.Candidate)
			if e, why, err := c.Decide(context.Background(), each.Candidate); why == "" {
				require.NoError(t, err)
				changes = append(changes, e)
			}
		}
		before := len(changes)
		kept, lost, differs := s.Save(context.Background(), changes)
		require.Equal(t, before, len(kept)+len(lost))
		require.LessOrEqual(t, c.failed, maxReports, "a store that is down is not reported again and again")
		require.True(t, len(lost) == 0 || differs)
		for i := range kept {
			e := &kept[i]
			require.True(t, e.Replaces())
			if !e.replacement.KeepContent {
				stored := notice.FromTexts([]string{e.replacement.Text})
				require.Equal(t, strings.Join(e.Plan.Candidate.Result.Texts, ""), contentOf(t, c.memory, stored.Path))
				seen["result"]++
			}
			for _, v := range e.Plan.argumentRefs {
				require.Contains(t, *e.newArgs, v.path)
				require.Equal(t, strings.Trim(e.Plan.Candidate.Call.Args[v.start:v.end], `"`), contentOf(t, c.memory, v.path))
				seen["argument"]++
			}
		}
		seen["lost"] += len(lost)
	}
	for _, way := range []string{"result", "argument", "lost"} {
		require.Greater(t, seen[way], 50, "%v", seen)
	}
}

func contentOf(t *testing.T, m *backend.Memory, path string) string {
	r, _, err := m.ReadRange(context.Background(), path, 0, -1)
	require.NoError(t, err, path)
	defer r.Close()
	content, err := io.ReadAll(r)
	require.NoError(t, err)
	return string(content)
}

// The newest changes are left out only if they save next to nothing and the others get below the threshold.
func TestTrimForPromptCache_DropsNegligibleSavings(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	c, trimmed := newChances(seed), 0
	for range 2000 {
		var changes []Change
		messages := 2 + c.IntN(40)
		for at := 0; at < messages; at += 1 + c.IntN(8) {
			size := c.IntN(1500)
			r := &Candidate{MessageIndex: at, Result: rounds.Result{Texts: []string{strings.Repeat("x ", size/2)}}, CallMessageIndex: at, Size: size, Policy: toolpolicy.ToolPolicy{HasHandler: c.IntN(20) == 0}}
			changes = append(changes, Change{Plan: Plan{Candidate: r}, bytesAfter: min(size, 60)})
		}
		each := int64(c.IntN(20_000)) // tokens of a message
		sizes := slices.Repeat([]int64{each}, messages)
		before, counted := int64(messages)*each, 0
		count := func() tokencount.Size {
			counted++
			return tokencount.Size{Tokens: before, Factor: 1, Exact: true}
		}
		threshold := before - c.Int64N(min(before+1, 2000))
		n := TrimForPromptCache(changes, sizes, threshold, count)
		require.LessOrEqual(t, counted, 1, "a request is counted once, if at all")
		if n == len(changes) {
			continue
		}
		trimmed++
		require.Positive(t, n, "the oldest is always cleared")
		var saves int64
		makes := before
		for i := range changes {
			if i < n {
				makes -= changes[i].tokenSaving()
				continue
			}
			require.False(t, changes[i].Plan.Candidate.Policy.HasHandler, "the user's code has decided on it")
			saves += changes[i].roughSaving()
		}
		require.Less(t, makes, threshold, "the others make room")
		require.Less(t, saves*negligibleShare, int64(messages-changes[n].Plan.Candidate.MessageIndex)*each-saves)
	}
	require.Greater(t, trimmed, 50)
}

func TestDecider_ReplaceLongArgumentsReturnsTokenSaving(t *testing.T) {
	c := newChances(1)
	long := fmt.Sprintf(`{"path":"a.go","content":%q}`, strings.Repeat("some words of a file\n", 200))
	var plans []Plan
	for _, args := range []string{long, `{"path":"a.go"}`, long} {
		pair := &rounds.Pair{Call: rounds.Call{ID: fmt.Sprint(len(plans)), Args: args}, HasResult: true}
		r := NewCandidate(rounds.Round{}, pair, toolpolicy.ToolPolicy{Store: c.stores[0]})
		plans = append(plans, KeepPlan(&r))
	}
	saved := c.Decider.ReplaceLongArguments(plans)
	changes, err := c.Decider.ShortenToBudget(context.Background(), plans, 1<<30)
	require.NoError(t, err)
	require.Len(t, changes, 2)
	want := 0
	for i := range changes {
		want += tokens.Of(long) - tokens.Of(*changes[i].newArgs)
		require.True(t, changes[i].Plan.markCall)
	}
	require.Positive(t, want)
	require.Equal(t, want, saved)

	c.Decider.renderer.maxArgumentBytes = 0
	require.Zero(t, c.Decider.ReplaceLongArguments(plans[:1]), "arguments stay")
}

func TestDecider_ReplaceMediaKeepsToBudget(t *testing.T) {
	c := newChances(1)
	plan := func(messageIndex, media int) Plan {
		r := NewUserMedia(messageIndex, c.stores[0])
		for range media {
			part := schema.ToolOutputPart{Type: schema.ToolPartTypeImage, Image: &schema.ToolOutputImage{}}
			r.Media = append(r.Media, &rounds.Medium{Result: -1, Output: &part})
		}
		return KeepPlan(&r)
	}
	referred := func(plans []Plan) (counts []int) {
		for i := range plans {
			counts = append(counts, len(plans[i].mediaRefs))
		}
		return counts
	}
	for budget, want := range map[int][]int{-1: {2, 1, 3}, 1: {2, 1, 2}, 3: {2, 1, 0}, 5: {1, 0, 0}, 9: {0, 0, 0}} {
		plans := []Plan{plan(1, 2), plan(2, 1), plan(3, 3)}
		got := c.Decider.ReplaceFirstMedia(plans, tokencount.OfMedia(budget))
		require.Equal(t, want, referred(plans), "the last %d media stay", budget)
		saved := 0
		for i := range plans {
			saved += savedByReferences(plans[i].mediaRefs)
		}
		require.Equal(t, tokencount.OfMedia(6)-saved, got)
	}
	for enough, want := range map[int][]int{0: {0, 0, 0}, 1: {1, 0, 0}, 2: {2, 0, 0}, 3: {2, 1, 0}, 9: {2, 1, 0}} {
		plans := []Plan{plan(1, 2), plan(2, 1), plan(3, 3)}
		saved := c.Decider.ReplaceOldestMedia(plans, 3, enough*mediaSaving())
		require.Equal(t, want, referred(plans), "the oldest %d media before message 3", enough)
		require.Equal(t, saved > 0, enough > 0)
	}
}
