// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package internal_test

// Rules on how a large package is laid out: few wide structs, and a type's methods with the type.

import (
	"fmt"
	"go/ast"
	"go/token"
	"maps"
	"slices"
	"strings"
)

// What is allowed in a package of more than largePackage lines.
const (
	largePackage = 800
	maxAway      = 5  // percent of the methods that stand in another file than their type
	wide         = 12 // fields from which on an unexported struct does the work of several
	maxWide      = 2
)

// layout is what a large package may have at the most.
type layout struct {
	away float64
	wide int
}

// unfinished are packages that do not keep the limits yet, with what they have. These figures
// only ever go down; a package that keeps the limits leaves the list.
var unfinished = map[string]layout{
	"cmd/einolean":        {maxAway, 5},
	"toolsearch/mcptools": {maxAway, 4},
}

var packageLayout = rule{
	name: "large packages have few wide structs, and methods stand with their type",
	mend: "move methods into the file that declares their type; part a struct of many lives into one for each",
	check: func(t *tree) (found []string) {
		packages := map[string]*shape{}
		for _, f := range t.product() {
			if f.isTest() || under("examples", f.dir()) || under("demo", f.dir()) || under("internal/dev/tools", f.dir()) || under("internal/dev/backendtest", f.dir()) {
				continue
			}
			if packages[f.dir()] == nil {
				packages[f.dir()] = &shape{home: map[string]string{}, methods: map[string][]string{}}
			}
			packages[f.dir()].add(f)
		}
		for _, dir := range slices.Sorted(maps.Keys(packages)) {
			found = append(found, packages[dir].excess(dir)...)
		}
		return found
	},
	bad: []sample{{map[string]string{
		"a/a.go": "package a\n\ntype t struct{}\n" + strings.Repeat("\n", largePackage),
		"a/b.go": "package a\n\nfunc (t *t) m() {}\n",
		"b/b.go": "package b\n\ntype (\n" + strings.Repeat("t struct { a, b, c, d, e, f, g, h, i, j, k int; l string }\n", 3) + ")\n" + strings.Repeat("\n", largePackage),
	}, []string{
		"a: 100 % of the methods stand in another file than their type, at most 5",
		"b: 3 unexported structs of 12 fields and more, at most 2",
	}}},
	good: []map[string]string{
		{"a/a.go": "package a\n\ntype t[P any] struct{}\n\nfunc (t *t[P]) m() {}\n" + strings.Repeat("\n", largePackage)},
		{"a/a.go": "package a\n\ntype t struct{}\n", "a/b.go": "package a\n\nfunc (t) m() {}\n"},
		{"examples/a.go": "package a\n\ntype t struct{}\n" + strings.Repeat("\n", largePackage), "examples/b.go": "package a\n\nfunc (t) m() {}\n"},
	},
}

// shape is what the files of a package declare.
type shape struct {
	lines, wide int
	home        map[string]string   // file of each type
	methods     map[string][]string // the files of each type's methods
}

func (s *shape) add(f *file) {
	s.lines += strings.Count(f.text, "\n")
	for _, d := range f.ast.Decls {
		switch d := d.(type) {
		case *ast.GenDecl:
			if d.Tok != token.TYPE {
				continue
			}
			for _, spec := range d.Specs {
				declared := spec.(*ast.TypeSpec)
				s.home[declared.Name.Name] = f.path
				if body, ok := declared.Type.(*ast.StructType); ok && !declared.Name.IsExported() && body.Fields.NumFields() >= wide {
					s.wide++
				}
			}
		case *ast.FuncDecl:
			if d.Recv != nil {
				owner := receiverName(d.Recv.List[0].Type)
				s.methods[owner] = append(s.methods[owner], f.path)
			}
		}
	}
}

// receiverName is the name of a receiver's type, without its star and parameters.
func receiverName(e ast.Expr) (name string) {
	ast.Inspect(e, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && name == "" {
			name = id.Name
		}
		return name == ""
	})
	return name
}

// excess says what a package has too much of.
func (s *shape) excess(dir string) (found []string) {
	if s.lines <= largePackage {
		return nil
	}
	most, ok := unfinished[dir]
	if !ok {
		most = layout{maxAway, maxWide}
	}
	all, away := 0, 0
	for owner, files := range s.methods {
		for _, f := range files {
			if all++; f != s.home[owner] {
				away++
			}
		}
	}
	if share := 100 * float64(away) / float64(max(1, all)); share > most.away {
		found = append(found, fmt.Sprintf("%s: %.0f %% of the methods stand in another file than their type, at most %v", dir, share, most.away))
	}
	if s.wide > most.wide {
		found = append(found, fmt.Sprintf("%s: %d unexported structs of %d fields and more, at most %d", dir, s.wide, wide, most.wide))
	}
	return found
}
