// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package jq

import (
	"strconv"

	"github.com/itchyny/gojq"
)

// function says how a function of jq is guarded.
type function struct {
	in          string // guard of the input; if empty, none
	args        string // guard of what each argument returns; if empty, none
	byArgument  string // guard of the input and the first argument, a value
	puts        bool   // the arguments are paths at which something is put
	replacement string // what is to be written in its place
}

// functions are those that a query may use, by name and number of arguments. Those without
// a guard take the same time for every value, or look at the context while they run.
var functions = func() map[string]function {
	all := make(map[string]function)
	add := func(f function, names ...string) {
		for _, name := range names {
			all[name] = f
		}
	}
	add(function{}, "not/0", "length/0", "utf8bytelength/0", "type/0", "has/1", "in/1", "values/0", "nulls/0", "booleans/0",
		"numbers/0", "strings/0", "arrays/0", "objects/0", "iterables/0", "scalars/0", "finites/0", "normals/0", "empty/0", "error/0", "error/1",
		"floor/0", "round/0", "ceil/0", "trunc/0", "sqrt/0", "fabs/0", "abs/0", "log/0", "log2/0", "log10/0", "exp/0", "exp2/0",
		"exp10/0", "pow/2", "fmin/2", "fmax/2", "infinite/0", "nan/0", "isnan/0", "isinfinite/0", "isfinite/0", "isnormal/0", "toboolean/0",
		"first/0", "last/0", "nth/1", "first/1", "last/1", "nth/2", "limit/2", "skip/2", "until/2", "while/2", "repeat/1", "range/1",
		"range/2", "range/3", "isempty/1", "select/1", "recurse/1", "recurse/2", "any/2", "all/2", "path/1", "startswith/1", "endswith/1",
		"ltrimstr/1", "rtrimstr/1", "trimstr/1", "trim/0", "ltrim/0", "rtrim/0", "gmtime/0", "mktime/0", "todate/0", "fromdate/0", "fromdateiso8601/0", "todateiso8601/0")
	add(function{in: guardItems}, "keys/0", "map/1", "any/0", "all/0", "any/1", "all/1", "to_entries/0", "with_entries/1", "from_entries/0", "reverse/0")
	add(function{in: guardItems, args: guardWhole}, "sort_by/1", "group_by/1", "unique_by/1", "min_by/1", "max_by/1", "INDEX/1", "INDEX/2", "IN/2")
	add(function{in: guardWhole}, "recurse/0", "paths/0", "paths/1", "tostring/0", "tojson/0", "ascii_downcase/0", "ascii_upcase/0", "implode/0", "flatten/0",
		"flatten/1", "sort/0", "unique/0", "min/0", "max/0", "walk/1", "map_values/1")
	add(function{in: guardWhole, args: guardWhole}, "IN/1")
	add(function{in: guardWhole, puts: true}, "pick/1")
	add(function{in: guardLetters}, "explode/0", "split/1")
	add(function{in: guardNumber}, "tonumber/0", "fromjson/0")
	add(function{in: guardSum}, "add/0")
	add(function{byArgument: guardEach}, "contains/1", "inside/1", "index/1", "rindex/1", "indices/1", "bsearch/1")
	add(function{byArgument: guardJoin}, "join/1")
	// They look at the context, and charge what they read, while they search: see definitions.
	add(function{}, "test/1", "test/2", "match/1", "match/2", "capture/1", "capture/2", "scan/1", "scan/2", "splits/1", "splits/2", "split/2", "sub/2", "sub/3", "gsub/2", "gsub/3")
	add(function{byArgument: guardPath}, "getpath/1", "setpath/2")
	add(function{byArgument: guardPaths}, "delpaths/1")
	add(function{replacement: "[path(f)] as $p | delpaths($p)"}, "del/1")
	add(function{replacement: "[f] | add"}, "add/1")
	return all
}()

// growing are functions that make endless paths.
var growing = map[string]bool{"recurse/1": true, "recurse/2": true, "repeat/1": true, "while/2": true, "until/2": true, "walk/1": true, "range/1": true, "range/2": true, "range/3": true}

