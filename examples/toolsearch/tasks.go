// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"crypto/md5"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
)

// task is one conversation: each question is a run that continues the one before.
type task struct{ questions []question }

type question struct {
	text  string
	truth func() []string // lines, or parts of lines, that the answer must hold
}

var tasks = []task{
	// One tool
	{[]question{
		{"What time is it in Tokyo when it is 2026-03-10 14:30 in Paris?", tokyoTime},
	}},
	// In Chinese
	{[]question{
		{"统计“春眠不觉晓，处处闻啼鸟。”里有多少个汉字？", func() []string {
			return []string{fmt.Sprintf("汉字%d个", countHan("春眠不觉晓，处处闻啼鸟。"))}
		}},
	}},
	// Two servers in turn
	{[]question{
		{`Encode "lean context" as Base64 and take the SHA-256 of the result.`, hashOfBase64},
	}},
	// A first search that finds nothing
	{[]question{
		{"How would the Romans have put 1994?", func() []string { return []string{roman(1994)} }},
	}},
	// Two calls at once
	{[]question{
		{`Compute the SHA-256 and the MD5 of "abc".`, twoHashes},
	}},
	// A second run on the history
	{[]question{
		{"Convert 26.2 miles to kilometres.", func() []string { return []string{kilometres(26.2)} }},
		{"And what about 13.1 miles?", func() []string { return []string{kilometres(13.1)} }},
	}},
	// A wrong argument, corrected
	{[]question{
		{`Get "customer.city" from {"customers":{"name":"Ada","city":"Turin"},"total":3}`, func() []string { return []string{"Turin"} }},
	}},
	// Files in a folder
	{[]question{
		{`Write "eggs, milk, bread" into shopping.txt, then count the words in the file shopping.txt.`, func() []string {
			return []string{fmt.Sprintf("%d words", len(strings.Fields("eggs, milk, bread")))}
		}},
	}},
	// Something no tool can do
	{[]question{
		{"Book a flight to Rome.", func() []string { return []string{"I have no tool"} }},
	}},
}

// holds reports whether an answer has every truth in it. What it only repeats of
// the question does not count.
func (q question) holds(answer string) bool {
	answer = strings.ReplaceAll(answer, strings.TrimRight(q.text, ".?"), "")
	return !slices.ContainsFunc(q.truth(), func(t string) bool { return !strings.Contains(answer, t) })
}

func tokyoTime() []string {
	paris, err := time.LoadLocation("Europe/Paris")
	if err != nil {
		panic(err)
	}
	tokyo, err := time.LoadLocation("Asia/Tokyo")
	if err != nil {
		panic(err)
	}
	return []string{time.Date(2026, 3, 10, 14, 30, 0, 0, paris).In(tokyo).Format("2006-01-02 15:04")}
}

func countHan(text string) (n int) {
	for _, r := range text {
		if unicode.Is(unicode.Han, r) {
			n++
		}
	}
	return n
}

func hashOfBase64() []string {
	sum := sha256.Sum256([]byte(base64.StdEncoding.EncodeToString([]byte("lean context"))))
	return []string{hex.EncodeToString(sum[:])}
}

func twoHashes() []string {
	long, short := sha256.Sum256([]byte("abc")), md5.Sum([]byte("abc"))
	return []string{hex.EncodeToString(long[:]), hex.EncodeToString(short[:])}
}

func kilometres(miles float64) string { return fmt.Sprintf("= %.4f", miles*1.609344)[:7] }

func roman(n int) (out string) {
	for _, step := range []struct {
		value int
		sign  string
	}{{1000, "M"}, {900, "CM"}, {500, "D"}, {400, "CD"}, {100, "C"}, {90, "XC"}, {50, "L"}, {40, "XL"}, {10, "X"}, {9, "IX"}, {5, "V"}, {4, "IV"}, {1, "I"}} {
		for ; n >= step.value; n -= step.value {
			out += step.sign
		}
	}
	return out
}
