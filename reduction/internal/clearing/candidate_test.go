// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package clearing

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/reduction/internal/notice"
	"github.com/einolean/einolean/reduction/internal/offload"
	"github.com/einolean/einolean/reduction/internal/rounds"
	"github.com/einolean/einolean/reduction/internal/toolpolicy"
)

// exclusions are those of a candidate for ToClear, ToShorten, ToShortenAllPages and ToDedupe.
type exclusions [4]Exclusion

func TestCandidate_ExclusionDependsOnPurpose(t *testing.T) {
	placeholder := notice.InMarked([]string{"[cleared]"})
	require.True(t, placeholder.IsPlaceholder())
	for name, c := range map[string]struct {
		change func(c *Candidate)
		want   exclusions
	}{
		"plain": {func(*Candidate) {}, exclusions{}},
		"tool search, whatever else": {
			func(c *Candidate) { c.Result.IsToolSearch, c.Notice, c.Protected = true, placeholder, true },
			exclusions{IsToolSearch, IsToolSearch, IsToolSearch, IsToolSearch},
		},
		"short": {
			func(c *Candidate) { c.Result.Texts = []string{strings.Repeat("x", MinDuplicateBytes-1)} },
			exclusions{3: TooSmall},
		},
		"placeholder": {
			func(c *Candidate) { c.Notice = placeholder }, exclusions{0: AlreadyReplaced, 3: AlreadyReplaced},
		},
		"placeholder with a long argument": {
			func(c *Candidate) { c.Notice, c.argumentRefs = placeholder, []reference{{}} },
			exclusions{3: AlreadyReplaced},
		},
		"placeholder with a medium": {
			func(c *Candidate) { c.Notice, c.mediaRefs = placeholder, []reference{{}} },
			exclusions{3: AlreadyReplaced},
		},
		"placeholder of an excluded tool": {
			func(c *Candidate) { c.Notice, c.Policy.SkipReason = placeholder, toolpolicy.Excluded },
			exclusions{0: AlreadyReplaced, 3: ByPolicy},
		},
		"handler": {func(c *Candidate) { c.Policy.HasHandler = true }, exclusions{3: ByPolicy}},
		"handler that has replaced the result": {
			func(c *Candidate) { c.Policy.HasHandler, c.Result.ReplacedByHandler = true, true },
			exclusions{0: AlreadyHandled, 3: ByPolicy},
		},
		"handler, in a round that another package has cleared": {
			func(c *Candidate) { c.Policy.HasHandler, c.processed = true, true },
			exclusions{0: AlreadyHandled, 3: ByPolicy},
		},
		"handler, in a round that this package has cleared": {
			func(c *Candidate) { c.Policy.HasHandler, c.processed, c.ours = true, true, true },
			exclusions{3: ByPolicy},
		},
		"no handler, in a round that another package has cleared": {
			func(c *Candidate) { c.processed, c.Result.ReplacedByHandler = true, true }, exclusions{},
		},
		"skipped by the policy": {
			func(c *Candidate) { c.Policy.SkipReason = toolpolicy.Skipped }, exclusions{0: ByPolicy, 3: ByPolicy},
		},
		"no store": {func(c *Candidate) { c.Policy.Store = nil }, exclusions{3: ByPolicy}},
		"protected": {
			func(c *Candidate) { c.Protected = true }, exclusions{1: ByPolicy, 2: ByPolicy},
		},
		"the page that the model requested": {
			func(c *Candidate) { c.Policy.IsReadTool, c.IsOnlyResult = true, true }, exclusions{1: RequestedPage},
		},
		"one of several pages":         {func(c *Candidate) { c.Policy.IsReadTool = true }, exclusions{}},
		"the only result of its round": {func(c *Candidate) { c.IsOnlyResult = true }, exclusions{}},
	} {
		candidate := Candidate{
			Policy: toolpolicy.ToolPolicy{Store: &offload.Store{}},
			Result: rounds.Result{Texts: []string{strings.Repeat("x", MinDuplicateBytes)}},
		}
		c.change(&candidate)
		var got exclusions
		for purpose := range got {
			got[purpose] = candidate.Exclusion(Purpose(purpose))
		}
		require.Equal(t, c.want, got, name)
	}
}

// An old result has the references and the notice that Exclusion asks for only after Complete.
func TestDecider_CompleteReadsNoticesOfMarkedRounds(t *testing.T) {
	d := newChances(1).Decider
	for _, processed := range []bool{false, true} {
		pair := &rounds.Pair{Result: rounds.Result{Texts: []string{"[cleared by others]"}}}
		c := NewCandidate(rounds.Round{Processed: processed}, pair, toolpolicy.ToolPolicy{})
		d.Complete(&c)
		require.Equal(t, processed, c.Notice.IsPlaceholder())
	}
	long := &rounds.Pair{Call: rounds.Call{ID: "1", Args: `{"text":"` + strings.Repeat("long ", 500) + `"}`}}
	policy := toolpolicy.ToolPolicy{Store: newChances(1).stores[0]}
	c := NewCandidate(rounds.Round{}, long, policy)
	d.Complete(&c)
	require.Len(t, c.argumentRefs, 1)
	long.Result.IsToolSearch = true
	c = NewCandidate(rounds.Round{}, long, policy)
	d.Complete(&c)
	require.Empty(t, c.argumentRefs, "its call stays as well")
}
