// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

// Package postings stores which documents contain which tokens, where and how often, in segments that
// several indexes share. It also computes how rare a token is and finds tokens with similar spelling.
// Parsing and scoring of queries are in package bm25.
package postings

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/einolean/einolean/internal/keyword"
	"github.com/einolean/einolean/internal/keyword/bm25/analysis"
	"github.com/einolean/einolean/internal/keyword/names"
	"github.com/einolean/einolean/internal/keyword/operations"
)

// Segment is documents that were read together: which tokens they use, where and how
// often. What depends on other documents as well, such as how rare a token is, is the
// View's. It is immutable and safe for concurrent use.
type Segment struct {
	*names.List
	servers
	spelling

	tokens     *wordList
	words      *wordList       // as written, if they have only one token
	wordTokens []uint32        // of these words
	starts     []uint32        // of each token in posts, and the end of the last
	posts      []Posting       // of each token ordered by document
	Lengths    []Lengths       // of each document's fields, in tokens
	total      [fieldCount]int // of the lengths
	unspaced   names.Set       // documents with text in a script without spaces

	nameTokens lists     // by document: the distinct tokens of its name
	nameWords  names.Set // tokens that are one of a name

	nameCounts []uint32 // by token: the documents that have it in their names
	needs      lists    // by document: tokens of what it needs the id of

	operations []operations.Operation // by document: what it does
	deprecated map[uint32]string      // by document that says so: the beginning of its description
	directions map[uint32]Direction   // by document: that of its name
}

// servers are those of documents.
type servers struct {
	serverOf     []uint32 // the number of each document's server, by ordinal
	serverNames  []string // "" for documents without one
	serverTokens lists    // by server: the words of its name
	serverWholes []uint32 // by server: its name as one word, NoToken if no document has that
	ServerWords  names.Set
}

// lists are lists of tokens, one after another.
type lists struct {
	all    []uint32
	starts []uint32 // of each in all, and the end of the last
}

func newLists(n int) lists { return lists{starts: make([]uint32, 1, n+1)} }

// end ends a list. The next one begins with what is added to all.
func (l *lists) end() { l.starts = append(l.starts, uint32(len(l.all))) }

func (l *lists) list(i uint32) []uint32 { return l.all[l.starts[i]:l.starts[i+1]] }

// Posting says that a document uses a token.
type Posting struct {
	Doc    uint32
	Counts Counts
}

// Postings returns the postings of a token, ordered by document.
func (s *Segment) Postings(token uint32) []Posting { return s.posts[s.starts[token]:s.starts[token+1]] }

// posting returns the posting of a token in a document.
func (s *Segment) posting(token, doc uint32) (Posting, bool) {
	posts := s.Postings(token)
	at, ok := slices.BinarySearchFunc(posts, doc, func(p Posting, doc uint32) int { return cmp.Compare(p.Doc, doc) })
	if !ok {
		return Posting{}, false
	}
	return posts[at], true
}

// nameOf returns the distinct tokens of a document's name.
func (s *Segment) nameOf(doc uint32) []uint32 { return s.nameTokens.list(doc) }

// ServerOf returns the words of the name of a document's server, and all of it as one word, NoToken
// if no document has that.
func (s *Segment) ServerOf(doc uint32) (words []uint32, fullName uint32) {
	server := s.serverOf[doc]
	return s.serverTokens.list(server), s.serverWholes[server]
}

// OperationOf returns what the tool of a document does.
func (s *Segment) OperationOf(doc uint32) operations.Operation { return s.operations[doc] }

// DirectionOf returns the direction in the name of a document; ok is false if it has none.
func (s *Segment) DirectionOf(doc uint32) (d Direction, ok bool) {
	d, ok = s.directions[doc]
	return d, ok
}

// IsDeprecated reports whether the description of a document begins by saying that it is deprecated.
func (s *Segment) IsDeprecated(doc uint32) bool {
	_, ok := s.deprecated[doc]
	return ok
}

// IsReplacedBy reports whether the description of a deprecated document begins by naming a tool.
func (s *Segment) IsReplacedBy(doc uint32, tool string) bool { return hasName(s.deprecated[doc], tool) }

// NoToken is the number of no token.
const NoToken = math.MaxUint32

