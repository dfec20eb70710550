// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package readtool

// Answers to a query: the passages that match a few words best, and where to find the next ones.

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/einolean/einolean/internal/display"
	"github.com/einolean/einolean/internal/terminal"
)

const (
	maxPassages = 20
	// The first answer to a query has about answerBytes, a following one about nextAnswerBytes, each with at most
	// likelyPassages, unless the call names a limit.
	answerBytes, nextAnswerBytes = 2800, 4400
	likelyPassages               = 8
	// What is shown of a passage is at least leastExcerpt, if it is that long.
	leastExcerpt = 350
	// The best passage leads if it has more than leadShare of the score of the next one. One with less than one weakShare
	// of its score is not shown.
	leadShare, weakShare = 1.3, 3
	// maxSkipped bounds how many passages a call can leave out.
	maxSkipped = 1000
	// maxRecords is the longest JSON that is taken apart into its records.
	maxRecords = 4 << 20
	// maxRanked is how much one call ranks, and maxRankedPassages in how many passages: some seconds.
	maxRanked, maxRankedPassages = 16 << 20, 250_000
)

// passageAnswer is the answer to a query.
type passageAnswer struct {
	answerHeader
	Count          int // of passages that are shown whole
	Fence, Content string
	IsJSON         bool   // they are JSON records without the white space between values
	HasMore        bool   // there are more of them
	RequiredTerms  string // quoted, what all passages that are counted have; empty: not a word
	MatchCount     int    // passages that have it
}

// passageHeading is the line above a passage.
type passageHeading struct {
	FirstLine, LastLine, FirstByte, EndByte int64
	Head                                    string // what it stands under
	IsPart                                  bool   // it is not shown whole
}

func findPassages(v readCall) (string, error) {
	content, size, err := v.stream()
	if err != nil {
		return "", err
	}
	defer content.Close()
	if size > maxRecords {
		return passagesOf(v, content, size, maxRanked)
	}
	text, err := readFull(content, size)
	if err != nil {
		return "", err
	}
	if records := recordsOf(string(text), v.req.byteOffset); len(records) > 0 {
		r := newRanker(v.req.query)
		for _, p := range records {
			if err := v.ctx.Err(); err != nil {
				return "", err
			}
			r.add(p)
		}
		f := passageAnswer{answerHeader: v.header(v.req.query, size), IsJSON: true}
		f.EndByte = size
		return renderPassages(v, f, r.result(mostPassages(v))), nil
	}
	return passagesOf(v, bytes.NewReader(text), size, maxRanked)
}

// mostPassages is how many passages are ranked: those that could be shown, one more, and those
// before them.
func mostPassages(v readCall) int { return int(skippedPassages(v)) + maxPassages + 1 }

// skippedPassages is how many passages earlier calls have shown.
func skippedPassages(v readCall) int64 { return min(max(0, v.req.offset-1), maxSkipped) }

// passagesOf answers a query from a file, of which it ranks at most bytes.
func passagesOf(v readCall, content io.Reader, size, most int64) (string, error) {
	found, searched, err := rankPassages(v, newSplitter(content), mostPassages(v), most)
	if err != nil {
		return "", err
	}
	f := passageAnswer{answerHeader: v.header(v.req.query, size)}
	f.EndByte = searched
	if searched < size {
		f.NextCall = v.req.nextArguments("query", v.req.query, "byte_offset", searched, "limit", v.req.limit)
	}
	return renderPassages(v, f, found), nil
}

// rankPassages returns the best of the passages that do not end before the byte that the call
// names, and looks at most bytes.
func rankPassages(v readCall, s *splitter, limit int, most int64) (found rankedPassages, searched int64, err error) {
	r := newRanker(v.req.query)
	for s.start-v.req.byteOffset < most && r.count < maxRankedPassages {
		p, err := s.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			err = v.ctx.Err()
		}
		if err != nil {
			return rankedPassages{}, 0, err
		}
		if p.end() > v.req.byteOffset {
			r.add(p)
		}
	}
	return r.result(limit), s.start, nil
}

