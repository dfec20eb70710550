// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package internal_test

// Rules on what is required, and on who imports whom.

import (
	"fmt"
	"go/ast"
	"path"
	"slices"
	"strconv"
	"strings"
)

const (
	eino    = "github.com/cloudwego/eino"
	testify = "github.com/stretchr/testify"
)

// allowed are the root module's direct requirements: whoever adds einolean gets these.
var allowed = []string{
	eino,
	"github.com/bytedance/sonic",
	testify,
	"golang.org/x/text",
	"github.com/google/jsonschema-go",
}

var rootRequirements = rule{
	name: "the root module requires little",
	mend: "what needs more is a module of its own, with a go.mod in its directory; the root never requires it",
	check: func(t *tree) (found []string) {
		at := slices.IndexFunc(t.files, func(f *file) bool { return f.path == "go.mod" })
		if at < 0 {
			return []string{"go.mod: not there"}
		}
		for _, d := range directives(t.files[at].text) {
			switch {
			case d.verb == "module" && d.args[0] != modulePath:
				found = append(found, "go.mod: the module is not "+modulePath)
			case d.verb == "replace", d.verb == "exclude", d.verb == "tool", d.verb == "toolchain":
				found = append(found, "go.mod: "+d.verb+" "+d.args[0])
			case d.verb == "require" && under(modulePath, d.args[0]):
				found = append(found, "go.mod: requires a module of this repository: "+d.args[0])
			case d.verb == "require" && !d.indirect && !slices.Contains(allowed, d.args[0]):
				found = append(found, "go.mod: requires "+d.args[0])
			}
		}
		return found
	},
	bad: []sample{
		{map[string]string{"sub/go.mod": "module x\n"}, []string{"go.mod: not there"}},
		{map[string]string{"go.mod": "module example.com/other\n\ngo 1.26.0\n\ntoolchain go1.99.0\n\n" +
			"require example.com/heavy v1.0.0 // for fun\n\n" +
			"require (\n\texample.com/fine v1.0.0 // indirect\n\texample.com/more v1.0.0\n\t" + modulePath + "/reduction/store v0.1.0 // indirect\n)\n\n" +
			"replace (\n\texample.com/fine => ../fine\n)\n\nexclude example.com/a v1.0.0\n\ntool example.com/cmd\n"},
			[]string{
				"go.mod: the module is not " + modulePath, "go.mod: toolchain go1.99.0",
				"go.mod: requires example.com/heavy", "go.mod: requires example.com/more",
				"go.mod: requires a module of this repository: " + modulePath + "/reduction/store",
				"go.mod: replace example.com/fine", "go.mod: exclude example.com/a", "go.mod: tool example.com/cmd",
			}},
	},
	good: []map[string]string{{
		"go.mod":          "module " + modulePath + " // ours\n\ngo 1.26.0\n\nrequire (\n\t// the host\n\t" + eino + " v0.9.21\n\n\texample.com/fine v1.0.0 // indirect\n)\n",
		"examples/go.mod": "module m\n\nrequire example.com/heavy v1.0.0\n\nreplace " + modulePath + " => ../\n",
	}},
}

// alone are modules whose dependencies are newer than a user of the others should need.
var alone = []string{"internal/dev/tools/collector", "examples/models", "internal/dev/einonext"}

// Two versions of golang.org/x/sys have Go compile Eino twice: plain, with the race detector, and with the oldest Go.
var oneVersion = rule{
	name: "all modules require one version of each dependency",
	mend: "require the highest of the versions everywhere, or require less of what needs it; then run 'make tidy'",
	check: func(t *tree) (found []string) {
		type use struct{ version, in string }
		first := make(map[string]use)
		for _, f := range t.files {
			if path.Base(f.path) != "go.mod" || slices.Contains(alone, path.Dir(f.path)) {
				continue
			}
			for _, d := range directives(f.text) {
				if d.verb != "require" || len(d.args) < 2 {
					continue
				}
				is := use{d.args[1], f.path}
				if was, seen := first[d.args[0]]; !seen {
					first[d.args[0]] = is
				} else if was.version != is.version {
					found = append(found, fmt.Sprintf("%s: requires %s %s, but %s requires %s", is.in, d.args[0], is.version, was.in, was.version))
				}
			}
		}
		return found
	},
	bad: []sample{{map[string]string{
		"a/go.mod": "module a\n\nrequire example.com/x v1.0.0\n\nrequire (\n\texample.com/y v1.0.0 // indirect\n)\n",
		"b/go.mod": "module b\n\nrequire (\n\texample.com/x v1.0.0\n\texample.com/y v1.1.0\n)\n",
	}, []string{"b/go.mod: requires example.com/y v1.1.0, but a/go.mod requires v1.0.0"}}},
	good: []map[string]string{{
		alone[0] + "/go.mod": "module alone\n\nrequire example.com/x v1.9.0\n",
		"a/go.mod":           "module a\n\nrequire example.com/x v1.0.0\n\nreplace example.com/x => ../x\n",
		"b/go.mod":           "module b\n\nrequire example.com/x v1.0.0 // indirect\n",
	}},
}

