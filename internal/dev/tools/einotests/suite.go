// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// suite is Eino's tests of one package, as far as they use only the exported API.
type suite struct {
	ours   string // path of our package below the module
	dir    string // where the tests are built
	files  []*testFile
	words  *testFile       // Eino's declarations of the package
	spoken map[string]bool // words that the tests use of it
	all    int             // test functions that Eino has
	notRun []string        // tests that did not run
}

// testFile is a file of Eino's whose declarations, or inner tests, go where they do not compile.
type testFile struct {
	name    string
	text    []byte
	fset    *token.FileSet
	ast     *ast.File
	removed map[ast.Node]bool
	idle    map[token.Pos][]string // variables that what is left does not use, by the end of their statement
}

// prepare writes Eino's tests into a module below dir and builds what can be built of them.
func prepare(dir, theirs, ours string) (*suite, error) {
	s := &suite{ours: ours, dir: filepath.Join(dir, ours), spoken: make(map[string]bool)}
	from, err := output(".", "go", "list", "-m", "-f", "{{.Dir}}", eino)
	if err != nil {
		return nil, err
	}
	from = filepath.Join(strings.TrimSpace(from), filepath.FromSlash(theirs))
	paths, err := filepath.Glob(filepath.Join(from, "*_test.go"))
	if err != nil || len(paths) == 0 {
		return nil, fmt.Errorf("no tests of %s in the module cache: %w", theirs, err)
	}
	for _, p := range paths {
		f, err := readFile(p)
		if err != nil {
			return nil, err
		}
		s.files = append(s.files, f)
	}
	if s.words, err = readFile(filepath.Join(from, path.Base(theirs)+".go")); err != nil {
		return nil, err
	}
	s.all = len(s.functions())
	if err := s.module(); err != nil {
		return nil, err
	}
	return s, s.build()
}

// implementation is how Eino's tests of an exported method name the type that has it.
var implementation = regexp.MustCompile(`\.\(\*typedMiddleware\[[^]]*\]\)`)

// methodReturn is the same as the result of a function.
var methodReturn = regexp.MustCompile(`\) \*typedMiddleware\[(\w+)\] \{`)

// readFile reads a file of Eino's. What is known by an unexported type becomes known by the
// interface that New returns.
func readFile(path string) (*testFile, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	if strings.HasSuffix(path, "_test.go") {
		text = implementation.ReplaceAll(text, nil)
		text = methodReturn.ReplaceAll(text, []byte(") adk.TypedChatModelAgentMiddleware[$1] {"))
	}
	f := &testFile{name: filepath.Base(path), text: text, fset: token.NewFileSet(), removed: make(map[ast.Node]bool), idle: make(map[token.Pos][]string)}
	f.ast, err = parser.ParseFile(f.fset, f.name, text, 0)
	return f, err
}

// module makes the module that the tests are built in. It requires what ours does.
func (s *suite) module() error {
	root, err := filepath.Abs(".")
	if err != nil {
		return err
	}
	mod, err := os.ReadFile("go.mod")
	if err != nil {
		return err
	}
	sum, err := os.ReadFile("go.sum")
	if err != nil {
		return err
	}
	text := strings.Replace(string(mod), "module "+einolean, "module einotests", 1) +
		"\nrequire " + einolean + " v0.0.0\n\nreplace " + einolean + " => " + strconv.Quote(root) + "\n"
	if err := write(filepath.Join(s.dir, "go.mod"), text); err != nil {
		return err
	}
	return write(filepath.Join(s.dir, "go.sum"), string(sum))
}

// position is where the compiler finds something wrong.
var position = regexp.MustCompile(`(?m)^(?:\./)?([^\s:]+_test\.go):(\d+):\d+: (?:declared and not used: (\w+))?`)

