// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package main

// The tasks, the programs that a model writes for them, and the right answers.

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/einolean/einolean/demo/lab"
)

// task is a question that takes many calls, or large results.
type task struct {
	name, question string
	queries        []string // what a model searches for
	tools          []string // what it must have found
	code           string   // the program
	want           string   // the right answer, computed without an agent
}

var tasks = []task{
	{"map", "The files orders/00.json to orders/49.json hold the orders of 50 customers. How many orders exceed 490?",
		[]string{"read a whole text file"}, []string{"files__read"}, `
const numbers = Array.from({length: 50}, (_, i) => String(i).padStart(2, "0"));
const lists = await Promise.all(numbers.map(n => tools.files__read({path: "orders/" + n + ".json"})));
print(lists.flat().filter(o => o.total > 490).length)`,
		"89"},
	{"filter", "Which days from the 13th of each month of 2024 to 2026 are Fridays?",
		[]string{"day of the week of a date"}, []string{"calendar__weekday"}, `
const dates = [];
for (const y of [2024, 2025, 2026]) for (let m = 1; m <= 12; m++) dates.push(y + "-" + String(m).padStart(2, "0") + "-13");
const days = await Promise.all(dates.map(date => tools.calendar__weekday({date})));
print(dates.filter((_, i) => days[i].endsWith("Friday")).join(", "))`,
		"2024-09-13, 2024-12-13, 2025-06-13, 2026-02-13, 2026-03-13, 2026-11-13"},
	{"join", "stock/01.csv to stock/12.csv say how many of each part twelve stores have, and prices.csv what a part costs. What is everything worth?",
		[]string{"read a whole text file", "turn a CSV table into JSON"}, []string{"files__read", "csv__to_json"}, `
const table = async path => tools.csv__to_json({csv: await tools.files__read({path})});
const prices = Object.fromEntries((await table("prices.csv")).map(r => [r.part, Number(r.price)]));
const stores = await Promise.all(Array.from({length: 12}, (_, i) => table("stock/" + String(i + 1).padStart(2, "0") + ".csv")));
return stores.flat().reduce((sum, r) => sum + prices[r.part] * r.left, 0)`,
		"15786200"},
	{"pages", "How many requests in access.log are POST /order and took longer than 380 ms? Read 500 lines at a time.",
		[]string{"read some lines of a file"}, []string{"files__read_lines"}, `
let n = 0;
for (let at = 1; ; at += 500) {
  const page = await tools.files__read_lines({path: "access.log", start_line: at, count: 500});
  if (page.startsWith("error:")) break;
  for (const line of page.split("\n")) if (line.includes("POST /order") && Number(line.match(/(\d+) ms/)?.[1]) > 380) n++;
}
print(n)`,
		"75"},
	{"search by halves", "On which line of access.log does request req-003210 stand? The lines are sorted.",
		[]string{"read some lines of a file"}, []string{"files__read_lines"}, `
let low = 1, high = 6000;
while (low < high) {
  const middle = Math.floor((low + high) / 2);
  const line = await tools.files__read_lines({path: "access.log", start_line: middle, count: 1});
  if (line.match(/req-(\d+)/)[1] < "003210") low = middle + 1; else high = middle;
}
print("line", low)`,
		"line 3211"},
	{"write for each", "Write for each of the first 20 customers the sum of the orders into sums/00.txt to sums/19.txt.",
		[]string{"read a whole text file", "write a text into a file"}, []string{"files__read", "files__write"}, `
const numbers = Array.from({length: 20}, (_, i) => String(i).padStart(2, "0"));
await Promise.all(numbers.map(async n => {
  const orders = await tools.files__read({path: "orders/" + n + ".json"});
  await tools.files__write({path: "sums/" + n + ".txt", content: String(orders.reduce((s, o) => s + o.total, 0))});
}));
print("written:", numbers.length)`,
		"written: 20"},
	{"approval", "Delete the largest of the files logs/0.log to logs/9.log.",
		[]string{"size of a file", "delete a file"}, []string{"files__stat", "files__delete"}, `
const all = await Promise.all(Array.from({length: 10}, (_, i) => tools.files__stat({path: "logs/" + i + ".log"})));
const sizes = all.map(text => Number(text.match(/size: ([\d,]+)/)[1].replaceAll(",", "")));
const largest = sizes.indexOf(Math.max(...sizes));
print(await tools.files__delete({path: "logs/" + largest + ".log"}))`,
		"deleted logs/7.log"},
	{"a failing element", "How many words have the reports reports/01.txt to reports/30.txt together, and which of them is missing?",
		[]string{"count the words of a file"}, []string{"files__count"}, `
let words = 0; const missing = [];
await Promise.all(Array.from({length: 30}, async (_, i) => {
  const path = "reports/" + String(i + 1).padStart(2, "0") + ".txt";
  const text = await tools.files__count({path});
  const m = text.match(/([\d,]+) words/);
  if (m) words += Number(m[1].replaceAll(",", "")); else missing.push(path);
}));
print(words, "words; missing:", missing.join(", "))`,
		"53760 words; missing: reports/17.txt"},
	{"hand-over", "What is the SHA-256 of the text in long.txt, and how many words has it? Write it in capitals into capitals.txt.",
		[]string{"read a whole text file", "SHA-256 of a text", "count words of a text", "write a file", "upper case"}, []string{"files__read", "hash__sha256", "text__count", "files__write"}, `
const text = await tools.files__read({path: "long.txt"});
const [digest, counts] = await Promise.all([tools.hash__sha256({text}), tools.text__count({text}), tools.files__write({path: "capitals.txt", content: text.toUpperCase()})]);
print(digest, counts.match(/([\d,]+) words/)[1])`,
		"3874fe1ed73e3047af8811283c12e61092098274998b71da50cf6b43e05bfced 50000"},
	{"try each", "Which of the passwords word-0 to word-59 has a SHA-256 that begins with 0?",
		[]string{"SHA-256 of a text"}, []string{"hash__sha256"}, `
const words = Array.from({length: 60}, (_, i) => "word-" + i);
const digests = await Promise.all(words.map(text => tools.hash__sha256({text})));
print(words.filter((_, i) => digests[i].startsWith("0")).join(", "))`,
		"word-31, word-40, word-42, word-43, word-52, word-59"},
	{"chain for each", "Encode user-0 to user-24 as Base64 and take the SHA-1 of each. Which digest is the smallest?",
		[]string{"encode a text as Base64", "SHA-1 of a text"}, []string{"encoding__base64_encode", "hash__sha1"}, `
const digests = await Promise.all(Array.from({length: 25}, async (_, i) => tools.hash__sha1({text: await tools.encoding__base64_encode({text: "user-" + i})})));
return digests.sort()[0]`,
		"0ed1604f372e7f5ec0261be52864349e0d17ee72"},
	{"in Chinese", "把 101、111、121 … 291 这 20 个数写成中文数字，哪些含有“一十”？",
		[]string{"把阿拉伯数字写成中文数字"}, []string{"hanzi__number_to_chinese"}, `
const numbers = Array.from({length: 20}, (_, i) => 101 + 10 * i);
const words = await Promise.all(numbers.map(number => tools.hanzi__number_to_chinese({number})));
print(numbers.filter((_, i) => words[i].includes("一十")).join("、"))`,
		"111、211"},
}

