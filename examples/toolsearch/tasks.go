// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package main

import "github.com/einolean/einolean/demo/lab"

// tasks are conversations: each question is a run that continues the one before.
var tasks = [][]lab.Question{
	// One tool
	{{Text: "What time is it in Tokyo when it is 2026-03-10 14:30 in Paris?", Truth: lab.Is("2026-03-10 22:30")}},
	// In Chinese
	{{Text: "统计“春眠不觉晓，处处闻啼鸟。”里有多少个汉字？", Truth: lab.Is("汉字10个")}},
	// Two servers in turn
	{{Text: `Encode "lean context" as Base64 and take the SHA-256 of the result.`, Truth: lab.Is("bd0900efb6dbb0c7e861c39e2b3cc0e9b8945ad6829d6cc10984aea7ff664d4b")}},
	// A first search that finds nothing
	{{Text: "How would the Romans have put 1994?", Truth: lab.Is("MCMXCIV")}},
	// Two calls at once
	{{Text: `Compute the SHA-256 and the MD5 of "abc".`, Truth: lab.Is("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad", "900150983cd24fb0d6963f7d28e17f72")}},
	// A second run on the history
	{
		{Text: "Convert 26.2 miles to kilometres.", Truth: lab.Is("= 42.16")},
		{Text: "And what about 13.1 miles?", Truth: lab.Is("= 21.08")},
	},
	// A wrong argument, corrected
	{{Text: `Get "customer.city" from {"customers":{"name":"Ada","city":"Turin"},"total":3}`, Truth: lab.Is("Turin")}},
	// Files in a folder
	{{Text: `Write "eggs, milk, bread" into shopping.txt, then count the words in the file shopping.txt.`, Truth: lab.Is("3 words")}},
	// Something no tool can do
	{{Text: "Book a flight to Rome.", Truth: lab.Is("I have no tool")}},
}
