// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch_test

// The exported names, compared with Eino's.

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"

	einosearch "github.com/cloudwego/eino/adk/middlewares/dynamictool/toolsearch"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/toolsearch"
)

func TestAPI_HasEveryExportedNameOfEino(t *testing.T) {
	names := exportedNames(t, einoDir(t))
	require.NotEmpty(t, names)
	for name := range names {
		require.Contains(t, exports, name, "Eino's package exports a name that this test does not compare")
	}
	ours := exportedNames(t, ".")
	for name, pairs := range exports {
		require.Contains(t, names, name, "Eino's package has lost a name")
		require.Equal(t, names[name], ours[name], "%s is of another kind", name)
		for _, p := range pairs {
			sameType(t, name, reflect.TypeOf(p[0]), reflect.TypeOf(p[1]))
		}
	}
}

// exports are Eino's exported names, each beside ours; of generic ones every instance.
var exports = map[string][][2]any{
	"Config": {{einosearch.Config{}, toolsearch.Config{}}},
	"New":    {{einosearch.New, toolsearch.New}},
	"NewTyped": {
		{einosearch.NewTyped[*schema.Message], toolsearch.NewTyped[*schema.Message]},
		{einosearch.NewTyped[*schema.AgenticMessage], toolsearch.NewTyped[*schema.AgenticMessage]},
	},
}

// sameType compares types, where a type of Eino's package stands for ours of the same name.
func sameType(t *testing.T, what string, e, o reflect.Type) {
	t.Helper()
	if e.PkgPath() == reflect.TypeFor[einosearch.Config]().PkgPath() {
		require.Equal(t, reflect.TypeFor[toolsearch.Config]().PkgPath(), o.PkgPath(), what)
		require.Equal(t, e.Name(), o.Name(), what)
	} else if e == o {
		return
	}
	require.Equal(t, e.Kind(), o.Kind(), what)
	switch e.Kind() {
	case reflect.Pointer, reflect.Slice:
		sameType(t, what, e.Elem(), o.Elem())
	case reflect.Struct:
		sameFields(t, what, e, o)
	case reflect.Func:
		require.Equal(t, [3]any{e.NumIn(), e.NumOut(), e.IsVariadic()}, [3]any{o.NumIn(), o.NumOut(), o.IsVariadic()}, what)
		for i := range e.NumIn() {
			sameType(t, what, e.In(i), o.In(i))
		}
		for i := range e.NumOut() {
			sameType(t, what, e.Out(i), o.Out(i))
		}
	default:
		require.Equal(t, e.String(), o.String(), what)
	}
}

// sameFields: Eino's fields come first and in Eino's order, so that a literal without keys
// at least does not mean something else; its methods are there too.
func sameFields(t *testing.T, what string, e, o reflect.Type) {
	t.Helper()
	require.GreaterOrEqual(t, o.NumField(), e.NumField(), what)
	for i := range e.NumField() {
		require.Equal(t, e.Field(i).Name, o.Field(i).Name, what)
		require.Equal(t, e.Field(i).Tag, o.Field(i).Tag, what)
		sameType(t, what+"."+e.Field(i).Name, e.Field(i).Type, o.Field(i).Type)
	}
	for i := range reflect.PointerTo(e).NumMethod() {
		_, ok := reflect.PointerTo(o).MethodByName(reflect.PointerTo(e).Method(i).Name)
		require.True(t, ok, "%s has no method %s", what, reflect.PointerTo(e).Method(i).Name)
	}
}

// einoDir is where the source of Eino's package is: where it was compiled from, or, in a
// build without paths, where the go command says.
func einoDir(t *testing.T) string {
	t.Helper()
	file, _ := runtime.FuncForPC(reflect.ValueOf(einosearch.New).Pointer()).FileLine(0)
	if _, err := os.Stat(file); err == nil {
		return filepath.Dir(file)
	}
	out, err := exec.Command("go", "list", "-f", "{{.Dir}}", reflect.TypeFor[einosearch.Config]().PkgPath()).Output()
	require.NoError(t, err)
	return strings.TrimSpace(string(out))
}

// exportedNames are the exported top-level names of a package, and what each one is.
func exportedNames(t *testing.T, dir string) map[string]string {
	t.Helper()
	names := map[string]string{}
	files, err := fs.Glob(os.DirFS(dir), "*.go")
	require.NoError(t, err)
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(dir, name), nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		for _, d := range f.Decls {
			declared(d, func(name, kind string) {
				if ast.IsExported(name) {
					names[name] = kind
				}
			})
		}
	}
	return names
}

func declared(d ast.Decl, add func(name, kind string)) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil {
			add(d.Name.Name, "func")
		}
	case *ast.GenDecl:
		for _, s := range d.Specs {
			switch s := s.(type) {
			case *ast.TypeSpec:
				add(s.Name.Name, d.Tok.String())
			case *ast.ValueSpec:
				for _, n := range s.Names {
					add(n.Name, d.Tok.String())
				}
			}
		}
	}
}
