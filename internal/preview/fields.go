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
	// sampled is how many records say how much a field differs.
	sampled = 256
	// longText is how much of a cell counts.
	longText = 60
	// longBody is how long values are, on average, that tell nothing by their start.
	longBody = 4 * longText
	// ofCut is what a text counts that is cut, times the root of the share that is shown: the
	// start of a message is seldom what it says.
	ofCut = .7
)

// field is one value that records have, under one path of keys.
type field struct {
	name   string // of the last key, as it is in the source
	path   string
	depth  int
	kids   []*field // in the order in which they were met
	index  map[string]*field
	number int // in the order in which fields were met
	column int // in the table, or -1
	weight float64
	values
}

// values are what the records have in a field.
type values struct {
	seen     int   // records that have one
	bytes    int   // of all of them
	first    int32 // the first one
	differs  bool  // not all are the first one
	distinct map[string]struct{}
}

// kid finds the field below f that a key names; nil if there are too many, which count counts. Records
// mostly have their keys in one order, so it looks where the key was last time.
func (f *field) kid(name string, at int, count *int) *field {
	if at < len(f.kids) && f.kids[at].name == name {
		return f.kids[at]
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
	f.kids = append(f.kids, k)
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

// leaves lists the fields that hold values, in the order in which they were met.
func (f *field) leaves(out []*field) []*field {
	if f.seen > 0 {
		out = append(out, f)
	}
	for _, k := range f.kids {
		out = k.leaves(out)
	}
	return out
}

// telling are words for fields that distinguish records, or say what they are about.
var telling = words("name title email label subject key path text value summary address message error description content file author user login msg body comment snippet reason date status type symbol code price url number total state")

// naming are those for texts of which the start tells something, however long they are.
var naming = words("name title subject label message msg summary")

// identifying are words for what tells records apart, but says nothing of other things in them.
var identifying = words("id sha")

// noise are fields that are hardly ever asked about.
var noise = regexp.MustCompile(`_links|(?:_url|_gmt|node_id)$`)

// lastWord is the last word of a name such as created_at or createdAt.
var lastWord = regexp.MustCompile(`[A-Z]*[a-z0-9]*$`)

// weigh says how informative a field is of so many records.
func (f *field) weigh(records int) float64 {
	sample := max(1, min(f.seen, records, sampled))
	w := .15 + .5*float64(len(f.distinct))/float64(sample)*float64(f.seen)/float64(records)
	word, long := strings.ToLower(lastWord.FindString(f.path)), f.bytes > longBody*f.seen
	switch {
	case naming[word], telling[word] && !long, identifying[word] && f.depth == 1:
		w += .5
	case long:
		w *= ofCut
	}
	if noise.MatchString(f.path) {
		w *= .35
	}
	return max(w-.05*float64(strings.Count(f.path, ".")), .02)
}
