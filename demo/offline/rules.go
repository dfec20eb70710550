// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package offline

import "slices"

// action is the decision of a rule for a step: a call, waiting, or done.
type action struct {
	call *Call
	wait bool
}

// rule examines a step and returns an action, or declines.
type rule func(*situation, *progress) (action, bool)

// rules are tried in this order. Add a rule here for anything else that a conversation may ask of the model.
var rules = []rule{readBack, lookBack, takeResult, correctCall, callAnother, followEarlier, callVisible, loadFound, searchMore, callAnyway, giveUp}

// decide returns calls as long as work remains, and then the result.
func decide(s *situation) reply {
	var calls []Call
	for _, p := range s.steps {
		if a := s.next(p); a.call != nil {
			calls = append(calls, *a.call)
		}
	}
	if len(calls) > 0 {
		return reply{calls: calls}
	}
	return reply{text: s.compose()}
}

func (s *situation) next(p *progress) action {
	for _, r := range rules {
		if a, ok := r(s, p); ok {
			return a
		}
	}
	return action{}
}

// takeResult finishes a step whose last call succeeded.
func takeResult(_ *situation, p *progress) (action, bool) {
	if n := len(p.calls); n > 0 && !isError(p.calls[n-1].result) {
		p.done, p.result = true, p.calls[n-1].result
		return action{}, true
	}
	return action{}, false
}

// How good a tool must be to be called at once, and to be called at all.
const (
	goodScore = 0.5
	lastScore = 0.25
)

// callVisible calls the best visible tool if it is good enough and no announced name is better.
func callVisible(s *situation, p *progress) (action, bool) {
	if len(p.calls) > 0 {
		return action{}, false
	}
	fits := s.rank(p)
	if len(fits) == 0 || fits[0].score < goodScore || len(fits[0].filling.missing) > 0 {
		return action{}, false
	}
	if hidden := s.rankHidden(p); s.search && len(p.searches) < maxSearches && len(hidden) > 0 && hidden[0].name > fits[0].name+0.05 {
		if s.nextQuery(p) != "" {
			return action{}, false
		}
	}
	return s.callTool(p, fits[0])
}

// callAnyway calls the best tool after all searches, even without a required argument, since the error of the
// tool may help.
func callAnyway(s *situation, p *progress) (action, bool) {
	if len(p.calls) > 0 {
		return action{}, false
	}
	if fits := s.rank(p); len(fits) > 0 && fits[0].score >= lastScore && (fits[0].name > 0 || len(fits[0].filling.missing) == 0) {
		return s.callTool(p, fits[0])
	}
	return action{}, false
}

// callTool calls a tool unless the step depends on the previous one.
func (s *situation) callTool(p *progress, f fit) (action, bool) {
	if p.index > 0 {
		needs := p.refers || f.filling.loose > 0 && len(p.values) == 0
		before := s.steps[p.index-1]
		if (needs || p.sequential || samePath(p, before)) && !before.done && !before.failed {
			return action{wait: true}, true
		}
	}
	return action{call: &Call{s.callID(p), f.tool.name, f.filling.json()}}, true
}

// samePath reports whether two steps work on the same file.
func samePath(a, b *progress) bool {
	return slices.ContainsFunc(a.values, func(v value) bool {
		return v.kind == path && slices.ContainsFunc(b.values, func(w value) bool { return w.kind == path && w.text == v.text })
	})
}

// searchMore searches with the next query of the step.
func searchMore(s *situation, p *progress) (action, bool) {
	if !s.search || len(p.calls) > 0 {
		return action{}, false
	}
	if query := s.nextQuery(p); query != "" {
		c := s.searchCall(p, query)
		return action{call: &c}, true
	}
	return action{}, false
}

// giveUp is the last rule.
func giveUp(_ *situation, p *progress) (action, bool) {
	p.failed = true
	return action{}, true
}
