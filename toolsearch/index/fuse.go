// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package index

// Several indexes as one, and time limits.

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean"
	"github.com/einolean/einolean/internal/safe"
	"github.com/einolean/einolean/toolsearch/internal/catalog"
	"github.com/einolean/einolean/toolsearch/internal/ranking"
)

const (
	// partTimeout is how long Fuse waits for a part without a TimeLimit.
	partTimeout = 2 * time.Second

	// fuseK is the constant of reciprocal-rank fusion (Cormack, Clarke and Büttcher, SIGIR
	// 2009), which damps the first places. They use 60, for lists of 1,000 documents; for
	// the short lists of a tool search a smaller one keeps the first places apart.
	fuseK = 10

	// fuseDepth is the fewest results to ask of each part: a tool in the middle of two
	// lists may belong at the top.
	fuseDepth = 30
)

// Fuse merges the rankings of several indexes by reciprocal rank: a tool scores the sum of
// 1/(10+place) over the parts that found it, places counted from 1. Its confidence is that
// of the part that is surest of it. All parts are asked at the same time, and each has two
// seconds, or its TimeLimit. A part that returns an error, panics or takes longer is left
// out, and OnEvent gets an event; if none answers, Eino's keyword score does.
func Fuse(parts ...Func) Func {
	return func(ctx context.Context, tools []*schema.ToolInfo) (Index, error) {
		if len(parts) == 0 {
			return nil, errors.New("Fuse needs at least one part")
		}
		fused := make(fusedIndex, len(parts))
		for i, p := range parts {
			if p == nil {
				p = Keyword
			}
			x, err := newIndex(ctx, p, tools)
			if err != nil {
				return nil, fmt.Errorf("part %d of Fuse: %w", i, err)
			}
			if _, limited := x.(*limitedIndex); !limited {
				x = &limitedIndex{Index: x, limit: partTimeout}
			}
			fused[i] = x
		}
		return fused, nil
	}
}

// TimeLimit gives an index a time limit for each search. It matters most for an engine
// behind a network. If d is zero or less, it is two seconds.
func TimeLimit(d time.Duration, f Func) Func {
	if d <= 0 {
		d = partTimeout
	}
	return func(ctx context.Context, tools []*schema.ToolInfo) (Index, error) {
		if f == nil {
			f = Keyword
		}
		x, err := newIndex(ctx, f, tools)
		if err != nil {
			return nil, err
		}
		return &limitedIndex{Index: x, limit: d}, nil
	}
}

type limitedIndex struct {
	Index
	limit time.Duration
	gate  safe.Gate
}

func (x *limitedIndex) Build(catalog.InternalOnly) error { return catalog.Build(x.Index) }

// Search returns when the index answers or its time is over. An index that goes on after
// that is left to finish, and not asked meanwhile; its answer is dropped.
func (x *limitedIndex) Search(ctx context.Context, q Query) ([]Result, error) {
	if err := x.Build(catalog.InternalOnly{}); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, x.limit)
	defer cancel()
	results, err := safe.WaitGated(ctx, &x.gate, "the index", func() ([]Result, error) { return x.Index.Search(ctx, q) })
	if err == safe.ErrBusy || ctx.Err() != nil && err == ctx.Err() {
		return nil, fmt.Errorf("the index did not answer: %w", err)
	}
	return results, err
}

// Terms implements what [Explain] asks.
func (x *limitedIndex) Terms(q Query, name string) []einolean.Term { return Explain(x.Index, q, name) }

type fusedIndex []Index

func (parts fusedIndex) Build(catalog.InternalOnly) error {
	for _, x := range parts {
		_ = catalog.Build(x) // a part that cannot be built reports it in a search
	}
	return nil
}

func (parts fusedIndex) Search(ctx context.Context, q Query) ([]Result, error) {
	limit := q.Limit
	if q.Limit > 0 {
		q.Limit = max(fuseDepth, 2*q.Limit)
	}
	merged, failed := map[string]Result{}, 0
	results, errs := parts.askAll(ctx, q)
	for i, err := range errs {
		if err != nil {
			failed++
			if ctx.Err() == nil {
				catalog.ReportFailure(ctx, fmt.Errorf("part %d of Fuse: %w", i, err))
			}
			continue
		}
		for place, r := range results[i] {
			merged[r.Name] = Result{
				Name: r.Name, Score: merged[r.Name].Score + 1/float64(fuseK+place+1),
				Confidence: max(merged[r.Name].Confidence, confidenceOf(r)),
			}
		}
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if failed == len(parts) {
		return nil, errors.New("index: no part of Fuse answered")
	}
	found := slices.SortedFunc(maps.Values(merged), func(a, b Result) int { // equal ones are in the order of their names
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Name, b.Name))
	})
	return ranking.First(found, limit), nil
}

// askAll asks all parts at once.
func (parts fusedIndex) askAll(ctx context.Context, q Query) (results [][]Result, errs []error) {
	results, errs = make([][]Result, len(parts)), make([]error, len(parts))
	var asking sync.WaitGroup
	for i, x := range parts {
		asking.Go(func() { results[i], errs[i] = x.Search(ctx, q) })
	}
	asking.Wait()
	return results, errs
}

// Terms returns those of the first part that has any.
func (parts fusedIndex) Terms(q Query, name string) []einolean.Term {
	for _, x := range parts {
		if terms := Explain(x, q, name); len(terms) > 0 {
			return terms
		}
	}
	return nil
}

// confidenceOf returns the confidence of a result, as a number from 0 to 1.
func confidenceOf(r Result) float64 {
	if r.Confidence > 0 {
		return min(r.Confidence, 1)
	}
	return 0
}

// newIndex returns the index that a function makes, or its panic as an error.
func newIndex(ctx context.Context, f Func, tools []*schema.ToolInfo) (Index, error) {
	return safe.NonNil("the function", func() (Index, error) { return f(ctx, tools) })
}
