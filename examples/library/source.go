// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package library

// This file is the servers of Go source code and of templates.

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/printer"
	"go/scanner"
	"go/token"
	"html/template"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	texttemplate "text/template"
	"text/template/parse"

	"github.com/fzipp/gocyclo"
)

var goServer = group{"go", "Go source code", []maker{
	define("go__format", "Formats Go source code as gofmt does.", func(in goTextIn) (string, error) {
		out, err := format.Source([]byte(in.Source))
		if err != nil {
			return "", fmt.Errorf("the source has syntax errors:\n%s", syntaxErrors(err))
		}
		return string(out), nil
	}),
	define("go__check_syntax", "Checks Go source code for syntax errors and lists them with line and column.", func(in goTextIn) (string, error) {
		if _, err := parseGo(in.Source); err != nil {
			return err.Error(), nil
		}
		return "no syntax errors", nil
	}),
	define("go__list_functions", "Lists the functions and methods of a Go file with signature, line and length.", func(in goIn) (string, error) {
		f := in.Source
		return listed(each(f.functions(), func(fn *ast.FuncDecl) string {
			signature := f.show(&ast.FuncDecl{Recv: fn.Recv, Name: fn.Name, Type: fn.Type})
			lines := f.line(fn.End()) - f.line(fn.Pos()) + 1
			return fmt.Sprintf("line %d, %s: %s", f.line(fn.Pos()), counted(lines, "line"), signature)
		}), "the source has no functions"), nil
	}),
	define("go__list_types", "Lists the types of a Go file with their fields or methods.", func(in goIn) (string, error) {
		f := in.Source
		var out []string
		ast.Inspect(f.File, func(n ast.Node) bool {
			if spec, ok := n.(*ast.TypeSpec); ok {
				out = append(out, fmt.Sprintf("line %d: %s %s", f.line(spec.Pos()), spec.Name.Name, f.show(spec.Type)))
			}
			return true
		})
		return listed(out, "the source has no types"), nil
	}),
	define("go__list_imports", "Lists the packages that a Go file imports.", func(in goIn) (string, error) {
		return listed(each(in.Source.Imports, func(spec *ast.ImportSpec) string {
			path, _ := strconv.Unquote(spec.Path.Value)
			if spec.Name != nil {
				return spec.Name.Name + " " + path
			}
			return path
		}), "the source imports nothing"), nil
	}),
	define("go__show_function", "Shows the source of one function or method of a Go file.", func(in goNameIn) (string, error) {
		f := in.Source.goFile
		var names []string
		for _, fn := range f.functions() {
			if f.name(fn) == in.Name || fn.Name.Name == in.Name {
				start := fn.Pos()
				if fn.Doc != nil {
					start = fn.Doc.Pos()
				}
				return f.source[f.set.Position(start).Offset:f.set.Position(fn.End()).Offset], nil
			}
			names = append(names, f.name(fn))
		}
		return "", fmt.Errorf("there is no function %q; the functions are: %s", in.Name, strings.Join(names, ", "))
	}),
	define("go__undocumented", "Lists the exported names of a Go file that have no doc comment.", func(in goIn) (string, error) {
		f := in.Source
		var out []string
		missing := func(name *ast.Ident, doc *ast.CommentGroup) {
			if name.IsExported() && doc == nil {
				out = append(out, fmt.Sprintf("line %d: %s", f.line(name.Pos()), name.Name))
			}
		}
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				missing(d.Name, d.Doc)
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					if t, ok := spec.(*ast.TypeSpec); ok && d.Doc == nil {
						missing(t.Name, t.Doc)
					}
					if v, ok := spec.(*ast.ValueSpec); ok && d.Doc == nil && v.Comment == nil {
						missing(v.Names[0], v.Doc)
					}
				}
			}
		}
		return listed(out, "every exported name has a doc comment"), nil
	}),
	define("go__complexity", "Computes the cyclomatic complexity of each function of a Go file.", func(in goIn) (string, error) {
		f := in.Source
		return listed(each(f.functions(), func(fn *ast.FuncDecl) string {
			return fmt.Sprintf("%s: %d", f.name(fn), gocyclo.Complexity(fn))
		}), "the source has no functions"), nil
	}),
	define("go__find_calls", "Finds where a function is called in a Go file.", func(in goNameIn) (string, error) {
		f := in.Source
		var out []string
		ast.Inspect(f.File, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			if called := f.show(call.Fun); called == in.Name || strings.HasSuffix(called, "."+in.Name) {
				out = append(out, fmt.Sprintf("line %d: %.200s", f.line(call.Pos()), f.show(call)))
			}
			return len(out) < maxMatches
		})
		return listed(out, "it is not called"), nil
	}),
	define("go__count_tokens", "Counts code lines, comment lines, blank lines and identifiers of Go source code.", func(in goTextIn) (string, error) {
		set := token.NewFileSet()
		file := set.AddFile("", -1, len(in.Source))
		var s scanner.Scanner
		s.Init(file, []byte(in.Source), func(token.Position, string) {}, scanner.ScanComments)
		code, comments := map[int]bool{}, map[int]bool{}
		names := 0
		for {
			pos, tok, text := s.Scan()
			if tok == token.EOF {
				break
			}
			line := file.Line(pos)
			switch {
			case tok == token.COMMENT:
				for i := range strings.Count(text, "\n") + 1 {
					comments[line+i] = true
				}
			case tok != token.SEMICOLON || text == ";":
				code[line] = true
				if tok == token.IDENT {
					names++
				}
			}
		}
		all := linesIn{in.Source}.lines()
		blank := len(slices.DeleteFunc(all, func(line string) bool { return strings.TrimSpace(line) != "" }))
		return fmt.Sprintf("%d lines with code, %d with comments, %d blank, %d identifiers", len(code), len(comments), blank, names), nil
	}),
}}

