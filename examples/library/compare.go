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
	"unicode"
	"unicode/utf8"

	"github.com/adrg/strutil/metrics"
	"github.com/aymanbagabas/go-udiff"
)

var compareServer = group{"compare", "Differences and likenesses of texts", []maker{
	define("compare__lines", "Compares two texts line by line and marks what was added (+) and removed (-).", compareLines),
	define("compare__words", "Compares two texts word by word and marks what was [-removed-] and {+added+}.", func(in oldNewIn) (string, error) {
		words := strings.Fields(in.Old)
		if out := strings.Join(words, " "); out == strings.Join(strings.Fields(in.New), " ") {
			return out, nil
		}
		out, err := changes(words, strings.Fields(in.New), len(words), func(kind rune, word string) string {
			return map[rune]string{'=': word, '-': "[-" + word + "-]", '+': "{+" + word + "+}"}[kind]
		})
		return strings.Join(out, " "), err
	}),
	define("compare__levenshtein", "Computes the edit distance (Levenshtein) between two words or short texts.", func(in twoTextsIn) (string, error) {
		if len(in.First)*len(in.Second) > 16*maxCells {
			return "", errors.New("the texts are too long for this comparison")
		}
		return fmt.Sprint(metrics.NewLevenshtein().Distance(in.First, in.Second)), nil
	}),
	define("compare__hamming", "Counts the positions at which two equally long texts differ (Hamming distance).", func(in twoTextsIn) (string, error) {
		if a, b := utf8.RuneCountInString(in.First), utf8.RuneCountInString(in.Second); a != b {
			return "", fmt.Errorf("the texts have %d and %d characters; they must be equally long", a, b)
		}
		return fmt.Sprint(metrics.NewHamming().Distance(in.First, in.Second)), nil
	}),
	// The Dice coefficient over pairs of neighbouring letters, in any case.
	define("compare__similarity", "Rates how alike two texts are from 0 to 100 percent, by the pairs of letters they share.",
		func(in twoTextsIn) (string, error) {
			dice := metrics.SorensenDice{NgramSize: 2}
			return fmt.Sprintf("%.0f%%", 100*dice.Compare(in.First, in.Second)), nil
		}),
	define("compare__closest", "Finds the entries of a list that are most like a word, such as to correct a typing error.", func(in struct {
		Word  string   `json:"word" jsonschema_description:"The word to look for"`
		List  []string `json:"list" jsonschema:"minItems=1" jsonschema_description:"The entries to choose from"`
		Count int      `json:"count,omitempty" jsonschema:"default=3,minimum=1,maximum=100" jsonschema_description:"How many entries to give"`
	}) (string, error) {
		metric := metrics.Levenshtein{InsertCost: 1, DeleteCost: 1, ReplaceCost: 1}
		cost := map[string]int{}
		for _, entry := range in.List {
			if len(in.Word)*len(entry) > maxCells/len(in.List) {
				return "", errors.New("the list is too long for this comparison")
			}
			cost[entry] = metric.Distance(in.Word, entry)
		}
		list := slices.Clone(in.List)
		sort.SliceStable(list, func(i, j int) bool { return cost[list[i]] < cost[list[j]] })
		return joined(list[:min(in.Count, len(list))], "\n", func(entry string) string {
			return fmt.Sprintf("%s (distance %d)", entry, cost[entry])
		}), nil
	}),
	define("compare__soundex", "Computes the Soundex code of English names, which is the same for names that sound alike.", func(in struct {
		Names []string `json:"names" jsonschema:"minItems=1" jsonschema_description:"One or more names"`
	}) (string, error) {
		var out []string
		for _, name := range in.Names {
			if strings.IndexFunc(strings.ToLower(name), func(r rune) bool { return r >= 'a' && r <= 'z' }) < 0 {
				return "", fmt.Errorf("%q has no Latin letters", name)
			}
			out = append(out, name+": "+soundex(name))
		}
		return strings.Join(out, "\n"), nil
	}),
	define("compare__common_prefix", "Finds the longest text that two texts begin with in common, and the one they end with.",
		func(in twoTextsIn) (string, error) {
			a, b := []rune(in.First), []rune(in.Second)
			head, tail := sharedEnds(a, b)
			return fmt.Sprintf("beginning: %q\nend: %q", string(a[:head]), string(a[len(a)-tail:])), nil
		}),
	define("compare__common_substring", "Finds the longest piece that two texts have in common.", func(in twoTextsIn) (string, error) {
		a, b := []rune(in.First), []rune(in.Second)
		if len(a)*len(b) > maxCells {
			return "", errors.New("the texts are too long for this comparison")
		}
		row := make([]int, len(b)+1) // length of the common piece that ends here
		best, end := 0, 0
		for i, r := range a {
			for j := len(b) - 1; j >= 0; j-- {
				if row[j+1] = 0; b[j] == r {
					row[j+1] = row[j] + 1
				}
				if row[j+1] > best {
					best, end = row[j+1], i+1
				}
			}
		}
		return either(best == 0, "the texts have nothing in common", string(a[end-best:end])), nil
	}),
	define("compare__anagram", "Says whether two phrases are anagrams: the same letters in another order.", func(in twoTextsIn) (string, error) {
		first, second := letters(in.First), letters(in.Second)
		switch {
		case first == "" || second == "":
			return "", errors.New("both phrases need letters or digits")
		case first == second:
			return "yes, they are anagrams", nil
		}
		return "no, they are not anagrams", nil
	}),
	define("compare__lists", "Compares two lists: what is in both, only in the first, only in the second.", func(in struct {
		First  []string `json:"first" jsonschema_description:"The first list"`
		Second []string `json:"second" jsonschema_description:"The second list"`
	}) (string, error) {
		has := func(list []string) map[string]bool {
			out := map[string]bool{}
			for _, entry := range list {
				out[entry] = true
			}
			return out
		}
		inFirst, inSecond := has(in.First), has(in.Second)
		pick := func(list []string, other map[string]bool, want bool) string {
			seen := map[string]bool{}
			var out []string
			for _, entry := range list {
				if other[entry] == want && !seen[entry] {
					out = append(out, entry)
				}
				seen[entry] = true
			}
			return strings.Join(out, ", ")
		}
		return fmt.Sprintf("in both: %s\nonly in the first: %s\nonly in the second: %s",
			pick(in.First, inSecond, true), pick(in.First, inSecond, false), pick(in.Second, inFirst, false)), nil
	}),
}}

