// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package library

// This file holds truths of the servers of characters, ciphers, comparison, code and templates.

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestUnicodeTruths(t *testing.T) {
	hold(t, []truth{
		{"unicode__inspect", args("text", "é你"), "'é' U+00E9 Ll Latin c3 a9\n'你' U+4F60 Lo Han e4 bd a0"},
		{"unicode__escape", args("text", "a你\n"), `a\u4f60\n`},
		{"unicode__unescape", args("text", `a\u4f60\x41\"`), `a你A"`},
		{"unicode__unescape", args("text", `\q`), "~is not an escape"},
		{"unicode__code_points", args("text", "A你"), "U+0041 (65) U+4F60 (20320)"},
		{"unicode__from_code_points", args("code_points", []string{"U+4F60", "65"}), "你A"},
		{"unicode__from_code_points", args("code_points", []string{"U+D800"}), "~is not a code point"},
		{"unicode__scripts", args("text", "ab你я!"), "Latin: 2\nCommon: 1\nCyrillic: 1\nHan: 1"},
		{"unicode__find_invisible", args("text", "a\u200bb"), "character 2: U+200B Cf"},
		{"unicode__find_invisible", args("text", "a b\n"), "no invisible characters"},
		{"unicode__sizes", args("text", "a😀"), "2 characters: UTF-8 5 bytes, UTF-16 6 bytes (3 units), UTF-32 8 bytes"},
		{"unicode__remove_accents", args("text", "Éclair, Łódź, e\u0301"), "Eclair, Lodz, e"},
	})
}

func TestCipherTruths(t *testing.T) {
	hold(t, []truth{
		{"cipher__rot13", args("text", "Hello, World!"), "Uryyb, Jbeyq!"},
		{"cipher__caesar", args("text", "xyz", "shift", 3), "abc"},
		{"cipher__caesar", args("text", "abc", "shift", -29), "xyz"},
		{"cipher__caesar_break", args("text", "khoor"), "~ 3: hello"},
		{"cipher__atbash", args("text", "Wizard"), "Draziw"},
		{"cipher__vigenere_encrypt", args("text", "ATTACK at dawn", "keyword", "LEMON"), "LXFOPV ef rnhr"},
		{"cipher__vigenere_decrypt", args("text", "LXFOPV ef rnhr", "keyword", "lemon"), "ATTACK at dawn"},
		{"cipher__vigenere_decrypt", args("text", "x", "keyword", "k3y"), "~must be of Latin letters"},
		{"cipher__morse_encode", args("text", "SOS now"), "... --- ... / -. --- .--"},
		{"cipher__morse_decode", args("morse", "... --- ... / -. --- .--"), "SOS NOW"},
		{"cipher__spelling_alphabet", args("text", "Go 1"), "Golf Oscar (space) One"},
	})
}

func TestOnlyTheSamePassphraseDecrypts(t *testing.T) {
	tools, _ := library(t)
	secret := call(t, tools["cipher__aes_encrypt"], args("text", "attack at dawn, 你好", "passphrase", "correct horse"))
	assert.NotContains(t, secret, "attack")
	assert.Equal(t, "attack at dawn, 你好", call(t, tools["cipher__aes_decrypt"], args("text", secret, "passphrase", "correct horse")))
	assert.Contains(t, call(t, tools["cipher__aes_decrypt"], args("text", secret, "passphrase", "wrong horse")), "error: the passphrase is wrong")
}

func TestCompareTruths(t *testing.T) {
	hold(t, []truth{
		{"compare__lines", args("old", "a\nb\nc", "new", "a\nc\nd"), "  a\n- b\n  c\n+ d"},
		{"compare__lines", args("old", "a\n", "new", "a"), "no differences"},
		{"compare__words", args("old", "the red fox", "new", "the fox jumps"), "the [-red-] fox {+jumps+}"},
		{"compare__levenshtein", args("first", "kitten", "second", "sitting"), "3"},
		{"compare__levenshtein", args("first", "北京", "second", "南京"), "1"},
		{"compare__hamming", args("first", "karolin", "second", "kathrin"), "3"},
		{"compare__similarity", args("first", "night", "second", "nacht"), "25%"},
		{"compare__closest", args("word", "recieve", "list", []string{"deceive", "receive", "relieve"}, "count", 2), "relieve (distance 1)\nreceive (distance 2)"},
		{"compare__soundex", args("names", []string{"Robert", "Rupert", "Ashcraft", "Pfister", "Tymczak", "Honeyman"}), "Robert: R163\nRupert: R163\nAshcraft: A261\nPfister: P236\nTymczak: T522\nHoneyman: H555"},
		{"compare__common_prefix", args("first", "interstellar", "second", "internet car"), "beginning: \"inter\"\nend: \"ar\""},
		{"compare__common_substring", args("first", "the banana", "second", "cabana"), "bana"},
		{"compare__anagram", args("first", "Dormitory", "second", "dirty room"), "yes, they are anagrams"},
		{"compare__lists", args("first", []string{"a", "b", "b"}, "second", []string{"b", "c"}), "in both: b\nonly in the first: a\nonly in the second: c"},
	})
}

