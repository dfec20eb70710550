// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package internal_test

// Rules on how a large package is laid out: few nouns, and a type's methods with the type.

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
	maxAway      = 5 // percent of the methods that stand in another file than their type
	maxNouns     = 8 // unexported types for each 1,000 lines
)

// layout is what a large package may have at the most.
type layout struct{ away, nouns float64 }

// unfinished are packages that do not keep the limits yet, with what they have. These figures
// only ever go down; a package that keeps the limits leaves the list.
var unfinished = map[string]layout{}

var packageLayout = rule{
	name: "large packages have few nouns, and methods stand with their type",
	mend: "move methods into the file that declares their type; use a function, a value or a type that exists instead of a new type",
	check: func(t *tree) (found []string) {
		packages := map[string]*shape{}
		for _, f := range t.product() {
			if f.isTest() || under("examples", f.dir()) || under("internal/dev/tools", f.dir()) || under("internal/dev/backendtest", f.dir()) {
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
		"b/b.go": "package b\n\ntype (\n" + strings.Repeat("t struct{}\n", 7) + ")\n" + strings.Repeat("\n", largePackage),
	}, []string{
		"a: 100 % of the methods stand in another file than their type, at most 5",
		"b: 8.6 unexported types for each 1,000 lines, at most 8",
	}}},
	good: []map[string]string{
		{"a/a.go": "package a\n\ntype t[P any] struct{}\n\nfunc (t *t[P]) m() {}\n" + strings.Repeat("\n", largePackage)},
		{"a/a.go": "package a\n\ntype t struct{}\n", "a/b.go": "package a\n\nfunc (t) m() {}\n"},
		{"examples/a.go": "package a\n\ntype t struct{}\n" + strings.Repeat("\n", largePackage), "examples/b.go": "package a\n\nfunc (t) m() {}\n"},
	},
}

// shape is what the files of a package declare.
type shape struct {
	lines, nouns int
	home         map[string]string   // file of each type
	methods      map[string][]string // the files of each type's methods
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
				name := spec.(*ast.TypeSpec).Name
				s.home[name.Name] = f.path
				if !name.IsExported() {
					s.nouns++
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
		most = layout{maxAway, maxNouns}
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
	if nouns := 1000 * float64(s.nouns) / float64(s.lines); nouns > most.nouns {
		found = append(found, fmt.Sprintf("%s: %.1f unexported types for each 1,000 lines, at most %v", dir, nouns, most.nouns))
	}
	return found
}
