// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package reduction

// Results that the model already sees: a reference replaces a repeat before it is sent
// for the first time.

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/cloudwego/eino/adk"

	"github.com/leanctx/leanctx"
	"github.com/leanctx/leanctx/reduction/internal/seen"
)

// minRepeat is the least size in bytes of a result that a reference may replace.
const minRepeat = 150

// maxCallName is the most bytes of a tool's name or a call's id that a reference shows.
const maxCallName = 64

// refer returns a state with references in place of new results that equal a visible
// one. clears says that old results are about to be cleared, and so do not count as
// visible for those that are kept. Its error is that of a user's callback.
func refer[M adk.MessageType](ctx context.Context, m *middleware[M], state *adk.TypedChatModelAgentState[M], clears bool) (*adk.TypedChatModelAgentState[M], error) {
	from := 0
	if b := m.policy.runOf(ctx); b != nil && b.referred.Swap(true) {
		from = newest(m.codec, state.Messages)
	}
	if !mayRepeat(m.codec, state.Messages, from) {
		return state, nil
	}
	p := newPass(ctx, m, state, size{})
	p.keepNamed(ctx)
	for _, r := range repeats(ctx, p, from, clears) {
		if err := p.place(ctx, r); err != nil {
			return nil, err
		}
		if p.word(r) && showable(r.path) {
			p.done = append(p.done, r)
		}
	}
	p.saveAll(ctx)
	if len(p.done) == 0 {
		return state, nil
	}
	for _, r := range p.done {
		m.policy.report(ctx, r.call.name, r.call.id, output{kind: leanctx.KindResultReferred, rule: byRepeat, before: r.size, after: r.after, path: r.path})
	}
	return withMessages(state, p.out()), nil
}

// mayRepeat reports whether a result from an index on has the size of another one. It
// allocates nothing for the few of a newest round.
func mayRepeat[M adk.MessageType](c codec[M], msgs []M, from int) bool {
	if from == 0 {
		return true
	}
	for i := from; i < len(msgs); i++ {
		for k := 0; ; k++ {
			size := c.resultSize(msgs[i], k)
			if size < 0 {
				break
			}
			if size >= minRepeat && occurs(c, msgs[:i+1], size, i, k) {
				return true
			}
		}
	}
	return false
}

// occurs reports whether a result other than the kth of message at has a size.
func occurs[M adk.MessageType](c codec[M], msgs []M, size, at, k int) bool {
	for i, m := range msgs {
		for j := 0; ; j++ {
			n := c.resultSize(m, j)
			if n < 0 {
				break
			}
			if n == size && (i != at || j < k) {
				return true
			}
		}
	}
	return false
}

// repeats lists the results from an index on that equal an earlier, visible one.
func repeats[M adk.MessageType](ctx context.Context, p *pass[M], from int, clears bool) (out []*old) {
	rounds := roundsOf(p.codec, p.msgs)
	_, kept := outside(rounds, p.cfg.ClearRetentionSuffixLimit)
	first := make(map[uint64]*pair)
	for _, each := range inOrder(rounds) {
		size := each.result.size()
		if size < minRepeat || each.result.search {
			continue
		}
		key := seen.Key(each.result.texts...)
		earlier, seen := first[key]
		if !seen || clears && earlier.at < kept && each.at >= kept {
			first[key] = each
			continue
		}
		rule := p.ruleOf(ctx, each.call.name)
		if each.at < from || rule.leave != "" || rule.clear != nil || rule.store == nil || !slices.Equal(earlier.result.texts, each.result.texts) {
			continue
		}
		r := &old{pair: each, rule: rule, size: size, marked: true, like: callName(earlier.call)}
		if r.notice = noticeIn(each.result.texts); r.notice.kind != clearedNotice {
			r.instead.index = each.result.index
			out = append(out, r)
		}
	}
	return out
}

// inOrder lists the calls that have a result, in the order of their results.
func inOrder(rounds []round) (out []*pair) {
	for _, r := range rounds {
		for i := range r.pairs {
			if r.pairs[i].found {
				out = append(out, &r.pairs[i])
			}
		}
	}
	slices.SortStableFunc(out, func(a, b *pair) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.result.index, b.result.index))
	})
	return out
}

// callName names a call for the model, which knows the ids of most.
func callName(c call) string {
	short := func(s string) bool { return len(s) <= maxCallName && showable(s) }
	switch {
	case !short(c.name):
		return "a call"
	case !short(c.id):
		return c.name
	}
	return fmt.Sprintf("%s (%s)", c.name, c.id)
}
