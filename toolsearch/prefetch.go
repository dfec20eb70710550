// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// Tools loaded for a user's message, before the model is called; for a protocol that never
// loads tools, a message describes them.

import (
	"context"
	"slices"
	"time"

	"github.com/leanctx/leanctx"
	"github.com/leanctx/leanctx/internal/toolnames"
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

// prefetcher searches for users' messages during one model call: it reads the messages several
// times, but searches for each text once.
type prefetcher struct {
	searcher searcher
	byText   map[string][]foundTool
}

// prefetch loads or offers the tools that a user's message most likely needs. at is the
// message's position.
func (f *prefetcher) prefetch(ctx context.Context, v *evidence, at int, text string) {
	g, p := f.searcher.turn.group, &v.prefetched
	if p.messages == maxPrefetchMessages {
		return
	}
	p.messages++
	p.last = nil
	began := time.Now()
	likely, err := f.likelyOnce(ctx, firstWords(text, maxWords))
	if err != nil {
		return
	}
	var chosen searchResult
	left := maxOfferBytes
	for _, x := range likely {
		name := x.entry.info.Name
		if _, known := v.last[name]; known && g.settings.rules.neverLoads || len(p.names) == maxPrefetched && !p.names[name] {
			continue
		}
		if g.settings.rules.neverLoads {
			if left -= describedSize(x.entry); left < 0 {
				break
			}
		}
		chosen.found = append(chosen.found, x)
		p.names.add(name)
		v.use(name, g.cat)
	}
	names := chosen.names()
	if len(names) == 0 {
		return
	}
	if g.settings.rules.neverLoads {
		p.offers = append(p.offers, offer{at, offerText(chosen.found)})
	}
	if g.settings.cfg.OnEvent == nil {
		return
	}
	p.last = &leanctx.Event{
		Kind:   leanctx.KindToolsPrefetched,
		Tools:  &leanctx.ToolChange{Added: head(names), AddedCount: len(names), Tokens: g.cat.tokensOf(names)},
		Search: &leanctx.Search{Query: clippedQuery(text), Index: indexName(g.cat.index), Took: time.Since(began), Hits: chosen.hits()},
	}
}

// maxOfferBytes bounds the tools in an offer, which nobody asked for.
const maxOfferBytes = 8 << 10

// offerText describes tools in the words of a search's answer.
func offerText(tools []foundTool) string {
	answer := describedAnswer{Hint: render("offer", promptData{})}
	for _, x := range tools {
		d, _ := describe(x.entry)
		answer.Tools = append(answer.Tools, d)
	}
	return toolnames.OfferOpen + "\n" + encode(answer) + "\n" + toolnames.OfferClose
}

// withOffers returns the messages with exactly the offers that the user's messages call for,
// each after its message. It does not change the slice.
func (t *transcript[M]) withOffers(msgs []M) []M {
	offers := t.evidence.prefetched.offers
	if t.isOffered(msgs, offers) {
		return msgs
	}
	next := make([]M, 0, len(msgs)+len(offers))
	for i, msg := range msgs {
		if !slices.Contains(t.offered, i) {
			next = append(next, msg)
		}
		if len(offers) > 0 && offers[0].after == i {
			next = append(next, t.codec.Note(offers[0].text))
			offers = offers[1:]
		}
	}
	return next
}

func (t *transcript[M]) isOffered(msgs []M, offers []offer) bool {
	return slices.EqualFunc(t.offered, offers, func(at int, o offer) bool {
		return at == o.after+1 && t.codec.Text(msgs[at]).Text == o.text
	})
}

// likelyOnce returns the tools that a text probably asks for, at most Prefetch of them.
func (f *prefetcher) likelyOnce(ctx context.Context, text string) ([]foundTool, error) {
	if all, known := f.byText[text]; known {
		return all, nil
	}
	all, err := f.searcher.likely(ctx, text, f.searcher.settings.cfg.Prefetch)
	if err == nil {
		f.byText[text] = all
	}
	return all, err
}

// likely returns at most n tools that a text probably asks for, best first; none if it is not
// clear that it asks for any.
func (s searcher) likely(ctx context.Context, text string, most int) ([]foundTool, error) {
	if text == "" {
		return nil, nil
	}
	ranked, err := s.rank(ctx, text, ranking{limit: most * rankedForEach})
	best := ranked.found[:min(len(ranked.found), most)]
	sure := slices.ContainsFunc(best, func(x foundTool) bool { return x.confidence >= sureEnough })
	if err != nil || !sure {
		return nil, err
	}
	return spread(s.cat.index, text, ranked.found, most), nil
}

const (
	rankedForEach = 4 // results considered for each one that is prefetched
	// novelty is the share of a result's score that counts only for words that the results
	// before it answer less well.
	novelty = 0.2
)

// spread chooses results that together answer as much of the text as possible: few are loaded,
// and a request may need several tools, which may all rank behind ones similar to the best.
func spread(index Index, text string, ranked []foundTool, most int) (chosen []foundTool) {
	if len(ranked) <= most {
		return ranked
	}
	terms := make([]map[string]float64, len(ranked))
	for i, x := range ranked {
		terms[i] = map[string]float64{}
		for _, t := range termsOf(index, Query{Text: text}, x.entry.info.Name) {
			terms[i][t.Text] += t.Score
		}
	}
	answered := map[string]float64{}
	taken := make([]bool, len(ranked))
	for len(chosen) < most {
		best, worth := -1, 0.0
		for i, x := range ranked {
			if w := x.score * (1 - novelty + novelty*unanswered(terms[i], answered)); !taken[i] && (best < 0 || w > worth) {
				best, worth = i, w
			}
		}
		taken[best] = true
		chosen = append(chosen, ranked[best])
		for text, score := range terms[best] {
			answered[text] = max(answered[text], score)
		}
	}
	return chosen
}

// unanswered is the share of a score beyond what is answered already; all of it if the terms
// of the score are unknown.
func unanswered(terms, answered map[string]float64) float64 {
	sum, more := 0.0, 0.0
	for text, score := range terms {
		sum += score
		more += max(0, score-answered[text])
	}
	if sum <= 0 {
		return 1
	}
	return more / sum
}

// emitPrefetched reports the tools loaded for the message that the model is about to answer.
func emitPrefetched(ctx context.Context, r *run, v *evidence) {
	if e := v.prefetched.last; e != nil && r.reported.isNew(ctx, "prefetched "+digest(e.Search.Query)) {
		r.group().settings.emit(ctx, *e)
	}
}
