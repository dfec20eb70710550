// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package library

// This file holds truths of the servers of money, chance, compression and identifiers.

import (
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestFinanceTruths(t *testing.T) {
	hold(t, []truth{
		{"finance__compound_interest", args("principal", 1000, "rate", 5, "years", 10), "1,628.89 after the time, of which 628.89 interest"},
		{"finance__compound_interest", args("principal", 1000, "rate", 12, "years", 1, "times_per_year", 12), "1,126.83 after the time, of which 126.83 interest"},
		{"finance__simple_interest", args("principal", 1000, "rate", 5, "years", 2.5), "125.00 interest, 1,125.00 in total"},
		{"finance__loan_payment", args("amount", 200000, "rate", 4.5, "months", 360), "1,013.37 a month, 364,813.42 in total, of which 164,813.42 interest"},
		{"finance__loan_payment", args("amount", 1200, "rate", 0, "months", 12), "100.00 a month, 1,200.00 in total, of which 0.00 interest"},
		{"finance__amortization_schedule", args("amount", 1000, "rate", 12, "months", 2), "month 1: interest 10.00, repayment 497.51, left 502.49\nmonth 2: interest 5.02, repayment 502.49, left 0.00\n"},
		{"finance__savings_plan", args("monthly", 100, "rate", 6, "years", 1), "1,233.56 after the time, of which 1,200.00 paid in"},
		{"finance__present_value", args("amount", 1000, "rate", 10, "years", 2), "826.45 today"},
		{"finance__net_present_value", args("cash_flows", []float64{-1000, 600, 600}, "rate", 10), "41.32"},
		{"finance__internal_rate_of_return", args("cash_flows", []float64{-1000, 600, 600}), "13.07%"},
		{"finance__internal_rate_of_return", args("cash_flows", []float64{1000, 600}), "~no rate of return"},
		{"finance__return_on_investment", args("start", 100, "end", 121, "years", 2), "21.00% in total, 10.00% per year"},
		{"finance__add_tax", args("price", 100, "rate", 19), "net 100.00, tax 19.00, gross 119.00"},
		{"finance__add_tax", args("price", 119, "rate", 19, "included", true), "net 100.00, tax 19.00, gross 119.00"},
		{"finance__discount", args("price", 80, "percent", 25), "60.00, saving 20.00"},
		{"finance__split_bill", args("amount", 100, "people", 4, "tip_percent", 10), "27.50 each; 110.00 in total with a tip of 10.00"},
		{"finance__break_even", args("fixed_costs", 1000, "price", 12, "unit_cost", 9), "334 units"},
		{"finance__margin", args("cost", 60, "price", 80), "profit 20.00, margin 25.00%, markup 33.33%"},
	})
}

func TestIdentifierTruths(t *testing.T) {
	hold(t, []truth{
		{"identifier__uuid_from_name", args("name", "www.example.org"), "74738ff5-5367-5958-9aee-98fffdcd1876"},
		{"identifier__uuid_parse", args("uuid", "017F22E2-79B0-7CC3-98C4-DC0C0C07398F"), "valid UUID, version 7, made 2022-02-22 19:22:22.000 UTC"},
		{"identifier__uuid_parse", args("uuid", "c232ab00-9414-11ec-b3c8-9f6bdeced846"), "valid UUID, version 1, made 2022-02-22 19:22:22.000 UTC"},
		{"identifier__uuid_parse", args("uuid", "123"), "~is not a UUID"},
		{"identifier__check_card_number", args("number", "4111 1111 1111 1111"), "valid: Visa"},
		{"identifier__check_card_number", args("number", "4111 1111 1111 1112"), "not valid: the check digit is wrong"},
		{"identifier__check_iban", args("number", "GB82 WEST 1234 5698 7654 32"), "valid: country GB, account WEST12345698765432"},
		{"identifier__check_iban", args("number", "GB82 WEST 1234 5698 7654 33"), "~not valid"},
		{"identifier__check_isbn", args("number", "0-306-40615-2"), "valid: ISBN-10 0306406152"},
		{"identifier__check_isbn", args("number", "978-0-306-40615-7"), "valid: EAN-13 9780306406157"},
		{"identifier__check_isbn", args("number", "0-8044-2957-X"), "valid: ISBN-10 080442957X"},
		{"identifier__isbn10_to_isbn13", args("number", "0-306-40615-2"), "9780306406157"},
		{"identifier__check_barcode", args("number", "4006381333931"), "valid: EAN-13 4006381333931"},
		{"identifier__check_barcode", args("number", "96385074"), "valid: EAN-8 96385074"},
		{"identifier__luhn_digit", args("number", "7992739871"), "3"},
		{"identifier__check_vin", args("number", "1M8GDM9AXKP042788"), "valid: maker 1M8"},
		{"identifier__check_vin", args("number", "1M8GDM9A0KP042788"), "~not valid"},
	})
}

func TestUUIDsDifferAndSayTheirVersion(t *testing.T) {
	tools, _ := library(t)
	for name, form := range map[string]string{"identifier__uuid_random": "4", "identifier__uuid_time": "7"} {
		list := strings.Split(call(t, tools[name], `{"count":100}`), "\n")
		assert.Len(t, list, 100)
		for _, id := range list {
			assert.Regexp(t, regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-`+form+`[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`), id)
		}
		slices.Sort(list)
		assert.Len(t, slices.Compact(list), 100)
	}
}

func TestCompressedTextIsRestored(t *testing.T) {
	tools, _ := library(t)
	text := strings.Repeat("lean context, 精简上下文. ", 50)
	for to, from := range map[string]string{"gzip": "gunzip", "zlib": "unzlib", "deflate": "inflate", "lzw": "unlzw"} {
		small := call(t, tools["compress__"+to], args("text", text))
		assert.Less(t, len(small), len(text), to)
		assert.Equal(t, text, call(t, tools["compress__"+from], args("data", small)))
	}
	hold(t, []truth{
		{"compress__bunzip2", args("data", "QlpoOTFBWSZTWYDqNpkAAASRGUAAIgVCAAACBgAgADEAMCNDIaEWCNMIU+afi7kinChIQHUbTIA="), "lean lean lean 你好"},
		{"compress__bunzip2", args("data", "QlpoOTFBWSZT"), "error: the data is not bzip2, or is damaged"},
		{"compress__gunzip", args("data", "aGVsbG8="), "~error: the data is not gzip"},
		{"compress__ratio", args("text", strings.Repeat("a", 1000)), "1000 bytes\ngzip: 32 (3%)\nzlib: 20 (2%)\ndeflate: 14 (1%)\nlzw: 53 (5%)"},
		{"compress__run_length", args("text", "aaabccd"), "3a1b2c1d"},
		{"compress__entropy", args("text", "abab"), "1 bits per byte"},
		{"compress__entropy", args("text", ""), "0 bits per byte"},
	})
}

func TestChanceIsBoundedAndRepeatableWithASeed(t *testing.T) {
	tools, _ := library(t)
	for name, in := range map[string]string{
		"random__integers": args("seed", 7, "count", 50, "min", 1, "max", 3),
		"random__floats":   args("seed", 7, "count", 5, "min", 0, "max", 1),
		"random__normal":   args("seed", 7, "count", 5, "mean", 10),
		"random__choose":   args("seed", 7, "list", []string{"a", "b", "c"}, "count", 2),
		"random__shuffle":  args("seed", 7, "list", []string{"a", "b", "c", "d"}),
		"random__dice":     args("seed", 7, "dice", "3d6+2"),
		"random__coin":     args("seed", 7, "count", 9),
		"random__string":   args("seed", 7, "length", 20),
		"random__teams":    args("seed", 7, "list", []string{"a", "b", "c", "d"}),
		"random__sentence": args("seed", 7),
	} {
		got := call(t, tools[name], in)
		assert.NotContains(t, got, "error", name)
		assert.Equal(t, got, call(t, tools[name], in), name)
	}
	for _, n := range strings.Split(call(t, tools["random__integers"], args("count", 1000, "min", 1, "max", 3)), ", ") {
		assert.Contains(t, []string{"1", "2", "3"}, n)
	}
	shuffled := strings.Split(call(t, tools["random__shuffle"], args("list", []string{"d", "a", "c", "b"})), ", ")
	slices.Sort(shuffled)
	assert.Equal(t, []string{"a", "b", "c", "d"}, shuffled)
	assert.NotEqual(t, call(t, tools["random__string"], args("length", 40)), call(t, tools["random__string"], args("length", 40)))
	hold(t, []truth{
		{"random__dice", args("dice", "2d1+3"), "5 (rolled 1, 1)"},
		{"random__dice", args("dice", "many"), "~are no dice"},
		{"random__integers", args("min", 3, "max", 1), "~is below the smallest"},
		{"random__choose", args("list", []string{"a"}, "count", 2), "~cannot be chosen from 1"},
	})
}

func TestToolsAreSafeForConcurrentUse(t *testing.T) {
	tools, _ := library(t)
	var wg sync.WaitGroup
	for range 8 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for name, in := range map[string]string{
				"units__list": args("kind", "length"), "time__find_zone": args("place", "ber"), "color__nearest_name": args("color", "#123456"), "json__merge": args("first", "{}", "second", `{"a":1}`),
				"hanzi__chinese_to_number": args("text", "三百"), "files__read": args("path", "a.txt"), "folder__tree": args(), "unicode__inspect": args("text", "abc"), "cipher__morse_decode": args("morse", "..."),
			} {
				assert.NotContains(t, call(t, tools[name], in), "error", name)
			}
		}()
	}
	wg.Wait()
}