// formats are the texts that a query may write values as.
var formats = map[string]bool{"@text": true, "@json": true, "@csv": true, "@tsv": true, "@html": true, "@uri": true, "@sh": true, "@base64": true, "@base64d": true}

// refused is what a query may not use.
type refused struct{ reason string }

func (r *refused) Error() string { return r.reason }

// guarder changes a parsed query.
type guarder struct{ err error }

// guard puts guards into a query. The error is a [*refused] or one of this package's.
func guard(q *gojq.Query) error {
	var g guarder
	g.query(q, false)
	return g.err
}

func (g *guarder) refuse(reason string) {
	if g.err == nil {
		g.err = &refused{reason}
	}
}

func call(name string, args ...*gojq.Query) *gojq.Query {
	return &gojq.Query{Term: &gojq.Term{Type: gojq.TermTypeFunc, Func: &gojq.Func{Name: name, Args: args}}}
}

func pipe(left, right *gojq.Query) *gojq.Query {
	return &gojq.Query{Left: left, Op: gojq.OpPipe, Right: right}
}

// bind is "left as $name | right".
func bind(left *gojq.Query, name string, right *gojq.Query) *gojq.Query {
	return &gojq.Query{Left: inParentheses(left), Patterns: []*gojq.Pattern{{Name: name}}, Op: gojq.OpPipe, Right: right}
}

func inParentheses(q *gojq.Query) *gojq.Query {
	return &gojq.Query{Term: &gojq.Term{Type: gojq.TermTypeQuery, Query: q}}
}

// query changes a query in its place. puts says that it is a path at which something is
// put, where an index makes as many items.
func (g *guarder) query(q *gojq.Query, puts bool) {
	if q == nil {
		return
	}
	if q.Meta != nil || len(q.Imports) > 0 {
		g.refuse("import")
	}
	if len(q.FuncDefs) > 0 {
		g.refuse("def")
	}
	if g.err != nil {
		return
	}
	if q.Term != nil {
		g.term(q.Term, puts)
		return
	}
	for _, p := range q.Patterns {
		g.pattern(p)
	}
	if updates[q.Op] {
		g.update(q)
		return
	}
	g.query(q.Left, puts && len(q.Patterns) == 0)
	g.query(q.Right, puts)
	name, guarded := operations[q.Op]
	if guarded && (name != guardCompare || !literal(q.Left) && !literal(q.Right)) {
		g.binary(q, name)
	}
}

// operations are the operations on two values, with their guards.
var operations = map[gojq.Operator]string{
	gojq.OpAdd: guardPlus, gojq.OpSub: guardMinus, gojq.OpMul: guardTimes, gojq.OpDiv: guardDivide, gojq.OpMod: guardDivide,
	gojq.OpEq: guardCompare, gojq.OpNe: guardCompare, gojq.OpGt: guardCompare, gojq.OpLt: guardCompare, gojq.OpGe: guardCompare, gojq.OpLe: guardCompare,
}

// updates are the operations that change a value.
var updates = map[gojq.Operator]bool{
	gojq.OpAssign: true, gojq.OpModify: true, gojq.OpUpdateAlt: true, gojq.OpUpdateAdd: true, gojq.OpUpdateSub: true,
	gojq.OpUpdateMul: true, gojq.OpUpdateDiv: true, gojq.OpUpdateMod: true,
}

// Names of variables that no query can use.
const left, right = "$ l", "$ r"

// binary puts a guard in front of an operation on two values.
func (g *guarder) binary(q *gojq.Query, name string) {
	operation := &gojq.Query{Left: call(left), Op: q.Op, Right: call(right)}
	*q = *inParentheses(bind(q.Right, right, bind(q.Left, left, pipe(call(name, call(left), call(right)), operation))))
}

// arithmetic are the operations of updates.
var arithmetic = map[gojq.Operator]gojq.Operator{gojq.OpUpdateAdd: gojq.OpAdd, gojq.OpUpdateSub: gojq.OpSub, gojq.OpUpdateMul: gojq.OpMul, gojq.OpUpdateDiv: gojq.OpDiv, gojq.OpUpdateMod: gojq.OpMod}

