// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/cloudwego/eino/schema"
)

type args = map[string]any

// kinds are the kinds of work, with the number of runs of each.
var kinds = []struct {
	name string
	runs int
	jobs func(w *worker) []job
}{
	{"folders", 45, func(w *worker) []job { return []job{folders(w)} }},
	{"source", 45, func(w *worker) []job { return []job{source(w)} }},
	{"compilers", 40, func(w *worker) []job { return []job{compilers(w)} }},
	{"mcp", 45, func(w *worker) []job { return []job{packages(w)} }},
	{"chats", 35, chats},
}

// all records every run. The same Go gives the same runs.
func all(ctx context.Context, each func(*run) error) error {
	b, err := newBench(ctx)
	if err != nil {
		return err
	}
	defer b.session.Close()
	for k, kind := range kinds {
		for i := range kind.runs {
			r, err := b.one(ctx, kind.name, uint64(k*1000+i), kind.jobs)
			if err != nil {
				return err
			}
			if err := each(r); err != nil {
				return err
			}
		}
	}
	return nil
}

// one records one run, in a folder of its own with some of Go's source in it.
func (b *bench) one(ctx context.Context, kind string, seed uint64, jobs func(w *worker) []job) (*run, error) {
	dir, err := os.MkdirTemp("", "thrift")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	w := &worker{Rand: rand.New(rand.NewPCG(seed, 5)), bench: b}
	if err := b.fill(dir, w); err != nil {
		return nil, err
	}
	tools, err := b.tools(dir)
	if err != nil {
		return nil, err
	}
	return record(ctx, &run{Name: fmt.Sprintf("%s-%d", kind, seed), Kind: kind}, w, tools, jobs(w)...)
}

var sources = []string{"net/http", "go/types", "encoding/json", "text/template", "os", "strconv", "database/sql", "crypto/tls", "go/parser", "archive/zip", "html/template", "regexp", "time", "bufio", "sort", "encoding/xml"}

// fill copies some packages into the folder.
func (b *bench) fill(dir string, w *worker) error {
	for _, i := range w.Perm(len(sources))[:3] {
		if err := os.CopyFS(filepath.Join(dir, "src", sources[i]), os.DirFS(filepath.Join(b.goroot, "src", sources[i]))); err != nil {
			return err
		}
	}
	// Tools tell when a file was changed.
	return filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Chtimes(path, changed, changed)
	})
}

var changed = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)

// found lists the files that folder__find names.
func found(text string) (out []string) {
	for _, l := range lines(text) {
		if f := strings.Fields(l); len(f) > 0 && strings.HasPrefix(f[0], "src/") {
			out = append(out, strings.TrimSuffix(f[0], ":"))
		}
	}
	return out
}

// folders looks through a folder: lists, searches, reads whole files.
func folders(*worker) job {
	return job{"Look through the working folder and tell me what is in it.", func(w *worker) {
		w.one("folder__list", args{"path": "src"})
		w.one("folder__tree", args{"path": "src", "depth": 4})
		w.one("folder__largest_files", args{"path": "src", "count": 20})
		files := found(w.one("folder__find", args{"path": "src", "pattern": pick(w, []string{"*.go", "*_test.go", "*.txt"})}))
		if len(files) == 0 {
			files = found(w.one("folder__find", args{"path": "src", "pattern": "*.go"}))
		}
		for range 3 + w.IntN(16) {
			f := pick(w, files)
			switch w.IntN(6) {
			case 0:
				w.one("folder__search_text", args{"path": filepath.Dir(f), "text": pick(w, []string{"TODO", "panic(", "Deprecated", "func New", "return nil, err"})})
			case 1:
				w.do(w.remark(), w.call("files__count", args{"path": f}), w.call("files__stat", args{"path": f}), w.call("files__tail", args{"path": f, "count": 40}))
			case 2:
				w.one("files__read_lines", args{"path": f, "start_line": 1, "count": 120})
			default:
				w.one("files__read", args{"path": f})
			}
		}
		w.answer(w.summary())
	}}
}

