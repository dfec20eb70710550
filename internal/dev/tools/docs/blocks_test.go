// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package docs

// The code that documents show is compiled.
//
// A block that has a package clause is a file. Any other block of Go is the body of a
// function, by these rules: each package that it names is imported; each name that it
// uses and does not declare has the type that given says; what it declares counts as
// used, as documents leave out what every Go program does after a call; an error that it
// assigns may be left unlooked at; and lines such as "Name: value," are fields of an
// agent's configuration. It is compiled in the module of the packages that it names,
// with its own requirements, without being written there.

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const (
	root   = "../../../.."
	module = "github.com/einolean/einolean"
)

// packages are those that blocks name.
var packages = map[string]string{
	"context": "context", "time": "time", "http": "net/http", "os": "os",
	"adk":    "github.com/cloudwego/eino/adk",
	"model":  "github.com/cloudwego/eino/components/model",
	"tool":   "github.com/cloudwego/eino/components/tool",
	"schema": "github.com/cloudwego/eino/schema",

	"openai": adapters + "openai", "agenticopenai": adapters + "agenticopenai", "claude": adapters + "claude", "gemini": adapters + "gemini", "genai": "google.golang.org/genai",
	"ark": adapters + "ark", "qwen": adapters + "qwen", "deepseek": adapters + "deepseek", "ollama": adapters + "ollama",

	"einolean": module, "toolsearch": module + "/toolsearch", "index": module + "/toolsearch/index", "toolset": module + "/toolsearch/toolset", "reduction": module + "/reduction", "store": module + "/store", "toolerror": module + "/toolerror",
	"window": module + "/window", "inspect": module + "/window/inspect", "einoleantest": module + "/einoleantest", "toolsearcheval": module + "/toolsearch/toolsearcheval",
	"mcptools": module + "/toolsearch/mcptools", "windowotel": module + "/window/windowotel", "blobbackend": module + "/reduction/blobbackend", "jq": module + "/reduction/jq",
}

// nested are the modules of packages that are not of the root module.
var nested = map[string]string{"mcptools": "toolsearch/mcptools", "windowotel": "window/windowotel", "blobbackend": "reduction/blobbackend", "jq": "reduction/jq",
	"openai": models, "agenticopenai": models, "claude": models, "gemini": models, "genai": models, "ark": models, "qwen": models, "deepseek": models, "ollama": models}

const models = "examples/models"

// given are the types of what blocks use and readers have.
var given = map[string]string{
	"ctx": "context.Context", "chatModel": "model.ToolCallingChatModel", "otherModel": "model.ToolCallingChatModel", "tools": "[]tool.BaseTool",
	"key": "string", "url": "string", "dir": "string", "client": "*genai.Client",
	"store": "reduction.Backend", "results": "reduction.Backend", "backend": "reduction.Backend", "userOf": "func(context.Context) (string, error)",
	"patch": handler, "files": handler, "reduce": handler, "summarize": handler, "search": handler, "approve": handler,
	"searchConfig": "*toolsearch.Config", "reduceConfig": "*reduction.Config",
}

const handler = "adk.ChatModelAgentMiddleware"

// block is a fenced block of a document.
type block struct {
	file     string
	line     int
	language string
	text     string
}

var fence = regexp.MustCompile("(?ms)^ *```(\\w*) *\n(.*?)^ *```")

// documents are the tracked Markdown files.
func documents(t *testing.T) (names []string) {
	t.Helper()
	out, err := exec.Command("git", "-C", root, "ls-files", "--cached", "--others", "--exclude-standard", "*.md", "llms.txt").Output()
	if err != nil {
		t.Skipf("not a git checkout: %v", err)
	}
	for name := range strings.Lines(string(out)) {
		if name = strings.TrimSpace(name); !strings.Contains(name, "testdata/") {
			names = append(names, name)
		}
	}
	require.NotEmpty(t, names)
	return names
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, name))
	require.NoError(t, err)
	return string(text)
}

func blocks(t *testing.T) (all []block) {
	t.Helper()
	for _, name := range documents(t) {
		text := read(t, name)
		for _, m := range fence.FindAllStringSubmatchIndex(text, -1) {
			all = append(all, block{name, 1 + strings.Count(text[:m[0]], "\n"), text[m[2]:m[3]], text[m[4]:m[5]]})
		}
	}
	return all
}

var (
	field    = regexp.MustCompile(`^\s*[A-Z]\w*:`)
	hasClaus = regexp.MustCompile(`(?m)^package \w+$`)
)