// update guards "path op value". With arithmetic it is "value as $r | path |= . op $r".
func (g *guarder) update(q *gojq.Query) {
	changed := &gojq.Query{Left: q.Left, Op: q.Op, Right: q.Right}
	if op, ok := arithmetic[q.Op]; ok {
		identity := &gojq.Query{Term: &gojq.Term{Type: gojq.TermTypeIdentity}}
		changed.Op, changed.Right = gojq.OpModify, inParentheses(&gojq.Query{Left: identity, Op: op, Right: call("$ v")})
		g.query(q.Right, false)
		g.query(changed.Right, false)
		g.query(q.Left, true)
		*q = *inParentheses(bind(q.Right, "$ v", pipe(call(guardWhole), changed)))
		return
	}
	g.query(q.Left, true)
	g.query(q.Right, false)
	*q = *inParentheses(pipe(call(guardWhole), changed))
}

// literal reports whether a query is a number, a text without queries in it, or a word.
func literal(q *gojq.Query) bool {
	if q.Term == nil || len(q.Term.SuffixList) > 0 {
		return false
	}
	switch q.Term.Type {
	case gojq.TermTypeString:
		return q.Term.Str.Queries == nil
	case gojq.TermTypeNumber, gojq.TermTypeNull, gojq.TermTypeTrue, gojq.TermTypeFalse:
		return true
	}
	return false
}

func (g *guarder) pattern(p *gojq.Pattern) {
	for _, item := range p.Array {
		g.pattern(item)
	}
	for _, o := range p.Object {
		g.text(o.KeyString)
		g.query(o.KeyQuery, false)
		if o.Val != nil {
			g.pattern(o.Val)
		}
	}
}

func (g *guarder) term(t *gojq.Term, puts bool) {
	suffixes := t.SuffixList
	t.SuffixList = nil
	g.plain(t, puts)
	for _, s := range suffixes {
		if s.Index != nil {
			g.index(s.Index, puts)
		}
		if s.Iter {
			before := *t
			*t = gojq.Term{Type: gojq.TermTypeQuery, Query: pipe(&gojq.Query{Term: &before}, call(guardItems))}
		}
		t.SuffixList = append(t.SuffixList, s)
	}
}

// plain changes a term without its suffixes.
func (g *guarder) plain(t *gojq.Term, puts bool) {
	switch t.Type {
	case gojq.TermTypeRecurse:
		g.wrap(t, guardWhole)
	case gojq.TermTypeIndex:
		g.index(t.Index, puts)
	case gojq.TermTypeFunc:
		g.function(t, puts)
	case gojq.TermTypeObject:
		g.object(t.Object)
	case gojq.TermTypeArray:
		g.query(t.Array.Query, false)
	case gojq.TermTypeUnary:
		g.term(t.Unary.Term, false)
	case gojq.TermTypeFormat:
		if !formats[t.Format] {
			g.refuse(t.Format)
		}
		g.text(t.Str)
		g.wrap(t, guardWhole)
	case gojq.TermTypeString:
		g.text(t.Str)
	case gojq.TermTypeIf:
		g.choice(t.If, puts)
	case gojq.TermTypeTry:
		g.query(t.Try.Body, puts)
		g.query(t.Try.Catch, puts)
	case gojq.TermTypeReduce, gojq.TermTypeForeach:
		g.loop(t, puts)
	case gojq.TermTypeLabel:
		g.query(t.Label.Body, puts)
	case gojq.TermTypeQuery:
		g.query(t.Query, puts)
	}
}

func (g *guarder) object(o *gojq.Object) {
	for _, kv := range o.KeyVals {
		g.text(kv.KeyString)
		g.query(kv.KeyQuery, false)
		g.query(kv.Val, false)
		if kv.Key == "$ENV" || kv.Key == "$__loc__" {
			g.refuse(kv.Key)
		}
	}
}

func (g *guarder) choice(i *gojq.If, puts bool) {
	g.query(i.Cond, false)
	g.query(i.Then, puts)
	g.query(i.Else, puts)
	for _, e := range i.Elif {
		g.query(e.Cond, false)
		g.query(e.Then, puts)
	}
}

