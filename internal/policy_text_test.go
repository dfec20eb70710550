// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package internal_test

// Rules on words: nothing is left for later, and links between files lead somewhere.

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
)

// passage is a run of text, and the line it starts on.
type passage struct {
	line int
	text string
}

// prose returns what people write for people: comments in Go, and the whole of
// documents, makefiles and scripts. Test data and product text are neither.
func prose(t *tree, f *file) (out []passage) {
	if f.ast != nil {
		for _, group := range f.ast.Comments {
			for _, c := range group.List {
				out = append(out, passage{t.fset.Position(c.Pos()).Line, c.Text})
			}
		}
		return out
	}
	written := slices.Contains([]string{".md", ".sh", ".mod"}, path.Ext(f.path)) || path.Base(f.path) == "Makefile" || under(".ci", f.path)
	if written && !f.testdata() {
		out = append(out, passage{1, f.text})
	}
	return out
}

// match lists where a pattern is in a passage, as findings.
func match(f *file, p passage, pattern *regexp.Regexp) (found []string) {
	for _, at := range pattern.FindAllStringIndex(p.text, -1) {
		line := p.line + strings.Count(p.text[:at[0]], "\n")
		found = append(found, fmt.Sprintf("%s:%d: %q", f.path, line, strings.TrimSpace(p.text[at[0]:at[1]])))
	}
	return found
}

// The patterns below are written so that they do not match themselves.

var openEnd = regexp.MustCompile(`\b(TOD[O]|FIXM[E]|XX[X]|HAC[K])\b`)

var openEnds = rule{
	name: "nothing is left for later",
	mend: "do it now, or write it where work is planned",
	check: func(t *tree) (found []string) {
		for _, f := range t.files {
			for _, p := range prose(t, f) {
				found = append(found, match(f, p, openEnd)...)
			}
		}
		return found
	},
	bad: []sample{{map[string]string{
		"a.go":     "package a\n\n/* one\nTO" + "DO: two */\nvar a = 1 // XX" + "X\n",
		"Makefile": "all: # FIX" + "ME\n",
	}, []string{`Makefile:1: "FIX` + `ME"`, `a.go:4: "TO` + `DO"`, `a.go:5: "XX` + `X"`}}},
	good: []map[string]string{{"a.go": "package a\n\n// add_todo adds to a todo list.\nvar todo = \"TO" + "DO\"\n", "x/testdata/a.md": "TO" + "DO"}},
}

var onlyText = rule{
	name: "files are text or pictures",
	mend: "take out what a build left there, and name it in .gitignore",
	check: func(t *tree) (found []string) {
		for _, p := range t.other {
			if path.Ext(p) != ".png" {
				found = append(found, p+" is neither")
			}
		}
		slices.Sort(found)
		return found
	},
	bad:  []sample{{map[string]string{"a/tool": "\x7fELF\x00", "b.gob": "\x00"}, []string{"a/tool is neither", "b.gob is neither"}}},
	good: []map[string]string{{"a.png": "\x00", "a/tool": "#!/bin/sh\n"}},
}

// oldName is what the project was called before its first release: another
// product in the same field has that name.
var oldName = regexp.MustCompile(`(?i)lean[c]tx`)

var oneName = rule{
	name: "the project has one name",
	mend: "write einolean",
	check: func(t *tree) (found []string) {
		for _, f := range t.files {
			if oldName.MatchString(f.path) {
				found = append(found, fmt.Sprintf("%s: the old name is in the path", f.path))
			}
			found = append(found, match(f, passage{1, f.text}, oldName)...)
		}
		return found
	},
	bad: []sample{{map[string]string{
		"CHANGELOG.md":          "- was Lean" + "CTX\n",
		"cmd/lean" + "ctx/a.go": "package main\n",
		"testdata/a.golden.txt": "\nLEAN" + "CTX_UPDATE\n",
	}, []string{
		`CHANGELOG.md:1: "Lean` + `CTX"`,
		"cmd/lean" + "ctx/a.go: the old name is in the path",
		`testdata/a.golden.txt:2: "LEAN` + `CTX"`,
	}}},
	good: []map[string]string{{"a.md": "einolean, lean context\n"}},
}

