// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package library

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

func chineseTools() map[string]work {
	return map[string]work{
		"hanzi__count_characters": newWork(func(in textIn) (string, error) {
			count := func(tables ...*unicode.RangeTable) (n int) {
				for _, r := range in.Text {
					if unicode.In(r, tables...) {
						n++
					}
				}
				return n
			}
			han := count(unicode.Han)
			return fmt.Sprintf("共%d个字符:汉字%d个,标点%d个,字母%d个,数字%d个", utf8.RuneCountInString(in.Text),
				han, count(unicode.P, unicode.S), count(unicode.L)-han, count(unicode.Nd)), nil
		}),
		"hanzi__number_to_chinese": newWork(func(in struct {
			Number float64 `json:"number"`
		}) (string, error) {
			return toChinese(in.Number)
		}),
		"hanzi__chinese_to_number": newWork(func(in textIn) (string, error) {
			n, ok := fromChinese(strings.TrimSpace(in.Text))
			if !ok {
				return "", fmt.Errorf("“%s”不是能识别的中文数字,例如:三万零五十", in.Text)
			}
			return n, nil
		}),
		"china__weekday": newWork(func(in dateIn) (string, error) {
			day, err := parseDate(in.Date)
			return day.Format("2006年1月2日") + "是星期" + string([]rune("日一二三四五六")[day.Weekday()]), err
		}),
		"china__days_between": newWork(func(in spanIn) (string, error) {
			n, err := in.days()
			if n < 0 {
				return fmt.Sprintf("相差%d天,第二个日期更早", -n), err
			}
			return fmt.Sprintf("相差%d天", n), err
		}),
		"china__zodiac_animal": newWork(func(in yearIn) (string, error) {
			animals := []rune("猴鸡狗猪鼠牛虎兔龙蛇马羊")
			return fmt.Sprintf("%d年属%c,春节以前出生的属%c", in.Year, animals[in.Year%12], animals[(in.Year+11)%12]), nil
		}),
	}
}

const chineseDigits = "零一二三四五六七八九"

// toChinese writes a number, also with decimals or a sign.
func toChinese(number float64) (string, error) {
	whole, fraction, _ := strings.Cut(strconv.FormatFloat(math.Abs(number), 'f', -1, 64), ".")
	n, err := strconv.ParseInt(whole, 10, 64)
	if err != nil {
		return "", errors.New("数字太大")
	}
	out := numeral(n)
	out = strings.Replace("^"+out, "^一十", "^十", 1)[1:]
	if number < 0 {
		out = "负" + out
	}
	if fraction != "" {
		out += "点"
		for _, d := range fraction {
			out += string([]rune(chineseDigits)[d-'0'])
		}
	}
	return out, nil
}

// numeral writes a whole number below 10^16.
func numeral(n int64) string {
	if n == 0 {
		return "零"
	}
	digits, units := []rune(chineseDigits), []string{"", "十", "百", "千"}
	var out strings.Builder
	pending := false // a gap of zeros is written as one zero, before the next digit
	for i, place := 15, int64(1e15); i >= 0; i, place = i-1, place/10 {
		if d := n / place % 10; d == 0 {
			pending = pending || out.Len() > 0
		} else {
			if pending {
				out.WriteRune(digits[0])
				pending = false
			}
			out.WriteRune(digits[d])
			out.WriteString(units[i%4])
		}
		if i%4 == 0 && n/place%10000 > 0 {
			out.WriteString([]string{"", "万", "亿", "万"}[i/4])
			pending = false
		}
	}
	if n >= 1e12 && n/1e8%10000 == 0 { // 一万亿 has no section of 亿 of its own
		return strings.Replace(out.String(), "万", "万亿", 1)
	}
	return out.String()
}

var chineseValues = map[rune]int64{'〇': 0, '零': 0, '一': 1, '壹': 1, '二': 2, '贰': 2, '两': 2, '三': 3, '叁': 3, '四': 4, '肆': 4, '五': 5, '伍': 5,
	'六': 6, '陆': 6, '七': 7, '柒': 7, '八': 8, '捌': 8, '九': 9, '玖': 9, '十': 10, '拾': 10, '百': 100, '佰': 100, '千': 1000, '仟': 1000, '万': 1e4, '亿': 1e8}

// fromChinese sums up sections that end in 万 or 亿; digits alone, such as 二〇二四, are read one by one.
func fromChinese(text string) (string, bool) {
	if text == "" || utf8.RuneCountInString(text) > 40 {
		return "", false
	}
	digits := ""
	var total, section, digit int64
	for _, r := range text {
		v, ok := chineseValues[r]
		switch {
		case !ok || total > 1e15:
			return "", false
		case v < 10:
			digit = v
			digits += strconv.FormatInt(v, 10)
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
	if utf8.RuneCountInString(text) == len(digits) {
		return digits, true
	}
	return strconv.FormatInt(total+section+digit, 10), true
}
