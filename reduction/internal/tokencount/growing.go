// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package tokencount

import (
	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean/internal/tokens"
)

// Growing is the size of a history to which messages are added, for all the requests that were made on the way. Adding
// a message takes time in proportion to that message, whatever was added before.
type Growing[M adk.MessageType] struct {
	estimator *Estimator[M]
	threshold int64
	factor    float64 // the fixed correction; zero: by the provider's reports

	tokens  int64 // of all messages
	sizes   []messageSize
	rough   []int64 // of the messages, at four bytes a token
	reports []int   // indexes of the messages with a report
	edited  int     // index of the first message that was cleared or rewritten; the number of messages if there is none
}

type messageSize struct {
	tokens int64
	usage  int64 // tokens of its request that the provider reported
}

// Grow returns the size of an empty history. The threshold is the one of [Estimator.Size], and the factor that of
// [Tracker.Fix]: zero if none is fixed.
func (e *Estimator[M]) Grow(threshold int64, factor float64) *Growing[M] {
	return &Growing[M]{estimator: e, threshold: threshold, factor: factor}
}

// Add adds the next message.
func (g *Growing[M]) Add(m M) {
	size, rough, isEdited := g.measure(m)
	if size.usage > 0 {
		g.reports = append(g.reports, len(g.sizes))
	}
	if g.edited == len(g.sizes) && !isEdited {
		g.edited++
	}
	g.sizes, g.rough = append(g.sizes, size), append(g.rough, rough)
	g.tokens += size.tokens
}

// Replace records that message i was edited. The provider's report in it stays.
func (g *Growing[M]) Replace(i int, m M) {
	size, rough, isEdited := g.measure(m)
	if isEdited {
		g.edited = min(g.edited, i)
	}
	g.tokens += size.tokens - g.sizes[i].tokens
	g.sizes[i], g.rough[i] = size, rough
}

// Mark records that message i was marked as cleared or rewritten. Its content stays.
func (g *Growing[M]) Mark(i int) { g.edited = min(g.edited, i) }

func (g *Growing[M]) measure(m M) (size messageSize, rough int64, isEdited bool) {
	w := counter{sizes: &g.estimator.sizes, measure: byReadingAll}
	size.usage = int64(addMessage(&w, m))
	size.tokens = w.tokens
	return size, w.tokens - w.aboveRough, w.isEdited
}

// Fix fixes the factor that corrects all later sizes, unless one is fixed.
func (g *Growing[M]) Fix(factor float64) {
	if g.factor == 0 {
		g.factor = factor
	}
}

// Uncorrected is the size without a correction.
func (g *Growing[M]) Uncorrected(definitions int64) int64 { return g.tokens + definitions }

// MayReach reports whether the size, with definitions of tools of so many tokens, may be as large as a limit.
func (g *Growing[M]) MayReach(definitions, limit int64) bool {
	high := g.factor
	switch {
	case high > 0:
	case len(g.reports) > 1:
		high = tokens.MaxRatio
	default:
		high = 1
	}
	return float64(g.tokens+definitions)*high >= float64(limit)
}

// Size is the exact size with definitions of tools of so many tokens.
func (g *Growing[M]) Size(definitions int64) Size {
	factor := g.factor
	if factor == 0 {
		factor = g.correction(definitions)
	}
	return Size{Tokens: int64(float64(g.tokens+definitions) * factor), Factor: factor, Exact: true}
}

// correction is the factor by the provider's reports, as in [Estimator.Size].
func (g *Growing[M]) correction(definitions int64) float64 {
	var c tokens.Correction
	sum, next := definitions, 0
	for _, i := range g.reports {
		if i > g.edited {
			break
		}
		for ; next < i; next++ {
			sum += g.sizes[next].tokens
		}
		if float64(sum)*c.Factor() < float64(g.threshold) {
			c.Add(g.sizes[i].usage, sum)
		}
	}
	return c.Factor()
}

// Rough are the sizes of the messages, at four bytes a token. They are read only.
func (g *Growing[M]) Rough() []int64 { return g.rough }

// Tokens estimates one message, as Size counts it without a correction.
func (g *Growing[M]) Tokens(m M) int64 {
	w := counter{sizes: &g.estimator.sizes}
	addMessage(&w, m)
	return w.tokens
}

// ToolTokens estimates the definition of a tool.
func (e *Estimator[M]) ToolTokens(t *schema.ToolInfo) int64 {
	w := counter{sizes: &e.sizes}
	w.tools([]*schema.ToolInfo{t})
	return w.tokens
}
