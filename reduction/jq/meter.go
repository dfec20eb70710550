// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package jq

// The interpreter asks its context before every instruction, so the context counts them. Calls
// whose cost depends on how large values are have a guard in front of them, which adds up what they
// may cost.

import (
	"context"
	"encoding/json"
	"math/big"
	"strings"
	"time"

	"github.com/itchyny/gojq"
)

const (
	// maxTime is how long a query may take where the other limits do not end it: on a
	// machine that is busy, less comes of it.
	maxTime = 5 * time.Second
	// maxSteps is how many instructions a query may take, and for each unit of the document.
	maxSteps, stepsPerUnit = 4_000_000, 40
	// maxWork is how many units a query may read and make, and for each unit of the document.
	maxWork, workPerUnit = 4_000_000, 16
	// maxLevels is how deep values may lie in each other.
	maxLevels = 2000
	// maxBits is the longest product of integers.
	maxBits = 10_000
)

// meter is the context of one run of a query. It is used by one goroutine.
type meter struct {
	context.Context
	deadline    time.Time
	steps, work int
	err         error // why the query is ended

	expressions map[string]*expression // that were compiled, by flags and pattern
}

// newMeter is for a document of so many units.
func newMeter(ctx context.Context, units int) *meter {
	return &meter{Context: ctx, deadline: time.Now().Add(maxTime), steps: maxSteps + stepsPerUnit*units, work: maxWork + workPerUnit*units}
}

// closed is the channel of a context that has ended.
var closed = func() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()

// Done counts an instruction.
func (m *meter) Done() <-chan struct{} {
	m.steps--
	switch {
	case m.err != nil:
		return closed
	case m.steps < 0:
		m.err = errSlow
	case m.steps%256 == 0:
		m.look()
	}
	return nil
}

// look looks at the context and the clock, and reports whether the query may go on.
func (m *meter) look() bool {
	if m.err == nil {
		m.err = m.Context.Err()
	}
	if m.err == nil && time.Now().After(m.deadline) {
		m.err = errSlow
	}
	return m.err == nil
}

func (m *meter) Err() error { return m.err }

// charge takes n units, and reports whether there are so many.
func (m *meter) charge(n int) bool {
	if m.err == nil && (n < 0 || n > m.work) {
		m.err = errLarge
	}
	m.work -= n
	return m.err == nil
}

// weigh charges the size of a value: one unit for each value in it, however often the same
// one is in it, and one for each 16 bytes of text.
func (m *meter) weigh(v any, level int) bool {
	n := 1
	switch v := v.(type) {
	case string:
		n += len(v) / 16
	case json.Number:
		n += len(v) / 16
	case *big.Int:
		n += v.BitLen() / 128
	case []any:
		for i := range v {
			if level >= maxLevels || !m.weigh(v[i], level+1) {
				return m.tooDeep()
			}
		}
	case map[string]any:
		for k := range v {
			if n += 1 + len(k)/16; level >= maxLevels || !m.weigh(v[k], level+1) {
				return m.tooDeep()
			}
		}
	}
	return m.charge(n)
}

func (m *meter) tooDeep() bool {
	if m.err == nil {
		m.err = errDeep
	}
	return false
}

// length is the items of a list or an object, or the bytes of a text.
func length(v any) int {
	switch v := v.(type) {
	case string:
		return len(v)
	case []any:
		return len(v)
	case map[string]any:
		return len(v)
	}
	return 0
}

// units is what a copy of a value costs without what it holds.
func units(v any) int {
	if s, ok := v.(string); ok {
		return len(s) / 16
	}
	return length(v)
}

// each calls f with the values of a list or an object.
func each(v any, f func(any)) {
	switch v := v.(type) {
	case []any:
		for i := range v {
			f(v[i])
		}
	case map[string]any:
		for k := range v {
			f(v[k])
		}
	}
}

// The names of guards hold a space, so that no query can name them.
const (
	guardWhole   = " whole"   // the input is read to its depth
	guardItems   = " items"   // the items of the input are listed
	guardLetters = " letters" // the input is taken apart into characters or pieces
	guardNumber  = " number"  // the input is read as a number, or as JSON
	guardSum     = " sum"     // the items of the input are added
	guardKey     = " key"     // the input is an index
	guardPlace   = " place"   // the input is an index at which something is put
	guardPath    = " path"    // the argument is a path at which something is put
	guardPaths   = " paths"   // the argument is paths at which something is deleted
	guardEach    = " each"    // each item of the input is compared with the argument
	guardJoin    = " join"    // the items of the input are joined with the argument
	guardPlus    = " plus"
	guardMinus   = " minus"
	guardTimes   = " times"
	guardDivide  = " divide"
	guardCompare = " compare"
)

