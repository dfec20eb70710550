// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package search

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/einolean/einolean"
	"github.com/einolean/einolean/internal/jsontext"
	"github.com/einolean/einolean/internal/keyword"
	"github.com/einolean/einolean/internal/keyword/bm25/analysis"
	keynames "github.com/einolean/einolean/internal/keyword/names"
	"github.com/einolean/einolean/internal/toolnames"
	"github.com/einolean/einolean/toolsearch/index"
	"github.com/einolean/einolean/toolsearch/internal/catalog"
	"github.com/einolean/einolean/toolsearch/internal/protocol"
)

// The limits of one call; more is cut, and the answer says so.
const (
	maxResults = 100  // tools per search: loaded tools are part of every later request
	maxNames   = 100  // names in one call, for the same reason
	maxQueries = 20   // searches in one call
	maxWords   = 1000 // words in one search
	// maxPattern bounds a pattern, in bytes. RE2 matches in linear time, but compiling a long
	// pattern takes time and memory.
	maxPattern = 1000
	// MaxNear is the most near names in an answer.
	MaxNear = 5
)

// Search answers a call of a search tool.
type Searcher struct {
	Tools
	Limits
	For     Access
	Missing []string                       // servers that do not answer now
	Report  func(einolean.Search, []error) // hears of each search, and what failed in it; nil for nobody

	trace *trace
}

// Limits are those of every search.
type Limits struct {
	MaxResults    int     // if the call gives no number
	MinConfidence float64 // 0 is none
}

// Caller is whom a search is for.
type Access interface {
	May(*catalog.Tool) bool     // the search may return the tool
	MayHint(*catalog.Tool) bool // a hint may mention the tool, which nobody asked for by its name
	Knows(name string) bool     // the caller may know of the tool, but not use it
	Sees() toolnames.Set        // tools that the model sees already
	Listed() []string           // names that the model may see
}

// Most is how many tools one search may return, where a search without a number returns some.
func Most(results int) int { return max(maxResults, results) }

// find runs the queries of one call, and reports the search. All it finds fits into one
// answer, which takes size bytes for a tool. Its only error is the context's.
func (s Searcher) find(ctx context.Context, a jsontext.Arguments, size func(*catalog.Tool) int) (Result, error) {
	if s.Report != nil {
		ctx, s.trace = startTrace(ctx, s.Report)
	}
	f, err := s.search(ctx, a)
	f.fitAnswer(size)
	queries := queriesOf(a)
	s.noteMissing(&f, queries...)
	if err == nil && s.trace != nil {
		s.trace.report(strings.Join(queries, "\n"), &f)
	}
	return f, err
}

// search runs the queries of one call. Its only error is the context's.
func (s Searcher) search(ctx context.Context, a jsontext.Arguments) (Result, error) {
	f, queries, limit := Result{visible: s.For.Sees()}, queriesOf(a), limitOf(a)
	if limit <= 0 {
		limit = s.MaxResults
	}
	if len(queries) > maxQueries {
		queries = queries[:maxQueries]
		f.cut("cut-queries", maxQueries)
	}
	for _, text := range queries {
		if err := s.searchOne(ctx, text, limit, &f); err != nil {
			return f, err
		}
	}
	return f, nil
}

func (s Searcher) searchOne(ctx context.Context, text string, limit int, f *Result) error {
	names, words := parseSearch(text, s.has)
	if names != nil {
		s.selectByName(names, f)
		return ctx.Err()
	}
	if words = firstWords(words, maxWords); words == "" {
		return ctx.Err()
	}
	f.asked++
	most := Most(s.MaxResults)
	wanted := ranking{visible: f.visible, limit: min(limit, most+1)} // one extra, to see whether there are more
	ranked, err := s.rank(ctx, words, wanted)
	if ranked.fresh > most {
		ranked.found = ranked.found[:len(ranked.found)-1]
		f.cut("cut-results", most)
	}
	if s.trace != nil {
		for i := range min(len(ranked.found), maxTerms-min(len(f.Found), maxTerms)) {
			ranked.found[i].terms = index.Explain(s.index, index.Query{Text: words}, ranked.found[i].Info.Name)
		}
	}
	if s.MinConfidence > 0 && s.allBelowConfidence(ranked.found) {
		f.unsure = append(f.unsure, ranked.found[:min(len(ranked.found), MaxNear)]...)
		f.languages = s.languages(words)
		return err
	}
	if len(f.Found) == 0 {
		f.Found = ranked.found
	} else {
		for _, x := range ranked.found {
			if !containsTool(f.Found, x.Tool) {
				f.Found = append(f.Found, x)
			}
		}
	}
	if err == nil && len(f.Found) == 0 {
		f.languages = s.languages(words)
		f.unmatched = s.unmatched(ctx, words)
		f.near = s.suggest(words)
		f.hasList = len(s.For.Listed()) > 0
	}
	return err
}

