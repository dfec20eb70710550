// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package library

import (
	_ "embed"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
)

func numberTools() map[string]work {
	return map[string]work{
		"math__multiply": newWork(func(in numbersIn) (string, error) {
			product := 1.0
			for _, n := range in.Numbers {
				product *= n
			}
			return finite(product)
		}),
		"math__percent_of": newWork(func(in struct {
			Percent float64 `json:"percent"`
			Number  float64 `json:"number"`
		}) (string, error) {
			return finite(in.Percent / 100 * in.Number)
		}),
		"statistics__median": newWork(func(in numbersIn) (string, error) {
			sorted := slices.Sorted(slices.Values(in.Numbers))
			low, high := sorted[(len(sorted)-1)/2], sorted[len(sorted)/2]
			return finite(low + (high-low)/2)
		}),
		"geometry__circle": newWork(func(in struct {
			Radius float64 `json:"radius"`
		}) (string, error) {
			area, err := finite(math.Pi * in.Radius * in.Radius)
			return fmt.Sprintf("circumference %s, area %s, diameter %s", plain(2*math.Pi*in.Radius), area, plain(2*in.Radius)), err
		}),
		"number__greatest_common_divisor": newWork(func(in struct {
			Numbers []int64 `json:"numbers"`
		}) (string, error) {
			if len(in.Numbers) > 1000 {
				return "", fmt.Errorf("there are %d numbers; at most 1000 are taken", len(in.Numbers))
			}
			divisor := new(big.Int)
			for _, n := range in.Numbers {
				divisor.GCD(nil, nil, divisor, new(big.Int).Abs(big.NewInt(n)))
			}
			return divisor.String(), nil
		}),
		"number__factorial": newWork(func(in ofIn) (string, error) { return new(big.Int).MulRange(1, in.N).String(), nil }),
		"number__binomial": newWork(func(in ofIn) (string, error) {
			if in.K > in.N {
				return "0", nil
			}
			return new(big.Int).Binomial(in.N, in.K).String(), nil
		}),
		"number__to_words": newWork(func(in wholeIn) (string, error) { return inWords(in.Number), nil }),
		"number__to_roman": newWork(func(in wholeIn) (string, error) { return roman(in.Number), nil }),
	}
}

func unitTools() map[string]work {
	all := map[string]work{
		"units__convert_temperature": newWork(func(in convertIn) (string, error) {
			from, to := temperatureScales[strings.ToLower(in.FromUnit)[0]], temperatureScales[strings.ToLower(in.ToUnit)[0]]
			kelvin := (in.Value + from.shift) * from.factor
			if kelvin < -1e-9 {
				return "", fmt.Errorf("%s %s is below absolute zero", plain(in.Value), in.FromUnit)
			}
			return in.converted(kelvin/to.factor - to.shift)
		}),
	}
	for kind := range units {
		all["units__convert_"+kind] = newWork(func(in convertIn) (string, error) { return in.convert(kind) })
	}
	return all
}

type numbersIn struct {
	Numbers []float64 `json:"numbers"`
}

type ofIn struct {
	N int64 `json:"n"`
	K int64 `json:"k"`
}

type wholeIn struct {
	Number int64 `json:"number"`
}

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

// finite answers with a number, and refuses NaN and infinity.
func finite(f float64) (string, error) {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return "", errors.New("the result is not a finite number; use smaller or other values")
	}
	return plain(f), nil
}

func roman(n int64) string {
	var out strings.Builder
	for _, r := range []struct {
		value int64
		mark  string
	}{{1000, "M"}, {900, "CM"}, {500, "D"}, {400, "CD"}, {100, "C"}, {90, "XC"}, {50, "L"}, {40, "XL"}, {10, "X"}, {9, "IX"}, {5, "V"}, {4, "IV"}, {1, "I"}} {
		for ; n >= r.value; n -= r.value {
			out.WriteString(r.mark)
		}
	}
	return out.String()
}

var (
	smallWords = strings.Fields("zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen")
	tensWords  = strings.Fields("- - twenty thirty forty fifty sixty seventy eighty ninety")
)

// inWords spells out a number of at most 15 digits.
func inWords(n int64) string {
	if n < 0 {
		return "minus " + inWords(-n)
	}
	for _, scale := range []struct {
		size int64
		name string
	}{{1e12, " trillion"}, {1e9, " billion"}, {1e6, " million"}, {1e3, " thousand"}, {100, " hundred"}} {
		if n >= scale.size {
			out := inWords(n/scale.size) + scale.name
			if n %= scale.size; n > 0 {
				out += " " + inWords(n)
			}
			return out
		}
	}
	if n < 20 {
		return smallWords[n]
	}
	return strings.TrimSuffix(tensWords[n/10]+"-"+smallWords[n%10], "-zero")
}

type convertIn struct {
	Value    float64 `json:"value"`
	FromUnit string  `json:"from_unit"`
	ToUnit   string  `json:"to_unit"`
}

func (in convertIn) convert(kind string) (string, error) {
	from, err := sizeOf(kind, in.FromUnit)
	if err != nil {
		return "", err
	}
	to, err := sizeOf(kind, in.ToUnit)
	if err != nil {
		return "", err
	}
	return in.converted(in.Value * from / to)
}

func (in convertIn) converted(value float64) (string, error) {
	text, err := finite(value)
	return fmt.Sprintf("%s %s = %s %s", plain(in.Value), in.FromUnit, text, in.ToUnit), err
}

//go:embed data/units.txt
var unitsText string

// units holds each unit's size in the base unit of its kind, by its spellings.
// The first spelling of a unit is the one it is listed under.
var units = func() map[string]map[string]float64 {
	tables := map[string]map[string]float64{}
	kind := ""
	for line := range strings.Lines(unitsText) {
		names, size, _ := strings.Cut(strings.TrimSpace(line), " = ")
		if heading, ok := strings.CutPrefix(names, "# "); ok {
			kind = heading
			tables[kind] = map[string]float64{}
			continue
		}
		exact, _ := new(big.Rat).SetString(size)
		tables[kind][names], _ = exact.Float64()
	}
	return tables
}()

// sizeOf finds a unit by any spelling, in the singular or plural.
func sizeOf(kind, unit string) (float64, error) {
	key := strings.ToLower(strings.TrimSpace(unit))
	key = strings.NewReplacer("²", "2", "³", "3", "_", " ", "^", "").Replace(key)
	for _, spelling := range []string{key, strings.TrimSuffix(key, "s"), strings.TrimSuffix(key, "es")} {
		for names, size := range units[kind] {
			if slices.Contains(strings.Split(names, "|"), spelling) {
				return size, nil
			}
		}
	}
	known := mapSlice(slices.Collect(maps.Keys(units[kind])), func(names string) string { return strings.Split(names, "|")[0] })
	slices.Sort(known)
	return 0, fmt.Errorf("%q is not a known unit of %s; known are %s", unit, strings.ReplaceAll(kind, "_", " "), strings.Join(known, ", "))
}

// temperatureScales gives each scale as kelvin = (value + shift) * factor.
var temperatureScales = map[byte]struct{ shift, factor float64 }{
	'c': {273.15, 1}, 'f': {459.67, 5.0 / 9}, 'k': {0, 1}, 'r': {0, 5.0 / 9},
}
