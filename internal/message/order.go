// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package message

import (
	"cmp"
	"slices"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"
)

// InCallOrder returns the messages with the results of each batch in the order of its calls. Eino's state has them in
// this order. A history that was stored from events has them in the order in which the tools ended.
//
// Only messages that consist of results, directly after the message with the calls, are moved. A result whose id
// belongs to no call or to several calls, or that has no id, stays where it is. Results of one call keep their order. A
// message with several results has the place of the first one.
//
// It returns the same slice, without allocating, if nothing is to be moved.
func InCallOrder[M adk.MessageType](msgs []M) []M {
	next := msgs
	for start := 1; start < len(msgs); start++ {
		end := start
		for end < len(msgs) && isResults(msgs[end]) {
			end++
		}
		if end-start < 2 || followCalls(msgs[start-1], msgs[start:end]) {
			start = max(start, end-1)
			continue
		}
		if sorted := sortByCall(msgs[start-1], msgs[start:end]); sorted != nil {
			if SameSlice(next, msgs) {
				next = slices.Clone(msgs)
			}
			copy(next[start:end], sorted)
		}
		start = end - 1
	}
	return next
}

// followCalls reports whether each result belongs to a later call than the one before it. It allocates nothing.
func followCalls[M adk.MessageType](caller M, results []M) bool {
	calls := Parts(caller)
	for _, m := range results {
		for id := firstResultID(m); ; {
			if !calls.Next() {
				return false
			}
			if calls.Kind == Call && calls.ID() == id {
				break
			}
		}
	}
	return true
}

// sortByCall returns the results in the order of their calls; nil if they are in order already.
func sortByCall[M adk.MessageType](caller M, results []M) []M {
	positions := callPositions(caller)
	type result struct {
		message  M
		position int // of its call
	}
	var places []int
	var found []result
	for i, m := range results {
		if p, ok := positions[firstResultID(m)]; ok && p != ambiguous {
			places, found = append(places, i), append(found, result{m, p})
		}
	}
	byPosition := func(a, b result) int { return cmp.Compare(a.position, b.position) }
	if slices.IsSortedFunc(found, byPosition) {
		return nil
	}
	slices.SortStableFunc(found, byPosition)
	sorted := slices.Clone(results)
	for i, place := range places {
		sorted[place] = found[i].message
	}
	return sorted
}

// ambiguous is the position of an id that belongs to several calls, or is empty.
const ambiguous = -1

// callPositions returns the positions of the calls of a message, by id.
func callPositions[M adk.MessageType](caller M) map[string]int {
	positions := map[string]int{"": ambiguous}
	for p := Parts(caller); p.Next(); {
		if p.Kind != Call {
			continue
		}
		if _, isTaken := positions[p.ID()]; isTaken {
			positions[p.ID()] = ambiguous
		} else {
			positions[p.ID()] = p.Index
		}
	}
	return positions
}

// isResults reports whether a message consists of results. It is called for each message of a history, so it does not
// read parts.
func isResults[M adk.MessageType](m M) bool {
	switch m := any(m).(type) {
	case *schema.Message:
		return m != nil && m.Role == schema.Tool
	case *schema.AgenticMessage:
		return m != nil && len(m.ContentBlocks) > 0 && !slices.ContainsFunc(m.ContentBlocks, isNoResult)
	}
	return false
}

func isNoResult(b *schema.ContentBlock) bool { return !isResultBlock(b) }

// firstResultID returns the id of the first result of a message that consists of results.
func firstResultID[M adk.MessageType](m M) string {
	switch m := any(m).(type) {
	case *schema.Message:
		return m.ToolCallID
	case *schema.AgenticMessage:
		return blockID(m.ContentBlocks[0])
	}
	return ""
}