var (
	// fences and spans are code, in which brackets and parentheses are not links.
	fences = regexp.MustCompile("(?ms)^ *```.*?^ *```")
	spans  = regexp.MustCompile("`[^`\n]+`")
	// links in Markdown, its reference definitions, and the HTML that it allows.
	links = regexp.MustCompile(`\]\(<?([^)\s>]+)>?[^)]*\)|(?m:^ {0,3}\[[^\]^][^\]]*\]: *<?(\S+?)>?(?: |$))|\b(?:src|srcset|href)="([^"\s]+)`)
	// scheme starts a link that leads out of the repository.
	scheme = regexp.MustCompile(`^([a-z][a-z0-9+.-]*:|//)`)
)

var markdownLinks = rule{
	name: "links between files lead somewhere",
	mend: "mend the path, which is relative to the file that holds the link, or add the file",
	check: func(t *tree) (found []string) {
		for _, f := range t.files {
			if path.Ext(f.path) != ".md" || f.testdata() {
				continue
			}
			text := spans.ReplaceAllString(fences.ReplaceAllStringFunc(f.text, blank), "")
			for _, m := range links.FindAllStringSubmatchIndex(text, -1) {
				target := submatch(text, m)
				if !t.leads(f, target) {
					line := 1 + strings.Count(text[:m[0]], "\n")
					found = append(found, fmt.Sprintf("%s:%d: nothing at %q", f.path, line, target))
				}
			}
		}
		return found
	},
	bad: []sample{{map[string]string{
		"README.md":      "[a](docs/none.md)\n![b](docs/img/none.svg \"title\")\n\n[c]: none.md\n<img src=\"none.png\">\n",
		"docs/README.md": "```go\nm[\"k\"](v)\n```\n[a](../../README.md) [b](README.md#top) [c](<no ne.md>)\n",
	}, []string{
		`README.md:1: nothing at "docs/none.md"`, `README.md:2: nothing at "docs/img/none.svg"`,
		`README.md:4: nothing at "none.md"`, `README.md:5: nothing at "none.png"`,
		`docs/README.md:4: nothing at "../../README.md"`, `docs/README.md:4: nothing at "no"`,
	}}},
	good: []map[string]string{{
		"README.md": "[a](docs) [b](docs/a.md#part) [c](#here) [d](https://example.com/x.md) [e](/docs/a.md) [f](mailto:a@example.com)\n" +
			"`m[k](v)` <img src=\"docs/img/a%20b.svg\">\n\n[g]: ./docs/a.md\n[^1]: A note.\n",
		"docs/a.md":        "[up](../README.md) [.](.) [up](..)\n",
		"docs/img/a b.svg": "<svg/>",
	}},
}

// blank keeps the lines of what it takes away.
func blank(s string) string { return strings.Repeat("\n", strings.Count(s, "\n")) }

// submatch is the group of a match that took part in it.
func submatch(text string, m []int) string {
	for i := 2; i < len(m); i += 2 {
		if m[i] >= 0 {
			return text[m[i]:m[i+1]]
		}
	}
	return ""
}

// leads reports whether a link in f leads to a tracked file or directory, to a
// place in f itself, or out of the repository.
func (t *tree) leads(f *file, target string) bool {
	if scheme.MatchString(target) || strings.HasPrefix(target, "#") {
		return true
	}
	target, _, _ = strings.Cut(target, "#")
	target = strings.ReplaceAll(target, "%20", " ")
	full := path.Join(f.dir(), target)
	if strings.HasPrefix(target, "/") {
		full = path.Clean(target)[1:]
	}
	return full == "." || slices.Contains(t.other, full) || slices.ContainsFunc(t.files, func(g *file) bool { return under(full, g.path) })
}
