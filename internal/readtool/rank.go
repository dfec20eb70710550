// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package readtool

// This file answers with the passages that fit a few words best.

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"io"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/leanctx/leanctx/internal/display"
	"github.com/leanctx/leanctx/internal/keyword"
	"github.com/leanctx/leanctx/internal/keyword/bm25"
	"github.com/leanctx/leanctx/internal/preview"
)

const (
	maxPassages = 20
	// defaultBytes is about how much is shown where the call names no number of passages.
	defaultBytes = 5500
	// A passage is as many whole lines as fit into this, or a part of a longer line.
	passageBytes = 600
	passageLines = 20
	// blockPassages is how many passages are ranked together.
	blockPassages = 4000
	// maxRecords is the longest JSON that is taken apart into its records.
	maxRecords = 4 << 20
	// maxRanked is how much one call ranks: some seconds.
	maxRanked = 64 << 20
)

// passage is a part of a file.
type passage struct {
	first, last int64 // lines
	start       int64 // bytes
	text        string
	size        int64 // of a record, in the content; text is shorter then
	score       float64
}

func (p passage) end() int64 {
	if p.size > 0 {
		return p.start + p.size
	}
	return p.start + int64(len(p.text))
}

// passages answers a query.
func (v visit) passages() (string, error) {
	content, size, err := v.src(v.ctx, 0, -1)
	if err != nil {
		return "", err
	}
	defer content.Close()
	if size > maxRecords {
		return v.passagesOf(content, size, maxRanked)
	}
	whole, err := take(v.stream(content, size), size)
	if err != nil {
		return "", err
	}
	if records := recordsOf(string(whole), v.req.byteOffset); len(records) > 0 {
		best, err := v.best(nil, records, v.limit())
		return v.passagePage(facts{Path: quoted(v.req.query), From: min(v.req.byteOffset, size), To: size, Size: size, Records: true}, v.within(best)), err
	}
	return v.passagesOf(bytes.NewReader(whole), size, maxRanked)
}

// recordsOf takes JSON apart into the records that do not end before the byte from.
func recordsOf(content string, from int64) (records []passage) {
	parts, ok := preview.Parts(content, passageBytes)
	if !ok {
		return nil
	}
	line, at := int64(1), 0
	for _, p := range parts {
		line += int64(strings.Count(content[at:p.From], "\n"))
		last := line + int64(strings.Count(content[p.From:p.To], "\n"))
		if int64(p.To) > from {
			records = append(records, passage{first: line, last: last, start: int64(p.From), size: int64(p.To - p.From), text: p.Text})
		}
		line, at = last, p.To
	}
	return records
}

// limit is how many passages are wanted.
func (v visit) limit() int {
	if v.req.limit > 0 {
		return int(min(v.req.limit, maxPassages))
	}
	return maxPassages
}

// within drops passages beyond defaultBytes, if the call does not say how many it wants.
func (v visit) within(best []passage) []passage {
	room := defaultBytes
	for i, p := range best {
		if room -= len(p.text); room < 0 && i > 0 && v.req.limit == 0 {
			return best[:i]
		}
	}
	return best
}

// passagesOf answers a query from a file, of which it ranks at most bytes.
func (v visit) passagesOf(content io.Reader, size, most int64) (string, error) {
	best, searched, err := v.rank(newSplitter(v.stream(content, size)), v.limit(), most)
	if err != nil {
		return "", err
	}
	f := facts{Path: quoted(v.req.query), From: min(v.req.byteOffset, size), To: searched, Size: size}
	if searched < size {
		f.Next = v.req.follow().text("query", v.req.query).number("byte_offset", searched).
			number("limit", v.req.limit).json()
	}
	return v.passagePage(f, v.within(best)), nil
}

// rank keeps the best passages of the content, block by block, until it has looked
// at most bytes.
func (v visit) rank(s *splitter, limit int, most int64) (best []passage, searched int64, err error) {
	for {
		block, err := s.block(v.req.byteOffset)
		if err != nil || len(block) == 0 {
			return best, s.start, err
		}
		if best, err = v.best(best, block, limit); err != nil {
			return nil, 0, err
		}
		if s.start-v.req.byteOffset >= most {
			return best, s.start, nil
		}
	}
}

// best merges the best passages of a block with those of the blocks before. The words of
// the query count by how rare they are in their block, so scores of different blocks
// compare only roughly.
func (v visit) best(so []passage, block []passage, limit int) ([]passage, error) {
	for len(block) > 0 {
		n := min(len(block), blockPassages)
		ranked, err := v.rankBlock(block[:n], limit)
		if err != nil {
			return nil, err
		}
		so, block = append(so, ranked...), block[n:]
	}
	slices.SortStableFunc(so, func(a, b passage) int { return cmp.Compare(b.score, a.score) })
	return so[:min(len(so), limit)], nil
}