func TestExtractTruths(t *testing.T) {
	hold(t, []truth{
		{"extract__emails", args("text", "Ask ann@example.org or <bob.b@mail.example.co.uk>."), "ann@example.org\nbob.b@mail.example.co.uk"},
		{"extract__urls", args("text", "See https://a.b/c?d=e, and (http://x.y)."), "https://a.b/c?d=e\nhttp://x.y"},
		{"extract__phone_numbers", args("text", "Call +49 30 1234567 or 13812345678."), "+49 30 1234567\n13812345678"},
		{"extract__numbers", args("text", "3 apples, -2.5 degrees and 1,200 miles"), "3, -2.5, 1200 (sum 1200.5)"},
		{"extract__dates", args("text", "From 2024-02-29 to March 5, 2024, 2024年3月6日 and 2024-13-01"), "2024-02-29\n2024-03-05\n2024-03-06"},
		{"extract__ip_addresses", args("text", "from 10.0.0.1 to fe80::1 at 12:30, 999.1.1.1"), "10.0.0.1\nfe80::1"},
		{"extract__hashtags", args("text", "#go is fun, says @ann #go"), "#go\n@ann"},
		{"extract__prices", args("text", "€ 5.50, 1,200 USD and 30元"), "€ 5.50\n1,200 USD\n30元"},
		{"extract__quoted", args("text", `He said "hi" and “bye”.`), "hi\nbye"},
		{"extract__colors", args("text", "#fff and #12ab9F, not #12"), "#fff\n#12ab9F"},
		{"extract__colors", args("text", "none here"), "none found"},
	})
}

const program = `package p

import (
	"fmt"
	s "strings"
)

// T is documented.
type T struct{ A int }

func (t *T) Get(n int) int {
	if n > 0 && n < 9 {
		return t.A
	}
	return 0
}

// Hi greets.
func Hi() { fmt.Println(s.ToUpper("hi")) }
`

func TestGoTruths(t *testing.T) {
	hold(t, []truth{
		{"go__format", args("source", "package p\nfunc  f( ){\nx:=1\n_=x}"), "package p\n\nfunc f() {\n\tx := 1\n\t_ = x\n}\n"},
		{"go__check_syntax", args("source", program), "no syntax errors"},
		{"go__check_syntax", args("source", "package p\nfunc f( {"), "~line 2, column"},
		{"go__list_functions", args("source", program), "line 11, 6 lines: func (t *T) Get(n int) int\nline 19, 1 line: func Hi()"},
		{"go__list_functions", args("source", "func f() {}"), "line 1, 1 line: func f()"},
		{"go__list_types", args("source", program), "line 9: T struct{ A int }"},
		{"go__list_imports", args("source", program), "fmt\ns strings"},
		{"go__show_function", args("source", program, "name", "Hi"), "// Hi greets.\nfunc Hi() { fmt.Println(s.ToUpper(\"hi\")) }"},
		{"go__show_function", args("source", program, "name", "No"), `error: there is no function "No"; the functions are: T.Get, Hi`},
		{"go__undocumented", args("source", program), "line 11: Get"},
		{"go__complexity", args("source", program), "T.Get: 3\nHi: 1"},
		{"go__find_calls", args("source", program, "name", "ToUpper"), "line 19: s.ToUpper(\"hi\")"},
		{"go__count_tokens", args("source", "package p // c\n\n/* a\nb */\nvar x = 1\n"), "2 lines with code, 3 with comments, 1 blank, 2 identifiers"},
	})
}