// options are the guards as functions of a query. Each returns its input, so that a guard
// can stand in a path.
func (m *meter) options() []gojq.CompilerOption {
	all := searching(m)
	for name, guard := range map[string]func(v any){
		guardWhole:   func(v any) { m.weigh(v, 0) },
		guardItems:   func(v any) { m.charge(3 * units(v)) },
		guardLetters: func(v any) { m.charge(2 * length(v)) },
		guardNumber:  m.number,
		guardSum:     m.sum,
		guardKey:     m.key,
		guardPlace:   m.place,
	} {
		all = append(all, gojq.WithFunction(name, 0, 0, func(v any, _ []any) any { guard(v); return m.result(v) }))
	}
	for name, guard := range map[string]func(v, arg any){
		guardPath:  m.path,
		guardPaths: m.paths,
		guardEach:  m.eachOf,
		guardJoin:  func(v, by any) { m.sum(v); m.charge(length(v) * (1 + length(by)/16)) },
	} {
		all = append(all, gojq.WithFunction(name, 1, 1, func(v any, args []any) any { guard(v, args[0]); return m.result(v) }))
	}
	for name, guard := range map[string]func(l, r any){
		guardPlus:    func(l, r any) { m.charge(units(l) + units(r)) },
		guardMinus:   m.eachOf,
		guardTimes:   m.times,
		guardDivide:  func(l, r any) { m.charge(length(l)); m.times(l, r) },
		guardCompare: func(l, r any) { m.weigh(l, 0); m.weigh(r, 0) },
	} {
		all = append(all, gojq.WithFunction(name, 2, 2, func(v any, args []any) any { guard(args[0], args[1]); return m.result(v) }))
	}
	return all
}

func (m *meter) result(v any) any {
	if m.err != nil {
		return m.err
	}
	return v
}

// number keeps texts away from what reads numbers, as long ones take long.
func (m *meter) number(v any) {
	text, _ := v.(string)
	digits := 0
	for i := range len(text) {
		if digits++; text[i] < '0' || text[i] > '9' {
			digits = 0
		}
		if digits > maxBits/10 {
			m.err = errLarge
			return
		}
	}
	m.charge(len(text))
}

func (m *meter) sum(v any) {
	total := 0
	each(v, func(item any) { total += 1 + units(item) })
	m.charge(total)
}

// key refuses what searches a list for a list.
func (m *meter) key(v any) {
	if list, ok := v.([]any); ok && m.err == nil {
		m.charge(len(list))
		m.err = errKey
	}
}

// place charges the items up to one that may be made.
func (m *meter) place(v any) {
	m.key(v)
	if f, ok := gojq.ToFloat64(v); ok {
		m.charge(int(min(max(f, 0), 1e9)))
	}
}

func (m *meter) path(v, path any) {
	if length(path) > maxLevels {
		m.tooDeep()
	}
	each(path, m.place)
	m.copies(v, path)
}

// copies charges a copy of everything along a path.
func (m *meter) copies(v, path any) {
	steps, _ := path.([]any)
	for _, step := range steps {
		m.charge(length(v))
		switch at := v.(type) {
		case map[string]any:
			key, _ := step.(string)
			v = at[key]
		case []any:
			i, ok := gojq.ToInt(step)
			if i < 0 {
				i += len(at)
			}
			if v = nil; ok && i >= 0 && i < len(at) {
				v = at[i]
			}
		}
	}
	m.charge(length(v))
}

func (m *meter) paths(v, paths any) {
	m.weigh(paths, 0)
	m.weigh(v, 0)
	each(paths, func(path any) {
		if m.err == nil {
			m.copies(v, path)
		}
	})
}

// eachOf charges a comparison of all items of one value with all of another.
func (m *meter) eachOf(l, r any) {
	if _, ok := gojq.ToFloat64(l); ok {
		return
	}
	before := m.work
	m.weigh(l, 0)
	left := before - m.work
	before = m.work
	m.weigh(r, 0)
	right := before - m.work
	if m.err == nil && left < 1e9 && right < 1e9 {
		m.charge(left * right / 8)
	}
}

func (m *meter) times(l, r any) {
	left, leftBits := integer(l)
	right, rightBits := integer(r)
	switch {
	case left && right:
		if leftBits+rightBits > maxBits {
			m.err = errLarge
		}
	case length(l) > 0 || length(r) > 0:
		if text, ok := l.(string); ok {
			m.repeat(text, r)
		} else if text, ok := r.(string); ok {
			m.repeat(text, l)
		} else {
			m.weigh(l, 0)
			m.weigh(r, 0)
		}
	}
}

func (m *meter) repeat(text string, times any) {
	if f, ok := gojq.ToFloat64(times); ok {
		m.charge(int(min(max(f, 1), 1e9)) * (len(text)/16 + 1))
	}
}

// integer reports how many bits a whole number has.
func integer(v any) (ok bool, bits int) {
	switch v := v.(type) {
	case int:
		return true, 64
	case *big.Int:
		return true, v.BitLen()
	case json.Number:
		return !strings.ContainsAny(string(v), ".eE"), len(v) * 4
	}
	return false, 0
}
