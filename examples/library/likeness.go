// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package library

// This file holds the comparisons of what two texts or lists share.

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
)

func compareAffixes(in twoTextsIn) (string, error) {
	a, b := []rune(in.First), []rune(in.Second)
	head, tail := sharedEnds(a, b)
	return fmt.Sprintf("beginning: %q\nend: %q", string(a[:head]), string(a[len(a)-tail:])), nil
}

func compareSubstring(in twoTextsIn) (string, error) {
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
	if best == 0 {
		return "the texts have nothing in common", nil
	}
	return string(a[end-best : end]), nil
}

// letters gives a phrase's letters and digits in order.
func letters(text string) string {
	kept := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	out := []rune(strings.Join(kept, ""))
	slices.Sort(out)
	return string(out)
}

func compareAnagram(in twoTextsIn) (string, error) {
	first, second := letters(in.First), letters(in.Second)
	switch {
	case first == "" || second == "":
		return "", errors.New("both phrases need letters or digits")
	case first == second:
		return "yes, they are anagrams", nil
	}
	return "no, they are not anagrams", nil
}

type listsIn struct {
	First  []string `json:"first" jsonschema_description:"The first list"`
	Second []string `json:"second" jsonschema_description:"The second list"`
}

func compareLists(in listsIn) (string, error) {
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
}
