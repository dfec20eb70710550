// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package library

// This file is the server that finds addresses, numbers and dates in running text.

import (
	"fmt"
	"net/netip"
	"regexp"
	"strings"
)

var extractServer = group{"extract", "Addresses, numbers and dates in running text", []maker{
	define("extract__emails", "Finds all e-mail addresses in a text.", found(`[\p{L}\p{N}._%+-]+@[\p{L}\p{N}-]+(?:\.[\p{L}\p{N}-]+)*\.\p{L}{2,}`, nil)),
	define("extract__urls", "Finds all web addresses in a text.", found(`https?://[^\s<>"'()\]]*[^\s<>"'()\].,;:!?。,]`, nil)),
	define("extract__phone_numbers", "Finds all phone numbers in a text, international or with a leading zero.",
		found(`(?:\+|\b0|\b1[3-9])\d[\d /().-]{5,18}\d\b`, nil)),
	define("extract__numbers", "Finds all numbers in a text and adds them up.", func(in textIn) (string, error) {
		var numbers []float64
		for _, match := range numberInText.FindAllString(in.Text, maxMatches) {
			numbers = append(numbers, firstNumber(strings.NewReplacer(",", "", "−", "-").Replace(match)))
		}
		if len(numbers) == 0 {
			return "none found", nil
		}
		total, err := finite(sum(numbers))
		return fmt.Sprintf("%s (sum %s)", plainList(numbers), total), err
	}),
	define("extract__dates", "Finds all dates in a text and writes them as YYYY-MM-DD.",
		found(datePattern, func(s string) string {
			t, err := parseDate(s)
			if err != nil {
				return ""
			}
			return t.Format("2006-01-02")
		})),
	define("extract__ip_addresses", "Finds all IP addresses in a text.",
		found(`[0-9A-Fa-f:.]*[0-9A-Fa-f:]`, func(s string) string {
			ip, err := netip.ParseAddr(s)
			if err != nil {
				return ""
			}
			return ip.String()
		})),
	define("extract__hashtags", "Finds all hashtags and mentions (#topic, @name) in a text.", found(`[#@][\p{L}\p{N}_]+`, nil)),
	define("extract__prices", "Finds all amounts of money in a text.",
		found(`(?:[$€£¥]|USD|EUR|GBP|CNY)\s?\d[\d,]*(?:\.\d+)?|\d[\d,]*(?:\.\d+)?\s?(?:[€£¥]|USD|EUR|GBP|CNY|元|dollars|euros)`, nil)),
	define("extract__quoted", "Finds everything between quotation marks in a text.",
		found(`"[^"\n]+"|“[^”\n]+”|«[^»\n]+»|「[^」\n]+」`, func(s string) string { return strings.Trim(s, `"“”«»「」`) })),
	define("extract__colors", "Finds all hex colour codes in a text.", found(`#(?:[0-9A-Fa-f]{6}|[0-9A-Fa-f]{3})\b`, nil)),
}}

const datePattern = `\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{4}年\d{1,2}月\d{1,2}日|\d{1,2} (?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]* \d{4}|` +
	`(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]* \d{1,2},? \d{4}`

// found makes a tool that lists the different matches of a pattern; rewrite
// may change a match or drop it by making it empty.
func found(pattern string, rewrite func(string) string) func(textIn) (string, error) {
	re := regexp.MustCompile(pattern)
	return func(in textIn) (string, error) {
		seen := map[string]bool{}
		var out []string
		for _, match := range re.FindAllString(in.Text, 10*maxMatches) {
			if rewrite != nil {
				match = rewrite(match)
			}
			if match != "" && !seen[match] && len(out) < maxMatches {
				out = append(out, match)
			}
			seen[match] = true
		}
		return listed(out, "none found"), nil
	}
}

var numberInText = regexp.MustCompile(`[-−]?\d+(?:,\d{3})*(?:\.\d+)?`)