// renderPassages writes the best passages: whole where there is room, otherwise as excerpts. It says where the next
// ones are.
func renderPassages(v readCall, f passageAnswer, found rankedPassages) string {
	skipped := int(skippedPassages(v))
	f.FirstByte = min(v.req.byteOffset, f.Size)
	best := found.best[min(skipped, len(found.best)):]
	if len(best) == 0 {
		f.HasMore = skipped > 0
		if required := found.query.required; len(required) > 0 {
			f.RequiredTerms = display.Quoted(strings.Join(required, " "))
		}
		return v.texts.Render("no_passage", f)
	}
	page := passagePage{texts: v.texts, finder: found.query.finder()}
	f.RequiredTerms, f.MatchCount = found.requiredTerms(best[0])
	most, room := likelyPassages, answerBytes
	if skipped > 0 {
		room = nextAnswerBytes
	}
	if v.req.limit > 0 {
		most = int(min(v.req.limit, maxPassages))
		room = max(answerBytes, most*recordBytes)
	}
	around := len(v.texts.Render("passages", f)) + 2*len(f.Path) + len(display.Quoted(v.req.path)) + 2*frameOfPassage
	page.room = min(room-around, int(v.maxBytes))
	shown := page.choose(best[:min(most, len(best))])
	rest := best[len(shown):]
	if f.NextCall == "" && len(rest) > 0 {
		f.HasMore = true
		f.NextCall = v.req.nextArguments("query", v.req.query, "offset", int64(skipped+len(shown)+1),
			"byte_offset", v.req.byteOffset, "limit", v.req.limit)
	}
	var texts []string
	for _, p := range shown {
		texts = append(texts, p.text)
	}
	f.Count, f.Fence = len(shown), fence(texts...)
	f.Content, f.InvalidUTF8 = page.render(shown, f.Fence), page.hasInvalidUTF8
	return v.texts.Render("passages", f)
}

// frameOfPassage is about what stands around a passage.
const frameOfPassage = 60

// passagePage builds the answer to a query.
type passagePage struct {
	texts          replyTexts
	finder         *termFinder
	room           int
	hasInvalidUTF8 bool
}

// shownPassage is a passage as it is shown.
type shownPassage struct {
	candidate
	isPart bool // text is an excerpt
}

// choose returns the best passages, with the text that is shown of each. One that leads is shown whole, if it can
// be; others have about equally much.
func (a *passagePage) choose(best []candidate) (shown []shownPassage) {
	var rooms []int
	heading := ""
	for i, p := range best {
		size := min(len(p.text), leastExcerpt)
		frame := frameOfPassage
		if p.heading != heading {
			frame += len(p.heading)
		}
		if i > 0 && (size+frame > a.room || p.score*weakShare < best[0].score) {
			break
		}
		heading = p.heading
		a.room -= size + frame
		shown, rooms = append(shown, shownPassage{candidate: p}), append(rooms, size)
	}
	if len(shown) == 1 || shown[0].score > leadShare*shown[1].score {
		a.widen(shown[:1], rooms[:1])
	}
	a.widen(shown, rooms)
	for i, p := range shown {
		shown[i].text = excerpt(p.text, a.finder, rooms[i])
		shown[i].isPart = len(shown[i].text) != len(p.text)
	}
	return shown
}

// widen gives the room that is left to the passages, equally much to each that needs it.
func (a *passagePage) widen(shown []shownPassage, rooms []int) {
	for {
		short := 0
		for i, p := range shown {
			if rooms[i] < len(p.text) {
				short++
			}
		}
		if short == 0 || a.room < short {
			return
		}
		each := a.room / short
		for i, p := range shown {
			if more := min(each, len(p.text)-rooms[i]); more > 0 {
				rooms[i] += more
				a.room -= more
			}
		}
	}
}

