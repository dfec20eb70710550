// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package search

import (
	"slices"
	"strings"
	"unicode"

	"github.com/einolean/einolean/toolsearch/internal/catalog"
)

// Select returns the tools of names, as far as they fit into the space of one answer.
func (s Searcher) Select(names []string, space Space) Result {
	r := Result{visible: s.Access.Visible()}
	s.selectByName(names, &r)
	r.fit(space)
	r.MissingServers = s.missingServers(&r, nil)
	return r
}

// selectByName adds the tools of names. Limits.MaxResults does not apply: the model named them.
func (s Searcher) selectByName(names []string, r *Result) {
	const maxExplained = 10 // names that get suggestions: each is compared with all names
	if len(names) > maxNames {
		names = names[:maxNames]
		r.exceed(NameLimit, maxNames)
	}
	for _, name := range names {
		r.Requests++
		switch t := s.Tools.Resolve(name, s.Access.MayFind); {
		case t != nil && containsTool(r.Hits, t):
		case t != nil:
			r.Hits = append(r.Hits, Hit{Tool: t})
		case len(r.Unknown)+len(r.Denied) == maxExplained:
			r.UnknownCount++
		case s.Access.MayKnow(name):
			r.Denied = append(r.Denied, name)
		default:
			r.Unknown = append(r.Unknown, UnknownName{name, s.Tools.Near(name, MaxNear, s.Access.MayHint)})
		}
	}
}

// mayFindName reports whether there is a tool of the name, and the search may return it.
func (s Searcher) mayFindName(name string) bool {
	t := s.Tools.Lookup(name)
	return t != nil && s.Access.MayFind(t)
}

// SplitNames splits lists of names that a model wrote. A name that the caller may find stays whole, whatever characters it
// has. The result has each name once.
func (s Searcher) SplitNames(lists []string) []string { return splitLists(lists, s.mayFindName) }

// ResolveNames returns the names of the tools that lists of names mean, at most as many as a call may have. It ignores
// unknown names, and asks nobody whether the tools may be used.
func (t Tools) ResolveNames(lists []string) (names []string) {
	anyTool := func(*catalog.Tool) bool { return true }
	for _, name := range splitLists(lists, t.Has) {
		if e := t.Resolve(name, anyTool); e != nil && len(names) < maxNames {
			names = append(names, e.Info.Name)
		}
	}
	return names
}

// SelectPrefix begins a query that is a list of names.
const SelectPrefix = "select:"

// parseText reads a text of a query: the names that it selects or, if they are nil, words. "select:" may be in any case,
// and its names may be quoted, separated by commas or white space, and repeated. A known name stays whole, whatever
// characters it has.
func parseText(text string, isKnown func(string) bool) (names []string, words string) {
	text = strings.TrimSpace(text)
	if len(text) < len(SelectPrefix) || !strings.EqualFold(text[:len(SelectPrefix)], SelectPrefix) {
		return nil, text
	}
	return splitNames(text[len(SelectPrefix):], isKnown), ""
}

// splitLists splits several lists of names. The result has each name once.
func splitLists(lists []string, isKnown func(string) bool) (names []string) {
	for _, list := range lists {
		for _, name := range splitNames(list, isKnown) {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// splitNames splits a list of names. The result is not nil, and has each name once.
func splitNames(list string, isKnown func(string) bool) []string {
	if name := strings.TrimSpace(list); isKnown(name) {
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
		if part = strings.TrimSpace(part); isKnown(part) {
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

// firstWords returns the start of a text, with at most n words.
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