type goTextIn struct {
	Source string `json:"source" jsonschema_description:"The Go source code of one file"`
}

type goIn struct {
	Source goSource `json:"source" jsonschema_description:"The Go source code of one file"`
}

// goSource is an argument that is the source code of a file.
type goSource struct {
	written
	goFile
}

// UnmarshalJSON parses the source.
func (s *goSource) UnmarshalJSON(sent []byte) error {
	return decodeText(sent, &s.written, &s.goFile, parseGo)
}

// goFile is a parsed file with its source and the positions in it.
type goFile struct {
	set *token.FileSet
	*ast.File
	source string
}

// parseGo adds a package clause where a snippet has none; line numbers stay the same.
func parseGo(source string) (goFile, error) {
	out := goFile{set: token.NewFileSet(), source: source}
	mode := parser.ParseComments | parser.SkipObjectResolution
	file, err := parser.ParseFile(out.set, "", source, mode)
	if err != nil && !strings.HasPrefix(strings.TrimSpace(source), "package ") {
		snippet := goFile{set: token.NewFileSet(), source: "package p; " + source}
		if f, errSnippet := parser.ParseFile(snippet.set, "", snippet.source, mode); errSnippet == nil {
			snippet.File = f
			return snippet, nil
		}
	}
	out.File = file
	if err != nil {
		return out, fmt.Errorf("the source has syntax errors:\n%s", syntaxErrors(err))
	}
	return out, nil
}

func syntaxErrors(err error) string {
	var list scanner.ErrorList
	if !errors.As(err, &list) {
		return err.Error()
	}
	return joined(list[:min(len(list), 20)], "\n", func(e *scanner.Error) string {
		return fmt.Sprintf("line %d, column %d: %s", e.Pos.Line, e.Pos.Column, e.Msg)
	})
}

func (f goFile) line(pos token.Pos) int { return f.set.Position(pos).Line }

