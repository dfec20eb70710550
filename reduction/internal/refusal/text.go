// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package refusal

// Splits the text of an error into sentences of plain words.

import (
	"regexp"
	"strings"
)

var (
	// quotation is text in quotation marks, with what stands before and behind it.
	quotation = regexp.MustCompile(`(^|[^\\])(\\*"[^"\\]*\\*"|“[^”]*”|「[^」]*」|'[^'\n]*')`)

	// fieldBefore matches text behind which a quotation is the value of a field: the key of a log line, or that of JSON.
	fieldBefore = regexp.MustCompile(`(?i)(?:["'\\]\s*[:=]\s*|\b(?:message|msg|errors?|detail|details|reason|cause|description|desc|body|text|title)\s*[:=]\s*|[-\[{(,]\s*|^\s*)$`)

	// keyBehind matches text before which a quotation is a key of JSON.
	keyBehind = regexp.MustCompile(`^\s*:`)

	endsSentence = regexp.MustCompile(`[.!?;](?:\s|$)|[。；！？\n|]|\\n|["'}\]]+\s*,\s*|,\s*["'{]+`)
	wordBoundary = regexp.MustCompile(`([a-z0-9])([A-Z])`)
)

// withoutQuotations leaves quotations in a sentence out, as they may have the words of a user. Keys and values of JSON
// are not quotations, nor are single words such as names of parameters.
func withoutQuotations(text string) string {
	var out strings.Builder
	from := 0
	for _, at := range quotation.FindAllStringSubmatchIndex(text, -1) {
		start, end := at[4], at[5]
		quoted, before, behind := text[start:end], text[from:start], text[end:]
		if !strings.ContainsAny(strings.TrimSpace(strings.Trim(quoted, `\"'“”「」`)), " \n，") && !isCJK(quoted) ||
			fieldBefore.MatchString(text[:start]) || keyBehind.MatchString(behind) ||
			quoted[0] == '\'' && start > 0 && isLetter(text[start-1]) ||
			strings.HasSuffix(strings.TrimSpace(before), ":") && strings.Trim(behind, " .)}]\n") == "" {
			continue
		}
		out.WriteString(before)
		from = end
	}
	out.WriteString(text[from:])
	return out.String()
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

// isCJK reports whether a text has words that no spaces separate.
func isCJK(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool { return r >= 0x3000 })
}

// meaningless are words that look like those of the rule and say nothing about the length of a request.
var meaningless = []struct {
	pattern *regexp.Regexp
	instead string
}{
	{regexp.MustCompile(`https?://\S+|(?:^|\s)/[\w./-]+`), " "},
	// Fields of messages: only their content counts.
	{regexp.MustCompile(`\b(?:messages?|inputs?|contents?|prompts?)(?:\[\d+\]|\.\d+)(?:\.\w+|\[\d+\])*?\.?(?:content|text|output|parts?|input)(?:\.\d+|\[\d+\])*(?:\.text|\.content)?\b`), " messages "},
	{regexp.MustCompile(`\b(?:messages?|inputs?|contents?|prompts?)(?:\[\d+\]|\.\d+)(?:\.\w+|\[\d+\])*`), " "},
	// Keys.
	{regexp.MustCompile(`["'\\]+[\w.-]+["'\\]+\s*:`), " "},
	{regexp.MustCompile(`\b(?:message|msg|error|input|context)\s*[:=]`), " "},
	// The limit of the answer is not that of the request.
	{regexp.MustCompile(`\bmax[ _](?:new[ _]|completion[ _]|output[ _])?tokens?\b|\bmaxtokens\b|\bmax[ _](?:new|output|completion)[ _]?tokens\b`), " answer "},
	{regexp.MustCompile(`\b(?:completion|output|response|generated|generation|reasoning|thinking|new)[ _]tokens?\b`), " answer "},
	// Words that mean something else.
	{regexp.MustCompile(`\binput should be\b|\b(?:input|prompt) validation error\b|\binvalid input\b|\binput (?:tag|value|parameters?|type|format)\b|\bsystem (?:message|prompt)s?\b|\berror message\b`), " "},
	{regexp.MustCompile(`\b(?:unexpected|invalid|unknown|access|auth|bearer|api|refresh|id|csrf|session|security|expired|stop|special|jwt|oauth)[ _-]tokens?\b`), " "},
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
