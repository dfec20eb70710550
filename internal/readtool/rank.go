// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package readtool

// Passages are ranked for a few words by BM25: a word of the query counts the more the fewer passages
// have it, and one that stands in very few places outranks the rest. It knows word endings and scripts
// without spaces, and no words in particular.

import (
	"bytes"
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/einolean/einolean/internal/keyword"
	"github.com/einolean/einolean/internal/keyword/stem"
)

const (
	saturation = 1.2 // after how many occurrences more of them count little
	longShare  = .5  // how much a long passage counts less
	// beside is the share of a passage's score that the passages next to it have besides:
	// what is looked for often stands just across a border.
	beside = .3
	// pieceWeight is the weight of a word that is only a piece of others, unless it has at least
	// exactBytes and is more than letters.
	pieceWeight, exactBytes = .2, 5
	// A word in at most fewPlaces, an exact one in twice as many, and in at most one of rareShare
	// passages outranks the rest.
	fewPlaces, rareShare = 3, 8
	// nearWeight is what a word counts besides that has another one of the query among the nearWords
	// words before or behind it.
	nearWeight, nearWords = .4, 3
	// The best joinedPassages are shown with those beside them, if that is at most joinedBytes.
	joinedPassages, joinedBytes = 3, 600
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

	held     []passage // with a word of the query, and those beside them, in order
	last     passage   // the one that came last, and whether it is held
	lastHeld bool
	count    int // passages
	words    int // in them

	counts []int32 // of one passage
	near   uint64  // which of its terms have another one of the query near
	lower  []byte
}

// term is a word of a query.
type term struct {
	text, stem string
	required   bool
	exact      bool // hardly anything else has it as a piece: it has a digit, or is several words in one
	in, within int  // passages that have it as a word, and only as a piece of words
}

func newRanker(query string) *ranker {
	r := &ranker{index: make(map[string]int)}
	for _, each := range keyword.Parse(query).Terms {
		words := 0
		eachWord([]byte(each.Text), func(word []byte) {
			words++
			text := strings.ToLower(string(word))
			key := stemOf([]byte(text))
			if i := r.term(text, key); i >= 0 {
				r.terms[i].required = r.terms[i].required || each.Required
			}
		})
		if whole := strings.ToLower(strings.TrimFunc(each.Text, func(c rune) bool { return !wordly(c) })); words > 1 && strings.IndexFunc(whole, withoutSpaces) < 0 {
			r.term(whole, whole)
		}
		if short := strings.ToLower(each.Text); isHash(short) {
			r.term(short[:shortHash], short[:shortHash]) // as tools abbreviate it
		}
	}
	r.counts = make([]int32, len(r.terms))
	return r
}

// term is the number of a term, which is new or known; negative if there are too many.
func (r *ranker) term(text, key string) int {
	i, known := r.index[key]
	if !known {
		if i = len(r.terms); i == maxTerms {
			return -1
		}
		r.index[key] = i
		r.starts[key[0]] = true
		exact := len(text) >= exactBytes && strings.IndexFunc(text, func(c rune) bool { return c < utf8.RuneSelf && (kinds[c] == 0 || '0' <= c && c <= '9') }) >= 0
		r.terms = append(r.terms, term{text: text, stem: key, exact: exact})
	}
	return i
}

// shortHash is how much of a hash is shown where it is abbreviated.
const shortHash = 7

// isHash is true of the hash of a commit and the like, longer than it is often shown.
func isHash(word string) bool {
	return len(word) > shortHash && strings.ContainsAny(word, "0123456789") && strings.Trim(word, "0123456789abcdef") == ""
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
	r.lower = append(append(append(r.lower[:0], p.under...), '\n'), p.text...)
	p.words = r.countWords(r.lower, r.counts)
	r.words += p.words
	if r.note(bytes.ToLower(r.lower), r.counts) {
		p.counts, p.near = slices.Clone(r.counts), r.near
	}
	if p.counts != nil && r.count > 1 && !r.lastHeld {
		r.held = append(r.held, r.last)
	}
	if r.lastHeld = p.counts != nil || r.last.counts != nil; r.lastHeld {
		r.held = append(r.held, p)
	}
	if r.last = p; len(r.held) > maxHeld {
		r.prune(maxHeld / 2)
	}
}

// countWords counts the words of a text, and the terms among them.
func (r *ranker) countWords(text []byte, counts []int32) (words int) {
	var buf [maxWord + utf8.UTFMax]byte
	r.near = 0
	last, lastAt := -1, 0
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
			if last >= 0 && last != i && words-lastAt <= nearWords {
				r.near |= 1<<i | 1<<last
			}
			last, lastAt = i, words
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
	best := r.joined(lastOfEqual(r.ranked()))
	best = best[:min(len(best), limit)]
	for i := range best {
		best[i].at = r.densest(best[i])
	}
	return best
}

