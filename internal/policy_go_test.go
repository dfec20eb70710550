// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package internal_test

// Rules on the shape of Go files: how they open, and how large they grow.

import (
	"fmt"
	"go/ast"
	"go/token"
	"strings"
)

// The most that is allowed.
const (
	maxFile       = 800
	maxTestFile   = 800
	maxFunc       = 60
	maxParams     = 5
	maxComplexity = 15
)

var licenceHeader = rule{
	name: "every Go file starts with the licence",
	mend: "start it with the two lines of internal/policy_test.go and an empty line",
	check: func(t *tree) (found []string) {
		for _, f := range t.code() {
			if !strings.HasPrefix(f.text, spdx) {
				found = append(found, f.path+": no licence header")
			}
		}
		return found
	},
	bad: []sample{{map[string]string{
		"a.go":      "package a\n",
		"b.go":      strings.TrimRight(spdx, "\n") + "\npackage b\n",
		"b_test.go": "// Copyright 2020 The Authors\n\npackage b\n",
	}, []string{"a.go: no licence header", "b.go: no licence header", "b_test.go: no licence header"}}},
	good: []map[string]string{{"a.go": spdx + "package a\n", "testdata/x.go": "package x\n", "x.md": ""}},
}

var packageComments = rule{
	name: "every package has one package comment",
	mend: `say what the package is for in one comment above one package clause: "// Package name …", or "// Command name …"; put an empty line below every other comment there`,
	check: func(t *tree) (found []string) {
		count := make(map[string]int)
		var dirs []string
		for _, f := range t.product() {
			if _, seen := count[f.dir()]; !seen {
				dirs = append(dirs, f.dir())
				count[f.dir()] = 0
			}
			if f.ast.Doc == nil {
				continue
			}
			count[f.dir()]++
			if !strings.HasPrefix(f.ast.Doc.Text(), commentStart(f.ast.Name.Name)) {
				found = append(found, fmt.Sprintf("%s: the package comment does not begin with %q", f.path, commentStart(f.ast.Name.Name)))
			}
		}
		for _, dir := range dirs {
			if count[dir] != 1 {
				found = append(found, fmt.Sprintf("%s: %d package comments", dir, count[dir]))
			}
		}
		return found
	},
	bad: []sample{
		{map[string]string{"a/a.go": spdx + "package a\n", "a/a_test.go": "// Package a tests.\npackage a\n"},
			[]string{"a: 0 package comments"}},
		{map[string]string{"a/a.go": "// Package a is.\npackage a\n", "a/b.go": "// Package a again.\npackage a\n"},
			[]string{"a: 2 package comments"}},
		{map[string]string{"a/a.go": strings.TrimSuffix(spdx, "\n") + "package a\n"},
			[]string{`a/a.go: the package comment does not begin with "Package a "`}},
		{map[string]string{"a/main.go": "// Package main runs.\npackage main\n"},
			[]string{`a/main.go: the package comment does not begin with "Command "`}},
	},
	good: []map[string]string{{
		"a/a.go": spdx + "// Package a is one thing.\npackage a\n", "a/b.go": spdx + "// This file is of a.\n\npackage a\n",
		"c/main.go": "// Command c does.\npackage main\n", "d/d_test.go": "package d_test\n",
	}},
}

func commentStart(name string) string {
	if name == "main" {
		return "Command "
	}
	return "Package " + name + " "
}

var fileSize = rule{
	name: "no file is too long",
	mend: "give each of its concerns a file of its own",
	check: func(t *tree) (found []string) {
		for _, f := range t.code() {
			most := maxFile
			if f.isTest() {
				most = maxTestFile
			}
			if n := strings.Count(f.text, "\n"); n > most {
				found = append(found, fmt.Sprintf("%s: %d lines, at most %d", f.path, n, most))
			}
		}
		return found
	},
	bad: []sample{{map[string]string{
		"a.go":      "package a\n" + strings.Repeat("\n", maxFile),
		"a_test.go": "package a\n" + strings.Repeat("\n", maxTestFile),
	}, []string{"a.go: 801 lines, at most 800", "a_test.go: 801 lines, at most 800"}}},
	good: []map[string]string{{
		"a.go":      "package a\n" + strings.Repeat("\n", maxFile-1),
		"a_test.go": "package a\n" + strings.Repeat("\n", maxTestFile-1),
	}},
}

