// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package preview

// Fields of records: what they hold, and how much each tells.

import (
	"regexp"
	"strings"
)

const (
	// maxFields is how many fields are told apart.
	maxFields = 512
	// maxSampled is how many records say how much a field differs.
	maxSampled = 256
	// longText is how much of a cell counts.
	longText = 60
	// longBody is how long values are, on average, that tell nothing by their start.
	longBody = 4 * longText
	// cutShare is what a text counts that is cut, times the root of the share that is shown: the
	// start of a message is seldom what it says.
	cutShare = .7
)

// field is one value that records have, under one path of keys.
type field struct {
	name     string // of the last key, as it is in the source
	path     string
	depth    int
	children []*field // in the order in which they were met
	index    map[string]*field
	number   int // in the order in which fields were met
	column   int // in the table, or -1
	weight   float64
	values
}

// values are what the records have in a field.
type values struct {
	count      int   // records that have one
	bytes      int   // of all of them
	firstValue int32 // the first one
	isVaried   bool  // not all are the first one
	distinct   map[string]struct{}
}

// child returns the field below f for a key. It returns nil if there are too many fields, which count counts.
// Records mostly have their keys in one order, so it looks at the previous position first.
func (f *field) child(name string, at int, count *int) *field {
	if at < len(f.children) && f.children[at].name == name {
		return f.children[at]
	}
	if k := f.index[name]; k != nil {
		return k
	}
	if *count >= maxFields {
		return nil
	}
	*count++
	k := &field{name: name, path: name, depth: f.depth + 1, number: *count, column: -1}
	if f.depth > 0 {
		k.path = f.path + "." + name
	}
	f.children = append(f.children, k)
	if f.index == nil {
		f.index = make(map[string]*field)
	}
	f.index[name] = k
	return k
}

// cell is a value of a record.
type cell struct {
	field *field
	value int32
}

// valueFields appends the fields that have values, in the order of their first occurrence.
func (f *field) valueFields(out []*field) []*field {
	if f.count > 0 {
		out = append(out, f)
	}
	for _, k := range f.children {
		out = k.valueFields(out)
	}
	return out
}

// tellingWords are names of fields that distinguish records, or describe them.
var tellingWords = wordSet("name title email label subject key path text value summary address message error description content file author user login msg body comment snippet reason date status type symbol code price url number total state")

// namingWords are names of fields whose text is informative from its start, however long it is.
var namingWords = wordSet("name title subject label message msg summary")

// identifyingWords are names of fields that only identify a record.
var identifyingWords = wordSet("id sha")

// noiseField matches fields that are hardly ever needed.
var noiseField = regexp.MustCompile(`_links|(?:_url|_gmt|node_id)$`)

// lastWord is the last word of a name such as created_at or createdAt.
var lastWord = regexp.MustCompile(`[A-Z]*[a-z0-9]*$`)

// weigh says how informative a field is of so many records.
func (f *field) weigh(records int) float64 {
	sample := max(1, min(f.count, records, maxSampled))
	w := .15 + .5*float64(len(f.distinct))/float64(sample)*float64(f.count)/float64(records)
	word, long := strings.ToLower(lastWord.FindString(f.path)), f.bytes > longBody*f.count
	switch {
	case namingWords[word], tellingWords[word] && !long, identifyingWords[word] && f.depth == 1:
		w += .5
	case long:
		w *= cutShare
	}
	if noiseField.MatchString(f.path) {
		w *= .35
	}
	return max(w-.05*float64(strings.Count(f.path, ".")), .02)
}