// build takes out what does not compile until the rest does: what it uses is not exported,
// or was taken out before.
func (s *suite) build() error {
	for {
		for _, f := range s.files {
			if err := write(filepath.Join(s.dir, f.name), f.source(s.ours)); err != nil {
				return err
			}
		}
		if err := write(filepath.Join(s.dir, "words_test.go"), s.vocabulary()); err != nil {
			return err
		}
		text, err := output(s.dir, "go", "test", "-mod=mod", "-c", "-vet=off", "-gcflags=-e", "-o", "tests", ".")
		if err == nil {
			return nil
		}
		if !s.learn(text) && !s.takeOut(text) {
			return fmt.Errorf("the tests of Eino do not compile: %w\n%s", err, text)
		}
	}
}

// undefinedName is a name that the tests use of the package.
var undefinedName = regexp.MustCompile(`(?m): undefined: (\w+)$`)

// learn adds the words that the tests use and do not test: names of tools and keys, and the
// shape of what is on the wire. It reports whether there were any.
func (s *suite) learn(errors string) (some bool) {
	for _, m := range undefinedName.FindAllStringSubmatch(errors, -1) {
		if _, ok := s.word(m[1]); ok && !s.spoken[m[1]] {
			s.spoken[m[1]] = true
			some = true
		}
	}
	return some
}

// wire are the structs of what a search tool takes and returns.
var wire = []string{"toolSearchArgs", "toolSearchResult"}

// callback is a function that Eino's tests configure as a user would.
const callback = "defaultTokenCounter"

// searchTool is a tool among others in Eino's tests.
const searchTool = `func getToolSearchToolInfo() *schema.ToolInfo { return &schema.ToolInfo{Name: "tool_search"} }`

// word returns the declaration of a constant, of a struct on the wire or of the search tool.
func (s *suite) word(name string) (text string, ok bool) {
	if strings.Contains(searchTool, "func "+name+"(") {
		return searchTool, true
	}
	for _, d := range s.words.ast.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil && d.Name.Name == name && name == callback {
				return s.words.textOf(d), true
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				if declares(spec, d.Tok, name) {
					return d.Tok.String() + " " + s.words.textOf(spec), true
				}
			}
		}
	}
	return "", false
}

// declares reports whether spec is the constant of a name, or the struct on the wire.
func declares(spec ast.Spec, kind token.Token, name string) bool {
	switch spec := spec.(type) {
	case *ast.ValueSpec:
		return kind == token.CONST && spec.Names[0].Name == name && len(spec.Values) == 1
	case *ast.TypeSpec:
		_, plain := spec.Type.(*ast.StructType)
		return plain && spec.Name.Name == name && slices.Contains(wire, name)
	}
	return false
}

// vocabulary is a file of the words that the tests use.
func (s *suite) vocabulary() string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(s.spoken)) {
		text, _ := s.word(name)
		b.WriteString(text + "\n")
	}
	head := "package " + s.words.ast.Name.Name + "_test\n"
	for _, spec := range s.words.ast.Imports {
		if strings.Contains(b.String(), importName(spec)+".") {
			head += "import " + s.words.textOf(spec) + "\n"
		}
	}
	return head + b.String()
}

// takeOut removes the tests in which the compiler found something wrong, and reports
// whether there were any.
func (s *suite) takeOut(errors string) (some bool) {
	for _, m := range position.FindAllStringSubmatch(errors, -1) {
		line, _ := strconv.Atoi(m[2])
		for _, f := range s.files {
			if f.name == path.Base(m[1]) && (f.ignore(line, m[3]) || f.remove(line)) {
				some = true
			}
		}
	}
	return some
}

// functions returns the names of the test functions that are left.
func (s *suite) functions() (names []string) {
	for _, f := range s.files {
		for _, d := range f.ast.Decls {
			if f.isTestFunction(d) {
				names = append(names, d.(*ast.FuncDecl).Name.Name)
			}
		}
	}
	return names
}

// isTestFunction reports whether a declaration is a test function that is left.
func (f *testFile) isTestFunction(d ast.Decl) bool {
	fn, ok := d.(*ast.FuncDecl)
	return ok && fn.Recv == nil && strings.HasPrefix(fn.Name.Name, "Test") && !f.removed[d]
}

var outcome = regexp.MustCompile(`(?m)^ *--- (PASS|FAIL): (\S+) `)

