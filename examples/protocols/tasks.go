// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"math/big"
	"net/netip"
	"slices"
	"strings"
	"time"
)

// question is a request, and what its answer must hold.
type question struct{ text, truth string }

// tasks are conversations: each request continues the one before.
var tasks = [][]question{
	{
		{`What is the SHA-1 of "abc"?`, sha1Of("abc")},
		{`What about "abd"?`, sha1Of("abd")},
	},
	{{"On which weekday was 1969-07-20?", day("1969-07-20").Weekday().String()}},
	{{"Write 1994 in Roman numerals, then reverse the result.", reversed("M" + "CM" + "XC" + "IV")}},
	{{"How many hosts has the network 192.168.1.0/26?", hosts("192.168.1.0/26")}},
	{{"What is the greatest common divisor of 84 and 126?", new(big.Int).GCD(nil, nil, big.NewInt(84), big.NewInt(126)).String()}},
	{
		{"How many pounds are 80 kg?", pounds(80)},
		{"And what about 95 kg?", pounds(95)},
	},
	{{"Which date is 45 days after 2026-03-01?", day("2026-03-01").AddDate(0, 0, 45).Format(time.DateOnly)}},
	{{`Turn "user account id" into snake case`, strings.Join(strings.Fields("user account id"), "_")}},
}

func sha1Of(text string) string {
	sum := sha1.Sum([]byte(text))
	return hex.EncodeToString(sum[:])
}

func day(text string) time.Time {
	t, err := time.Parse(time.DateOnly, text)
	if err != nil {
		panic(err)
	}
	return t
}

func reversed(text string) string {
	b := []byte(text)
	slices.Reverse(b)
	return string(b)
}

// hosts leaves out the addresses of the network and of broadcasts.
func hosts(network string) string {
	return fmt.Sprint(1<<(32-netip.MustParsePrefix(network).Bits()) - 2)
}

func pounds(kilograms float64) string { return fmt.Sprintf("= %.6f", kilograms/0.45359237)[:8] }