// program is the file that a block is compiled as, and the module that it is compiled
// in.
func (b block) program() (text, in string, err error) {
	if hasClaus.MatchString(b.text) {
		return b.text, ".", nil
	}
	open, body, end := "", b.text, ""
	if field.MatchString(body) {
		open, end = "_ = adk.ChatModelAgentConfig{\n", "}\n"
	}
	at := fmt.Sprintf("//line %s:%d\n", filepath.Base(b.file), b.line+1)
	f, err := parser.ParseFile(token.NewFileSet(), b.file, "package p\nfunc _() error {\n"+open+body+end+"\nreturn nil\n}", 0)
	if err != nil {
		return "", "", err
	}
	in = "."
	uses := map[string]bool{}
	free, declared := names(f)
	var reader, after strings.Builder
	for _, name := range free {
		switch {
		case packages[name] != "" && (given[name] == "" || strings.Contains(b.text, name+".")):
			uses[name] = true
			if nested[name] != "" {
				in = nested[name]
			}
		case given[name] != "":
			fmt.Fprintf(&reader, "%s %s, ", name, given[name])
			uses[strings.TrimLeft(strings.Split(given[name], ".")[0], "[]*")] = true
			if strings.Contains(given[name], "context.") {
				uses["context"] = true
			}
		default:
			return "", "", fmt.Errorf("%s is neither declared nor one of given", name)
		}
	}
	for _, name := range declared {
		fmt.Fprintf(&after, "_ = %s\n", name)
	}
	var imports strings.Builder
	for _, name := range sortedKeys(uses) {
		if packages[name] != "" {
			fmt.Fprintf(&imports, "import %q\n", packages[name])
		}
	}
	return "package p\n\n" + imports.String() + "\nfunc _(" + reader.String() + ") error {\n" + open + at + body + end + after.String() + "return nil\n}\n", in, nil
}

func sortedKeys[V any](m map[string]V) (keys []string) {
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}

// predeclared are names that Go has.
var predeclared = []string{"nil", "true", "false", "string", "error", "bool", "int", "any", "byte", "len", "append", "make", "min", "panic", "_"}

// names are those that the function of a file uses and does not declare, and those that
// it declares at its top.
func names(f *ast.File) (free, declared []string) {
	body := f.Decls[0].(*ast.FuncDecl).Body
	for _, s := range body.List {
		a, ok := s.(*ast.AssignStmt)
		if !ok || a.Tok != token.DEFINE {
			continue
		}
		for _, l := range a.Lhs {
			if id := l.(*ast.Ident); id.Name != "_" && !slices.Contains(declared, id.Name) {
				declared = append(declared, id.Name)
			}
		}
	}
	inner := map[string]bool{}
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.RangeStmt:
			for _, e := range []ast.Expr{n.Key, n.Value} {
				if id, ok := e.(*ast.Ident); ok {
					inner[id.Name] = true
				}
			}
		case *ast.Field:
			for _, id := range n.Names {
				inner[id.Name] = true
			}
		}
		return true
	})
	add := func(id *ast.Ident) {
		if !slices.Contains(declared, id.Name) && !slices.Contains(predeclared, id.Name) && !slices.Contains(free, id.Name) && (!inner[id.Name] || given[id.Name] != "") {
			free = append(free, id.Name)
		}
	}
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			n.Sel = ast.NewIdent("_") // the name of a field, a method or something in a package
		case *ast.KeyValueExpr:
			if _, ok := n.Key.(*ast.Ident); ok {
				n.Key = &ast.BasicLit{} // the name of a field
			}
		case *ast.Ident:
			add(n)
		}
		return true
	})
	return free, declared
}

func TestBlocks_GoCompiles(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles in several modules")
	}
	found := map[string]map[string]string{} // by module, the files and what they hold
	for _, b := range blocks(t) {
		if b.language != "go" {
			continue
		}
		text, in, err := b.program()
		require.NoError(t, err, "%s:%d", b.file, b.line)
		if found[in] == nil {
			found[in] = map[string]string{}
		}
		found[in][fmt.Sprintf("block_%s_%d", strings.NewReplacer("/", "_", ".", "_").Replace(b.file), b.line)] = text
	}
	require.Contains(t, found, ".")
	require.Contains(t, found, "toolsearch/mcptools")
	for in, texts := range found {
		out, err := compile(t, filepath.Join(root, in), texts)
		require.NoError(t, err, "in %s:\n%s", in, out)
		t.Logf("%s: %d blocks", in, len(texts))
	}
}

