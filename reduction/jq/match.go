// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package jq

// Regular expressions. The interpreter's own search takes a time that grows with the square of the
// text, in one call that nothing ends. This one reads a text once, charges what it reads and makes,
// and looks at the context while it reads. What it finds is the same.

import (
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/itchyny/gojq"

	"github.com/einolean/einolean/internal/display"
)

// definitions take the place of jq's own. No query may name what begins with "_".
var definitions = func() []*gojq.FuncDef {
	q, err := gojq.Parse(`
		def test($re; $flags): _test($re; $flags);
		def test($re): if $re | type == "array" then _test($re[0]; $re[1]) else _test($re; null) end;
		def match($re; $flags): _find($re; $flags);
		def match($re): if $re | type == "array" then _find($re[0]; $re[1]) else _find($re; null) end;
		def capture($re; $flags): match($re; $flags) | .captures | _captures;
		def capture($re): match($re) | .captures | _captures;
		def scan($re; $flags): _find($re; $flags + "g") | if .captures == [] then .string else [.captures[].string] end;
		def scan($re): scan($re; null);
		def splits($re; $flags): _pieces($re; $flags + "g") | if type == "string" then . else .before end;
		def splits($re): splits($re; null);
		def split($re; $flags): [splits($re; $flags)];
		def sub($re; str; $flags): [_pieces($re; $flags) | if type == "string" then . else [.before, (.captures | _captures | str)] end] as $p | _joined($p);
		def sub($re; str): sub($re; str; null);
		def gsub($re; str; $flags): sub($re; str; $flags + "g");
		def gsub($re; str): sub($re; str; "g");
		.`)
	if err != nil {
		panic(err) // it is part of the program
	}
	return q.FuncDefs
}()

// searching are the functions that the definitions use.
func searching(m *meter) []gojq.CompilerOption {
	iterate := func(name string, next func(*search) (any, bool)) gojq.CompilerOption {
		return gojq.WithIterFunction(name, 2, 2, func(v any, args []any) gojq.Iter {
			s, err := newSearch(m, "match", v, args[0], args[1])
			if err != nil {
				return gojq.NewIter(err)
			}
			return iterator(func() (any, bool) {
				next, ok := next(s)
				if m.err != nil {
					return m.err, true
				}
				return next, ok
			})
		})
	}
	return []gojq.CompilerOption{
		iterate("_find", (*search).find),
		iterate("_pieces", (*search).piece),
		gojq.WithFunction("_test", 2, 2, func(v any, args []any) any {
			s, err := newSearch(m, "test", v, args[0], args[1])
			if err != nil {
				return err
			}
			return m.result(s.next() != nil)
		}),
		gojq.WithIterFunction("_joined", 1, 1, func(v any, args []any) gojq.Iter {
			text, _ := v.(string)
			pieces, _ := args[0].([]any)
			return joinPieces(m, text, pieces)
		}),
	}
}

// iterator is an iterator that is one function.
type iterator func() (any, bool)

func (i iterator) Next() (any, bool) { return i() }

// search goes through a text. It is used by one goroutine.
type search struct {
	*expression
	meter *meter
	text  string
	all   bool

	at    int  // byte from which the next match is looked for
	runes int  // characters before at
	after int  // byte after the last match
	ended bool // nothing more is looked for
}

// expression is a compiled pattern.
type expression struct {
	first      *regexp.Regexp
	laterMatch *regexp.Regexp // the same after a character, at which it may look back
	cost       int            // units for each character that is read
}

// newSearch begins one.
func newSearch(m *meter, name string, v, re, flags any) (*search, error) {
	text, isText := v.(string)
	pattern, isPattern := re.(string)
	letters, isFlags := flags.(string)
	var e *expression
	if isPattern && (isFlags || flags == nil) {
		var err error
		if e, err = expressionOf(m, pattern, letters); err != nil {
			return nil, err
		}
	}
	if e == nil || !isText {
		return nil, fmt.Errorf("%s(%s; %s) cannot be applied to: %s", name, brief(re), brief(flags), brief(v))
	}
	return &search{expression: e, meter: m, text: text, all: strings.Contains(letters, "g")}, nil
}

func brief(v any) string {
	const most = 60
	line, fits := encode(v, most)
	if !fits {
		return gojq.TypeOf(v)
	}
	return gojq.TypeOf(v) + " (" + string(line) + ")"
}

const (
	// maxPattern is the longest regular expression, in bytes.
	maxPattern = 256
	// maxRepeats is how many copies of a piece its repetitions may make.
	maxRepeats = 1000
	// maxExpressions is how many compiled patterns a query keeps.
	maxExpressions = 100
)

var repetitions = regexp.MustCompile(`\{(\d*)(?:,(\d*))?\}`)