func (f goFile) functions() []*ast.FuncDecl {
	var out []*ast.FuncDecl
	for _, d := range f.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok {
			out = append(out, fn)
		}
	}
	return out
}

// show prints a piece of the tree in one line.
func (f goFile) show(n any) string {
	var out bytes.Buffer
	if err := printer.Fprint(&out, f.set, n); err != nil {
		return "?"
	}
	return oneLine(out.String())
}

// name gives Type.Method for a method.
func (f goFile) name(fn *ast.FuncDecl) string {
	if fn.Recv == nil || len(fn.Recv.List) == 0 {
		return fn.Name.Name
	}
	return strings.TrimPrefix(f.show(fn.Recv.List[0].Type), "*") + "." + fn.Name.Name
}

type goNameIn struct {
	goIn
	Name string `json:"name" jsonschema_description:"The function's name; Type.Method for a method"`
}

var templateServer = group{"template", "Templates", []maker{
	define("template__render_text", "Renders a Go text template with values from a JSON object.", rendered(readText)),
	define("template__render_html", "Renders a Go HTML template with values from a JSON object, escaping them where they stand.", rendered(readHTML)),
	define("template__fill", "Fills placeholders such as {name} or ${name} in a text with values from a JSON object.", func(in templateIn) (string, error) {
		values, err := in.values()
		if err != nil {
			return "", err
		}
		return fill(in.Template, func(name string) (string, bool) {
			v, ok := values[name]
			return cell(v), ok
		})
	}),
	define("template__list_placeholders", "Lists the placeholders such as {name} or ${name} of a text.", func(in textIn) (string, error) {
		found := placeholders(in.Text)
		return listed(found, "the text has no placeholders"), nil
	}),
	defineStream("template__mail_merge", "Fills a text's placeholders once for every row of a CSV table and sends the letters one by one.",
		func(in struct {
			Template string `json:"template" jsonschema_description:"The letter, with a placeholder such as {name} for each column"`
			csvIn
		}, emit func(string) bool) error {
			t := in.CSV
			if (len(in.Template)+1)*len(t.rows) > maxAnswer {
				return errTooLong
			}
			for i, row := range t.rows {
				letter, err := fill(in.Template, func(name string) (string, bool) {
					c, err := t.column(name)
					return row[c], err == nil
				})
				if err != nil {
					return err
				}
				if !emit(fmt.Sprintf("--- letter %d of %d ---\n%s\n", i+1, len(t.rows), letter)) {
					return nil
				}
			}
			return nil
		}),
}}

type templateIn struct {
	Template string `json:"template" jsonschema_description:"The template"`
	Values   string `json:"values" jsonschema_description:"The values by name, as a JSON object"`
}

func (in templateIn) values() (map[string]any, error) {
	v, err := parseJSON(in.Values)
	if err != nil {
		return nil, fmt.Errorf("the argument \"values\": %w", err)
	}
	values, ok := v.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("the argument \"values\" must be a JSON object, and is %s", jsonKind(v))
	}
	return values, nil
}

var errTooLong = fmt.Errorf("the result would be longer than %d bytes", maxAnswer)

// capped is a text that refuses to grow beyond maxAnswer.
type capped struct{ strings.Builder }

func (c *capped) Write(p []byte) (int, error) {
	if c.Len()+len(p) > maxAnswer {
		return 0, errTooLong
	}
	return c.Builder.Write(p)
}

// Bounds of loops, so that no template runs for long.
const (
	maxLoops     = 20
	nestedValues = 2000 // bytes of the values where loops are nested
)

