// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package library

// This file is the server of chance. The same seed gives the same answer.

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

var randomServer = group{"random", "Random numbers and choices", []maker{
	define("random__integers", "Draws random whole numbers between two bounds.", func(in struct {
		countIn
		Min int64 `json:"min" jsonschema:"minimum=-1000000000000,maximum=1000000000000" jsonschema_description:"The smallest number possible"`
		Max int64 `json:"max" jsonschema:"minimum=-1000000000000,maximum=1000000000000" jsonschema_description:"The largest number possible"`
	}) (string, error) {
		if in.Max < in.Min {
			return "", fmt.Errorf("the largest number %d is below the smallest %d", in.Max, in.Min)
		}
		r := in.source()
		return strings.Join(times(in.Count, func(int) string { return fmt.Sprint(in.Min + r.Int64N(in.Max-in.Min+1)) }), ", "), nil
	}),
	define("random__floats", "Draws random decimal numbers between two bounds.", func(in struct {
		countIn
		Min float64 `json:"min" jsonschema_description:"The lower bound"`
		Max float64 `json:"max" jsonschema_description:"The upper bound"`
	}) (string, error) {
		if !(in.Min < in.Max) || math.IsInf(in.Max-in.Min, 0) {
			return "", fmt.Errorf("the upper bound must be above the lower one, and not too far")
		}
		r := in.source()
		return strings.Join(times(in.Count, func(int) string { return plain(in.Min + r.Float64()*(in.Max-in.Min)) }), ", "), nil
	}),
	define("random__normal", "Draws normally distributed random numbers around a mean.", func(in struct {
		countIn
		Mean      float64 `json:"mean,omitempty" jsonschema_description:"The mean"`
		Deviation float64 `json:"standard_deviation,omitempty" jsonschema:"default=1,minimum=0" jsonschema_description:"The standard deviation"`
	}) (string, error) {
		r := in.source()
		return strings.Join(times(in.Count, func(int) string { return plain(in.Mean + r.NormFloat64()*in.Deviation) }), ", "), nil
	}),
	define("random__choose", "Chooses some entries of a list at random, each at most once.", func(in struct {
		listIn
		Count int `json:"count,omitempty" jsonschema:"default=1,minimum=1,maximum=10000" jsonschema_description:"How many entries to choose"`
	}) (string, error) {
		if in.Count > len(in.List) {
			return "", fmt.Errorf("%d entries cannot be chosen from %d", in.Count, len(in.List))
		}
		return strings.Join(in.shuffled()[:in.Count], ", "), nil
	}),
	define("random__shuffle", "Puts a list into random order.",
		func(in listIn) (string, error) { return strings.Join(in.shuffled(), ", "), nil }),
	define("random__dice", "Rolls dice given as 2d6 or 1d20+3 and adds them up.", func(in struct {
		seedIn
		Dice string `json:"dice" jsonschema_description:"The dice: 2d6 for two with six sides, 1d20+3 to add three"`
	}) (string, error) {
		m := diceForm.FindStringSubmatch(strings.ToLower(strings.ReplaceAll(in.Dice, " ", "")))
		if m == nil {
			return "", fmt.Errorf("%q are no dice; write 2d6 or 1d20+3", in.Dice)
		}
		n, err := strconv.Atoi(m[1])
		if err != nil {
			n = 1
		}
		sides, _ := strconv.ParseInt(m[2], 10, 64)
		bonus, _ := strconv.ParseInt(m[3], 10, 64)
		if n == 0 || sides == 0 {
			return "", fmt.Errorf("%q are no dice: the numbers must not be zero", in.Dice)
		}
		r := in.source()
		rolls := make([]int64, n)
		total := bonus
		for i := range rolls {
			rolls[i] = 1 + r.Int64N(sides)
			total += rolls[i]
		}
		return fmt.Sprintf("%d (rolled %s)", total, joinInts(rolls, ", ")), nil
	}),
	define("random__coin", "Flips a coin a number of times.", func(in countIn) (string, error) {
		r := in.source()
		out := strings.Join(times(in.Count, func(int) string { return either(r.IntN(2) == 0, "heads", "tails") }), ", ")
		heads := strings.Count(out, "heads")
		return fmt.Sprintf("%s (%d heads, %d tails)", out, heads, in.Count-heads), nil
	}),
	define("random__string", "Makes a random string of letters and digits, not for secrets.", func(in struct {
		seedIn
		Length int    `json:"length,omitempty" jsonschema:"default=16,minimum=1,maximum=10000" jsonschema_description:"How many characters"`
		Of     string `json:"of,omitempty" jsonschema:"enum=alphanumeric,enum=letters,enum=digits,enum=hex,default=alphanumeric" jsonschema_description:"The characters to draw from"`
	}) (string, error) {
		const digits, lower, upper = "0123456789", "abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
		from := map[string]string{"alphanumeric": digits + lower + upper, "letters": lower + upper, "digits": digits, "hex": digits + "abcdef"}[in.Of]
		r := in.source()
		return strings.Join(times(in.Length, func(int) string { return string(from[r.IntN(len(from))]) }), ""), nil
	}),
	define("random__teams", "Divides names into teams at random.", func(in struct {
		listIn
		Teams int `json:"teams,omitempty" jsonschema:"default=2,minimum=1,maximum=1000" jsonschema_description:"How many teams to make"`
	}) (string, error) {
		if in.Teams > len(in.List) {
			return "", fmt.Errorf("%d teams cannot be made of %d names", in.Teams, len(in.List))
		}
		teams := make([][]string, in.Teams)
		for i, name := range in.shuffled() {
			teams[i%in.Teams] = append(teams[i%in.Teams], name)
		}
		write := func(i int) string { return fmt.Sprintf("team %d: %s", i+1, strings.Join(teams[i], ", ")) }
		return strings.Join(times(in.Teams, write), "\n"), nil
	}),
	define("random__sentence", "Makes up a random nonsense sentence, such as for placeholder text.", func(in countIn) (string, error) {
		var (
			who   = strings.Fields("clock river teacup lantern sparrow engine gardener cloud violin postman")
			does  = strings.Fields("borrows paints counts forgets carries answers folds measures follows repairs")
			how   = strings.Fields("quiet yellow hollow patient crooked salted borrowed second paper early")
			where = []string{"behind the station", "before breakfast", "without a map", "in the attic", "under the bridge", "on a Tuesday"}
		)
		r := in.source()
		one := func(of []string) string { return of[r.IntN(len(of))] }
		return strings.Join(times(min(in.Count, 1000), func(int) string {
			return fmt.Sprintf("The %s %s %s the %s %s %s.", one(how), one(who), one(does), one(how), one(who), one(where))
		}), " "), nil
	}),
}}

type seedIn struct {
	Seed int64 `json:"seed,omitempty" jsonschema_description:"A whole number; the same seed gives the same answer. Left out: another answer each time"`
}

func (in seedIn) source() *rand.Rand {
	return rand.New(rand.NewPCG(cmp.Or(uint64(in.Seed), rand.Uint64()), 0x9e3779b97f4a7c15))
}

type countIn struct {
	seedIn
	Count int `json:"count,omitempty" jsonschema:"default=1,minimum=1,maximum=10000" jsonschema_description:"How many to draw"`
}

type listIn struct {
	seedIn
	List []string `json:"list" jsonschema:"minItems=1" jsonschema_description:"The entries"`
}

func (in listIn) shuffled() []string {
	out := slices.Clone(in.List)
	in.source().Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out
}

var diceForm = regexp.MustCompile(`^(\d{0,3})d(\d{1,4})([+-]\d{1,4})?$`)
