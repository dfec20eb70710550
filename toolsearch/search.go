// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// A search in the catalogue: parse, rank, filter, cut, answer; and the searches for the words of
// users, before the model is called.

import (
	"context"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/einolean/einolean"
	"github.com/einolean/einolean/internal/display"
	"github.com/einolean/einolean/internal/keyword"
	"github.com/einolean/einolean/internal/keyword/bm25"
	keynames "github.com/einolean/einolean/internal/keyword/names"
	"github.com/einolean/einolean/internal/safe"
	"github.com/einolean/einolean/toolsearch/index"
	"github.com/einolean/einolean/toolsearch/internal/hidden"
	"github.com/einolean/einolean/toolsearch/internal/say"
	"github.com/einolean/einolean/toolsearch/internal/turn"
)

// The limits of one call; more is cut, and the answer says so.
const (
	maxResultsCap = 100  // tools per search: loaded tools are part of every later request
	maxNames      = 100  // names in one call, for the same reason
	maxQueries    = 20   // searches in one call
	maxWords      = 1000 // words in one search
)

// searchResult is the result of a search.
type searchResult struct {
	asked         int        // searches and names in the call
	visible       turn.Names // tools that the model sees already
	found         []foundTool
	alreadyLoaded []string      // names of found tools that the model sees already
	unknown       []say.Data    // names, and near ones
	denied        []string      // names that the model may know of and not use
	leftOut       int           // found tools that do not fit into the answer
	hasList       bool          // hints can point to the list of names
	unlisted      int           // unknown names beyond those in unknown
	unmatched     []string      // words that no tool contains, if nothing was found
	near          []string      // names similar to the words, if nothing was found
	unsure        []foundTool   // the best results of searches that were not sure of any
	languages     say.Languages // those of the tools and of the query, if nothing was found and they differ
	missing       []string      // servers that do not answer and may have the tools searched for
	cuts          []string      // notices to the model about limits that cut the call
}

type foundTool struct {
	*hidden.Tool
	score      float64
	confidence float64
	terms      []einolean.Term // for an event
}

// searcher answers a call of a search tool.
type searcher struct {
	run    *run
	cat    *catalog
	cfg    *Config
	phases []Phase // that a tool it returns must be allowed in
}

func newSearcher(r *run, phases ...Phase) searcher {
	return searcher{run: r, cat: r.catalog(), cfg: &r.cfg, phases: phases}
}

// may reports whether the search may return a tool.
func (s searcher) may(ctx context.Context, e *hidden.Tool) bool {
	return s.run.allows(ctx, FilterRequest{Tool: e.Info}, s.phases...)
}

// mayName reports whether a hint may mention a tool that nobody asked for by its name.
func (s searcher) mayName(ctx context.Context) func(*hidden.Tool) bool {
	return func(e *hidden.Tool) bool {
		return s.may(ctx, e) && s.run.allows(ctx, FilterRequest{Tool: e.Info}, PhaseList, PhaseSearch)
	}
}

// find runs the queries of one call, and reports the search. All it finds fits into one
// answer, which takes size bytes for a tool. Its only error is the context's.
func (s searcher) find(ctx context.Context, queries []string, limit int, size func(*hidden.Tool) int) (searchResult, error) {
	inside, report := tracing(ctx, s.cfg)
	f, err := s.search(inside, queries, limit)
	f.bound(size)
	s.noteMissing(&f, queries...)
	if err == nil && report != nil {
		emitSearched(ctx, s.run, report, strings.Join(queries, "\n"), f.hits())
	}
	return f, err
}

