// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package clearing

// Plans for results that must fit a budget of tokens. They are not cleared: the longest become equally long.

import (
	"context"
	"math"
	"slices"

	"github.com/einolean/einolean/internal/tokens"
	"github.com/einolean/einolean/reduction/internal/rounds"
	"github.com/einolean/einolean/reduction/internal/tokencount"
)

// ReplaceFirstMedia plans references in place of all media except the last ones that fit in a budget. It returns the
// tokens of all media and references then.
func (d *Decider) ReplaceFirstMedia(plans []Plan, budget int) (n int) {
	for i := range slices.Backward(plans) {
		count := len(plans[i].Candidate.Media)
		keep := min(count, max(0, tokencount.MediaWithin(budget)))
		budget -= tokencount.OfMedia(keep)
		n += tokencount.OfMedia(count) - d.replaceFirst(&plans[i], count-keep)
	}
	return n
}

// ReplaceOldestMedia plans references in place of the oldest media in messages before an index, until they save
// enough tokens. It returns the tokens that they save.
func (d *Decider) ReplaceOldestMedia(plans []Plan, before int, enough int) (saved int) {
	for i := range plans {
		if c := plans[i].Candidate; c.MessageIndex < before {
			needed := max(0, enough-saved+mediaSaving()-1) / mediaSaving()
			saved += d.replaceFirst(&plans[i], min(len(c.Media), needed))
		}
	}
	return saved
}

// replaceFirst plans references in place of the first n media of a result, and returns the tokens that this saves.
func (d *Decider) replaceFirst(plan *Plan, n int) (saved int) {
	plan.mediaRefs = d.renderer.mediaReferences(plan.Candidate.Media[:n], plan.Candidate.Policy.Store)
	return savedByReferences(plan.mediaRefs)
}

// ReplaceChosenMedia plans references in place of the media that are chosen, and returns how many those are.
func (d *Decider) ReplaceChosenMedia(plans []Plan, isChosen func(c *Candidate, m *rounds.Medium) bool) (count int) {
	for i := range plans {
		var chosen []*rounds.Medium
		for _, m := range plans[i].Candidate.Media {
			if isChosen(plans[i].Candidate, m) {
				chosen = append(chosen, m)
			}
		}
		plans[i].mediaRefs = d.renderer.mediaReferences(chosen, plans[i].Candidate.Policy.Store)
		count += len(plans[i].mediaRefs)
	}
	return count
}

// ReplaceLongArguments plans references in place of the long values in the calls of results, and returns the tokens
// that this saves.
func (d *Decider) ReplaceLongArguments(plans []Plan) (saved int) {
	if d.renderer.maxArgumentBytes == 0 {
		return 0
	}
	for i := range plans {
		plan := &plans[i]
		plan.argumentRefs = d.renderer.argumentReferences(plan.Candidate)
		if len(plan.argumentRefs) > 0 {
			plan.markCall = true
			args := plan.Candidate.Call.Args
			saved += tokens.Of(args) - tokens.Of(withReferences(args, plan.argumentRefs))
		}
	}
	return saved
}

// maxRefits is how often sizes are chosen again because some results could not become as small as required.
const maxRefits = 16

// ShortenToBudget shortens results to a total number of tokens, or to at least minExcerptBytes each, and returns
// what changes. It is idempotent.
func (d *Decider) ShortenToBudget(ctx context.Context, plans []Plan, budget int) ([]Change, error) {
	changes := make([]Change, len(plans))
	var open []*Change // those that may become shorter
	for i := range plans {
		changes[i], _ = d.render(plans[i])
		if c := plans[i].Candidate; c.Size > minExcerptBytes && !c.Notice.IsPlaceholder() {
			open = append(open, &changes[i])
		} else {
			budget -= c.Tokens
		}
	}
	for range maxRefits {
		sizes := make([]int, len(open))
		for i, change := range open {
			sizes[i] = change.resultTokens()
		}
		maxTokens, fitting := levelSize(sizes, budget), open[:0:0]
		for _, change := range open {
			if err := d.shorten(ctx, change, maxTokens); err != nil {
				return nil, err
			}
			if n := change.resultTokens(); n > maxTokens {
				budget -= n
			} else {
				fitting = append(fitting, change)
			}
		}
		if len(fitting) == len(open) {
			break
		}
		open = fitting
	}
	return slices.DeleteFunc(changes, func(c Change) bool { return !c.Replaces() }), nil
}

// shorten makes a result of more than maxTokens shorter, if it can.
func (d *Decider) shorten(ctx context.Context, change *Change, maxTokens int) (err error) {
	if change.resultTokens() <= maxTokens {
		return nil
	}
	plan := change.Plan
	if plan.keepResult {
		if plan.file, err = d.locate(ctx, plan.Candidate, false); err != nil {
			return err
		}
	}
	plan.keepResult, plan.maxTokens = false, max(maxTokens, 1)
	if next, ok := d.render(plan); ok && plan.file.isShowable() {
		*change = next
	}
	return nil
}

// levelSize is the greatest size to which all larger ones can be reduced for the sum to be within a budget.
func levelSize(sizes []int, budget int) int {
	sizes = slices.Sorted(slices.Values(sizes))
	for i, size := range sizes {
		if left := len(sizes) - i; size*left > budget {
			return max(0, budget/left)
		}
		budget -= size
	}
	return math.MaxInt
}
