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

var (
	// tourStep is a step of the code tour: a numbered line that begins with a link to a Go file, and names functions of it.
	tourStep = regexp.MustCompile(`^\d+\. \[[^\]]*\]\(([^)]*\.go)\): (` + "`[^:]*" + `)`)
	// pathSpan is the path of a file or a package in code quotes.
	pathSpan = regexp.MustCompile("`([\\w.-]+(?:/[\\w.-]+)+)`")
)

var codeTour = rule{
	name: "the code tour names packages, files and functions that exist",
	mend: "name what is there now; where a path through the code has changed, follow the calls again",
	check: func(t *tree) (found []string) {
		for _, f := range t.files {
			if f.path != "CONTRIBUTING.md" {
				continue
			}
			before, section, _ := strings.Cut(f.text, "\n## Code tour\n")
			section, _, _ = strings.Cut(section, "\n## ")
			first := strings.Count(before, "\n") + 3
			for i, line := range strings.Split(section, "\n") {
				for _, p := range pathSpan.FindAllStringSubmatch(line, -1) {
					if !slices.ContainsFunc(t.files, func(g *file) bool { return under(p[1], g.path) }) {
						found = append(found, fmt.Sprintf("%s:%d: nothing at %s", f.path, first+i, p[1]))
					}
				}
				step := tourStep.FindStringSubmatch(line)
				if step == nil {
					continue
				}
				for _, name := range codeSpan.FindAllStringSubmatch(step[2], -1) {
					if !t.declares(step[1], name[1]) {
						found = append(found, fmt.Sprintf("%s:%d: %s has no function %s", f.path, first+i, step[1], name[1]))
					}
				}
			}
		}
		return found
	},
	bad: []sample{{map[string]string{
		"CONTRIBUTING.md": "# C\n\n## Code tour\n\n`b/c.go`, `b/gone.go` and `gone/b`\n1. [a.go](a.go): `first`, `gone`: x\n2. [c.go](b/c.go): `first`: x\n\n## More\n\n`gone/c`\n",
		"a.go":            "package a\n\nfunc first() {}\n",
		"b/c.go":          "package b\n\nvar first = 1\n",
	}, []string{
		"CONTRIBUTING.md:5: nothing at b/gone.go", "CONTRIBUTING.md:5: nothing at gone/b",
		"CONTRIBUTING.md:6: a.go has no function gone", "CONTRIBUTING.md:7: b/c.go has no function first",
	}}},
	good: []map[string]string{{
		"CONTRIBUTING.md": "`gone/a`\n\n## Code tour\n\n| `b/c`, `b/c/d.go` | text |\n1. [a.go](a.go): `first`, `Do`: `other` follows.\n2. [a.go](a.go) does: `gone`.\n",
		"a.go":            "package a\n\nfunc first() {}\n\nfunc (t T) Do() {}\n",
		"b/c/d.go":        "package c\n",
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
