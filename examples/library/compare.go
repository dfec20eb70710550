// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package library

// This file is the server of differences and likenesses between texts.

import (
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/cloudwego/eino/components/tool"
)

func compareServer() Server {
	return Server{Name: "compare", Title: "Differences and likenesses of texts", Tools: []tool.BaseTool{
		define("compare__lines", "Compares two texts line by line and marks what was added (+) and removed (-).", compareLines),
		define("compare__words", "Compares two texts word by word and marks what was [-removed-] and {+added+}.", compareWords),
		define("compare__levenshtein", "Computes the edit distance (Levenshtein) between two words or short texts.", compareLevenshtein),
		define("compare__hamming", "Counts the positions at which two equally long texts differ (Hamming distance).", compareHamming),
		define("compare__similarity", "Rates how alike two texts are from 0 to 100 percent, by the pairs of letters they share.", compareSimilarity),
		define("compare__closest", "Finds the entries of a list that are most like a word, such as to correct a typing error.", compareClosest),
		define("compare__soundex", "Computes the Soundex code of English names, which is the same for names that sound alike.", compareSoundex),
		define("compare__common_prefix", "Finds the longest text that two texts begin with in common, and the one they end with.", compareAffixes),
		define("compare__common_substring", "Finds the longest piece that two texts have in common.", compareSubstring),
		define("compare__anagram", "Says whether two phrases are anagrams: the same letters in another order.", compareAnagram),
		define("compare__lists", "Compares two lists: what is in both, only in the first, only in the second.", compareLists),
	}}
}

type oldNewIn struct {
	Old string `json:"old" jsonschema_description:"The old text"`
	New string `json:"new" jsonschema_description:"The new text"`
}

// change is a piece that stayed (=), went (-) or came (+).
type change struct {
	kind  byte
	piece string
}

// maxCells bounds the table of a comparison.
const maxCells = 4_000_000

// diff finds the longest common subsequence after cutting what both begin and end with.
func diff(a, b []string) ([]change, error) {
	head, tail := sharedEnds(a, b)
	inA, inB := a[head:len(a)-tail], b[head:len(b)-tail]
	if (len(inA)+1)*(len(inB)+1) > maxCells {
		return nil, errors.New("the texts differ in too many places to be compared")
	}
	var out []change
	for _, piece := range a[:head] {
		out = append(out, change{'=', piece})
	}
	out = append(out, middle(inA, inB)...)
	for _, piece := range a[len(a)-tail:] {
		out = append(out, change{'=', piece})
	}
	return out, nil
}

func middle(a, b []string) []change {
	width := len(b) + 1
	length := make([]int32, (len(a)+1)*width) // of the common part from i and j on
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				length[i*width+j] = length[(i+1)*width+j+1] + 1
			} else {
				length[i*width+j] = max(length[(i+1)*width+j], length[i*width+j+1])
			}
		}
	}
	var out []change
	i, j := 0, 0
	for i < len(a) || j < len(b) {
		switch {
		case i < len(a) && j < len(b) && a[i] == b[j]:
			out = append(out, change{'=', a[i]})
			i, j = i+1, j+1
		case j == len(b) || (i < len(a) && length[(i+1)*width+j] >= length[i*width+j+1]):
			out = append(out, change{'-', a[i]})
			i++
		default:
			out = append(out, change{'+', b[j]})
			j++
		}
	}
	return out
}

func compareLines(in oldNewIn) (string, error) {
	changes, err := diff(linesIn{in.Old}.lines(), linesIn{in.New}.lines())
	if err != nil {
		return "", err
	}
	var out []string
	same := true
	for i, c := range changes {
		near := false // two lines of context are enough
		for k := max(0, i-2); k < min(len(changes), i+3); k++ {
			near = near || changes[k].kind != '='
		}
		if same = same && c.kind == '='; near {
			out = append(out, strings.Replace(string(c.kind), "=", " ", 1)+" "+c.piece)
		}
	}
	if same {
		return "no differences", nil
	}
	return strings.Join(out, "\n"), nil
}

func compareWords(in oldNewIn) (string, error) {
	changes, err := diff(strings.Fields(in.Old), strings.Fields(in.New))
	if err != nil {
		return "", err
	}
	var out []string
	for _, c := range changes {
		out = append(out, map[byte]string{'=': c.piece, '-': "[-" + c.piece + "-]", '+': "{+" + c.piece + "+}"}[c.kind])
	}
	return strings.Join(out, " "), nil
}