type oldNewIn struct {
	Old string `json:"old" jsonschema_description:"The old text"`
	New string `json:"new" jsonschema_description:"The new text"`
}

// maxCells bounds the table of a comparison.
const maxCells = 4_000_000

// changes marks the lines of a text that went (-), came (+) or stayed (=), these with some
// lines around each change.
func changes(old, new []string, context int, mark func(kind rune, line string) string) ([]string, error) {
	before, after := strings.Join(old, "\n")+"\n", strings.Join(new, "\n")+"\n"
	diff, err := udiff.ToUnifiedDiff("", "", before, udiff.Lines(before, after), context)
	var out []string
	for _, hunk := range diff.Hunks {
		for _, line := range hunk.Lines {
			out = append(out, mark(map[udiff.OpKind]rune{udiff.Delete: '-', udiff.Insert: '+', udiff.Equal: '='}[line.Kind], strings.TrimSuffix(line.Content, "\n")))
		}
	}
	return out, err
}

func compareLines(in oldNewIn) (string, error) {
	out, err := changes(linesIn{in.Old}.lines(), linesIn{in.New}.lines(), 2, func(kind rune, line string) string {
		return strings.Replace(string(kind), "=", " ", 1) + " " + line
	})
	return listed(out, "no differences"), err
}

type twoTextsIn struct {
	First  string `json:"first" jsonschema_description:"The first text"`
	Second string `json:"second" jsonschema_description:"The second text"`
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

// letters gives a phrase's letters and digits in order.
func letters(text string) string {
	kept := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	out := []rune(strings.Join(kept, ""))
	slices.Sort(out)
	return string(out)
}