const workspaceFile = "internal/dev/workspace/go.work"

// outsideWorkspace are modules that the workspace leaves out. The next version of Eino would replace
// the released one in all the others.
var outsideWorkspace = []string{"internal/dev/einonext"}

var workspace = rule{
	name: "the workspace lists every module",
	mend: "list it in " + workspaceFile + ", or name it and the reason in outsideWorkspace",
	check: func(t *tree) (found []string) {
		var listed, modules []string
		for _, f := range t.files {
			switch {
			case f.path == workspaceFile:
				for _, d := range directives(f.text) {
					if d.verb == "use" {
						listed = append(listed, path.Join(f.dir(), d.args[0]))
					}
				}
			case path.Base(f.path) == "go.mod" && !f.testdata():
				modules = append(modules, f.dir())
			}
		}
		for _, m := range modules {
			switch isOutside := slices.Contains(outsideWorkspace, m); {
			case slices.Contains(listed, m) && isOutside:
				found = append(found, m+": listed, and named in outsideWorkspace")
			case !slices.Contains(listed, m) && !isOutside:
				found = append(found, m+": not listed")
			}
		}
		for _, m := range listed {
			if !slices.Contains(modules, m) {
				found = append(found, m+": listed, but there is no such module")
			}
		}
		return found
	},
	bad: []sample{{map[string]string{
		workspaceFile: "go 1.26.0\n\nuse (\n\t../../..\n\t../../../gone\n\t../einonext\n)\n",
		"go.mod":      "module a\n", "b/go.mod": "module b\n", "internal/dev/einonext/go.mod": "module c\n",
	}, []string{"b: not listed", "internal/dev/einonext: listed, and named in outsideWorkspace", "gone: listed, but there is no such module"}}},
	good: []map[string]string{{
		workspaceFile: "// all\n\ngo 1.26.0\n\nuse ../../..\n\nuse (\n\t../../../b\n)\n",
		"go.mod":      "module a\n", "b/go.mod": "module b\n", "internal/dev/einonext/go.mod": "module c\n", "b/testdata/go.mod": "module d\n",
	}},
}

// directive is one line of a go.mod or go.work, with the verb of its block.
type directive struct {
	verb     string
	args     []string // at least one
	indirect bool
}

func directives(text string) (out []directive) {
	block := ""
	for line := range strings.Lines(text) {
		code, comment, _ := strings.Cut(line, "//")
		words := strings.Fields(code)
		switch {
		case len(words) == 0:
		case words[0] == ")":
			block = ""
		case block == "" && len(words) == 2 && words[1] == "(":
			block = words[0]
		case block != "":
			out = append(out, directive{block, words, strings.HasPrefix(strings.TrimSpace(comment), "indirect")})
		case len(words) > 1:
			out = append(out, directive{words[0], words[1:], strings.HasPrefix(strings.TrimSpace(comment), "indirect")})
		}
	}
	return out
}

var testifyInTests = rule{
	name: "only tests import testify",
	mend: "use the testing package: this file is part of a program, or of a suite that others import",
	check: func(t *tree) (found []string) {
		for _, f := range t.product() {
			for _, i := range imports(f) {
				if under(testify, i.path) {
					found = append(found, t.at(i.spec.Pos())+": imports "+i.path)
				}
			}
		}
		return found
	},
	bad: []sample{{map[string]string{
		"internal/dev/backendtest/suite.go": "package backendtest\n\nimport _ \"" + testify + "/require\"\n",
	}, []string{"internal/dev/backendtest/suite.go:3: imports " + testify + "/require"}}},
	good: []map[string]string{{"a_test.go": "package a\n\nimport _ \"" + testify + "/require\"\n", "a.go": "package a\n\nimport _ \"" + testify + "x\"\n"}},
}

// ban forbids an import to packages and to all of this repository that they link.
type ban struct {
	from   []string // directories, with what is below them; nil: everything a user can import
	to     string   // import path, with what is below it
	except []string // directories
	why    string
}

