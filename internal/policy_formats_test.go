// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package internal_test

// The rule on what outlives a process: every name in it that a later build must know has a sample.

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/token"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/einolean/einolean/internal/formats"
)

const samplesDir = "internal/formats/testdata"

var frozen = rule{
	name: "every name that is kept has a sample",
	mend: "let a test that goes on with it write it, see formats.Samples: EINOLEAN_UPDATE=1 then adds a sample, and another run of the tests of internal/formats its sum",
	check: func(t *tree) (found []string) {
		all := samplesOf(t, &found)
		k := keptNames(t)
		found = append(found, k.wrong...)
		for _, n := range k.names {
			if !n.isIn(all, k.names) {
				found = append(found, fmt.Sprintf("%s: no sample has the %s %q", t.at(n.pos), n.kind, n.name))
			}
		}
		slices.Sort(found)
		return slices.Compact(found)
	},
	bad: []sample{
		{map[string]string{"a/a.go": "package a\n\nconst newKey = \"answer\"\nconst old = \"__einolean_old__\"\nvar x = \"__einolean_old__more__\"\n",
			samplesDir + "/v1/a.json": `{"__einolean_old__more__":true}`},
			[]string{`a/a.go:3: no sample has the key "answer"`, `a/a.go:4: no sample has the key "__einolean_old__"`}},
		{map[string]string{"a/a.go": "package a\n\ntype kept struct {\n\tSize int\n\tParts []part\n\tlock int\n}\ntype part struct{ Word string }\n\n" +
			"func init() {\n\tschema.RegisterName[*kept](\"einolean_kept\")\n\tgob.Register(kept{})\n}\n",
			samplesDir + "/v1/a.json": "einolean_kept \x01\x04Size\x01 Parts"},
			[]string{`a/a.go:12: a type that is registered without a name has the name of its package`, `a/a.go:5: no sample has the field "Parts"`, `a/a.go:8: no sample has the field "Word"`}},
		{map[string]string{"a/a.go": "package a\n\nconst kept = \"kept \"\n\nfunc f() {\n\tadk.SetRunLocalValue(ctx, kept+id, 1)\n\tadk.AddSessionValue(ctx, name(), 1)\n}\n"},
			[]string{`a/a.go:6: no sample has the key "kept "`, `a/a.go:7: a key that is kept is a constant, or begins with one`}},
		{map[string]string{"a/a.go": "package a\n\ntype line struct {\n\tSchema string `json:\"schema\"`\n\tEnd int `json:\"end,omitempty\"`\n}\n",
			samplesDir + "/v1/a.json": `{"schema":1,"ends":2}`},
			[]string{`a/a.go:5: no sample has the member "end"`}},
		{map[string]string{samplesDir + "/v1/a.txt": "no base64"}, []string{samplesDir + `/v1/a.txt: illegal base64 data at input byte 2`}},
	},
	good: []map[string]string{{
		"a/a.go": "package a\n\nconst newKey = \"answer\"\n", samplesDir + "/v1/a.json": `{"answer":1}`,
		"examples/a/a.go": "package a\n\nconst newKey = \"another\"\n", "a/a_test.go": "package a\n\nconst hisKey = \"another\"\n",
	}},
}

// notKept is code whose names end with the process or the call, or that nobody reads again: what providers, servers and
// a user's files say, what a build brings with it, what no checkpoint can hold, and sessions of an Eino that is not released.
var notKept = []string{"adapters/claude/events.go", "internal/einorun/session.go", "cmd", "internal/prices", "internal/toolschema", "programs/javascript",
	"toolsearch/mcptools/config.go", "toolsearch/mcptools/readconfig.go", "toolsearch/mcptools/list.go", "toolsearch/mcptools/tool.go", "toolsearch/mcptools/wire.go",
	"toolsearch/internal/slots/slots.go", "toolsearch/skills/skills.go", "toolsearch/toolsearcheval", "window/inspect", "reduction/blobbackend/objects.go"}

// samplesOf are the samples, each as it was before it was packed.
func samplesOf(t *tree, wrong *[]string) string {
	var all strings.Builder
	for _, f := range t.files {
		if under(samplesDir, f.path) {
			text, err := formats.Unpack(f.path, f.text)
			if err != nil {
				*wrong = append(*wrong, f.path+": "+err.Error())
			}
			all.WriteString(text + "\n")
		}
	}
	return all.String()
}

// keptName is a name that stands in what outlives a process.
type keptName struct {
	kind, name string
	pos        token.Pos
}

// isIn reports whether a sample has a name, and not only as a part of another.
func (n keptName) isIn(samples string, all []keptName) bool {
	switch n.kind {
	case "field":
		return strings.Contains(samples, "\x01"+string(rune(len(n.name)))+n.name+"\x01")
	case "member":
		return strings.Contains(samples, strconv.Quote(n.name)) || strings.Contains(samples, `"`+n.name+`\"`)
	}
	for _, other := range all {
		if other.name != n.name && strings.Contains(other.name, n.name) {
			samples = strings.ReplaceAll(samples, other.name, "")
		}
	}
	return strings.Contains(samples, n.name)
}

// kept are the names that product code keeps.
type kept struct {
	t         *tree
	constants map[string]string          // by directory and name
	structs   map[string]*ast.StructType // by directory and name
	seen      map[*ast.StructType]bool
	names     []keptName
	wrong     []string
}

