// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package library

// This file is the server of statistics over lists of numbers.

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

var statisticsServer = group{"statistics", "Statistics over lists of numbers", []maker{
	define("statistics__mean", "Computes the arithmetic, geometric or harmonic mean (average) of numbers.", func(in struct {
		numbersIn
		Kind string `json:"kind,omitempty" jsonschema:"enum=arithmetic,enum=geometric,enum=harmonic,default=arithmetic" jsonschema_description:"Which mean to compute"`
	}) (string, error) {
		if in.Kind == "arithmetic" {
			return finite(mean(in.Numbers))
		}
		total := 0.0
		for _, n := range in.Numbers {
			if n <= 0 {
				return "", fmt.Errorf("the %s mean needs numbers above zero, and one is %s", in.Kind, plain(n))
			}
			if in.Kind == "geometric" {
				total += math.Log(n)
			} else {
				total += 1 / n
			}
		}
		if in.Kind == "geometric" {
			return finite(math.Exp(total / float64(len(in.Numbers))))
		}
		return finite(float64(len(in.Numbers)) / total)
	}),
	define("statistics__median", "Finds the median, the middle value of numbers.",
		func(in numbersIn) (string, error) { return finite(percentile(in.Numbers, 50)) }),
	define("statistics__mode", "Finds the value or values that occur most often among numbers.", func(in numbersIn) (string, error) {
		counts := map[float64]int{}
		most := 0
		for _, n := range in.Numbers {
			counts[n]++
			most = max(most, counts[n])
		}
		var modes []float64
		for n, c := range counts {
			if c == most {
				modes = append(modes, n)
			}
		}
		slices.Sort(modes)
		return fmt.Sprintf("%s (%d times)", plainList(modes), most), nil
	}),
	define("statistics__standard_deviation", "Computes the standard deviation and variance of numbers, of a sample or of a whole population.",
		func(in struct {
			numbersIn
			Population bool `json:"population,omitempty" jsonschema_description:"True if the numbers are the whole population rather than a sample"`
		}) (string, error) {
			v := variance(in.Numbers, in.Population)
			if _, err := finite(v); err != nil {
				return "", err
			}
			return fmt.Sprintf("standard deviation %s, variance %s", plain(math.Sqrt(v)), plain(v)), nil
		}),
	define("statistics__percentile", "Finds the value below which a given percentage of the numbers lies, by linear interpolation.", func(in struct {
		numbersIn
		Percent float64 `json:"percent" jsonschema:"minimum=0,maximum=100" jsonschema_description:"The percentage, such as 90 for the 90th percentile"`
	}) (string, error) {
		return finite(percentile(in.Numbers, in.Percent))
	}),
	define("statistics__summary", "Summarises numbers: count, sum, minimum, maximum, mean, median, quartiles and deviation.",
		func(in numbersIn) (string, error) {
			n := in.Numbers
			if _, err := finite(variance(n, false)); err != nil {
				return "", err
			}
			return fmt.Sprintf("count %d\nsum %s\nminimum %s\nlower quartile %s\nmedian %s\nupper quartile %s\nmaximum %s\nmean %s\nstandard deviation %s",
				len(n), plain(sum(n)), plain(slices.Min(n)), plain(percentile(n, 25)), plain(percentile(n, 50)), plain(percentile(n, 75)),
				plain(slices.Max(n)), plain(mean(n)), plain(math.Sqrt(variance(n, false)))), nil
		}),
	define("statistics__correlation", "Computes Pearson's correlation coefficient between two equally long lists of numbers.",
		func(in twoListsIn) (string, error) {
			_, _, r, err := in.fit()
			return plain(r), err
		}),
	define("statistics__linear_regression", "Fits a straight line through points by least squares; gives slope, intercept and R squared.",
		func(in twoListsIn) (string, error) {
			slope, intercept, r, err := in.fit()
			return fmt.Sprintf("y = %s * x + %s (slope %s, intercept %s, R squared %s)", plain(slope), plain(intercept), plain(slope), plain(intercept), plain(r*r)), err
		}),
	define("statistics__histogram", "Counts numbers in equally wide bins and draws a text histogram.", func(in struct {
		numbersIn
		Bins int `json:"bins,omitempty" jsonschema:"default=5,minimum=1,maximum=100" jsonschema_description:"How many bins to make"`
	}) (string, error) {
		low, high := slices.Min(in.Numbers), slices.Max(in.Numbers)
		width := (high - low) / float64(in.Bins)
		if math.IsInf(width, 0) {
			return "", fmt.Errorf("the numbers lie too far apart for a histogram")
		}
		counts := make([]int, in.Bins)
		for _, n := range in.Numbers {
			bin := either(width > 0, min(int((n-low)/width), in.Bins-1), 0)
			counts[bin]++
		}
		var out []string
		for i, c := range counts {
			from := low + float64(i)*width
			out = append(out, fmt.Sprintf("%s to %s: %d %s", plain(from), plain(from+width), c, strings.Repeat("#", min(c, 60))))
		}
		return strings.Join(out, "\n"), nil
	}),
	define("statistics__z_scores", "Computes how many standard deviations each number lies from the mean.", func(in numbersIn) (string, error) {
		m, d := mean(in.Numbers), math.Sqrt(variance(in.Numbers, false))
		if _, err := finite(d); err != nil || d == 0 {
			return "", fmt.Errorf("all numbers are equal or too large, so there is no deviation to measure by")
		}
		out := make([]float64, len(in.Numbers))
		for i, n := range in.Numbers {
			out[i] = (n - m) / d
		}
		return plainList(out), nil
	}),
	define("statistics__moving_average", "Smooths a series of numbers with a moving average over a window.", func(in struct {
		numbersIn
		Window int `json:"window" jsonschema:"minimum=1,maximum=10000" jsonschema_description:"How many neighbouring numbers are averaged"`
	}) (string, error) {
		if in.Window > len(in.Numbers) {
			return "", fmt.Errorf("the window of %d is longer than the list of %d numbers", in.Window, len(in.Numbers))
		}
		out := make([]float64, 0, len(in.Numbers))
		running := 0.0
		for i, n := range in.Numbers {
			running += n
			if i >= in.Window {
				running -= in.Numbers[i-in.Window]
			}
			if i >= in.Window-1 {
				out = append(out, running/float64(in.Window))
			}
		}
		return plainList(out), nil
	}),
	define("statistics__outliers", "Finds numbers that lie more than 1.5 interquartile ranges outside the quartiles.", func(in numbersIn) (string, error) {
		q1, q3 := percentile(in.Numbers, 25), percentile(in.Numbers, 75)
		low, high := q1-1.5*(q3-q1), q3+1.5*(q3-q1)
		found := slices.DeleteFunc(slices.Clone(in.Numbers), func(n float64) bool { return n >= low && n <= high })
		if len(found) == 0 {
			return fmt.Sprintf("no outliers outside %s to %s", plain(low), plain(high)), nil
		}
		return fmt.Sprintf("%s (outside %s to %s)", plainList(found), plain(low), plain(high)), nil
	}),
	define("statistics__weighted_mean", "Computes the average of numbers that each have a weight.", func(in struct {
		numbersIn
		Weights []float64 `json:"weights" jsonschema:"minItems=1" jsonschema_description:"The weight of each number, in the same order"`
	}) (string, error) {
		if len(in.Numbers) != len(in.Weights) {
			return "", fmt.Errorf("there are %d numbers and %d weights; both must have the same count", len(in.Numbers), len(in.Weights))
		}
		total := 0.0
		for i, n := range in.Numbers {
			total += n * in.Weights[i]
		}
		return finite(total / sum(in.Weights))
	}),
}}

