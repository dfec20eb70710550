// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package transcript_test

// Laws of a transcript, over random conversations of both kinds of messages.

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

	"github.com/einolean/einolean/internal/dev/adktest"
	"github.com/einolean/einolean/internal/lenient"
	"github.com/einolean/einolean/internal/message"
	"github.com/einolean/einolean/internal/session"
	"github.com/einolean/einolean/internal/toolnames"
	"github.com/einolean/einolean/toolsearch/internal/say"
	"github.com/einolean/einolean/toolsearch/internal/told"
	"github.com/einolean/einolean/toolsearch/internal/transcript"
	"github.com/einolean/einolean/toolsearch/internal/turn"
	"github.com/einolean/einolean/toolsearch/internal/wire"
)

var (
	lists  = []string{told.List([]string{"a"}, ""), told.List([]string{"a", "b"}, "")}
	change = toolnames.ChangedOpen + "\nadded: c\n" + toolnames.ChangedClose
	offer  = say.Offer([]say.Described{{Name: "a", Call: "a()"}}, "take it")
)

// anyMessage is a message of a kind that means something to a transcript, or of none.
func anyMessage[M adk.MessageType](r *rand.Rand, n int) M {
	switch r.IntN(11) {
	case 0:
		return wire.Note[M](lists[r.IntN(2)], true)
	case 1:
		return wire.Note[M](change, true)
	case 2:
		return wire.Note[M](offer, false)
	case 3:
		return wire.Note[M](lists[0]+" and more", true)
	case 4:
		return adktest.User[M](lists[r.IntN(2)]) // as a store left it
	case 5:
		return message.Calling[M]([]message.ToolCall{{ID: fmt.Sprint(n), Name: []string{"a", "b", "own"}[r.IntN(3)], Args: "{}"}})
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

// world has the tools a, b and c.
func world() turn.Run {
	return turn.Run{
		Called: func(string) {},
		Has:    func(name string) bool { return len(name) == 1 }, Owns: func(name string) bool { return name == "own" }, Note: func(string) turn.Note { return turn.Note{} },
		ByHand: func() bool { return false }, Asked: func(lenient.Arguments) []string { return nil }, Miss: func(string) {},
	}
}

func texts[M adk.MessageType](msgs []M) []string {
	all := []string{}
	for _, m := range msgs {
		all = append(all, adktest.Text(m))
	}
	return all
}

// meets offers something for every other message of a user.
func meets(met *[]string) func(int, string) string {
	return func(n int, text string) string {
		*met = append((*met)[:n], text)
		if n%2 == 0 {
			return ""
		}
		return say.Offer([]say.Described{{Name: "b", Call: "b()"}}, text)
	}
}

func TestATranscriptHoldsItsMessages(t *testing.T) {
	adktest.EachType(t, testTranscript[*schema.Message], testTranscript[*schema.AgenticMessage])
}

// Whatever conversation comes after whichever: what was read before changes no fact; what is read
// unedited is written as it came, in the same slice; after a list is put there is that one, at most
// once, and no other; offers stand after their messages and nowhere else; all else stays, in its order;
// a second time changes nothing; and what came is never written to.
func testTranscript[M adk.MessageType](t *testing.T) {
	for seed := range uint64(400) {
		r := rand.New(rand.NewPCG(seed, 5))
		where := fmt.Sprint("seed ", seed)
		var used transcript.Transcript[M]
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
			before, came := slices.Clone(msgs), texts(msgs)
			var met, metAnew []string
			fresh := transcript.Transcript[M]{}
			fresh.Read(msgs)
			fresh.Hear(world, meets(&metAnew))
			met = slices.Collect(used.Asks())
			used.Read(msgs)
			require.True(t, used.Is(msgs), where)
			used.Hear(world, meets(&met))
			require.Equal(t, metAnew, slices.Collect(used.Asks()), where)
			require.Equal(t, fresh.Facts.Order, used.Facts.Order, where)
			require.Equal(t, fresh.Facts.Last, used.Facts.Last, where)
			require.Equal(t, fresh.Facts.ModelCalls, used.Facts.ModelCalls, where)
			if same := used.Write(msgs); len(msgs) > 0 {
				require.Same(t, &msgs[0], &same[0], where)
			}

			used.PutOffers()
			list := append(lists, "")[r.IntN(3)]
			used.PutList(list)
			out := used.Write(msgs)
			requireEdited(t, came, texts(out), list, where)
			used.PutOffers()
			used.PutList(list)
			require.True(t, slices.Equal(out, used.Write(msgs)), where)
			require.Equal(t, before, msgs, where)
			require.Equal(t, came, texts(msgs), where)
			if r.IntN(2) == 0 { // the next call gets what this one wrote
				msgs = out
			}
		}
	}
}

// requireEdited requires that a conversation has this list, and the offers that meets makes.
func requireEdited(t *testing.T, came, out []string, list, where string) {
	t.Helper()
	isOurs := func(text string) bool { return isTold(text) || say.IsOffer(text) }
	require.Equal(t, slices.DeleteFunc(slices.Clone(came), isOurs), slices.DeleteFunc(slices.Clone(out), isOurs), where)
	lists := slices.DeleteFunc(slices.Clone(out), func(text string) bool { return !isTold(text) })
	if list == "" || len(lists) == 0 && strings.Contains(strings.Join(out, ""), list) { // it is a part of another message
		require.Empty(t, lists, where)
	} else {
		require.Equal(t, []string{list}, lists, where)
	}
	for i, text := range out {
		if say.IsOffer(text) {
			after := slices.DeleteFunc(slices.Clone(out[:i]), isTold)
			require.Contains(t, text, `"hint":`, where)
			require.True(t, len(after) > 0 && strings.Contains(text, after[len(after)-1]), "%s: %q", where, out)
		}
	}
}

// isTold recognises a list, or a change of one.
func isTold(text string) bool { return told.IsList(text, true) || told.IsChange(text, true) }

func TestReplacedMessagesAreHeardAgain(t *testing.T) {
	adktest.EachType(t, testReplaced[*schema.Message], testReplaced[*schema.AgenticMessage])
}

// After a message of the model was replaced, the facts are those of the conversation as it is then.
func testReplaced[M adk.MessageType](t *testing.T) {
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(seed, 6))
		msgs := append(anyMessages[M](r), message.Calling[M]([]message.ToolCall{{ID: "x", Name: "a", Args: "{}"}}))
		var used, fresh transcript.Transcript[M]
		var met []string
		used.Read(msgs)
		used.Hear(world, meets(&met))
		require.False(t, used.Replace(msgs))
		next := slices.Clone(msgs)
		next[len(next)-1] = message.Calling[M]([]message.ToolCall{{ID: "x", Name: "c", Args: "{}"}})
		require.True(t, used.Replace(next))
		again := met
		met = nil
		used.Hear(world, meets(&met))
		require.Equal(t, again, met, "users' messages are met again")
		fresh.Read(next)
		fresh.Hear(world, meets(&met))
		require.Equal(t, fresh.Facts.Order, used.Facts.Order, "seed %d", seed)
		require.Equal(t, fresh.Facts.Last, used.Facts.Last, "seed %d", seed)
		require.Equal(t, next, used.Write(msgs), "seed %d", seed)
	}
}

