// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package reduction

// Whether a pass is worth it: what it saves, and what it costs.

import (
	"context"

	"github.com/einolean/einolean/internal/tokens"
	"github.com/einolean/einolean/reduction/internal/size"
)

// cannotSaveEnough reports whether even clearing everything cannot save
// ClearAtLeastTokens. It knows only with the default counter and without a handler.
func (p *pass[M]) cannotSaveEnough(candidates []*old) bool {
	if p.cfg.ClearAtLeastTokens == 0 || p.estimator == nil || p.forced {
		return false
	}
	var most int64
	for _, each := range candidates {
		if each.rule.clear != nil || p.corrected(most)+1 >= p.cfg.ClearAtLeastTokens {
			return false
		}
		for _, text := range each.Result.Texts {
			most += int64(tokens.Of(text))
		}
		for _, v := range each.values {
			most += int64(tokens.Of(each.Call.Args[v.from:v.to]))
		}
		most += int64(len(each.media) * size.Medium)
	}
	return p.corrected(most)+1 < p.cfg.ClearAtLeastTokens
}

// answer is what the figures of a pass say.
type answer string

const (
	pays    answer = "pays"
	waits   answer = "waits"
	unknown answer = "unknown" // a figure decides that was not counted yet
)

// figures are what a pass costs and saves, in tokens.
type figures struct {
	threshold, target, least int64 // MaxTokensForClear, ClearTargetTokens, ClearAtLeastTokens

	forced  bool  // the window requires the pass
	chosen  bool  // a handler or a rewriter of the user's has decided
	before  int64 // of the request; negative: not counted yet
	after   int64 // of what the pass makes of it; the same
	saves   int64 // about, up to an eighth of the threshold
	shrinks int64 // what it saves, and
	breaks  int64 // what it rewrites of the prompt: both at four bytes a token
}

// worth tells whether a pass is worth it: one that the window requires is, and one that the user's code
// has decided on never waits for room.
func worth(f figures) answer {
	drop, breaks := f.saves < f.threshold/dropShare, f.target == 0 && f.shrinks*fairShare < f.breaks // a target says itself how much to save
	if f.chosen {
		drop, breaks = false, false
	}
	switch {
	case f.forced:
		return pays
	case (drop || breaks) && f.before < 0:
		return unknown
	case drop && f.before-f.saves >= f.threshold: // the rest alone exceeds it
		return waits
	case breaks && float64(f.before) < patience*float64(f.threshold): // there is room
		return waits
	case f.least == 0:
		return pays
	case f.before < 0 || f.after < 0:
		return unknown
	case f.before-f.after < f.least:
		return waits
	}
	return pays
}

const (
	// dropShare is the share of MaxTokensForClear that clearing must save if it cannot get below that
	// threshold: an eighth. Less is a drop in the ocean: clearing each result as it becomes old would
	// break the prompt cache at every call.
	dropShare = 8

	// fairShare is the share of what a pass rewrites that it must save: a sixth.
	fairShare = 6

	// nothingShare: a pass that saves less than a hundredth of what it rewrites is not worth it.
	nothingShare = 100

	// largeResult is worth clearing whatever follows it, in tokens.
	largeResult = 1000

	// patience is how far above MaxTokensForClear a pass that rewrites more waits: an eighth.
	patience = 1 + 1./dropShare
)

// worthIt reports whether there are changes and they save enough. It counts only what decides.
func (p *pass[M]) worthIt(ctx context.Context) (bool, error) {
	if len(p.done) == 0 && !p.rewritten {
		return false, nil
	}
	f, said := p.figures(), unknown
	for said = worth(f); said == unknown; said = worth(f) {
		if f.before < 0 {
			f.before = p.counted(ctx)
			continue
		}
		after, err := p.count(ctx, p.out())
		if err != nil {
			return false, err
		}
		f.after, p.after = after, after
	}
	if said == waits {
		p.countLeft(p.done)
	}
	return said == pays, nil
}

// figures are those of a pass before anything is counted.
func (p *pass[M]) figures() figures {
	f := figures{
		threshold: p.cfg.MaxTokensForClear, target: p.cfg.ClearTargetTokens, least: p.cfg.ClearAtLeastTokens,
		forced: p.forced, chosen: p.rewritten, before: -1, after: -1,
	}
	var sum int64
	first := len(p.msgs)
	for _, r := range p.done {
		f.chosen = f.chosen || r.rule.clear != nil
		if f.saves < f.threshold/dropShare {
			sum += r.saved()
			f.saves = p.corrected(sum)
		}
		if r.replaces() {
			f.shrinks, first = f.shrinks+r.roughly()-size.OfBytes(r.after), min(first, r.At, r.callAt)
		}
	}
	f.breaks = size.Roughly(p.msgs[first:]) - f.shrinks
	return f
}

// spareNewest takes the newest results out of a pass, if clearing them saves less than a
// hundredth of what follows the first of them, and the others alone make room. A caller that
// passes the whole history each time has the others cleared again, and the prompt cache holds up
// to the newest: clearing these would not pay for that within a thousand model calls.
// The fields that say how much to save decide for themselves.
func (p *pass[M]) spareNewest(ctx context.Context) {
	if p.forced || p.rewritten || p.cfg.ClearTargetTokens > 0 || p.cfg.ClearAtLeastTokens > 0 {
		return
	}
	behind, at := int64(0), len(p.msgs) // tokens from there on
	var saves, makes int64              // tokens: of the newest, and of what the pass makes without them, if counted
	spared := len(p.done)
	for i := spared - 1; i > 0 && p.done[i].rule.clear == nil; i-- {
		r := p.done[i]
		for ; at > min(r.At, r.callAt); at-- {
			behind += size.Roughly(p.msgs[at-1 : at])
		}
		if saves += r.roughly() - size.OfBytes(r.after); makes != 0 {
			makes += p.corrected(r.saved())
		}
		if saves*nothingShare >= behind-saves {
			continue
		}
		if makes == 0 {
			makes = p.counted(ctx)
			for _, other := range p.done[:i] {
				makes -= p.corrected(other.saved())
			}
		}
		if makes >= p.cfg.MaxTokensForClear {
			break
		}
		spared = i
	}
	p.countLeft(p.done[spared:])
	p.done = p.done[:spared]
}