func keptNames(t *tree) *kept {
	k := &kept{t: t, constants: map[string]string{}, structs: map[string]*ast.StructType{}, seen: map[*ast.StructType]bool{}}
	files := slices.DeleteFunc(t.product(), func(f *file) bool {
		return slices.ContainsFunc(append(notKept, "internal/dev", "examples", "demo"), func(dir string) bool { return under(dir, f.path) })
	})
	for _, f := range files {
		k.declared(f)
	}
	for _, f := range files {
		ast.Inspect(f.ast, func(n ast.Node) bool {
			k.look(f, n)
			return true
		})
	}
	slices.SortFunc(k.names, func(a, b keptName) int { return cmp.Or(cmp.Compare(a.name, b.name), cmp.Compare(a.pos, b.pos)) })
	return k
}

// declared notes the constants and structs of a file.
func (k *kept) declared(f *file) {
	ast.Inspect(f.ast, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ValueSpec:
			for i, name := range n.Names {
				if i < len(n.Values) {
					if text, ok := literal(n.Values[i]); ok {
						k.constants[f.dir()+" "+name.Name] = text
					}
				}
			}
		case *ast.TypeSpec:
			if s, ok := n.Type.(*ast.StructType); ok {
				k.structs[f.dir()+" "+n.Name.Name] = s
			}
		}
		return true
	})
}

var (
	// byName are names of constants that hold what is kept: keys, directories of stores and schemas.
	byName = regexp.MustCompile(`^key[A-Z]|(Key|Keys|Dir|Schema|^format)$`)
	// byValue are keys that anybody may recognise.
	byValue = regexp.MustCompile(`^(_+[a-z0-9]+_[a-z0-9_]+|_*einolean(_\w+|\.[\w.]+/\d+))$`)
	aKey    = regexp.MustCompile(`^[\w=/.:-]+$`)
)

func (k *kept) look(f *file, n ast.Node) {
	switch n := n.(type) {
	case *ast.BasicLit:
		if text, ok := literal(n); ok && byValue.MatchString(text) {
			k.add("key", text, n.Pos())
		}
	case *ast.ValueSpec:
		for i, name := range n.Names {
			if i < len(n.Values) && byName.MatchString(name.Name) {
				if text, ok := literal(n.Values[i]); ok && aKey.MatchString(text) {
					k.add("key", text, n.Values[i].Pos())
				}
			}
		}
	case *ast.StructType:
		k.members(n)
	case *ast.CallExpr:
		k.call(f, n)
	}
}

func (k *kept) add(kind, name string, pos token.Pos) {
	k.names = append(k.names, keptName{kind, name, pos})
}

// members adds the names that the fields of a struct have in JSON.
func (k *kept) members(s *ast.StructType) {
	for _, f := range s.Fields.List {
		if f.Tag == nil {
			continue
		}
		tag, _ := literal(f.Tag)
		if name, _, _ := strings.Cut(reflect.StructTag(tag).Get("json"), ","); name != "" && name != "-" {
			k.add("member", name, f.Pos())
		}
	}
}

// call looks at a call that keeps a value, or registers a type of kept values.
func (k *kept) call(f *file, c *ast.CallExpr) {
	fun, types := c.Fun, []ast.Expr(nil)
	switch g := fun.(type) {
	case *ast.IndexExpr:
		fun, types = g.X, []ast.Expr{g.Index}
	case *ast.IndexListExpr:
		fun, types = g.X, g.Indices
	}
	sel, ok := fun.(*ast.SelectorExpr)
	if !ok {
		return
	}
	of, _ := sel.X.(*ast.Ident)
	switch sel.Sel.Name {
	case "SetRunLocalValue", "AddSessionValue":
		k.key(f, c)
	case "RegisterName":
		if name, ok := literal(c.Args[0]); ok {
			k.add("type", name, c.Pos())
		} else {
			k.wrong = append(k.wrong, k.t.at(c.Pos())+": the name of a registered type stands where it is registered")
		}
		for _, t := range append(types, c.Args[1:]...) {
			k.fields(f.dir(), t)
		}
	case "Register":
		if of != nil && (of.Name == "gob" || of.Name == "schema") {
			k.wrong = append(k.wrong, k.t.at(c.Pos())+": a type that is registered without a name has the name of its package")
		}
	}
}

// key adds the key of a value that a run keeps.
func (k *kept) key(f *file, c *ast.CallExpr) {
	first := c.Args[1]
	for {
		sum, ok := first.(*ast.BinaryExpr)
		if !ok {
			break
		}
		first = sum.X
	}
	text, ok := literal(first)
	if name, is := first.(*ast.Ident); is {
		text, ok = k.constants[f.dir()+" "+name.Name]
	}
	if !ok {
		k.wrong = append(k.wrong, k.t.at(c.Pos())+": a key that is kept is a constant, or begins with one")
		return
	}
	k.add("key", text, c.Pos())
}

// fields adds the fields of the structs that a type of a package leads to.
func (k *kept) fields(dir string, t ast.Expr) {
	ast.Inspect(t, func(n ast.Node) bool {
		name, ok := n.(*ast.Ident)
		if !ok {
			return true
		}
		s := k.structs[dir+" "+name.Name]
		if s == nil || k.seen[s] {
			return true
		}
		k.seen[s] = true
		for _, f := range s.Fields.List {
			exported := false
			for _, name := range f.Names {
				if name.IsExported() {
					exported = true
					k.add("field", name.Name, f.Pos())
				}
			}
			if exported {
				k.fields(dir, f.Type)
			}
		}
		return true
	})
}

// literal is the value of a text that stands there.
func literal(e ast.Expr) (text string, ok bool) {
	lit, ok := e.(*ast.BasicLit)
	if !ok || lit.Kind != token.STRING {
		return "", false
	}
	text, err := strconv.Unquote(lit.Value)
	return text, err == nil
}
