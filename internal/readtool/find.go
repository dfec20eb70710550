// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package readtool

// Answers with the passages that fit a few words best: whole records, and where to find the next ones.

import (
	"bytes"
	"errors"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/einolean/einolean/internal/display"
	"github.com/einolean/einolean/internal/preview"
)

const (
	maxPassages = 20
	// An answer has about answerBytes, and at most maxAnswer. What does not fit is a line each, for
	// which linesRoom is kept.
	answerBytes, maxAnswer = 2500, 3000
	linesRoom              = 600
	// A passage with a score of less than one weakShare of the best one's is a line as well.
	weakShare = 3
	// lineBytes is about how much of a passage is shown in a line.
	lineBytes = 100
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
	under       string // what it stands under, such as the header of its table
	size        int64  // of a record, in the content; text is shorter then
	match
}

func (p passage) end() int64 {
	if p.size > 0 {
		return p.start + p.size
	}
	return p.start + int64(len(p.text))
}

// joins reports whether a passage next to this one can be shown with it. A record of JSON says what it
// is by itself.
func (p passage) joins(other passage) bool {
	return p.under == other.under && len(p.text)+len(other.text) <= joinedBytes && !p.isObject() && !other.isObject()
}

func (p passage) isObject() bool {
	return p.size > 0 && (p.text[0] == '{' || p.text[0] == '[')
}

// append adds the passage that follows.
func (p *passage) append(next passage) {
	if p.size > 0 {
		p.size = next.end() - p.start
		p.text += "\n"
	}
	p.text += next.text
	p.last = next.last
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
	parts, ok := preview.Parts(content, preview.Cut{Record: recordBytes, Most: passageBytes, Text: partsOf})
	if !ok {
		return nil
	}
	line, at, open := int64(1), 0, false
	for _, p := range parts {
		line += int64(strings.Count(content[at:p.From], "\n"))
		last := line + int64(strings.Count(content[p.From:p.To], "\n"))
		tiny := len(p.Text) < tinyRecord
		if n := len(records) - 1; open && tiny && len(records[n].text) < togetherBytes/2 {
			records[n].text += "\n" + p.Text
			records[n].last, records[n].size = last, int64(p.To)-records[n].start
		} else if open = tiny; int64(p.To) > from {
			records = append(records, passage{first: line, last: last, start: int64(p.From), size: int64(p.To - p.From), text: p.Text, under: display.Short(display.Line(p.Head), headBytes)})
		} else {
			open = false
		}
		line, at = last, p.To
	}
	return records
}

// partsOf takes a text apart that stands in JSON.
func partsOf(text string) (parts []preview.Part) {
	s := newSplitter(strings.NewReader(text))
	for {
		p, err := s.next()
		if err != nil { // its end
			return parts
		}
		parts = append(parts, preview.Part{From: int(p.start), To: int(p.end()), Text: p.text, Head: p.under})
	}
}

// mostPassages is how many passages are ranked: those that could be shown, one more, and those
// before them.
func mostPassages(v visit) int { return int(skippedPassages(v)) + maxPassages + 1 }

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

// passagePage renders the best passages: those that fit whole, and of the next ones a line each.
func passagePage(v visit, f facts, best []passage) string {
	skipped := int(skippedPassages(v))
	best = best[min(skipped, len(best)):]
	most := maxPassages
	if v.req.limit > 0 {
		most = int(min(v.req.limit, maxPassages))
	}
	around := len(v.say.say("passages", f)) + 2*len(f.Path) + len(display.Quoted(v.req.path)) + 2*frameOfPassage
	lines := linesRoom
	if v.req.limit > 0 { // all that are asked for, if only as lines
		lines = 3 * linesRoom
	}
	page := passagePages{say: v.say, lined: lines, room: min(answerBytes-around, int(v.bytes)), most: min(maxAnswer-around, int(v.bytes))}
	shown := page.whole(best[:min(most, len(best))])
	if len(best) == 0 {
		f.More = skipped > 0
		return v.say.say("no_passage", f)
	}
	if f.Next == "" && shown < len(best) {
		f.More = true
		f.Next = v.req.follow("query", v.req.query, "offset", int64(skipped+max(shown, 1)+1), "byte_offset", v.req.byteOffset, "limit", v.req.limit)
	}
	others := page.lines(best[shown:max(shown, min(most, len(best)))])
	f.Count, f.Fence = shown, fence(append(page.texts, others)...)
	f.Content, f.Garbled = page.render(best[:shown], f.Fence), page.garbled
	if f.Others = others; others != "" {
		f.Garbled = f.Garbled || !utf8.ValidString(others)
	}
	return v.say.say("passages", f)
}

// frameOfPassage is about what stands around a passage.
const frameOfPassage = 60

// passagePages is the answer to a query, as it is made.
type passagePages struct {
	say        words
	room, most int // of which most is for the first passage
	lined      int // what is kept of it for lines
	texts      []string
	garbled    bool
}

// whole says how many of the best passages are shown whole.
func (a *passagePages) whole(best []passage) (n int) {
	under := ""
	for i, p := range best {
		size := len(p.text) + frameOfPassage
		if p.under != under {
			size += len(p.under)
		}
		keep := min(a.lined, (len(best)-i-1)*(lineBytes+lineFrame))
		if size > a.room-keep && (i > 0 || size > a.most) || p.score*weakShare < best[0].score {
			break
		}
		under = p.under
		a.room -= size
		a.texts = append(a.texts, p.text)
		n++
	}
	return n
}

// render writes passages between fences.
func (a *passagePages) render(best []passage, fence string) string {
	var b strings.Builder
	under := ""
	for _, p := range best {
		line := facts{First: p.first, Last: p.last, From: p.start, To: p.end()}
		if p.under != under {
			under, line.Head = p.under, p.under
		}
		b.WriteString(a.say.say("passage", line) + "\n" + fence + "\n" + p.text)
		if !strings.HasSuffix(p.text, "\n") {
			b.WriteByte('\n')
		}
		b.WriteString(fence + "\n")
		a.garbled = a.garbled || !utf8.ValidString(p.text)
	}
	return b.String()
}

// lineFrame is about what stands before a passage in a line.
const lineFrame = 16

// lines writes a line for each passage that fits: where it is, and what fits best in it.
func (a *passagePages) lines(best []passage) string {
	var b strings.Builder
	for _, p := range best {
		line := strconv.FormatInt(p.start, 10) + " " + strconv.FormatInt(p.end()-p.start, 10) + ": " + a.gist(p) + "\n"
		if a.room -= len(line); a.room < 0 {
			break
		}
		b.WriteString(line)
	}
	return b.String()
}

// gist is the part of a passage with the rarest of the words that it has.
func (a *passagePages) gist(p passage) string {
	from := display.Ceil([]byte(p.text), max(0, min(p.at-lineBytes/3, len(p.text)-lineBytes)))
	to := display.Floor([]byte(p.text), min(len(p.text), from+lineBytes))
	text := display.Line(p.text[from:to])
	if from > 0 {
		text = "…" + text
	}
	if to < len(p.text) {
		text += "…"
	}
	return text
}
