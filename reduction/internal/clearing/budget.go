// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package clearing

// Decisions with another aim: what is too long is not taken out, but made level with the others.

import (
	"context"
	"math"
	"slices"

	"github.com/einolean/einolean/reduction/internal/tokencount"
)

// Leveller decides about results that must be shorter.
type BudgetFitter struct{ *Decider }

// ReferToFirst decides that all media of results become references but the last that fit in a
// budget, and returns the tokens of all of them then.
func (l BudgetFitter) ReferToFirst(is []Plan, budget int) (n int) {
	for i := range slices.Backward(is) {
		all := len(is[i].Media)
		keep := min(all, max(0, budget/tokencount.MediaTokens))
		budget -= keep * tokencount.MediaTokens
		n += all*tokencount.MediaTokens - l.referToMedia(&is[i], all-keep)
	}
	return n
}

// ReferToOldest decides that the oldest media in messages before end become references, until they save
// enough. It returns the tokens that they save.
func (l BudgetFitter) ReferToOldest(is []Plan, end int, over int) (saved int) {
	for i := range is {
		if is[i].MessageIndex < end {
			saved += l.referToMedia(&is[i], min(len(is[i].Media), max(0, over-saved+mediaSaving-1)/mediaSaving))
		}
	}
	return saved
}

// ReferToArguments decides that the long values in the calls of results become references, and returns the
// tokens that this saves.
func (l BudgetFitter) ReferToArguments(is []Plan) (saved int) {
	for i := range is {
		saved += l.referToArguments(&is[i])
	}
	return saved
}

// maxRefits bounds how often sizes are levelled again because some results could not
// become as small as required.
const maxRefits = 16

// Level shortens results to a total number of tokens, or to at least minShown bytes each, and returns what
// changes. The outcome is level: repeating it changes nothing.
func (l BudgetFitter) ShortenToBudget(ctx context.Context, is []Plan, budget int) ([]Change, error) {
	edits := make([]Change, len(is))
	var open []*Change
	for i := range is {
		edits[i], _ = l.edit(is[i])
		if e := &edits[i]; e.Size > minExcerptBytes && !e.Notice.IsPlaceholder() {
			open = append(open, e)
		} else {
			budget -= e.Tokens
		}
	}
	for range maxRefits {
		sizes := make([]int, len(open))
		for i, e := range open {
			sizes[i] = e.resultTokens()
		}
		most, left := levelSize(sizes, budget), open[:0:0]
		for _, e := range open {
			if err := l.shorten(ctx, e, most); err != nil {
				return nil, err
			}
			if n := e.resultTokens(); n > most {
				budget -= n
			} else {
				left = append(left, e)
			}
		}
		if len(left) == len(open) {
			break
		}
		open = left
	}
	return slices.DeleteFunc(edits, func(e Change) bool { return !e.Replaces() }), nil
}

// level is the greatest size to which all larger ones can be reduced for the sum to be
// within a budget.
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
