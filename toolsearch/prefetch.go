// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// What users' messages ask for, which is loaded before the model is called, or described after the
// message where a protocol never loads tools.

import (
	"context"
	"iter"
	"time"

	"github.com/einolean/einolean"
	"github.com/einolean/einolean/toolsearch/internal/found"
	"github.com/einolean/einolean/toolsearch/internal/hidden"
	"github.com/einolean/einolean/toolsearch/internal/say"
	"github.com/einolean/einolean/toolsearch/internal/turn"
)

const (
	// The most that is loaded in a conversation, counted from its first message: a longer
	// conversation loads the same tools first.
	maxPrefetched       = 50 // tools
	maxPrefetchMessages = 64
)

// wish is what a user's message asks for.
type wish struct {
	tools []found.Tool // best first
	took  time.Duration
}

// forUsers is what the messages of users ask for, and what they loaded.
type forUsers struct {
	wishes []wish // of the first messages
	names  turn.Names
	last   *einolean.Event // of the last message
	calls  int             // model calls before it
}

// again forgets what was loaded.
func (v *forUsers) again() { *v = forUsers{wishes: v.wishes} }

// wish searches for what messages ask for, each once.
func (v *forUsers) wish(ctx context.Context, s found.Search, messages iter.Seq[string], most int) {
	n := 0
	for text := range messages {
		if n++; n > maxPrefetchMessages {
			return
		}
		if n > len(v.wishes) {
			began := time.Now()
			tools := s.Likely(ctx, text, most)
			v.wishes = append(v.wishes, wish{tools, time.Since(began)})
		}
	}
}

// meet notes the tools that a message asks for as loaded, and returns the offer of them where they are not.
func (v *forUsers) meet(r *run, known turn.Run, facts *turn.Facts, n int, text string) (offer string) {
	if n >= len(v.wishes) {
		return ""
	}
	w := v.wishes[n]
	v.last, v.calls = nil, facts.ModelCalls
	var chosen found.Result
	var described []say.Described
	left, offers := maxOfferBytes, r.neverLoads()
	for _, x := range w.tools {
		name := x.Info.Name
		if _, used := facts.Last[name]; used && offers || len(v.names) == maxPrefetched && !v.names[name] {
			continue
		}
		if offers {
			d := r.described(x.Tool)
			if left -= d.Size(); left < 0 {
				break
			}
			described = append(described, d)
		}
		chosen.Found = append(chosen.Found, x)
		v.names.Add(name)
		facts.Use(name, known)
	}
	names, c := chosen.Names(), r.catalog()
	if len(names) == 0 {
		return ""
	}
	if offers {
		hint := "offer"
		if r.signs {
			hint = "offer-code"
		}
		offer = say.Offer(described, say.Text(hint, say.Data{}))
	}
	if r.cfg.OnEvent != nil {
		v.last = &einolean.Event{
			Kind:   einolean.KindToolsPrefetched,
			Tools:  &einolean.ToolChange{Added: head(names), AddedCount: len(names), Tokens: c.tokensOf(names)},
			Search: &einolean.Search{Query: found.Query(text), Index: c.IndexName(), Took: w.took, Hits: chosen.Hits()},
		}
	}
	return offer
}

// maxOfferBytes bounds the tools in an offer, which nobody asked for.
const maxOfferBytes = 8 << 10

// described is a tool in an offer.
func (r *run) described(e *hidden.Tool) say.Described {
	if r.signs {
		return say.Sign(e)
	}
	d, _ := say.Describe(e)
	return d
}
