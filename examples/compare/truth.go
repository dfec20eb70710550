// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package compare

// This file computes the right answers, with the standard library and without an agent.

import (
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"math"
	"math/big"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/leanctx/leanctx/examples/lab"
)

// work holds the functions that truths are made of. They take and return texts; a wrong argument
// panics, since tasks are part of the program and a test reads them all.
var work = map[string]func(args ...string) string{
	"sha256": func(a ...string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(a[0]))) },
	"sha1":   func(a ...string) string { return fmt.Sprintf("%x", sha1.Sum([]byte(a[0]))) },
	"md5":    func(a ...string) string { return fmt.Sprintf("%x", md5.Sum([]byte(a[0]))) },
	"crc32":  func(a ...string) string { return fmt.Sprintf("%08x", crc32.ChecksumIEEE([]byte(a[0]))) },
	"base64": func(a ...string) string { return base64.StdEncoding.EncodeToString([]byte(a[0])) },
	"upper":  func(a ...string) string { return strings.ToUpper(a[0]) },
	"reverse": func(a ...string) string {
		r := []rune(a[0])
		slices.Reverse(r)
		return string(r)
	},
	"roman":    func(a ...string) string { return roman(whole(a[0])) },
	"gcd":      func(a ...string) string { return new(big.Int).GCD(nil, nil, large(a[0]), large(a[1])).String() },
	"multiply": func(a ...string) string { return fmt.Sprint(whole(a[0]) * whole(a[1])) },
	"root":     func(a ...string) string { return fmt.Sprint(math.Sqrt(decimal(a[0]))) },
	"choose": func(a ...string) string {
		return new(big.Int).Binomial(int64(whole(a[0])), int64(whole(a[1]))).String()
	},
	"hosts": func(a ...string) string { return fmt.Sprint(1<<(32-netip.MustParsePrefix(a[0]).Bits()) - 2) },
	"scale": func(a ...string) string { return scale(decimal(a[0])*decimal(a[1]), whole(a[2])) },
	"median": func(a ...string) string {
		var all []float64
		for _, x := range a {
			all = append(all, decimal(x))
		}
		slices.Sort(all)
		return fmt.Sprint(all[len(all)/2])
	},
	"han": func(a ...string) string {
		n := 0
		for _, r := range a[0] {
			if unicode.Is(unicode.Han, r) {
				n++
			}
		}
		return fmt.Sprint(n)
	},
	"addDays": func(a ...string) string { return day(a[0]).AddDate(0, 0, whole(a[1])).Format(time.DateOnly) },
	"days":    func(a ...string) string { return fmt.Sprint(int(day(a[1]).Sub(day(a[0])).Hours() / 24)) },
	"weekdayZH": func(a ...string) string {
		return "星期" + []string{"日", "一", "二", "三", "四", "五", "六"}[day(a[0]).Weekday()]
	},
	"zodiac": func(a ...string) string {
		return []string{"鼠", "牛", "虎", "兔", "龙", "蛇", "马", "羊", "猴", "鸡", "狗", "猪"}[(whole(a[0])-4)%12]
	},
	"zone": func(a ...string) string {
		t := must(time.ParseInLocation("2006-01-02 15:04", a[0], must(time.LoadLocation(a[1]))))
		return t.In(must(time.LoadLocation(a[2]))).Format("15:04")
	},
	"line": func(a ...string) string { return strings.Split(lab.Files()[a[0]], "\n")[whole(a[1])-1] },
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func whole(text string) int       { return must(strconv.Atoi(text)) }
func decimal(text string) float64 { return must(strconv.ParseFloat(text, 64)) }
func day(text string) time.Time   { return must(time.Parse(time.DateOnly, text)) }

func large(text string) *big.Int { return big.NewInt(int64(whole(text))) }

// scale is a number cut after some decimals, so that whoever rounds later agrees.
func scale(v float64, decimals int) string {
	factor := math.Pow10(decimals)
	return strconv.FormatFloat(math.Trunc(v*factor+1e-9)/factor, 'f', -1, 64)
}

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

// truth is what an answer must hold, or do: a text, or a function with arguments that may be
// functions themselves. Two functions look at what was done: "none" holds where no tool was
// called, and "file" where a file has a content.
type truth struct {
	text string
	does string // "none" or "file"
	args []string
}

// UnmarshalJSON computes the truth.
func (t *truth) UnmarshalJSON(data []byte) error {
	var v any
	if err := json.Unmarshal(data, &v); err != nil {
		return err
	}
	if list, is := v.([]any); is && len(list) > 0 && (list[0] == "none" || list[0] == "file") {
		t.does = list[0].(string)
		for _, a := range list[1:] {
			t.args = append(t.args, a.(string))
		}
		return nil
	}
	t.text = compute(v)
	return nil
}

func compute(v any) string {
	list, is := v.([]any)
	if !is {
		return v.(string)
	}
	var args []string
	for _, a := range list[1:] {
		args = append(args, compute(a))
	}
	return work[list[0].(string)](args...)
}