// NeedsOf returns the tokens of what a document needs the id of.
func (s *Segment) NeedsOf(doc uint32) []uint32 { return s.needs.list(doc) }

// field is a part of a document.
type field uint8

const (
	fieldName field = iota
	fieldDescription
	fieldParam
	fieldParamDescription
	fieldEnum
	fieldServer
	fieldCount
)

var fieldNames = [fieldCount]string{
	"name", "description", "parameter", "parameter description", "parameter value", "server",
}

// fieldWeights are the weights of one occurrence in each field, and fieldSlopes how much
// less it counts in a longer field. The fields of parameters have a slope, since otherwise
// tools with many parameters would win every search.
var (
	fieldWeights = [fieldCount]float64{2.5, 1, 0.8, 0.35, 0.35, 1}
	fieldSlopes  = [fieldCount]float64{0.4, 0.75, 0.5, 0.5, 0.5, 0}
)

// Lengths are how many tokens the fields of a document have.
type Lengths [fieldCount]uint16

// Counts packs how often a token occurs in each field, in countBits bits per field.
type Counts uint32

const (
	countBits = 5
	maxCount  = 1<<countBits - 1
)

func (c Counts) in(f field) int { return int(c>>(countBits*f)) & maxCount }

// InName reports whether a token occurs in the name.
func (c Counts) InName() bool { return c.in(fieldName) > 0 }

func (c Counts) plus(f field) Counts {
	if c.in(f) == maxCount {
		return c
	}
	return c + 1<<(countBits*f)
}

// Fields names the fields in which a token occurs, and how often.
func (c Counts) Fields() string {
	var fields []string
	for f := range fieldCount {
		switch n := c.in(f); n {
		case 0:
		case 1:
			fields = append(fields, fieldNames[f])
		default:
			fields = append(fields, fmt.Sprintf("%s (%d times)", fieldNames[f], n))
		}
	}
	return strings.Join(fields, ", ")
}

// The limits for one document. Anything beyond them cannot be found.
const (
	maxNameBytes        = 512
	maxDescriptionBytes = 16 << 10
	maxParams           = 128
	maxParamBytes       = 2 << 10 // of a parameter's description
	maxEnum             = 32      // values of one parameter
	maxPhrases          = 32
)

// NewSegment reads docs. Names need not be distinct. It reads a bounded part of each
// document: 16 KB of the description, 32 phrases and 128 parameters, with 2 KB of
// description and 32 values each.
func NewSegment(docs []keyword.Doc) *Segment {
	b := newBuilder(docs)
	for i := range uint32(len(docs)) {
		b.add(i, &docs[b.s.Position(i)])
	}
	return b.finish()
}

// splitServer separates the server's name from the tool's own. Clients write them as
// server__tool or mcp__server__tool.
func splitServer(d *keyword.Doc) (server, name string) {
	if d.Server != "" {
		if rest, ok := strings.CutPrefix(d.Name, d.Server+"__"); ok && rest != "" {
			return d.Server, rest
		}
		return d.Server, d.Name
	}
	server, name, ok := strings.Cut(strings.TrimPrefix(d.Name, "mcp__"), "__")
	if !ok || server == "" || name == "" {
		return "", d.Name
	}
	return server, name
}

// usageBlock is how many usages a block holds. A list of blocks grows without copying.
const usageBlock = 1 << 15

// usage counts one token in one document.
type usage struct {
	token, doc uint32
	counts     Counts
}

// builder collects the usages of tokens, one document after the other.
type builder struct {
	s       *Segment
	stemmer analysis.Stemmer
	words   map[string]uint32 // tokens of words as written that have only one
	tokens  names.IDs
	servers names.IDs
	usages  [][]usage // of the documents that were read, in blocks
	current []usage   // of the document being read
	latest  []uint32  // per token: its usage in current, if that is of the token
	buffer  []byte    // scratch
}

func newBuilder(docs []keyword.Doc) *builder {
	return &builder{
		s: &Segment{
			List:       keyword.NewNames(docs),
			servers:    servers{serverOf: make([]uint32, len(docs))},
			unspaced:   names.NewSet(len(docs)),
			Lengths:    make([]Lengths, len(docs)),
			nameTokens: newLists(len(docs)),
			needs:      newLists(len(docs)),

			operations: make([]operations.Operation, len(docs)),
			deprecated: make(map[uint32]string),
			directions: make(map[uint32]Direction),
		},
		stemmer: make(analysis.Stemmer),
		words:   make(map[string]uint32, len(docs)),
	}
}