// render writes passages between fences.
func (a *passagePage) render(shown []shownPassage, fence string) string {
	var b strings.Builder
	heading := ""
	for _, p := range shown {
		line := passageHeading{FirstLine: p.firstLine, LastLine: p.lastLine, FirstByte: p.start, EndByte: p.endByte, IsPart: p.isPart}
		if p.heading != heading {
			heading, line.Head = p.heading, p.heading
		}
		b.WriteString(a.texts.Render("passage", line) + "\n" + fence + "\n" + p.text)
		if !strings.HasSuffix(p.text, "\n") {
			b.WriteByte('\n')
		}
		b.WriteString(fence + "\n")
		a.hasInvalidUTF8 = a.hasInvalidUTF8 || !utf8.ValidString(p.text)
	}
	return b.String()
}

const (
	// neighborShare is the share of its score that a passage adds to the scores of the passages next to it, unless one
	// of the two is a record: the answer is often just across a border.
	neighborShare = .3
	// The best joinedPassages are shown with those beside them, if that is at most joinedBytes.
	joinedPassages, joinedBytes = 3, 600
	// maxHeld bounds the passages that are held; the worst ones go.
	maxHeld = 20_000
)

// match is how a passage fits a query.
type match struct {
	passageTerms
	number  int // in the content, from 0
	score   float64
	endByte int64 // where the passage ends, whatever is shown of it
}

// candidate is a passage that may be among the best.
type candidate struct {
	passage
	match
}

// belongsTo reports whether a passage next to this one may be about the same. A record is about itself.
func (p passage) belongsTo(other passage) bool { return !p.isRecord && !other.isRecord }

// joins reports whether a passage next to this one can be shown with it.
func (p passage) joins(other passage) bool {
	return p.belongsTo(other) && p.heading == other.heading && len(p.text)+len(other.text) <= joinedBytes
}

// append adds the passage that follows.
func (p *passage) append(next passage) {
	if p.size > 0 {
		p.size = next.end() - p.start
		if !strings.HasSuffix(p.text, "\n") {
			p.text += "\n"
		}
	}
	p.text += next.text
	p.lastLine = next.lastLine
}

type ranker struct {
	query         *wordQuery
	candidates    []candidate // with a word of the query, and those beside them, in order
	count         int         // of all passages
	requiredCount int         // that have all required words

	previous     candidate // the one that came last, and whether it is held
	keptPrevious bool
}

func newRanker(query string) *ranker { return &ranker{query: newWordQuery(query)} }

// add takes the next passage.
func (r *ranker) add(next passage) {
	if visible := terminal.Strip(next.text); len(visible) != len(next.text) {
		next.size = next.end() - next.start
		next.text = visible
	}
	p := candidate{next, match{passageTerms: r.query.add(next.heading, next.text, next.isRecord || next.size > 0), number: r.count}}
	r.count++
	if p.hasAny() && r.query.hasRequired(p.passageTerms) {
		r.requiredCount++
	}
	if p.hasAny() && r.count > 1 && !r.keptPrevious {
		r.candidates = append(r.candidates, r.previous)
	}
	if r.keptPrevious = p.hasAny() || r.previous.hasAny(); r.keptPrevious {
		r.candidates = append(r.candidates, p)
	}
	if r.previous = p; len(r.candidates) > maxHeld {
		r.prune(maxHeld / 2)
	}
}

// rankedPassages is the result of ranking all passages.
type rankedPassages struct {
	best          []candidate
	query         *wordQuery
	requiredCount int // passages that have all required words
}

func (r *ranker) result(limit int) rankedPassages {
	return rankedPassages{r.best(limit), r.query, r.requiredCount}
}

// requiredTerms returns, quoted, what the passages that are counted have: the required words, or else the rarest
// exact word of the best passage.
func (r rankedPassages) requiredTerms(best candidate) (needed string, passages int) {
	if required := r.query.required; len(required) > 0 {
		return display.Quoted(strings.Join(required, " ")), r.requiredCount
	}
	word, passages := r.query.rarestExact(best.passageTerms)
	if word == "" {
		return "", 0
	}
	return display.Quoted(word), passages
}

func (r *ranker) best(limit int) []candidate {
	best := r.joinNeighbors(duplicatesLast(r.sortedCandidates()))
	best = best[:min(len(best), limit)]
	for i := range best {
		best[i].endByte = best[i].end()
	}
	return best
}

