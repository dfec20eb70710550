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
	"github.com/einolean/einolean/internal/terminal"
)

const (
	maxPassages = 20
	// An answer has about answerBytes, at most maxAnswer, and the likelyPassages best passages, unless the call
	// names a limit.
	answerBytes, likelyPassages = 2600, 7
	maxAnswer                   = 3000
	// What is shown of a passage is at least leastExcerpt, if it is that long.
	leastExcerpt = 400
	// The best passage leads if it has more than leadShare of the score of the next one. One with less than one weakShare
	// of its score is not shown.
	leadShare, weakShare = 1.3, 3
	// Of what is not shown, so many passages are listed, with so many of their words.
	listedPassages, listedWords = 3, 5
	// maxSkipped bounds how many passages a call can leave out.
	maxSkipped = 1000
	// maxRecords is the longest JSON that is taken apart into its records.
	maxRecords = 4 << 20
	// maxRanked is how much one call ranks, and maxRankedPassages in how many passages: some seconds.
	maxRanked, maxRankedPassages = 16 << 20, 250_000
)

// passages is the answer to a query.
type passages struct {
	answerHeader
	Count          int // of passages that are shown whole
	Fence, Content string
	Others         string // lines of those that did not fit
	Records        bool   // they are JSON records without the white space between values
	More           bool   // there are more of them
	Needed         string // quoted, what all passages that are counted have; empty: not a word
	Matching       int    // passages that have it
}

// heading stands above a passage.
type heading struct {
	First, Last, From, To int64
	Head                  string // what it stands under
	Part                  bool   // it is not shown whole
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
	whole, err := readFull(content, size)
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
		f := passages{answerHeader: v.told(v.req.query, size), Records: true}
		f.To = size
		return passagePage(v, f, r.ranking(mostPassages(v))), nil
	}
	return passagesOf(v, bytes.NewReader(whole), size, maxRanked)
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
	f := passages{answerHeader: v.told(v.req.query, size)}
	f.To = searched
	if searched < size {
		f.Next = v.req.nextArguments("query", v.req.query, "byte_offset", searched, "limit", v.req.limit)
	}
	return passagePage(v, f, found), nil
}

// rankPassages returns the best of the passages that do not end before the byte that the call
// names, and looks at most bytes.
func rankPassages(v readCall, s *splitter, limit int, most int64) (found ranking, searched int64, err error) {
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
			return ranking{}, 0, err
		}
		if p.end() > v.req.byteOffset {
			r.add(p)
		}
	}
	return r.ranking(limit), s.start, nil
}

// passagePage renders the best passages: whole ones where there is room, excerpts of the others, and where
// the next ones are.
func passagePage(v readCall, f passages, found ranking) string {
	skipped := int(skippedPassages(v))
	f.From = min(v.req.byteOffset, f.Size)
	best := found.best[min(skipped, len(found.best)):]
	if len(best) == 0 {
		f.More = skipped > 0
		if required := found.query.Required(); len(required) > 0 {
			f.Needed = display.Quoted(strings.Join(required, " "))
		}
		return v.say.Say("no_passage", f)
	}
	page := passagePages{say: v.say, find: found.query.Finder()}
	f.Needed, f.Matching = found.needed(best[0])
	_, exact := found.exact(best[0])
	most, room := likelyPassages, answerBytes
	if v.req.limit > 0 {
		most = int(min(v.req.limit, maxPassages))
		room = max(answerBytes, most*recordBytes)
	}
	around := len(v.say.Say("passages", f)) + 2*len(f.Path) + len(display.Quoted(v.req.path)) + 2*frameOfPassage
	page.room = min(room-around, int(v.bytes))
	shown := page.choose(best[:min(most, len(best))])
	rest := best[len(shown):]
	var others string
	if !exact && v.req.limit == 0 {
		others = page.others(rest[:min(listedPassages, len(rest))], found.query)
	}
	if f.Next == "" && len(rest) > 0 {
		f.More = true
		f.Next = v.req.nextArguments("query", v.req.query, "offset", int64(skipped+len(shown)+1), "byte_offset", v.req.byteOffset, "limit", v.req.limit)
	}
	texts := []string{others}
	for _, p := range shown {
		texts = append(texts, p.text)
	}
	f.Count, f.Fence = len(shown), fence(texts...)
	f.Content, f.Garbled = page.render(shown, f.Fence), page.garbled
	f.Others, f.Garbled = others, f.Garbled || !utf8.ValidString(others)
	answer := v.say.Say("passages", f)
	if f.Others != "" && len(answer) > maxAnswer {
		f.Others = ""
		answer = v.say.Say("passages", f)
	}
	return answer
}

// frameOfPassage is about what stands around a passage.
const frameOfPassage = 60

