// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// What users' messages ask for, which is loaded before the model is called, or described after the
// message where a protocol never loads tools.

import (
	"context"
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

// wishOf searches for what a user's message asks for.
func wishOf(ctx context.Context, s found.Search, text string, most int) *wish {
	began := time.Now()
	return &wish{s.Likely(ctx, text, most), time.Since(began)}
}

// forUsers is what the messages of users loaded.
type forUsers struct {
	names turn.Names
	last  *einolean.Event // of the last message
	calls int             // model calls before it
}

// load notes the tools of a wish as loaded, and returns the offer of them where they are not.
func (v *forUsers) load(r *run, known turn.Run, facts *turn.Facts, text string, w wish) (offer string) {
	v.last, v.calls = nil, facts.ModelCalls
	var chosen found.Result
	var described []say.Described
	left, offers := maxOfferBytes, r.cfg.Protocol.neverLoads()
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