// loops counts the loops below a node of a parsed template, and finds what it
// must not have: templates of its own, and loops over computed numbers.
func loops(list *parse.ListNode, depth int) (count, deepest int, err error) {
	if list == nil {
		return 0, depth, nil
	}
	deepest = depth
	for _, n := range list.Nodes {
		var branch *parse.BranchNode
		inner := depth
		switch n := n.(type) {
		case *parse.TemplateNode:
			return 0, 0, errors.New("a template must not call another")
		case *parse.RangeNode:
			if !overValues(n.Pipe) {
				return 0, 0, fmt.Errorf("%q must loop over a value, such as .items", n.Pipe)
			}
			branch, inner, count = &n.BranchNode, depth+1, count+1
		case *parse.IfNode:
			branch = &n.BranchNode
		case *parse.WithNode:
			branch = &n.BranchNode
		}
		if branch == nil {
			continue
		}
		for _, l := range []*parse.ListNode{branch.List, branch.ElseList} {
			c, d, err := loops(l, inner)
			if err != nil {
				return 0, 0, err
			}
			count, deepest = count+c, max(deepest, d)
		}
	}
	return count, deepest, nil
}

// overValues says whether a pipeline is nothing but a field or the dot.
func overValues(pipe *parse.PipeNode) bool {
	if len(pipe.Cmds) != 1 || len(pipe.Cmds[0].Args) != 1 {
		return false
	}
	switch pipe.Cmds[0].Args[0].(type) {
	case *parse.FieldNode, *parse.DotNode:
		return true
	}
	return false
}

// check refuses a template that could run or grow without end.
func (in templateIn) check(tree *parse.Tree) error {
	if tree == nil {
		return nil // an empty template
	}
	if strings.Contains(in.Template, "printf") {
		return errors.New("printf is not allowed in these templates")
	}
	count, depth, err := loops(tree.Root, 0)
	switch {
	case err != nil:
		return err
	case count > maxLoops || depth > 2:
		return fmt.Errorf("at most %d loops are allowed, nested at most twice", maxLoops)
	case depth == 2 && len(in.Values) > nestedValues:
		return fmt.Errorf("with nested loops the values must have at most %d bytes", nestedValues)
	}
	return nil
}

// parsed is a template of either kind.
type parsed interface {
	Execute(out io.Writer, values any) error
}

// rendered makes a tool that executes a template into a bounded text.
func rendered(read func(text string) (parsed, *parse.Tree, error)) func(templateIn) (string, error) {
	return func(in templateIn) (string, error) {
		values, err := in.values()
		if err != nil {
			return "", err
		}
		var out capped
		t, tree, err := read(in.Template)
		if err == nil {
			err = in.check(tree)
		}
		if err == nil {
			err = t.Execute(&out, values)
		}
		switch {
		case errors.Is(err, errTooLong):
			return "", errTooLong
		case err != nil:
			return "", fmt.Errorf("the template fails: %w", err)
		}
		return out.String(), nil
	}
}

func readText(text string) (parsed, *parse.Tree, error) {
	t := texttemplate.New("template").Option("missingkey=error")
	_, err := t.Parse(text)
	return t, t.Tree, err
}

func readHTML(text string) (parsed, *parse.Tree, error) {
	t := template.New("template").Option("missingkey=error")
	_, err := t.Parse(text)
	return t, t.Tree, err
}

var placeholder = regexp.MustCompile(`\$?\{\s*([\p{L}_][\p{L}\p{N}_ .-]*?)\s*\}`)

func placeholders(text string) []string {
	return unique(each(placeholder.FindAllStringSubmatch(text, maxMatches), func(match []string) string { return match[1] }))
}

// fill puts the values in place of the placeholders; all must be there.
func fill(text string, value func(name string) (string, bool)) (string, error) {
	size := len(text)
	for _, m := range placeholder.FindAllStringSubmatch(text, -1) {
		v, ok := value(m[1])
		if !ok {
			return "", fmt.Errorf("there is no value for %q; the placeholders are: %s", m[1], strings.Join(placeholders(text), ", "))
		}
		if size += len(v); size > maxAnswer {
			return "", errTooLong
		}
	}
	return placeholder.ReplaceAllStringFunc(text, func(mark string) string {
		v, _ := value(placeholder.FindStringSubmatch(mark)[1])
		return v
	}), nil
}