// passagePages is the answer to a query, as it is made.
type passagePages struct {
	say     replyTexts
	find    *rank.Finder
	room    int
	garbled bool
}

// excerpted is a passage as it is shown.
type excerpted struct {
	candidate
	part bool // text is an excerpt
}

// choose returns the best passages, with the text that is shown of each. One that leads is shown whole, if it can
// be; others have about equally much.
func (a *passagePages) choose(best []candidate) (shown []excerpted) {
	var rooms []int
	under := ""
	for i, p := range best {
		size := min(len(p.text), leastExcerpt)
		frame := frameOfPassage
		if p.under != under {
			frame += len(p.under)
		}
		if i > 0 && (size+frame > a.room || p.score*weakShare < best[0].score) {
			break
		}
		under = p.under
		a.room -= size + frame
		shown, rooms = append(shown, excerpted{candidate: p}), append(rooms, size)
	}
	if len(shown) == 1 || shown[0].score > leadShare*shown[1].score {
		a.widen(shown[:1], rooms[:1])
	}
	a.widen(shown, rooms)
	for i, p := range shown {
		shown[i].text = excerpt(p.text, a.find, rooms[i])
		shown[i].part = len(shown[i].text) != len(p.text)
	}
	return shown
}

// widen gives the room that is left to the passages, equally much to each that needs it.
func (a *passagePages) widen(shown []excerpted, rooms []int) {
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
func (a *passagePages) render(shown []excerpted, fence string) string {
	var b strings.Builder
	under := ""
	for _, p := range shown {
		line := heading{First: p.first, Last: p.last, From: p.start, To: p.finish, Part: p.part}
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

// others writes a line for each passage: where it is, the words of the query that it has, and what stands there.
func (a *passagePages) others(best []candidate, query *rank.Query) string {
	var b strings.Builder
	for _, p := range best {
		matched := query.Matched(p.Fit)
		b.WriteString(strconv.FormatInt(p.start, 10) + " " + strconv.FormatInt(p.end()-p.start, 10) + " (" + strings.Join(matched[:min(len(matched), listedWords)], ", ") + "): " + gist(p) + "\n")
	}
	return b.String()
}

// gist is the part of a passage with the rarest of the words that it has.
func gist(p candidate) string {
	from := display.Ceil([]byte(p.text), max(0, min(p.at-lineBytes/3, len(p.text)-lineBytes)))
	to := display.Floor([]byte(p.text), min(len(p.text), from+lineBytes))
	text := display.Line(p.text[from:to])
	if from > 0 {
		text = leftOut + text
	}
	if to < len(p.text) {
		text += leftOut
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
	at     int   // where in text most of the query is
	finish int64 // where the passage ends, whatever is shown of it
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
	return p.size > 0 && p.text != "" && (p.text[0] == '{' || p.text[0] == '[')
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
	p.last = next.last
}

type ranker struct {
	query *rank.Query
	held  []candidate // with a word of the query, and those beside them, in order
	count int         // of all passages
	met   int         // that have all required words

	last     candidate // the one that came last, and whether it is held
	lastHeld bool
}

func newRanker(query string) *ranker { return &ranker{query: rank.New(query)} }

// add takes the next passage.
func (r *ranker) add(next passage) {
	if visible := terminal.Strip(next.text); len(visible) != len(next.text) {
		next.size = next.end() - next.start
		next.text = visible
	}
	p := candidate{next, match{Fit: r.query.Add(next.under, next.text), number: r.count}}
	r.count++
	if p.Any() && r.query.Meets(p.Fit) {
		r.met++
	}
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

// ranking is what is known after all passages were ranked.
type ranking struct {
	best  []candidate
	query *rank.Query
	met   int // passages that have all required words
}

func (r *ranker) ranking(limit int) ranking { return ranking{r.best(limit), r.query, r.met} }

// needed are the required words, quoted, or else an exact word that the best passage has, and how many passages
// have them. needed is empty if there is no such word.
func (r ranking) needed(best candidate) (needed string, passages int) {
	if required := r.query.Required(); len(required) > 0 {
		return display.Quoted(strings.Join(required, " ")), r.met
	}
	word, passages := r.query.Exact(best.Fit)
	if word == "" {
		return "", 0
	}
	return display.Quoted(word), passages
}

// exact reports whether a passage has a word of the query that hardly occurs by chance.
func (r ranking) exact(p candidate) (word string, ok bool) {
	word, _ = r.query.Exact(p.Fit)
	return word, word != ""
}

func (r *ranker) best(limit int) []candidate {
	best := r.joined(lastOfEqual(r.ranked()))
	best = best[:min(len(best), limit)]
	for i := range best {
		best[i].finish = best[i].end()
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
