// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package protocol

import (
	"context"
	"slices"
	"strings"

	"github.com/einolean/einolean/internal/jsontext"
	"github.com/einolean/einolean/toolsearch/internal/search"
)

// Hint returns what the model reads of a search beside the tools. It is empty in the usual case. The notices of the caller
// follow those about limits.
func Hint(r *search.Result, callerNotices ...string) string {
	var parts []string
	for _, u := range r.Unknown {
		parts = append(parts, Text("unknown-name", Data{Name: u.Name, Near: u.Near}))
	}
	for _, name := range r.Denied {
		parts = append(parts, Text("not-allowed", Data{Name: name}))
	}
	if r.UnknownCount > 0 {
		parts = append(parts, Text("more-unknown", Data{Total: r.UnknownCount}))
	}
	data := Data{Near: r.Nearest(), Language: r.Languages.Tools, QueryLanguage: r.Languages.Query}
	if len(data.Near) > 0 {
		parts = append(parts, Text("not-sure", data))
	}
	if r.IsDoubtful() {
		parts = append(parts, Text("doubtful", Data{}))
	}
	switch {
	case r.Requests == 0:
		parts = append(parts, Text("empty-query", Data{}))
	case !r.HasFound() && len(r.Unknown)+len(r.Denied)+len(data.Near) == 0:
		data.Words, data.Near, data.Listed = ClipAll(r.Unmatched), r.Near, r.HasList
		parts = append(parts, Text("no-match", data))
	}
	return strings.Join(append(parts, notices(r, callerNotices...)...), " ")
}

// limitTexts are the texts about limits that a call exceeded.
var limitTexts = map[search.Limit]string{
	search.QueryLimit:  "cut-queries",
	search.NameLimit:   "cut-names",
	search.ResultLimit: "cut-results",
}

// notices returns what the model reads about limits of a search, and about servers that are down.
func notices(r *search.Result, callerNotices ...string) (texts []string) {
	for _, e := range r.Exceeded {
		texts = append(texts, Text(limitTexts[e.Limit], Data{Limit: e.Max}))
	}
	if r.OmittedCount > 0 {
		texts = append(texts, Text("cut-answer", Data{Total: r.OmittedCount, Words: ClipAll(r.Omitted)}))
	}
	texts = append(texts, callerNotices...)
	if servers := serverNames(r.MissingServers); len(servers) > 0 {
		texts = append(texts, Text("missing-servers", Data{Words: servers}))
	}
	return texts
}

// serverNames returns the first names of servers as a text shows them.
func serverNames(servers []string) (names []string) {
	const maxServers = 10
	for _, name := range ClipAll(servers) {
		if name != "" && len(names) < maxServers && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// EmptyResultHint returns what helps after a search whose result was empty. The search is not reported again.
func EmptyResultHint(ctx context.Context, s search.Searcher, args jsontext.Arguments) string {
	r, err := s.Search(ctx, queryOf(args))
	if text := Hint(&r); err == nil && text != "" {
		return text
	}
	return Text("no-match", Data{Listed: len(s.Access.ListedNames()) > 0})
}
