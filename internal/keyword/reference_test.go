// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package keyword

import (
	"math/rand/v2"
	"slices"
	"strings"
	"unicode"
)

// referenceScore is the definition, word for word. ok is false if a required term
// is missing.
func referenceScore(q Query, d Doc) (total int, ok bool) {
	name, prose := strings.ToLower(d.Name), strings.ToLower(d.Description)
	for _, term := range q.Terms {
		want := strings.ToLower(term.Text)
		worth := 0
		if strings.Contains(prose, want) {
			worth = 2
		}
		if strings.Contains(name, want) {
			worth = 3
		}
		for _, part := range referenceParts(d.Name) {
			part = strings.ToLower(part)
			if part == want {
				worth = 10
			} else if strings.Contains(part, want) {
				worth = max(worth, 5)
			}
		}
		if worth == 0 && term.Required {
			return 0, false
		}
		total += worth
	}
	return total, true
}

// referenceParts goes through the name rune by rune.
func referenceParts(name string) []string {
	var parts []string
	for _, piece := range strings.Split(name, "_") {
		var part []rune
		runes := []rune(piece)
		for i, r := range runes {
			afterLower := i > 0 && unicode.IsLower(runes[i-1])
			beforeLower := i+1 < len(runes) && unicode.IsLower(runes[i+1])
			if i > 0 && unicode.IsUpper(r) && (afterLower || beforeLower) {
				parts = append(parts, string(part))
				part = nil
			}
			part = append(part, r)
		}
		if len(part) > 0 {
			parts = append(parts, string(part))
		}
	}
	return parts
}

func referenceSearch(docs []Doc, q Query, limit int) []Hit {
	var hits []Hit
	for i, d := range docs {
		if total, ok := referenceScore(q, d); ok && total > 0 {
			hits = append(hits, Hit{Doc: i, Score: float64(total)})
		}
	}
	slices.SortStableFunc(hits, func(a, b Hit) int {
		if a.Score != b.Score {
			return int(b.Score - a.Score)
		}
		return strings.Compare(docs[a.Doc].Name, docs[b.Doc].Name)
	})
	if limit > 0 && len(hits) > limit {
		hits = hits[:limit]
	}
	return hits
}

// atoms are what names, descriptions and queries are made of: close to each other
// on purpose, and with everything that folds or decodes in a strange way.
var atoms = []string{
	"a", "A", "b", "ab", "aB", "Ab", "AB", "abc", "get", "Get", "GET", "set", "tweet", "weather", "Weather", "api", "API",
	"_", "__", "___", "-", ".", "+", "++", "1", "42", "İ", "ı", "I", "i", "ſ", "K", "ß", "ẞ", "ǅ", "ǆ", "é", "É", "e\u0301",
	"天", "天气", "查询", "カ", "한", "\xff", "\xe4\xbd", "\xed\xa0\x80", "\ufffd", "\u00a0", "\u0085", "\u3000", "\u200b",
	" ", "  ", "\t", "\n", "😀", "\U00010400", "\U00010428", "Σ", "ς", "σ", "\x00", "\"", "<", "&",
}

func randomText(rng *rand.Rand, most int) string {
	var b strings.Builder
	for range rng.IntN(most + 1) {
		b.WriteString(atoms[rng.IntN(len(atoms))])
	}
	return b.String()
}

// randomDocs have distinct names.
func randomDocs(rng *rand.Rand, n int) []Doc {
	var docs []Doc
	taken := make(map[string]bool)
	for len(docs) < n {
		d := Doc{Name: randomText(rng, 8), Description: randomText(rng, 20)}
		if !taken[d.Name] {
			taken[d.Name] = true
			docs = append(docs, d)
		}
	}
	return docs
}

// randomQuery takes its words from the atoms and from pieces of the documents, in
// both cases.
func randomQuery(rng *rand.Rand, docs []Doc) string {
	var words []string
	for range rng.IntN(6) {
		word := randomText(rng, 3)
		if rng.IntN(2) == 0 && len(docs) > 0 {
			d := docs[rng.IntN(len(docs))]
			text := []string{d.Name, d.Description}[rng.IntN(2)]
			from := rng.IntN(len(text) + 1)
			word = text[from : from+rng.IntN(len(text)-from+1)]
		}
		switch rng.IntN(6) {
		case 0:
			word = "+" + word
		case 1:
			word = strings.ToUpper(word)
		case 2:
			word = word + " " + word
		}
		words = append(words, word)
	}
	return strings.Join(words, []string{" ", "\t", "\u3000"}[rng.IntN(3)])
}