// rank asks the index, and asks for more results while too few may be returned. Results of
// the first answer keep their places: an index may rank a longer list in another order.
func (s Searcher) rank(ctx context.Context, words string, kept ranking) (ranking, error) {
	for ask := kept.limit; ; ask *= 4 {
		results, err := s.query(ctx, index.Query{Text: words, Limit: ask}, s.trace)
		if err != nil {
			return ranking{}, err
		}
		if s.MinConfidence > 0 {
			results = s.confidence().RateUnknown(ctx, catalog.Door{}, words, results)
		}
		kept.found = slices.Grow(kept.found, min(kept.limit, len(results)))
		for _, x := range results {
			if e := s.Lookup(x.Name); !kept.isFull() && e != nil && x.Score >= 0 && s.For.May(e) && !containsTool(kept.found, e) {
				kept.add(Hit{Tool: e, score: x.Score, confidence: x.Confidence})
			}
		}
		if kept.isFull() || len(results) < ask {
			return kept, nil
		}
	}
}

// ranking collects the results of a search. Tools that the model already sees keep their rank
// but do not count towards the limit.
type ranking struct {
	visible toolnames.Set
	limit   int // the most tools that the model does not see
	found   []Hit
	fresh   int // those of found that the model does not see
}

func (k *ranking) isFull() bool { return k.fresh == k.limit }

func (k *ranking) add(x Hit) {
	if !k.visible[x.Info.Name] {
		k.fresh++
	} else if len(k.found) >= k.limit {
		return
	}
	k.found = append(k.found, x)
}

// refuses reports whether a search found tools but is sure of none.
func (s Searcher) allBelowConfidence(results []Hit) bool {
	return len(results) > 0 && !slices.ContainsFunc(results, func(x Hit) bool {
		return x.confidence == 0 || x.confidence >= s.MinConfidence
	})
}

// sureEnough is the confidence in the best result from which a text asks for tools. It is low:
// an unneeded tool costs a few hundred tokens, a missing one a model call.
const prefetchMinConfidence = 0.02

// Likely returns at most that many tools that a text probably asks for, best first; none if it is not
// clear that it asks for any.
func (s Searcher) SearchForPrefetch(ctx context.Context, text string, most int) []Hit {
	if text = firstWords(text, maxWords); text == "" {
		return nil
	}
	ranked, err := s.rank(ctx, text, ranking{limit: most})
	if err != nil || !slices.ContainsFunc(ranked.found, func(x Hit) bool { return x.confidence >= prefetchMinConfidence }) {
		return nil
	}
	return ranked.found
}

// selectByName selects tools by name. MaxResults does not apply: the model named them.
func (s Searcher) selectByName(names []string, f *Result) {
	const most = 10 // unknown names that get suggestions; each is looked up among all names
	if len(names) > maxNames {
		names = names[:maxNames]
		f.cut("cut-names", maxNames)
	}
	for _, name := range names {
		f.asked++
		switch e := s.Resolve(name, s.For.May); {
		case e != nil && containsTool(f.Found, e):
		case e != nil:
			f.Found = append(f.Found, Hit{Tool: e})
		case len(f.unknown)+len(f.denied) == most:
			f.unlisted++
		case s.For.Knows(name):
			f.denied = append(f.denied, name)
		default:
			f.unknown = append(f.unknown, protocol.Data{Name: name, Near: s.Near(name, MaxNear, s.For.MayHint)})
		}
	}
}

// has reports whether a name exists for this search.
func (s Searcher) has(name string) bool {
	e := s.Lookup(name)
	return e != nil && s.For.May(e)
}