// ranked are the passages with what the query asks for, the best first.
func (r *ranker) ranked() []passage {
	r.score()
	out := make([]passage, 0, len(r.held))
	for i, p := range r.held {
		if p.counts == nil || !r.hasRequired(p) {
			continue
		}
		for _, j := range r.beside(i) {
			p.score = max(p.score, r.held[i].score+beside*r.held[j].score)
		}
		out = append(out, p)
	}
	slices.SortStableFunc(out, func(a, b passage) int { return cmp.Compare(b.score, a.score) })
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
func (r *ranker) joined(best []passage) []passage {
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
func (r *ranker) join(p passage, taken map[int]bool) passage {
	i, _ := slices.BinarySearchFunc(r.held, p.number, func(h passage, n int) int { return cmp.Compare(h.number, n) })
	others := r.beside(i)
	slices.SortStableFunc(others, func(a, b int) int { return cmp.Compare(r.held[b].score, r.held[a].score) })
	for _, j := range others {
		other := r.held[j]
		if taken[other.number] || !p.joins(other) {
			continue
		}
		taken[other.number] = true
		if j < i {
			other.append(p)
			other.match = p.match
			p = other
		} else {
			p.append(other)
		}
	}
	return p
}

// densest is where in a passage the part of lineBytes begins that has most of what is asked for.
func (r *ranker) densest(p passage) (at int) {
	lower := make([]byte, len(p.text))
	for i := range lower {
		lower[i] = lowered(p.text[i])
	}
	type place struct{ at, term int }
	var places []place
	for i, t := range r.terms {
		if p.counts[i] == 0 {
			continue
		}
		form := []byte(t.text)
		if !bytes.Contains(lower, form) {
			form = []byte(t.stem)
		}
		for from, n := 0, 0; n < maxSeen; n++ {
			found := bytes.Index(lower[from:], form)
			if found < 0 {
				break
			}
			places = append(places, place{from + found, i})
			from += found + 1
		}
	}
	slices.SortFunc(places, func(a, b place) int { return cmp.Compare(a.at, b.at) })
	weights, most := r.weights(), 0.
	for k, first := range places {
		sum, seen := 0., uint64(0)
		for _, other := range places[k:] {
			if other.at > first.at+lineBytes*2/3 {
				break
			}
			if seen>>other.term&1 == 0 {
				seen |= 1 << other.term
				sum += weights[other.term]
			}
		}
		if sum > most {
			at, most = first.at, sum
		}
	}
	return at
}

// maxSeen is how often a word is looked for in a passage.
const maxSeen = 16

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
	weights := r.weights()
	for i := range r.held {
		p := &r.held[i]
		p.score = 0
		norm := saturation * (1 - longShare + float64(longShare*float64(p.words)/average))
		for term, n := range p.counts {
			switch {
			case n > 0:
				p.score += float64(weights[term] * float64(n) * (saturation + 1) / (float64(n) + norm))
				p.score += float64(weights[term] * nearWeight * float64(p.near>>term&1))
			case n == onlyPiece && r.terms[term].exact:
				p.score += weights[term]
			case n == onlyPiece:
				p.score += float64(weights[term] * pieceWeight)
			}
		}
	}
}

// weights are those of the terms. One in few places counts about as much as the others together if it
// is a word, which may be there by chance, and more than all of them if it is exact.
func (r *ranker) weights() []float64 {
	out := make([]float64, len(r.terms))
	common, words := 0., 0.
	for i, t := range r.terms {
		n := float64(t.in)
		if t.in == 0 {
			n = float64(t.within)
		}
		out[i] = math.Log(1 + (float64(r.count)-n+.5)/(n+.5))
		if n > 0 && !r.rare(t) {
			common += out[i]
		}
	}
	for i, t := range r.terms {
		if r.rare(t) && !t.exact {
			out[i] += common / 2
			words += out[i]
		}
	}
	for i, t := range r.terms {
		if r.rare(t) && t.exact {
			out[i] += (saturation + 1 + nearWeight) * (common + words)
		}
	}
	return out
}

// rare reports whether a term is in few places. Parts of one record have the exact ones in common.
func (r *ranker) rare(t term) bool {
	n, few := t.in, fewPlaces
	if t.in == 0 || t.exact {
		n += t.within
	}
	if t.exact {
		few *= 2
	}
	return n > 0 && n <= few && n*rareShare <= r.count
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
func lastOfEqual(best []passage) []passage {
	seen := make(map[string]bool, len(best))
	var again []passage
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
