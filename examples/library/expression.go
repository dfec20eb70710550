// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package library

// This file evaluates arithmetic expressions and eliminates matrices.

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// maxMatrix is the most rows or columns of a matrix.
const maxMatrix = 100

func rectangular(m [][]float64) bool {
	if len(m) > maxMatrix || len(m) == 0 {
		return false
	}
	for _, row := range m {
		if len(row) == 0 || len(row) != len(m[0]) || len(row) > maxMatrix {
			return false
		}
	}
	return true
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
		for j := i + 1; j < len(rows); j++ {
			factor := rows[j][i] / rows[i][i]
			for k := i; k < len(rows[j]); k++ {
				rows[j][k] -= factor * rows[i][k]
			}
		}
	}
	return determinant
}

// reader walks an expression from left to right.
type reader struct {
	rest  string
	depth int
}

// evaluate computes an expression.
func evaluate(expression string) (float64, error) {
	if len(expression) > 10_000 {
		return 0, fmt.Errorf("the expression has %d bytes; at most 10000 are read", len(expression))
	}
	r := &reader{rest: strings.NewReplacer("×", "*", "·", "*", "÷", "/", "−", "-", "**", "^", "²", "^2", "π", "pi").Replace(expression)}
	v, err := r.sum()
	if r.peek(); err == nil && r.rest != "" {
		err = fmt.Errorf("cannot read the expression from %q on", r.rest)
	}
	return v, err
}

func (r *reader) peek() byte {
	r.rest = strings.TrimLeft(r.rest, " \t\r\n")
	if r.rest == "" {
		return 0
	}
	return r.rest[0]
}

// take moves past the next byte if it is one of some, and gives it.
func (r *reader) take(some string) byte {
	c := r.peek()
	if c == 0 || strings.IndexByte(some, c) < 0 {
		return 0
	}
	r.rest = r.rest[1:]
	return c
}

func (r *reader) sum() (float64, error) {
	v, err := r.product()
	for op := r.take("+-"); op != 0 && err == nil; op = r.take("+-") {
		var right float64
		right, err = r.product()
		if op == '-' {
			right = -right
		}
		v += right
	}
	return v, err
}

func (r *reader) product() (float64, error) {
	v, err := r.signed()
	for op := r.take("*/%"); op != 0 && err == nil; op = r.take("*/%") {
		var right float64
		if right, err = r.signed(); err != nil {
			return 0, err
		}
		switch {
		case op == '*':
			v *= right
		case right == 0:
			return 0, fmt.Errorf("division by zero")
		case op == '/':
			v /= right
		default:
			v = math.Mod(v, right)
		}
	}
	return v, err
}

// signed binds looser than a power: -2^2 is -4.
func (r *reader) signed() (float64, error) {
	if r.depth++; r.depth > 500 {
		return 0, fmt.Errorf("the expression is nested too deeply")
	}
	defer func() { r.depth-- }()
	if op := r.take("+-"); op != 0 {
		v, err := r.signed()
		if op == '-' {
			v = -v
		}
		return v, err
	}
	base, err := r.atom()
	if err != nil || r.take("^") == 0 {
		return base, err
	}
	exponent, err := r.signed()
	return math.Pow(base, exponent), err
}

func (r *reader) atom() (float64, error) {
	c := r.peek()
	switch {
	case c == '(':
		r.take("(")
		v, err := r.sum()
		if err == nil && r.take(")") == 0 {
			err = fmt.Errorf("a closing parenthesis is missing")
		}
		return v, err
	case c == '.' || (c >= '0' && c <= '9'):
		return r.number()
	case c == 0:
		return 0, fmt.Errorf("the expression ends too early")
	}
	return r.named()
}

func (r *reader) number() (float64, error) {
	end := 0
	for end < len(r.rest) && strings.IndexByte("0123456789._eE", r.rest[end]) >= 0 {
		exponent := r.rest[end] == 'e' || r.rest[end] == 'E'
		if end++; exponent && end < len(r.rest) && strings.IndexByte("+-", r.rest[end]) >= 0 {
			end++
		}
	}
	text := r.rest[:end]
	r.rest = r.rest[end:]
	v, err := strconv.ParseFloat(strings.ReplaceAll(text, "_", ""), 64)
	if err != nil {
		return 0, fmt.Errorf("%q is not a number", text)
	}
	return v, nil
}

var constants = map[string]float64{"pi": math.Pi, "e": math.E, "tau": 2 * math.Pi, "phi": math.Phi}

var functions = map[string]func(args []float64) float64{
	"sqrt": one(math.Sqrt), "cbrt": one(math.Cbrt), "abs": one(math.Abs), "exp": one(math.Exp), "ln": one(math.Log), "log": one(math.Log10), "log10": one(math.Log10),
	"log2": one(math.Log2), "sin": one(math.Sin), "cos": one(math.Cos), "tan": one(math.Tan), "asin": one(math.Asin), "acos": one(math.Acos), "atan": one(math.Atan),
	"floor": one(math.Floor), "ceil": one(math.Ceil), "round": one(math.Round), "sum": sum, "mean": mean,
	"min": func(a []float64) float64 { return fold(a, math.Min) }, "max": func(a []float64) float64 { return fold(a, math.Max) },
}

// one makes a function of one argument; others make it NaN.
func one(f func(float64) float64) func([]float64) float64 {
	return func(args []float64) float64 {
		if len(args) != 1 {
			return math.NaN()
		}
		return f(args[0])
	}
}

func fold(numbers []float64, step func(a, b float64) float64) float64 {
	out := numbers[0]
	for _, n := range numbers[1:] {
		out = step(out, n)
	}
	return out
}

func (r *reader) named() (float64, error) {
	end := strings.IndexFunc(r.rest, func(c rune) bool { return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') })
	if end < 0 {
		end = len(r.rest)
	}
	name := strings.ToLower(r.rest[:end])
	if name == "" {
		return 0, fmt.Errorf("cannot read the expression from %q on", r.rest)
	}
	r.rest = r.rest[end:]
	if v, ok := constants[name]; ok {
		return v, nil
	}
	f := functions[name]
	if f == nil || r.take("(") == 0 {
		return 0, fmt.Errorf("%q is neither a known function with parentheses nor a constant", name)
	}
	var args []float64
	for {
		v, err := r.sum()
		if err != nil {
			return 0, err
		}
		args = append(args, v)
		switch r.take(",)") {
		case ')':
			return f(args), nil
		case 0:
			return 0, fmt.Errorf("a closing parenthesis is missing")
		}
	}
}
