// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package refusal

import (
	"regexp"
	"slices"
	"strings"
)

// MediaProblem is what a provider does not accept about the images, audio, videos and files of a request.
type MediaProblem int

// sizeUnitPattern is the unit of the size of a medium, in bytes or pixels.
const sizeUnitPattern = `[ -]?(?:(?:[kmg]i?b|` + bytesPattern + `|(?:mega)?pixels?|px)\b|兆|字节)`

// The problems.
const (
	NoMediaProblem MediaProblem = iota
	TooManyMedia                // too many, or too large in total
	LargeMedium                 // one is too large
	BadMedium                   // one cannot be read
)

var (
	tooMany = regexp.MustCompile(`\btoo (?:many|much)\b|\b(?:at most|up to|only|maximum of|limit of|max(?:imum)?|more than|` +
		`no more than) \d+ (?:\w+ ){0,2}(?:images?|pictures?|photos?|audios?|videos?|files?|documents?|` +
		`attachments?|media)|\b(?:number|count|amount) of\b|\d+ (?:\w+ ){0,2}(?:images?|pictures?|files?|` +
		`documents?|attachments?)\b.*(?:\b(?:exceed\w*|max|maximum|limit|at most|only|more than)\b|>)|` +
		`\b(?:total|combined|altogether|sum of|many image)\b|过多|最多|数量|总(?:大小|和|计)`)

	sizeUnit = regexp.MustCompile(`\b\d+(?:\.\d+)?` + sizeUnitPattern)

	tooLarge = regexp.MustCompile(`\b(?:too (?:large|big)|exceed(?:s|ed|ing)?|larger than|over the|dimensions?|maximum size|` +
		`size limit)\b|过大|太大|超过|超出`)

	unreadable = regexp.MustCompile(`\b(?:could not|cannot|can not|unable to|failed to) (?:be )?(?:process|decode|read|load|parse|` +
		`download|identify|open)\w*\b|\b(?:invalid|corrupt\w*|unreadable|malformed|broken|unsupported)\b|` +
		`\bnot (?:a )?(?:valid|supported)\b|\bnot represent a valid\b|无效|无法|损坏|不支持|解析失败`)

	// capability matches errors of models that take no media at all.
	capability = regexp.MustCompile(`\b(?:models?|endpoints?|deployments?) (?:\S+ )?(?:do(?:es)?|is|are|can)(?: not|n t)\b|` +
		`\bno endpoints?\b|\bvision\b|\bmodalit\w+|模型不支持`)
)

// Media returns what an error says about the media of a request, and how many the model takes, zero if that is not
// said.
func Media(errText string) (problem MediaProblem, limit int) {
	parts := sentences(withoutQuotations(bounded(errText)))
	if isTransient(parts) {
		return NoMediaProblem, 0
	}
	for _, s := range parts {
		if !medium.MatchString(s) || window.MatchString(s) {
			continue
		}
		switch {
		case strings.Contains(s, "-image requests"), tooMany.MatchString(s) && !isOneSize(s):
			return TooManyMedia, mediaLimit(s)
		case tooLarge.MatchString(s) && !strings.Contains(s, "token"):
			return LargeMedium, 0
		case unreadable.MatchString(s) && !capability.MatchString(s):
			return BadMedium, 0
		}
	}
	return NoMediaProblem, 0
}

// isOneSize reports whether a sentence is about the size of one medium.
func isOneSize(s string) bool {
	return sizeUnit.MatchString(s) && !totalSize.MatchString(s)
}

var totalSize = regexp.MustCompile(`\b(?:total|combined|altogether|sum of|too many)\b|总`)

// RequestSize reports whether an error says that the bytes of a request are too many.
func RequestSize(errText string) bool {
	parts := sentences(withoutQuotations(bounded(errText)))
	return !isTransient(parts) && slices.ContainsFunc(parts, func(s string) bool {
		return requestSize.MatchString(s) && !strings.Contains(s, "token")
	})
}

// maxMediaLimit is more media than any model takes: larger numbers mean something else.
const maxMediaLimit = 10_000

// startsWithSizeUnit matches what follows the number of a size.
var startsWithSizeUnit = regexp.MustCompile(`^` + sizeUnitPattern)

// mediaLimit returns the number of media that a sentence names as the limit, zero if there is none.
func mediaLimit(s string) (limit int) {
	for _, at := range numberInText.FindAllStringSubmatchIndex(s, -1) {
		before, after := s[:at[4]], s[at[5]:]
		n := parseNumber(s[at[4]:at[5]])
		isCount := n > 0 && n < maxMediaLimit && !startsWithSizeUnit.MatchString(after)
		if isCount && isLimit(before, after) && (limit == 0 || int(n) < limit) {
			limit = int(n)
		}
	}
	return limit
}