// rankBlock scores the passages of one block. A word of the query finds its other forms
// and counts more where it occurs literally. Last come the passages that only a
// translation from Chinese finds, and those that hold a word only as a part of others: an
// identifier may be found by a piece of it.
func (v visit) rankBlock(block []passage, limit int) (ranked []passage, err error) {
	const spare = 20
	docs := make([]keyword.Doc, len(block))
	for i, p := range block {
		docs[i].Description = p.text
	}
	hits, err := bm25.New(docs).Search(v.ctx, v.req.query, limit+spare)
	if err != nil {
		return nil, err
	}
	query := queryTerms(v.req.query)
	known := make(map[int]bool, len(hits))
	add := func(doc int, score float64) {
		p := block[doc]
		p.score, known[doc] = score, true
		ranked = append(ranked, p)
	}
	foreign := strings.ContainsFunc(v.req.query, withoutSpaces)
	for _, hit := range hits {
		share := literally(query, block[hit.Doc].text)
		if foreign && share == 0 { // a translation
			add(hit.Doc, hit.Score/(1+hit.Score))
			continue
		}
		add(hit.Doc, 1+hit.Score*(.5+share))
	}
	if len(hits) >= limit {
		return ranked, nil
	}
	pieces, err := keyword.New(docs).Search(v.ctx, query, limit)
	for _, hit := range pieces {
		if !known[hit.Doc] {
			add(hit.Doc, hit.Score/(1+hit.Score))
		}
	}
	return ranked, err
}

// literally is the share of a query's words that a text holds literally.
func literally(query keyword.Query, text string) float64 {
	text = strings.ToLower(text)
	n := 0
	for _, term := range query.Terms {
		if strings.Contains(text, strings.ToLower(term.Text)) {
			n++
		}
	}
	return float64(n) / float64(max(len(query.Terms), 1))
}

// queryTerms reads a query. Scripts without spaces between words are taken two
// characters at a time, since queries rarely repeat text verbatim.
func queryTerms(text string) keyword.Query {
	query := keyword.Parse(text)
	var terms []keyword.Term
	for _, term := range query.Terms {
		runes := []rune(term.Text)
		if len(runes) < 3 || !slices.ContainsFunc(runes, withoutSpaces) {
			terms = append(terms, term)
			continue
		}
		for i := range len(runes) - 1 {
			if withoutSpaces(runes[i]) && withoutSpaces(runes[i+1]) {
				terms = append(terms, keyword.Term{Text: string(runes[i : i+2])})
			}
		}
		terms = append(terms, term)
	}
	return keyword.Query{Terms: terms}
}

func withoutSpaces(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul)
}

// passagePage renders the passages that fit, the best first.
func (v visit) passagePage(f facts, best []passage) string {
	room := v.bytes
	var shown []passage
	var texts []string
	for _, p := range best {
		if room -= int64(len(p.text)) + 200; room < 0 {
			break
		}
		shown = append(shown, p)
		texts = append(texts, p.text)
	}
	if len(shown) == 0 {
		return v.say.say("no_passage", f)
	}
	f.Count, f.Fence = len(shown), fence(texts...)
	var b strings.Builder
	for _, p := range shown {
		line := facts{First: p.first, Last: p.last, From: p.start, To: p.end()}
		b.WriteString(v.say.say("passage", line) + "\n" + f.Fence + "\n" + p.text)
		if !strings.HasSuffix(p.text, "\n") {
			b.WriteByte('\n')
		}
		b.WriteString(f.Fence + "\n")
		f.Garbled = f.Garbled || !utf8.ValidString(p.text)
	}
	f.Content = b.String()
	return v.say.say("passages", f)
}

// splitter splits content into passages.
type splitter struct {
	r     *bufio.Reader
	line  int64
	start int64
	many  int // passages in a block
}

func newSplitter(content io.Reader) *splitter {
	return &splitter{r: bufio.NewReaderSize(content, 64<<10), line: 1, many: blockPassages}
}

// block returns the next passages of those that do not end before the byte from;
// none at the end of the content.
func (s *splitter) block(from int64) ([]passage, error) {
	var block []passage
	for len(block) < s.many {
		p, err := s.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		if p.end() > from {
			block = append(block, p)
		}
	}
	return block, nil
}

func (s *splitter) next() (passage, error) {
	ahead, err := s.r.Peek(passageBytes + utf8.UTFMax)
	if err != nil && !errors.Is(err, io.EOF) {
		return passage{}, err
	}
	if len(ahead) == 0 {
		return passage{}, io.EOF
	}
	cut, lines := takeLines(ahead, passageLines, passageBytes)
	if cut == 0 {
		cut = display.Floor(ahead, passageBytes)
	}
	p := passage{first: s.line, last: s.line + max(lines-1, 0), start: s.start, text: string(ahead[:cut])}
	s.line += int64(bytes.Count(ahead[:cut], []byte{'\n'}))
	s.start += int64(cut)
	_, err = s.r.Discard(cut)
	return p, err
}