var bans = []ban{
	{[]string{"toolsearch"}, modulePath + "/reduction", nil, "the two middlewares are used apart; what both need is in internal"},
	{[]string{"reduction"}, modulePath + "/toolsearch", nil, "the two middlewares are used apart; what both need is in internal"},
	{nil, eino + "/adk/middlewares/dynamictool/toolsearch", []string{"internal/prompt"}, "it is what toolsearch replaces; tests compare with it, and only internal/prompt asks it something"},
	{nil, eino + "/adk/middlewares/reduction", nil, "it is what reduction replaces; only tests compare with it"},
	{nil, "net/http", []string{"window/inspect", "toolsearch/mcptools", "adapters/claude"}, "a middleware reaches no network, but for MCP servers; the live page is served to loopback only"},
	{nil, "os/exec", []string{"toolsearch/mcptools"}, "a middleware starts no process but MCP servers"},
	{nil, "testing", []string{"toolsearch/toolsearcheval", "internal/dev/backendtest", "internal/dev/adktest", "einoleantest"}, "test support is no part of a user's program"},
	{nil, modulePath + "/internal/dev", []string{"einoleantest", "internal/dev/adktest"}, "the workshop is no part of a user's program"},
	{[]string{"reduction"}, modulePath + "/internal/keyword/bm25/analysis", nil, "passages are ranked without the word lists, which only those who search tools link"},
}

var importBans = rule{
	name: "what a user links imports nothing that it should not",
	mend: "move what needs the import to where it may be: a test, an example, or a module of its own",
	check: func(t *tree) (found []string) {
		for _, b := range bans {
			for _, dir := range linked(t, b.from) {
				if slices.Contains(b.except, dir) {
					continue
				}
				for _, f := range t.product() {
					for _, i := range imports(f) {
						if f.dir() == dir && under(b.to, i.path) {
							found = append(found, fmt.Sprintf("%s: imports %s: %s", t.at(i.spec.Pos()), i.path, b.why))
						}
					}
				}
			}
		}
		return found
	},
	bad: []sample{
		{map[string]string{
			"toolsearch/a.go": "package toolsearch\n\nimport _ \"" + modulePath + "/internal/shared\"\n",
			"reduction/a.go":  "package reduction\n\nimport _ \"" + modulePath + "/toolsearch\"\n",
			// Through a package of ours is as bad as directly.
			"internal/shared/a.go": "package shared\n\nimport _ \"" + modulePath + "/reduction\"\n",
		}, []string{
			"internal/shared/a.go:3: imports " + modulePath + "/reduction: " + bans[0].why,
			"reduction/a.go:3: imports " + modulePath + "/toolsearch: " + bans[1].why,
		}},
		{map[string]string{
			"toolsearch/eval/a.go": "package eval\n\nimport _ \"" + eino + "/adk/middlewares/reduction\"\nimport _ \"net/http/httptest\"\nimport _ \"" + modulePath + "/internal/x\"\n",
			"internal/x/a.go":      "package x\n\nimport _ \"os/exec\"\nimport _ \"testing\"\nimport _ \"" + eino + "/adk/middlewares/dynamictool/toolsearch\"\nimport _ \"" + modulePath + "/internal/dev/adktest\"\n",
		}, []string{
			"internal/x/a.go:5: imports " + bans[2].to + ": " + bans[2].why,
			"toolsearch/eval/a.go:3: imports " + bans[3].to + ": " + bans[3].why,
			"toolsearch/eval/a.go:4: imports net/http/httptest: " + bans[4].why,
			"internal/x/a.go:3: imports os/exec: " + bans[5].why,
			"internal/x/a.go:4: imports testing: " + bans[6].why,
			"internal/x/a.go:6: imports " + modulePath + "/internal/dev/adktest: " + bans[7].why,
		}},
	},
	good: []map[string]string{{
		"toolsearch/a.go":          "package toolsearch\n\nimport _ \"" + modulePath + "/internal/prompt\"\nimport _ \"net/url\"\n",
		"toolsearch/a_test.go":     "package toolsearch\n\nimport _ \"" + modulePath + "/reduction\"\nimport _ \"net/http\"\n",
		"toolsearch/cmd/x/main.go": "package main\n\nimport _ \"os/exec\"\n",
		"internal/prompt/a.go":     "package prompt\n\nimport _ \"" + eino + "/adk/middlewares/dynamictool/toolsearch\"\n",
		"internal/tool/a.go":       "package tool\n\nimport _ \"net/http\"\n",
		"examples/both/a.go":       "package both\n\nimport _ \"" + modulePath + "/reduction\"\nimport _ \"" + modulePath + "/toolsearch\"\n",
	}},
}

