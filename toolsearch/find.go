// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// This file answers a search from the catalogue: it ranks, filters and cuts.

import (
	"context"
	"fmt"
	"strings"
	"time"
	"unicode"

	"github.com/cloudwego/eino/compose"

	"github.com/leanctx/leanctx/internal/keyword"
)

const (
	// maxResultsCap bounds max_results: what is loaded is part of every later request.
	maxResultsCap = 100
	// maxWords bounds a search by words. A request of a person has some dozens.
	maxWords = 1000
	// maxQueries bounds a list of queries in one call.
	maxQueries = 20
)

// finding is what a search gave.
type finding struct {
	asked     int // searches that asked for something
	found     []found
	loaded    []string // names of found tools that the model sees already
	unknown   []unknown
	unmatched []string
	near      []string
	cut       int // the limit that cut the search; 0 if none did
}

type found struct {
	entry *entry
	score float64
}

type unknown struct {
	name string
	near []string
}

func (f finding) names() []string {
	var names []string
	for _, x := range f.found {
		names = append(names, x.entry.info.Name)
	}
	return names
}

func (f finding) has(e *entry) bool {
	for _, x := range f.found {
		if x.entry == e {
			return true
		}
	}
	return false
}

// usable decides whether a tool may be in the finding, beyond being found.
type usable func(context.Context, *entry) bool

// find runs the queries of one call. Its only error is the context's.
func (r *run) find(ctx context.Context, queries []string, limit int, ok usable) (finding, error) {
	start := time.Now()
	var f finding
	if limit <= 0 {
		limit = r.group.cfg.MaxResults
	}
	if limit > maxResultsCap {
		limit, f.cut = maxResultsCap, maxResultsCap
	}
	if len(queries) > maxQueries {
		queries, f.cut = queries[:maxQueries], maxQueries
	}
	for _, text := range queries {
		if err := r.findOne(ctx, text, limit, ok, &f); err != nil {
			return f, err
		}
	}
	if len(f.found) <= limit && f.cut == maxResultsCap {
		f.cut = 0
	}
	r.markLoaded(ctx, &f)
	r.group.emit(ctx, Event{
		Kind: EventSearch, Query: strings.Join(queries, "\n"), Tools: f.names(), Results: f.results(),
		Duration: time.Since(start), CallID: compose.GetToolCallID(ctx),
	})
	return f, nil
}

func (f finding) results() []Result {
	out := make([]Result, len(f.found))
	for i, x := range f.found {
		out[i] = Result{x.entry.info.Name, x.score}
	}
	return out
}

func (r *run) findOne(ctx context.Context, text string, limit int, ok usable, f *finding) error {
	if list, isSelect := selectList(text); isSelect {
		r.choose(ctx, r.group.cat.split(list), ok, f)
		return ctx.Err()
	}
	words := firstWords(parseSearch(text).words, maxWords)
	if words == "" {
		return ctx.Err()
	}
	f.asked++
	before := len(f.found)
	ranked, err := r.rank(ctx, words, limit, ok)
	for _, x := range ranked {
		if !f.has(x.entry) {
			f.found = append(f.found, x)
		}
	}
	if err == nil && len(ranked) == 0 && before == 0 {
		f.unmatched = r.unmatched(ctx, words, ok)
		f.near = r.suggest(ctx, words, ok)
	}
	return err
}

// choose takes tools by name. There is no limit on results here: the model named them.
func (r *run) choose(ctx context.Context, names []string, ok usable, f *finding) {
	if len(names) > maxNames {
		names, f.cut = names[:maxNames], maxNames
	}
	for _, name := range names {
		f.asked++
		e, known := r.group.cat.resolve(name)
		switch {
		case !known || !ok(ctx, e):
			near := r.group.cat.near(name, maxSuggestions, func(e *entry) bool { return ok(ctx, e) })
			f.unknown = append(f.unknown, unknown{shown(name), near})
		case !f.has(e):
			f.found = append(f.found, found{entry: e})
		}
	}
}

