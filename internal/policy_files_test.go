// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package internal_test

// A rule on how the files of a package depend on each other.

import (
	"fmt"
	"go/ast"
	"go/types"
	"maps"
	"path"
	"slices"
	"strings"
)

// layered are the packages whose files can be read in an order in which each uses only those
// after it.
var layered = []string{
	"toolsearch", "reduction", "window", "internal/keyword", "internal/keyword/bm25",
}

var fileOrder = rule{
	name: "no two files of a package need each other",
	mend: "move what one of them needs into the other, or into a file that both need",
	check: func(t *tree) (found []string) {
		for _, dir := range layered {
			uses := t.usesBetweenFiles(dir)
			for _, from := range slices.Sorted(maps.Keys(uses)) {
				for _, to := range slices.Sorted(maps.Keys(uses[from])) {
					if leads(uses, to, from, map[string]bool{}) {
						found = append(found, fmt.Sprintf("%s/%s: uses %s of %s, which leads back to it", dir, from, uses[from][to], to))
					}
				}
			}
		}
		return found
	},
	bad: []sample{{map[string]string{
		"window/a.go": "package window\n\nfunc a() { b() }\n",
		"window/b.go": "package window\n\nimport \"x/y\"\n\ntype t[P any] struct{ p y.P }\n\nfunc b() { (&t[int]{}).c() }\n",
		"window/c.go": "package window\n\nfunc (t *t[P]) c() { a() }\n\nfunc d() {}\n",
		"window/d.go": "package window\n\nvar e = d\n",
	}, []string{
		"window/a.go: uses b of b.go, which leads back to it", "window/b.go: uses c of c.go, which leads back to it",
		"window/c.go: uses a of a.go, which leads back to it", "window/c.go: uses t of b.go, which leads back to it",
	}}},
	good: []map[string]string{
		{"window/a.go": "package window\n\nfunc a() { b() }\n", "window/b.go": "package window\n\nfunc b() {}\n"},
		{"toolsearch/a.go": "package toolsearch\n\ntype t struct{ f int }\n\nfunc a(x t) { _ = x.f; b() }\n", "toolsearch/b.go": "package toolsearch\n\nfunc b() { x := struct{ f int }{}; _ = x.f }\n"},
		{"cmd/a.go": "package main\n\nfunc a() { b() }\n", "cmd/b.go": "package main\n\nfunc b() { a() }\n"},
	},
}

// usesBetweenFiles lists, for each file of a package, the other ones that it uses, and one
// name in each. What other packages declare is not looked at.
func (t *tree) usesBetweenFiles(dir string) map[string]map[string]string {
	var files []*ast.File
	for _, f := range t.product() {
		if f.dir() == dir {
			files = append(files, f.ast)
		}
	}
	info := types.Info{Uses: map[*ast.Ident]types.Object{}}
	cfg := types.Config{Importer: nothing{}, Error: func(error) {}} // all that is wrong is what was not imported
	pkg, _ := cfg.Check(dir, t.fset, files, &info)
	uses := map[string]map[string]string{}
	for id, obj := range info.Uses {
		if obj.Pkg() != pkg || !isOfPackage(obj) {
			continue
		}
		from, to := path.Base(t.fset.Position(id.Pos()).Filename), path.Base(t.fset.Position(obj.Pos()).Filename)
		if from == to {
			continue
		}
		if uses[from] == nil {
			uses[from] = map[string]string{}
		}
		if name := uses[from][to]; name == "" || id.Name < name {
			uses[from][to] = id.Name
		}
	}
	return uses
}

// isOfPackage reports whether a package declares something: a field or a variable of a
// function is part of something else.
func isOfPackage(obj types.Object) bool {
	if _, isFunc := obj.(*types.Func); isFunc {
		return true
	}
	return obj.Parent() == obj.Pkg().Scope()
}

// leads reports whether a file uses another one, directly or through others.
func leads(uses map[string]map[string]string, from, to string, seen map[string]bool) bool {
	if from == to {
		return true
	}
	seen[from] = true
	for next := range uses[from] {
		if !seen[next] && leads(uses, next, to, seen) {
			return true
		}
	}
	return false
}

// nothing imports packages in which nothing is declared.
type nothing struct{}

func (nothing) Import(name string) (*types.Package, error) {
	p := types.NewPackage(name, strings.ReplaceAll(path.Base(name), "-", "_"))
	p.MarkComplete()
	return p, nil
}
