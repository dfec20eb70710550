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

	"github.com/leanctx/leanctx/internal/keyword"
)

const (
	defaultPassages = 5
	maxPassages     = 20
	// A passage is as many whole lines as fit into these; of a longer line, a part.
	passageBytes = 1000
	passageLines = 20
	// blockPassages is how many passages are indexed at a time.
	blockPassages = 1000
	// maxRanked is how much one call ranks: some seconds.
	maxRanked = 64 << 20
)

// passage is a part of a content.
type passage struct {
	first, last int64 // lines
	start       int64 // bytes
	text        string
	score       float64
}

func (p passage) end() int64 { return p.start + int64(len(p.text)) }

// passages answers a query.
func (v visit) passages() (string, error) {
	content, size, err := v.src(v.ctx, 0, -1)
	if err != nil {
		return "", err
	}
	defer content.Close()
	return v.passagesOf(content, size, maxRanked)
}

// passagesOf answers a query out of a content, of which it looks at most bytes.
func (v visit) passagesOf(content io.Reader, size, most int64) (string, error) {
	limit := int64(defaultPassages)
	if v.req.limit > 0 {
		limit = min(v.req.limit, maxPassages)
	}
	best, searched, err := v.rank(newSplitter(v.stream(content, size)), int(limit), most)
	if err != nil {
		return "", err
	}
	f := facts{Path: quoted(v.req.query), From: min(v.req.byteOffset, size), To: searched, Size: size}
	if searched < size {
		f.Next = v.req.follow().text("query", v.req.query).number("byte_offset", searched).
			number("limit", v.req.limit).json()
	}
	return v.passagePage(f, best), nil
}

// rank keeps the best passages of the content, block by block, until it has looked
// at most bytes. The score of a
// passage does not depend on the others, so blocks can be compared.
func (v visit) rank(s *splitter, limit int, most int64) (best []passage, searched int64, err error) {
	query := queryTerms(v.req.query)
	for {
		block, err := s.block(v.req.byteOffset)
		if err != nil || len(block) == 0 {
			return best, s.start, err
		}
		docs := make([]keyword.Doc, len(block))
		for i, p := range block {
			docs[i].Description = p.text
		}
		hits, err := keyword.New(docs).Search(v.ctx, query, limit)
		if err != nil {
			return nil, 0, err
		}
		for _, hit := range hits {
			p := block[hit.Doc]
			p.score = hit.Score
			best = append(best, p)
		}
		slices.SortStableFunc(best, func(a, b passage) int { return cmp.Compare(b.score, a.score) })
		best = best[:min(len(best), limit)]
		if s.start-v.req.byteOffset >= most {
			return best, s.start, nil
		}
	}
}

// queryTerms reads a query. Scripts without spaces between words are taken two
// characters at a time, as nobody repeats a sentence literally.
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

// splitter cuts a content into passages.
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
		cut = runeCut(ahead, passageBytes)
	}
	p := passage{first: s.line, last: s.line + max(lines-1, 0), start: s.start, text: string(ahead[:cut])}
	s.line += int64(bytes.Count(ahead[:cut], []byte{'\n'}))
	s.start += int64(cut)
	_, err = s.r.Discard(cut)
	return p, err
}
