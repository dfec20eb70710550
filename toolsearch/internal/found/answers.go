// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package found

// The answers of the search tools, each from the arguments of its call. Their only error is the context's.

import (
	"context"
	"math"

	"github.com/einolean/einolean/internal/display"
	"github.com/einolean/einolean/internal/lenient"
	"github.com/einolean/einolean/toolsearch/internal/hidden"
	"github.com/einolean/einolean/toolsearch/internal/say"
	"github.com/einolean/einolean/toolsearch/internal/turn"
)

// Find answers a search by words, of which an answer names the results.
func Find(ctx context.Context, s Search, a lenient.Arguments) (Result, error) {
	return s.find(ctx, queriesOf(a), limitOf(a), nameSize)
}

// Advice is what there is to say of a search that found nothing, which is not reported again.
func Advice(ctx context.Context, s Search, a lenient.Arguments) string {
	f, err := s.search(ctx, queriesOf(a), limitOf(a))
	if text := f.Hint(); err == nil && text != "" {
		return text
	}
	return say.Text("no-match", say.Data{Listed: len(s.For.Listed()) > 0})
}

// nameSize is the size in bytes of a name that may be under already_loaded as well.
func nameSize(e *hidden.Tool) int { return 2 * (say.Size(e.Info.Name) + 1) }

// Keyword answers with the names of tools, which are loaded.
func Keyword(ctx context.Context, s Search, a lenient.Arguments) (string, error) {
	f, err := Find(ctx, s, a)
	return say.JSON(say.Answer{Matches: f.Names(), AlreadyLoaded: f.alreadyLoaded, Hint: f.Hint()}), err
}

// Regexp answers with the names that a pattern matches, of tools which are loaded.
func Regexp(ctx context.Context, s Search, a lenient.Arguments) (string, error) {
	f, note := s.matchNames(ctx, patternOf(a))
	return say.JSON(say.Answer{Selected: f.Names(), AlreadyLoaded: f.alreadyLoaded, Hint: note}), ctx.Err()
}

// maxShort bounds the description of a candidate, in runes.
const maxShort = 150

// Candidates answers with tools to choose from.
func Candidates(ctx context.Context, s Search, a lenient.Arguments) (string, error) {
	f, err := s.find(ctx, queriesOf(a), limitOf(a), candidateSize)
	out := say.Answer{Results: []say.Described{}, AlreadyLoaded: f.alreadyLoaded, Hint: f.Hint()}
	for _, x := range f.Found {
		score, desc := math.Round(x.score*100)/100, display.Clip(x.Info.Desc, maxShort)
		out.Results = append(out.Results, say.Described{Name: x.Info.Name, Description: &desc, Score: &score})
	}
	return say.JSON(out), err
}

// candidateSize is the bytes of a candidate, which may stand under already_loaded as well.
func candidateSize(e *hidden.Tool) int {
	const rest = `{"name":,"description":,"score":1234567.89},`
	return nameSize(e) + say.Size(display.Clip(e.Info.Desc, maxShort)) + len(rest)
}

// maxNearOnLoad is the most near names for an unknown name.
const maxNearOnLoad = 3

// Load answers with the tools that a call loads by their names.
func Load(ctx context.Context, s Search, a lenient.Arguments) (string, error) {
	f := Result{visible: s.For.Sees()}
	s.selectByName(namesToLoad(a, s.has), &f)
	f.bound(nameSize)
	s.noteMissing(&f)
	out := say.Answer{Loaded: turn.Difference(f.Names(), f.alreadyLoaded), AlreadyLoaded: f.alreadyLoaded}
	for i, u := range f.unknown {
		f.unknown[i].Near = u.Near[:min(len(u.Near), maxNearOnLoad)]
	}
	if out.Hint = f.Hint(); f.asked == 0 {
		out.Hint = say.Text("no-name", say.Data{})
	}
	return say.JSON(out), ctx.Err()
}

// Describe answers with tools that the model can call by another one.
func Describe(ctx context.Context, s Search, a lenient.Arguments) (string, error) {
	f, err := s.find(ctx, queriesOf(a), limitOf(a), func(e *hidden.Tool) int { d, _ := say.Describe(e); return d.Size() })
	out := say.Answer{Tools: []say.Described{}}
	for _, x := range f.Found {
		d, shortened := say.Describe(x.Tool)
		if out.Tools = append(out.Tools, d); shortened {
			f.cuts = append(f.cuts, say.Text("shortened-tool", say.Data{Name: d.Name}))
		}
	}
	out.Hint = f.Hint()
	return say.JSON(out), err
}

// signedSize is the bytes of a signature in an answer.
func signedSize(e *hidden.Tool) int { return say.Sign(e).Size() }

// signed are tools as their signatures, for an answer.
func signed(tools []Tool, hint string) string {
	out := say.Answer{Tools: make([]say.Described, len(tools)), Hint: hint}
	for i, x := range tools {
		out.Tools[i] = say.Sign(x.Tool)
	}
	return say.JSON(out)
}

// Sign answers with the signatures of tools that programs can call.
func Sign(ctx context.Context, s Search, a lenient.Arguments) (string, error) {
	f, err := s.find(ctx, queriesOf(a), limitOf(a), signedSize)
	return signed(f.Found, f.Hint()), err
}

// SignMatches does the same for a pattern.
func SignMatches(ctx context.Context, s Search, a lenient.Arguments) (string, error) {
	f, note := s.matchNames(ctx, patternOf(a))
	f.bound(signedSize)
	return signed(f.Found, note), ctx.Err()
}