var functionSize = rule{
	name: "no function is too long or takes too much",
	mend: "take a step with a name out of it; put parameters that belong together into a struct",
	check: func(t *tree) (found []string) {
		for _, f := range t.product() {
			for _, fn := range functions(f.ast) {
				if n := t.lines(fn.node); n > maxFunc {
					found = append(found, fmt.Sprintf("%s: %s has %d lines, at most %d", t.at(fn.node.Pos()), fn.name, n, maxFunc))
				}
				if n := fn.params.NumFields(); n > maxParams {
					found = append(found, fmt.Sprintf("%s: %s has %d parameters, at most %d", t.at(fn.node.Pos()), fn.name, n, maxParams))
				}
			}
		}
		return found
	},
	bad: []sample{{map[string]string{
		"a.go": "package a\n\nfunc long() {" + strings.Repeat("\n", maxFunc) + "}\n",
		"b.go": "package a\n\n// doc\nfunc (t T) many(a, b, c, d, e, f int) {}\n\nvar v = func(int, int, int, int, int, int) {}\n",
	}, []string{"a.go:3: long has 61 lines, at most 60",
		"b.go:4: many has 6 parameters, at most 5", "b.go:6: a function literal has 6 parameters, at most 5"}}},
	good: []map[string]string{{
		"a.go":      "package a\n\nfunc long() {" + strings.Repeat("\n", maxFunc-1) + "}\n",
		"b.go":      "package a\n\nfunc (t T) many(a, b, c, d int, e ...int) (f, g int) { return }\n",
		"a_test.go": "package a\n\nfunc long() {" + strings.Repeat("\n", maxFunc) + "}\n",
	}},
}

var complexity = rule{
	name: "no function branches too often",
	mend: "take a decision with a name out of it, or make a table of it",
	check: func(t *tree) (found []string) {
		for _, f := range t.product() {
			for _, fn := range functions(f.ast) {
				// A literal inside a function counts as part of it.
				if n := cyclomatic(fn.node); n > maxComplexity && !fn.inner {
					found = append(found, fmt.Sprintf("%s: %s has cyclomatic complexity %d, at most %d", t.at(fn.node.Pos()), fn.name, n, maxComplexity))
				}
			}
		}
		return found
	},
	bad: []sample{
		{map[string]string{"a.go": "package a\n\nfunc f(a bool) {\n" + strings.Repeat("if a {}\n", maxComplexity) + "}\n"},
			[]string{"a.go:3: f has cyclomatic complexity 16, at most 15"}},
		{map[string]string{"a.go": strings.Replace(everyBranch, "// more", strings.Repeat("if a {};", maxComplexity-8), 1)},
			[]string{"a.go:3: f has cyclomatic complexity 16, at most 15"}},
		{map[string]string{"a.go": "package a\n\nvar f = []func(bool){\nfunc(a bool) {" + strings.Repeat("_ = a && a || a;", 8) + "},\n}\n"},
			[]string{"a.go:4: a function literal has cyclomatic complexity 17, at most 15"}},
	},
	good: []map[string]string{{
		"a.go":      strings.Replace(everyBranch, "// more", strings.Repeat("if a {};", maxComplexity-9), 1) + "\nvar g = []func(bool){" + strings.Repeat("func(a bool) { if a && a {} }, ", maxComplexity) + "}\n",
		"a_test.go": "package a\n\nfunc f(a bool) {" + strings.Repeat("if a {};", 99) + "}\n",
	}},
}

// everyBranch has each kind of branch; its complexity is 9.
const everyBranch = `package a

func f(a bool, c chan int, x any) {
	for a && a { func() { if a {} }() }
	for range c {}
	switch { case a: default: }
	switch x.(type) { case int: default: }
	select { case <-c: default: }
	_ = a || a
	// more
}
`

func cyclomatic(root ast.Node) int {
	n := 1
	ast.Inspect(root, func(node ast.Node) bool {
		switch v := node.(type) {
		case *ast.IfStmt, *ast.ForStmt, *ast.RangeStmt:
			n++
		case *ast.CaseClause:
			n += min(1, len(v.List))
		case *ast.CommClause:
			if v.Comm != nil {
				n++
			}
		case *ast.BinaryExpr:
			if v.Op == token.LAND || v.Op == token.LOR {
				n++
			}
		}
		return true
	})
	return n
}

// function is a declared one or a literal.
type function struct {
	name   string
	node   ast.Node
	params *ast.FieldList
	inner  bool // a literal inside another function
}

func functions(f *ast.File) (out []function) {
	for _, decl := range f.Decls {
		end := token.NoPos // of the function around the node, if there is one
		ast.Inspect(decl, func(n ast.Node) bool {
			switch v := n.(type) {
			case *ast.FuncDecl:
				out = append(out, function{v.Name.Name, v, v.Type.Params, false})
			case *ast.FuncLit:
				out = append(out, function{"a function literal", v, v.Type.Params, v.Pos() < end})
			default:
				return true
			}
			end = max(end, n.End())
			return true
		})
	}
	return out
}