// source finds its way through code: greps, reads around the hits, goes back to files,
// and proposes patches.
func source(*worker) job {
	return job{"Find out how this code handles errors, and propose improvements.", func(w *worker) {
		var read []schema.FunctionCall
		for range 2 + w.IntN(5) {
			hits := found(w.one("folder__search_text", args{"path": "src", "text": pick(w, []string{"errors.New(", "fmt.Errorf(", "recover()", "func (e *", "Unwrap()", "ErrUnexpectedEOF", "defer func()"})}))
			for range 1 + w.IntN(4) {
				if len(hits) == 0 {
					break
				}
				if len(read) > 0 && w.Float64() < .2 { // the same again
					again := pick(w, read)
					w.calls++
					w.do("", schema.ToolCall{ID: fmt.Sprintf("call_%d", w.calls), Type: "function", Function: again})
					continue
				}
				file, _, _ := strings.Cut(pick(w, hits), ":")
				c := w.call("files__read_lines", args{"path": file, "start_line": 1 + w.IntN(300), "count": 60 + w.IntN(240)})
				read = append(read, c.Function)
				got := w.do(w.remark(), c)[0]
				if w.Float64() < .3 {
					part := got[:min(len(got), 400+w.IntN(2500))]
					w.one("propose_patch", args{"file": file, "old": part, "new": strings.ReplaceAll(part, "err", "cause")})
				}
			}
		}
		w.answer(w.summary())
	}}
}

const program = `package main

import (
	"fmt"
	"strings"
)

%s
func main() {
	fmt.Println(strings.Repeat("=", 10))
%s}
`

// compilers writes programs, builds and tests them, and asks the compiler about others.
func compilers(*worker) job {
	return job{"Write the program, make it build and pass its tests, and tell me where it allocates.", func(w *worker) {
		w.one("files__write", args{"path": "go.mod", "content": "module example.com/work\n\ngo 1.25\n"})
		n := 4 + w.IntN(20)
		wrong := w.IntN(n)
		write := func(fixed bool) {
			var funcs, calls strings.Builder
			for i := range n {
				kind := "int"
				if i == wrong && !fixed {
					kind = "string"
				}
				fmt.Fprintf(&funcs, "// step%d adds what has been seen so far to the %dth part.\nfunc step%d(values []int) %s {\n\ttotal := %d\n\tfor _, v := range values {\n\t\ttotal += v\n\t}\n\treturn total\n}\n\n", i, i, i, kind, i)
				fmt.Fprintf(&calls, "\tfmt.Println(step%d([]int{%d, %d}))\n", i, i, w.IntN(100))
			}
			w.one("files__write", args{"path": "main.go", "content": fmt.Sprintf(program, funcs.String(), calls.String())})
		}
		write(false)
		w.one("go", args{"args": []string{"vet", "./..."}})
		write(true)
		w.one("go", args{"args": []string{"vet", "./..."}})
		w.one("go", args{"args": []string{"vet", "./..."}})
		for range 2 + w.IntN(10) {
			p := pick(w, []string{"sort", "bufio", "strings", "bytes", "errors", "path", "container/list", "text/tabwriter", "encoding/csv", "unicode/utf8"})
			switch w.IntN(5) {
			case 0:
				w.one("go", args{"args": []string{"build", "-gcflags=-m", "-o", os.DevNull, p}})
			case 1:
				w.one("go", args{"args": []string{"list", "-deps", p}})
			case 2:
				w.one("go", args{"args": []string{"doc", "-all", p}})
			case 3:
				w.one("go", args{"args": []string{"list", "-json", p}})
			default:
				w.one("files__read", args{"path": "main.go"})
			}
		}
		w.answer(w.summary())
	}}
}

// packages asks an MCP server, several things at once.
func packages(*worker) job {
	return job{"Which packages help here? Look at their descriptions and at the manual.", func(w *worker) {
		w.one("list_packages", args{"query": pick(w, []string{"net", "go/", "encoding", "crypto", "text", "e"})})
		for range 2 + w.IntN(12) {
			p, q := pick(w, w.bench.packages), pick(w, w.bench.packages)
			switch w.IntN(5) {
			case 0:
				w.do(w.remark(), w.call("get_package", args{"name": p}), w.call("get_package", args{"name": q}))
			case 1:
				w.one("get_documentation", args{"name": p})
			case 2:
				w.one("get_package", args{"name": p})
			default:
				w.one("page_snapshot", args{"page": w.IntN(12)})
			}
		}
		w.answer(w.summary())
	}}
}

// chats are several jobs in one conversation.
func chats(w *worker) (out []job) {
	for range 4 + w.IntN(8) {
		out = append(out, pick(w, []func(*worker) job{folders, source, packages, compilers})(w))
	}
	return out
}
