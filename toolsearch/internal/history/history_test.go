// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package history

// Laws of a history, over random messages of both types.

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/continuation"
	"github.com/einolean/einolean/internal/dev/adktest"
	"github.com/einolean/einolean/internal/jsontext"
	"github.com/einolean/einolean/internal/message"
	"github.com/einolean/einolean/internal/toolnames"
	"github.com/einolean/einolean/toolsearch/internal/protocol"
	"github.com/einolean/einolean/toolsearch/internal/runstate"
)

var (
	lists        = []string{FormatList([]string{"a"}, ""), FormatList([]string{"a", "b"}, "")}
	changeText   = toolnames.ChangedOpen + "\nadded: c\n" + toolnames.ChangedClose
	prefetchText = protocol.Offer([]protocol.Described{{Name: "a", Call: "a()"}}, "take it")
)

// anyMessage is a message of any kind.
func anyMessage[M adk.MessageType](r *rand.Rand, n int) M {
	switch r.IntN(11) {
	case 0:
		return NewReminder[M](lists[r.IntN(2)])
	case 1:
		return NewReminder[M](changeText)
	case 2:
		return NewHint[M](prefetchText)
	case 3:
		return NewReminder[M](lists[0] + " and more")
	case 4:
		return adktest.User[M](lists[r.IntN(2)]) // as a store left it
	case 5:
		return message.NewCallMessage[M]([]message.ToolCall{{ID: fmt.Sprint(n), Name: []string{"a", "b", "own"}[r.IntN(3)], Args: "{}"}})
	case 6:
		return adktest.System[M]("be brief")
	}
	return adktest.User[M](fmt.Sprint("message ", n))
}

func anyMessages[M adk.MessageType](r *rand.Rand) (msgs []M) {
	for n := range r.IntN(9) {
		msgs = append(msgs, anyMessage[M](r, n))
	}
	return msgs
}

// fakeAgent has hidden tools with names of one letter, and a tool of its own.
type fakeAgent struct{}

func (fakeAgent) HasHiddenTool(name string) bool             { return len(name) == 1 }
func (fakeAgent) HasOwnTool(name string) bool                { return name == "own" }
func (fakeAgent) RequestedTools(jsontext.Arguments) []string { return nil }
func (fakeAgent) RecordsCalls() bool                         { return true }

// syncUsage reads messages and adds the pending ones to the usage, as a hook does. Every other message of a user gets
// prefetched tools. It returns the texts of all users' messages.
func syncUsage[M adk.MessageType](h *History[M], msgs []M) []string {
	h.Read(msgs, &runstate.CallLog{})
	return addPending(h)
}

func addPending[M adk.MessageType](h *History[M]) []string {
	for _, e := range h.TakePending() {
		if e.IsFromUser() && len(userTexts(h, e))%2 == 0 {
			e.PrefetchText = protocol.Offer([]protocol.Described{{Name: "b", Call: "b()"}}, e.Text())
		}
		h.Usage.Add(e.Content, e.Outcomes, fakeAgent{})
	}
	return userTexts(h, nil)
}

// userTexts returns the texts of users' messages, up to an entry.
func userTexts[M adk.MessageType](h *History[M], last *Entry[M]) (texts []string) {
	for i := range h.entries {
		if e := &h.entries[i]; e.IsFromUser() {
			texts = append(texts, e.Text())
		}
		if &h.entries[i] == last {
			break
		}
	}
	return texts
}

func textsOf[M adk.MessageType](msgs []M) []string {
	all := []string{}
	for _, m := range msgs {
		all = append(all, adktest.Text(m))
	}
	return all
}

func TestHistory_EditsOnlyOwnMessages(t *testing.T) {
	adktest.EachType(t, testEdits[*schema.Message], testEdits[*schema.AgenticMessage])
}

