// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package internal_test

// Rules on what documents claim.

import (
	"fmt"
	"go/ast"
	"path"
	"regexp"
	"strings"
)

// namedTest is the name of a test in code quotes.
var namedTest = regexp.MustCompile("`((?:Test|Fuzz|Benchmark|Example)[A-Z]\\w*)`")

var namedTests = rule{
	name: "tests that documents name are there",
	mend: "name the test that holds the claim now, or write one",
	check: func(t *tree) (found []string) {
		known := map[string]bool{}
		for _, f := range t.files {
			if f.ast == nil || !strings.HasSuffix(f.path, "_test.go") {
				continue
			}
			for _, d := range f.ast.Decls {
				if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil {
					known[fn.Name.Name] = true
				}
			}
		}
		for _, f := range t.files {
			if path.Ext(f.path) != ".md" || f.testdata() {
				continue
			}
			for _, m := range namedTest.FindAllStringSubmatchIndex(f.text, -1) {
				if name := f.text[m[2]:m[3]]; !known[name] {
					found = append(found, fmt.Sprintf("%s:%d: no test %s", f.path, 1+strings.Count(f.text[:m[0]], "\n"), name))
				}
			}
		}
		return found
	},
	bad: []sample{{map[string]string{
		"a_test.go": "package a\n\nimport \"testing\"\n\nfunc TestThere(t *testing.T) {}\n",
		"a.md":      "`TestThere`\n`TestGone` and `FuzzGone`\n",
	}, []string{"a.md:2: no test TestGone", "a.md:2: no test FuzzGone"}}},
	good: []map[string]string{{
		"a_test.go": "package a\n\nimport \"testing\"\n\nfunc FuzzThere(f *testing.F) {}\n",
		"a.md":      "`FuzzThere`, `Testing`, TestUnquoted\n",
	}},
}