var downwards = rule{
	name: "what is in internal knows nothing above it, but for the workshop",
	mend: "hand it what it needs; what ties packages together for tests, tools and demos is in internal/dev",
	check: func(t *tree) (found []string) {
		for _, f := range t.code() {
			if !under("internal", f.dir()) || under("internal/dev", f.dir()) || f.dir() == "internal" {
				continue
			}
			for _, i := range imports(f) {
				ours := under(modulePath, i.path) && i.path != modulePath
				if ours && !under(modulePath+"/internal", i.path) || !f.isTest() && under(modulePath+"/internal/dev", i.path) {
					found = append(found, t.at(i.spec.Pos())+": imports "+i.path)
				}
			}
		}
		return found
	},
	bad: []sample{{map[string]string{
		"internal/x/a.go":      "package x\n\nimport _ \"" + modulePath + "/reduction\"\nimport _ \"" + modulePath + "/internal/dev/adktest\"\n",
		"internal/x/a_test.go": "package x\n\nimport _ \"" + modulePath + "/toolsearch/skills\"\n",
	}, []string{
		"internal/x/a.go:3: imports " + modulePath + "/reduction",
		"internal/x/a.go:4: imports " + modulePath + "/internal/dev/adktest",
		"internal/x/a_test.go:3: imports " + modulePath + "/toolsearch/skills",
	}}},
	good: []map[string]string{{
		"internal/x/a.go":      "package x\n\nimport _ \"" + modulePath + "/internal/y\"\n",
		"internal/x/a_test.go": "package x\n\nimport _ \"" + modulePath + "/internal/dev/adktest\"\n",
		"internal/dev/d/a.go":  "package d\n\nimport _ \"" + modulePath + "/reduction\"\n",
		"window/a.go":          "package window\n\nimport _ \"" + modulePath + "/reduction\"\n",
	}},
}

// linked lists the directories of packages at or below the given ones, and of
// every package of this repository that those import, directly or not. Without
// directories it starts at all packages that a user can import.
func linked(t *tree, from []string) (dirs []string) {
	product := t.product()
	add := func(dir string) {
		if !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	for _, f := range product {
		if from == nil && public(f) || slices.ContainsFunc(from, func(d string) bool { return under(d, f.dir()) }) {
			add(f.dir())
		}
	}
	for n := 0; n < len(dirs); n++ { // dirs grows meanwhile
		for _, f := range product {
			for _, i := range imports(f) {
				if f.dir() == dirs[n] && under(modulePath, i.path) {
					add(strings.TrimPrefix(strings.TrimPrefix(i.path, modulePath), "/"))
				}
			}
		}
	}
	slices.Sort(dirs)
	return dirs
}

// public reports whether a file belongs to a package that users import.
func public(f *file) bool {
	return f.ast.Name.Name != "main" && !within("internal", f.dir()) && !within("examples", f.dir()) && !within("demo", f.dir())
}

var keywordImports = rule{
	name: "internal/keyword knows text, and nothing of Eino",
	mend: "hand it plain strings: it imports the standard library, golang.org/x/text, the stemmer and itself",
	check: func(t *tree) (found []string) {
		for _, f := range t.product() {
			for _, i := range imports(f) {
				if under("internal/keyword", f.dir()) && !keywordMay(i.path) {
					found = append(found, t.at(i.spec.Pos())+": imports "+i.path)
				}
			}
		}
		return found
	},
	bad: []sample{{map[string]string{
		"internal/keyword/a.go":      "package keyword\n\nimport _ \"" + eino + "/schema\"\n",
		"internal/keyword/bm25/a.go": "package bm25\n\nimport _ \"" + modulePath + "/internal/prompt\"\n",
	}, []string{
		"internal/keyword/a.go:3: imports " + eino + "/schema",
		"internal/keyword/bm25/a.go:3: imports " + modulePath + "/internal/prompt",
	}}},
	good: []map[string]string{{
		"internal/keyword/a.go": "package keyword\n\nimport _ \"strings\"\nimport _ \"unicode/utf8\"\nimport _ \"golang.org/x/text/cases\"\n" +
			"import _ \"" + modulePath + "/internal/keyword/words\"\n",
		"internal/keyword/a_test.go": "package keyword\n\nimport _ \"" + testify + "/require\"\n",
		"internal/other/a.go":        "package other\n\nimport _ \"" + eino + "\"\n",
	}},
}

func keywordMay(importPath string) bool {
	standard := !strings.Contains(strings.Split(importPath, "/")[0], ".")
	return standard || slices.ContainsFunc(
		[]string{"golang.org/x/text", modulePath + "/internal/keyword"},
		func(p string) bool { return under(p, importPath) })
}

// imported is one import of a file.
type imported struct {
	path string
	spec *ast.ImportSpec
}

// name is how the file calls the package, as far as can be said without reading it.
func (i imported) name() string {
	if i.spec.Name != nil {
		return i.spec.Name.Name
	}
	return path.Base(i.path)
}

func imports(f *file) (out []imported) {
	for _, spec := range f.ast.Imports {
		if p, err := strconv.Unquote(spec.Path.Value); err == nil {
			out = append(out, imported{p, spec})
		}
	}
	return out
}
