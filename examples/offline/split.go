// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package offline

// This file splits a request into steps.

import (
	"regexp"
	"strings"
)

// step is one thing that the user wants.
type step struct {
	text    string
	words   []string // what it is about: no fillers, no data, in order
	soft    []string // what it is about, or data: capitalised words and units
	hints   []string // what its phrases and the kinds of its data point to
	values  []value
	refers  bool // it speaks of an earlier result
	follows bool // it only makes sense after an earlier request, as "and in London?" does
}

var (
	sentenceEnd = regexp.MustCompile(`[.?!;](?:\s+|$)|[。？！；]\s*|\n+`)
	connector   = regexp.MustCompile(`(?i),?\s+(?:and\s+)?(?:then|after that|afterwards|finally)\s*,?\s+|,?\s*(?:然后|接着|最后|之后再|再把|，再|，并且?|，同时)|,\s+(?:and\s+|also\s+)?|\s+and\s+(?:also\s+)?|，`)
	always      = regexp.MustCompile(`(?i)then|after|finally|然后|接着|最后|再|并|同时`)
	opening     = regexp.MustCompile(`(?i)^(?:(?:then|first|next|finally|also|and|now|please|could you|can you|would you|i want you to|i'd like to know|i want to know|tell me|ok|so)[,:]?\s+|首先|先|请|帮我|麻烦你?)+`)
	reference   = regexp.MustCompile(`(?i)\b(?:the|that|this|its|previous|last) (?:result|answer|output|outcome)\b|\b(?:of|to|in|on|from|for|reverse|sort|hash|encode|decode|convert|count|round|is|take|turn|write|put|make|compress|spell|square|save|repeat) (?:it|that|them|those)\b|\b(?:it|that|them)\b[.?!,]?\s*$|结果|\p{Han}[它其]|^[它其]`)
	weather     = regexp.MustCompile(`(?i)\bis it\b|\bit is\b`)
	pairOf      = regexp.MustCompile(`(?i)^(.*?)\bthe ([\w-]+(?: [\w-]+){0,3}) and the ([\w-]+(?: [\w-]+){0,3}) (of|in|for) (.+)$`)
	placePair   = regexp.MustCompile(`^(.*?)\b(in|of|for) ([^,]+?),? and (?:in |of |for )?([^,]+)$`)
	followUp    = regexp.MustCompile(`(?i)^(?:and\s+)?(?:what about|how about|the same for|same for|do the same for|likewise for)\s+|^and\s+(?:for\s+|in\s+|with\s+)?|^那`)
)

// split cuts a request into steps. What stands in quotes, JSON, paths and the
// like is never cut.
func split(request string) []step {
	var out []step
	for _, part := range cut(request) {
		for _, text := range distribute(part) {
			if s := newStep(text); len(s.words)+len(s.soft)+len(s.values) > 0 {
				out = append(out, s)
			}
		}
	}
	return out
}

func newStep(text string) step {
	s := step{text: text, values: values(text)}
	s.refers = reference.MatchString(text) && !weather.MatchString(text)
	s.follows = followUp.MatchString(text)
	s.words, s.soft = content(text, s.values)
	s.hints = unique(implied(text, s.values))
	if s.refers {
		s.hints = append(s.hints, "text")
	}
	if len(s.words) > 1 {
		s.follows = s.follows && followUp.FindString(text) != "" && !verbs[s.words[0]] && len(s.words) < 3
	}
	return s
}

// cut cuts at the ends of sentences and at connecting words.
func cut(request string) (out []string) {
	for _, sentence := range cutAt(request, sentenceEnd, nil) {
		for _, part := range cutAt(sentence, connector, beginsStep) {
			part = strings.Trim(opening.ReplaceAllString(strings.TrimSpace(part), ""), " ,，")
			if part != "" {
				out = append(out, part)
			}
		}
	}
	return out
}

