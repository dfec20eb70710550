// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package internal_test

// Rules on the two message types, and on the documentation of exported names.

import (
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"path"
	"regexp"
	"strings"
)

var messageSwitch = rule{
	name: "only internal/message tells the message types apart",
	mend: "read and edit messages through internal/message; elsewhere the types may only be type arguments, as in NewTyped[*schema.Message]",
	check: func(t *tree) (found []string) {
		for _, f := range t.product() {
			if !under("toolsearch", f.dir()) && !under("reduction", f.dir()) && !under("window", f.dir()) && !under("internal", f.dir()) {
				continue
			}
			// adktest makes and reads messages for tests, which must not believe what they test.
			if under("internal/message", f.dir()) || under("internal/dev/adktest", f.dir()) {
				continue
			}
			for _, u := range messageUses(f) {
				found = append(found, t.at(u.pos)+": "+u.what)
			}
		}
		return found
	},
	bad: []sample{
		{map[string]string{
			"toolsearch/a.go": messageSample + `
func f(v any, w adk.Message) {
	switch v.(type) {
	case int, *schema.Message:
	}
	_, _ = v.([]adk.AgenticMessage)
	var m *schema.AgenticMessage
}
`,
			"reduction/b.go":       "package reduction\n\nimport s \"" + eino + "/schema\"\n\nvar _ = s.AgenticMessage{}\n",
			"reduction/message.go": messageSample + "func g(v any) { switch v.(type) { case *schema.Message: } }\n",
			"window/c.go":          messageSample + "func g(v any) { _ = v.(*schema.Message) }\n",
			"internal/d/d.go":      messageSample + "func g(v any) { _ = v.(*schema.Message) }\n",
		}, []string{
			"internal/d/d.go:7: " + inAssertion, "reduction/b.go:5: " + asAgentic, "reduction/message.go:7: " + inSwitch,
			"toolsearch/a.go:9: " + inSwitch, "toolsearch/a.go:12: " + inAssertion, "toolsearch/a.go:13: " + asAgentic, "window/c.go:7: " + inAssertion,
		}},
	},
	good: []map[string]string{{
		"toolsearch/a.go": messageSample + `
type Config = TypedConfig[*schema.Message]

var _ hook[*schema.AgenticMessage] = (*middleware[*schema.AgenticMessage])(nil)

func New(v any) any {
	switch v.(type) {
	case *schema.ToolInfo, Message:
	}
	return pair[*schema.Message, *schema.AgenticMessage](NewTyped[*schema.AgenticMessage](v), []*schema.Message(nil))
}
`,
		"internal/message/a.go":     messageSample + "func f(v any) { switch v.(type) { case *schema.Message: case *schema.AgenticMessage: } }\n",
		"internal/dev/adktest/a.go": messageSample + "func g(v any) *schema.AgenticMessage { return v.(*schema.AgenticMessage) }\n",
		"toolsearch/a_test.go":      messageSample + "func f(v any) { _ = v.(*schema.AgenticMessage) }\n",
		"examples/a/a.go":           messageSample + "func f(v any) { _ = v.(*schema.AgenticMessage) }\n",
	}},
}

const messageSample = "package x\n\nimport \"" + eino + "/schema\"\n\nimport \"" + eino + "/adk\"\n\n"

// What a use of a message type can be.
const (
	inSwitch    = "a type switch on a message type"
	inAssertion = "a type assertion to a message type"
	asAgentic   = "AgenticMessage by name"
)

// messageUse is one place that depends on which message type it is.
type messageUse struct {
	pos  token.Pos
	what string
}

// messageUses finds type switches and assertions on the message types, and the
// name AgenticMessage except as a type argument. The plain type may be
// named: tools and callers of New use it.
func messageUses(f *file) (out []messageUse) {
	told := make(map[*ast.SelectorExpr]bool) // as part of something larger, or allowed
	tell := func(pos token.Pos, what string, types ...ast.Expr) {
		var names []*ast.SelectorExpr
		for _, t := range types {
			names = append(names, messageNames(f, t)...)
		}
		for _, name := range names {
			told[name] = true
		}
		if what != "" && len(names) > 0 {
			out = append(out, messageUse{pos, what})
		}
	}
	ast.Inspect(f.ast, func(n ast.Node) bool {
		switch v := n.(type) {
		case *ast.TypeSwitchStmt:
			var types []ast.Expr
			for _, c := range v.Body.List {
				types = append(types, c.(*ast.CaseClause).List...)
			}
			tell(v.Pos(), inSwitch, types...)
		case *ast.TypeAssertExpr:
			tell(v.Pos(), inAssertion, v.Type)
		case *ast.IndexExpr:
			tell(v.Pos(), "", v.Index)
		case *ast.IndexListExpr:
			tell(v.Pos(), "", v.Indices...)
		case *ast.SelectorExpr:
			if !told[v] && v.Sel.Name == "AgenticMessage" {
				tell(v.Pos(), asAgentic, v)
			}
		}
		return true
	})
	return out
}