// matchNames finds the tools whose names match, in the order of the catalogue, and adds hints
// for the model. All it finds fits into one answer, which takes size bytes for a tool.
func (s Searcher) matchNames(ctx context.Context, a jsontext.Arguments, size func(*catalog.Tool) int) (f Result, note string) {
	pattern := patternOf(a)
	if s.Report != nil {
		_, s.trace = startTrace(ctx, s.Report)
	}
	if pattern == "" {
		return f, protocol.Text("empty-pattern", protocol.Data{})
	}
	if len(pattern) > maxPattern {
		return f, protocol.Text("long-pattern", protocol.Data{Limit: maxPattern})
	}
	re, err := regexp.Compile(pattern)
	if err != nil {
		return f, protocol.Text("bad-pattern", protocol.Data{Reason: protocol.Clip(err.Error())})
	}
	f.visible = s.For.Sees()
	most := Most(s.MaxResults)
	kept := ranking{visible: f.visible, limit: most}
	for e := range s.All() {
		if !re.MatchString(e.Info.Name) || !s.For.May(e) {
			continue
		}
		if kept.isFull() && !kept.visible[e.Info.Name] {
			f.cut("cut-results", most)
			break
		}
		kept.add(Hit{Tool: e})
	}
	f.Found = kept.found
	f.fitAnswer(size)
	f.asked++
	s.noteMissing(&f, pattern)
	if note = strings.Join(f.warnings(), " "); len(f.Found)+f.leftOut == 0 {
		words := wordsOf(pattern)
		none := protocol.Data{Near: s.suggest(words), Languages: s.languages(words)}
		note = strings.TrimSpace(protocol.Text("no-name-matches", none) + " " + note)
	}
	if s.trace != nil {
		s.trace.report(pattern, &f)
	}
	return f, note
}

var patternMarks = regexp.MustCompile(`\\.|[^\pL\pN_]+`)

// wordsOf extracts the words of a pattern, for suggestions.
func wordsOf(pattern string) string { return patternMarks.ReplaceAllString(pattern, " ") }

// unmatched returns words of a search that are in no name and no description of a tool that
// the caller may find.
func (s Searcher) unmatched(ctx context.Context, words string) []string {
	var out []string
	for _, w := range lookups(words) {
		results, err := s.keyword.Search(ctx, index.Query{Text: w})
		if err == nil && !slices.ContainsFunc(results, func(x index.Result) bool { return s.has(x.Name) }) {
			out = append(out, protocol.Clip(w))
		}
	}
	return out
}

const (
	sampled = 64  // descriptions that tell the language of the tools
	maxTold = 512 // bytes of one that are read for that
)

// languages returns the language of the tools that the caller may know of, and that of a search,
// where they differ.
func (s Searcher) languages(words string) protocol.Languages {
	names := s.For.Listed()
	count, known := map[analysis.Language]int{}, 0
	for i := range min(sampled, len(names)) {
		e := s.Lookup(names[i*len(names)/min(sampled, len(names))])
		if l := analysis.LanguageOf(keynames.Clip(e.Info.Desc, maxTold)); l != "" {
			count[l]++
			known++
		}
	}
	asked := analysis.LanguageOf(words)
	for l, n := range count {
		if 3*n > 2*known && l != asked && (asked != "" || l.HasOwnLetters()) {
			return protocol.Languages{Language: l, Asked: asked}
		}
	}
	return protocol.Languages{}
}

// suggest returns names similar to the words of a search that found nothing.
func (s Searcher) suggest(words string) []string {
	var names []string
	for _, w := range lookups(words) {
		for _, n := range s.Near(w, MaxNear, s.For.MayHint) {
			if len(names) == MaxNear {
				return names
			}
			if !slices.Contains(names, n) {
				names = append(names, n)
			}
		}
	}
	return names
}

// maxLookups is how many words of a search are looked up one by one.
const maxLookups = 8

// lookups returns the first different words of a search.
func lookups(words string) []string {
	var out []string
	for _, t := range keyword.Parse(firstWords(words, maxLookups)).Terms {
		if !slices.Contains(out, t.Text) {
			out = append(out, t.Text)
		}
	}
	return out
}

// noteMissing notes the servers whose tools are unavailable now, if nothing was found, or those that
// a query names.
func (s Searcher) noteMissing(f *Result, queries ...string) {
	const most = 10
	nothing := f.asked > 0 && len(f.Found)+f.leftOut == 0
	for _, name := range s.Missing {
		named := func(query string) bool { return strings.Contains(normalizedWords(query), normalizedWords(name)) }
		text := protocol.Clip(name)
		if text != "" && (nothing || slices.ContainsFunc(queries, named)) && len(f.missing) < most && !slices.Contains(f.missing, text) {
			f.missing = append(f.missing, text)
		}
	}
}

