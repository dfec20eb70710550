// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package main

// question is a request, and what its answer must hold.
type question struct{ text, truth string }

// tasks are conversations: each request continues the one before.
var tasks = [][]question{
	{
		{`What is the SHA-1 of "abc"?`, "a9993e364706816aba3e25717850c26c9cd0d89d"},
		{`What about "abd"?`, "cb4cc28df0fdbe0ecf9d9662e294b118092a5735"},
	},
	{{"On which weekday was 1969-07-20?", "Sunday"}},
	{{"Write 1994 in Roman numerals, then reverse the result.", "VICXMCM"}},
	{{"How many hosts has the network 192.168.1.0/26?", "62"}},
	{{"What is the greatest common divisor of 84 and 126?", "42"}},
	{
		{"How many pounds are 80 kg?", "= 176.36"},
		{"And what about 95 kg?", "= 209.43"},
	},
	{{"Which date is 45 days after 2026-03-01?", "2026-04-15"}},
	{{`Turn "user account id" into snake case`, "user_account_id"}},
}
