// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package library

// This file is the servers of calculations and of statistics over lists of numbers.

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/cmplx"
	"regexp"
	"slices"
	"strings"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/ast"
)

var mathServer = group{"math", "Calculations", []maker{
	define("math__evaluate", "Evaluates an arithmetic expression with + - * / % ^, parentheses, constants and functions such as sqrt, sin, log, abs, min, max.",
		func(in struct {
			Expression string `json:"expression" jsonschema_description:"The expression, such as (3 + 4) * sqrt(2)"`
		}) (string, error) {
			v, err := evaluate(in.Expression)
			if err != nil {
				return "", err
			}
			return finite(v)
		}),
	define("math__add", "Adds up numbers.", func(in numbersIn) (string, error) { return finite(sum(in.Numbers)) }),
	define("math__multiply", "Multiplies numbers.", func(in numbersIn) (string, error) {
		out := 1.0
		for _, n := range in.Numbers {
			out *= n
		}
		return finite(out)
	}),
	define("math__divide", "Divides one number by another; gives quotient, whole part and remainder.", func(in struct {
		Dividend float64 `json:"dividend" jsonschema_description:"The number to divide"`
		Divisor  float64 `json:"divisor" jsonschema_description:"The number to divide by"`
	}) (string, error) {
		if in.Divisor == 0 {
			return "", fmt.Errorf("division by zero")
		}
		q := in.Dividend / in.Divisor
		if _, err := finite(q); err != nil {
			return "", err
		}
		return fmt.Sprintf("%s (whole part %s, remainder %s)", plain(q), plain(math.Trunc(q)), plain(math.Mod(in.Dividend, in.Divisor))), nil
	}),
	define("math__power", "Raises a number to a power.", func(in struct {
		Base     float64 `json:"base" jsonschema_description:"The base"`
		Exponent float64 `json:"exponent" jsonschema_description:"The exponent"`
	}) (string, error) {
		return finite(math.Pow(in.Base, in.Exponent))
	}),
	define("math__root", "Takes the square root, cube root or n-th root of a number.", func(in struct {
		Number float64 `json:"number" jsonschema_description:"The number to take the root of"`
		Degree int     `json:"degree,omitempty" jsonschema:"default=2,minimum=1,maximum=1000" jsonschema_description:"2 for the square root, 3 for the cube root"`
	}) (string, error) {
		switch {
		case in.Number < 0 && in.Degree%2 == 0:
			return "", fmt.Errorf("an even root of the negative number %s is not real", plain(in.Number))
		case in.Degree == 3:
			return finite(math.Cbrt(in.Number))
		case in.Number < 0:
			return finite(-math.Pow(-in.Number, 1/float64(in.Degree)))
		}
		return finite(math.Pow(in.Number, 1/float64(in.Degree)))
	}),
	define("math__logarithm", "Takes the logarithm of a number to a base; the natural one by default.", func(in struct {
		Number float64 `json:"number" jsonschema_description:"The number, above zero"`
		Base   float64 `json:"base,omitempty" jsonschema_description:"The base, such as 10 or 2; the natural base e if left out"`
	}) (string, error) {
		if in.Number <= 0 || in.Base < 0 || in.Base == 1 {
			return "", fmt.Errorf("the number and the base must be above zero, and the base must not be 1")
		}
		if exact := map[float64]func(float64) float64{0: math.Log, 2: math.Log2, 10: math.Log10}[in.Base]; exact != nil {
			return finite(exact(in.Number))
		}
		return finite(math.Log(in.Number) / math.Log(in.Base))
	}),
	define("math__trigonometry", "Computes sine, cosine or tangent of an angle in degrees, or the angle of a value.", func(in struct {
		Function string  `json:"function" jsonschema:"enum=sin,enum=cos,enum=tan,enum=asin,enum=acos,enum=atan" jsonschema_description:"The function"`
		Value    float64 `json:"value" jsonschema_description:"The angle in degrees; for asin, acos and atan the value"`
	}) (string, error) {
		const degree = math.Pi / 180
		v := map[string]float64{
			"sin": math.Sin(in.Value * degree), "cos": math.Cos(in.Value * degree), "tan": math.Tan(in.Value * degree),
			"asin": math.Asin(in.Value) / degree, "acos": math.Acos(in.Value) / degree, "atan": math.Atan(in.Value) / degree,
		}[in.Function]
		if math.Abs(v) > 1e15 {
			return "", fmt.Errorf("the tangent of %s degrees is not defined", plain(in.Value))
		}
		return finite(math.Round(v*1e12) / 1e12)
	}),
	define("math__round", "Rounds a number to decimal places, up, down or to the nearest.", func(in struct {
		Number float64 `json:"number" jsonschema_description:"The number to round"`
		Places int     `json:"places,omitempty" jsonschema:"minimum=-12,maximum=12" jsonschema_description:"Decimal places; negative for tens, hundreds and so on"`
		Mode   string  `json:"mode,omitempty" jsonschema:"enum=nearest,enum=up,enum=down,enum=bankers,default=nearest" jsonschema_description:"Which way to round"`
	}) (string, error) {
		scale := math.Pow10(in.Places)
		modes := map[string]func(float64) float64{"nearest": math.Round, "up": math.Ceil, "down": math.Floor, "bankers": math.RoundToEven}
		return finite(modes[in.Mode](in.Number*scale) / scale)
	}),
	define("math__percent_of", "Computes a percentage of a number, such as 15 percent of 80.", func(in struct {
		Percent float64 `json:"percent" jsonschema_description:"The percentage, such as 15"`
		Number  float64 `json:"number" jsonschema_description:"The number of which to take the percentage"`
	}) (string, error) {
		return finite(in.Percent / 100 * in.Number)
	}),
	define("math__percent_change", "Computes by how many percent a number rose or fell.", func(in struct {
		From float64 `json:"from" jsonschema_description:"The old number"`
		To   float64 `json:"to" jsonschema_description:"The new number"`
	}) (string, error) {
		if in.From == 0 {
			return "", fmt.Errorf("a change from zero has no percentage")
		}
		text, err := finite((in.To - in.From) / math.Abs(in.From) * 100)
		return text + "%", err
	}),
	define("math__ratio", "Simplifies a ratio of two whole numbers or solves a proportion (rule of three).", func(in struct {
		First  int64 `json:"first" jsonschema:"minimum=1,maximum=1000000000" jsonschema_description:"The first number of the ratio"`
		Second int64 `json:"second" jsonschema:"minimum=1,maximum=1000000000" jsonschema_description:"The second number of the ratio"`
		Third  int64 `json:"third,omitempty" jsonschema:"minimum=0,maximum=1000000000" jsonschema_description:"If given: the number that is to x as the first is to the second"`
	}) (string, error) {
		gcd := new(big.Int).GCD(nil, nil, big.NewInt(in.First), big.NewInt(in.Second)).Int64()
		out := fmt.Sprintf("%d:%d", in.First/gcd, in.Second/gcd)
		if in.Third != 0 {
			out += fmt.Sprintf("; %d:x with x = %s", in.Third, plain(float64(in.Third)*float64(in.Second)/float64(in.First)))
		}
		return out, nil
	}),
	define("math__solve_quadratic", "Solves the quadratic equation ax² + bx + c = 0, complex solutions included.", func(in struct {
		A float64 `json:"a" jsonschema_description:"The coefficient of x²; not zero"`
		B float64 `json:"b" jsonschema_description:"The coefficient of x"`
		C float64 `json:"c" jsonschema_description:"The constant"`
	}) (string, error) {
		if in.A == 0 {
			return "", fmt.Errorf("with a = 0 the equation is not quadratic")
		}
		d := in.B*in.B - 4*in.A*in.C
		if _, err := finite(d); err != nil {
			return "", err
		}
		root := cmplx.Sqrt(complex(d, 0))
		first, second := (complex(-in.B, 0)+root)/complex(2*in.A, 0), (complex(-in.B, 0)-root)/complex(2*in.A, 0)
		switch {
		case d == 0:
			return "x = " + plain(real(first)), nil
		case d > 0:
			return fmt.Sprintf("x = %s or x = %s", plain(max(real(first), real(second))), plain(min(real(first), real(second)))), nil
		}
		return fmt.Sprintf("no real solution; x = %s ± %si", plain(real(first)), plain(math.Abs(imag(first)))), nil
	}),
	define("math__solve_linear_system", "Solves a system of linear equations given by its coefficients and right-hand sides.", func(in struct {
		Coefficients [][]float64 `json:"coefficients" jsonschema:"minItems=1" jsonschema_description:"One list of coefficients for each equation"`
		Results      []float64   `json:"results" jsonschema:"minItems=1" jsonschema_description:"The right-hand side of each equation"`
	}) (string, error) {
		n := len(in.Coefficients)
		if err := square(in.Coefficients); err != nil || len(in.Results) != n {
			return "", fmt.Errorf("there must be as many equations, unknowns and results as each other, and at most %d", maxMatrix)
		}
		rows := in.Coefficients
		for i := range rows {
			rows[i] = append(rows[i], in.Results[i])
		}
		if eliminate(rows) == 0 {
			return "", fmt.Errorf("the equations have no single solution")
		}
		out := make([]string, n)
		for i := n - 1; i >= 0; i-- {
			v := rows[i][n]
			for j := i + 1; j < n; j++ {
				v -= rows[i][j] * rows[j][n]
			}
			rows[i][n] = v / rows[i][i]
			out[i] = fmt.Sprintf("x%d = %s", i+1, plain(math.Round(rows[i][n]*1e10)/1e10))
		}
		return strings.Join(out, ", "), nil
	}),
	define("math__matrix_multiply", "Multiplies two matrices.", func(in struct {
		First  [][]float64 `json:"first" jsonschema:"minItems=1" jsonschema_description:"The first matrix, as a list of rows"`
		Second [][]float64 `json:"second" jsonschema:"minItems=1" jsonschema_description:"The second matrix, as a list of rows"`
	}) (string, error) {
		if !rectangular(in.First) || !rectangular(in.Second) || len(in.First[0]) != len(in.Second) {
			return "", fmt.Errorf("the rows must be equally long (at most %d), and the first matrix must have as many columns as the second has rows", maxMatrix)
		}
		out := make([]string, len(in.First))
		for i, row := range in.First {
			product := make([]float64, len(in.Second[0]))
			for j := range product {
				for k, v := range row {
					product[j] += v * in.Second[k][j]
				}
			}
			out[i] = "[" + plainList(product) + "]"
		}
		return strings.Join(out, "\n"), nil
	}),
	define("math__determinant", "Computes the determinant of a square matrix.", func(in struct {
		Matrix [][]float64 `json:"matrix" jsonschema:"minItems=1" jsonschema_description:"The square matrix, as a list of rows"`
	}) (string, error) {
		if err := square(in.Matrix); err != nil {
			return "", err
		}
		return finite(eliminate(in.Matrix))
	}),
}}

