// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package library

// This file is the servers of whole numbers and of chance. The same seed gives the same answer.

import (
	"cmp"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"
)

var numberServer = group{"number", "Whole numbers and number systems", []maker{
	define("number__greatest_common_divisor", "Finds the greatest common divisor (GCD) of whole numbers.",
		func(in wholesIn) (string, error) {
			return in.fold(func(a, b *big.Int) *big.Int { return new(big.Int).GCD(nil, nil, a, b) })
		}),
	define("number__least_common_multiple", "Finds the least common multiple (LCM) of whole numbers.", func(in wholesIn) (string, error) {
		return in.fold(func(a, b *big.Int) *big.Int {
			gcd := new(big.Int).GCD(nil, nil, a, b)
			if gcd.Sign() == 0 {
				return gcd
			}
			return new(big.Int).Mul(new(big.Int).Div(a, gcd), b)
		})
	}),
	define("number__is_prime", "Says whether a whole number is prime, and its smallest factor if it is not.", func(in wholeIn) (string, error) {
		f := factors(in.Number)
		switch {
		case len(f) == 1:
			return fmt.Sprintf("yes, %d is prime", in.Number), nil
		case len(f) == 0:
			return "no, 1 is not prime", nil
		}
		return fmt.Sprintf("no, %d is divisible by %d", in.Number, f[0]), nil
	}),
	define("number__next_prime", "Finds the smallest prime above a whole number.", func(in wholeIn) (string, error) {
		n := big.NewInt(in.Number + 1)
		for !n.ProbablyPrime(0) { // exact below 2^64
			n.Add(n, big.NewInt(1))
		}
		return n.String(), nil
	}),
	define("number__factorize", "Breaks a whole number into its prime factors.", func(in wholeIn) (string, error) {
		return either(in.Number == 1, "1 has no prime factors", fmt.Sprintf("%d = %s", in.Number, joinInts(factors(in.Number), " × "))), nil
	}),
	define("number__divisors", "Lists all divisors of a whole number.", func(in wholeIn) (string, error) {
		var low, high []int64
		for d := int64(1); d*d <= in.Number; d++ {
			if in.Number%d == 0 {
				low = append(low, d)
				if d*d != in.Number {
					high = append([]int64{in.Number / d}, high...)
				}
			}
		}
		return joinInts(append(low, high...), ", "), nil
	}),
	define("number__fibonacci", "Computes the n-th Fibonacci number exactly.", func(in indexIn) (string, error) {
		a, b := big.NewInt(0), big.NewInt(1)
		for range in.N {
			a.Add(a, b)
			a, b = b, a
		}
		return a.String(), nil
	}),
	define("number__factorial", "Computes the factorial n! exactly.",
		func(in indexIn) (string, error) { return new(big.Int).MulRange(1, in.N).String(), nil }),
	define("number__binomial", "Counts the ways to choose k of n things (binomial coefficient, combinations).", func(in chooseIn) (string, error) {
		return either(in.K > in.N, "0", new(big.Int).Binomial(in.N, in.K).String()), nil
	}),
	define("number__permutations", "Counts the ordered ways to pick k of n things.", func(in chooseIn) (string, error) {
		return either(in.K > in.N, "0", new(big.Int).MulRange(in.N-in.K+1, in.N).String()), nil
	}),
	define("number__power_modulo", "Computes base to the power of exponent modulo a number, for numbers of any size.", func(in struct {
		Base     string `json:"base" jsonschema_description:"The base, a whole number of any size"`
		Exponent string `json:"exponent" jsonschema_description:"The exponent, a whole number of zero or more"`
		Modulus  string `json:"modulus" jsonschema_description:"The modulus, a whole number above zero"`
	}) (string, error) {
		var n [3]*big.Int
		for i, text := range []string{in.Base, in.Exponent, in.Modulus} {
			var ok bool
			if n[i], ok = new(big.Int).SetString(text, 10); !ok || len(text) > 300 {
				return "", fmt.Errorf("%q is not a whole number of at most 300 digits", text)
			}
		}
		if n[1].Sign() < 0 || n[2].Sign() <= 0 {
			return "", fmt.Errorf("the exponent must not be negative and the modulus must be above zero")
		}
		return new(big.Int).Exp(n[0], n[1], n[2]).String(), nil
	}),
	define("number__convert_base", "Converts a whole number between number systems such as binary, octal, decimal and hexadecimal.", func(in struct {
		Number   string `json:"number" jsonschema_description:"The number, in the digits of from_base, such as ff or 1011"`
		FromBase int    `json:"from_base,omitempty" jsonschema:"default=10,minimum=2,maximum=36" jsonschema_description:"The base the number is written in: 2 binary, 8 octal, 10 decimal, 16 hexadecimal"`
		ToBase   int    `json:"to_base" jsonschema:"minimum=2,maximum=36" jsonschema_description:"The base wanted: 2 binary, 8 octal, 10 decimal, 16 hexadecimal"`
	}) (string, error) {
		digits := strings.ToLower(strings.ReplaceAll(strings.TrimSpace(in.Number), "_", ""))
		prefix := map[int]string{2: "0b", 8: "0o", 16: "0x"}[in.FromBase]
		n, ok := new(big.Int).SetString(strings.TrimPrefix(digits, prefix), in.FromBase)
		if !ok || len(digits) > 2000 {
			return "", fmt.Errorf("%q is not a number in base %d", in.Number, in.FromBase)
		}
		return n.Text(in.ToBase), nil
	}),
	define("number__to_roman", "Writes a number from 1 to 3999 in Roman numerals.", func(in struct {
		Number int `json:"number" jsonschema:"minimum=1,maximum=3999" jsonschema_description:"The number to write, from 1 to 3999"`
	}) (string, error) {
		return roman(in.Number), nil
	}),
	define("number__from_roman", "Reads a Roman numeral such as MCMXCIV as a number.", func(in struct {
		Numeral string `json:"numeral" jsonschema_description:"The Roman numeral, such as MCMXCIV"`
	}) (string, error) {
		rest := strings.ToUpper(strings.TrimSpace(in.Numeral))
		n := 0
		for _, r := range romans {
			for n < 4000 && strings.HasPrefix(rest, r.mark) {
				n += r.value
				rest = rest[len(r.mark):]
			}
		}
		if n == 0 || n > 3999 || rest != "" || roman(n) != strings.ToUpper(strings.TrimSpace(in.Numeral)) {
			return "", fmt.Errorf("%q is not a Roman numeral from I to MMMCMXCIX", in.Numeral)
		}
		return strconv.Itoa(n), nil
	}),
	define("number__to_words", "Spells out a whole number in English words.",
		func(in anyWholeIn) (string, error) { return inWords(in.Number), nil }),
	define("number__ordinal", "Writes a whole number as an English ordinal such as 22nd.", func(in anyWholeIn) (string, error) {
		return either(in.Number < 0, "-"+humanize.Ordinal(int(-in.Number)), humanize.Ordinal(int(in.Number))), nil
	}),
	define("number__digit_sum", "Adds up the digits of a whole number, once and down to a single digit.", func(in wholeIn) (string, error) {
		total := int64(0)
		for n := in.Number; n > 0; n /= 10 {
			total += n % 10
		}
		return fmt.Sprintf("digit sum %d, digital root %d", total, (in.Number-1)%9+1), nil
	}),
	define("number__group_digits", "Writes a number with thousands separators.", func(in struct {
		Number float64 `json:"number" jsonschema_description:"The number to write"`
	}) (string, error) {
		text, err := finite(in.Number)
		if err != nil || strings.ContainsAny(text, "e") {
			return text, err
		}
		n, err := strconv.ParseFloat(text, 64)
		return humanize.Commaf(n), err
	}),
}}

