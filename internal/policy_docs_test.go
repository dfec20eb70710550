// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package internal_test

// Rules on what documents claim.

import (
	"fmt"
	"go/ast"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

var (
	// namedTest is the name of a test, and not of a function of einoleantest.
	namedTest = regexp.MustCompile(`(?:^|[^.\w])((?:Test|Fuzz|Benchmark)[A-Z]\w*)`)
	// namedExample is the name of an example in code quotes. Users see examples beside the API.
	namedExample = regexp.MustCompile("`(Example[A-Z]\\w*)`")
)

// claimsPage says which test holds which claim. It is made from the tests.
const claimsPage = "internal/dev/CLAIMS.md"

var namedTests = rule{
	name: "documents name no tests, and the Makefile only those that are there",
	mend: "in a document, leave the name out and mark the test with //claim:ID (" + claimsPage + "); in the Makefile, use the new name",
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
			switch {
			case f.path == "Makefile":
				found = append(found, f.matches(namedTest, "no test %s", func(name string) bool { return !known[name] })...)
			case path.Ext(f.path) == ".md" && !f.testdata() && f.path != claimsPage:
				found = append(found, f.matches(namedTest, "names the test %s", func(string) bool { return true })...)
				found = append(found, f.matches(namedExample, "no example %s", func(name string) bool { return !known[name] })...)
			}
		}
		return found
	},
	bad: []sample{{map[string]string{
		"a_test.go": "package a\n\nimport \"testing\"\n\nfunc TestThere(t *testing.T) {}\n",
		"a.md":      "`TestThere`\nTestGone and (`FuzzGone`) `ExampleGone`\n",
		"Makefile":  "x:\n\tgo test -run '^(TestThere|TestGone)$$' .\n",
	}, []string{
		"Makefile:2: no test TestGone",
		"a.md:1: names the test TestThere", "a.md:2: names the test TestGone", "a.md:2: names the test FuzzGone",
		"a.md:2: no example ExampleGone",
	}}},
	good: []map[string]string{{
		"a_test.go": "package a\n\nimport \"testing\"\n\nfunc ExampleThere() {}\n\nfunc FuzzThere(f *testing.F) {}\n",
		"a.md":      "`ExampleThere`, `Testing`, `einoleantest.TestBackend`\n",
		claimsPage:  "`FuzzThere`\n",
		"Makefile":  "x:\n\tgo test -run '^FuzzThere$$' .\n",
	}},
}

