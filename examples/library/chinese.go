// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package library

// This file is the servers of Chinese text and numerals and of daily life in China. It speaks Chinese.

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
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
		return strings.Join(nonEmpty(out), "\n"), nil
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
	digits := strings.Map(func(r rune) rune {
		v, ok := numeralValues[r]
		return either(ok, '0'+rune(v), -1)
	}, text)
	if utf8.RuneCountInString(text) != len(digits) {
		return "", errors.New("not a numeral")
	}
	return digits, nil
}

var chinaServer = group{"china", "中国日期、证件与生活", []maker{
	define("china__weekday", "查询某个日期(例如国庆节那天)是星期几。", func(in chinaDateIn) (string, error) {
		return in.Date.Format("2006年1月2日") + "是星期" + string(chinaWeekdays[in.Date.Weekday()]), nil
	}),
	define("china__days_between", "计算两个日期之间相差多少天。", func(in struct {
		Start localDate `json:"start" jsonschema_description:"开始日期,格式是 YYYY-MM-DD"`
		End   localDate `json:"end" jsonschema_description:"结束日期,格式是 YYYY-MM-DD"`
	}) (string, error) {
		n := daysBetween(in.Start.date, in.End.date)
		return either(n < 0, fmt.Sprintf("相差%d天,第二个日期更早", -n), fmt.Sprintf("相差%d天", n)), nil
	}),
	define("china__format_date", "把日期写成中文大写形式,例如二〇二四年二月二十九日。", func(in chinaDateIn) (string, error) {
		year := ""
		for _, d := range in.Date.Format("2006") {
			year += string([]rune("〇一二三四五六七八九")[d-'0'])
		}
		return year + "年" + smallNumeral(int(in.Date.Month())) + "月" + smallNumeral(in.Date.Day()) + "日", nil
	}),
	define("china__zodiac_animal", "查询某一年的生肖属相,按农历年对应的公历年份。", func(in chinaYearIn) (string, error) {
		return fmt.Sprintf("%d年属%s,春节以前出生的属%s", in.Year, turn(animals, in.Year), turn(animals, in.Year-1)), nil
	}),
	define("china__ganzhi_year", "查询某一年的天干地支,例如 2024 年是甲辰年。", func(in chinaYearIn) (string, error) {
		return fmt.Sprintf("%d年是%s%s年", in.Year, turn(stems, in.Year), turn(branches, in.Year)), nil
	}),
	define("china__constellation", "根据生日的月份和日期查询星座。", func(in struct {
		Month int `json:"month" jsonschema:"minimum=1,maximum=12" jsonschema_description:"出生的月份"`
		Day   int `json:"day" jsonschema:"minimum=1,maximum=31" jsonschema_description:"出生的日期"`
	}) (string, error) {
		if time.Date(2024, time.Month(in.Month), in.Day, 0, 0, 0, 0, time.UTC).Day() != in.Day {
			return "", fmt.Errorf("%d月没有%d日", in.Month, in.Day)
		}
		starts := []int{20, 19, 21, 20, 21, 22, 23, 23, 23, 24, 23, 22} // the first day of the later sign in each month
		names := strings.Fields("摩羯座 水瓶座 双鱼座 白羊座 金牛座 双子座 巨蟹座 狮子座 处女座 天秤座 天蝎座 射手座 摩羯座")
		return either(in.Day < starts[in.Month-1], names[in.Month-1], names[in.Month]), nil
	}),
	define("china__shichen", "把钟点换算成传统时辰,例如 23 点到 1 点是子时。", func(in struct {
		Hour int `json:"hour" jsonschema:"minimum=0,maximum=23" jsonschema_description:"钟点,从 0 到 23"`
	}) (string, error) {
		i := (in.Hour + 1) / 2 % 12
		return fmt.Sprintf("%d点是%s时(%02d:00到%02d:00)", in.Hour, string([]rune(branches)[i]), (i*2+23)%24, (i*2+1)%24), nil
	}),
	define("china__age", "根据出生日期计算周岁和虚岁。", func(in struct {
		Birthdate localDate `json:"birthdate" jsonschema_description:"出生日期,格式是 YYYY-MM-DD"`
		On        localDate `json:"on,omitempty" jsonschema:"default=today" jsonschema_description:"计算到哪一天为止,默认今天"`
	}) (string, error) {
		born, on := in.Birthdate, in.On
		if on.Before(born.Time) {
			return "", errors.New("截止日期早于出生日期")
		}
		age := on.Year() - born.Year()
		if on.Format("0102") < born.Format("0102") {
			age--
		}
		return fmt.Sprintf("周岁%d岁,虚岁%d岁(按公历年计)", age, on.Year()-born.Year()+1), nil
	}),
	define("china__check_id_card", "校验十八位居民身份证号码的校验码是否正确。", func(in idCardIn) (string, error) {
		number, valid, err := in.parse()
		switch {
		case err != nil:
			return "", err
		case !valid:
			return "校验码不正确,号码有误", nil
		}
		_, err = time.Parse("20060102", number[6:14])
		return either(err == nil, "校验码正确", "校验码正确,但是出生日期不存在"), nil
	}),
	define("china__id_card_info", "从身份证号码读出省份、出生日期和性别。", func(in idCardIn) (string, error) {
		number, valid, err := in.parse()
		if err != nil {
			return "", err
		}
		born, err := time.Parse("20060102", number[6:14])
		if err != nil || !valid {
			return "", fmt.Errorf("“%s”的校验码或出生日期不正确", in.IDCard)
		}
		gender := either((number[16]-'0')%2 == 1, "男", "女")
		return fmt.Sprintf("省份:%s,出生日期:%s,性别:%s", cmp.Or(provinces[number[:2]], "未知"), born.Format("2006年1月2日"), gender), nil
	}),
	define("china__check_mobile", "检查手机号码的格式,并说明号段属于哪家运营商。", func(in struct {
		Mobile string `json:"mobile" jsonschema_description:"十一位手机号码"`
	}) (string, error) {
		number := strings.TrimPrefix(strings.NewReplacer(" ", "", "-", "").Replace(in.Mobile), "+86")
		if !mobileForm.MatchString(number) {
			return "不是有效的手机号码:应当是1开头的十一位数字", nil
		}
		for carrier, prefixes := range mobileCarriers {
			if strings.Contains(prefixes, " "+number[:3]+" ") {
				return "格式正确,号段属于" + carrier, nil
			}
		}
		return "格式正确,号段属于其他运营商", nil
	}),
	define("china__check_credit_code", "校验企业的统一社会信用代码是否正确。", func(in struct {
		Code string `json:"code" jsonschema_description:"十八位统一社会信用代码"`
	}) (string, error) {
		code := strings.ToUpper(strings.TrimSpace(in.Code))
		if len(code) != 18 || strings.Trim(code, creditSigns) != "" {
			return "", fmt.Errorf("“%s”不是十八位统一社会信用代码", in.Code)
		}
		total, weight := 0, 1
		for i := range 17 {
			total += strings.IndexByte(creditSigns, code[i]) * weight
			weight = weight * 3 % 31
		}
		return either(creditSigns[(31-total%31)%31] == code[17], "校验码正确", "校验码不正确"), nil
	}),
	define("china__mask_private", "给手机号、身份证号或姓名打码,隐藏中间的部分。", func(in hanziIn) (string, error) {
		text := []rune(strings.TrimSpace(in.Text))
		keepHead, keepTail := 1, 0
		switch {
		case len(text) < 2 || len(text) > 64:
			return "", fmt.Errorf("要打码的文字应当有2到64个字,现在有%d个", len(text))
		case len(text) >= 15:
			keepHead, keepTail = 6, 4
		case len(text) >= 11:
			keepHead, keepTail = 3, 4
		case len(text) > 2:
			keepTail = 1
		}
		for i := keepHead; i < len(text)-keepTail; i++ {
			text[i] = '*'
		}
		return string(text), nil
	}),
	define("china__plate_province", "根据车牌号的第一个字查询车牌属于哪个省份。", func(in struct {
		Plate string `json:"plate" jsonschema_description:"车牌号,例如京A12345,也可以只写第一个字"`
	}) (string, error) {
		_, size := utf8.DecodeRuneInString(strings.TrimSpace(in.Plate))
		first := strings.TrimSpace(in.Plate)[:size]
		if province, ok := plates[first]; ok {
			return first + "是" + province + "的车牌", nil
		}
		return "", fmt.Errorf("“%s”的第一个字不是省份简称", in.Plate)
	}),
	define("china__income_tax", "按综合所得税率表计算全年个人所得税。", func(in struct {
		Income     float64 `json:"income" jsonschema:"minimum=0,maximum=1000000000" jsonschema_description:"全年收入,单位是元"`
		Deductions float64 `json:"deductions,omitempty" jsonschema:"minimum=0,maximum=1000000000" jsonschema_description:"六万元起征点以外的扣除,例如社保和专项附加扣除,单位是元"`
	}) (string, error) {
		taxable := max(0, in.Income-60000-in.Deductions)
		rate, quick := 0.45, 181920.0
		for _, step := range []struct{ upTo, rate, quick float64 }{{36000, 0.03, 0}, {144000, 0.10, 2520}, {300000, 0.20, 16920}, {420000, 0.25, 31920}, {660000, 0.30, 52920}, {960000, 0.35, 85920}} {
			if taxable <= step.upTo {
				rate, quick = step.rate, step.quick
				break
			}
		}
		return amounts("应纳税所得额%s元,全年个人所得税%s元", taxable, max(0, taxable*rate-quick))
	}),
}}

