// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package library

import (
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"errors"
	"fmt"
	"hash"
	"hash/crc32"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/adrg/strutil/metrics"
	"github.com/ettle/strcase"
)

func textTools() map[string]work {
	all := map[string]work{
		"text__count": newWork(func(in textIn) (string, error) {
			sentences := len(sentence.FindAllString(in.Text, -1))
			return fmt.Sprintf("%d characters, %d words, %d sentences, %d lines, %d bytes",
				utf8.RuneCountInString(in.Text), len(strings.Fields(in.Text)), sentences, lineCount(in.Text), len(in.Text)), nil
		}),
		"text__reverse": newWork(func(in struct {
			textIn
			By string `json:"by"`
		}) (string, error) {
			parts, between := strings.Split(in.Text, ""), ""
			if in.By == "words" {
				parts, between = strings.Fields(in.Text), " "
			}
			slices.Reverse(parts)
			return strings.Join(parts, between), nil
		}),
		"text__replace": newWork(func(in struct {
			textIn
			replacement
		}) (string, error) {
			text, _, err := in.applyTo(in.Text)
			return text, err
		}),
		// Go leaves the one letter whose capital is two.
		"case__upper": newWork(func(in textIn) (string, error) { return strings.ToUpper(strings.ReplaceAll(in.Text, "ß", "ss")), nil }),
		"case__snake": newWork(func(in struct {
			Name string `json:"name"`
		}) (string, error) {
			words := strings.FieldsFunc(in.Name, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
			if len(words) == 0 {
				return "", fmt.Errorf("%q has no letters or digits", in.Name)
			}
			return strcase.ToSnake(strings.Join(words, " ")), nil
		}),
		"encoding__base64_encode": newWork(func(in struct {
			textIn
			URLSafe bool `json:"url_safe"`
		}) (string, error) {
			alphabets := map[bool]*base64.Encoding{true: base64.RawURLEncoding, false: base64.StdEncoding}
			return alphabets[in.URLSafe].EncodeToString([]byte(in.Text)), nil
		}),
		"compare__levenshtein": newWork(func(in pairOf[string]) (string, error) {
			if len(in.First)*len(in.Second) > 64_000_000 {
				return "", errors.New("the texts are too long for this comparison")
			}
			return fmt.Sprint(metrics.NewLevenshtein().Distance(in.First, in.Second)), nil
		}),
		"compare__lists": newWork(func(in pairOf[[]string]) (string, error) {
			return fmt.Sprintf("in both: %s\nonly in the first: %s\nonly in the second: %s",
				entries(in.First, in.Second, true), entries(in.First, in.Second, false), entries(in.Second, in.First, false)), nil
		}),
	}
	for name := range hashes {
		all["hash__"+name] = newWork(func(in textIn) (string, error) { return digest(name, in.Text), nil })
	}
	return all
}

type textIn struct {
	Text string `json:"text"`
}

var sentence = regexp.MustCompile(`[^.!?。！？]*[\pL\p{Nd}][^.!?。！？]*`)

// lineCount counts also a last line that is not ended.
func lineCount(text string) int {
	return strings.Count(text, "\n") + len(strings.TrimRight(text[max(0, len(text)-1):], "\n"))
}

var hashes = map[string]func() hash.Hash{
	"md5": md5.New, "sha1": sha1.New, "sha256": sha256.New, "sha512": sha512.New, "crc32": func() hash.Hash { return crc32.NewIEEE() },
}

// digest is a digest in hexadecimal, by one of hashes.
func digest(name, text string) string {
	h := hashes[name]()
	h.Write([]byte(text))
	return fmt.Sprintf("%x", h.Sum(nil))
}

type pairOf[T any] struct {
	First  T `json:"first"`
	Second T `json:"second"`
}

type replacement struct {
	Find    string `json:"find"`
	Replace string `json:"replace"`
}

// applyTo replaces a phrase and returns the text and the number of replacements. A phrase that does not occur is an error.
func (r replacement) applyTo(text string) (string, int, error) {
	n := strings.Count(text, r.Find)
	if r.Find == "" || n == 0 {
		return "", 0, fmt.Errorf("the text does not contain %q, so nothing is replaced", r.Find)
	}
	if len(text)+n*(len(r.Replace)-len(r.Find)) > maxAnswer {
		return "", 0, fmt.Errorf("the result would be longer than %d bytes", maxAnswer)
	}
	return strings.ReplaceAll(text, r.Find, r.Replace), n, nil
}

// entries are those of a list that are in another one, or are not, each once.
func entries(list, other []string, in bool) string {
	var out []string
	for _, entry := range list {
		if slices.Contains(other, entry) == in && !slices.Contains(out, entry) {
			out = append(out, entry)
		}
	}
	return strings.Join(out, ", ")
}

// counted writes a number and its noun.
func counted(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return strconv.Itoa(n) + " " + noun
}

// listed writes lines, or a text if there are none.
func listed(lines []string, none string) string {
	if len(lines) == 0 {
		return none
	}
	return strings.Join(lines, "\n")
}

// mapSlice makes something of every entry of a list.
func mapSlice[T, R any](list []T, change func(T) R) []R {
	out := make([]R, len(list))
	for i, entry := range list {
		out[i] = change(entry)
	}
	return out
}
