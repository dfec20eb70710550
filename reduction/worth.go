// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package reduction

// Whether a pass is worth it: what it saves, and what it costs.

import (
	"context"
	"slices"

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

// worthIt reports whether there are changes and they save enough.
func (p *pass[M]) worthIt(ctx context.Context) (bool, error) {
	if len(p.done) == 0 && !p.rewritten {
		return false, nil
	}
	if p.forced {
		return true, nil
	}
	users := slices.ContainsFunc(p.done, func(r *old) bool { return r.rule.clear != nil }) // they decide
	if !p.rewritten && !users && (p.isDrop(ctx) || p.breaksMuch(ctx)) {
		p.countLeft(p.done)
		return false, nil
	}
	least := p.cfg.ClearAtLeastTokens
	if least == 0 {
		return true, nil
	}
	before := p.counted(ctx)
	after, err := p.count(ctx, p.out())
	if err != nil {
		return false, err
	}
	if before-after >= least {
		p.after = after
		return true, nil
	}
	p.countLeft(p.done)
	return false, nil
}

// dropShare is the share of MaxTokensForClear that clearing must save if it cannot get
// below that threshold: an eighth.
const dropShare = 8

// isDrop reports whether clearing is a drop in the ocean: the rest of the conversation
// alone exceeds the threshold, and clearing each result as it becomes old would break the
// prompt cache at every call.
func (p *pass[M]) isDrop(ctx context.Context) bool {
	most, saved := p.cfg.MaxTokensForClear, int64(0)
	for _, r := range p.done {
		if saved += r.saved(); p.corrected(saved) >= most/dropShare {
			return false
		}
	}
	return p.counted(ctx)-p.corrected(saved) >= most
}

const (
	// fairShare is the share of what a pass rewrites that it must save: a sixth.
	fairShare = 6

	// nothingShare is the share of what a pass rewrites that is next to nothing: a hundredth.
	nothingShare = 100

	// largeResult is worth clearing whatever follows it, in tokens.
	largeResult = 1000

	// patience is how far above MaxTokensForClear a pass that rewrites more waits: an eighth.
	patience = 1 + 1./dropShare
)

// breaksMuch reports whether clearing rewrites too much of the prompt for what it saves, while
// there is room to wait. ClearTargetTokens says itself how much to save. A token is four bytes
// here.
func (p *pass[M]) breaksMuch(ctx context.Context) bool {
	if p.cfg.ClearTargetTokens > 0 {
		return false
	}
	var saved int64
	first := len(p.msgs)
	for _, r := range p.done {
		if r.replaces() {
			saved, first = saved+r.roughly()-size.OfBytes(r.after), min(first, r.At, r.callAt)
		}
	}
	rewritten := size.Roughly(p.msgs[first:]) - saved
	return saved*fairShare < rewritten && float64(p.counted(ctx)) < patience*float64(p.cfg.MaxTokensForClear)
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
