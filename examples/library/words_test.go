// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package library

// This file holds truths of the servers of text, numbers and language.

import "testing"

func TestTextTruths(t *testing.T) {
	hold(t, []truth{
		{"text__count", `{"text":"One two. Three?\nFour"}`, "20 characters, 4 words, 3 sentences, 2 lines, 20 bytes"},
		{"text__count_occurrences", `{"text":"a banana","phrase":"an"}`, "2"},
		{"text__word_frequency", `{"text":"b a b c","limit":2}`, "b: 2\na: 1"},
		{"text__reverse", `{"text":"añb"}`, "bña"},
		{"text__reverse", `{"text":"one two","by":"words"}`, "two one"},
		{"text__replace", `{"text":"a-b-c","find":"-","replace":""}`, "abc"},
		{"text__replace", `{"text":"abc","find":"x","replace":"y"}`, "~does not contain"},
		{"text__repeat", `{"text":"ab","count":3,"separator":"-"}`, "ab-ab-ab"},
		{"text__truncate", `{"text":"hello world","length":7}`, "hello…"},
		{"text__truncate", `{"text":"hello","length":5}`, "hello"},
		{"text__wrap", `{"text":"the quick brown fox","width":10}`, "the quick\nbrown fox"},
		{"text__indent", `{"text":"a\nb","prefix":"> "}`, "> a\n> b"},
		{"text__pad", `{"text":"ab","width":5,"side":"both","fill":"*"}`, "*ab**"},
		{"text__pad", `{"text":"7","width":3,"side":"left","fill":"0"}`, "007"},
		{"text__normalize_spaces", `{"text":"  a \n\t b "}`, "a b"},
		{"text__between", `{"text":"x [a] y [b]","start":"[","end":"]"}`, "a\nb"},
		{"text__split", `{"text":"a, b,c","separator":","}`, "1. a\n2. b\n3. c"},
		{"text__reading_time", `{"text":"one two three"}`, "3 words: about 0.1 minutes to read silently, 0.1 minutes to speak"},
		{"text__is_palindrome", `{"text":"A man, a plan, a canal: Panama"}`, "yes, it is a palindrome"},
		{"text__is_palindrome", `{"text":"Panama"}`, "no, it is not a palindrome"},
		{"text__acronym", `{"text":"Portable network graphics"}`, "PNG"},
	})
}

func TestNumberTruths(t *testing.T) {
	hold(t, []truth{
		{"number__greatest_common_divisor", `{"numbers":[84,36,120]}`, "12"},
		{"number__least_common_multiple", `{"numbers":[4,6,10]}`, "60"},
		{"number__is_prime", `{"number":999999999989}`, "yes, 999999999989 is prime"},
		{"number__is_prime", `{"number":91}`, "no, 91 is divisible by 7"},
		{"number__next_prime", `{"number":100}`, "101"},
		{"number__factorize", `{"number":360}`, "360 = 2 × 2 × 2 × 3 × 3 × 5"},
		{"number__divisors", `{"number":36}`, "1, 2, 3, 4, 6, 9, 12, 18, 36"},
		{"number__fibonacci", `{"n":100}`, "354224848179261915075"},
		{"number__factorial", `{"n":20}`, "2432902008176640000"},
		{"number__factorial", `{"n":0}`, "1"},
		{"number__binomial", `{"n":49,"k":6}`, "13983816"},
		{"number__permutations", `{"n":10,"k":3}`, "720"},
		{"number__power_modulo", `{"base":"4","exponent":"13","modulus":"497"}`, "445"},
		{"number__convert_base", `{"number":"ff","from_base":16,"to_base":2}`, "11111111"},
		{"number__convert_base", `{"number":255,"to_base":16}`, "ff"},
		{"number__to_roman", `{"number":1994}`, "MCMXCIV"},
		{"number__from_roman", `{"numeral":"mcmxciv"}`, "1994"},
		{"number__from_roman", `{"numeral":"IIII"}`, "~not a Roman numeral"},
		{"number__to_words", `{"number":1000042}`, "one million forty-two"},
		{"number__to_words", `{"number":-115}`, "minus one hundred fifteen"},
		{"number__ordinal", `{"number":22}`, "22nd"},
		{"number__ordinal", `{"number":113}`, "113th"},
		{"number__ordinal", `{"number":-1}`, "-1st"},
		{"number__group_digits", `{"number":-0.5}`, "-0.5"},
		{"number__group_digits", `{"number":-1234567.25}`, "-1,234,567.25"},
		{"number__digit_sum", `{"number":9875}`, "digit sum 29, digital root 2"},
		{"number__group_digits", `{"number":-1234567.5}`, "-1,234,567.5"},
	})
}