// direct are tasks of one call or two, where a program saves nothing.
var direct = []task{
	{"SHA-1", "What is the SHA-1 of abc?", []string{"SHA-1 of a text"}, []string{"hash__sha1"},
		`print(await tools.hash__sha1({text: "abc"}))`, "a9993e364706816aba3e25717850c26c9cd0d89d"},
	{"SHA-256", "What is the SHA-256 of abc?", []string{"SHA-256 of a text"}, []string{"hash__sha256"},
		`print(await tools.hash__sha256({text: "abc"}))`, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
	{"weekday", "Which day of the week is 2026-11-27?", []string{"day of the week of a date"}, []string{"calendar__weekday"},
		`print((await tools.calendar__weekday({date: "2026-11-27"})).match(/\w+day$/)[0])`, "Friday"},
	{"Base64", "What is user-1 in Base64?", []string{"encode a text as Base64"}, []string{"encoding__base64_encode"},
		`print(await tools.encoding__base64_encode({text: "user-1"}))`, "dXNlci0x"},
	{"count", "How many words has reports/02.txt?", []string{"count the words of a file"}, []string{"files__count"},
		`print((await tools.files__count({path: "reports/02.txt"})).match(/([\d,]+) words/)[1])`, "240"},
	{"Chinese number", "111 用中文数字怎么写？", []string{"把阿拉伯数字写成中文数字"}, []string{"hanzi__number_to_chinese"},
		`print(await tools.hanzi__number_to_chinese({number: 111}))`, "一百一十一"},
	{"one, then another", "What is the SHA-1 of user-1 in Base64?", []string{"encode a text as Base64", "SHA-1 of a text"}, []string{"encoding__base64_encode", "hash__sha1"},
		`print(await tools.hash__sha1({text: await tools.encoding__base64_encode({text: "user-1"})}))`, "479d3064e56185f610cfaa05ce944247dbd061bf"},
	{"two at once", "111 和 211 用中文数字怎么写？", []string{"把阿拉伯数字写成中文数字"}, []string{"hanzi__number_to_chinese"},
		`print((await Promise.all([111, 211].map(number => tools.hanzi__number_to_chinese({number})))).join("、"))`, "一百一十一、二百一十一"},
}

const parts = 120

var longText = strings.TrimSuffix(strings.Repeat("words ", 50_000), " ")

type order struct {
	ID    int    `json:"id"`
	Total int    `json:"total"`
	Note  string `json:"note"`
}

func orders(customer int) (all []order) {
	for i := range 100 {
		all = append(all, order{i, (i*37 + customer*11) % 500, "no special note here, move along, nothing to see at all"})
	}
	return all
}

func left(store, part int) int { return (store*31 + part*37) % 500 }
func price(part int) int       { return 1 + part*13%90 }
func reportText(i int) string {
	return strings.TrimSpace(strings.Repeat("a few words ", 40*i))
}

// writeFiles puts the files that the tasks read into a folder.
func writeFiles(root string) error {
	files := map[string]string{"long.txt": longText}
	for c := range 50 {
		text, err := json.Marshal(orders(c))
		if err != nil {
			return err
		}
		files[fmt.Sprintf("orders/%02d.json", c)] = string(text)
	}
	prices := "part,price\n"
	for part := range parts {
		prices += fmt.Sprintf("part-%03d,%d\n", part, price(part))
	}
	files["prices.csv"] = prices
	for store := range 12 {
		table := "part,left\n"
		for part := range parts {
			table += fmt.Sprintf("part-%03d,%d\n", part, left(store, part))
		}
		files[fmt.Sprintf("stock/%02d.csv", store+1)] = table
	}
	files["access.log"] = lab.Files()["access.log"]
	for i := range 10 {
		files[fmt.Sprintf("logs/%d.log", i)] = strings.Repeat("x", 100+i*7%10*100+i)
	}
	for i := 1; i <= 30; i++ {
		if i != 17 {
			files[fmt.Sprintf("reports/%02d.txt", i)] = reportText(i)
		}
	}
	for name, text := range files {
		path := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// done says what is wrong with what a task left in the folder; "" if nothing is.
func done(root, task string) string {
	read := func(name string) string {
		text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
		if err != nil {
			return err.Error()
		}
		return string(text)
	}
	switch task {
	case "write for each":
		for c := range 20 {
			sum := 0
			for _, o := range orders(c) {
				sum += o.Total
			}
			if got := read(fmt.Sprintf("sums/%02d.txt", c)); got != fmt.Sprint(sum) {
				return fmt.Sprintf("the sum of customer %d is %d, not %s", c, sum, got)
			}
		}
	case "hand-over":
		if read("capitals.txt") != strings.ToUpper(longText) {
			return "capitals.txt is not long.txt in capitals"
		}
	case "approval":
		if _, err := os.Stat(filepath.Join(root, "logs", "7.log")); !os.IsNotExist(err) {
			return "logs/7.log is still there"
		}
	}
	return ""
}
