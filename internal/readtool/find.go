// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package readtool

// Answers with the passages that fit a few words best: whole records, and where to find the next ones.

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/einolean/einolean/internal/display"
	"github.com/einolean/einolean/internal/rank"
)

const (
	maxPassages = 20
	// An answer has about answerBytes, and at most maxAnswer. What does not fit is a line each, for
	// which linesRoom is kept.
	answerBytes, maxAnswer = 2500, 3000
	linesRoom              = 600
	// A passage with a score of less than one weakShare of the best one's is a line as well.
	weakShare = 3
	// maxSkipped bounds how many passages a call can leave out.
	maxSkipped = 1000
	// maxRecords is the longest JSON that is taken apart into its records.
	maxRecords = 4 << 20
	// maxRanked is how much one call ranks: some seconds.
	maxRanked = 64 << 20
)

// passages is the answer to a query.
type passages struct {
	told
	Count          int // of passages that are shown whole
	Fence, Content string
	Others         string // lines of those that did not fit
	Records        bool   // they are JSON records without the white space between values
	More           bool   // there are more of them
}

// heading stands above a passage.
type heading struct {
	First, Last, From, To int64
	Head                  string // what it stands under
}

func findPassages(v visit) (string, error) {
	content, size, err := v.stream()
	if err != nil {
		return "", err
	}
	defer content.Close()
	if size > maxRecords {
		return passagesOf(v, content, size, maxRanked)
	}
	whole, err := take(content, size)
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
		f := passages{told: v.told(v.req.query, size), Records: true}
		f.To = size
		return passagePage(v, f, r.best(mostPassages(v))), nil
	}
	return passagesOf(v, bytes.NewReader(whole), size, maxRanked)
}

// mostPassages is how many passages are ranked: those that could be shown, one more, and those
// before them.
func mostPassages(v visit) int { return int(skippedPassages(v)) + maxPassages + 1 }

// skippedPassages is how many passages earlier calls have shown.
func skippedPassages(v visit) int64 { return min(max(0, v.req.offset-1), maxSkipped) }

// passagesOf answers a query from a file, of which it ranks at most bytes.
func passagesOf(v visit, content io.Reader, size, most int64) (string, error) {
	best, searched, err := rankPassages(v, newSplitter(content), mostPassages(v), most)
	if err != nil {
		return "", err
	}
	f := passages{told: v.told(v.req.query, size)}
	f.To = searched
	if searched < size {
		f.Next = v.req.follow("query", v.req.query, "byte_offset", searched, "limit", v.req.limit)
	}
	return passagePage(v, f, best), nil
}

