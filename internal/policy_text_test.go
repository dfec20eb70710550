// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package internal_test

// Rules on files: text or pictures only, and links between files lead somewhere.

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
)

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
