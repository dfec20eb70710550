// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package refusal

// The rule for errors that no known sentence matches.

import (
	"regexp"
	"slices"
)

var (
	// input matches what may be too long.
	input = regexp.MustCompile(`\b(?:inputs?|prompts?|contexts?|messages?|tokens?|conversation|history|payload|(?:total|` +
		`text) bytes|(?:request|content|body) (?:body|size|entity|length|too|exceed\w*|is too)|` +
		`request larger)\b|请求|输入|上下文|提示词|对话|消息`)

	// limit matches what says that something is more than is allowed.
	limit = regexp.MustCompile(`\b(?:exceed(?:s|ed|ing)?|overflow(?:s|ed|ing)?|overlong|surpass(?:es|ed)?|too (?:long|large|big|` +
		`many|much)|(?:longer|larger|greater|bigger|more|less|fewer|smaller) than|at most|up to|max|` +
		`maximum|limits?|limited|range|reduc(?:e|ing)|short(?:er|en|ening)|truncat(?:e|ing)|not enough|` +
		`(?:not|n t) fit|out of)\b|<=|>|超|过长|过大|太长|太大|上限|最大|不能大于|不得大于|限制`)

	// window matches the name of a model's window.
	window = regexp.MustCompile(`\bcontext[ -]?(?:window|length|size|limit)|\bcontext overflow|\b(?:max|maximum) (?:model|prompt|` +
		`sequence) (?:len|length)|上下文.{0,4}(?:长度|窗口|限制|超)`)

	// rate matches errors that pass by themselves, and limits of an account.
	rate = regexp.MustCompile(`\brates?\b|\brate ?limit\w*|\bper[ -](?:second|sec|minute|min|hour|day|week|month)\b|/ ?(?:s|` +
		`sec|min|minute|hour|h|day|d)\b|\b(?:r|t|q|it|ot)p[smdh]\b|\bquotas?\b|\bbudgets?\b|\bcredits?\b|` +
		`\bwait(?:ing)?\b|\bretry (?:after|in|later)\b|\btry again (?:in|later|after)\b|\bthrottl\w*|` +
		`\b(?:hourly|daily|weekly|monthly)\b|\bconcurren\w+|\busage limits?\b|\b(?:plan|upgrade|billing|` +
		`subscription|balance|spend|spending)\b|速率|频率|频繁|限流|配额|额度|余额|欠费|并发|每分钟|每秒|每天|每日|每小时|次数|稍后|等待`)

	// rateStatus matches the status of such errors. A gateway may report an overflow with it.
	rateStatus = regexp.MustCompile(`\btoo many requests\b|\b(?:status|code|http)\b[: =/.0-9]{0,12}\b429\b`)

	// unrelated matches sentences about anything other than the length of a request's text.
	unrelated = regexp.MustCompile(`\b(?:timeout|timed out|deadline|authenticat\w+|unauthorized|credentials?|api key|lifetime|` +
		`expired?|polic(?:y|ies)|moderation|safety|flagged|filter(?:ed)?|too (?:small|short)|minimum|` +
		`at least|out of memory|allocate|cuda|queue|overloaded|in flight|batch|tool calls?|function|` +
		`logit bias|stop sequences?|cache control|metadata|array too long)\b|内容安全|敏感|违规|最小`)

	// requestSize matches a refusal of the whole request by a server in between.
	requestSize = regexp.MustCompile(`\b(?:status|code|http|error)\b[: =/.0-9]{0,12}\b413\b|^413\b|\b(?:request entity|payload|` +
		`content|request body) too large\b|\brequest too large\b`)
)

// isTransient reports whether an error is one of rates, time or money, which pass by themselves. It may speak of
// tokens. A sentence about the model's window that has no such word counts more.
func isTransient(parts []string) bool {
	namesWindow := func(s string) bool {
		return window.MatchString(s) && limit.MatchString(s) && !rate.MatchString(s)
	}
	isRate := func(s string) bool { return rate.MatchString(s) || rateStatus.MatchString(s) }
	return slices.ContainsFunc(parts, isRate) && !slices.ContainsFunc(parts, namesWindow)
}

// saysTooLong reports whether a sentence speaks of the input and of a limit.
func saysTooLong(parts []string) bool {
	return slices.ContainsFunc(parts, func(s string) bool {
		isAnswer := answer.MatchString(s) && !inputOnly.MatchString(s)
		switch {
		case unrelated.MatchString(s), isAnswer && parameter.MatchString(s):
			return false
		case window.MatchString(s) && (limit.MatchString(s) || requested.MatchString(s)):
			return true
		case medium.MatchString(s), isAnswer:
			return false
		}
		return input.MatchString(s) && limit.MatchString(s) || requestSize.MatchString(s)
	})
}

var (
	// requested matches words that compare a request with a window.
	requested = regexp.MustCompile(`\b(?:requested|(?:request|prompt|input|messages?) (?:has|have|is|are|contains?|needs?|got))\b|请求`)

	// answer matches the model's output. A limit of it is not one of the request, unless the sentence names both.
	answer    = regexp.MustCompile(`\b(?:answer|outputs?|response|completion|generation)\b`)
	inputOnly = regexp.MustCompile(`\b(?:inputs?|prompts?|messages?|conversation|history|requests?)\b`)

	// parameter matches words about the value of a parameter.
	parameter = regexp.MustCompile(`\bmust be\b|\bshould be\b|\bvalue\b|不能大于|必须`)
)

// medium matches what is neither text nor counted in tokens.
var medium = regexp.MustCompile(`\b(?:images?|pictures?|photos?|audios?|videos?|files?|documents?|pdfs?|attachments?|pixels?|` +
	`dimensions?|media|pages)\b|图片|图像|视频|音频|文件|附件|像素`)
