// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package found

import (
	"slices"
	"strings"

	"github.com/einolean/einolean"
	"github.com/einolean/einolean/toolsearch/internal/hidden"
	"github.com/einolean/einolean/toolsearch/internal/say"
	"github.com/einolean/einolean/toolsearch/internal/turn"
)

// Result is the result of a search.
type Result struct {
	Found []Tool // best first

	visible       turn.Names // tools that the model sees already
	alreadyLoaded []string   // names of found tools that the model sees already
	leftOut       int        // found tools that do not fit into the answer
	unsure        []Tool     // the best results of searches that were not sure of any
	advice
}

// advice is what a result has to say beyond the tools.
type advice struct {
	asked     int           // searches and names in the call
	unknown   []say.Data    // names, and near ones
	denied    []string      // names that the model may know of and not use
	unlisted  int           // unknown names beyond those in unknown
	hasList   bool          // hints can point to the list of names
	unmatched []string      // words that no tool contains, if nothing was found
	near      []string      // names similar to the words, if nothing was found
	languages say.Languages // those of the tools and of the query, if nothing was found and they differ
	missing   []string      // servers that do not answer and may have the tools searched for
	cuts      []string      // notices to the model about limits that cut the call
}

// Tool is a tool that was found.
type Tool struct {
	*hidden.Tool
	score      float64
	confidence float64
	terms      []einolean.Term // for an event
}

func holds(list []Tool, e *hidden.Tool) bool {
	return slices.ContainsFunc(list, func(x Tool) bool { return x.Tool == e })
}

// Names are the names of the tools found; not nil.
func (f *Result) Names() []string {
	names := make([]string, len(f.Found))
	for i, x := range f.Found {
		names[i] = x.Info.Name
	}
	return names
}

// merge adds the results of a ranking.
func (f *Result) merge(ranked []Tool) {
	if len(f.Found) == 0 {
		f.Found = ranked
		return
	}
	for _, x := range ranked {
		if !holds(f.Found, x.Tool) {
			f.Found = append(f.Found, x)
		}
	}
}

// cut notes that a limit cut the call.
func (f *Result) cut(text string, limit int) {
	if text = say.Text(text, say.Data{Limit: limit}); !slices.Contains(f.cuts, text) {
		f.cuts = append(f.cuts, text)
	}
}

// maxLeftOut is the most tools that an answer names as left out.
const maxLeftOut = 20

// bound drops the tools that do not fit into one answer, and notes which of the others are loaded. size
// returns the bytes that the answer takes for a tool.
func (f *Result) bound(size func(*hidden.Tool) int) {
	left, kept, over := say.MaxAnswer, 0, say.Data{}
	for i, x := range f.Found {
		if n := size(x.Tool); n <= left {
			left -= n
			if kept < i {
				f.Found[kept] = x
			}
			if kept++; f.visible[x.Info.Name] {
				f.alreadyLoaded = append(f.alreadyLoaded, x.Info.Name)
			}
			continue
		}
		if over.Total++; len(over.Words) < maxLeftOut {
			over.Words = append(over.Words, say.Clip(x.Info.Name))
		}
	}
	f.Found, f.leftOut = f.Found[:kept], over.Total
	if f.leftOut > 0 {
		f.cuts = append(f.cuts, say.Text("cut-answer", over))
	}
}

// Hint is advice for the model beyond the matches: "" in the usual case.
func (f *Result) Hint() string {
	var parts []string
	for _, u := range f.unknown {
		parts = append(parts, say.Text("unknown-name", u))
	}
	for _, name := range f.denied {
		parts = append(parts, say.Text("not-allowed", say.Data{Name: name}))
	}
	if f.unlisted > 0 {
		parts = append(parts, say.Text("more-unknown", say.Data{Total: f.unlisted}))
	}
	nearest := f.nearest()
	if len(nearest) > 0 {
		parts = append(parts, say.Text("not-sure", say.Data{Near: nearest, Languages: f.languages}))
	}
	if f.asked == 0 {
		parts = append(parts, say.Text("empty-query", say.Data{}))
	} else if len(f.Found) == 0 && len(f.unknown)+len(f.denied)+f.leftOut+len(nearest) == 0 {
		parts = append(parts, say.Text("no-match", say.Data{Words: f.unmatched, Near: f.near, Listed: f.hasList, Languages: f.languages}))
	}
	return strings.Join(append(parts, f.remarks()...), " ")
}

// nearest are the names that an unsure search mentions.
func (f *Result) nearest() (names []string) {
	for _, x := range f.unsure {
		if name := x.Info.Name; !holds(f.Found, x.Tool) && !slices.Contains(names, name) && len(names) < MaxNear {
			names = append(names, name)
		}
	}
	return names
}

// remarks are notices for the model about the search itself.
func (f *Result) remarks() []string {
	if len(f.missing) == 0 {
		return f.cuts
	}
	return append(f.cuts, say.Text("missing-servers", say.Data{Words: f.missing}))
}

// maxHits is the most results in an event.
const maxHits = 10

// Hits are the best results, for an event.
func (f *Result) Hits() []einolean.Hit {
	all := append(slices.Clone(f.Found), f.unsure...)
	out := make([]einolean.Hit, min(len(all), maxHits))
	for i := range out {
		x := all[i]
		out[i] = einolean.Hit{Name: x.Info.Name, Score: x.score, Confidence: x.confidence, Terms: x.terms}
	}
	return out
}