type chinaDateIn struct {
	Date localDate `json:"date" jsonschema_description:"日期,格式是 YYYY-MM-DD 或 2024年2月29日"`
}

// localDate is a date whose errors are in Chinese.
type localDate struct{ date }

// UnmarshalJSON reads the date.
func (d *localDate) UnmarshalJSON(sent []byte) error {
	return decodeText(sent, &d.written, &d.Time, func(text string) (time.Time, error) {
		t, err := parseDate(text)
		if err != nil {
			err = fmt.Errorf("“%s”不是日期,请写成 2024-02-29 或 2024年2月29日", text)
		}
		return t, err
	})
}

var chinaWeekdays = []rune("日一二三四五六")

// smallNumeral writes 1 to 99 as people say it: 十二, not 一十二.
func smallNumeral(n int) string {
	return strings.TrimPrefix("^"+numeral(int64(n), lowerDigits, []string{"", "十", "百", "千"}), map[bool]string{true: "^一", false: "^"}[n >= 10 && n < 20])
}

type chinaYearIn struct {
	Year int `json:"year" jsonschema:"minimum=1,maximum=9999" jsonschema_description:"公历年份,例如 2024"`
}

const (
	stems    = "甲乙丙丁戊己庚辛壬癸"
	branches = "子丑寅卯辰巳午未申酉戌亥"
	animals  = "鼠牛虎兔龙蛇马羊猴鸡狗猪"
)

