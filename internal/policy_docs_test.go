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

// looksLikeStep is a numbered line that begins with a link to a file of Go.
var looksLikeStep = regexp.MustCompile(`^\d+\. \[[^\]]*\]\([^)]*\.go\)`)

// maxWalk is the most files that a walk through the code opens.
const maxWalk = 8

// walkStep is a step of a walk: a number, a file, and what to read there.
var walkStep = regexp.MustCompile("^(\\d+)\\. \\[[\\w.]+\\]\\(([\\w./]+\\.go)\\)[^:]*: ((?:`\\w+`(?:, )?)+):")

var walks = rule{
	name: "walks through the code lead through it",
	mend: "follow the calls again and name the files and functions in which the data goes on, at most 8 files in the order in which it flows",
	check: func(t *tree) (found []string) {
		for _, f := range t.files {
			if f.path != "CONTRIBUTING.md" {
				continue
			}
			var on walk
			for i, line := range strings.Split(f.text, "\n") {
				m := walkStep.FindStringSubmatch(line)
				switch {
				case m == nil && looksLikeStep.MatchString(line):
					found = append(found, fmt.Sprintf("%s:%d: a step without a file and functions in code quotes", f.path, i+1))
				case m != nil:
					for _, wrong := range on.step(t, m[1], m[2], m[3]) {
						found = append(found, fmt.Sprintf("%s:%d: %s", f.path, i+1, wrong))
					}
				}
			}
		}
		return found
	},
	bad: []sample{{map[string]string{
		"CONTRIBUTING.md": "1. [a.go](a.go): `first`: x\n2. [b.go](b.go): `then`, `unused`, `gone`: x\n3. [c.go](c.go): `other`: x\n" +
			"1. [a.go](a.go): `first`: x\n2. [a.go](a.go): `other`: x\n" + "3. [b.go](b.go): `then`: x\n9. [b.go](b.go): `then`: x\n10. [b.go](b.go): then: x\n",
		"a.go": "package a\n\nfunc first() { then() }\n\nfunc other() {}\n",
		"b.go": "package a\n\nfunc then() {}\n\nfunc unused() {}\n",
	}, []string{
		"CONTRIBUTING.md:2: no step before calls unused", "CONTRIBUTING.md:2: b.go has no function gone", "CONTRIBUTING.md:3: c.go has no function other",
		"CONTRIBUTING.md:5: no step before calls other", "CONTRIBUTING.md:5: a.go was opened before",
		"CONTRIBUTING.md:7: more than 8 files", "CONTRIBUTING.md:7: b.go was opened before",
		"CONTRIBUTING.md:8: a step without a file and functions in code quotes",
	}}},
	good: []map[string]string{{
		"CONTRIBUTING.md": "1. [a.go](a.go): `first`: x\n2. [b.go](b.go), here: `Hook`: x\n1. [b.go](b.go): `then`: x\n1. Something else.\n",
		"a.go":            "package a\n\nfunc (t T) first() { b.then() }\n",
		"b.go":            "package a\n\nfunc then() {}\n\n// Hook is called by others.\nfunc Hook() {}\n",
	}},
}

// walk is what the steps so far have opened and called.
type walk struct {
	files []string
	calls map[string]bool
}

// step takes a step and returns what is wrong with it. What others call, as Eino calls
// hooks, begins with a capital letter.
func (w *walk) step(t *tree, number, file, names string) (wrong []string) {
	if number == "1" {
		*w = walk{calls: map[string]bool{}}
	}
	for _, name := range strings.Split(strings.ReplaceAll(names, "`", ""), ", ") {
		bodies := t.bodies(file, name)
		switch {
		case len(bodies) == 0:
			wrong = append(wrong, fmt.Sprintf("%s has no function %s", file, name))
		case number != "1" && !w.calls[name] && !ast.IsExported(name):
			wrong = append(wrong, "no step before calls "+name)
		}
		for _, b := range bodies {
			ast.Inspect(b, func(n ast.Node) bool {
				if id, ok := n.(*ast.Ident); ok {
					w.calls[id.Name] = true
				}
				return true
			})
		}
	}
	if len(number) > 1 || number > fmt.Sprint(maxWalk) {
		wrong = append(wrong, fmt.Sprintf("more than %d files", maxWalk))
	}
	if slices.Contains(w.files, file) {
		wrong = append(wrong, file+" was opened before")
	}
	w.files = append(w.files, file)
	return wrong
}

// bodies are those of the functions and methods in a file that have a name.
func (t *tree) bodies(file, name string) (out []*ast.BlockStmt) {
	for _, f := range t.files {
		if f.path != file || f.ast == nil {
			continue
		}
		for _, d := range f.ast.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Name.Name == name && fn.Body != nil {
				out = append(out, fn.Body)
			}
		}
	}
	return out
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