type wholeIn struct {
	Number int64 `json:"number" jsonschema:"minimum=1,maximum=1000000000000" jsonschema_description:"A whole number from 1 to 1000000000000"`
}

type wholesIn struct {
	Numbers []int64 `json:"numbers" jsonschema:"minItems=2" jsonschema_description:"Two or more whole numbers"`
}

// fold combines the magnitudes of all numbers.
func (in wholesIn) fold(step func(a, b *big.Int) *big.Int) (string, error) {
	if len(in.Numbers) > 1000 {
		return "", fmt.Errorf("there are %d numbers; at most 1000 are taken", len(in.Numbers))
	}
	result := new(big.Int).Abs(big.NewInt(in.Numbers[0]))
	for _, n := range in.Numbers[1:] {
		result = step(result, new(big.Int).Abs(big.NewInt(n)))
	}
	return result.String(), nil
}

// factors divides n by ever larger numbers.
func factors(n int64) []int64 {
	var out []int64
	for p := int64(2); p*p <= n; p++ {
		for n%p == 0 {
			out = append(out, p)
			n /= p
		}
	}
	if n > 1 {
		out = append(out, n)
	}
	return out
}

func joinInts(numbers []int64, separator string) string {
	return joined(numbers, separator, func(n int64) string { return strconv.FormatInt(n, 10) })
}

type indexIn struct {
	N int64 `json:"n" jsonschema:"minimum=0,maximum=10000" jsonschema_description:"A whole number from 0 to 10000"`
}

type chooseIn struct {
	N int64 `json:"n" jsonschema:"minimum=0,maximum=10000" jsonschema_description:"How many things there are"`
	K int64 `json:"k" jsonschema:"minimum=0,maximum=10000" jsonschema_description:"How many of them are chosen"`
}

var romans = []struct {
	value int
	mark  string
}{{1000, "M"}, {900, "CM"}, {500, "D"}, {400, "CD"}, {100, "C"}, {90, "XC"}, {50, "L"}, {40, "XL"}, {10, "X"}, {9, "IX"}, {5, "V"}, {4, "IV"}, {1, "I"}}

func roman(n int) string {
	var out strings.Builder
	for _, r := range romans {
		for ; n >= r.value; n -= r.value {
			out.WriteString(r.mark)
		}
	}
	return out.String()
}

type anyWholeIn struct {
	Number int64 `json:"number" jsonschema:"minimum=-999999999999999,maximum=999999999999999" jsonschema_description:"A whole number of at most 15 digits"`
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
	if n < 1000 {
		return hundredsInWords(n)
	}
	var out []string
	for _, scale := range []struct {
		size int64
		name string
	}{{1e12, "trillion"}, {1e9, "billion"}, {1e6, "million"}, {1e3, "thousand"}} {
		if n >= scale.size {
			out = append(out, hundredsInWords(n/scale.size), scale.name)
			n %= scale.size
		}
	}
	if n > 0 {
		out = append(out, hundredsInWords(n))
	}
	return strings.Join(out, " ")
}

func hundredsInWords(n int64) string {
	switch {
	case n >= 100 && n%100 == 0:
		return smallWords[n/100] + " hundred"
	case n >= 100:
		return smallWords[n/100] + " hundred " + hundredsInWords(n%100)
	case n < 20:
		return smallWords[n]
	case n%10 == 0:
		return tensWords[n/10]
	}
	return tensWords[n/10] + "-" + smallWords[n%10]
}

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