// turn gives the sign of a cycle that began in the year 4.
func turn(cycle string, year int) string {
	signs := []rune(cycle)
	return string(signs[((year-4)%len(signs)+len(signs))%len(signs)])
}

var mobileForm = regexp.MustCompile(`^1[3-9]\d{9}$`)

// mobileCarriers lists the first three digits of each carrier.
var mobileCarriers = map[string]string{
	"中国移动": " 134 135 136 137 138 139 147 148 150 151 152 157 158 159 172 178 182 183 184 187 188 195 197 198 ",
	"中国联通": " 130 131 132 145 146 155 156 166 175 176 185 186 196 ",
	"中国电信": " 133 149 153 173 177 180 181 189 190 191 193 199 ",
	"中国广电": " 192 ",
}

var plates = pairs(`京=北京市 津=天津市 沪=上海市 渝=重庆市 冀=河北省 豫=河南省 云=云南省 辽=辽宁省 黑=黑龙江省 湘=湖南省 皖=安徽省 鲁=山东省 新=新疆维吾尔自治区
苏=江苏省 浙=浙江省 赣=江西省 鄂=湖北省 桂=广西壮族自治区 甘=甘肃省 晋=山西省 蒙=内蒙古自治区 陕=陕西省 吉=吉林省 闽=福建省 贵=贵州省 粤=广东省 青=青海省
藏=西藏自治区 川=四川省 宁=宁夏回族自治区 琼=海南省`)

type idCardIn struct {
	IDCard string `json:"id_card" jsonschema_description:"十八位身份证号码"`
}

var idCardForm = regexp.MustCompile(`^\d{17}[\dX]$`)

// parse checks the form; the check digit follows ISO 7064 MOD 11-2.
func (in idCardIn) parse() (number string, valid bool, err error) {
	number = strings.ToUpper(strings.TrimSpace(in.IDCard))
	if !idCardForm.MatchString(number) {
		return "", false, fmt.Errorf("“%s”不是十八位身份证号码", in.IDCard)
	}
	total, weight := 0, 1
	for i := 16; i >= 0; i-- {
		weight = weight * 2 % 11
		total += int(number[i]-'0') * weight
	}
	return number, "10X98765432"[total%11] == number[17], nil
}

var provinces = pairs(`11=北京市 12=天津市 13=河北省 14=山西省 15=内蒙古自治区 21=辽宁省 22=吉林省 23=黑龙江省 31=上海市 32=江苏省 33=浙江省 34=安徽省 35=福建省
36=江西省 37=山东省 41=河南省 42=湖北省 43=湖南省 44=广东省 45=广西壮族自治区 46=海南省 50=重庆市 51=四川省 52=贵州省 53=云南省 54=西藏自治区 61=陕西省 62=甘肃省
63=青海省 64=宁夏回族自治区 65=新疆维吾尔自治区 71=台湾省 81=香港特别行政区 82=澳门特别行政区`)

const creditSigns = "0123456789ABCDEFGHJKLMNPQRTUWXY"
