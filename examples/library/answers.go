// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package library

// This file writes the parts of answers that several servers share: numbers,
// counts, durations and lists.

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
)

// plain writes a number as people do: no noise digits, no exponent unless it is huge or tiny.
func plain(f float64) string {
	if f == 0 {
		return "0"
	}
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(f, 'g', 12, 64), 64)
	if err != nil || math.Abs(rounded) >= 1e15 || math.Abs(rounded) < 1e-6 {
		return strconv.FormatFloat(f, 'g', 12, 64)
	}
	return strconv.FormatFloat(rounded, 'f', -1, 64)
}

func plainList(numbers []float64) string {
	return joined(numbers, ", ", plain)
}

// finite answers with a number, and refuses NaN and infinity.
func finite(f float64) (string, error) {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return "", fmt.Errorf("the result is not a finite number; use smaller or other values")
	}
	return plain(f), nil
}

// money writes an amount with two decimals.
func money(f float64) (string, error) {
	if math.IsNaN(f) || math.Abs(f) > 1e15 {
		return "", fmt.Errorf("the amount is beyond what can be computed; use smaller values")
	}
	return humanize.FormatFloat("#,###.##", f), nil
}

// spell writes a duration in words.
func spell(d time.Duration) string {
	sign := ""
	if d < 0 {
		sign, d = "minus ", -d
	}
	var out []string
	for _, unit := range []struct {
		name string
		size time.Duration
	}{{"day", 24 * time.Hour}, {"hour", time.Hour}, {"minute", time.Minute}} {
		if n := d / unit.size; n > 0 {
			out = append(out, counted(int(n), unit.name))
			d -= n * unit.size
		}
	}
	if d > 0 || len(out) == 0 {
		out = append(out, plain(d.Seconds())+" seconds")
	}
	return sign + strings.Join(out, " ")
}

// counted writes a number and its noun.
func counted(n int, noun string) string {
	return strconv.Itoa(n) + " " + noun + either(n == 1, "", "s")
}

// tally counts equal entries.
func tally[T comparable](list []T) map[T]int {
	counts := map[T]int{}
	for _, entry := range list {
		counts[entry]++
	}
	return counts
}

// ranked lists counts, the highest first, one per line.
func ranked(counts map[string]int, limit int) string {
	keys := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(counts[b]-counts[a], strings.Compare(a, b))
	})
	return joined(keys[:min(limit, len(keys))], "\n", func(k string) string { return fmt.Sprintf("%s: %d", k, counts[k]) })
}

// listed writes lines, or a text if there are none.
func listed(lines []string, none string) string {
	return either(len(lines) == 0, none, strings.Join(lines, "\n"))
}

// filled writes numbers into a format, refusing if one cannot be written.
func filled(write func(float64) (string, error), format string, numbers []float64) (string, error) {
	texts := make([]any, len(numbers))
	for i, n := range numbers {
		text, err := write(n)
		if err != nil {
			return "", err
		}
		texts[i] = text
	}
	return fmt.Sprintf(format, texts...), nil
}

// each writes every entry of a list.
func each[T any](list []T, write func(T) string) []string {
	return times(len(list), func(i int) string { return write(list[i]) })
}

// joined writes every entry of a list, with a separator between them.
func joined[T any](list []T, separator string, write func(T) string) string {
	return strings.Join(each(list, write), separator)
}

// times writes so many entries, by their index.
func times(n int, write func(i int) string) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = write(i)
	}
	return out
}

// either chooses one of two values.
func either[T any](is bool, yes, no T) T {
	if is {
		return yes
	}
	return no
}