// arithmetic is what an expression may consist of: numbers, names and operators.
var arithmetic = regexp.MustCompile(`^[\sA-Za-z0-9_.,()+\-*/%^]*$`)

var constants = map[string]float64{"pi": math.Pi, "e": math.E, "tau": 2 * math.Pi, "phi": math.Phi}

// language has the functions and constants that expr lacks, over floating-point numbers.
var language = func() []expr.Option {
	options := []expr.Option{expr.AsFloat64(), expr.Patch(floats{}), expr.Env(constants), expr.DisableBuiltin("sum"),
		expr.Function("sum", func(args ...any) (any, error) {
			total := 0.0
			for _, n := range args {
				total += n.(float64)
			}
			return total, nil
		}, new(func(...float64) float64))}
	for name, f := range map[string]func(float64) float64{"sqrt": math.Sqrt, "cbrt": math.Cbrt, "exp": math.Exp, "ln": math.Log, "log": math.Log10, "log10": math.Log10, "log2": math.Log2,
		"sin": math.Sin, "cos": math.Cos, "tan": math.Tan, "asin": math.Asin, "acos": math.Acos, "atan": math.Atan} {
		options = append(options, expr.Function(name, func(args ...any) (any, error) { return f(args[0].(float64)), nil }, f))
	}
	for operator, f := range map[string]func(a, b float64) float64{"/": func(a, b float64) float64 { return a / b }, "%": math.Mod} {
		name := map[string]string{"/": "divide", "%": "remainder"}[operator]
		options = append(options, expr.Operator(operator, name), expr.Function(name, func(args ...any) (any, error) {
			if args[1].(float64) == 0 {
				return nil, errors.New("division by zero")
			}
			return f(args[0].(float64), args[1].(float64)), nil
		}, f))
	}
	return options
}()

