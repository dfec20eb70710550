// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package library

// This file is the server of Go source code.

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
	"slices"
	"strconv"
	"strings"

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
