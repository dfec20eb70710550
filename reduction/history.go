// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package reduction

// The rounds of calls and results in a history, which a user may rewrite. And answers that a
// provider ties to their request: it must not use results that were cleared, or refuse thinking that
// is bound to them.

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"slices"
	"strconv"

	"github.com/cloudwego/eino/adk"

	"github.com/leanctx/leanctx"
	"github.com/leanctx/leanctx/internal/session"
)

// pair is a call and its result.
type pair struct {
	call   call
	found  bool // there is a result
	at     int  // the message of the result
	result result
}

// round is an assistant message with tool calls, and their results.
type round struct {
	at        int  // the assistant message
	processed bool // cleared or rewritten before
	ours      bool // by this package
	pairs     []pair
}

// messages lists the messages with the round's results, in the order of the
// history, each once.
func (r round) messages() []int {
	var out []int
	for _, p := range r.pairs {
		if p.found {
			out = append(out, p.at)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// roundsOf finds the rounds of a history. A result belongs to the newest call of its id that
// has none yet; ids may repeat, in a round and over a conversation. A result without an id
// belongs to a call of the newest round, by its name or else by its position. A result that
// matches no call is in no round.
func roundsOf[M adk.MessageType](msgs []M) []round {
	p := pairer{rounds: make([]round, 0, len(msgs)/2)}
	var v view
	for i, m := range msgs {
		v = viewOf(m, v)
		p.next(i, v)
	}
	return p.rounds
}

type pairer struct {
	rounds []round

	// The rounds with calls of an id, oldest first, for results that are not of the newest round: of
	// the first entered rounds, none until the first such result, as most histories have none.
	byID    map[string][]int
	entered int
}

// next takes the message after those before.
func (p *pairer) next(at int, v view) {
	for _, r := range v.results {
		p.add(at, r)
	}
	if len(v.calls) == 0 {
		return
	}
	r := round{at: at, processed: v.processed, ours: v.ours, pairs: make([]pair, len(v.calls))}
	for i, c := range v.calls {
		r.pairs[i].call = c
	}
	p.rounds = append(p.rounds, r)
}

// add finds the call of a result. Nearly always that is in the newest round.
func (p *pairer) add(at int, r result) {
	if len(p.rounds) == 0 {
		return
	}
	newest := &p.rounds[len(p.rounds)-1]
	to := newest.waiting(r, true)
	switch {
	case to != nil:
	case r.id != "":
		to = p.older(r)
	default:
		to = newest.waiting(r, false)
	}
	if to != nil {
		to.found, to.at, to.result = true, at, r
	}
}

// older finds the newest call that waits for a result with an id. It skips rounds that have
// none left.
func (p *pairer) older(r result) *pair {
	if p.byID == nil {
		p.byID = make(map[string][]int, len(p.rounds))
	}
	for ; p.entered < len(p.rounds); p.entered++ {
		for _, each := range p.rounds[p.entered].pairs {
			if rounds := p.byID[each.call.id]; len(rounds) == 0 || rounds[len(rounds)-1] != p.entered {
				p.byID[each.call.id] = append(rounds, p.entered)
			}
		}
	}
	rounds := p.byID[r.id]
	for len(rounds) > 0 {
		if to := p.rounds[rounds[len(rounds)-1]].waiting(r, true); to != nil {
			return to
		}
		rounds = rounds[:len(rounds)-1]
		p.byID[r.id] = rounds
	}
	return nil
}

// waiting returns the call that waits for a result: among those with its id, or among all if
// its id is lost, the first of its name, or else the first. Without an id, a call of another
// name does not match.
func (r *round) waiting(got result, byID bool) *pair {
	var first *pair
	for i := range r.pairs {
		p := &r.pairs[i]
		if p.found || byID && p.call.id != got.id {
			continue
		}
		if p.call.name == got.name {
			return p
		}
		if first == nil && (got.id != "" || got.name == "") {
			first = p
		}
	}
	return first
}

// outside returns the rounds before the last keep, and where the kept ones begin.
func outside(rounds []round, keep int) (before []round, end int) {
	if len(rounds) <= keep {
		return nil, 0
	}
	n := len(rounds) - keep
	return rounds[:n], rounds[n].at
}

// newest is where the results of the newest round begin.
func newest[M adk.MessageType](msgs []M) int {
	for i := len(msgs) - 1; i >= 0; i-- {
		if callsTools(msgs[i]) {
			return i + 1
		}
	}
	return len(msgs)
}

// rewritten returns the messages with the rounds outside the kept ones changed by the user's
// rewriter, and whether anything is new. It skips rounds that were rewritten or cleared
// before.
func rewritten[M adk.MessageType](ctx context.Context, m *middleware[M], msgs []M) ([]M, bool, error) {
	if m.cfg.SkipClear || m.cfg.ClearMessageRewriter == nil {
		return msgs, false, nil
	}
	rounds, end := outside(roundsOf(msgs), m.cfg.ClearRetentionSuffixLimit)
	instead := make(map[int][]M, len(rounds))
	gone := make(map[int]bool)
	for _, r := range rounds {
		if r.processed || !alone(msgs, r, end) {
			continue
		}
		got, err := rewrite(ctx, m, msgs, r)
		if err != nil {
			return nil, false, err
		}
		instead[r.at] = got
		gone[r.at] = true
		for _, i := range r.messages() {
			if rest, any := withoutResults(msgs[i]); any {
				instead[i] = append(instead[i], rest)
			}
			gone[i] = true
		}
	}
	if len(instead) == 0 {
		return msgs, false, nil
	}
	out := make([]M, 0, len(msgs))
	for i, m := range msgs {
		out = append(out, instead[i]...)
		if !gone[i] {
			out = append(out, m)
		}
	}
	return out, true, nil
}

// alone reports whether the messages with a round's results hold results of no other
// round, and none of them is kept: then the round can be taken out.
func alone[M adk.MessageType](msgs []M, r round, end int) bool {
	results := 0
	for _, i := range r.messages() {
		if i >= end {
			return false
		}
		results += len(viewOf(msgs[i], view{}).results)
	}
	for _, p := range r.pairs {
		if p.found {
			results--
		}
	}
	return results == 0
}

// rewrite calls the rewriter for a round. It never sees its own output again.
func rewrite[M adk.MessageType](ctx context.Context, m *middleware[M], msgs []M, r round) ([]M, error) {
	var responses []M
	for _, i := range r.messages() {
		responses = append(responses, onlyResults(msgs[i]))
	}
	got, err := m.cfg.ClearMessageRewriter(ctx, own(msgs[r.at]), responses)
	if err != nil {
		return nil, err
	}
	out := make([]M, len(got))
	for i, msg := range got {
		out[i] = msg
		if callsTools(msg) {
			out[i] = applied(msg, edit{mark: true})
		}
	}
	return out, nil
}

// sessionKey marks, in Extra, an answer that the provider ties to its request: its value is
// the digest of the notices there. A request without notices leaves no mark.
const sessionKey = "__leanctx_reduction_session__"

// keeper releases what is tied to other results than those of a request: to results that were
// cleared since, or to notices in place of results that are whole.
func keeper[M adk.MessageType](of *middleware[M]) session.Keeper[M] {
	return session.Keeper[M]{
		Key: sessionKey,
		Mark: func(msgs []M, _ session.Tie) string {
			var sent digest
			for _, m := range msgs {
				sent.add(viewOf(m, view{}))
			}
			return sent.mark()
		},
		Stale: func(msgs []M) func(int, session.Tie, string) bool {
			var sent digest
			read := 0
			upTo := func(end int) {
				for ; read < end; read++ {
					sent.add(viewOf(msgs[read], view{}))
				}
			}
			return func(i int, t session.Tie, mark string) bool {
				if upTo(i); t != session.Bound { // which stores the answer itself as well
					upTo(i + 1)
				}
				return mark != sent.mark()
			}
		},
		Changed: func(ctx context.Context) {
			of.policy.send(ctx, leanctx.Event{Kind: leanctx.KindSessionRestarted})
		},
	}
}

// digest identifies the notices in the messages so far. It is a sum, independent of
// order: events bring the results of parallel calls as these end, a state has them in
// the order of the calls.
type digest struct {
	items int
	sum   uint64
}

func (d *digest) add(v view) {
	if v.processed {
		for _, call := range v.calls {
			d.mix("call", call.id, call.args)
		}
	}
	for _, r := range v.results {
		if r.handled || noticeIn(r.texts).kind != noNotice {
			d.mix(append([]string{"result", r.id}, r.texts...)...)
		}
		for _, text := range r.moved {
			d.mix("medium", r.id, text)
		}
	}
	for _, text := range v.moved {
		d.mix("medium", text)
	}
}

func (d *digest) mix(parts ...string) {
	text, _ := json.Marshal(parts) // encoding strings never fails
	sum := sha256.Sum256(text)
	d.items++
	d.sum += binary.BigEndian.Uint64(sum[:])
}

func (d *digest) mark() string {
	if d.items == 0 {
		return ""
	}
	return strconv.Itoa(d.items) + "-" + strconv.FormatUint(d.sum, 16)
}