// floats makes every number a floating-point one, so that no product overflows.
type floats struct{}

func (floats) Visit(node *ast.Node) {
	if n, ok := (*node).(*ast.IntegerNode); ok {
		ast.Patch(node, &ast.FloatNode{Value: float64(n.Value)})
	}
}

func evaluate(expression string) (float64, error) {
	if len(expression) > 10_000 {
		return 0, fmt.Errorf("the expression has %d bytes; at most 10000 are read", len(expression))
	}
	expression = strings.NewReplacer("×", "*", "·", "*", "÷", "/", "−", "-", "²", "^2", "π", "pi").Replace(strings.ToLower(expression))
	if !arithmetic.MatchString(expression) || strings.Contains(expression, "//") || strings.Contains(expression, "/*") {
		return 0, errors.New("the expression may hold numbers, the operators + - * / % ^, parentheses, constants and functions")
	}
	program, err := expr.Compile(expression, language...)
	if err != nil {
		return 0, fmt.Errorf("the expression cannot be read: %w", err)
	}
	v, err := expr.Run(program, constants)
	if err != nil {
		return 0, err
	}
	return v.(float64), nil
}

// maxMatrix is the most rows or columns of a matrix.
const maxMatrix = 100

func rectangular(m [][]float64) bool {
	uneven := func(row []float64) bool { return len(row) == 0 || len(row) != len(m[0]) || len(row) > maxMatrix }
	return len(m) > 0 && len(m) <= maxMatrix && !slices.ContainsFunc(m, uneven)
}