func TestTemplateTruths(t *testing.T) {
	hold(t, []truth{
		{"template__render_text", args("template", "{{range .items}}{{.n}};{{end}}", "values", `{"items":[{"n":1},{"n":2}]}`), "1;2;"},
		{"template__render_text", args("template", "{{.missing}}", "values", `{}`), "~error: the template fails"},
		{"template__render_text", args("template", "{{range 1000000000}}{{end}}", "values", `{}`), "~must loop over a value"},
		{"template__render_text", args("template", `{{printf "%999999999d" 1}}`, "values", `{}`), "~printf is not allowed"},
		{"template__render_text", args("template", `{{define "a"}}{{template "a"}}{{end}}{{template "a"}}`, "values", `{}`), "~must not call another"},
		{"template__render_text", args("template", "{{range .a}}{{range .}}{{range .}}{{end}}{{end}}{{end}}", "values", `{"a":[]}`), "~at most 20 loops"},
		{"template__render_html", args("template", `<a title="{{.t}}">{{.t}}</a>`, "values", `{"t":"<\">"}`), "<a title=\"&lt;&#34;&gt;\">&lt;&#34;&gt;</a>"},
		{"template__fill", args("template", "Dear ${name}, you owe {sum}.", "values", `{"name":"Ann","sum":5}`), "Dear Ann, you owe 5."},
		{"template__fill", args("template", "Dear {name}", "values", `{}`), `error: there is no value for "name"; the placeholders are: name`},
		{"template__list_placeholders", args("text", "{a} ${b c} {a}"), "a\nb c"},
		{"template__mail_merge", args("template", "Hi {name}!", "csv", "name\nAnn\nBob"), "--- letter 1 of 2 ---\nHi Ann!\n--- letter 2 of 2 ---\nHi Bob!\n"},
	})
}

func TestCronTruths(t *testing.T) {
	hold(t, []truth{
		{"cron__describe", args("schedule", "30 6 * * 1-5"), "at 06:30, on Monday, Tuesday, Wednesday, Thursday, Friday"},
		{"cron__describe", args("schedule", "*/15 * 1 jan *"), "every 15 minutes of every hour, on day 1 of the month, in January"},
		{"cron__describe", args("schedule", "@daily"), "at 00:00, every day"},
		{"cron__describe", args("schedule", "61 * * * *"), `error: "61 * * * *" is not a schedule: end of range (61) above maximum (59): 61`},
		{"cron__next_runs", args("schedule", "0 9 29 2 *", "from", "2024-03-01", "count", 1), "2028-02-29 09:00 (Tuesday)"},
		{"cron__next_runs", args("schedule", "0,30 8 * * 7", "from", "2024-06-01 00:00", "count", 3), "2024-06-02 08:00 (Sunday)\n2024-06-02 08:30 (Sunday)\n2024-06-09 08:00 (Sunday)"},
		{"cron__next_runs", args("schedule", "0 0 13 * 5", "from", "2024-09-01", "count", 2), "2024-09-06 00:00 (Friday)\n2024-09-13 00:00 (Friday)"},
		{"cron__next_runs", args("schedule", "0 0 31 2 *"), "no further time within five years"},
		{"cron__describe", args("schedule", "0 9 * * 5-7"), "at 09:00, on Sunday, Friday, Saturday"},
		{"cron__describe", args("schedule", "@every 5m"), `error: "@every 5m" has 2 fields; a schedule has 5: minute, hour, day of month, month, day of week`},
		{"cron__matches", args("schedule", "30 6 * * 1-5", "time", "2024-06-03 06:30"), "yes, the schedule fires at that time"},
		{"cron__matches", args("schedule", "30 6 * * 1-5", "time", "2024-06-02 06:30"), "no, the schedule does not fire at that time"},
		{"cron__build", args("clock", "06:05", "weekdays", "Mon-Fri"), "5 6 * * mon-fri"},
	})
}