// result is how a test went, and what its function printed.
type result struct {
	passed bool
	text   string
}

// run runs each function by itself and returns how the tests without further tests in them went.
func (s *suite) run() (map[string]result, error) {
	results := make(map[string]result)
	for _, f := range s.files {
		for _, d := range f.ast.Decls {
			if !f.isTestFunction(d) {
				continue
			}
			ran, err := s.runFunction(d.(*ast.FuncDecl).Name.Name, results)
			if err != nil {
				return nil, err
			}
			for _, name := range f.testsIn(d) {
				if name = d.(*ast.FuncDecl).Name.Name + "/" + name; !ran[name] {
					s.notRun = append(s.notRun, name)
				}
			}
		}
	}
	return results, nil
}

// began is a test that was started.
var began = regexp.MustCompile(`(?m)^=== RUN +(\S+)$`)

// runFunction runs a function, and once more without the test in it that panicked, so that those behind it run as well. It
// returns the names of all that were started.
func (s *suite) runFunction(name string, results map[string]result) (ran map[string]bool, err error) {
	ran = make(map[string]bool)
	for skip := []string(nil); ; {
		text, failed := output(s.dir, "./tests", "-test.v", "-test.timeout=2m", "-test.run=^"+name+"$", "-test.skip="+strings.Join(skip, "|"))
		for _, m := range began.FindAllStringSubmatch(text, -1) {
			ran[m[1]] = true
		}
		found := outcome.FindAllStringSubmatch(text, -1)
		if len(found) == 0 && len(skip) == 0 {
			if failed == nil {
				return nil, fmt.Errorf("%s ran no test", name)
			}
			results[name] = result{false, text}
		}
		last := "" // of those that failed
		for _, m := range found {
			inner := slices.ContainsFunc(found, func(o []string) bool { return strings.HasPrefix(o[2], m[2]+"/") })
			if inner || len(skip) > 0 && m[2] == name {
				continue
			}
			results[m[2]] = result{m[1] == "PASS", text}
			if m[1] == "FAIL" {
				last = m[2]
			}
		}
		if !strings.Contains(text, "\npanic: ") || last == "" || last == name {
			return ran, nil
		}
		skip = append(skip, onlyName(last))
	}
}

// onlyName is the pattern of one test.
func onlyName(name string) string {
	elements := strings.Split(name, "/")
	for i, e := range elements {
		elements[i] = "^" + regexp.QuoteMeta(e) + "$"
	}
	return strings.Join(elements, "/")
}

// testsIn are the tests directly in a function that is not taken out whose names stand there.
func (f *testFile) testsIn(d ast.Decl) (names []string) {
	ast.Inspect(d, func(n ast.Node) bool {
		if n == nil || f.removed[n] {
			return false
		}
		if !isTest(n) {
			return true
		}
		if lit, ok := n.(*ast.ExprStmt).X.(*ast.CallExpr).Args[0].(*ast.BasicLit); ok {
			name, _ := strconv.Unquote(lit.Value)
			names = append(names, strings.ReplaceAll(name, " ", "_"))
		}
		return false
	})
	return names
}

// remove takes out what stands on a line: the innermost test, or the whole declaration.
func (f *testFile) remove(line int) bool {
	for n := range f.removed {
		if f.on(n, line) {
			return false
		}
	}
	for _, d := range f.ast.Decls {
		if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.IMPORT || !f.on(d, line) {
			continue
		}
		tests := []ast.Node{d} // from the outermost to the innermost
		ast.Inspect(d, func(n ast.Node) bool {
			if n == nil || f.removed[n] || !f.on(n, line) {
				return false
			}
			if isTest(n) {
				tests = append(tests, n)
			}
			return true
		})
		f.removed[tests[len(tests)-1]] = true
		for _, outer := range slices.Backward(tests[:len(tests)-1]) {
			if !f.tests(outer) {
				f.removed[outer] = true
			}
		}
		return true
	}
	return false
}