// search runs the queries of one call. Its only error is the context's.
func (s searcher) search(ctx context.Context, queries []string, limit int) (searchResult, error) {
	f := searchResult{visible: s.run.visible(ctx)}
	if limit <= 0 {
		limit = s.cfg.MaxResults
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

func (s searcher) searchOne(ctx context.Context, text string, limit int, f *searchResult) error {
	names, words := parseSearch(text, s.knows(ctx))
	if names != nil {
		s.selectByName(ctx, names, f)
		return ctx.Err()
	}
	if words = firstWords(words, maxWords); words == "" {
		return ctx.Err()
	}
	f.asked++
	most := mostResults(s.cfg)
	wanted := ranking{visible: f.visible, limit: min(limit, most+1)} // one extra, to see whether there are more
	ranked, err := s.rank(ctx, words, wanted)
	if ranked.fresh > most {
		ranked.found = ranked.found[:len(ranked.found)-1]
		f.cut("cut-results", most)
	}
	if traceOf(ctx) != nil {
		for i := range min(len(ranked.found), maxEventTerms-min(len(f.found), maxEventTerms)) {
			x := &ranked.found[i]
			x.terms = index.Explain(s.cat.index, index.Query{Text: words}, x.Info.Name)
		}
	}
	if s.cfg.MinConfidence > 0 && s.refuses(ranked.found) {
		f.unsure = append(f.unsure, ranked.found[:min(len(ranked.found), maxSuggestions)]...)
		f.languages = s.languages(ctx, words)
		return err
	}
	f.merge(ranked.found)
	if err == nil && len(f.found) == 0 {
		f.languages = s.languages(ctx, words)
		f.unmatched = s.unmatched(ctx, words)
		f.near = s.suggest(ctx, words)
		f.hasList = len(s.run.listable(ctx)) > 0
	}
	return err
}

const selectPrefix = "select:"

// parseSearch reads a query: the names that it selects, or, if they are nil, words. "select:" may be
// in any case, and its names may be quoted, separated by commas or white space, and repeated. A known
// name stays whole, whatever characters it has.
func parseSearch(text string, known func(string) bool) (names []string, words string) {
	text = strings.TrimSpace(text)
	if len(text) < len(selectPrefix) || !strings.EqualFold(text[:len(selectPrefix)], selectPrefix) {
		return nil, text
	}
	return splitNames(text[len(selectPrefix):], known), ""
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

// rank asks the index, and asks for more results while too few may be returned. Results of
// the first answer keep their places: an index may rank a longer list in another order.
func (s searcher) rank(ctx context.Context, words string, kept ranking) (ranking, error) {
	for ask := kept.limit; ; ask *= 4 {
		results, err := s.cat.askIndex(ctx, index.Query{Text: words, Limit: ask})
		if err != nil {
			return ranking{}, err
		}
		if s.cfg.MinConfidence > 0 {
			results = s.cat.sure().RateUnknown(ctx, hidden.Door{}, words, results)
		}
		kept.found = slices.Grow(kept.found, min(kept.limit, len(results)))
		s.accept(ctx, results, &kept)
		if kept.isFull() || len(results) < ask {
			return kept, nil
		}
	}
}

// askIndex fails only with the context's error: if the index fails, the specified score
// answers.
func (c *catalog) askIndex(ctx context.Context, q index.Query) ([]index.Result, error) {
	var results []index.Result
	var err error
	if broken := c.broken.Load(); broken != nil {
		err = *broken
	} else {
		results, err = searchIndex(ctx, c.index, q)
	}
	if err == nil || ctx.Err() != nil {
		traceOf(ctx).answered(c.index, false)
		return results, ctx.Err()
	}
	hidden.Failed(ctx, err)
	traceOf(ctx).answered(c.specified, true)
	return c.specified.Search(ctx, q)
}

// searchIndex asks an index. Its numbers become finite here: events, logs and comparisons
// rely on that.
func searchIndex(ctx context.Context, x index.Index, q index.Query) ([]index.Result, error) {
	found, err := safe.Value("toolsearch: the index", func() ([]index.Result, error) { return x.Search(ctx, q) })
	if slices.ContainsFunc(found, func(r index.Result) bool { return r != finite(r) }) {
		found = slices.Clone(found)
		for i, r := range found {
			found[i] = finite(r)
		}
	}
	return found, err
}

// finite returns a result with the nearest score that is a number, and a confidence from 0 to
// 1. Anything else becomes 0, which is the lowest score and an unknown confidence.
func finite(r index.Result) index.Result {
	number := func(x, least, most float64) float64 {
		if math.IsNaN(x) {
			return 0
		}
		return min(max(x, least), most)
	}
	return index.Result{Name: r.Name, Score: number(r.Score, -math.MaxFloat64, math.MaxFloat64), Confidence: number(r.Confidence, 0, 1)}
}

func (s searcher) accept(ctx context.Context, results []index.Result, kept *ranking) {
	for _, x := range results {
		if kept.isFull() {
			return
		}
		e := s.cat.Lookup(x.Name)
		if e != nil && x.Score >= 0 && s.may(ctx, e) && !holds(kept.found, e) {
			kept.add(foundTool{Tool: e, score: x.Score, confidence: x.Confidence})
		}
	}
}

// ranking collects the results of a search. Tools that the model already sees keep their rank
// but do not count towards the limit.
type ranking struct {
	visible turn.Names
	limit   int // the most tools that the model does not see
	found   []foundTool
	fresh   int // those of found that the model does not see
}

func (k *ranking) isFull() bool { return k.fresh == k.limit }

func (k *ranking) isFresh(e *hidden.Tool) bool { return !k.visible[e.Info.Name] }

func (k *ranking) add(x foundTool) {
	if k.isFresh(x.Tool) {
		k.fresh++
	} else if len(k.found) >= k.limit {
		return
	}
	k.found = append(k.found, x)
}

// refuses reports whether a search found tools but is sure of none.
func (s searcher) refuses(results []foundTool) bool {
	return len(results) > 0 && !slices.ContainsFunc(results, func(x foundTool) bool {
		return x.confidence == 0 || x.confidence >= s.cfg.MinConfidence
	})
}

// mostResults is how many tools one search may return.
func mostResults(c *Config) int { return max(maxResultsCap, c.MaxResults) }

// selectByName selects tools by name. MaxResults does not apply: the model named them.
func (s searcher) selectByName(ctx context.Context, names []string, f *searchResult) {
	const most = 10 // unknown names that get suggestions; each is looked up among all names
	if len(names) > maxNames {
		names = names[:maxNames]
		f.cut("cut-names", maxNames)
	}
	may := func(e *hidden.Tool) bool { return s.may(ctx, e) }
	for _, name := range names {
		f.asked++
		switch e := s.cat.resolve(name, may); {
		case e != nil && holds(f.found, e):
		case e != nil:
			f.found = append(f.found, foundTool{Tool: e})
		case len(f.unknown)+len(f.denied) == most:
			f.unlisted++
		case s.run.mayKnow(ctx, name):
			f.denied = append(f.denied, name)
		default:
			f.unknown = append(f.unknown, say.Data{Name: name, Near: s.cat.near(name, maxSuggestions, s.mayName(ctx))})
		}
	}
}

// knows returns a function that reports whether a name exists for this search.
func (s searcher) knows(ctx context.Context) func(string) bool {
	return func(name string) bool {
		e := s.cat.Lookup(name)
		return e != nil && s.may(ctx, e)
	}
}

func holds(list []foundTool, e *hidden.Tool) bool {
	return slices.ContainsFunc(list, func(x foundTool) bool { return x.Tool == e })
}

// maxPatternBytes bounds a pattern. RE2 matches in linear time, but compiling a long pattern
// takes time and memory.
const maxPatternBytes = 1000

// matchNames finds the tools whose names match, in the order of the catalogue, and adds hints
// for the model.
func (s searcher) matchNames(ctx context.Context, pattern string) (f searchResult, note string) {
	_, report := tracing(ctx, s.cfg)
	if pattern == "" {
		return f, say.Text("empty-pattern", say.Data{})
	}
	if len(pattern) > maxPatternBytes {
		return f, say.Text("long-pattern", say.Data{Limit: maxPatternBytes})
	}
	re, err := regexp.Compile(pattern)
	if err != nil {
		return f, say.Text("bad-pattern", say.Data{Reason: say.Clip(err.Error())})
	}
	f.visible = s.run.visible(ctx)
	most := mostResults(s.cfg)
	kept := ranking{visible: f.visible, limit: most}
	for e := range s.cat.All() {
		if !re.MatchString(e.Info.Name) || !s.may(ctx, e) {
			continue
		}
		if kept.isFull() && kept.isFresh(e) {
			f.cut("cut-results", most)
			break
		}
		kept.add(foundTool{Tool: e})
	}
	f.found = kept.found
	f.bound(nameSize)
	f.asked++
	s.noteMissing(&f, pattern)
	if note = strings.Join(f.remarks(), " "); len(f.found)+f.leftOut == 0 {
		none := say.Data{Near: s.suggest(ctx, wordsOf(pattern)), Languages: s.languages(ctx, wordsOf(pattern))}
		note = strings.TrimSpace(say.Text("no-name-matches", none) + " " + note)
	}
	if report != nil {
		emitSearched(ctx, s.run, report, pattern, f.hits())
	}
	return f, note
}

var patternMarks = regexp.MustCompile(`\\.|[^\pL\pN_]+`)

// wordsOf extracts the words of a pattern, for suggestions.
func wordsOf(pattern string) string { return patternMarks.ReplaceAllString(pattern, " ") }

// maxLookups is how many words of a search are looked up one by one.
const maxLookups = 8

// unmatched returns words of a search that are in no name and no description of a tool that
// the caller may find.
func (s searcher) unmatched(ctx context.Context, words string) []string {
	var out []string
	known := s.knows(ctx)
	for _, w := range lookups(words) {
		results, err := s.cat.specified.Search(ctx, index.Query{Text: w})
		if err == nil && !slices.ContainsFunc(results, func(x index.Result) bool { return known(x.Name) }) {
			out = append(out, say.Clip(w))
		}
	}
	return out
}

// sampled is how many descriptions tell the language of the tools.
const sampled = 64

// languages returns the language of the tools that the caller may know of, and that of a search,
// where they differ.
func (s searcher) languages(ctx context.Context, words string) say.Languages {
	names := s.run.listable(ctx)
	count, known := map[bm25.Language]int{}, 0
	for i := range min(sampled, len(names)) {
		e := s.cat.Lookup(names[i*len(names)/min(sampled, len(names))])
		if l := bm25.LanguageOf(keynames.Clip(e.Info.Desc, maxTold)); l != "" {
			count[l]++
			known++
		}
	}
	asked := bm25.LanguageOf(words)
	for l, n := range count {
		if 3*n > 2*known && l != asked && (asked != "" || l.HasOwnLetters()) {
			return say.Languages{Language: l, Asked: asked}
		}
	}
	return say.Languages{}
}

// maxTold is how many bytes of a description are read to tell its language.
const maxTold = 512

// suggest returns names similar to the words of a search that found nothing.
func (s searcher) suggest(ctx context.Context, words string) []string {
	var names []string
	for _, w := range lookups(words) {
		for _, n := range s.cat.near(w, maxSuggestions, s.mayName(ctx)) {
			if len(names) == maxSuggestions {
				return names
			}
			if !slices.Contains(names, n) {
				names = append(names, n)
			}
		}
	}
	return names
}

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
func (s searcher) noteMissing(f *searchResult, queries ...string) {
	if !s.cat.changes {
		return
	}
	const most = 10
	nothing := f.asked > 0 && len(f.found)+f.leftOut == 0
	for _, name := range s.run.source.missing() {
		named := func(query string) bool { return strings.Contains(spaced(query), spaced(name)) }
		text := say.Clip(name)
		if text != "" && (nothing || slices.ContainsFunc(queries, named)) && len(f.missing) < most && !slices.Contains(f.missing, text) {
			f.missing = append(f.missing, text)
		}
	}
}

// spaced is a text's words in lower case, with a space on each side.
func spaced(text string) string {
	words := strings.FieldsFunc(strings.ToLower(text), func(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsNumber(c) })
	return " " + strings.Join(words, " ") + " "
}

// names are the names of the tools found; not nil.
func (f *searchResult) names() []string {
	names := make([]string, len(f.found))
	for i, x := range f.found {
		names[i] = x.Info.Name
	}
	return names
}

// merge adds the results of a ranking.
func (f *searchResult) merge(ranked []foundTool) {
	if len(f.found) == 0 {
		f.found = ranked
		return
	}
	for _, x := range ranked {
		if !holds(f.found, x.Tool) {
			f.found = append(f.found, x)
		}
	}
}

// cut notes that a limit cut the call.
func (f *searchResult) cut(text string, limit int) {
	if text = say.Text(text, say.Data{Limit: limit}); !slices.Contains(f.cuts, text) {
		f.cuts = append(f.cuts, text)
	}
}

// bound drops the tools that do not fit into one answer, and notes which of the others are loaded. size
// returns the bytes that the answer takes for a tool.
func (f *searchResult) bound(size func(*hidden.Tool) int) {
	left, kept, over := maxAnswerBytes, 0, say.Data{}
	for i, x := range f.found {
		if n := size(x.Tool); n <= left {
			left -= n
			if kept < i {
				f.found[kept] = x
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
	f.found, f.leftOut = f.found[:kept], over.Total
	if f.leftOut > 0 {
		f.cuts = append(f.cuts, say.Text("cut-answer", over))
	}
}

// nameSize is the size in bytes of a name that may be under already_loaded as well.
func nameSize(e *hidden.Tool) int { return 2 * (say.Size(e.Info.Name) + 1) }

// hint is advice for the model beyond the matches: "" in the usual case.
func (f *searchResult) hint() string {
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
	} else if len(f.found) == 0 && len(f.unknown)+len(f.denied)+f.leftOut+len(nearest) == 0 {
		parts = append(parts, say.Text("no-match", say.Data{Words: f.unmatched, Near: f.near, Listed: f.hasList, Languages: f.languages}))
	}
	return strings.Join(append(parts, f.remarks()...), " ")
}

// nearest are the names that an unsure search mentions.
func (f *searchResult) nearest() (names []string) {
	for _, x := range f.unsure {
		if name := x.Info.Name; !holds(f.found, x.Tool) && !slices.Contains(names, name) && len(names) < maxSuggestions {
			names = append(names, name)
		}
	}
	return names
}

// remarks are notices for the model about the search itself.
func (f *searchResult) remarks() []string {
	if len(f.missing) == 0 {
		return f.cuts
	}
	return append(f.cuts, say.Text("missing-servers", say.Data{Words: f.missing}))
}

// hits are the best results, for an event.
func (f *searchResult) hits() []einolean.Hit {
	all := append(slices.Clone(f.found), f.unsure...)
	out := make([]einolean.Hit, min(len(all), maxEventHits))
	for i := range out {
		x := all[i]
		out[i] = einolean.Hit{Name: x.Info.Name, Score: x.score, Confidence: x.confidence, Terms: x.terms}
	}
	return out
}

// trace is what happens during one search, for an event. Nil collects nothing.
type trace struct {
	start time.Time

	mu        sync.Mutex
	indexName string
	fallback  bool
	failed    []error
}

// tracing returns a context that collects it, if there is an OnEvent.
func tracing(ctx context.Context, cfg *Config) (context.Context, *trace) {
	if cfg.OnEvent == nil {
		return ctx, nil
	}
	r := &trace{start: time.Now()}
	return hidden.OnFailure(context.WithValue(ctx, traceKey, r), r.fail), r
}

func traceOf(ctx context.Context) *trace {
	s, _ := ctx.Value(traceKey).(*trace)
	return s
}

// fail notes that an index, or a part of one, failed.
func (s *trace) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.failed) < maxEventErrs {
		s.failed = append(s.failed, err)
	}
}

// answered notes the index that answered.
func (s *trace) answered(x index.Index, fallback bool) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.indexName = indexName(x)
	s.fallback = s.fallback || fallback
}

// emitSearched reports a search that was answered.
func emitSearched(ctx context.Context, by *run, r *trace, query string, hits []einolean.Hit) {
	if r == nil {
		return
	}
	r.mu.Lock()
	index, fallback, failed := r.indexName, r.fallback, slices.Clone(r.failed)
	r.mu.Unlock()
	id := callID(ctx)
	if len(failed) > 0 {
		by.emit(ctx, einolean.Event{Kind: einolean.KindIndexFailed, CallID: id, Err: errors.Join(failed...)})
	}
	by.emit(ctx, einolean.Event{Kind: einolean.KindToolsSearched, CallID: id, Search: &einolean.Search{
		Query: display.Start(query, maxEventQuery), Index: index, Took: time.Since(r.start), Fallback: fallback, Hits: hits,
	}})
}

func indexName(x index.Index) string { return strings.TrimPrefix(fmt.Sprintf("%T", x), "*") }