// Whatever messages come after whichever: the usage is that of a history that reads them for the first time; without an
// edit, the messages are the slice that was read; after SetList there is that list at most once, and no other;
// prefetched tools stand after their messages and nowhere else; all else stays, in its order; a second time changes
// nothing; and the messages that were read are never written to.
func testEdits[M adk.MessageType](t *testing.T) {
	for seed := range uint64(400) {
		r := rand.New(rand.NewPCG(seed, 5))
		where := fmt.Sprint("seed ", seed)
		var used History[M]
		msgs := anyMessages[M](r)
		for range 5 {
			switch r.IntN(4) {
			case 0:
				msgs = anyMessages[M](r)
			case 1:
				msgs = msgs[:r.IntN(len(msgs)+1)]
			default:
				msgs = append(slices.Clone(msgs), anyMessages[M](r)...)
			}
			before, textsBefore := slices.Clone(msgs), textsOf(msgs)
			var fresh History[M]
			require.Equal(t, syncUsage(&fresh, msgs), syncUsage(&used, msgs), where)
			require.True(t, used.HasSameMessages(msgs), where)
			require.Equal(t, fresh.Usage.Order, used.Usage.Order, where)
			require.Equal(t, fresh.Usage.LastUse, used.Usage.LastUse, where)
			require.Equal(t, fresh.Usage.ModelCalls, used.Usage.ModelCalls, where)
			if same := used.Messages(msgs); len(msgs) > 0 {
				require.Same(t, &msgs[0], &same[0], where)
			}

			used.PlacePrefetched()
			list := append(lists, "")[r.IntN(3)]
			used.SetList(list)
			out := used.Messages(msgs)
			requireEdited(t, textsBefore, textsOf(out), list, where)
			used.PlacePrefetched()
			used.SetList(list)
			require.True(t, slices.Equal(out, used.Messages(msgs)), where)
			require.Equal(t, before, msgs, where)
			require.Equal(t, textsBefore, textsOf(msgs), where)
			if r.IntN(2) == 0 { // the next call gets what this one wrote
				msgs = out
			}
		}
	}
}

// requireEdited requires that a history has this list, and the prefetched tools that addPending chose.
func requireEdited(t *testing.T, came, out []string, list, where string) {
	t.Helper()
	isOurs := func(text string) bool { return isAnnouncement(text) || protocol.IsOffer(text) }
	require.Equal(t, slices.DeleteFunc(slices.Clone(came), isOurs), slices.DeleteFunc(slices.Clone(out), isOurs), where)
	lists := slices.DeleteFunc(slices.Clone(out), func(text string) bool { return !isAnnouncement(text) })
	if list == "" || len(lists) == 0 && strings.Contains(strings.Join(out, ""), list) { // it is a part of another message
		require.Empty(t, lists, where)
	} else {
		require.Equal(t, []string{list}, lists, where)
	}
	for i, text := range out {
		if protocol.IsOffer(text) {
			after := slices.DeleteFunc(slices.Clone(out[:i]), isAnnouncement)
			require.Contains(t, text, `"hint":`, where)
			require.True(t, len(after) > 0 && strings.Contains(text, after[len(after)-1]), "%s: %q", where, out)
		}
	}
}

// isAnnouncement recognises a list, or a change of one.
func isAnnouncement(text string) bool { return isList(text, true) || isListChange(text, true) }

func TestReplace_RestartsUsage(t *testing.T) {
	adktest.EachType(t, testReplace[*schema.Message], testReplace[*schema.AgenticMessage])
}

// After a message of the model was replaced, the usage is that of the new messages.
func testReplace[M adk.MessageType](t *testing.T) {
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(seed, 6))
		msgs := append(anyMessages[M](r), message.NewCallMessage[M]([]message.ToolCall{{ID: "x", Name: "a", Args: "{}"}}))
		var used, fresh History[M]
		texts := syncUsage(&used, msgs)
		require.False(t, used.Replace(msgs))
		require.Empty(t, used.TakePending(), "nothing changed")
		next := slices.Clone(msgs)
		next[len(next)-1] = message.NewCallMessage[M]([]message.ToolCall{{ID: "x", Name: "c", Args: "{}"}})
		require.True(t, used.Replace(next))
		require.Equal(t, texts, addPending(&used), "users' messages are pending again")
		syncUsage(&fresh, next)
		require.Equal(t, fresh.Usage.Order, used.Usage.Order, "seed %d", seed)
		require.Equal(t, fresh.Usage.LastUse, used.Usage.LastUse, "seed %d", seed)
		require.Equal(t, next, used.Messages(msgs), "seed %d", seed)
	}
}

func TestRead_OutcomesAreOfTheirCalls(t *testing.T) {
	adktest.EachType(t, testOutcomes[*schema.Message], testOutcomes[*schema.AgenticMessage])
}

// An id may be that of an older call as well. In the newest batch, only outcomes of that batch count. Those of older
// calls count only after a model call of this run.
func testOutcomes[M adk.MessageType](t *testing.T) {
	var log runstate.CallLog
	log.Record("old", runstate.CallOutcome{Tool: "a"})
	log.BeginModelCall()
	log.Record("new", runstate.CallOutcome{Tool: "b"})
	for _, c := range []struct {
		name   string
		ids    []string // of one call in each message
		isSent bool
		known  []string
	}{
		{"newest call", []string{"new"}, false, []string{"new"}},
		{"newest call with an old id", []string{"old"}, true, nil},
		{"older call before a model call", []string{"old", "new"}, false, []string{"new"}},
		{"older call after a model call", []string{"old", "new"}, true, []string{"old", "new"}},
		{"call of an earlier run with the id of an older call", []string{"old", "old", "new"}, true, []string{"old", "new"}},
	} {
		var h History[M]
		h.Usage.isSent = c.isSent
		var msgs []M
		for _, id := range c.ids {
			msgs = append(msgs, message.NewCallMessage[M]([]message.ToolCall{{ID: id, Name: "x", Args: "{}"}}))
		}
		h.Read(msgs, &log)
		var known []string
		for _, e := range h.TakePending() {
			for id := range e.Outcomes {
				known = append(known, id)
			}
		}
		require.Equal(t, c.known, known, c.name)
	}
}