// tests reports whether a test is left in n.
func (f *testFile) tests(n ast.Node) (left bool) {
	ast.Inspect(n, func(inner ast.Node) bool {
		if inner != nil && inner != n && !f.removed[inner] && isTest(inner) {
			left = true
		}
		return !left && inner != nil && !f.removed[inner]
	})
	return left
}

// ignore uses a variable of the statement that begins on a line, since what used it is gone.
func (f *testFile) ignore(line int, name string) (found bool) {
	if name == "" {
		return false
	}
	ast.Inspect(f.ast, func(n ast.Node) bool {
		switch n.(type) {
		case *ast.AssignStmt, *ast.DeclStmt:
			if f.fset.Position(n.Pos()).Line == line && !slices.Contains(f.idle[n.End()], name) {
				f.idle[n.End()] = append(f.idle[n.End()], name)
				found = true
			}
		}
		return !found && !f.removed[n]
	})
	return found
}

// isTest reports whether a statement is t.Run(…).
func isTest(n ast.Node) bool {
	statement, ok := n.(*ast.ExprStmt)
	if !ok {
		return false
	}
	call, ok := statement.X.(*ast.CallExpr)
	if !ok {
		return false
	}
	run, ok := call.Fun.(*ast.SelectorExpr)
	return ok && run.Sel.Name == "Run" && len(call.Args) == 2
}

// on reports whether n stands on a line.
func (f *testFile) on(n ast.Node, line int) bool {
	return f.fset.Position(n.Pos()).Line <= line && line <= f.fset.Position(n.End()).Line
}

// textOf is the text of n.
func (f *testFile) textOf(n ast.Node) string {
	return string(f.text[f.fset.Position(n.Pos()).Offset:f.fset.Position(n.End()).Offset])
}

// source is the file with our package in place of Eino's. Lines keep their numbers.
func (f *testFile) source(ours string) string {
	text := bytes.Clone(f.text)
	for d := range f.removed {
		maps.DeleteFunc(f.idle, func(end token.Pos, _ []string) bool { return d.Pos() <= end && end <= d.End() })
		blank(text[f.fset.Position(d.Pos()).Offset:f.fset.Position(d.End()).Offset])
	}
	used := f.usedPackages()
	for _, spec := range f.ast.Imports {
		if of, _ := strconv.Unquote(spec.Path.Value); !used[importName(spec)] || strings.Contains(of, "/internal/") {
			blank(text[f.fset.Position(spec.Pos()).Offset:f.fset.Position(spec.End()).Offset])
		}
	}
	name := f.ast.Name
	at := f.fset.Position(name.Pos()).Offset
	for _, end := range slices.Backward(slices.Sorted(maps.Keys(f.idle))) {
		use := "; _ = " + strings.Join(f.idle[end], "; _ = ")
		text = slices.Insert(text, f.fset.Position(end).Offset, []byte(use)...)
	}
	clause := name.Name + "_test; import . " + strconv.Quote(einolean+"/"+ours)
	return string(text[:at]) + clause + string(text[at+len(name.Name):]) + "\nvar _ = New\n"
}

// usedPackages returns the names of packages that what is left of the file uses.
func (f *testFile) usedPackages() map[string]bool {
	names := make(map[string]bool)
	for _, d := range f.ast.Decls {
		ast.Inspect(d, func(n ast.Node) bool {
			if f.removed[n] {
				return false
			}
			if sel, ok := n.(*ast.SelectorExpr); ok {
				if id, ok := sel.X.(*ast.Ident); ok {
					names[id.Name] = true
				}
			}
			return true
		})
	}
	return names
}

func importName(spec *ast.ImportSpec) string {
	if spec.Name != nil {
		return spec.Name.Name
	}
	of, _ := strconv.Unquote(spec.Path.Value)
	return path.Base(of)
}

// blank overwrites everything but the ends of lines.
func blank(text []byte) {
	for i, c := range text {
		if c != '\n' {
			text[i] = ' '
		}
	}
}

// output runs a command in dir and returns everything that it prints.
func output(dir, name string, args ...string) (string, error) {
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	text, err := cmd.CombinedOutput()
	return string(text), err
}
