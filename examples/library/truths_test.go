// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package library

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
)

const shop = `{"shop":{"name":"Bücher","items":[{"id":1,"price":9.50},{"id":2,"price":12}]},"open":true}`

func TestToolsThatWorkAnswerWhatIsTrue(t *testing.T) {
	hold(t, []truth{
		{"calendar__add_days", args("date", "2024-01-31", "months", 1), "2024-02-29 (Thursday)"},
		{"calendar__add_days", args("date", "March 1, 2024", "days", -1), "2024-02-29 (Thursday)"},
		{"calendar__add_days", args("date", "2024-02-29", "years", 1, "weeks", 1), "2025-03-07 (Friday)"},
		{"calendar__days_between", `{"end":"soon","start":"2024-01-01"}`, `error: "soon" is not a date; write it as YYYY-MM-DD, such as 2024-02-29`},
		{"calendar__days_between", args("start", "2024-02-01", "end", "2024-03-01"), "29 days (4 weeks and 1 day)"},
		{"calendar__days_between", args("start", "0001-01-01", "end", "9999-12-31"), "~3652058 days"},
		{"calendar__is_leap_year", args("year", 1900), "no, it has 365 days; the leap years next to it are 1896 and 1904"},
		{"calendar__is_leap_year", args("year", 2000), "~yes"},
		{"calendar__weekday", args("date", "1969-07-20"), "1969-07-20 is a Sunday"},
		{"calendar__weekday", args("date", "2023-02-29"), `error: "2023-02-29" is not a date; write it as YYYY-MM-DD, such as 2024-02-29`},
		{"case__snake", args("name", "parseHTTPResponse code"), "parse_http_response_code"},
		{"case__upper", args("text", "straße"), "STRASSE"},
		{"china__weekday", args("date", "2024年10月1日"), "2024年10月1日是星期二"},
		{"china__zodiac_animal", args("year", 2024), "2024年属龙,春节以前出生的属兔"},
		{"compare__levenshtein", args("first", "kitten", "second", "sitting"), "3"},
		{"compare__levenshtein", args("first", "北京", "second", "南京"), "1"},
		{"compare__lists", args("first", []string{"a", "b", "b"}, "second", []string{"b", "c"}), "in both: b\nonly in the first: a\nonly in the second: c"},
		{"csv__to_json", args("csv", "a,b\n1,2"), "[\n  {\n    \"a\": \"1\",\n    \"b\": \"2\"\n  }\n]"},
		{"csv__to_markdown", args("csv", "a,b\n1,x|y"), "| a | b |\n| --- | --- |\n| 1 | x\\|y |"},
		{"encoding__base64_encode", `{"text":"hello"}`, "aGVsbG8="},
		{"encoding__base64_encode", `{"text":"??>","url_safe":true}`, "Pz8-"},
		{"files__count", args("path", "a.txt"), "3 lines, 3 words, 17 characters, 17 bytes"},
		{"files__hash", args("path", "docs/b.txt", "algorithm", "crc32"), digest("crc32", "beta again\n")},
		{"files__read", args("path", "a.txt"), "alpha\nbeta\ngamma\n"},
		{"files__read", args("path", "/docs/b.txt"), "beta again\n"},
		{"files__read", args("path", "none.txt"), `error: there is no "none.txt"; folder__list and folder__find show what there is`},
		{"files__read", args("path", "docs"), `error: "docs" is no file but a folder`},
		{"files__read_lines", args("path", "a.txt", "start_line", 2, "count", 1), "2: beta\n"},
		{"files__read_lines", args("path", "a.txt", "start_line", 9), `error: "a.txt" has 3 lines`},
		{"files__stat", args("path", "a.txt"), "~type: file\nsize: 17 bytes"},
		{"files__tail", args("path", "a.txt", "count", 1), "gamma"},
		{"folder__find", args("pattern", "*.TXT"), "a.txt\ndocs/b.txt"},
		{"folder__largest_files", args("count", 1), "17 a.txt"},
		{"folder__list", args(), "a.txt (17 bytes)\ndocs/"},
		{"folder__list", args("path", "docs"), "b.txt (11 bytes)\nc.csv (8 bytes)"},
		{"folder__search_text", args("text", "beta"), "a.txt:2: beta\ndocs/b.txt:1: beta again"},
		{"folder__search_text", args("text", "BETA", "path", "docs", "ignore_case", true), "docs/b.txt:1: beta again"},
		{"folder__search_text", args("text", "nowhere"), "no file contains it"},
		{"folder__tree", args(), "a.txt\ndocs/\n  b.txt\n  c.csv\n"},
		{"folder__tree", args("depth", 1), "a.txt\ndocs/\n"},
		{"geometry__circle", args("radius", 2), "circumference 12.5663706144, area 12.5663706144, diameter 4"},
		{"hanzi__chinese_to_number", `{"text":"三万零五十"}`, "30050"},
		{"hanzi__chinese_to_number", `{"text":"十二万三千四百五十亿"}`, "12345000000000"},
		{"hanzi__chinese_to_number", `{"text":"二〇二四"}`, "2024"},
		{"hanzi__chinese_to_number", `{"text":"你好"}`, "~不是能识别的中文数字"},
		{"hanzi__count_characters", `{"text":"你好,world 123!"}`, "共13个字符:汉字2个,标点2个,字母5个,数字3个"},
		{"hanzi__number_to_chinese", `{"number":1024}`, "一千零二十四"},
		{"hanzi__number_to_chinese", `{"number":10}`, "十"},
		{"hanzi__number_to_chinese", `{"number":-110000.05}`, "负十一万点零五"},
		{"hanzi__number_to_chinese", `{"number":100001000}`, "一亿零一千"},
		{"hanzi__number_to_chinese", `{"number":101000}`, "十万一千"},
		{"hanzi__number_to_chinese", `{"number":123456789012}`, "一千二百三十四亿五千六百七十八万九千零一十二"},
		{"hanzi__number_to_chinese", `{"number":12345000000000}`, "十二万三千四百五十亿"},
		{"hanzi__number_to_chinese", `{"number":1000000000000}`, "一万亿"},
		{"hash__crc32", `{"text":"123456789"}`, "cbf43926"},
		{"hash__md5", `{"text":""}`, "d41d8cd98f00b204e9800998ecf8427e"},
		{"hash__sha1", `{"text":"abc"}`, "a9993e364706816aba3e25717850c26c9cd0d89d"},
		{"hash__sha256", `{"text":"abc"}`, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
		{"hash__sha512", `{"text":"abc"}`, "~ddaf35a193617abacc417349ae20413112e6fa4e89a97ea2"},
		{"json__diff", args("first", `{"a":1,"b":2}`, "second", `{"a":1,"b":3,"c":[0]}`), "~ b: 2 -> 3\n+ c[0]: 0"},
		{"json__diff", args("first", `{"a":[]}`, "second", `{ "a": [] }`), "no differences"},
		{"json__get", args("json", shop, "path", "shop.items[0].price"), "9.50"},
		{"json__get", args("json", shop, "path", "$.shop.name"), "Bücher"},
		{"json__get", args("json", shop, "path", "shop.owner"), `error: there is no key "owner"; the keys are: items, name`},
		{"json__get", args("json", shop, "path", "$..price"), "[\n  9.50,\n  12\n]"},
		{"json__get", args("json", `[true]`, "path", "."), "[\n  true\n]"},
		{"math__multiply", args("numbers", []float64{2, 3, 7}), "42"},
		{"math__percent_of", args("percent", 15, "number", 80), "12"},
		{"network__cidr_info", args("network", "192.168.1.77/26"), "network: 192.168.1.64/26\nfirst: 192.168.1.64\nlast: 192.168.1.127\naddresses: 64\nmask: 255.255.255.192\nusable hosts: 62"},
		{"network__cidr_info", args("network", "::/0"), "~addresses: 340282366920938463463374607431768211456"},
		{"number__binomial", `{"n":49,"k":6}`, "13983816"},
		{"number__factorial", `{"n":20}`, "2432902008176640000"},
		{"number__factorial", `{"n":0}`, "1"},
		{"number__greatest_common_divisor", `{"numbers":[84,36,120]}`, "12"},
		{"number__to_roman", `{"number":1994}`, "MCMXCIV"},
		{"number__to_words", `{"number":1000042}`, "one million forty-two"},
		{"number__to_words", `{"number":-115}`, "minus one hundred fifteen"},
		{"statistics__median", `{"numbers":[3,1,2,10]}`, "2.5"},
		{"text__reverse", `{"text":"añb"}`, "bña"},
		{"text__reverse", `{"text":"one two","by":"words"}`, "two one"},
		{"time__convert_zone", `{"time":"2024-07-01 09:00","from_zone":"Tokyo","to_zone":"Europe/Berlin"}`, "2024-07-01 09:00:00 JST (Monday) is 2024-07-01 02:00:00 CEST (Monday)"},
		{"time__convert_zone", `{"time":"2024-01-01 3:30 pm","from_zone":"New York","to_zone":"+08:00"}`, "2024-01-01 15:30:00 EST (Monday) is 2024-01-02 04:30:00 +08:00 (Tuesday)"},
		{"time__convert_zone", `{"time":"2024-01-01 09:00","from_zone":"Atlantis","to_zone":"UTC"}`, `~"Atlantis" is not a time zone`},
		{"units__convert_angle", `{"value":180,"from_unit":"degrees","to_unit":"radians"}`, "180 degrees = 3.14159265359 radians"},
		{"units__convert_area", `{"value":15,"from_unit":"mu","to_unit":"ha"}`, "15 mu = 1 ha"},
		{"units__convert_data_size", `{"value":1,"from_unit":"GiB","to_unit":"MB"}`, "1 GiB = 1073.741824 MB"},
		{"units__convert_duration", `{"value":2,"from_unit":"weeks","to_unit":"hours"}`, "2 weeks = 336 hours"},
		{"units__convert_energy", `{"value":1,"from_unit":"kWh","to_unit":"MJ"}`, "1 kWh = 3.6 MJ"},
		{"units__convert_length", `{"value":26.2,"from_unit":"miles","to_unit":"km"}`, "26.2 miles = 42.1648128 km"},
		{"units__convert_length", `{"value":6,"from_unit":"feet","to_unit":"inches"}`, "6 feet = 72 inches"},
		{"units__convert_length", `{"value":1,"from_unit":"parrot","to_unit":"m"}`, "~not a known unit of length"},
		{"units__convert_mass", `{"value":1,"from_unit":"lb","to_unit":"kg"}`, "1 lb = 0.45359237 kg"},
		{"units__convert_mass", `{"value":3,"from_unit":"斤","to_unit":"公斤"}`, "3 斤 = 1.5 公斤"},
		{"units__convert_power", `{"value":100,"from_unit":"PS","to_unit":"kW"}`, "100 PS = 73.549875 kW"},
		{"units__convert_pressure", `{"value":1,"from_unit":"atm","to_unit":"hPa"}`, "1 atm = 1013.25 hPa"},
		{"units__convert_speed", `{"value":36,"from_unit":"km/h","to_unit":"m/s"}`, "36 km/h = 10 m/s"},
		{"units__convert_temperature", `{"value":100,"from_unit":"celsius","to_unit":"fahrenheit"}`, "100 celsius = 212 fahrenheit"},
		{"units__convert_temperature", `{"value":-300,"from_unit":"C","to_unit":"K"}`, "error: -300 C is below absolute zero"},
		{"units__convert_volume", `{"value":1,"from_unit":"gallon","to_unit":"litres"}`, "1 gallon = 3.785411784 litres"},
	})
}

func TestInvokableRunExplainsWrongArguments(t *testing.T) {
	hold(t, []truth{
		{"text__reverse", `{}`, `~required: missing properties: ["text"]`},
		{"text__reverse", `{"text":"a","txt":"a"}`, `~unexpected additional properties ["txt"]`},
		{"text__reverse", `[1]`, `~the arguments must be one JSON object`},
		{"text__reverse", `null`, `~required: missing properties: ["text"]`},
		{"text__reverse", ``, `~required: missing properties: ["text"]`},
		{"text__reverse", `{"text":"a","by":"lines"}`, `~enum: lines does not equal any of: [characters words]`},
		{"text__reverse", `{"text":["a"]}`, `~has type "array", want "string"`},
		{"text__reverse", `{"text":"añ","by":null}`, `ña`},
		{"statistics__median", `{"numbers":[]}`, `~minItems: array length 0 is less than 1`},
		{"number__to_roman", `{"number":4000}`, `~maximum: 4000/1 is greater than 3999`},
	})
}

func TestInvokableRunOfADefinitionSaysThatItIsOne(t *testing.T) {
	const want = "error: image__show is only a definition; it is not part of the demonstration, whatever its arguments"
	hold(t, []truth{{"image__show", `{"path":"a.png"}`, want}, {"image__show", `nonsense`, want}})
}

func TestBoundedCutsBetweenCharacters(t *testing.T) {
	got := bounded(strings.Repeat("中", maxAnswer))
	assert.True(t, utf8.ValidString(got))
	assert.Contains(t, got, "[cut here: the first 1048575 of 3145728 bytes]")
}