func TestVersionTruths(t *testing.T) {
	hold(t, []truth{
		{"version__parse", args("version", "v1.4.2-rc.1+b7"), "major 1, minor 4, patch 2, pre-release rc.1, build b7"},
		{"version__compare", args("first", "1.10.0", "second", "1.9.9"), "1.10.0 is newer than 1.9.9"},
		{"version__compare", args("first", "1.0.0-rc.2", "second", "1.0.0"), "1.0.0 is newer than 1.0.0-rc.2"},
		{"version__compare", args("first", "1.0.0+a", "second", "1.0.0+b"), "both are the same version"},
		{"version__bump", args("version", "v1.4.2", "part", "minor"), "v1.5.0"},
		{"version__bump", args("version", "2.0.0-rc.1", "part", "major"), "2.0.0"},
		{"version__sort", args("versions", []string{"1.0.0", "1.0.0-alpha.10", "1.0.0-alpha.9", "0.9"}), "0.9\n1.0.0-alpha.9\n1.0.0-alpha.10\n1.0.0"},
		{"version__satisfies", args("version", "1.9.0", "constraint", "^1.2.0"), "yes, 1.9.0 satisfies ^1.2.0"},
		{"version__satisfies", args("version", "0.3.0", "constraint", "^0.2.1"), "no, 0.3.0 does not satisfy ^0.2.1"},
		{"version__satisfies", args("version", "1.5.0", "constraint", "~1.4 || >= 1.5.0 < 2"), "yes, 1.5.0 satisfies ~1.4 || >= 1.5.0 < 2"},
		{"version__latest", args("versions", []string{"1.2.0", "2.0.0", "1.10.1"}, "constraint", "^1.0.0"), "1.10.1"},
		{"version__latest", args("versions", []string{"1.2.0", "2.0.0"}), "2.0.0"},
	})
}

func TestChinaTruths(t *testing.T) {
	hold(t, []truth{
		{"china__weekday", args("date", "2024年10月1日"), "2024年10月1日是星期二"},
		{"china__days_between", args("start", "2024-01-01", "end", "2024-12-31"), "相差365天"},
		{"china__format_date", args("date", "2024-12-20"), "二〇二四年十二月二十日"},
		{"china__format_date", args("date", "2010-01-01"), "二〇一〇年一月一日"},
		{"china__zodiac_animal", args("year", 2024), "2024年属龙,春节以前出生的属兔"},
		{"china__ganzhi_year", args("year", 1984), "1984年是甲子年"},
		{"china__ganzhi_year", args("year", 1), "1年是辛酉年"},
		{"china__constellation", args("month", 3, "day", 21), "白羊座"},
		{"china__constellation", args("month", 12, "day", 25), "摩羯座"},
		{"china__constellation", args("month", 2, "day", 30), "error: 2月没有30日"},
		{"china__shichen", args("hour", 23), "23点是子时(23:00到01:00)"},
		{"china__shichen", args("hour", 12), "12点是午时(11:00到13:00)"},
		{"china__age", args("birthdate", "2000-10-01", "on", "2024-09-30"), "周岁23岁,虚岁25岁(按公历年计)"},
		{"china__check_id_card", args("id_card", "11010519491231002X"), "校验码正确"},
		{"china__check_id_card", args("id_card", "110105194912310021"), "校验码不正确,号码有误"},
		{"china__id_card_info", args("id_card", "11010519491231002x"), "省份:北京市,出生日期:1949年12月31日,性别:女"},
		{"china__check_mobile", args("mobile", "138 1234 5678"), "格式正确,号段属于中国移动"},
		{"china__check_mobile", args("mobile", "12345"), "~不是有效的手机号码"},
		{"china__check_credit_code", args("code", "91350100M000100Y43"), "校验码正确"},
		{"china__check_credit_code", args("code", "91350100M000100Y44"), "校验码不正确"},
		{"china__mask_private", args("text", "13812345678"), "138****5678"},
		{"china__mask_private", args("text", "王小明"), "王*明"},
		{"china__plate_province", args("plate", "粤B12345"), "粤是广东省的车牌"},
		{"china__plate_province", args("plate", ""), "~不是省份简称"},
		{"china__income_tax", args("income", 200000, "deductions", 30000), "应纳税所得额110,000.00元,全年个人所得税8,480.00元"},
	})
}

func TestTheChineseServersSpeakChinese(t *testing.T) {
	n := 0
	for _, s := range Servers(t.TempDir()) {
		if s.Name == "hanzi" || s.Name == "china" {
			for _, tl := range s.Tools {
				info, _ := tl.Info(t.Context())
				assert.True(t, strings.ContainsFunc(info.Desc, isHan), info.Name)
				n++
			}
		}
	}
	assert.Equal(t, 27, n)
}