type twoTextsIn struct {
	First  string `json:"first" jsonschema_description:"The first text"`
	Second string `json:"second" jsonschema_description:"The second text"`
}

func levenshtein(a, b []rune) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i, r := range a {
		diagonal := row[0]
		row[0] = i + 1
		for j, s := range b {
			cost := 1
			if r == s {
				cost = 0
			}
			diagonal, row[j+1] = row[j+1], min(row[j+1]+1, row[j]+1, diagonal+cost)
		}
	}
	return row[len(b)]
}

func compareLevenshtein(in twoTextsIn) (string, error) {
	a, b := []rune(in.First), []rune(in.Second)
	if len(a)*len(b) > maxCells {
		return "", errors.New("the texts are too long for this comparison")
	}
	return fmt.Sprint(levenshtein(a, b)), nil
}

func compareHamming(in twoTextsIn) (string, error) {
	a, b := []rune(in.First), []rune(in.Second)
	if len(a) != len(b) {
		return "", fmt.Errorf("the texts have %d and %d characters; they must be equally long", len(a), len(b))
	}
	n := 0
	for i, r := range a {
		if r != b[i] {
			n++
		}
	}
	return fmt.Sprint(n), nil
}

// likeness is the Dice coefficient over pairs of neighbouring letters.
func likeness(a, b string) float64 {
	x, y := []rune(strings.ToLower(a)), []rune(strings.ToLower(b))
	if len(x) < 2 || len(y) < 2 {
		if string(x) == string(y) {
			return 1
		}
		return 0
	}
	counts := map[[2]rune]int{}
	for i := range len(x) - 1 {
		counts[[2]rune{x[i], x[i+1]}]++
	}
	shared := 0
	for i := range len(y) - 1 {
		if pair := [2]rune{y[i], y[i+1]}; counts[pair] > 0 {
			counts[pair]--
			shared++
		}
	}
	return 2 * float64(shared) / float64(len(x)+len(y)-2)
}

func compareSimilarity(in twoTextsIn) (string, error) {
	return fmt.Sprintf("%.0f%%", 100*likeness(in.First, in.Second)), nil
}

type closestIn struct {
	Word  string   `json:"word" jsonschema_description:"The word to look for"`
	List  []string `json:"list" jsonschema:"minItems=1" jsonschema_description:"The entries to choose from"`
	Count int      `json:"count,omitempty" jsonschema:"default=3,minimum=1,maximum=100" jsonschema_description:"How many entries to give"`
}

func compareClosest(in closestIn) (string, error) {
	word := []rune(strings.ToLower(in.Word))
	cost := map[string]int{}
	for _, entry := range in.List {
		r := []rune(strings.ToLower(entry))
		if len(word)*len(r) > maxCells/len(in.List) {
			return "", errors.New("the list is too long for this comparison")
		}
		cost[entry] = levenshtein(word, r)
	}
	list := slices.Clone(in.List)
	sort.SliceStable(list, func(i, j int) bool { return cost[list[i]] < cost[list[j]] })
	var out []string
	for _, entry := range list[:min(in.Count, len(list))] {
		out = append(out, fmt.Sprintf("%s (distance %d)", entry, cost[entry]))
	}
	return strings.Join(out, "\n"), nil
}

// soundexCodes gives the digit of each letter from a to z; h and w are skipped, vowels part letters.
const soundexCodes = "0123012-02245501262301-202"

func soundex(name string) string {
	var out []byte
	last := byte('0')
	for _, r := range strings.ToLower(name) {
		if r < 'a' || r > 'z' {
			continue
		}
		code := soundexCodes[r-'a']
		switch {
		case len(out) == 0:
			out = append(out, byte(r)-'a'+'A')
		case code != '0' && code != '-' && code != last:
			out = append(out, code)
		}
		if code != '-' {
			last = code
		}
	}
	return (string(out) + "000")[:4]
}

type namesIn struct {
	Names []string `json:"names" jsonschema:"minItems=1" jsonschema_description:"One or more names"`
}

func compareSoundex(in namesIn) (string, error) {
	var out []string
	for _, name := range in.Names {
		if strings.IndexFunc(strings.ToLower(name), func(r rune) bool { return r >= 'a' && r <= 'z' }) < 0 {
			return "", fmt.Errorf("%q has no Latin letters", name)
		}
		out = append(out, name+": "+soundex(name))
	}
	return strings.Join(out, "\n"), nil
}
