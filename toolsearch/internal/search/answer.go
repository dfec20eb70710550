// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package search

// The answers of the search tools, each from the arguments of its call. Their only error is the context's.

import (
	"context"
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/einolean/einolean/internal/display"
	"github.com/einolean/einolean/internal/jsontext"
	"github.com/einolean/einolean/internal/toolnames"
	"github.com/einolean/einolean/toolsearch/internal/catalog"
	"github.com/einolean/einolean/toolsearch/internal/protocol"
)

// Find answers a search by words, of which an answer names the results.
func Find(ctx context.Context, s Searcher, a jsontext.Arguments) (Result, error) {
	return s.find(ctx, a, nameSize)
}

// Advice is what there is to say of a search that found nothing, which is not reported again.
func Advice(ctx context.Context, s Searcher, a jsontext.Arguments) string {
	f, err := s.search(ctx, a)
	if text := f.Hint(); err == nil && text != "" {
		return text
	}
	return protocol.Text("no-match", protocol.Data{Listed: len(s.For.Listed()) > 0})
}

// nameSize is the size in bytes of a name that may be under already_loaded as well.
func nameSize(e *catalog.Tool) int { return 2 * (protocol.Size(e.Info.Name) + 1) }

// Keyword answers with the names of tools, which are loaded.
func AnswerNames(ctx context.Context, s Searcher, a jsontext.Arguments) (string, error) {
	f, err := s.find(ctx, a, nameSize)
	return protocol.JSON(protocol.Answer{Matches: f.Names(), AlreadyLoaded: f.alreadyLoaded, Hint: f.Hint()}), err
}

// Regexp answers with the names that a pattern matches, of tools which are loaded.
func Regexp(ctx context.Context, s Searcher, a jsontext.Arguments) (string, error) {
	f, note := s.matchNames(ctx, a, nameSize)
	return protocol.JSON(protocol.Answer{Selected: f.Names(), AlreadyLoaded: f.alreadyLoaded, Hint: note}), ctx.Err()
}

// maxShort bounds the description of a candidate, in runes.
const maxShort = 150

// Candidates answers with tools to choose from.
func Candidates(ctx context.Context, s Searcher, a jsontext.Arguments) (string, error) {
	f, err := s.find(ctx, a, candidateSize)
	out := protocol.Answer{Results: []protocol.Described{}, AlreadyLoaded: f.alreadyLoaded, Hint: f.Hint()}
	for _, x := range f.Found {
		score, desc := math.Round(x.score*100)/100, display.Clip(x.Info.Desc, maxShort)
		out.Results = append(out.Results, protocol.Described{Name: x.Info.Name, Description: &desc, Score: &score})
	}
	return protocol.JSON(out), err
}

// candidateSize is the bytes of a candidate, which may stand under already_loaded as well.
func candidateSize(e *catalog.Tool) int {
	const rest = `{"name":,"description":,"score":1234567.89},`
	return nameSize(e) + protocol.Size(display.Clip(e.Info.Desc, maxShort)) + len(rest)
}

// maxNearOnLoad is the most near names for an unknown name.
const maxNearOnLoad = 3

// Load answers with the tools that a call loads by their names.
func AnswerLoad(ctx context.Context, s Searcher, a jsontext.Arguments) (string, error) {
	f := Result{visible: s.For.Sees()}
	s.selectByName(namesToLoad(a, s.has), &f)
	f.fitAnswer(nameSize)
	s.noteMissing(&f)
	out := protocol.Answer{Loaded: toolnames.Difference(f.Names(), f.alreadyLoaded), AlreadyLoaded: f.alreadyLoaded}
	for i, u := range f.unknown {
		f.unknown[i].Near = u.Near[:min(len(u.Near), maxNearOnLoad)]
	}
	if out.Hint = f.Hint(); f.asked == 0 {
		out.Hint = protocol.Text("no-name", protocol.Data{})
	}
	return protocol.JSON(out), ctx.Err()
}