func (b *builder) add(doc uint32, d *keyword.Doc) {
	b.current = b.current[:0]
	server, name := splitServer(d)
	b.s.serverOf[doc] = b.servers.ID(strings.Clone(server))
	b.s.operations[doc] = operations.OfTool(names.Clip(name, maxNameBytes), d.Description, d.Hints)
	if direction, ok := directionOf(b.stemmer, names.Clip(name, maxNameBytes)); ok {
		b.s.directions[doc] = direction
	}
	if isDeprecated(d.Description) {
		b.s.deprecated[doc] = strings.Clone(names.Clip(strings.TrimSpace(d.Description), maxOpeningBytes))
	}
	b.countText(doc, fieldName, names.Clip(name, maxNameBytes))
	nameTokens := &b.s.nameTokens
	for _, u := range b.current { // all that was read so far
		nameTokens.all = append(nameTokens.all, u.token)
	}
	nameTokens.end()
	b.countText(doc, fieldDescription, names.Clip(d.Description, maxDescriptionBytes))
	for _, phrase := range d.Phrases[:min(len(d.Phrases), maxPhrases)] {
		b.countText(doc, fieldDescription, names.Clip(phrase, maxNameBytes))
	}
	b.countText(doc, fieldServer, names.Clip(server, maxNameBytes))
	for _, p := range d.Params[:min(len(d.Params), maxParams)] {
		b.countText(doc, fieldParam, names.Clip(p.Name, maxNameBytes))
		if id := analysis.LeadingIdentifier(p.Name); len(id) == len(p.Name) {
			b.countID(doc, fieldParam, b.tokens.ID(strings.ToLower(id)))
		}
		b.addJoined(doc, fieldParam, p.Name)
		b.countText(doc, fieldParamDescription, names.Clip(p.Description, maxParamBytes))
		for _, value := range p.Enum[:min(len(p.Enum), maxEnum)] {
			b.countText(doc, fieldEnum, names.Clip(value, maxNameBytes))
		}
	}
	b.addNeeds(d)
	b.addJoined(doc, fieldName, name)
	b.addJoined(doc, fieldServer, server)
	b.keepUsages()
}

// keepUsages keeps those of the document just read.
func (b *builder) keepUsages() {
	last := len(b.usages) - 1
	if last < 0 || cap(b.usages[last])-len(b.usages[last]) < len(b.current) {
		size := min(usageBlock, len(b.current)*len(b.s.serverOf)) // a small segment needs no whole block
		b.usages = append(b.usages, make([]usage, 0, max(size, len(b.current))))
		last++
	}
	b.usages[last] = append(b.usages[last], b.current...)
}

// addNeeds records whose ids a document requires: channel_id is that of a channel.
func (b *builder) addNeeds(d *keyword.Doc) {
	needs := &b.s.needs
	for _, p := range d.Params[:min(len(d.Params), maxParams)] {
		if kind := analysis.IDOf(p.Name); kind != "" && p.Required {
			needs.all = append(needs.all, b.tokens.ID(b.stemmer.Stem(kind)))
		}
	}
	needs.end()
}

// addJoined adds each pair of neighbouring words of a name as one word: a query for
// "timezone" then finds time_zone.
func (b *builder) addJoined(doc uint32, f field, name string) {
	previous := ""
	analysis.EachRun(analysis.Normalize(names.Clip(name, maxNameBytes)), func(r analysis.Run) {
		word := r.Text
		if r.Unspaced {
			word = ""
		}
		if previous != "" && word != "" && len(previous)+len(word) <= analysis.MaxWordBytes {
			b.buffer = append(append(b.buffer[:0], previous...), word...)
			b.countID(doc, f, b.tokens.IDOf(analysis.StemInPlace(b.buffer)))
		}
		previous = word
	})
}