// compile compiles texts as packages of a module. Its folder is not changed.
func compile(t *testing.T, dir string, texts map[string]string) (string, error) {
	t.Helper()
	dir, err := filepath.Abs(dir)
	require.NoError(t, err)
	tmp, replace, args := t.TempDir(), map[string]string{}, []string{"build"}
	overlay := filepath.Join(tmp, "overlay.json")
	args = append(args, "-overlay", overlay)
	for _, name := range sortedKeys(texts) {
		at := filepath.Join(tmp, name+".go")
		require.NoError(t, os.WriteFile(at, []byte(texts[name]), 0o600))
		replace[filepath.Join(dir, name, "block.go")] = at
		args = append(args, "./"+name)
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(overlay, text, 0o600))
	cmd := exec.Command("go", args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func TestBlocks_WrongGoIsFound(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles")
	}
	for name, c := range map[string]struct{ text, says string }{
		"a field that is not":    {"search, err := toolsearch.New(ctx, &toolsearch.Config{Tools: tools})", "unknown field Tools"},
		"a function that is not": {"err := reduction.Make(ctx)", "undefined: reduction.Make"},
		"a wrong type":           {"Handlers: chatModel,", "cannot use chatModel"},
		"a name that is nowhere": {"use(ctx)", "use is neither declared"},
	} {
		t.Run(name, func(t *testing.T) {
			text, in, err := block{file: "x.md", line: 7, text: c.text + "\n"}.program()
			if err != nil {
				require.ErrorContains(t, err, c.says)
				return
			}
			out, err := compile(t, filepath.Join(root, in), map[string]string{"block_x": text})
			require.Error(t, err)
			require.Contains(t, out, c.says)
			require.Contains(t, out, "x.md:8", "it says where")
		})
	}
}

func TestBlocks_JSONIsValid(t *testing.T) {
	n := 0
	for _, b := range blocks(t) {
		if b.language == "json" {
			n++
			require.True(t, json.Valid([]byte(b.text)), "%s:%d", b.file, b.line)
		}
	}
	require.Positive(t, n)
}

var (
	makes = regexp.MustCompile("(?m)(?:`|^|&& )make ([a-z][a-z-]*)")
	runs  = regexp.MustCompile(`(?:cd ([\w./-]+) && )?go (?:run|test)(?: -\S+(?: \S+)?)* (\./[\w/-]*)`)
	told  = regexp.MustCompile("`([^`\n]+)`")
)

// The make targets that documents name exist, and so do the folders of their go commands.
func TestCommands_TargetsAndFoldersExist(t *testing.T) {
	targets, n, inModules := read(t, "Makefile"), 0, []string{"."}
	for _, pattern := range []string{"*/go.mod", "*/*/go.mod"} {
		found, err := filepath.Glob(filepath.Join(root, pattern))
		require.NoError(t, err)
		for _, mod := range found {
			dir, err := filepath.Rel(root, filepath.Dir(mod))
			require.NoError(t, err)
			inModules = append(inModules, dir)
		}
	}
	for _, name := range documents(t) {
		text := read(t, name)
		for _, m := range makes.FindAllStringSubmatch(text, -1) {
			n++
			require.Regexp(t, `(?m)^`+m[1]+`:`, targets, "%s names make %s", name, m[1])
		}
		var said []string
		for _, m := range fence.FindAllStringSubmatch(text, -1) {
			said = append(said, strings.Split(m[2], "\n")...)
		}
		for _, m := range told.FindAllStringSubmatch(text, -1) {
			said = append(said, m[1])
		}
		for _, line := range said {
			for _, m := range runs.FindAllStringSubmatch(line, -1) {
				n++
				from := []string{m[1]}
				if m[1] == "" { // the text says where, or it is the page's own folder
					from = append(slices.Clone(inModules), filepath.Dir(name))
				}
				require.True(t, slices.ContainsFunc(from, func(dir string) bool {
					_, err := os.Stat(filepath.Join(root, dir, strings.TrimSuffix(m[2], "/...")))
					return err == nil
				}), "%s: %s", name, line)
			}
		}
	}
	require.Greater(t, n, 20)
}

var testPattern = regexp.MustCompile(`-(run|bench) '?([\w|^$]+)'?`)

// TestCommands_PatternsMatchTests checks that each pattern after -run or -bench matches a test or a benchmark.
func TestCommands_PatternsMatchTests(t *testing.T) {
	var tests []string
	for _, file := range testFiles(t) {
		tests = append(tests, file.tests...)
	}
	found := 0
	for _, name := range documents(t) {
		for line := range strings.Lines(read(t, name)) {
			if !strings.Contains(line, "go test ") {
				continue
			}
			for _, m := range testPattern.FindAllStringSubmatch(line, -1) {
				for pattern := range strings.SplitSeq(strings.Trim(m[2], "^$"), "|") {
					if pattern == "" || pattern == "xxx" {
						continue
					}
					found++
					require.True(t, slices.ContainsFunc(tests, func(test string) bool {
						return strings.Contains(test, pattern) && strings.HasPrefix(test, "Benchmark") == (m[1] == "bench")
					}), "%s: no test or benchmark for %s", name, m[0])
				}
			}
		}
	}
	require.Greater(t, found, 5)
}
