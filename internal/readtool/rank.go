// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package readtool

// Answers with the passages that fit a few words best, ranked by BM25: a word of the query counts
// the more the fewer passages have it. It knows word endings and scripts without spaces, and no
// words in particular.

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"io"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/einolean/einolean/internal/display"
	"github.com/einolean/einolean/internal/keyword"
	"github.com/einolean/einolean/internal/keyword/stem"
	"github.com/einolean/einolean/internal/preview"
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
		for _, p := range records {
			if err := v.ctx.Err(); err != nil {
				return "", err
			}
			r.add(p)
		}
		f := facts{Path: display.Quoted(v.req.query), From: min(v.req.byteOffset, size), To: size, Size: size, Records: true}
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
	f := facts{Path: display.Quoted(v.req.query), From: min(v.req.byteOffset, size), To: searched, Size: size}
	if searched < size {
		f.Next = v.req.follow("query", v.req.query, "byte_offset", searched, "limit", v.req.limit)
	}
	return passagePage(v, f, best), nil
}

// rankPassages returns the best of the passages that do not end before the byte that the call
// names, and looks at most bytes.
func rankPassages(v visit, s *splitter, limit int, most int64) (best []passage, searched int64, err error) {
	r := newRanker(v.req.query)
	for s.start-v.req.byteOffset < most {
		p, err := s.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			err = v.ctx.Err()
		}
		if err != nil {
			return nil, 0, err
		}
		if p.end() > v.req.byteOffset {
			r.add(p)
		}
	}
	return r.best(limit), s.start, nil
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
		f.Next = v.req.follow("query", v.req.query, "offset", int64(skipped+len(shown)+1), "byte_offset", v.req.byteOffset, "limit", v.req.limit)
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
}

func newSplitter(content io.Reader) *splitter {
	return &splitter{r: bufio.NewReaderSize(content, 64<<10), line: 1}
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

const (
	saturation = 1.2 // after how many occurrences more of them count little
	longShare  = .5  // how much a long passage counts less
	// beside is the share of a passage's score that the passages next to it have besides:
	// what is looked for often stands just across a border.
	beside = .3
	// pieceWeight is the weight of a word that is only a piece of others.
	pieceWeight = .2
	// maxTerms bounds the words of a query.
	maxTerms = 64
	// maxWord is the longest word, in bytes. A longer one is data.
	maxWord = 64
	// maxHeld bounds the passages that are held; the worst ones go.
	maxHeld = 20_000
)

// ranker ranks passages, as they come.
type ranker struct {
	terms  []term
	index  map[string]int // of terms, by stem
	starts [256]bool      // first bytes of the terms

	held  []passage // with a word of the query, in order
	count int       // passages
	words int       // in them

	counts []int32 // of one passage
	lower  []byte
}

// term is a word of a query.
type term struct {
	text, stem string
	required   bool
	in, within int // passages that have it as a word, and only as a piece of words
}

func newRanker(query string) *ranker {
	r := &ranker{index: make(map[string]int)}
	for _, each := range keyword.Parse(query).Terms {
		eachWord([]byte(each.Text), func(word []byte) {
			text := strings.ToLower(string(word))
			key := stemOf([]byte(text))
			i, known := r.index[key]
			if !known && len(r.terms) < maxTerms {
				i = len(r.terms)
				r.index[key] = i
				r.starts[key[0]] = true
				r.terms = append(r.terms, term{text: text, stem: key})
			} else if !known {
				return
			}
			r.terms[i].required = r.terms[i].required || each.Required
		})
	}
	r.counts = make([]int32, len(r.terms))
	return r
}

// stemOf is what a word, in lower case, has in common with its other forms.
func stemOf(word []byte) string {
	for _, c := range word {
		if c < 'a' || c > 'z' {
			return string(word)
		}
	}
	return string(stem.English(word))
}

// eachWord visits the words of a text: runs of letters and digits, their parts if they are
// written in camel case, and two neighbours each in scripts without spaces.
func eachWord(text []byte, visit func(word []byte)) {
	for at := 0; at < len(text); {
		if c := text[at]; c < utf8.RuneSelf && kinds[c] == 0 {
			at++
			continue
		}
		c, width := utf8.DecodeRune(text[at:])
		switch {
		case withoutSpaces(c):
			from := at
			for at < len(text) && withoutSpaces(c) {
				at += width
				c, width = utf8.DecodeRune(text[at:])
			}
			eachPair(text[from:at], visit)
		case wordly(c):
			at += spacedWord(text[at:], visit)
		default:
			at += width
		}
	}
}

// spacedWord visits the word that a text begins with, and the parts of camel case, and
// returns its length.
func spacedWord(text []byte, visit func(word []byte)) (end int) {
	from, upper := 0, true
	for end < len(text) {
		c, width := rune(text[end]), 1
		if c >= utf8.RuneSelf {
			if c, width = utf8.DecodeRune(text[end:]); !wordly(c) || withoutSpaces(c) {
				break
			}
		} else if kinds[c] == 0 {
			break
		}
		was := upper
		if upper = unicode.IsUpper(c); upper && !was {
			visit(text[from:end])
			from = end
		}
		end += width
	}
	if from > 0 {
		visit(text[from:end])
	}
	visit(text[:end])
	return end
}

// kinds says which bytes below 128 are part of words.
var kinds = func() (k [utf8.RuneSelf]byte) {
	for c := range k {
		if 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' {
			k[c] = 1
		}
	}
	return k
}()