// rank asks the index, and asks for more while the filter leaves too few.
func (r *run) rank(ctx context.Context, words string, limit int, ok usable) ([]found, error) {
	q := Query{Text: words, Limit: limit, Loaded: r.loadedFunc(ctx)}
	for {
		results, err := r.askIndex(ctx, q)
		if err != nil {
			return nil, err
		}
		kept := r.keep(ctx, results, limit, ok)
		if len(kept) == limit || len(results) < q.Limit {
			return kept, nil
		}
		q.Limit *= 4
	}
}

func (r *run) keep(ctx context.Context, results []Result, limit int, ok usable) []found {
	kept := make([]found, 0, limit)
	for _, x := range results {
		if len(kept) == limit {
			break
		}
		e := r.group.cat.byName[x.Name]
		if e != nil && x.Score >= r.group.cfg.MinScore && ok(ctx, e) {
			kept = append(kept, found{e, x.Score})
		}
	}
	return kept
}

// askIndex never fails but by the context: where the index fails, the specified score
// answers.
func (r *run) askIndex(ctx context.Context, q Query) ([]Result, error) {
	results, err := safeSearch(ctx, r.group.cat.index, q)
	if err == nil || ctx.Err() != nil {
		return results, ctx.Err()
	}
	r.group.emit(ctx, Event{Kind: EventIndexFailed, Query: q.Text, Err: err})
	return keywordIndex{r.group.cat.words}.Search(ctx, q)
}

func safeSearch(ctx context.Context, x Index, q Query) (results []Result, err error) {
	defer func() {
		if p := recover(); p != nil {
			results, err = nil, fmt.Errorf("toolsearch: index panicked: %v", p)
		}
	}()
	return x.Search(ctx, q)
}

// loadedFunc says which tools the model sees; nil where nothing is known.
func (r *run) loadedFunc(ctx context.Context) func(string) bool {
	names, _ := r.visibleNow(ctx)
	if len(names) == 0 {
		return nil
	}
	set := make(map[string]bool, len(names))
	for _, n := range names {
		set[n] = true
	}
	return func(name string) bool { return set[name] }
}

func (r *run) markLoaded(ctx context.Context, f *finding) {
	loaded := r.loadedFunc(ctx)
	if loaded == nil {
		return
	}
	for _, x := range f.found {
		if loaded(x.entry.info.Name) {
			f.loaded = append(f.loaded, x.entry.info.Name)
		}
	}
}

// suggest returns names near the words of a search that found nothing.
func (r *run) suggest(ctx context.Context, words string, ok usable) []string {
	const most = 8 // words that are looked up
	var names []string
	for i, w := range keyword.Parse(words).Terms {
		if i == most || len(names) >= maxSuggestions {
			break
		}
		for _, n := range r.group.cat.near(w.Text, maxSuggestions, func(e *entry) bool { return ok(ctx, e) }) {
			if !contains(names, n) && len(names) < maxSuggestions {
				names = append(names, n)
			}
		}
	}
	return names
}

// unmatched are words of a search that match no tool which the caller may find.
func (r *run) unmatched(ctx context.Context, words string, ok usable) []string {
	const most = 8
	var out []string
	for i, w := range keyword.Parse(firstWords(words, most)).Terms {
		if i == most {
			break
		}
		one := keywordIndex{r.group.cat.words}
		results, err := one.Search(ctx, Query{Text: w.Text})
		if err == nil && len(r.keep(ctx, results, 1, ok)) == 0 {
			out = append(out, shown(w.Text))
		}
	}
	return out
}

func contains(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}

// firstWords cuts text after n words.
func firstWords(text string, n int) string {
	if len(text) < 2*n {
		return text
	}
	inWord := false
	for i, c := range text {
		if space := unicode.IsSpace(c); space == inWord {
			inWord = !space
			if inWord {
				n--
			}
			if n < 0 {
				return text[:i]
			}
		}
	}
	return text
}
