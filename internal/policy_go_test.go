// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package internal_test

// Rules on how Go files begin.

import (
	"fmt"
	"strings"
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