// matches reports the names in a file that an expression finds and that are wrong.
func (f *file) matches(name *regexp.Regexp, format string, isWrong func(string) bool) (found []string) {
	for _, m := range name.FindAllStringSubmatchIndex(f.text, -1) {
		if name := f.text[m[2]:m[3]]; isWrong(name) {
			found = append(found, fmt.Sprintf("%s:%d: "+format, f.path, 1+strings.Count(f.text[:m[2]], "\n"), name))
		}
	}
	return found
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

// translations compares a Chinese page with its original in what both must have. A Chinese page may leave
// figures and links out; it may not have others.
var translations = rule{
	name: "a translated page has the code, the headings, the figures and the links of its original",
	mend: "bring both pages in line; a figure of the Chinese page is one of the English page",
	check: func(t *tree) (found []string) {
		pages := map[string]*file{}
		for _, f := range t.files {
			pages[f.path] = f
		}
		for _, f := range t.files {
			if original := originalOf(f.path); original == "" {
				continue
			} else if pages[original] == nil {
				found = append(found, f.path+": no page "+original)
			} else {
				found = append(found, compareTranslation(pages[original], f)...)
			}
		}
		return found
	},
	bad: []sample{{map[string]string{
		"docs/a.md":        "# A\n\n[中文](zh/a.md)\n\n```go\na() // one\n```\n",
		"docs/zh/a.md":     "# 甲\n\n[English](../a.md)\n\n```go\nb() // 一\n```\n",
		"docs/b.md":        "# B\n",
		"docs/zh/b.md":     "# 乙\n",
		"docs/zh/c.md":     "# 丙\n",
		"docs/d.md":        "# D\n\n[中文](zh/d.md)\n\n## E\n\n.36 of 1,900, [f](f.md)\n",
		"docs/zh/d.md":     "# 丁\n\n[English](../d.md)\n\n190 万的 0.37，[f](../f.md)，[g](g.md)，[h](https://example.com/h)\n",
		"docs/f.md":        "# F\n",
		"README.md":        "# R\n",
		"README.zh.md":     "# 读\n\n[English](README.md)\n",
		"docs/img/zh/a.md": "no page\n",
	}, []string{
		"README.zh.md: README.md does not link to it",
		"docs/zh/a.md: its code is not that of docs/a.md",
		"docs/zh/b.md: docs/b.md does not link to it", "docs/zh/b.md: does not link to docs/b.md",
		"docs/zh/c.md: no page docs/c.md",
		"docs/zh/d.md: its headings are not those of docs/d.md",
		"docs/zh/d.md: docs/d.md has no figure 0.37", "docs/zh/d.md: docs/d.md has no figure 1.9",
		"docs/zh/d.md: docs/d.md has no link to docs/g.md", "docs/zh/d.md: docs/d.md has no link to https://example.com/h",
	}}},
	good: []map[string]string{{
		"docs/a.md": "# A\n\n[中文](zh/a.md)\n\n```go\na() // one\n```\n\n## 50 of 100\n\n.42 of 1,000, 2.80 million [b](b.md#x) ![i](img/i.svg)\n",
		"docs/zh/a.md": "# 甲\n\n[English](../a.md)\n\n```go\na() // 一\n```\n\n## 一半\n\n" +
			"1000 的 0.42，280 万，[b](b.md) ![i](../img/zh/i.svg)\n",
		"docs/b.md":    "# B\n\n[中文](zh/b.md)\n\n[a](a.md)\n",
		"docs/zh/b.md": "# 乙\n\n[English](../b.md)\n",
	}},
}

// originalOf is the page that a Chinese page translates, "" for any other file.
func originalOf(name string) string {
	switch {
	case name == "README.zh.md":
		return "README.md"
	case path.Dir(name) == "docs/zh" && path.Ext(name) == ".md":
		return "docs/" + path.Base(name)
	}
	return ""
}

func compareTranslation(original, page *file) (wrong []string) {
	add := func(text string) { wrong = append(wrong, page.path+": "+text) }
	if !slices.Contains(linkTargets(original), page.path) {
		add(original.path + " does not link to it")
	}
	if !slices.Contains(linkTargets(page), original.path) {
		add("does not link to " + original.path)
	}
	if codeOf(original.text) != codeOf(page.text) {
		add("its code is not that of " + original.path)
	}
	if !slices.Equal(headingLevels(original.text), headingLevels(page.text)) {
		add("its headings are not those of " + original.path)
	}
	for _, figure := range missing(figuresOf(page.text), figuresOf(original.text)) {
		add(original.path + " has no figure " + figure)
	}
	for _, target := range missing(translatedTargets(page), append(linkTargets(original), original.path)) {
		add(original.path + " has no link to " + target)
	}
	return wrong
}

// missing are the sorted values of a list that another one has not.
func missing(list, in []string) (out []string) {
	for _, value := range list {
		if !slices.Contains(in, value) && !slices.Contains(out, value) {
			out = append(out, value)
		}
	}
	slices.Sort(out)
	return out
}

var (
	// codeBlock is code that readers copy. Comments in it are translated as well.
	codeBlock   = regexp.MustCompile("(?ms)^```(?:go|sh|json)\n.*?^```")
	codeComment = regexp.MustCompile(`(?m)\s*(//|# ).*$`)

	fencedBlock = regexp.MustCompile("(?ms)^ *```.*?^ *```")
	heading     = regexp.MustCompile(`(?m)^(#+) `)
	number      = regexp.MustCompile(`(\d[\d,]*(?:\.\d+)?|\.\d+)( ?万)?`)
	linkTarget  = regexp.MustCompile(`\]\(([^)#\s]+)`)
)

// codeOf is the code that a page shows, without comments.
func codeOf(text string) string {
	return codeComment.ReplaceAllString(strings.Join(codeBlock.FindAllString(text, -1), "\n"), "")
}

func headingLevels(text string) (levels []int) {
	for _, m := range heading.FindAllStringSubmatch(fencedBlock.ReplaceAllString(text, ""), -1) {
		levels = append(levels, len(m[1]))
	}
	return levels
}

// figuresOf are the numbers of two digits or more, written alike: .42 and 0.42, 1,000 and 1000, 280 万 and 2.8 million.
// A smaller number is often a word in one of the languages.
func figuresOf(text string) (figures []string) {
	for _, m := range number.FindAllStringSubmatch(text, -1) {
		value, err := strconv.ParseFloat(strings.ReplaceAll(m[1], ",", ""), 64)
		if err != nil {
			continue
		}
		if m[2] != "" {
			value /= 100 // millions
		}
		figure := strconv.FormatFloat(value, 'f', -1, 64)
		if len(strings.ReplaceAll(figure, ".", "")) > 1 {
			figures = append(figures, figure)
		}
	}
	return figures
}

// linkTargets are the files and addresses that a page links to, files as seen from the root.
func linkTargets(page *file) (targets []string) {
	for _, m := range linkTarget.FindAllStringSubmatch(fencedBlock.ReplaceAllString(page.text, ""), -1) {
		target := m[1]
		if !strings.Contains(target, "://") {
			target = path.Join(page.dir(), target)
		}
		targets = append(targets, target)
	}
	return targets
}

// translatedTargets are the link targets of a Chinese page as its original names them.
func translatedTargets(page *file) []string {
	targets := linkTargets(page)
	for i, target := range targets {
		if original := originalOf(target); original != "" {
			target = original
		}
		targets[i] = strings.Replace(target, "/zh/", "/", 1) // pictures, and pages of others in Chinese
	}
	return targets
}
