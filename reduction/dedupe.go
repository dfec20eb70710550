// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package reduction

// Replaces new results by references if the model sees an equal result already.

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/cloudwego/eino/adk"

	"github.com/einolean/einolean"
	"github.com/einolean/einolean/reduction/internal/clearing"
	"github.com/einolean/einolean/reduction/internal/notice"
	"github.com/einolean/einolean/reduction/internal/report"
	"github.com/einolean/einolean/reduction/internal/rounds"
	"github.com/einolean/einolean/reduction/internal/tokencount"
)

// maxShownName is how many bytes of a tool's name or a call's id a reference shows at most.
const maxShownName = 64

// dedupe returns a state with references in place of new results that equal a visible one, and its size. Old
// results that are about to be cleared do not count as visible for those that are kept. The error is that of a
// user's callback.
func dedupe[M adk.MessageType](
	ctx context.Context, s *settings[M], state *adk.TypedChatModelAgentState[M], size tokencount.Size, threshold int64,
) (*adk.TypedChatModelAgentState[M], tokencount.Size, error) {
	from := rounds.NewestResultsIndex(state.Messages)
	if !mayRepeatEarlier(state.Messages, from) {
		return state, size, nil
	}
	window := s.window(ctx)
	willClear := size.Tokens >= threshold || window > 0 && size.Tokens > window
	f := newFitPass(ctx, newPass(ctx, s, state))
	if err := f.replaceDuplicates(ctx, from, willClear); err != nil {
		return nil, size, err
	}
	out := f.commit(ctx, einolean.KindResultReferred, report.ByRepeat)
	if willClear && out != state {
		size, err := s.sizeFor(ctx, out, threshold)
		return out, size, err
	}
	return out, size, nil
}

// replaceDuplicates adds the changes that replace duplicate results, from a message on, by references.
func (f fitPass[M]) replaceDuplicates(ctx context.Context, from int, willClear bool) error {
	for _, d := range findDuplicates(f.pass, from, willClear) {
		change, ok, err := f.pass.decider().DecideDuplicate(ctx, d.result, d.earlierCall)
		if err != nil {
			return err
		}
		if ok {
			f.pass.changes = append(f.pass.changes, change)
		}
	}
	return nil
}

// knownSizes are the sizes of results, in bytes. Only results of the same size can be equal.
type knownSizes map[int]bool

// addSize adds the size of a result. It returns whether an earlier result, which may be equal, has this size.
func (k knownSizes) addSize(size int) bool {
	if size < clearing.MinDuplicateBytes {
		return false
	}
	known := k[size]
	k[size] = true
	return known
}

// mayHaveDuplicates reports whether results of a history may be equal.
func mayHaveDuplicates[M adk.MessageType](msgs []M) bool {
	sizes := make(knownSizes)
	for _, size := range resultSizes(msgs) {
		if sizes.addSize(size) {
			return true
		}
	}
	return false
}

// mayRepeatEarlier reports whether results from a message on may equal earlier ones. It allocates nothing.
func mayRepeatEarlier[M adk.MessageType](msgs []M, from int) bool {
	for position, size := range resultSizes(msgs[from:]) {
		if position.message += from; size < clearing.MinDuplicateBytes {
			continue
		}
		for earlier, n := range resultSizes(msgs[:position.message+1]) {
			if earlier == position {
				break
			}
			if n == size {
				return true
			}
		}
	}
	return false
}

// duplicate is a result that equals an earlier, visible one.
type duplicate struct {
	result      *clearing.Candidate
	earlierCall string // the call of the earlier result, for the model
}

// findDuplicates lists the results from a message on that equal an earlier, visible one.
func findDuplicates[M adk.MessageType](p *pass[M], from int, willClear bool) (duplicates []duplicate) {
	history := p.history()
	_, retained := rounds.SplitRetained(history, p.settings.cfg.ClearRetentionSuffixLimit)
	first := make(map[uint64]*rounds.Pair)
	for _, position := range callsInResultOrder(history) {
		round := history[position.round]
		pair := &round.Pairs[position.call]
		if !clearing.MayHaveDuplicates(pair.Result) {
			continue
		}
		key := pair.TextKey(report.KeyOf)
		earlier, found := first[key]
		if !found || willClear && earlier.MessageIndex < retained && pair.MessageIndex >= retained {
			first[key] = pair
			continue
		}
		if pair.MessageIndex < from || !slices.Equal(earlier.Result.Texts, pair.Result.Texts) {
			continue
		}
		if c := p.candidate(round, pair); c.Exclusion(clearing.ToDedupe) == clearing.NotExcluded {
			duplicates = append(duplicates, duplicate{&c, describeCall(earlier.Call)})
		}
	}
	return duplicates
}

// callPosition is the index of a round and that of a call in it.
type callPosition struct{ round, call int }

// callsInResultOrder lists the calls that have a result, in the order of their results.
func callsInResultOrder(history []rounds.Round) (calls []callPosition) {
	for i, round := range history {
		for n := range round.Pairs {
			if round.Pairs[n].HasResult {
				calls = append(calls, callPosition{i, n})
			}
		}
	}
	slices.SortStableFunc(calls, func(a, b callPosition) int {
		one, other := &history[a.round].Pairs[a.call], &history[b.round].Pairs[b.call]
		return cmp.Or(cmp.Compare(one.MessageIndex, other.MessageIndex), cmp.Compare(one.Result.Index, other.Result.Index))
	})
	return calls
}

// describeCall names a call for the model, which knows the ids of most calls.
func describeCall(c rounds.Call) string {
	isShort := func(s string) bool { return len(s) <= maxShownName && notice.Showable(s) }
	switch {
	case !isShort(c.Name):
		return "a call"
	case !isShort(c.ID):
		return c.Name
	}
	return fmt.Sprintf("%s (%s)", c.Name, c.ID)
}
