// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package main

// This file holds what the compared agents are asked, and works out the true answers
// with the standard library.

import (
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"math/big"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
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

const (
	howManyRequests = 6_000
	howManyParts    = 600
)

func request(n int) string {
	return fmt.Sprintf("req-%06d %s %d ms", n, []string{"GET /", "GET /cart", "POST /order", "GET /search"}[n*7%4], 2+n*31%400)
}

func part(n int) string { return fmt.Sprintf("part-%04d: %d left", n, n*37%500) }

// writeFiles writes what the agents read.
func writeFiles(dir string) error {
	var access, stock strings.Builder
	for n := range howManyRequests {
		fmt.Fprintln(&access, request(n))
	}
	for n := range howManyParts {
		fmt.Fprintln(&stock, part(n))
	}
	for name, text := range map[string]string{"access.log": access.String(), "stock.txt": stock.String(), "notes.txt": "buy eggs, milk and bread\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// resultTasks are one conversation about files of up to 176 KB, in which earlier
// results are needed again.
func resultTasks() [][]lab.Question {
	return [][]lab.Question{{
		{Text: `Read the file access.log. On which line is "req-003210"?`, Truth: is(fmt.Sprintf("%d:%s", 3211, request(3210)))},
		{Text: `Read the file stock.txt. How many are left of "part-0417"?`, Truth: is(part(417))},
		{Text: `What is the SHA-256 of "lean"?`, Truth: is(fmt.Sprintf("%x", sha256.Sum256([]byte("lean"))))},
		{Text: `Convert 26.2 miles to kilometres.`, Truth: is(fmt.Sprintf("%.4f", 26.2*1.609344))},
		{Text: `Count the words in the file notes.txt.`, Truth: is("5 words")},
		{Text: `In the file stock.txt, how many are left of "part-0123"?`, Truth: is(part(123))},
		{Text: `Compute the MD5 of "context".`, Truth: is(fmt.Sprintf("%x", md5.Sum([]byte("context"))))},
		{Text: `In the file access.log, what does line 4711 say?`, Truth: is(request(4710))},
		{Text: `Convert 13.1 miles to kilometres.`, Truth: is(fmt.Sprintf("%.4f", 13.1*1.609344))},
		{Text: `Read the file notes.txt.`, Truth: is("buy eggs, milk and bread")},
		{Text: `In the file access.log, what are the last two lines?`, Truth: is(request(howManyRequests-2) + "\n" + request(howManyRequests-1))},
	}}
}