// messageNames finds the message types in an expression, under Eino's two names
// for them; nil is an expression without any.
func messageNames(f *file, expr ast.Expr) (out []*ast.SelectorExpr) {
	if expr == nil {
		return nil
	}
	ast.Inspect(expr, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok || sel.Sel.Name != "Message" && sel.Sel.Name != "AgenticMessage" {
			return true
		}
		for _, i := range imports(f) {
			x, ok := sel.X.(*ast.Ident)
			if ok && x.Name == i.name() && (i.path == eino+"/schema" || i.path == eino+"/adk") {
				out = append(out, sel)
			}
		}
		return true
	})
	return out
}

// pkg.go.dev shows neither the methods nor the fields of what an alias stands for.
var noInternalAliases = rule{
	name: "no exported name stands for an internal type",
	mend: "declare the type where users see it, with its documentation; the internal one can be converted",
	check: func(t *tree) (found []string) {
		for _, f := range t.product() {
			if !public(f) {
				continue
			}
			inside := make(map[string]bool) // package names
			for _, i := range imports(f) {
				if within("internal", i.path) && under(modulePath, i.path) {
					name := path.Base(i.path)
					if i.spec.Name != nil {
						name = i.spec.Name.Name
					}
					inside[name] = true
				}
			}
			ast.Inspect(f.ast, func(n ast.Node) bool {
				spec, ok := n.(*ast.TypeSpec)
				if !ok || !spec.Assign.IsValid() || !spec.Name.IsExported() {
					return true
				}
				if sel, ok := spec.Type.(*ast.SelectorExpr); ok {
					if x, ok := sel.X.(*ast.Ident); ok && inside[x.Name] {
						found = append(found, t.at(spec.Pos())+": "+spec.Name.Name+" is "+x.Name+"."+sel.Sel.Name)
					}
				}
				return true
			})
		}
		return found
	},
	bad: []sample{{map[string]string{
		"toolsearch/a.go": "package toolsearch\n\nimport b \"" + modulePath + "/internal/backend\"\n\ntype Backend = b.Backend\n",
	}, []string{"toolsearch/a.go:5: Backend is b.Backend"}}},
	good: []map[string]string{{
		"toolsearch/a.go": "package toolsearch\n\nimport b \"" + modulePath + "/internal/backend\"\n\ntype inner = b.Backend\n\ntype Config = TypedConfig[int]\n",
		"internal/x/a.go": "package x\n\nimport \"" + modulePath + "/internal/backend\"\n\ntype Backend = backend.Backend\n",
	}},
}

var wholeExamples = rule{
	name: "every example of a public package is a whole program",
	mend: "keep what an example uses in the example's own file, and import nothing internal: pkg.go.dev then shows it as a program that runs",
	check: func(t *tree) (found []string) {
		for _, f := range t.files {
			if f.ast == nil || !f.isTest() || f.testdata() || !public(f) || (within("examples", f.dir()) || within("demo", f.dir())) {
				continue
			}
			// An example is shown as a program by what go/doc resolves, which t does not.
			resolved, err := parser.ParseFile(token.NewFileSet(), f.path, f.text, parser.ParseComments)
			if err != nil {
				found = append(found, err.Error())
				continue
			}
			for _, e := range doc.Examples(resolved) {
				if e.Play == nil {
					found = append(found, f.path+": Example"+e.Name+" needs another file")
					continue
				}
				ast.Inspect(e.Play, func(n ast.Node) bool {
					if i, ok := n.(*ast.ImportSpec); ok && strings.Contains(i.Path.Value, "/internal/") {
						found = append(found, f.path+": Example"+e.Name+" imports "+i.Path.Value)
					}
					return true
				})
			}
		}
		return found
	},
	bad: []sample{{map[string]string{
		"toolsearch/a_test.go": "package toolsearch_test\n\nfunc ExampleNew() {\n\thelper()\n\t// Output: x\n}\n",
		"window/b_test.go":     "package window_test\n\nimport \"" + modulePath + "/internal/dev/adktest\"\n\nfunc Example() {\n\tadktest.Run()\n\t// Output: x\n}\n\nfunc ExampleNew() {}\n",
	}, []string{"toolsearch/a_test.go: ExampleNew needs another file", "window/b_test.go: Example imports \"" + modulePath + "/internal/dev/adktest\""}}},
	good: []map[string]string{{
		"toolsearch/a_test.go": "package toolsearch_test\n\nimport \"fmt\"\n\nfunc helper() { fmt.Println(\"x\") }\n\nfunc ExampleNew() {\n\thelper()\n\t// Output: x\n}\n",
		"examples/a/a_test.go": "package main\n\nfunc Example() {\n\tmain()\n}\n",
		"internal/a/a_test.go": "package a\n\nfunc Example() {\n\thelper()\n}\n",
	}},
}