// wrap puts a guard of the input in front of a term.
func (g *guarder) wrap(t *gojq.Term, name string) {
	inner := *t
	*t = gojq.Term{Type: gojq.TermTypeQuery, Query: pipe(call(name), &gojq.Query{Term: &inner})}
}

func (g *guarder) loop(t *gojq.Term, puts bool) {
	var patterns []*gojq.Pattern
	var queries []*gojq.Query
	if r := t.Reduce; t.Type == gojq.TermTypeReduce {
		patterns, queries = r.Patterns, []*gojq.Query{r.Query, r.Start, r.Update}
	} else {
		f := t.Foreach
		patterns, queries = f.Patterns, []*gojq.Query{f.Query, f.Start, f.Update, f.Extract}
	}
	if puts {
		g.refuse("reduce, foreach")
	}
	for _, p := range patterns {
		g.pattern(p)
	}
	for _, q := range queries {
		g.query(q, false)
	}
}

// text guards the queries in a text.
func (g *guarder) text(s *gojq.String) {
	if s == nil {
		return
	}
	for _, q := range s.Queries {
		if q.Term == nil || q.Term.Str == nil {
			g.query(q, false)
			*q = *inParentheses(pipe(inParentheses(&gojq.Query{Meta: q.Meta, Term: q.Term, Left: q.Left, Right: q.Right, Patterns: q.Patterns, Op: q.Op}), call(guardWhole)))
		}
	}
}

// maxPut is the greatest index in a query at which something is put.
const maxPut = 10_000

func (g *guarder) index(x *gojq.Index, puts bool) {
	g.text(x.Str)
	g.query(x.End, false)
	g.query(x.Start, false)
	switch {
	case g.err != nil:
	case x.IsSlice && puts:
		g.refuse(".[a:b] =")
	case x.IsSlice || x.Start == nil:
	case literal(x.Start):
		if at, err := strconv.ParseFloat(x.Start.Term.Number, 64); puts && x.Start.Term.Number != "" && (err != nil || at > maxPut) {
			g.err = errLarge
		}
	case puts:
		x.Start = pipe(inParentheses(x.Start), call(guardPlace))
	default:
		x.Start = pipe(inParentheses(x.Start), call(guardKey))
	}
}

// function guards a call, or a variable.
func (g *guarder) function(t *gojq.Term, puts bool) {
	f := t.Func
	if f.Name[0] == '$' {
		if f.Name == "$ENV" || f.Name == "$__loc__" {
			g.refuse(f.Name)
		}
		return
	}
	if f.Name[0] == ' ' {
		return // a guard's
	}
	key := f.Name + "/" + strconv.Itoa(len(f.Args))
	rule, ok := functions[key]
	if !ok || puts && growing[key] {
		g.refuse(key)
		return
	}
	if rule.replacement != "" {
		g.expand(t, rule.replacement)
		return
	}
	for i, arg := range f.Args {
		g.query(arg, puts || rule.puts)
		if rule.args != "" {
			f.Args[i] = pipe(inParentheses(arg), call(rule.args))
		}
	}
	if rule.byArgument != "" {
		argument := f.Args[0]
		f.Args[0] = call(right)
		inner := *t
		*t = gojq.Term{Type: gojq.TermTypeQuery, Query: bind(argument, right,
			pipe(call(rule.byArgument, call(right)), &gojq.Query{Term: &inner}))}
	} else if rule.in != "" {
		g.wrap(t, rule.in)
	}
}

// expand writes a function as the query that it stands for, with its argument as f.
func (g *guarder) expand(t *gojq.Term, replacement string) {
	arg := t.Func.Args[0]
	q, err := gojq.Parse(replacement)
	if err != nil {
		panic(err) // it is part of the program
	}
	in := q.Left.Term.Array
	if path := in.Query.Term; path != nil && path.Func.Name == "path" {
		path.Func.Args[0] = arg
	} else {
		in.Query = arg
	}
	g.query(q, false)
	*t = gojq.Term{Type: gojq.TermTypeQuery, Query: q}
}