func TestTakePending_SortsResultsByCall(t *testing.T) {
	adktest.EachType(t, testOrder[*schema.Message], testOrder[*schema.AgenticMessage])
}

// Whichever tool of a batch ended first, the tools that its searches loaded have the same order.
func testOrder[M adk.MessageType](t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 7))
		var inOrder, asEnded []M
		for round := range 3 {
			var calls []message.ToolCall
			var results []M
			for i := range 1 + r.IntN(4) {
				id := fmt.Sprint(round, i)
				calls = append(calls, message.ToolCall{ID: id, Name: toolnames.Search, Args: "{}"})
				var names []string
				for range 1 + r.IntN(3) {
					names = append(names, string(rune('a'+r.IntN(26))))
				}
				results = append(results, adktest.Result[M](id, toolnames.Search, protocol.Matches(names)))
			}
			inOrder = append(append(inOrder, message.NewCallMessage[M](calls)), results...)
			r.Shuffle(len(results), func(i, j int) { results[i], results[j] = results[j], results[i] })
			asEnded = append(append(asEnded, message.NewCallMessage[M](calls)), results...)
		}
		var a, b History[M]
		syncUsage(&a, inOrder)
		syncUsage(&b, asEnded)
		require.NotEmpty(t, a.Usage.Order)
		require.Equal(t, a.Usage.Order, b.Usage.Order, "seed %d", seed)
	}
}

func TestContinuationGuard_DropsStateOfAnotherRequest(t *testing.T) {
	adktest.EachType(t, testRequest[*schema.Message], testRequest[*schema.AgenticMessage])
}

// Provider state is stale after another list, other tools or, for signed thinking, another definition or another text
// of the middleware before it; and after nothing else.
func testRequest[M adk.MessageType](t *testing.T) {
	of := func(list string, names []string, desc string, more ...M) Request[M] {
		var h History[M]
		msgs := append([]M{adktest.User[M]("please")}, more...)
		h.Read(msgs, &runstate.CallLog{})
		h.SetList(list)
		return h.Request(list, names, []*schema.ToolInfo{{Name: "own", Desc: desc}}, h.Messages(msgs))
	}
	was := of(lists[0], []string{"a", "b"}, "does")
	for _, c := range []struct {
		name   string
		now    Request[M]
		stales []continuation.Continuation
	}{
		{"the same", of(lists[0], []string{"a", "b"}, "does"), nil},
		{"tools in another order", of(lists[0], []string{"b", "a"}, "does"), nil},
		{"another list", of(lists[1], []string{"a", "b"}, "does"), []continuation.Continuation{continuation.Stored, continuation.StoredWithTools, continuation.SignedThinking}},
		{"another tool", of(lists[0], []string{"a"}, "does"), []continuation.Continuation{continuation.StoredWithTools}},
		{"another definition", of(lists[0], []string{"a", "b"}, "does not"), []continuation.Continuation{continuation.SignedThinking}},
	} {
		before, after := was.ContinuationGuard(nil), c.now.ContinuationGuard(func(context.Context) {})
		for _, tie := range []continuation.Continuation{continuation.Stored, continuation.StoredWithTools, continuation.SignedThinking} {
			stale := after.Stale([]M{NewReminder[M](lists[0]), adktest.User[M]("please")})(2, tie, before.Mark(nil, tie))
			require.Equal(t, slices.Contains(c.stales, tie), stale, "%s, %v", c.name, tie)
		}
	}
}

func TestMarkSent_LaterResultsAreOfThisRun(t *testing.T) {
	adktest.EachType(t, testMarkSent[*schema.Message], testMarkSent[*schema.AgenticMessage])
}

// A result from before the first model call loads tools by the name of its call. A later one does not, unless a search tool
// of the middleware gave it.
func testMarkSent[M adk.MessageType](t *testing.T) {
	search := func(id, found string) []M {
		return []M{
			message.NewCallMessage[M]([]message.ToolCall{{ID: id, Name: toolnames.Search, Args: "{}"}}),
			adktest.Result[M](id, toolnames.Search, protocol.Matches([]string{found})),
		}
	}
	var h History[M]
	msgs := search("1", "a")
	syncUsage(&h, msgs)
	h.MarkSent()
	syncUsage(&h, append(msgs, search("2", "b")...))
	require.Equal(t, []string{"a"}, h.Usage.Order)
}