var shownInUse = rule{
	name: "every exported function and configuration type is in an example",
	mend: "write an Example that uses it, or use it in one that the package has: people copy from those",
	check: func(t *tree) (found []string) {
		used := map[string]map[string]bool{} // by directory, the names that examples use
		for _, f := range t.where(func(f *file) bool { return f.ast != nil && f.isTest() && !f.testdata() }) {
			for _, d := range f.ast.Decls {
				fn, ok := d.(*ast.FuncDecl)
				if !ok || !strings.HasPrefix(fn.Name.Name, "Example") {
					continue
				}
				if used[f.dir()] == nil {
					used[f.dir()] = map[string]bool{}
				}
				ast.Inspect(fn, func(n ast.Node) bool {
					if sel, ok := n.(*ast.SelectorExpr); ok {
						used[f.dir()][sel.Sel.Name] = true
					}
					return true
				})
			}
		}
		for _, f := range t.product() {
			if !public(f) {
				continue
			}
			for _, id := range toShow(f.ast) {
				if !used[f.dir()][id.Name] {
					found = append(found, t.at(id.Pos())+": no example uses "+id.Name)
				}
			}
		}
		return found
	},
	bad: []sample{{map[string]string{
		"toolsearch/a.go":      "package toolsearch\n\ntype Config struct{}\n\nfunc New() {}\n\nfunc Old() {}\n\nfunc (Config) Is() {}\n\ntype Phase int\n",
		"toolsearch/a_test.go": "package toolsearch_test\n\nfunc ExampleNew() {\n\ttoolsearch.New()\n}\n\nfunc TestOld() {\n\ttoolsearch.Old()\n}\n",
	}, []string{"toolsearch/a.go:3: no example uses Config", "toolsearch/a.go:7: no example uses Old"}}},
	good: []map[string]string{{
		"toolsearch/a.go":      "package toolsearch\n\ntype Options struct{}\n\nfunc New() {}\n\nfunc old() {}\n",
		"toolsearch/a_test.go": "package toolsearch_test\n\nfunc Example() {\n\ttoolsearch.New(toolsearch.Options{})\n}\n",
		"internal/x/a.go":      "package x\n\nfunc New() {}\n",
		"cmd/x/a.go":           "package main\n\nfunc New() {}\n",
	}},
}

// toShow are the exported functions and the types of configurations.
func toShow(f *ast.File) (names []*ast.Ident) {
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil && d.Name.IsExported() {
				names = append(names, d.Name)
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				if spec, ok := s.(*ast.TypeSpec); ok && configuring.MatchString(spec.Name.Name) {
					names = append(names, spec.Name)
				}
			}
		}
	}
	return names
}

// configuring is how types of configurations are called.
var configuring = regexp.MustCompile(`^[A-Z]\w*(Config|Options)$|^(Config|Options|Limits)$`)

