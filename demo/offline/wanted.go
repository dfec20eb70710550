// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package offline

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

//go:embed lexicon/asking.txt
var askingText string

// askingWords say that something is looked for, and not what.
var askingWords = setOf(strings.Fields(askingText))

// lookup describes what a step searches for in a result: data, lines with certain words, lines by number, or
// the last lines.
type lookup struct {
	data     []string
	words    []string
	required []string // words that must occur; the others only improve the rank
	from, to int      // lines, from 1
	last     int
	numbered bool // the number of the line is asked for as well
}

func (w lookup) isEmpty() bool {
	return len(w.data)+len(w.required)+w.from+w.last == 0
}

var (
	asks       = regexp.MustCompile(`(?i)^(?:(?:on|in|at|from|for) )?(?:which|what|where|when|who|whose|how|does|do|did|is|are|was|were|find|look|search)\b|哪|什么|多少|几|吗|找`)
	wantsPlace = regexp.MustCompile(`(?i)\b(?:which|what) lines?\b|\bwhere\b|\bline numbers?\b|哪一?行`)
	someLines  = regexp.MustCompile(`(?i)\blines? (\d+)(?:\s*(?:to|and|-|–|through)\s*(\d+))?|第\s*(\d+)\s*行`)
	lastLines  = regexp.MustCompile(`(?i)\blast (?:(\w+) )?lines?\b|\b(?:does|did) .*\bend\b|最后(\d*)一?行`)
)

// lookupFor derives the lookup of a step. Arguments of the call were meant for the tool, so their words do not
// count. Words that describe the tool are optional.
func lookupFor(st step, args string, t toolView) lookup {
	w := lookup{numbered: wantsPlace.MatchString(st.text)}
	if m := someLines.FindStringSubmatch(st.text); m != nil {
		w.from, _ = strconv.Atoi(m[1] + m[3])
		if w.to, _ = strconv.Atoi(m[2]); w.to == 0 {
			w.to = w.from
		}
		return w
	}
	if m := lastLines.FindStringSubmatch(st.text); m != nil {
		w.last = countOf(m[1] + m[2])
		return w
	}
	arguments := argumentValues(args)
	for _, v := range st.values {
		if v.kind.soft() && v.kind != code || v.kind == numeral || namesTool(t, v) || strings.Contains(arguments, v.text) {
			continue
		}
		w.data = append(w.data, strings.Trim(v.text, "\n"))
	}
	if !asks.MatchString(st.text) {
		return w
	}
	for _, word := range slices.Concat(st.words, st.soft) {
		if askingWords[word] || strings.Contains(strings.ToLower(arguments), word) {
			continue
		}
		if w.words = append(w.words, word); !t.mentions(word) {
			w.required = append(w.required, word)
		}
	}
	return w
}

func countOf(word string) int {
	if n, err := strconv.Atoi(word); err == nil {
		return n
	}
	n, _ := strconv.Atoi(numbers[strings.ToLower(word)])
	return max(n, 1)
}

// argumentValues returns the values of arguments, one per line.
func argumentValues(args string) string {
	var values map[string]any
	_ = json.Unmarshal([]byte(args), &values)
	var b strings.Builder
	for _, v := range values {
		fmt.Fprintln(&b, v)
	}
	return b.String()
}

func (t toolView) mentions(word string) bool {
	return best(word, t.nameWords) >= 0.8 || best(word, t.server) >= 0.8 || best(word, t.descWords) >= 0.8
}

// maxLines is how many lines an answer quotes.
const maxLines = 3

// find returns at most maxLines matching lines, and a remark on how many more there are. sure is false if other
// lines may match better.
func (w lookup) find(text string, number bool) (lines []string, sure bool) {
	all, top := 0, 1
	ways := spellings(w.words)
	n := 0
	for line := range strings.Lines(text) {
		n++
		line = strings.TrimRight(line, "\r\n")
		at, score := w.match(line, ways)
		if score < top {
			continue
		}
		if score > top {
			top, all, lines = score, 0, nil
		}
		if all++; all <= maxLines {
			if line = excerpt(line, at); number && w.numbered {
				line = fmt.Sprintf("%d:%s", n, line)
			}
			lines = append(lines, line)
		}
	}
	return lines, all > 0 && (len(w.data) > 0 || top == len(w.words))
}

// match returns the position and score of a match in a line. Zero means no match.
func (w lookup) match(line string, ways map[string][]string) (at, score int) {
	if len(w.data) > 0 {
		for i, d := range w.data {
			found := indexWord(line, d)
			if found < 0 {
				return 0, 0
			}
			if i == 0 {
				at = found
			}
		}
		return at, 1
	}
	lower := strings.ToLower(line)
	for _, word := range w.words {
		if slices.ContainsFunc(ways[word], func(way string) bool { return strings.Contains(lower, way) }) {
			score++
		} else if slices.Contains(w.required, word) {
			return 0, 0
		}
	}
	return 0, score
}

// spellings returns the stems of words and of their synonyms.
func spellings(words []string) map[string][]string {
	out := map[string][]string{}
	for _, w := range words {
		out[w] = []string{stem(w)}
	}
	return out
}

// indexWord returns the position of a text that is not part of a longer word or number, or a negative number.
func indexWord(line, text string) int {
	for from := 0; ; {
		at := strings.Index(line[from:], text)
		if at < 0 {
			return -1
		}
		at += from
		end := at + len(text)
		if !(startsInWord(text) && endsInWord(line[:at])) && !(endsInWord(text) && startsInWord(line[end:])) {
			return at
		}
		from = end
	}
}

// A line longer than longLine is not quoted whole, but what is around the place.
const (
	longLine = 300
	aroundIt = 100
)

var pieceMark = regexp.MustCompile(`^\d+@\d+:`)

// excerpt returns a line. Of a long line it returns the JSON object around a position, or a piece.
func excerpt(line string, at int) string {
	if object := objectAround(line, at); object != "" && (len(line) > longLine || pieceMark.MatchString(line)) {
		return object
	}
	if len(line) <= longLine {
		return line
	}
	from, to := max(0, at-aroundIt), min(len(line), at+2*aroundIt)
	return "…" + strings.ToValidUTF8(line[from:to], "") + "…"
}

// objectAround returns the innermost JSON object around a position, or "".
func objectAround(line string, at int) string {
	start := strings.LastIndexByte(line[:min(at, len(line))], '{')
	if start < 0 {
		return ""
	}
	var raw json.RawMessage
	if json.NewDecoder(strings.NewReader(line[start:])).Decode(&raw) != nil || start+len(raw) <= at {
		return ""
	}
	return string(raw)
}