func TestResultsAreHeardInTheOrderOfTheirCalls(t *testing.T) {
	adktest.EachType(t, testOrder[*schema.Message], testOrder[*schema.AgenticMessage])
}

// Whichever tool of a round ended first, the tools that its searches loaded have the same order.
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
				results = append(results, adktest.Result[M](id, toolnames.Search, say.JSON(say.Answer{Matches: names})))
			}
			inOrder = append(append(inOrder, message.Calling[M](calls)), results...)
			r.Shuffle(len(results), func(i, j int) { results[i], results[j] = results[j], results[i] })
			asEnded = append(append(asEnded, message.Calling[M](calls)), results...)
		}
		var a, b transcript.Transcript[M]
		a.Read(inOrder)
		a.Hear(world, nil)
		b.Read(asEnded)
		b.Hear(world, nil)
		require.NotEmpty(t, a.Facts.Order)
		require.Equal(t, a.Facts.Order, b.Facts.Order, "seed %d", seed)
	}
}

func TestAnAnswerIsReleasedWhereItsRequestIsAnother(t *testing.T) {
	adktest.EachType(t, testRequest[*schema.Message], testRequest[*schema.AgenticMessage])
}

// An answer that a provider ties to its request is stale after another list, other tools or, if it is
// bound to all of it, another definition or another message of ours before it; and after nothing else.
func testRequest[M adk.MessageType](t *testing.T) {
	of := func(list string, names []string, desc string, more ...M) transcript.Request[M] {
		var c transcript.Transcript[M]
		msgs := append([]M{adktest.User[M]("please")}, more...)
		c.Read(msgs)
		c.PutList(list)
		return c.Request(list, names, []*schema.ToolInfo{{Name: "own", Desc: desc}}, c.Write(msgs))
	}
	was := of(lists[0], []string{"a", "b"}, "does")
	for _, c := range []struct {
		name   string
		now    transcript.Request[M]
		stales []session.Tie
	}{
		{"the same", of(lists[0], []string{"a", "b"}, "does"), nil},
		{"tools in another order", of(lists[0], []string{"b", "a"}, "does"), nil},
		{"another list", of(lists[1], []string{"a", "b"}, "does"), []session.Tie{session.Stored, session.StoredWithTools, session.Bound}},
		{"another tool", of(lists[0], []string{"a"}, "does"), []session.Tie{session.StoredWithTools}},
		{"another definition", of(lists[0], []string{"a", "b"}, "does not"), []session.Tie{session.Bound}},
	} {
		before, after := was.Keeper(nil), c.now.Keeper(func(context.Context) {})
		for _, tie := range []session.Tie{session.Stored, session.StoredWithTools, session.Bound} {
			stale := after.Stale([]M{wire.Note[M](lists[0], true), adktest.User[M]("please")})(2, tie, before.Mark(nil, tie))
			require.Equal(t, slices.Contains(c.stales, tie), stale, "%s, %v", c.name, tie)
		}
	}
}
