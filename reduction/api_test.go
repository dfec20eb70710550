// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package reduction_test

// The exported names, compared with Eino's, and what the package links.

import (
	"context"
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/adk/filesystem"
	theirs "github.com/cloudwego/eino/adk/middlewares/reduction"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/race"
	"github.com/einolean/einolean/reduction"
	"github.com/einolean/einolean/store"
)

var (
	_ = theirs.ToolDetail(reduction.ToolDetail{})
	_ = theirs.TruncResult(reduction.TruncResult{})
	_ = theirs.ClearResult(reduction.ClearResult{})

	_ theirs.Backend                   = reduction.Backend(nil)
	_ reduction.Backend                = theirs.Backend(nil)
	_ reduction.Backend                = filesystem.Backend(nil)
	_ store.Reader                     = filesystem.Backend(nil)
	_ *reduction.Config                = (*reduction.TypedConfig[*schema.Message])(nil)
	_ reduction.Backend                = (*store.Dir)(nil)
	_ store.Creator                    = (*store.Memory)(nil)
	_ store.Cleaner                    = (*store.Memory)(nil)
	_ typedNew[*schema.Message]        = reduction.NewTyped[*schema.Message]
	_ typedNew[*schema.AgenticMessage] = reduction.NewTyped[*schema.AgenticMessage]

	_ func(context.Context, *reduction.Config) (adk.ChatModelAgentMiddleware, error) = reduction.New
)

type typedNew[M adk.MessageType] func(context.Context, *reduction.TypedConfig[M]) (adk.TypedChatModelAgentMiddleware[M], error)

func TestAPI_HasEveryExportedNameOfEino(t *testing.T) {
	race.Skip(t, "reads packages")
	ours, eino := exportedBy(t, "."), exportedBy(t, reflect.TypeFor[theirs.Config]().PkgPath())
	require.Contains(t, eino, "TypedConfig")
	for name, declared := range eino {
		if !deprecated[name] {
			require.Equal(t, declared, ours[name], name)
		}
	}
	for name := range deprecated {
		require.Contains(t, eino, name, "Eino has dropped it as well")
	}
}

// deprecated are the names that are left out on purpose.
var deprecated = map[string]bool{
	"ClearToolResultConfig": true, "ToolResultConfig": true, "NewClearToolResult": true, "NewToolResultMiddleware": true,
}

// exportedBy lists the exported names of a package, and what each one is.
func exportedBy(t *testing.T, pkg string) map[string]string {
	t.Helper()
	dir, err := exec.Command("go", "list", "-f", "{{.Dir}}", pkg).Output()
	require.NoError(t, err)
	fset, names := token.NewFileSet(), map[string]string{}
	var files []*ast.File
	paths, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(dir)), "*.go"))
	require.NoError(t, err)
	for _, path := range paths {
		if !strings.HasSuffix(path, "_test.go") {
			f, err := parser.ParseFile(fset, path, nil, parser.ParseComments)
			require.NoError(t, err)
			files = append(files, f)
		}
	}
	p, err := doc.NewFromFiles(fset, files, pkg)
	require.NoError(t, err)
	funcs, values := p.Funcs, append(p.Consts, p.Vars...)
	for _, each := range p.Types {
		names[each.Name] = "type"
		funcs, values = append(funcs, each.Funcs...), append(values, append(each.Consts, each.Vars...)...)
	}
	for _, each := range funcs {
		names[each.Name] = "func"
	}
	for _, each := range values {
		for _, name := range each.Names {
			names[name] = "value"
		}
	}
	return names
}

func TestAPI_EinoFieldsComeFirst(t *testing.T) {
	testAPIEinoFieldsComeFirst(t, reflect.TypeFor[theirs.Config](), reflect.TypeFor[reduction.Config]())
	testAPIEinoFieldsComeFirst(t, reflect.TypeFor[theirs.TypedConfig[*schema.AgenticMessage]](), reflect.TypeFor[reduction.TypedConfig[*schema.AgenticMessage]]())
	testAPIEinoFieldsComeFirst(t, reflect.TypeFor[theirs.ToolReductionConfig](), reflect.TypeFor[reduction.ToolReductionConfig]())
}

// testAPIEinoFieldsComeFirst compares field by field. Both packages have the same name, so that a
// type of the one is written like that of the other.
func testAPIEinoFieldsComeFirst(t *testing.T, eino, ours reflect.Type) {
	t.Helper()
	for i := range eino.NumField() {
		e, o := eino.Field(i), ours.Field(i)
		require.Equal(t, e.Name, o.Name)
		require.Equal(t, e.Tag, o.Tag)
		if e.Name == "Backend" {
			require.True(t, e.Type.Implements(o.Type) && o.Type.Implements(e.Type))
			continue
		}
		require.Equal(t, e.Type.String(), o.Type.String(), e.Name)
	}
}

// TestAPI_LinksNoWordListsOrVectors: what ranks tools is of no use here, and 570 KB.
func TestAPI_LinksNoWordListsOrVectors(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", ".").Output()
	require.NoError(t, err)
	require.Contains(t, string(out), "/internal/readtool\n")
	for _, each := range []string{"/internal/keyword/bm25", "/wordvectors"} {
		require.NotContains(t, string(out), each)
	}
}
