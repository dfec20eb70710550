// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package refusal

// Splits the text of an error into sentences of plain words.

import (
	"regexp"
	"strings"
)

var (
	// fieldBefore matches text before a quotation that is the value of a field: the key of a log line, or that of JSON.
	fieldBefore = regexp.MustCompile(`(?i)(?:["'\\]\s*[:=]\s*|\b(?:message|msg|errors?|detail|details|reason|cause|description|desc|` +
		`body|text|title)\s*[:=]\s*|[-\[{(,]\s*|^\s*)$`)

	// keyAfter matches text after a quotation that is a key of JSON.
	keyAfter = regexp.MustCompile(`^\s*:`)

	// statusOnly matches text that has nothing but a status.
	statusOnly = regexp.MustCompile(`(?i)^(?:\b(?:api|http|errors?|code|status|bad|request|returned|received|unexpected|with)\b|` +
		`[^a-z])*$`)

	endsSentence = regexp.MustCompile(`[.!?;](?:\s|$)|[。；！？\n|]|\\n|["'}\]]+\s*,\s*|,\s*["'{]+`)
	wordBoundary = regexp.MustCompile(`([a-z0-9])([A-Z])`)
)

// withoutQuotations leaves quotations in a sentence out, as they may have the words of a user. Keys and values of JSON
// are not quotations, nor are single words such as names of parameters.
func withoutQuotations(text string) string {
	var out strings.Builder
	rest, before := text, ""
	for {
		start, width := openingMark(rest, before)
		if start < 0 {
			break
		}
		mark := rest[start : start+width]
		length := closingMark(rest[start+width:], mark)
		if length < 0 {
			out.WriteString(rest[:start+width])
			before, rest = before+rest[:start+width], rest[start+width:]
			continue
		}
		quoted, end := rest[start+width:start+width+length], start+width+length+len(closing(mark))
		before += rest[:start]
		out.WriteString(rest[:start])
		if belongsToText(before, quoted, rest[end:]) {
			out.WriteString(mark + withoutQuotations(quoted) + closing(mark))
		}
		before, rest = before+rest[start:end], rest[end:]
	}
	return out.String() + rest
}

// openingMark finds the first quotation mark of a text, with the backslashes before it.
func openingMark(text, before string) (start, width int) {
	for i, r := range text {
		switch r {
		case '"', '\'':
			start = len(strings.TrimRight(text[:i], `\`))
			if previous := before + text[:start]; r == '\'' && previous != "" && isWord(previous[len(previous)-1]) {
				continue
			}
			return start, i + 1 - start
		case '“', '「':
			return i, len(string(r))
		}
	}
	return -1, 0
}

// closingMark finds where a quotation ends, negative if it does not.
func closingMark(text, mark string) int {
	end := closing(mark)
	for from := 0; ; {
		i := strings.Index(text[from:], end)
		if i < 0 {
			return -1
		}
		i += from
		from = i + len(end)
		if i > 0 && text[i-1] == '\\' || end == "'" && from < len(text) && isWord(text[from]) {
			continue
		}
		return i
	}
}

func closing(mark string) string {
	switch mark {
	case "“":
		return "”"
	case "「":
		return "」"
	}
	return mark
}

func isWord(c byte) bool {
	return 'a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9'
}

// maxPrefix is how many bytes before a quotation are read.
const maxPrefix = 200

// belongsToText reports whether what is in quotation marks is part of the error's own text.
func belongsToText(before, quoted, after string) bool {
	isName := !strings.ContainsAny(strings.TrimSpace(quoted), " \n，") && !isCJK(quoted)
	isRest := strings.HasSuffix(strings.TrimSpace(before), ":") && strings.Trim(after, " .)}]\n") == ""
	isAfterStatus := len(before) <= maxPrefix && statusOnly.MatchString(before)
	return isName || isRest || isAfterStatus || keyAfter.MatchString(after) ||
		fieldBefore.MatchString(before[max(0, len(before)-maxPrefix):])
}

// isCJK reports whether a text has words that no spaces separate.
func isCJK(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool { return r >= 0x3000 })
}

// meaningless are words that look like those of the rule and say nothing about the length of a request.
var meaningless = []struct {
	pattern *regexp.Regexp
	instead string
}{
	{regexp.MustCompile(`</?[a-z][a-z0-9]*>`), " "},
	{regexp.MustCompile(`https?://\S+|(?:^|\s)/[\w./-]+`), " "},
	// Fields of messages: only their content counts.
	{regexp.MustCompile(`\b(?:messages?|inputs?|contents?|prompts?)(?:\[\d+\]|\.\d+)(?:\.\w+|\[\d+\])*?\.?(?:content|` +
		`text|output|parts?|input)(?:\.\d+|\[\d+\])*(?:\.text|\.content)?\b`), " messages "},
	{regexp.MustCompile(`\b(?:messages?|inputs?|contents?|prompts?)(?:\[\d+\]|\.\d+)(?:\.\w+|\[\d+\])*`), " "},
	// Keys.
	{regexp.MustCompile(`["'\\]+[\w.-]+["'\\]+\s*:`), " "},
	{regexp.MustCompile(`\b(?:message|msg|error|input|context)\s*[:=]`), " "},
	// The limit of the answer is not that of the request.
	{regexp.MustCompile(`\bmax[ _](?:new[ _]|completion[ _]|output[ _])?tokens?\b|\bmaxtokens\b|\bmax[ _](?:new|output|` +
		`completion)[ _]?tokens\b|\bmaximum tokens (?:you requested|value|parameter)\b`), " answer "},
	{regexp.MustCompile(`\b(?:finish|complete) (?:the |your )?(?:message|response|answer)\b`), " answer "},
	{regexp.MustCompile(`\b(?:completion|output|response|generated|generation|reasoning|thinking|new)[ _]tokens?\b`), " answer "},
	// Words that mean something else.
	{regexp.MustCompile(`\binput should be\b|\b(?:input|prompt) validation error\b|\binvalid input\b|\binput (?:tag|` +
		`value|parameters?|type|format)\b|\bsystem (?:message|prompt)s?\b|\berror message\b`), " "},
	{regexp.MustCompile(`\b(?:unexpected|invalid|unknown|access|auth|bearer|api|refresh|id|csrf|session|security|expired|` +
		`stop|special|jwt|oauth)[ _-]tokens?\b`), " "},
	{regexp.MustCompile(`\bcontext (?:deadline|cancell?ed|caching|cache)\b`), " deadline "},
	{regexp.MustCompile(`-max\b|\bmax retries\b`), " "},
	{regexp.MustCompile(`超时`), " timeout "},
	{regexp.MustCompile(`(?:输入|请求)参数|请求(?:数|次数|频)|消息队列`), " "},
}

// sentences splits a text into sentences in lower case, with words separated by spaces.
func sentences(text string) (out []string) {
	for part := range strings.SplitSeq(endsSentence.ReplaceAllString(text, "\x00"), "\x00") {
		s := strings.ToLower(wordBoundary.ReplaceAllString(part, "$1 $2"))
		for _, m := range meaningless {
			s = m.pattern.ReplaceAllString(s, m.instead)
		}
		s = strings.Join(strings.Fields(strings.NewReplacer("_", " ", "`", " ", `"`, " ", "'", " ", `\`, " ").Replace(s)), " ")
		if s != "" {
			out = append(out, s)
		}
	}
	return out
}
