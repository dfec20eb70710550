// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package search

import (
	"slices"

	"github.com/einolean/einolean"
	"github.com/einolean/einolean/internal/keyword/bm25/analysis"
	"github.com/einolean/einolean/internal/toolnames"
	"github.com/einolean/einolean/toolsearch/internal/catalog"
)

// Result is the result of a search.
type Result struct {
	Hits          []Hit    // best first
	AlreadyLoaded []string // names of hits that the model sees already
	Omitted       []string // names of the first hits that do not fit into the answer
	OmittedCount  int      // all hits that do not fit
	LowConfidence []Hit    // the best results of queries that had a confidence below the minimum

	Requests       int        // queries and names in the call
	Exceeded       []Exceeded // limits of the call
	MissingServers []string   // servers whose tools are unavailable and may be meant

	// Of names in the call:
	Unknown      []UnknownName
	UnknownCount int      // further unknown names
	Denied       []string // names of tools that the model may know of but not use

	// Of the last query that found nothing:
	Unmatched []string  // words that no tool contains
	Near      []string  // names similar to the words
	HasList   bool      // there is a list of names that the model may read
	Languages Languages // of the tools and of the query, if they differ

	visible toolnames.Set // tools that the model sees already
	isRated bool          // results with too little confidence are held back, so a low one of the others is worth saying
}

// Hit is a tool that was found.
type Hit struct {
	*catalog.Tool
	Score float64

	confidence float64
	terms      []einolean.Term // for an event
}

// UnknownName is a name that no tool has.
type UnknownName struct {
	Name string
	Near []string // similar names
}

// Languages are those of the tools' descriptions and of a query.
type Languages struct {
	Tools analysis.Language
	Query analysis.Language // "" if it is not known
}

// Exceeded is a limit that a call exceeded.
type Exceeded struct {
	Limit Limit
	Max   int
}

// Limit is a kind of limit.
type Limit int

const (
	QueryLimit  Limit = iota // queries in a call
	NameLimit                // names in a call
	ResultLimit              // results of a query
)

// Space is the space of an answer.
type Space struct {
	Bytes int
	// Size returns the bytes that the answer takes for a tool.
	Size func(*catalog.Tool) int
}

func containsTool(hits []Hit, t *catalog.Tool) bool {
	return slices.ContainsFunc(hits, func(x Hit) bool { return x.Tool == t })
}

// Names returns the names of the hits. It is not nil.
func (r *Result) Names() []string {
	names := make([]string, len(r.Hits))
	for i, x := range r.Hits {
		names[i] = x.Info.Name
	}
	return names
}

// Nearest returns the names of tools that a search with too little confidence mentions.
func (r *Result) Nearest() (names []string) {
	for _, x := range r.LowConfidence {
		name := x.Info.Name
		if !containsTool(r.Hits, x.Tool) && !slices.Contains(names, name) && len(names) < MaxNear {
			names = append(names, name)
		}
	}
	return names
}

// HasFound reports whether anything was found, even if it does not fit into the answer.
func (r *Result) HasFound() bool { return len(r.Hits)+r.OmittedCount > 0 }

// doubtfulBelow is the confidence below which it is more likely that a tool does not serve the query.
const doubtfulBelow = 0.5

// IsDoubtful reports whether probably none of the tools that were found serves the query.
func (r *Result) IsDoubtful() bool {
	isSure := func(x Hit) bool { return x.confidence == 0 || x.confidence >= doubtfulBelow }
	return r.isRated && len(r.Hits) > 0 && !slices.ContainsFunc(r.Hits, isSure)
}

// addHits adds the hits of a further text.
func (r *Result) addHits(hits []Hit) {
	if len(r.Hits) == 0 {
		r.Hits = hits
		return
	}
	for _, x := range hits {
		if !containsTool(r.Hits, x.Tool) {
			r.Hits = append(r.Hits, x)
		}
	}
}

// exceed records that the call exceeded a limit.
func (r *Result) exceed(limit Limit, atMost int) {
	if e := (Exceeded{limit, atMost}); !slices.Contains(r.Exceeded, e) {
		r.Exceeded = append(r.Exceeded, e)
	}
}

// maxOmitted is the largest number of omitted tools that an answer names.
const maxOmitted = 20

// fit removes the hits that do not fit into an answer, and records which of the others the model sees already.
func (r *Result) fit(space Space) {
	count := 0
	for i, x := range r.Hits {
		size := space.Size(x.Tool)
		if size > space.Bytes {
			if r.OmittedCount++; len(r.Omitted) < maxOmitted {
				r.Omitted = append(r.Omitted, x.Info.Name)
			}
			continue
		}
		space.Bytes -= size
		if count < i {
			r.Hits[count] = x
		}
		if count++; r.visible[x.Info.Name] {
			r.AlreadyLoaded = append(r.AlreadyLoaded, x.Info.Name)
		}
	}
	r.Hits = r.Hits[:count]
}

// maxEventHits is the largest number of hits in an event.
const maxEventHits = 10

// EventHits returns the best hits, for an event.
func (r *Result) EventHits() []einolean.Hit {
	all := append(slices.Clone(r.Hits), r.LowConfidence...)
	hits := make([]einolean.Hit, min(len(all), maxEventHits))
	for i := range hits {
		x := all[i]
		hits[i] = einolean.Hit{Name: x.Info.Name, Score: x.Score, Confidence: x.confidence, Terms: x.terms}
	}
	return hits
}
