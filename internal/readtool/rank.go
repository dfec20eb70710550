// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package readtool

// This file answers with the passages that fit a few words best.

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/leanctx/leanctx/internal/display"
	"github.com/leanctx/leanctx/internal/preview"
)

const (
	maxPassages = 20
	// defaultBytes is about how much is shown where the call names no number of passages.
	defaultBytes = 5500
	// A passage is as many whole lines as fit into this, or a part of a longer line.
	passageBytes = 600
	passageLines = 20
	// Records shorter than tinyRecord are together a passage of some tinyTogether bytes.
	tinyRecord, tinyTogether = 60, 200
	// blockPassages is how many passages are looked at together.
	blockPassages = 4000
	// maxSkipped bounds how many passages a call can leave out.
	maxSkipped = 1000
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
	size        int64   // of a record, in the content; text is shorter then
	counts      []int32 // of each term of the query
	words       int     // in the text
	number      int     // in the content, from 0
	score       float64
}

func (p passage) end() int64 {
	if p.size > 0 {
		return p.start + p.size
	}
	return p.start + int64(len(p.text))
}

// findPassages answers a query.
func findPassages(v visit) (string, error) {
	content, size, err := v.src(v.ctx, 0, -1)
	if err != nil {
		return "", err
	}
	defer content.Close()
	if size > maxRecords {
		return passagesOf(v, content, size, maxRanked)
	}
	whole, err := take(guardedStream(v, content, size), size)
	if err != nil {
		return "", err
	}
	if records := recordsOf(string(whole), v.req.byteOffset); len(records) > 0 {
		r := newRanker(v.req.query)
		if err := r.add(v.ctx, records); err != nil {
			return "", err
		}
		f := facts{Path: quoted(v.req.query), From: min(v.req.byteOffset, size), To: size, Size: size, Records: true}
		return passagePage(v, f, r.best(mostPassages(v))), nil
	}
	return passagesOf(v, bytes.NewReader(whole), size, maxRanked)
}

// recordsOf takes JSON apart into the records that do not end before the byte from. Tiny
// ones, such as the points of a series, are a passage together.
func recordsOf(content string, from int64) (records []passage) {
	parts, ok := preview.Parts(content, passageBytes)
	if !ok {
		return nil
	}
	line, at, open := int64(1), 0, false
	for _, p := range parts {
		line += int64(strings.Count(content[at:p.From], "\n"))
		last := line + int64(strings.Count(content[p.From:p.To], "\n"))
		tiny := len(p.Text) < tinyRecord
		if n := len(records) - 1; open && tiny && len(records[n].text) < tinyTogether {
			records[n].text += "\n" + p.Text
			records[n].last, records[n].size = last, int64(p.To)-records[n].start
		} else if open = tiny; int64(p.To) > from {
			records = append(records, passage{first: line, last: last, start: int64(p.From), size: int64(p.To - p.From), text: p.Text})
		} else {
			open = false
		}
		line, at = last, p.To
	}
	return records
}

// mostPassages is how many passages are ranked: those that are shown, and those before them.
func mostPassages(v visit) int {
	if v.req.limit > 0 {
		return int(skippedPassages(v) + min(v.req.limit, maxPassages))
	}
	return int(skippedPassages(v)) + maxPassages
}

// skippedPassages is how many passages earlier calls have shown.
func skippedPassages(v visit) int64 { return min(max(0, v.req.offset-1), maxSkipped) }

// passagesOf answers a query from a file, of which it ranks at most bytes.
func passagesOf(v visit, content io.Reader, size, most int64) (string, error) {
	best, searched, err := rankPassages(v, newSplitter(guardedStream(v, content, size)), mostPassages(v), most)
	if err != nil {
		return "", err
	}
	f := facts{Path: quoted(v.req.query), From: min(v.req.byteOffset, size), To: searched, Size: size}
	if searched < size {
		f.Next = v.req.follow().text("query", v.req.query).number("byte_offset", searched).
			number("limit", v.req.limit).json()
	}
	return passagePage(v, f, best), nil
}

// rankPassages returns the best passages of the content, of which it looks at most bytes.
func rankPassages(v visit, s *splitter, limit int, most int64) (best []passage, searched int64, err error) {
	r := newRanker(v.req.query)
	for {
		block, err := s.block(v.req.byteOffset)
		if err != nil {
			return nil, 0, err
		}
		if err := r.add(v.ctx, block); err != nil {
			return nil, 0, err
		}
		if len(block) == 0 || s.start-v.req.byteOffset >= most {
			return r.best(limit), s.start, nil
		}
	}
}

// passagePage renders the passages that fit, the best first. If the call does not say how
// many it wants, they are about defaultBytes.
func passagePage(v visit, f facts, best []passage) string {
	skipped := int(skippedPassages(v))
	best = best[min(skipped, len(best)):]
	room, few := v.bytes, defaultBytes
	var shown []passage
	var texts []string
	for i, p := range best {
		few -= len(p.text)
		if room -= int64(len(p.text)) + 200; room < 0 || few < 0 && i > 0 && v.req.limit == 0 {
			break
		}
		shown = append(shown, p)
		texts = append(texts, p.text)
	}
	if len(shown) == 0 {
		f.More = skipped > 0
		return v.say.say("no_passage", f)
	}
	if f.Next == "" && len(shown) < len(best) {
		f.More = true
		f.Next = v.req.follow().text("query", v.req.query).number("offset", int64(skipped+len(shown)+1)).
			number("byte_offset", v.req.byteOffset).number("limit", v.req.limit).json()
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
