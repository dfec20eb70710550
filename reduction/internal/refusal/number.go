// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package refusal

// Reads numbers of tokens.

import (
	"math"
	"regexp"
	"strconv"
	"strings"
)

// numberPattern matches a number with digit groups or a unit: 131072, 131,072, 131 072, 131.072, 128k, 1.5 million.
const numberPattern = `(?:\d{1,3}(?:[ ,._'\x{a0}\x{202f}]\d{3})+|\d+(?:\.\d+)?)(?: ?(?:k|m|thousand|million)\b| ?万)?`

var (
	digitGroups = regexp.MustCompile(`^\d{1,3}(?:[ ,._'\x{a0}\x{202f}]\d{3})+$`)
	digitSpace  = regexp.MustCompile(`[ ,._'\x{a0}\x{202f}]`)
	numberParts = regexp.MustCompile(`^([\d ,._'\x{a0}\x{202f}]*\d)\s*(k|m|thousand|million|万)?`)
)

var units = map[string]float64{"": 1, "k": 1e3, "thousand": 1e3, "m": 1e6, "million": 1e6, "万": 1e4}

// parseNumber reads what numberPattern matches, zero if it is no number of tokens.
func parseNumber(text string) int64 {
	parts := numberParts.FindStringSubmatch(text)
	if parts == nil {
		return 0
	}
	digits, unit := parts[1], units[parts[2]]
	isDecimal := unit > 1 && strings.Count(digits, ".") == 1 && !strings.ContainsAny(digits, " ,")
	if digitGroups.MatchString(digits) && !isDecimal {
		digits = digitSpace.ReplaceAllString(digits, "")
	}
	n, err := strconv.ParseFloat(digits, 64)
	if err != nil || n*unit < 1 || n*unit > math.MaxInt32*1000 {
		return 0
	}
	return int64(math.Round(n * unit))
}

// bytesPattern is the word for bytes, with or without a prefix.
const bytesPattern = `(?:kilo|mega|giga|kibi|mebi|gibi)?bytes?`

var (
	// numberInText is a number that is not part of a name, with what follows it.
	numberInText = regexp.MustCompile(`(^|[^a-z0-9._-])(` + numberPattern + `)`)

	// notTokens matches what follows a number of something else.
	notTokens = regexp.MustCompile(`^\)?[ -]*(?:%|[kmg]?i?b\b|` + bytesPattern + `|characters?|chars?|code points|seconds?|secs?|` +
		`s\b|ms\b|minutes?|images?|files?|pages?|items?|messages?|requests?|answer|字符|字节|秒|张|个字|条|次)`)

	// limitBefore matches text before a number that is the limit.
	limitBefore = regexp.MustCompile(`(?:\b(?:max|maximum|limits?|limited|window|capacity|exceed(?:s|ed|ing)?|(?:longer|larger|` +
		`greater|bigger|more|less|fewer) than|at most|up to|only|range|context (?:length|size)|supports?|` +
		`allows?)\b|<=|>|超过|超出|上限|最大|最多|限制|不能大于|不得大于|窗口|≤)[^0-9]{0,40}$`)

	// sizeBefore matches words between a limit and a number that say that the number is not the limit.
	sizeBefore = regexp.MustCompile(`\b(?:by|but|got|received|requested|request(?:ed)? (?:has|contains|is)|given|resulted|results|` +
		`current(?:ly)?|contains?|while|used|answer|has|have|was|were|your|actual|status|code)\b|实际|当前|但|` +
		`[:,] *input[^0-9]*$`)

	// limitAfter matches text after a number that is the limit.
	limitAfter = regexp.MustCompile(`^\)?[ -]*(?:tokens? )?(?:max|maximum|limit|context|window)\b`)

	// otherUnit matches sentences whose numbers are not tokens.
	otherUnit = regexp.MustCompile(`\b(?:` + bytesPattern + `|characters?|string|body size|[kmg]i?b)\b|字符|字节`)

	lastLimitWord = regexp.MustCompile(`.*(?:\b(?:max|maximum|limits?|limited|window|capacity|exceed(?:s|ed|ing)?|than|at most|up to|` +
		`only|range|context (?:length|size)|supports?|allows?)\b|<=|>|超过|超出|上限|最大|最多|限制|不能大于|不得大于|窗口|≤)`)
)

// limitIn returns the number of tokens that an error names as the limit, zero if there is none. Of several numbers it
// is the smallest, as the request has more.
func limitIn(parts []string) (tokens int64) {
	sizes := 0      // numbers that can be a limit or the size of a request: no HTTP status
	isCode := false // the number may be an error code
	for _, s := range parts {
		if otherUnit.MatchString(s) && !strings.Contains(s, "token") {
			continue
		}
		for _, at := range numberInText.FindAllStringSubmatchIndex(s, -1) {
			start, end := at[4], at[5]
			n := parseNumber(s[start:end])
			if n == 0 {
				continue
			}
			if n >= 1000 {
				sizes++
			}
			before, after := s[:start], s[end:]
			if notTokens.MatchString(after) || !isLimit(before, after) {
				continue
			}
			if tokens == 0 || n < tokens {
				tokens = n
				isCode = strings.HasSuffix(before, "(") && strings.HasPrefix(after, ")")
			}
		}
	}
	if isCode && sizes <= 1 {
		return 0
	}
	return tokens
}

func isLimit(before, after string) bool {
	if limitAfter.MatchString(after) {
		return true
	}
	return limitBefore.MatchString(before) && !sizeBefore.MatchString(before[len(lastLimitWord.FindString(before)):])
}