// Describe answers with tools that the model can call by another one.
func Describe(ctx context.Context, s Searcher, a jsontext.Arguments) (string, error) {
	f, err := s.find(ctx, a, func(e *catalog.Tool) int { d, _ := protocol.Describe(e); return d.Size() })
	out := protocol.Answer{Tools: []protocol.Described{}}
	for _, x := range f.Found {
		d, shortened := protocol.Describe(x.Tool)
		if out.Tools = append(out.Tools, d); shortened {
			f.cuts = append(f.cuts, protocol.Text("shortened-tool", protocol.Data{Name: d.Name}))
		}
	}
	out.Hint = f.Hint()
	return protocol.JSON(out), err
}

// signedSize is the bytes of a signature in an answer.
func signedSize(e *catalog.Tool) int { return protocol.SignatureOf(e).Size() }

// signed are tools as their signatures, for an answer.
func signed(tools []Hit, hint string) string {
	out := protocol.Answer{Tools: make([]protocol.Described, len(tools)), Hint: hint}
	for i, x := range tools {
		out.Tools[i] = protocol.SignatureOf(x.Tool)
	}
	return protocol.JSON(out)
}

// Sign answers with the signatures of tools that programs can call.
func AnswerSignatures(ctx context.Context, s Searcher, a jsontext.Arguments) (string, error) {
	f, err := s.find(ctx, a, signedSize)
	return signed(f.Found, f.Hint()), err
}

// SignMatches does the same for a pattern.
func SignMatches(ctx context.Context, s Searcher, a jsontext.Arguments) (string, error) {
	f, note := s.matchNames(ctx, a, signedSize)
	return signed(f.Found, note), ctx.Err()
}

// textsOf returns the texts under the first key that holds any, or else those of arguments that
// are not an object.
func textsOf(a jsontext.Arguments, keys ...string) []string {
	if texts := a.Texts(keys...); len(texts) > 0 {
		return texts
	}
	return a.BareTexts()
}

// queriesOf are the searches that a call asks for, under the right key or one that models use by
// mistake.
func queriesOf(a jsontext.Arguments) []string {
	return textsOf(a, "query", "queries", "q", "keywords", "keyword", "search", "name", "names", "tool_name", "tool_names", "text")
}

// limitOf returns the number of results that a search asks for, or zero. A negative one becomes -1.
func limitOf(a jsontext.Arguments) int {
	return int(max(-1, min(a.Number("max_results", "limit", "top_k", "n"), math.MaxInt32)))
}

// patternOf is the pattern that a call asks for.
func patternOf(a jsontext.Arguments) string {
	if patterns := textsOf(a, "regex_pattern", "pattern", "regex", "query"); len(patterns) > 0 {
		return patterns[0]
	}
	return ""
}

// namesToLoad are the names that a call of load_tool asks for.
func namesToLoad(a jsontext.Arguments, known func(string) bool) (names []string) {
	for _, text := range append(textsOf(a, "tool_name", "name"), textsOf(a, "tool_names", "names", "tools")...) {
		for _, name := range splitNames(text, known) {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// Asked are the tools that a call of load_tool in a history asked for.
func NamesRequested(t Tools, a jsontext.Arguments) (names []string) {
	anyone := func(*catalog.Tool) bool { return true }
	for _, name := range namesToLoad(a, t.Has) {
		if e := t.Resolve(name, anyone); e != nil && len(names) < maxNames {
			names = append(names, e.Info.Name)
		}
	}
	return names
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

// splitNames splits a list of names. The result is not nil, and holds each name once.
func splitNames(list string, known func(string) bool) []string {
	if name := strings.TrimSpace(list); known(name) {
		return []string{name}
	}
	names := []string{}
	seen := map[string]bool{}
	add := func(name string) {
		if name != "" && !seen[name] {
			seen[name] = true
			names = append(names, name)
		}
	}
	for part := range strings.SplitSeq(list, ",") {
		if part = strings.TrimSpace(part); known(part) {
			add(part)
			continue
		}
		for _, word := range strings.FieldsFunc(part, isListSeparator) {
			add(strings.TrimFunc(word, isQuote))
		}
	}
	return names
}

func isListSeparator(r rune) bool {
	return r == ',' || r == ';' || r == '，' || r == '、' || unicode.IsSpace(r)
}

func isQuote(r rune) bool { return strings.ContainsRune("\"'`“”‘’「」[]()", r) }

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