// expressionOf compiles a pattern, unless the query has just done that.
func expressionOf(m *meter, pattern, flags string) (*expression, error) {
	key := flags + " " + pattern
	if e := m.expressions[key]; e != nil {
		return e, nil
	}
	copies := 1
	for _, found := range repetitions.FindAllStringSubmatch(pattern, -1) {
		least, _ := strconv.Atoi(found[1])
		most, _ := strconv.Atoi(found[2])
		copies = min(copies*max(least, most, 1), maxRepeats+1)
	}
	if len(pattern) > maxPattern || copies > maxRepeats {
		m.err = errPattern
		return nil, m.err
	}
	if strings.Trim(flags, "gim") != "" {
		return nil, fmt.Errorf("unsupported regular expression flag: %q", flags)
	}
	size := (len(pattern) + 1) * copies
	if !m.charge(20 * size) {
		return nil, m.err
	}
	if strings.Contains(flags, "i") {
		pattern = "(?i)" + pattern
	}
	if strings.Contains(flags, "m") {
		pattern = "(?s)" + pattern
	}
	first, err := regexp.Compile("(" + pattern + ")")
	if err != nil {
		return nil, fmt.Errorf("invalid regular expression: %s", display.Short(err.Error(), maxReason))
	}
	laterMatch, err := regexp.Compile(`\A(?s:.)(?s:.*?)(` + pattern + ")")
	if err != nil {
		return nil, err
	}
	if m.expressions == nil || len(m.expressions) >= maxExpressions {
		m.expressions = make(map[string]*expression)
	}
	e := &expression{first: first, laterMatch: laterMatch, cost: 1 + size/16}
	m.expressions[key] = e
	return e, nil
}

// reading is what an expression reads of a text: no more once the query has ended.
type reading struct {
	*search
	from int
	read int // characters
}

// perLook is how many characters are read between two looks at the context.
const perLook = 1024

func (r *reading) ReadRune() (rune, int, error) {
	if r.read++; r.from >= len(r.text) || !r.meter.charge(r.cost) || r.read%perLook == 0 && !r.meter.look() {
		return 0, 0, io.EOF
	}
	char, size := utf8.DecodeRuneInString(r.text[r.from:])
	r.from += size
	return char, size, nil
}

// perMatch is what it costs to write down a match, and each of its groups, in units.
const perMatch, perGroup = 40, 8

// next returns where the next match and its groups begin and end, in pairs; nil: there is none.
func (s *search) next() []int {
	if s.ended || !s.meter.look() {
		return nil
	}
	from, e := 0, s.first
	if s.at > 0 {
		_, back := utf8.DecodeLastRuneInString(s.text[:s.at])
		from, e = s.at-back, s.laterMatch
	}
	at := e.FindReaderSubmatchIndex(&reading{search: s, from: from})
	if at == nil || s.meter.err != nil {
		s.ended = true
		return nil
	}
	at = at[2:] // that of the expression around it
	for i := range at {
		if at[i] >= 0 {
			at[i] += from
		}
	}
	groups := len(at)/2 - 1
	s.meter.charge(perMatch + groups*(perGroup+(at[1]-at[0])/64))
	s.ended = !s.all
	return at
}

// find is the next match as jq describes it.
func (s *search) find() (any, bool) {
	at := s.next()
	if at == nil {
		return nil, false
	}
	s.skip(at[0])
	match := s.part(at[0], at[1])
	match["captures"] = s.groups(at)
	s.pass(at[1])
	return match, true
}

// piece is the text before the next match, with its groups; in the end it is the rest of the text.
func (s *search) piece() (any, bool) {
	if s.after < 0 {
		return nil, false
	}
	before := s.text[s.after:]
	at := s.next()
	if at == nil {
		s.after = -1
		return before, true
	}
	piece := map[string]any{"before": s.text[s.after:at[0]]}
	s.skip(at[0])
	piece["captures"] = s.groups(at)
	s.pass(at[1])
	return piece, true
}

// skip goes on to a byte.
func (s *search) skip(to int) {
	s.runes += utf8.RuneCountInString(s.text[s.at:to])
	s.at = to
}

// pass goes on to the end of the match that begins here. Where that is here as well, the next match
// begins after the next character.
func (s *search) pass(end int) {
	s.after = end
	if end == len(s.text) && s.at == end {
		s.ended = true
	} else if s.at == end {
		_, size := utf8.DecodeRuneInString(s.text[end:])
		end += size
	}
	s.skip(end)
}

// part is a part of the match that begins here.
func (s *search) part(from, to int) map[string]any {
	if from < 0 {
		return map[string]any{"offset": -1, "length": 0, "string": nil}
	}
	part := s.text[from:to]
	return map[string]any{"offset": s.runes + utf8.RuneCountInString(s.text[s.at:from]), "length": utf8.RuneCountInString(part), "string": part}
}

func (s *search) groups(at []int) []any {
	names := s.first.SubexpNames()[2:]
	groups := make([]any, len(names))
	for i, name := range names {
		group := s.part(at[2*i+2], at[2*i+3])
		if group["name"] = nil; name != "" {
			group["name"] = name
		}
		groups[i] = group
	}
	return groups
}

// joinPieces makes texts of pieces, the last of which ends each. Every other piece is a list: what stands
// before a match, what is put in its place in the first text, what in the second, and so on.
func joinPieces(m *meter, text string, pieces []any) gojq.Iter {
	place := 0
	return iterator(func() (any, bool) {
		place++
		parts, size := []string{}, 0
		for _, piece := range pieces[:len(pieces)-1] {
			list := piece.([]any)
			if place >= len(list) {
				continue
			}
			replaced, isText := list[place].(string)
			if !isText && list[place] != nil {
				return fmt.Errorf("cannot add: %s and %s", brief(list[0]), brief(list[place])), true
			}
			parts = append(parts, list[0].(string), replaced)
			size += len(list[0].(string)) + len(replaced)
		}
		if len(parts) == 0 {
			return text, place == 1 // nothing was put anywhere
		}
		rest := pieces[len(pieces)-1].(string)
		if !m.charge(len(pieces) + (size+len(rest))/16) {
			return m.err, true
		}
		return strings.Join(append(parts, rest), ""), true
	})
}