var documentedNames = rule{
	name: "every exported name is documented",
	mend: "say above it what it is: its zero value, its unit, its errors, who owns what, and whether it is safe for concurrent use",
	check: func(t *tree) (found []string) {
		for _, f := range t.product() {
			if f.ast.Name.Name == "main" || (within("examples", f.dir()) || within("demo", f.dir())) {
				continue
			}
			for _, n := range undocumented(f.ast, public(f)) {
				found = append(found, t.at(n.Pos())+": "+n.Name+" has no comment")
			}
		}
		return found
	},
	bad: []sample{
		{map[string]string{"toolsearch/a.go": `package toolsearch

type T struct {
	A int
	B, C int

	// D is one, and Efg is none.
	D, E int
}

type (
	I interface {
		M()
		fmt.Stringer
	}
)

func F() {}

func (t *T) M() {}

func (p pair[A, B]) Hidden() {}

func (p *Pair[A, B]) Shown() {}

const K, k = 1, 2

var (
	V int
)
`}, []string{
			"toolsearch/a.go:3: T has no comment", "toolsearch/a.go:4: A has no comment", "toolsearch/a.go:5: B has no comment", "toolsearch/a.go:5: C has no comment",
			"toolsearch/a.go:12: I has no comment", "toolsearch/a.go:13: M has no comment",
			"toolsearch/a.go:18: F has no comment", "toolsearch/a.go:20: M has no comment", "toolsearch/a.go:24: Shown has no comment",
			"toolsearch/a.go:26: K has no comment", "toolsearch/a.go:29: V has no comment",
		}},
		{map[string]string{"internal/x/a.go": "package x\n\ntype T struct{ A int }\n\n//go:noinline\nfunc F() {}\n"},
			[]string{"internal/x/a.go:3: T has no comment", "internal/x/a.go:6: F has no comment"}},
	},
	good: []map[string]string{{
		"toolsearch/a.go": `package toolsearch

// T is a thing; A is its first part.
type T struct {
	A int
	// B and C are the rest.
	B int
	C int
	D int // the end
	e int
	Embedded
}

// I is asked.
type I interface {
	// M answers.
	M()
}

// F does.
func F() {}

func f() {}

func (t t) M() {}

// The numbers.
const (
	One = iota
	Two
)

var V int // a value
`,
		"internal/x/a.go":      "package x\n\n// T is.\ntype T struct{ A int }\n",
		"examples/x/a.go":      "package x\n\nfunc F() {}\n",
		"internal/cmd/a.go":    "package main\n\nfunc F() {}\n",
		"internal/x/x_test.go": "package x\n\nfunc F() {}\n",
	}},
}

// undocumented finds the exported names without a comment; of types, with their
// fields and methods where members says so.
func undocumented(f *ast.File, members bool) (out []*ast.Ident) {
	for _, decl := range f.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			if d.Name.IsExported() && d.Doc.Text() == "" && (d.Recv == nil || ast.IsExported(receiver(d))) {
				out = append(out, d.Name)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				out = append(out, undocumentedSpec(d, spec, members)...)
			}
		}
	}
	return out
}

func undocumentedSpec(d *ast.GenDecl, spec ast.Spec, members bool) (out []*ast.Ident) {
	switch s := spec.(type) {
	case *ast.ValueSpec:
		if d.Doc.Text()+s.Doc.Text()+s.Comment.Text() == "" {
			out = exported(s.Names)
		}
	case *ast.TypeSpec:
		text := d.Doc.Text() + s.Doc.Text() + s.Comment.Text()
		if text == "" {
			out = exported([]*ast.Ident{s.Name})
		}
		if members && s.Name.IsExported() {
			out = append(out, undocumentedMembers(s.Type, text)...)
		}
	}
	return out
}

// undocumentedMembers finds the fields of a struct, or methods of an interface,
// that neither have a comment nor are named in one of the same type.
func undocumentedMembers(t ast.Expr, text string) (out []*ast.Ident) {
	var fields *ast.FieldList
	switch v := t.(type) {
	case *ast.StructType:
		fields = v.Fields
	case *ast.InterfaceType:
		fields = v.Methods
	default:
		return nil
	}
	for _, field := range fields.List {
		text += field.Doc.Text() + field.Comment.Text()
	}
	for _, field := range fields.List {
		for _, name := range exported(field.Names) {
			named := regexp.MustCompile(`\b` + name.Name + `\b`).MatchString(text)
			if field.Doc.Text()+field.Comment.Text() == "" && !named {
				out = append(out, name)
			}
		}
	}
	return out
}

func exported(names []*ast.Ident) (out []*ast.Ident) {
	for _, n := range names {
		if n.IsExported() {
			out = append(out, n)
		}
	}
	return out
}

// receiver is the name of the type that a method belongs to.
func receiver(d *ast.FuncDecl) string {
	t := d.Recv.List[0].Type
	for {
		switch v := t.(type) {
		case *ast.StarExpr:
			t = v.X
		case *ast.IndexExpr:
			t = v.X
		case *ast.IndexListExpr:
			t = v.X
		case *ast.Ident:
			return v.Name
		default:
			return ""
		}
	}
}
