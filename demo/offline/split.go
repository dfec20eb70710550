// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package offline

import (
	"regexp"
	"slices"
	"strings"
)

// step is one task in the user's request.
type step struct {
	text       string
	words      []string // content words in order, without fillers and data
	soft       []string // content words or data: capitalized words and units
	hints      []string // words implied by its phrases and the kinds of its data
	values     []value
	sequential bool // it comes after the step before
	refers     bool // it mentions an earlier result
	follows    bool // it only makes sense after an earlier request, as "and in London?" does
}

var (
	sentenceEnd = regexp.MustCompile(`[.?!;](?:\s+|$)|[。？！；]\s*|\n+`)
	connector   = regexp.MustCompile(`(?i),?\s+(?:and\s+)?(?:then|after that|afterwards|finally)\s*,?\s+|[,，]?\s*(?:然后|接着|最后|之后再|再把|，再|，并且?|，同时)|,\s+(?:and\s+|also\s+)?|\s+and\s+(?:also\s+)?|，`)
	always      = regexp.MustCompile(`(?i)then|after|finally|然后|接着|最后|再|并|同时`)
	opening     = regexp.MustCompile(`(?i)^(?:(?:then|first|next|finally|also|and|now|please|could you|can you|would you|i want you to|i'd like to know|i want to know|tell me|ok|so)[,:]?\s+|首先|先|请|帮我|麻烦你?)+`)
	reference   = regexp.MustCompile(`(?i)\b(?:the|that|this|its|previous|last) (?:result|answer|output|outcome)\b|\b(?:of|to|in|on|from|for|reverse|sort|hash|encode|decode|convert|count|round|is|take|turn|write|put|make|compress|spell|square|save|repeat) (?:it|that|them|those)\b|\b(?:it|that|them)\b[.?!,]?\s*$|结果|\p{Han}[它其]|^[它其]`)
	weather     = regexp.MustCompile(`(?i)\bis it\b|\bit is\b`)
	pairOf      = regexp.MustCompile(`(?i)^(.*?)\bthe ([\w-]+(?: [\w-]+){0,3}) and the ([\w-]+(?: [\w-]+){0,3}) (of|in|for) (.+)$`)
	leadsIn     = regexp.MustCompile(`(?i)^(?:in|of|from) (?:the|that|this) [\w ./-]+$`)
	followUp    = regexp.MustCompile(`(?i)^(?:and\s+)?(?:what about|how about|the same for|same for|do the same for|likewise for)\s+|^and\s+(?:for\s+|in\s+|with\s+)?|^那`)
)

// split divides a request into steps. Quotes, JSON, paths and similar data are never divided.
func split(request string) []step {
	var out []step
	before := "" // data that the next part says what to do with
	for _, part := range splitParts(request) {
		for _, text := range distribute(before + part.text) {
			s := newStep(text)
			s.sequential = part.sequential && len(out) > 0
			s.follows = part.follows && len(out) == 0 && s.isShort()
			if before = ""; leadsIn.MatchString(text) {
				before = text + ", "
			} else if len(s.words)+len(s.soft) > 0 || s.follows {
				out = append(out, s)
			} else if len(s.values) > 0 {
				before = text + " "
			}
		}
	}
	if before != "" {
		out = append(out, newStep(strings.Trim(before, " ,")))
	}
	return out
}

func newStep(text string) step {
	s := step{text: text, values: values(text)}
	s.refers = reference.MatchString(text) && !weather.MatchString(text)
	s.words, s.soft = content(text, s.values)
	s.hints = unique(impliedWords(text, s.values))
	if s.refers {
		s.hints = append(s.hints, "text")
	}
	s.hints = slices.DeleteFunc(s.hints, func(w string) bool { return slices.Contains(s.words, w) || slices.Contains(s.soft, w) })
	return s
}

// isShort reports whether a step says little beside its data.
func (s step) isShort() bool { return len(s.words) == 0 || len(s.words) < 3 && !verbs[s.words[0]] }

// part is a piece of a request.
type part struct {
	text       string
	sequential bool // a word before it says that it comes after the part before
	follows    bool // its first words refer to an earlier request
}

// splitParts divides a request at the ends of sentences and at connecting words.
func splitParts(request string) (out []part) {
	for _, sentence := range splitAt(request, sentenceEnd, nil) {
		for _, p := range splitAt(sentence.text, connector, beginsStep) {
			text := strings.TrimSpace(p.text)
			start := opening.FindString(text)
			p.sequential = p.sequential || always.MatchString(start)
			p.follows = followUp.MatchString(text)
			if p.text = strings.Trim(text[len(start):], " ,，"); p.text != "" {
				out = append(out, p)
			}
		}
	}
	return out
}

// splitAt divides at each match outside data that allow accepts.
func splitAt(text string, at *regexp.Regexp, allow func(found, rest string) bool) (out []part) {
	sequential := false
	hidden := hide(text, func(k kind) bool { return !k.soft() && k != numeral })
	from := 0
	for _, m := range at.FindAllStringIndex(hidden, -1) {
		if strings.TrimSpace(text[from:m[0]]) == "" || (allow != nil && !allow(text[m[0]:m[1]], text[m[1]:])) {
			continue
		}
		out = append(out, part{text: text[from:m[0]], sequential: sequential})
		from, sequential = m[1], always.MatchString(text[m[0]:m[1]])
	}
	return append(out, part{text: text[from:], sequential: sequential})
}

// beginsStep reports whether a new step begins after a connecting word: after
// "then" always, after "and" or a comma only with a verb.
func beginsStep(found, rest string) bool {
	if always.MatchString(found) {
		return true
	}
	words := tokens(opening.ReplaceAllString(rest, ""))
	return len(words) > 0 && isVerb(words[0])
}

// isVerb recognizes Chinese verbs by their translation.
func isVerb(word string) bool {
	return verbs[word] || isHan(word) && slices.ContainsFunc(synonyms(word), func(w string) bool { return verbs[w] })
}

// hide replaces values with zero bytes, so that patterns do not match inside them.
func hide(text string, match func(kind) bool) string {
	b := []byte(text)
	for _, v := range values(text) {
		if match(v.kind) {
			mask(b[v.start:v.end])
		}
	}
	return string(b)
}

// distribute splits "the A and the B of Z" into two steps.
func distribute(part string) []string {
	if m := pairOf.FindStringSubmatchIndex(hide(part, func(k kind) bool { return k == quoted || k == document })); m != nil {
		group := func(i int) string { return part[m[2*i]:m[2*i+1]] }
		return []string{
			group(1) + "the " + group(2) + " " + group(4) + " " + group(5),
			group(1) + "the " + group(3) + " " + group(4) + " " + group(5),
		}
	}
	return []string{part}
}
