// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// Hidden tools in programs: their signatures, and what package programs asks.

import (
	"context"

	"github.com/einolean/einolean/internal/virtual"
	"github.com/einolean/einolean/toolsearch/internal/hidden"
	"github.com/einolean/einolean/toolsearch/internal/say"
)

// inPrograms is a run as package programs sees it.
type inPrograms struct{ *run }

// Resolve implements virtual.Tools.
func (r inPrograms) Resolve(ctx context.Context, written string) (virtual.Tool, bool) {
	c := r.catalog()
	if c.usesMetaName(written) {
		return virtual.Tool{Refusal: say.Text("program-meta", say.Data{Name: written})}, true
	}
	if r.own[written] != nil && c.Lookup(written) == nil {
		return virtual.Tool{}, false
	}
	e := c.Resolve(written, func(e *hidden.Tool) bool {
		return r.allows(ctx, FilterRequest{Tool: e.Info, InProgram: true}, PhaseLoad, PhaseCall)
	})
	if e == nil {
		return virtual.Tool{}, false
	}
	return virtual.Tool{Info: e.Info}, true
}

// maxSigned is the most near tools of which an answer has the signatures.
const maxSigned = 3

// Near implements virtual.Tools.
func (r inPrograms) Near(ctx context.Context, written string) (lines []string) {
	near := r.catalog().Near(written, maxSigned, func(e *hidden.Tool) bool {
		return e.Info.Name != written && r.allows(ctx, FilterRequest{Tool: e.Info}, PhaseList, PhaseSearch, PhaseLoad)
	})
	for _, n := range near {
		if e := r.catalog().Lookup(n); e != nil {
			lines = append(lines, e.Signature())
		}
	}
	return lines
}

// Check implements virtual.Tools.
func (r inPrograms) Check(name, arguments string) (problem, signature string) {
	e := r.catalog().Lookup(name)
	if e == nil {
		return "", ""
	}
	_, problem = argumentsFor(e, arguments)
	return problem, e.Signature()
}

// Most implements virtual.Tools.
func (r inPrograms) Most() int { return 32 }