// spaced is a text's words in lower case, with a space on each side.
func normalizedWords(text string) string {
	words := strings.FieldsFunc(strings.ToLower(text), func(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsNumber(c) })
	return " " + strings.Join(words, " ") + " "
}

// Result is the result of a search.
type Result struct {
	Found []Hit // best first

	visible       toolnames.Set // tools that the model sees already
	alreadyLoaded []string      // names of found tools that the model sees already
	leftOut       int           // found tools that do not fit into the answer
	unsure        []Hit         // the best results of searches that were not sure of any
	diagnostics
}

// advice is what a result has to say beyond the tools.
type diagnostics struct {
	asked   int      // searches and names in the call
	missing []string // servers that do not answer and may have the tools searched for
	cuts    []string // notices to the model about limits that cut the call
	misses
	noMatch
}

// misses are names that a call asks for in vain.
type misses struct {
	unknown  []protocol.Data // with near ones
	denied   []string        // that the model may know of and not use
	unlisted int             // unknown ones beyond those in unknown
}

// nothing is what helps where a search by words found nothing.
type noMatch struct {
	hasList   bool               // hints can point to the list of names
	unmatched []string           // words that no tool contains
	near      []string           // names similar to the words
	languages protocol.Languages // those of the tools and of the query, if they differ
}

// Tool is a tool that was found.
type Hit struct {
	*catalog.Tool
	score      float64
	confidence float64
	terms      []einolean.Term // for an event
}

func containsTool(list []Hit, e *catalog.Tool) bool {
	return slices.ContainsFunc(list, func(x Hit) bool { return x.Tool == e })
}

// Names are the names of the tools found; not nil.
func (f *Result) Names() []string {
	names := make([]string, len(f.Found))
	for i, x := range f.Found {
		names[i] = x.Info.Name
	}
	return names
}

// cut notes that a limit cut the call.
func (f *Result) cut(text string, limit int) {
	if text = protocol.Text(text, protocol.Data{Limit: limit}); !slices.Contains(f.cuts, text) {
		f.cuts = append(f.cuts, text)
	}
}

// maxLeftOut is the most tools that an answer names as left out.
const maxLeftOut = 20

// bound drops the tools that do not fit into one answer, and notes which of the others are loaded. size
// returns the bytes that the answer takes for a tool.
func (f *Result) fitAnswer(size func(*catalog.Tool) int) {
	left, kept, over := protocol.MaxAnswer, 0, protocol.Data{}
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
			over.Words = append(over.Words, protocol.Clip(x.Info.Name))
		}
	}
	f.Found, f.leftOut = f.Found[:kept], over.Total
	if f.leftOut > 0 {
		f.cuts = append(f.cuts, protocol.Text("cut-answer", over))
	}
}

// Hint is advice for the model beyond the matches: "" in the usual case.
func (f *Result) Hint() string {
	var parts []string
	for _, u := range f.unknown {
		parts = append(parts, protocol.Text("unknown-name", u))
	}
	for _, name := range f.denied {
		parts = append(parts, protocol.Text("not-allowed", protocol.Data{Name: name}))
	}
	if f.unlisted > 0 {
		parts = append(parts, protocol.Text("more-unknown", protocol.Data{Total: f.unlisted}))
	}
	var nearest []string
	if len(f.unsure) > 0 {
		nearest = f.nearest()
	}
	if len(nearest) > 0 {
		parts = append(parts, protocol.Text("not-sure", protocol.Data{Near: nearest, Languages: f.languages}))
	}
	if f.asked == 0 {
		parts = append(parts, protocol.Text("empty-query", protocol.Data{}))
	} else if len(f.Found) == 0 && len(f.unknown)+len(f.denied)+f.leftOut+len(nearest) == 0 {
		parts = append(parts, protocol.Text("no-match", protocol.Data{Words: f.unmatched, Near: f.near, Listed: f.hasList, Languages: f.languages}))
	}
	return strings.Join(append(parts, f.warnings()...), " ")
}

// nearest are the names that an unsure search mentions.
func (f *Result) nearest() (names []string) {
	for _, x := range f.unsure {
		if name := x.Info.Name; !containsTool(f.Found, x.Tool) && !slices.Contains(names, name) && len(names) < MaxNear {
			names = append(names, name)
		}
	}
	return names
}

// remarks are notices for the model about the search itself.
func (f *Result) warnings() []string {
	if len(f.missing) == 0 {
		return f.cuts
	}
	return append(f.cuts, protocol.Text("missing-servers", protocol.Data{Words: f.missing}))
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