// sortedCandidates returns the passages that match the query, the best first.
func (r *ranker) sortedCandidates() []candidate {
	r.score()
	out := make([]candidate, 0, len(r.candidates))
	for i, p := range r.candidates {
		if !p.hasAny() || !r.query.hasRequired(p.passageTerms) {
			continue
		}
		for _, j := range r.neighbors(i) {
			if other := r.candidates[j]; p.belongsTo(other.passage) {
				p.score = max(p.score, r.candidates[i].score+neighborShare*other.score)
			}
		}
		out = append(out, p)
	}
	slices.SortStableFunc(out, func(a, b candidate) int { return cmp.Compare(b.score, a.score) })
	return out
}

// neighbors returns the indexes of the candidates directly before and after one of them.
func (r *ranker) neighbors(i int) (out []int) {
	for _, j := range []int{i - 1, i + 1} {
		if j >= 0 && j < len(r.candidates) && r.candidates[j].number-r.candidates[i].number == j-i {
			out = append(out, j)
		}
	}
	return out
}

// joinNeighbors joins each of the best passages with its neighbors: the words of a row often stand in the row
// beside it. The number of joined passages does not depend on the room, so the next call repeats none.
func (r *ranker) joinNeighbors(best []candidate) []candidate {
	joined := make(map[int]bool)
	out := best[:0:0]
	for _, p := range best {
		if joined[p.number] {
			continue
		}
		if joined[p.number] = true; len(out) < joinedPassages {
			p = r.join(p, joined)
		}
		out = append(out, p)
	}
	return out
}

// join adds to a passage those beside it, the better one first, while they are small.
func (r *ranker) join(p candidate, joined map[int]bool) candidate {
	i, _ := slices.BinarySearchFunc(r.candidates, p.number, func(h candidate, n int) int { return cmp.Compare(h.number, n) })
	others := r.neighbors(i)
	slices.SortStableFunc(others, func(a, b int) int { return cmp.Compare(r.candidates[b].score, r.candidates[a].score) })
	for _, j := range others {
		other := r.candidates[j]
		if joined[other.number] || !p.joins(other.passage) {
			continue
		}
		joined[other.number] = true
		if j < i {
			other.append(p.passage)
			other.match = p.match
			p = other
		} else {
			p.append(other.passage)
		}
	}
	return p
}

// score scores the passages that are held by what is known of all passages.
func (r *ranker) score() {
	score := r.query.scorer()
	for i := range r.candidates {
		r.candidates[i].score = score(r.candidates[i].passageTerms)
	}
}

// prune drops the worst of the passages that are held, of equally good ones the last, and keeps the
// order of the others. One beside a better one is as good.
func (r *ranker) prune(most int) {
	r.score()
	scores := make([]float64, len(r.candidates))
	for i, p := range r.candidates {
		scores[i] = p.score
		for _, j := range r.neighbors(i) {
			scores[i] = max(scores[i], r.candidates[j].score)
		}
	}
	sorted := slices.Sorted(slices.Values(scores))
	least := sorted[len(sorted)-most]
	better, _ := slices.BinarySearchFunc(sorted, least, func(score, least float64) int {
		if score <= least {
			return -1
		}
		return 1
	})
	equal := most - (len(sorted) - better)
	remaining := r.candidates[:0]
	for i, p := range r.candidates {
		if scores[i] == least {
			equal--
		}
		if scores[i] > least || scores[i] == least && equal >= 0 {
			remaining = append(remaining, p)
		}
	}
	clear(r.candidates[len(remaining):])
	r.candidates = remaining
}

// duplicatesLast moves passages whose text occurred before to the end.
func duplicatesLast(best []candidate) []candidate {
	seen := make(map[string]bool, len(best))
	var duplicates []candidate
	out := best[:0:0]
	for _, p := range best {
		if seen[p.text] {
			duplicates = append(duplicates, p)
			continue
		}
		seen[p.text] = true
		out = append(out, p)
	}
	return append(out, duplicates...)
}
