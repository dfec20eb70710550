// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package offline

import (
	"encoding/json"
	"fmt"
	"slices"
)

// followEarlier repeats the last successful call with the data of this step in place of data of the same kind.
func followEarlier(s *situation, p *progress) (action, bool) {
	if !p.follows || p.index > 0 || len(p.calls) > 0 || s.past.tool == "" || len(p.values) == 0 {
		return action{}, false
	}
	i := slices.IndexFunc(s.visible, func(t toolView) bool { return t.name == s.past.tool })
	if i < 0 {
		query := selectPrefix + s.past.tool
		if !s.search || len(p.searches) > 0 {
			return action{}, false
		}
		c := s.searchCall(p, query)
		return action{call: &c}, true
	}
	args := map[string]any{}
	if json.Unmarshal([]byte(s.past.args), &args) != nil || !renew(args, s.visible[i], p.values) {
		return action{}, false
	}
	return action{call: &Call{s.callID(p), s.past.tool, filling{args: args}.json()}}, true
}

// renew replaces values with new ones of the same kind.
func renew(args map[string]any, t toolView, data []value) bool {
	renewed := false
	for _, v := range data {
		for _, q := range t.params {
			old, ok := args[q.name]
			if !ok || !sameKind(fmt.Sprint(old), v) {
				continue
			}
			if converted, ok := convert(v, q); ok {
				args[q.name], renewed = converted, true
				break
			}
		}
	}
	return renewed
}

func sameKind(old string, v value) bool {
	found := values(old)
	if len(found) == 0 {
		return v.kind == quoted
	}
	return found[0].kind == v.kind
}
