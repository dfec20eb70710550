// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// What users' messages ask for, which is loaded before the model is called, or described after the
// message where a protocol never loads tools.

import (
	"context"
	"slices"
	"time"

	"github.com/einolean/einolean"
	"github.com/einolean/einolean/internal/display"
	"github.com/einolean/einolean/internal/toolnames"
	"github.com/einolean/einolean/toolsearch/internal/hidden"
	"github.com/einolean/einolean/toolsearch/internal/say"
	"github.com/einolean/einolean/toolsearch/internal/turn"
)

const (
	// The most that is loaded in a conversation, counted from its first message: a longer
	// conversation loads the same tools first.
	maxPrefetched       = 50 // tools
	maxPrefetchMessages = 64

	// sureEnough is the confidence in the best result from which tools are loaded. It is low:
	// an unneeded tool costs a few hundred tokens, a missing one a model call.
	sureEnough = 0.02
)

// wish is what a user's message asks for.
type wish struct {
	tools []foundTool // best first
	took  time.Duration
}

// wishOf searches for what a user's message asks for.
func (s searcher) wishOf(ctx context.Context, text string) *wish {
	began := time.Now()
	tools, err := s.likely(ctx, firstWords(text, maxWords), s.cfg.Prefetch)
	if err != nil {
		tools = nil
	}
	return &wish{tools, time.Since(began)}
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
	var chosen searchResult
	left, offers := maxOfferBytes, r.cfg.Protocol.neverLoads()
	for _, x := range w.tools {
		name := x.Info.Name
		if _, used := facts.Last[name]; used && offers || len(v.names) == maxPrefetched && !v.names[name] {
			continue
		}
		if offers {
			if left -= offerSize(r.signs, x.Tool); left < 0 {
				break
			}
		}
		chosen.found = append(chosen.found, x)
		v.names.Add(name)
		facts.Use(name, known)
	}
	names, c := chosen.names(), r.catalog()
	if len(names) == 0 {
		return ""
	}
	if offers {
		offer = offerText(r.signs, chosen.found)
	}
	if r.cfg.OnEvent != nil {
		v.last = &einolean.Event{
			Kind:   einolean.KindToolsPrefetched,
			Tools:  &einolean.ToolChange{Added: head(names), AddedCount: len(names), Tokens: c.tokensOf(names)},
			Search: &einolean.Search{Query: display.Start(text, maxEventQuery), Index: indexName(c.index), Took: w.took, Hits: chosen.hits()},
		}
	}
	return offer
}

// maxOfferBytes bounds the tools in an offer, which nobody asked for.
const maxOfferBytes = 8 << 10

// offerSize is the bytes of a tool in an offer.
func offerSize(signs bool, e *hidden.Tool) int {
	if signs {
		return signedSize(e)
	}
	return describedSize(e)
}

// offerText describes tools in the words of a search's answer.
func offerText(signs bool, tools []foundTool) string {
	var out answer
	if signs {
		out = answer{Tools: signed(tools), Hint: say.Text("offer-code", say.Data{})}
	} else {
		out = answer{Tools: make([]describedTool, len(tools)), Hint: say.Text("offer", say.Data{})}
		for i, x := range tools {
			out.Tools[i], _ = describe(x.Tool)
		}
	}
	return toolnames.OfferOpen + "\n" + say.JSON(out) + "\n" + toolnames.OfferClose
}

// likely returns at most n tools that a text probably asks for, best first; none if it is not
// clear that it asks for any.
func (s searcher) likely(ctx context.Context, text string, most int) ([]foundTool, error) {
	if text == "" {
		return nil, nil
	}
	ranked, err := s.rank(ctx, text, ranking{limit: most})
	if err != nil || !slices.ContainsFunc(ranked.found, func(x foundTool) bool { return x.confidence >= sureEnough }) {
		return nil, err
	}
	return ranked.found, nil
}