// cutAt cuts at each match outside data that allow accepts.
func cutAt(text string, at *regexp.Regexp, allow func(found, rest string) bool) (out []string) {
	hidden := hide(text, func(k kind) bool { return k != code && k != proper && k != unit && k != named })
	from := 0
	for _, m := range at.FindAllStringIndex(hidden, -1) {
		if strings.TrimSpace(text[from:m[0]]) == "" || (allow != nil && !allow(text[m[0]:m[1]], text[m[1]:])) {
			continue
		}
		out = append(out, text[from:m[0]])
		from = m[1]
	}
	return append(out, text[from:])
}

// beginsStep tells whether a new step begins after a connecting word: after
// "then" always, after "and" or a comma only with a verb.
func beginsStep(found, rest string) bool {
	if always.MatchString(found) {
		return true
	}
	for _, w := range tokens(opening.ReplaceAllString(rest, "")) {
		if isHan(w) {
			return best(w, []string{"convert", "reverse", "count", "hash", "encode", "sort", "write", "replace"}) > 0 && !stopWords[w]
		}
		return verbs[w]
	}
	return false
}

// hide puts zero bytes in the place of values, so that patterns do not see them.
func hide(text string, which func(kind) bool) string {
	b := []byte(text)
	for _, v := range values(text) {
		if which(v.kind) {
			mask(b[v.start:v.end])
		}
	}
	return string(b)
}

// distribute makes two steps of "the A and the B of Z", and of a question about
// two places.
func distribute(part string) []string {
	if m := pairOf.FindStringSubmatchIndex(hide(part, func(k kind) bool { return k == quoted || k == document })); m != nil {
		group := func(i int) string { return part[m[2*i]:m[2*i+1]] }
		return []string{
			group(1) + "the " + group(2) + " " + group(4) + " " + group(5),
			group(1) + "the " + group(3) + " " + group(4) + " " + group(5),
		}
	}
	if m := placePair.FindStringSubmatch(part); m != nil && isPlace(m[3]) && isPlace(strings.TrimRight(m[4], "?. ")) {
		return []string{m[1] + m[2] + " " + m[3], m[1] + m[2] + " " + m[4]}
	}
	return []string{part}
}

func isPlace(text string) bool {
	found := values(text)
	return len(found) == 1 && (found[0].kind == proper || found[0].kind == zone) && found[0].start == 0 && found[0].end == len(text)
}

// content are the words that say what a step is about. Data is left out;
// capitalised words and units may be either and come apart.
func content(text string, found []value) (words, soft []string) {
	b := []byte(text)
	for _, v := range found {
		switch v.kind {
		case code, proper, unit:
			soft = append(soft, tokens(text[v.start:v.end])...)
		}
		if v.kind != named {
			mask(b[v.start:v.end])
		}
	}
	for _, w := range tokens(strings.ReplaceAll(string(b), "\x00", " ")) {
		if !stopWords[w] && !isNumber(w) && (len(w) > 1 || isHan(w)) {
			words = append(words, w)
		}
	}
	return unique(words), unique(soft)
}

func unique(words []string) (out []string) {
	seen := map[string]bool{}
	for _, w := range words {
		if !seen[w] {
			seen[w] = true
			out = append(out, w)
		}
	}
	return out
}

// implied are words for what the data and the phrases of a step show it to be about.
func implied(text string, found []value) (out []string) {
	count := map[kind]int{}
	for _, v := range found {
		count[v.kind]++
		if v.kind == unit {
			out = append(out, unitKinds[strings.ToLower(v.text)]...)
		}
		if words := speaksOf[v.kind]; v.kind != proper && v.kind != code && v.kind != named && v.kind != unit && v.kind != number {
			out = append(out, words[0])
		}
	}
	switch {
	case count[unit] >= 2:
		return append(out, "convert")
	case count[clock]+count[moment] > 0 && count[proper]+count[zone] > 1:
		out = append(out, "convert", "zone")
	case count[clock]+count[moment] > 0 && count[zone] > 0:
		out = append(out, "zone")
	}
	return append(out, meant(text)...)
}
