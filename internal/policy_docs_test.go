// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package internal_test

// Rules on what documents claim.

import (
	"crypto/sha256"
	"fmt"
	"go/ast"
	"path"
	"regexp"
	"slices"
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

// tourStep is a step of the code tour: a numbered line that begins with a link to a Go file.
var tourStep = regexp.MustCompile(`^\d+\. \[[^\]]*\]\(([^)]*\.go)\)[^:]*: ([^:]*)`)

var codeTour = rule{
	name: "the code tour names functions that exist",
	mend: "follow the calls again, and name the functions of the file that somebody should read there",
	check: func(t *tree) (found []string) {
		for _, f := range t.files {
			if f.path != "CONTRIBUTING.md" {
				continue
			}
			for i, line := range strings.Split(f.text, "\n") {
				step := tourStep.FindStringSubmatch(line)
				if step == nil {
					continue
				}
				for _, name := range codeSpan.FindAllStringSubmatch(step[2], -1) {
					if !t.declares(step[1], name[1]) {
						found = append(found, fmt.Sprintf("%s:%d: %s has no function %s", f.path, i+1, step[1], name[1]))
					}
				}
			}
		}
		return found
	},
	bad: []sample{{map[string]string{
		"CONTRIBUTING.md": "1. [a.go](a.go): `first`, `gone`: x\n2. [c.go](b/c.go) of `b`: `first`: x\n",
		"a.go":            "package a\n\nfunc first() {}\n",
		"b/c.go":          "package b\n\nvar first = 1\n",
	}, []string{"CONTRIBUTING.md:1: a.go has no function gone", "CONTRIBUTING.md:2: b/c.go has no function first"}}},
	good: []map[string]string{{
		"CONTRIBUTING.md": "1. [a.go](a.go) of `x`: `first`, `Do`: `other` follows.\n2. Something else: `gone`.\n",
		"a.go":            "package a\n\nfunc first() {}\n\nfunc (t T) Do() {}\n",
	}},
}

// codeSpan is one name in code quotes.
var codeSpan = regexp.MustCompile("`(\\w+)`")

// declares reports whether a file declares a function or method with a name.
func (t *tree) declares(path, name string) bool {
	return slices.ContainsFunc(t.code(), func(f *file) bool {
		return f.path == path && slices.ContainsFunc(f.ast.Decls, func(d ast.Decl) bool {
			fn, ok := d.(*ast.FuncDecl)
			return ok && fn.Name.Name == name
		})
	})
}

var (
	// translated is how a page in another language begins: with its original, and the start of the
	// hash of what that was when the page was last brought up to date.
	translated = regexp.MustCompile(`^<!-- from ((?:\.\./)?[\w.-]+\.md) ([0-9a-f]{12}) -->\n`)
	// codeBlock is code that readers copy. Comments in it are translated as well.
	codeBlock   = regexp.MustCompile("(?ms)^```(?:go|sh|json)\n.*?^```")
	codeComment = regexp.MustCompile(`(?m)\s*(//|# ).*$`)
)

// behind stands in a page whose original has changed since.
const behind = "> 英文版在此之后有改动，以英文版为准。\n"

var translations = rule{
	name: "a translated page is up to date, or says that it is not",
	mend: "bring the page up to date and write the new hash into its first line; if you cannot, put the line \"" + strings.TrimSpace(behind) + "\" below its title",
	check: func(t *tree) (found []string) {
		pages := map[string]*file{}
		for _, f := range t.files {
			pages[f.path] = f
		}
		for _, f := range t.files {
			if f.path != "README.zh.md" && (f.dir() != "docs/zh" || path.Ext(f.path) != ".md") {
				continue
			}
			m := translated.FindStringSubmatch(f.text)
			if m == nil {
				found = append(found, f.path+": does not begin with <!-- from ../x.md HASH -->")
				continue
			}
			if original := pages[path.Join(f.dir(), m[1])]; original == nil {
				found = append(found, f.path+": no page "+m[1])
			} else {
				found = append(found, original.translation(f, m[2])...)
			}
		}
		return found
	},
	bad: []sample{{map[string]string{
		"docs/a.md":    "# A\n\n[中文](zh/a.md)\n\n```go\na() // one\n```\n",
		"docs/b.md":    "# B\n",
		"docs/zh/a.md": "<!-- from ../a.md df354442523e -->\n# 甲\n\n[English](../a.md)\n\n```go\nb() // 一\n```\n",
		"docs/zh/b.md": "<!-- from ../b.md 000000000000 -->\n# 乙\n",
		"docs/zh/c.md": "<!-- from ../c.md 000000000000 -->\n# 丙\n",
		"docs/zh/d.md": "# 丁\n",
		"README.md":    "# R\n",
		"README.zh.md": "<!-- from README.md 000000000000 -->\n# 读\n",
	}, []string{
		"README.zh.md: README.md does not link to it", "README.zh.md: does not link to README.md", "README.zh.md: older than README.md, whose hash is now 3203e738731f",
		"docs/zh/a.md: its code is not that of docs/a.md",
		"docs/zh/b.md: docs/b.md does not link to it", "docs/zh/b.md: does not link to docs/b.md",
		"docs/zh/b.md: older than docs/b.md, whose hash is now a81d3fbddd44",
		"docs/zh/c.md: no page ../c.md", "docs/zh/d.md: does not begin with <!-- from ../x.md HASH -->",
	}}},
	good: []map[string]string{{
		"docs/a.md":    "# A\n\n[中文](zh/a.md)\n\n```go\na() // one\n```\n",
		"docs/zh/a.md": "<!-- from ../a.md df354442523e -->\n# 甲\n\n[English](../a.md)\n\n```go\na() // 一\n```\n",
		"docs/b.md":    "# B\n\n[中文](zh/b.md)\n",
		"docs/zh/b.md": "<!-- from ../b.md 000000000000 -->\n# 乙\n\n" + behind + "\n[English](../b.md)\n",
	}},
}

// translation says what is wrong with a translation of a page, made when the page had a hash.
func (f *file) translation(page *file, hash string) (wrong []string) {
	tell := func(text string) { wrong = append(wrong, page.path+": "+text) }
	if !strings.Contains(f.text, "("+strings.TrimPrefix(page.path, "docs/")+")") {
		tell(f.path + " does not link to it")
	}
	if !strings.Contains(page.text, "("+translated.FindStringSubmatch(page.text)[1]+")") {
		tell("does not link to " + f.path)
	}
	now := fmt.Sprintf("%x", sha256.Sum256([]byte(f.text)))[:12]
	switch {
	case strings.Contains(page.text, behind):
	case now != hash:
		tell("older than " + f.path + ", whose hash is now " + now)
	case codeOf(f.text) != codeOf(page.text):
		tell("its code is not that of " + f.path)
	}
	return wrong
}

// codeOf is the code that a page shows, without comments.
func codeOf(text string) string {
	return codeComment.ReplaceAllString(strings.Join(codeBlock.FindAllString(text, -1), "\n"), "")
}