func square(m [][]float64) error {
	if !rectangular(m) || len(m) != len(m[0]) {
		return fmt.Errorf("the matrix must be square, with at most %d rows", maxMatrix)
	}
	return nil
}

// eliminate brings the rows into triangular form and gives the determinant of
// the square in front.
func eliminate(rows [][]float64) float64 {
	determinant := 1.0
	for i := range rows {
		pivot := i
		for j := i + 1; j < len(rows); j++ {
			if math.Abs(rows[j][i]) > math.Abs(rows[pivot][i]) {
				pivot = j
			}
		}
		if math.Abs(rows[pivot][i]) < 1e-12 {
			return 0
		}
		if pivot != i {
			rows[i], rows[pivot] = rows[pivot], rows[i]
			determinant = -determinant
		}
		determinant *= rows[i][i]
		for _, below := range rows[i+1:] {
			factor := below[i] / rows[i][i]
			for k := i; k < len(below); k++ {
				below[k] -= factor * rows[i][k]
			}
		}
	}
	return determinant
}

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
		return strings.Join(times(in.Bins, func(i int) string {
			from, c := low+float64(i)*width, counts[i]
			return fmt.Sprintf("%s to %s: %d %s", plain(from), plain(from+width), c, strings.Repeat("#", min(c, 60)))
		}), "\n"), nil
	}),
	define("statistics__z_scores", "Computes how many standard deviations each number lies from the mean.", func(in numbersIn) (string, error) {
		m, d := mean(in.Numbers), math.Sqrt(variance(in.Numbers, false))
		if _, err := finite(d); err != nil || d == 0 {
			return "", fmt.Errorf("all numbers are equal or too large, so there is no deviation to measure by")
		}
		return plainList(each(in.Numbers, func(n float64) float64 { return (n - m) / d })), nil
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
