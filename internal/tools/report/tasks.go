// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package main

// This file holds what the compared agents are asked, and computes the right answers
// with the standard library.

import (
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"math/big"
	"net/netip"
	"time"
	"unicode"

	"github.com/leanctx/leanctx/examples/lab"
)

func is(text string) func() []string { return func() []string { return []string{text} } }

func day(text string) time.Time {
	t, err := time.Parse(time.DateOnly, text)
	if err != nil {
		panic(err) // it is written below
	}
	return t
}

// inTokyo is a time of Paris on the clocks of Tokyo.
func inTokyo(text string) string {
	paris, err := time.LoadLocation("Europe/Paris")
	if err != nil {
		panic(err) // without it there is no truth
	}
	tokyo, err := time.LoadLocation("Asia/Tokyo")
	if err != nil {
		panic(err)
	}
	t, err := time.ParseInLocation("2006-01-02 15:04", text, paris)
	if err != nil {
		panic(err)
	}
	return t.In(tokyo).Format("2006-01-02 15:04")
}

func han(text string) (n int) {
	for _, r := range text {
		if unicode.Is(unicode.Han, r) {
			n++
		}
	}
	return n
}

const poem = "春眠不觉晓，处处闻啼鸟。"

// toolTasks are conversations that need tools: one or several, in words of their
// descriptions or not, in English and Chinese, and one that no tool can do.
func toolTasks() [][]lab.Question {
	twice := base64.StdEncoding.EncodeToString([]byte("lean context"))
	return [][]lab.Question{
		{{Text: "What time is it in Tokyo when it is 2026-03-10 14:30 in Paris?", Truth: is(inTokyo("2026-03-10 14:30"))}},
		{{Text: "统计“" + poem + "”里有多少个汉字？", Truth: is(fmt.Sprintf("汉字%d个", han(poem)))}},
		{{Text: `Encode "lean context" as Base64 and take the SHA-256 of the result.`, Truth: is(fmt.Sprintf("%x", sha256.Sum256([]byte(twice))))}},
		{{Text: `What is the SHA-1 of "abc"?`, Truth: is(fmt.Sprintf("%x", sha1.Sum([]byte("abc"))))}, {Text: `What about "abd"?`, Truth: is(fmt.Sprintf("%x", sha1.Sum([]byte("abd"))))}},
		{{Text: "On which weekday was 1969-07-20?", Truth: is(day("1969-07-20").Weekday().String())}},
		{{Text: "How would the Romans have put 1994?", Truth: is("MCMXCIV")}},
		{{Text: `Compute the SHA-256 and the MD5 of "abc".`, Truth: func() []string {
			return []string{fmt.Sprintf("%x", sha256.Sum256([]byte("abc"))), fmt.Sprintf("%x", md5.Sum([]byte("abc")))}
		}}},
		{{Text: "How many hosts has the network 192.168.1.0/26?", Truth: is(fmt.Sprint(1<<(32-netip.MustParsePrefix("192.168.1.0/26").Bits()) - 2))}},
		{{Text: "What is the greatest common divisor of 84 and 126?", Truth: is(new(big.Int).GCD(nil, nil, big.NewInt(84), big.NewInt(126)).String())}},
		{{Text: "Convert 26.2 miles to kilometres.", Truth: is(fmt.Sprintf("%.4f", 26.2*1.609344))}, {Text: "And what about 13.1 miles?", Truth: is(fmt.Sprintf("%.4f", 13.1*1.609344))}},
		{{Text: "Which date is 45 days after 2026-03-01?", Truth: is(day("2026-03-01").AddDate(0, 0, 45).Format(time.DateOnly))}},
		{{Text: `Get "customer.city" from {"customers":{"name":"Ada","city":"Turin"},"total":3}`, Truth: is("Turin")}},
		{{Text: "Book a flight to Rome.", Truth: is("I have no tool")}},
	}
}
