// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package library

// This file is the server of Chinese text and numerals. It speaks Chinese.

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

var hanziServer = group{"hanzi", "中文文字与数字", []maker{
	define("hanzi__count_characters", "统计一段文字的字数:汉字、标点、字母、数字各有多少个。", func(in hanziIn) (string, error) {
		var han, punct, letters, digits, all int
		for _, r := range in.Text {
			all++
			switch {
			case isHan(r):
				han++
			case unicode.IsPunct(r) || unicode.IsSymbol(r):
				punct++
			case unicode.IsDigit(r):
				digits++
			case unicode.IsLetter(r):
				letters++
			}
		}
		return fmt.Sprintf("共%d个字符:汉字%d个,标点%d个,字母%d个,数字%d个", all, han, punct, letters, digits), nil
	}),
	define("hanzi__character_frequency", "统计一段文字里每个汉字出现的次数,按次数从高到低排列。",
		func(in hanziIn) (string, error) {
			counts := map[string]int{}
			for _, r := range in.Text {
				if isHan(r) {
					counts[string(r)]++
				}
			}
			return either(len(counts) == 0, "文字里没有汉字", ranked(counts, 50)), nil
		}),
	define("hanzi__to_fullwidth", "把半角字符(字母、数字、标点、空格)转换成全角字符。", func(in hanziIn) (string, error) {
		return strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '\u3000'
			case r > ' ' && r <= '~':
				return r + 0xFEE0
			}
			return r
		}, in.Text), nil
	}),
	define("hanzi__to_halfwidth", "把全角字符(字母、数字、标点、空格)转换成半角字符。",
		func(in hanziIn) (string, error) { return halfWidth(in.Text), nil }),
	define("hanzi__number_to_chinese", "把阿拉伯数字写成中文小写数字,例如 1024 写成一千零二十四。", func(in struct {
		Number float64 `json:"number" jsonschema:"minimum=-999999999999999,maximum=999999999999999" jsonschema_description:"要转换的数字,整数部分最多十五位"`
	}) (string, error) {
		whole, fraction, _ := strings.Cut(strconv.FormatFloat(math.Abs(in.Number), 'f', -1, 64), ".")
		n, err := strconv.ParseInt(whole, 10, 64)
		if err != nil {
			return "", errors.New("数字太大")
		}
		out := numeral(n, lowerDigits, []string{"", "十", "百", "千"})
		out = strings.Replace("^"+out, "^一十", "^十", 1)[1:]
		if in.Number < 0 {
			out = "负" + out
		}
		if fraction != "" {
			out += "点"
			for _, d := range fraction {
				out += string(lowerDigits[d-'0'])
			}
		}
		return out, nil
	}),
	define("hanzi__chinese_to_number", "把中文数字(小写或大写)换算成阿拉伯数字,例如三万零五十换算成 30050。", hanziToNumber),
	define("hanzi__rmb_capital", "把金额写成人民币大写,例如 1024.5 写成壹仟零贰拾肆元伍角整。", func(in struct {
		Amount float64 `json:"amount" jsonschema:"minimum=-999999999999,maximum=999999999999" jsonschema_description:"金额,单位是元,最多两位小数"`
	}) (string, error) {
		fen := int64(math.Round(math.Abs(in.Amount) * 100))
		yuan, jiao, cent := fen/100, fen/10%10, fen%10
		out := ""
		if yuan > 0 || fen == 0 {
			out = numeral(yuan, capitalDigits, []string{"", "拾", "佰", "仟"}) + "元"
		}
		switch {
		case jiao > 0:
			out += string(capitalDigits[jiao]) + "角"
		case cent > 0 && yuan > 0:
			out += "零"
		}
		out += either(cent > 0, string(capitalDigits[cent])+"分", "整")
		return either(in.Amount < 0 && fen > 0, "负", "") + out, nil
	}),
	define("hanzi__convert_punctuation", "把一段文字里的英文标点换成中文标点,或者反过来。", func(in struct {
		hanziIn
		To string `json:"to,omitempty" jsonschema:"enum=chinese,enum=english,default=chinese" jsonschema_description:"换成中文标点(chinese)还是英文标点(english)"`
	}) (string, error) {
		english, chinese := []rune(",.?!:;()"), []rune("，。？！：；（）")
		from, to := either(in.To == "english", chinese, english), either(in.To == "english", english, chinese)
		return strings.Map(func(r rune) rune {
			if at := slices.Index(from, r); at >= 0 {
				return to[at]
			}
			return r
		}, in.Text), nil
	}),
	define("hanzi__split_sentences", "把一段中文按句号、问号、感叹号等断成一句一行。", func(in hanziIn) (string, error) {
		out := each(sentenceEnd.FindAllString(in.Text, -1), strings.TrimSpace)
		return strings.Join(slices.DeleteFunc(out, func(s string) bool { return s == "" }), "\n"), nil
	}),
	define("hanzi__extract", "只取出一段文字里的汉字,去掉其他字符。", func(in hanziIn) (string, error) {
		return strings.Map(func(r rune) rune { return either(isHan(r), r, -1) }, in.Text), nil
	}),
	define("hanzi__reverse", "把一段中文文字倒过来排列。",
		func(in hanziIn) (string, error) { return reversed(in.Text), nil }),
	define("hanzi__vertical_layout", "把一段文字排成从右到左的竖排版式,每列的字数可以指定。", func(in struct {
		hanziIn
		Height int `json:"height,omitempty" jsonschema:"default=8,minimum=1,maximum=100" jsonschema_description:"每列的字数"`
	}) (string, error) {
		text := []rune(strings.ReplaceAll(in.Text, "\n", ""))
		if len(text) == 0 || len(text) > 5000 {
			return "", fmt.Errorf("文字要有一到五千个字,现在有%d个", len(text))
		}
		columns := (len(text) + in.Height - 1) / in.Height
		var out []string
		for row := range min(in.Height, len(text)) {
			line := make([]rune, columns)
			for c := range columns {
				line[columns-1-c] = '\u3000'
				if at := c*in.Height + row; at < len(text) {
					line[columns-1-c] = text[at]
				}
			}
			out = append(out, string(line))
		}
		return strings.Join(out, "\n"), nil
	}),
}}

type hanziIn struct {
	Text string `json:"text" jsonschema_description:"要处理的文字"`
}

func isHan(r rune) bool { return unicode.Is(unicode.Han, r) }

func halfWidth(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\u3000':
			return ' '
		case r >= '！' && r <= '～':
			return r - 0xFEE0
		}
		return r
	}, text)
}

func hanziToNumber(in hanziIn) (string, error) {
	text := strings.TrimSpace(in.Text)
	positive := strings.TrimPrefix(text, "负")
	whole, fraction, hasFraction := strings.Cut(positive, "点")
	out, err := wholeNumeral(whole)
	if err != nil || whole == "" || (hasFraction && fraction == "") {
		return "", fmt.Errorf("“%s”不是能识别的中文数字,例如:三万零五十", in.Text)
	}
	if hasFraction {
		out += "."
		for _, r := range fraction {
			d, ok := numeralValues[r]
			if !ok || d > 9 {
				return "", fmt.Errorf("“%s”的小数部分有不能识别的字“%c”", in.Text, r)
			}
			out += strconv.FormatInt(d, 10)
		}
	}
	if positive != text {
		out = "-" + out
	}
	return out, nil
}

var sentenceEnd = regexp.MustCompile(`[^。！？!?；;\n]+[。！？!?；;]*[”』」）]*`)

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