// countText counts the tokens of a text in a field of a document.
func (b *builder) countText(doc uint32, f field, text string) {
	analysis.EachRun(analysis.Normalize(text), func(r analysis.Run) {
		if r.Unspaced {
			b.s.unspaced.Add(doc)
			analysis.EachCharacter(r.Text, func(token string) { b.countField(doc, f, b.tokens.ID(token)) })
			return
		}
		if token, ok := b.words[r.Text]; ok {
			b.countField(doc, f, token)
			return
		}
		n, last := 0, uint32(0)
		b.stemmer.EachStem(r.Text, func(token string) {
			n++
			last = b.tokens.ID(token)
			b.countField(doc, f, last)
		})
		if n == 1 {
			b.words[strings.Clone(r.Text)] = last
		}
	})
}

// countField counts a token and the length of its field.
func (b *builder) countField(doc uint32, f field, id uint32) {
	b.countID(doc, f, id)
	if length := &b.s.Lengths[doc][f]; *length < 1<<16-1 {
		*length++
		b.s.total[f]++
	}
}

func (b *builder) countID(doc uint32, f field, id uint32) {
	if int(id) == len(b.latest) {
		b.latest = append(b.latest, 0)
	}
	at := b.latest[id]
	if int(at) >= len(b.current) || b.current[at].token != id {
		at = uint32(len(b.current))
		b.current = append(b.current, usage{token: id, doc: doc})
		b.latest[id] = at
	}
	b.current[at].counts = b.current[at].counts.plus(f)
}

func (b *builder) finish() *Segment {
	s := b.s
	s.tokens = newWordList(b.tokens.Words())
	b.copyWords()
	b.fillPostings()
	b.readServers()
	s.ServerWords = setOf(s.tokens.Len(), s.serverTokens.all, s.serverWholes)
	s.nameWords = setOf(s.tokens.Len(), s.nameTokens.all)
	s.countNames()
	s.forward, s.backward = newAffixes(s.tokens, s.nameWords)
	s.pairs = newPairs(b.tokens.Words())
	return s
}

// countNames counts the names that have each token, also as two of their words.
func (s *Segment) countNames() {
	s.nameCounts = make([]uint32, s.tokens.Len())
	for id := range s.nameCounts {
		for _, u := range s.Postings(uint32(id)) {
			if u.Counts.InName() {
				s.nameCounts[id]++
			}
		}
	}
}

// setOf is the set of tokens below n in lists.
func setOf(n int, lists ...[]uint32) names.Set {
	set := names.NewSet(n)
	for _, list := range lists {
		for _, token := range list {
			if token != NoToken {
				set.Add(token)
			}
		}
	}
	return set
}

// readServers finds the words of the servers' names, which documents have as a field.
func (b *builder) readServers() {
	s := b.s
	s.serverNames = b.servers.Words()
	s.serverTokens = newLists(len(s.serverNames))
	for _, name := range s.serverNames {
		fullName := ""
		add := func(token string) {
			if id, ok := s.tokens.Find(token); ok {
				s.serverTokens.all = append(s.serverTokens.all, id)
			}
		}
		analysis.EachRun(analysis.Normalize(names.Clip(name, maxNameBytes)), func(r analysis.Run) {
			fullName += r.Text
			if r.Unspaced {
				analysis.EachCharacter(r.Text, add)
			} else {
				analysis.EachPart(r.Text, func(part string) { add(b.stemmer.Stem(part)) })
			}
		})
		s.serverTokens.end()
		id, ok := s.tokens.Find(b.stemmer.Stem(fullName))
		if !ok {
			id = NoToken
		}
		s.serverWholes = append(s.serverWholes, id)
	}
}

func (b *builder) copyWords() {
	words := make([]string, 0, len(b.words))
	b.s.wordTokens = make([]uint32, 0, len(b.words))
	for word, token := range b.words {
		words, b.s.wordTokens = append(words, word), append(b.s.wordTokens, token)
	}
	b.s.words = newWordList(words)
}

func (b *builder) fillPostings() {
	s := b.s
	s.starts = make([]uint32, s.tokens.Len()+1)
	all := 0
	for _, block := range b.usages {
		all += len(block)
		for _, u := range block {
			s.starts[u.token+1]++
		}
	}
	for i := range s.tokens.Len() {
		s.starts[i+1] += s.starts[i]
	}
	s.posts = make([]Posting, all)
	next := slices.Clone(s.starts)
	for _, block := range b.usages {
		for _, u := range block {
			s.posts[next[u.token]] = Posting{Doc: u.doc, Counts: u.counts}
			next[u.token]++
		}
	}
}