// rankPassages returns the best of the passages that do not end before the byte that the call
// names, and looks at most bytes.
func rankPassages(v visit, s *splitter, limit int, most int64) (best []candidate, searched int64, err error) {
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
func passagePage(v visit, f passages, best []candidate) string {
	skipped := int(skippedPassages(v))
	f.From = min(v.req.byteOffset, f.Size)
	best = best[min(skipped, len(best)):]
	most := maxPassages
	if v.req.limit > 0 {
		most = int(min(v.req.limit, maxPassages))
	}
	around := len(v.say.Say("passages", f)) + 2*len(f.Path) + len(display.Quoted(v.req.path)) + 2*frameOfPassage
	lines := linesRoom
	if v.req.limit > 0 { // all that are asked for, if only as lines
		lines = 3 * linesRoom
	}
	page := passagePages{say: v.say, lined: lines, room: min(answerBytes-around, int(v.bytes)), most: min(maxAnswer-around, int(v.bytes))}
	shown := page.whole(best[:min(most, len(best))])
	if len(best) == 0 {
		f.More = skipped > 0
		return v.say.Say("no_passage", f)
	}
	if f.Next == "" && shown < len(best) {
		f.More = true
		f.Next = v.req.follow("query", v.req.query, "offset", int64(skipped+max(shown, 1)+1), "byte_offset", v.req.byteOffset, "limit", v.req.limit)
	}
	others := page.lines(best[shown:max(shown, min(most, len(best)))])
	f.Count, f.Fence = shown, fence(append(page.texts, others)...)
	f.Content, f.Garbled = page.render(best[:shown], f.Fence), page.garbled
	f.Others, f.Garbled = others, f.Garbled || !utf8.ValidString(others)
	return v.say.Say("passages", f)
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
func (a *passagePages) whole(best []candidate) (n int) {
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
func (a *passagePages) render(best []candidate, fence string) string {
	var b strings.Builder
	under := ""
	for _, p := range best {
		line := heading{First: p.first, Last: p.last, From: p.start, To: p.end()}
		if p.under != under {
			under, line.Head = p.under, p.under
		}
		b.WriteString(a.say.Say("passage", line) + "\n" + fence + "\n" + p.text)
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
func (a *passagePages) lines(best []candidate) string {
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
func (a *passagePages) gist(p candidate) string {
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

const (
	// beside is the share of a passage's score that the passages next to it have besides:
	// what is looked for often stands just across a border.
	beside = .3
	// The best joinedPassages are shown with those beside them, if that is at most joinedBytes.
	joinedPassages, joinedBytes = 3, 600
	// lineBytes is about how much of a passage is shown in a line.
	lineBytes = 100
	// maxHeld bounds the passages that are held; the worst ones go.
	maxHeld = 20_000
)

// match is how a passage fits a query.
type match struct {
	rank.Fit
	number int // in the content, from 0
	score  float64
	at     int // where in text most of the query is
}

// candidate is a passage that may be among the best.
type candidate struct {
	passage
	match
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

type ranker struct {
	query *rank.Query
	held  []candidate // with a word of the query, and those beside them, in order
	count int

	last     candidate // the one that came last, and whether it is held
	lastHeld bool
}

func newRanker(query string) *ranker { return &ranker{query: rank.New(query)} }

// add takes the next passage.
func (r *ranker) add(next passage) {
	p := candidate{next, match{Fit: r.query.Add(next.under, next.text), number: r.count}}
	r.count++
	if p.Any() && r.count > 1 && !r.lastHeld {
		r.held = append(r.held, r.last)
	}
	if r.lastHeld = p.Any() || r.last.Any(); r.lastHeld {
		r.held = append(r.held, p)
	}
	if r.last = p; len(r.held) > maxHeld {
		r.prune(maxHeld / 2)
	}
}

func (r *ranker) best(limit int) []candidate {
	best := r.joined(lastOfEqual(r.ranked()))
	best = best[:min(len(best), limit)]
	for i := range best {
		best[i].at = r.query.Densest(best[i].text, best[i].Fit, lineBytes)
	}
	return best
}

// ranked are the passages with what the query asks for, the best first.
func (r *ranker) ranked() []candidate {
	r.score()
	out := make([]candidate, 0, len(r.held))
	for i, p := range r.held {
		if !p.Any() || !r.query.Meets(p.Fit) {
			continue
		}
		for _, j := range r.beside(i) {
			p.score = max(p.score, r.held[i].score+beside*r.held[j].score)
		}
		out = append(out, p)
	}
	slices.SortStableFunc(out, func(a, b candidate) int { return cmp.Compare(b.score, a.score) })
	return out
}

// beside are the places in held of the passages next to one of them.
func (r *ranker) beside(i int) (out []int) {
	for _, j := range []int{i - 1, i + 1} {
		if j >= 0 && j < len(r.held) && r.held[j].number-r.held[i].number == j-i {
			out = append(out, j)
		}
	}
	return out
}

// joined makes the best passages, each with those beside it, one each: a row is asked for by the
// words of the rows next to it. How many says nothing of the room, so that the next call, which goes
// on behind them, repeats none.
func (r *ranker) joined(best []candidate) []candidate {
	taken := make(map[int]bool)
	out := best[:0:0]
	for _, p := range best {
		if taken[p.number] {
			continue
		}
		if taken[p.number] = true; len(out) < joinedPassages {
			p = r.join(p, taken)
		}
		out = append(out, p)
	}
	return out
}

// join adds to a passage those beside it, the better one first, while they are small.
func (r *ranker) join(p candidate, taken map[int]bool) candidate {
	i, _ := slices.BinarySearchFunc(r.held, p.number, func(h candidate, n int) int { return cmp.Compare(h.number, n) })
	others := r.beside(i)
	slices.SortStableFunc(others, func(a, b int) int { return cmp.Compare(r.held[b].score, r.held[a].score) })
	for _, j := range others {
		other := r.held[j]
		if taken[other.number] || !p.joins(other.passage) {
			continue
		}
		taken[other.number] = true
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
	score := r.query.Scores()
	for i := range r.held {
		r.held[i].score = score(r.held[i].Fit)
	}
}

// prune drops the worst of the passages that are held, of equally good ones the last, and keeps the
// order of the others. One beside a better one is as good.
func (r *ranker) prune(most int) {
	r.score()
	scores := make([]float64, len(r.held))
	for i, p := range r.held {
		scores[i] = p.score
		for _, j := range r.beside(i) {
			scores[i] = max(scores[i], r.held[j].score)
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
	kept := r.held[:0]
	for i, p := range r.held {
		if scores[i] == least {
			equal--
		}
		if scores[i] > least || scores[i] == least && equal >= 0 {
			kept = append(kept, p)
		}
	}
	clear(r.held[len(kept):])
	r.held = kept
}

// lastOfEqual puts passages whose text was there before behind all others.
func lastOfEqual(best []candidate) []candidate {
	seen := make(map[string]bool, len(best))
	var again []candidate
	out := best[:0:0]
	for _, p := range best {
		if seen[p.text] {
			again = append(again, p)
			continue
		}
		seen[p.text] = true
		out = append(out, p)
	}
	return append(out, again...)
}