// eachPair visits every two neighbours among characters; a single one alone.
func eachPair(text []byte, visit func(pair []byte)) {
	_, first := utf8.DecodeRune(text)
	if first == len(text) {
		visit(text)
	}
	for from, next := 0, first; next < len(text); {
		_, width := utf8.DecodeRune(text[next:])
		visit(text[from : next+width])
		from, next = next, next+width
	}
}

func wordly(c rune) bool {
	if c < utf8.RuneSelf {
		return kinds[c] != 0
	}
	return c != utf8.RuneError && (unicode.IsLetter(c) || unicode.IsDigit(c))
}

func withoutSpaces(c rune) bool {
	return c >= 0x1100 && unicode.In(c, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul)
}

// add takes the next passage.
func (r *ranker) add(p passage) {
	p.number = r.count
	r.count++
	clear(r.counts)
	r.lower = append(r.lower[:0], p.text...)
	p.words = r.countWords(r.lower, r.counts)
	r.words += p.words
	if r.note(bytes.ToLower(r.lower), r.counts) {
		p.counts = slices.Clone(r.counts)
		r.held = append(r.held, p)
	}
	if len(r.held) > maxHeld {
		r.prune(maxHeld / 2)
	}
}

// countWords counts the words of a text, and the terms among them.
func (r *ranker) countWords(text []byte, counts []int32) (words int) {
	var buf [maxWord + utf8.UTFMax]byte
	eachWord(text, func(word []byte) {
		words++
		if len(word) > maxWord || !r.starts[lowered(word[0])] {
			return
		}
		small := buf[:0]
		if c := word[0]; c < utf8.RuneSelf {
			for _, c := range word {
				small = append(small, lowered(c))
			}
		} else {
			small = append(small, bytes.ToLower(word)...)
		}
		if i, ok := r.index[stemOf(small)]; ok {
			counts[i]++
		}
	})
	return words
}

func lowered(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c - 'A' + 'a'
	}
	return c
}

// onlyPiece is the count of a term that is only a piece of words.
const onlyPiece = -1

// note counts a passage with a text in lower case for the terms that it has, and reports
// whether there are any.
func (r *ranker) note(text []byte, counts []int32) (some bool) {
	for i := range r.terms {
		t := &r.terms[i]
		switch {
		case counts[i] > 0:
			t.in++
		case bytes.Contains(text, []byte(t.text)):
			t.within++
			counts[i] = onlyPiece
		default:
			continue
		}
		some = true
	}
	return some
}

// best returns the best passages, the best first.
func (r *ranker) best(limit int) []passage {
	r.score()
	raised := make([]float64, len(r.held))
	for i, p := range r.held {
		raised[i] = p.score
		for _, j := range []int{i - 1, i + 1} {
			if j >= 0 && j < len(r.held) && max(r.held[j].number-p.number, p.number-r.held[j].number) == 1 {
				raised[i] = max(raised[i], p.score+beside*r.held[j].score)
			}
		}
	}
	best := slices.Clone(r.held)
	for i := range best {
		best[i].score = raised[i]
	}
	best = slices.DeleteFunc(best, func(p passage) bool { return !r.hasRequired(p) })
	slices.SortStableFunc(best, func(a, b passage) int { return cmp.Compare(b.score, a.score) })
	return best[:min(len(best), limit)]
}

func (r *ranker) hasRequired(p passage) bool {
	for i, t := range r.terms {
		if t.required && p.counts[i] == 0 {
			return false
		}
	}
	return true
}

// score scores the passages that are held by what is known of all passages.
func (r *ranker) score() {
	average := max(1, float64(r.words)/float64(max(1, r.count)))
	weights := make([]float64, len(r.terms))
	for i, t := range r.terms {
		n := float64(t.in)
		if t.in == 0 {
			n = float64(t.within)
		}
		weights[i] = math.Log(1 + (float64(r.count)-n+.5)/(n+.5))
	}
	for i := range r.held {
		p := &r.held[i]
		p.score = 0
		norm := saturation * (1 - longShare + float64(longShare*float64(p.words)/average))
		for term, n := range p.counts {
			switch {
			case n > 0:
				p.score += float64(weights[term] * float64(n) * (saturation + 1) / (float64(n) + norm))
			case n == onlyPiece:
				p.score += float64(weights[term] * pieceWeight)
			}
		}
	}
}

// prune drops the worst of the passages that are held, and keeps the order of the others.
func (r *ranker) prune(most int) {
	r.score()
	scores := make([]float64, len(r.held))
	for i, p := range r.held {
		scores[i] = p.score
	}
	slices.Sort(scores)
	least := scores[len(scores)-most]
	r.held = slices.DeleteFunc(r.held, func(p passage) bool { return p.score < least })
	if len(r.held) > most { // of equally good ones, the first
		r.held = r.held[:most]
	}
}