func TestStatisticsTruths(t *testing.T) {
	hold(t, []truth{
		{"statistics__mean", `{"numbers":[0.1,0.2,0.3]}`, "0.2"},
		{"statistics__mean", `{"numbers":[1,4,16],"kind":"geometric"}`, "4"},
		{"statistics__mean", `{"numbers":[40,60],"kind":"harmonic"}`, "48"},
		{"statistics__median", `{"numbers":[3,1,2,10]}`, "2.5"},
		{"statistics__mode", `{"numbers":[1,2,2,3,3]}`, "2, 3 (2 times)"},
		{"statistics__standard_deviation", `{"numbers":[2,4,4,4,5,5,7,9],"population":true}`, "standard deviation 2, variance 4"},
		{"statistics__percentile", `{"numbers":[15,20,35,40,50],"percent":40}`, "29"},
		{"statistics__summary", `{"numbers":[1,2,3,4,5]}`, "count 5\nsum 15\nminimum 1\nlower quartile 2\nmedian 3\nupper quartile 4\nmaximum 5\nmean 3\nstandard deviation 1.58113883008"},
		{"statistics__correlation", `{"x":[1,2,3],"y":[6,4,2]}`, "-1"},
		{"statistics__linear_regression", `{"x":[1,2,3],"y":[3,5,7]}`, "y = 2 * x + 1 (slope 2, intercept 1, R squared 1)"},
		{"statistics__histogram", `{"numbers":[1,2,3,9],"bins":2}`, "1 to 5: 3 ###\n5 to 9: 1 #"},
		{"statistics__z_scores", `{"numbers":[1,2,3]}`, "-1, 0, 1"},
		{"statistics__moving_average", `{"numbers":[1,2,3,4],"window":2}`, "1.5, 2.5, 3.5"},
		{"statistics__outliers", `{"numbers":[1,2,3,2,100]}`, "100 (outside 0.5 to 4.5)"},
		{"statistics__weighted_mean", `{"numbers":[80,90],"weights":[1,3]}`, "87.5"},
	})
}

func TestHanziTruths(t *testing.T) {
	hold(t, []truth{
		{"hanzi__count_characters", `{"text":"你好,world 123!"}`, "共13个字符:汉字2个,标点2个,字母5个,数字3个"},
		{"hanzi__character_frequency", `{"text":"天天向上"}`, "天: 2\n上: 1\n向: 1"},
		{"hanzi__to_fullwidth", `{"text":"A1 ,"}`, "Ａ１　，"},
		{"hanzi__to_halfwidth", `{"text":"Ａ１　，"}`, "A1 ,"},
		{"hanzi__number_to_chinese", `{"number":1024}`, "一千零二十四"},
		{"hanzi__number_to_chinese", `{"number":10}`, "十"},
		{"hanzi__number_to_chinese", `{"number":-110000.05}`, "负十一万点零五"},
		{"hanzi__number_to_chinese", `{"number":100001000}`, "一亿零一千"},
		{"hanzi__number_to_chinese", `{"number":101000}`, "十万一千"},
		{"hanzi__number_to_chinese", `{"number":123456789012}`, "一千二百三十四亿五千六百七十八万九千零一十二"},
		{"hanzi__number_to_chinese", `{"number":12345000000000}`, "十二万三千四百五十亿"},
		{"hanzi__number_to_chinese", `{"number":1000000000000}`, "一万亿"},
		{"hanzi__chinese_to_number", `{"text":"三万零五十"}`, "30050"},
		{"hanzi__chinese_to_number", `{"text":"十二万三千四百五十亿"}`, "12345000000000"},
		{"hanzi__chinese_to_number", `{"text":"二〇二四"}`, "2024"},
		{"hanzi__chinese_to_number", `{"text":"负三点一四"}`, "-3.14"},
		{"hanzi__chinese_to_number", `{"text":"你好"}`, "~不是能识别的中文数字"},
		{"hanzi__rmb_capital", `{"amount":1024.5}`, "壹仟零贰拾肆元伍角整"},
		{"hanzi__rmb_capital", `{"amount":100.05}`, "壹佰元零伍分"},
		{"hanzi__rmb_capital", `{"amount":0.3}`, "叁角整"},
		{"hanzi__rmb_capital", `{"amount":0}`, "零元整"},
		{"hanzi__convert_punctuation", `{"text":"好,走!"}`, "好，走！"},
		{"hanzi__convert_punctuation", `{"text":"好，走！","to":"english"}`, "好,走!"},
		{"hanzi__split_sentences", `{"text":"天晴了。出门吗？走！"}`, "天晴了。\n出门吗？\n走！"},
		{"hanzi__extract", `{"text":"第1章abc春天"}`, "第章春天"},
		{"hanzi__reverse", `{"text":"上海"}`, "海上"},
		{"hanzi__vertical_layout", `{"text":"床前明月光","height":3}`, "月床\n光前\n　明"},
	})
}
