// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package library

// This file writes and reads the values that several servers share: numbers, counts, lists, dates and durations.

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"
	_ "time/tzdata" // so that zones are known on a machine without a zone database

	"github.com/dustin/go-humanize"
	"github.com/xhit/go-str2duration/v2"
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

// each makes something of every entry of a list.
func each[T, R any](list []T, change func(T) R) []R {
	return times(len(list), func(i int) R { return change(list[i]) })
}

// joined writes every entry of a list, with a separator between them.
func joined[T any](list []T, separator string, write func(T) string) string {
	return strings.Join(each(list, write), separator)
}

// times makes so many entries, by their index.
func times[R any](n int, entry func(i int) R) []R {
	out := make([]R, n)
	for i := range out {
		out[i] = entry(i)
	}
	return out
}

// unique keeps the first of equal entries.
func unique[T comparable](list []T) []T {
	seen := map[T]bool{}
	return slices.DeleteFunc(slices.Clone(list), func(entry T) bool {
		old := seen[entry]
		seen[entry] = true
		return old
	})
}

// nonEmpty drops empty entries.
func nonEmpty(list []string) []string {
	return slices.DeleteFunc(list, func(entry string) bool { return entry == "" })
}

// arrange sorts a list and keeps the order of equal entries.
func arrange[T any](list []T, descending bool, less func(a, b T) bool) {
	sort.SliceStable(list, func(i, j int) bool {
		return either(descending, less(list[j], list[i]), less(list[i], list[j]))
	})
}

// oneLine puts a single blank between words.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// either chooses one of two values.
func either[T any](is bool, yes, no T) T {
	if is {
		return yes
	}
	return no
}

var dateLayouts = []string{
	"2006-01-02", "2006/01/02", "2006.01.02", "20060102", "2006-1-2", "2006/1/2", "2006年1月2日",
	"2 January 2006", "2 Jan 2006", "January 2, 2006", "Jan 2, 2006", "January 2 2006", "Jan 2 2006",
	"Monday, 2 January 2006", "Monday, January 2, 2006",
}

var clockLayouts = []string{"15:04:05", "15:04", "3:04:05 PM", "3:04 PM", "3:04PM", "3 PM", "3PM"}

// now is the clock of all tools.
var now = time.Now

// date is an argument that names a day.
type date struct {
	written
	time.Time
}

// UnmarshalJSON reads the date.
func (d *date) UnmarshalJSON(sent []byte) error {
	return decodeText(sent, &d.written, &d.Time, parseDate)
}

// parseDate reads a day, at midnight UTC.
func parseDate(text string) (time.Time, error) {
	text = strings.TrimSpace(text)
	if day, ok := relativeDay(text, time.UTC); ok {
		return day, nil
	}
	for _, layout := range dateLayouts {
		if t, err := time.Parse(layout, text); err == nil {
			return t, nil
		}
	}
	if t, err := time.Parse(time.RFC3339, text); err == nil {
		return time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC), nil
	}
	return time.Time{}, fmt.Errorf("%q is not a date; write it as YYYY-MM-DD, such as 2024-02-29", text)
}

func relativeDay(text string, zone *time.Location) (time.Time, bool) {
	shift, ok := map[string]int{"today": 0, "tomorrow": 1, "yesterday": -1, "今天": 0, "明天": 1, "昨天": -1}[strings.ToLower(text)]
	if !ok {
		return time.Time{}, false
	}
	t := now().In(zone)
	return time.Date(t.Year(), t.Month(), t.Day()+shift, 0, 0, 0, 0, zone), true
}

// parseTime reads a moment in the zone; an offset in the text overrides the zone.
// A clock time alone is one of today.
func parseTime(text string, zone *time.Location) (time.Time, error) {
	text = strings.TrimSpace(text)
	if strings.EqualFold(text, "now") || text == "现在" {
		return now().In(zone), nil
	}
	for _, layout := range []string{time.RFC3339, time.RFC1123Z, "2006-01-02 15:04:05 -0700", "2006-01-02 15:04 -0700"} {
		if t, err := time.Parse(layout, text); err == nil {
			return t, nil
		}
	}
	if t, ok := dayAndClock(text, zone); ok {
		return t, nil
	}
	if t, err := parseDate(text); err == nil {
		return time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, zone), nil
	}
	return time.Time{}, fmt.Errorf("%q is not a time; write it as YYYY-MM-DD HH:MM, such as 2024-02-29 15:30", text)
}

// utc is an argument that names a moment, in UTC where it has no offset of its own.
type utc struct {
	written
	time.Time
}

// UnmarshalJSON reads the moment.
func (u *utc) UnmarshalJSON(sent []byte) error {
	return decodeText(sent, &u.written, &u.Time, func(text string) (time.Time, error) { return parseTime(text, time.UTC) })
}

// dayAndClock reads a clock time, with or without a date before it.
func dayAndClock(text string, zone *time.Location) (time.Time, bool) {
	upper := strings.ToUpper(strings.Replace(text, "T", " ", 1))
	for _, clock := range clockLayouts {
		if t, err := time.Parse(clock, upper); err == nil {
			day, _ := relativeDay("today", zone)
			return time.Date(day.Year(), day.Month(), day.Day(), t.Hour(), t.Minute(), t.Second(), 0, zone), true
		}
		for cut := strings.LastIndexByte(upper, ' '); cut > 0; cut = strings.LastIndexByte(upper[:cut], ' ') {
			t, err := time.Parse(clock, upper[cut+1:])
			if err != nil {
				continue
			}
			day, err := parseDate(text[:cut])
			if err != nil {
				continue
			}
			return time.Date(day.Year(), day.Month(), day.Day(), t.Hour(), t.Minute(), t.Second(), 0, zone), true
		}
	}
	return time.Time{}, false
}

// readableDate writes a day with its weekday.
func readableDate(t time.Time) string { return t.Format("2006-01-02 (Monday)") }

// parseDuration is time.ParseDuration with weeks and days.
func parseDuration(text string) (time.Duration, error) {
	d, err := str2duration.ParseDuration(strings.ReplaceAll(strings.ToLower(text), " ", ""))
	if err != nil {
		return 0, fmt.Errorf("%q is not a duration; write it as 1h30m, 45s or 2d4h (at most 290 years)", text)
	}
	return d, nil
}

// both reads two values in the same way.
func both[T any](read func(string) (T, error), first, second string) (a, b T, err error) {
	a, errFirst := read(first)
	b, errSecond := read(second)
	return a, b, errors.Join(errFirst, errSecond)
}

// sharedEnds counts what two lists begin with and end with in common.
func sharedEnds[T comparable](a, b []T) (head, tail int) {
	for head < min(len(a), len(b)) && a[head] == b[head] {
		head++
	}
	for tail < min(len(a), len(b))-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	return head, tail
}