type numbersIn struct {
	Numbers []float64 `json:"numbers" jsonschema:"minItems=1" jsonschema_description:"The list of numbers"`
}

func sum(numbers []float64) float64 {
	total := 0.0
	for _, n := range numbers {
		total += n
	}
	return total
}

func mean(numbers []float64) float64 { return sum(numbers) / float64(len(numbers)) }

// percentile interpolates between the two nearest ranks.
func percentile(numbers []float64, percent float64) float64 {
	sorted := slices.Sorted(slices.Values(numbers))
	at := percent / 100 * float64(len(sorted)-1)
	low := int(at)
	high := min(low+1, len(sorted)-1)
	return sorted[low] + (at-float64(low))*(sorted[high]-sorted[low])
}

func variance(numbers []float64, population bool) float64 {
	m, total := mean(numbers), 0.0
	for _, n := range numbers {
		total += (n - m) * (n - m)
	}
	if population || len(numbers) == 1 {
		return total / float64(len(numbers))
	}
	return total / float64(len(numbers)-1)
}

type twoListsIn struct {
	X []float64 `json:"x" jsonschema:"minItems=2" jsonschema_description:"The first list of numbers"`
	Y []float64 `json:"y" jsonschema:"minItems=2" jsonschema_description:"The second list, as long as the first"`
}

// fit gives the least-squares line and the correlation.
func (in twoListsIn) fit() (slope, intercept, r float64, err error) {
	if len(in.X) != len(in.Y) {
		return 0, 0, 0, fmt.Errorf("x has %d numbers and y has %d; both must have the same count", len(in.X), len(in.Y))
	}
	mx, my := mean(in.X), mean(in.Y)
	var sxx, syy, sxy float64
	for i, x := range in.X {
		sxx += (x - mx) * (x - mx)
		syy += (in.Y[i] - my) * (in.Y[i] - my)
		sxy += (x - mx) * (in.Y[i] - my)
	}
	if sxx == 0 || math.IsInf(sxx*syy, 0) || math.IsNaN(sxx*syy) {
		return 0, 0, 0, fmt.Errorf("the numbers in x must differ from each other and must not be huge")
	}
	slope = sxy / sxx
	if syy > 0 {
		r = sxy / math.Sqrt(sxx*syy)
	}
	return slope, my - slope*mx, r, nil
}
