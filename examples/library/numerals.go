// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package library

// This file writes and reads Chinese numerals.

import (
	"errors"
	"strconv"
	"strings"
)

var (
	lowerDigits   = []rune("零一二三四五六七八九")
	capitalDigits = []rune("零壹贰叁肆伍陆柒捌玖")
)

// numeral writes a whole number below 10^16 with the digits and the units for
// ten, hundred and thousand.
func numeral(n int64, digits []rune, units []string) string {
	if n == 0 {
		return string(digits[0])
	}
	var out strings.Builder
	pending := false // a gap of zeros is written as one zero, before the next digit
	for i, place := 15, int64(1e15); i >= 0; i, place = i-1, place/10 {
		d := n / place % 10
		switch {
		case d == 0:
			pending = pending || out.Len() > 0
		default:
			if pending {
				out.WriteRune(digits[0])
				pending = false
			}
			out.WriteRune(digits[d])
			out.WriteString(units[i%4])
		}
		if section := n / place % 10000; i%4 == 0 && section > 0 {
			out.WriteString(sectionMark(i/4, n))
			pending = false
		}
	}
	return out.String()
}

// sectionMark names the section of four digits; ten thousand times 亿 says 亿
// itself only where no section of 亿 follows.
func sectionMark(section int, n int64) string {
	switch {
	case section == 3 && n/1e8%10000 == 0:
		return "万亿"
	case section == 3:
		return "万"
	}
	return []string{"", "万", "亿"}[section]
}

var numeralValues = map[rune]int64{'〇': 0, '零': 0, '一': 1, '壹': 1, '二': 2, '贰': 2, '两': 2, '三': 3, '叁': 3, '四': 4, '肆': 4, '五': 5, '伍': 5,
	'六': 6, '陆': 6, '七': 7, '柒': 7, '八': 8, '捌': 8, '九': 9, '玖': 9, '十': 10, '拾': 10, '百': 100, '佰': 100, '千': 1000, '仟': 1000,
	'万': 1e4, '萬': 1e4, '亿': 1e8, '億': 1e8}

// wholeNumeral sums up sections that end in 万 or 亿; digits alone, such as
// 二〇二四, are read one by one.
func wholeNumeral(text string) (string, error) {
	if len([]rune(text)) > 40 {
		return "", errors.New("too long")
	}
	if !strings.ContainsAny(text, "十拾百佰千仟万萬亿億") {
		return digitByDigit(text)
	}
	var total, section, digit int64
	for _, r := range text {
		v, ok := numeralValues[r]
		switch {
		case !ok || total > 1e15:
			return "", errors.New("not a numeral")
		case v < 10:
			digit = v
		case v < 10000:
			if digit == 0 && v == 10 {
				digit = 1
			}
			section, digit = section+digit*v, 0
		case v == 1e8:
			total, section, digit = (total+section+digit)*v, 0, 0
		default:
			total, section, digit = total+(section+digit)*v, 0, 0
		}
	}
	return strconv.FormatInt(total+section+digit, 10), nil
}

func digitByDigit(text string) (string, error) {
	var out strings.Builder
	for _, r := range text {
		v, ok := numeralValues[r]
		if !ok {
			return "", errors.New("not a numeral")
		}
		out.WriteString(strconv.FormatInt(v, 10))
	}
	return out.String(), nil
}
