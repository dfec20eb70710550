// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/components/tool/utils"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/einolean/einolean/demo/library"
)

// bench is what all runs share.
type bench struct {
	goroot   string
	packages []string // of the standard library
	answers  map[string]string
	session  *mcp.ClientSession
}

func newBench(ctx context.Context) (*bench, error) {
	root, err := exec.CommandContext(ctx, "go", "env", "GOROOT").Output()
	if err != nil {
		return nil, err
	}
	b := &bench{goroot: strings.TrimSpace(string(root)), answers: make(map[string]string)}
	for _, p := range lines(b.command(b.goroot, "list", "std")) {
		if !strings.Contains(p, "internal") && !strings.Contains(p, "vendor") {
			b.packages = append(b.packages, p)
		}
	}
	return b, b.serve(ctx)
}

var (
	took    = regexp.MustCompile(`\b\d+\.\d+s\b`)
	address = regexp.MustCompile(`0x[0-9a-f]{6,}`)
)

// command runs the go command and keeps its answer. What differs from one time to the
// next is written over.
func (b *bench) command(dir string, args ...string) string {
	key := dir + " " + strings.Join(args, " ")
	if out, ok := b.answers[key]; ok {
		return out
	}
	cmd := exec.Command("go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOFLAGS=-buildvcs=false", "GOWORK=off", "GOPROXY=off", "CGO_ENABLED=0")
	data, err := cmd.CombinedOutput()
	out := strings.ReplaceAll(string(data), dir, "/work")
	out = strings.ReplaceAll(strings.ReplaceAll(out, b.goroot, "/go"), os.Getenv("HOME"), "/home")
	out = address.ReplaceAllString(took.ReplaceAllString(out, "0.01s"), "0xc000010000")
	if err != nil {
		out += fmt.Sprintf("\n%v\n", err)
	}
	b.answers[key] = out
	return out
}

type commandArgs struct {
	Args []string `json:"args" jsonschema_description:"What to hand to the go command"`
}

type patchArgs struct {
	File string `json:"file"`
	Old  string `json:"old"`
	New  string `json:"new"`
}

// tools are those of one run. Everything below dir may be written.
func (b *bench) tools(dir string) ([]tool.BaseTool, error) {
	files, err := library.Tools(dir)
	if err != nil {
		return nil, err
	}
	run, err := utils.InferTool("go", "Runs the go command in the working folder.", func(_ context.Context, a *commandArgs) (string, error) {
		return b.command(dir, a.Args...), nil
	})
	if err != nil {
		return nil, err
	}
	patch, err := utils.InferTool("propose_patch", "Proposes a change of a file to the user.", func(_ context.Context, a *patchArgs) (string, error) {
		return fmt.Sprintf("noted: %s, %d bytes for %d", a.File, len(a.New), len(a.Old)), nil
	})
	if err != nil {
		return nil, err
	}
	out := append(files, run, patch)
	for _, t := range served {
		call, err := utils.InferTool(t.name, t.description, func(ctx context.Context, a *map[string]any) (string, error) { return b.ask(ctx, t.name, *a) })
		if err != nil {
			return nil, err
		}
		out = append(out, call)
	}
	return out, nil
}

// ask calls a tool of the MCP server.
func (b *bench) ask(ctx context.Context, name string, args map[string]any) (string, error) {
	res, err := b.session.CallTool(ctx, &mcp.CallToolParams{Name: name, Arguments: args})
	if err != nil {
		return "", err
	}
	var out strings.Builder
	for _, c := range res.Content {
		if t, ok := c.(*mcp.TextContent); ok {
			out.WriteString(t.Text)
		}
	}
	return out.String(), nil
}

type asked struct {
	Query string `json:"query,omitempty"`
	Name  string `json:"name,omitempty"`
	Page  int    `json:"page,omitempty"`
}

// served are the tools of the MCP server.
var served = []struct {
	name, description string
	answer            func(b *bench, a asked) string
}{
	{"list_packages", "Lists packages by a part of their names.", (*bench).listPackages},
	{"get_package", "Describes a package in JSON.", func(b *bench, a asked) string { return b.command(b.goroot, "list", "-json", a.Name) }},
	{"get_documentation", "Returns the documentation of a package.", func(b *bench, a asked) string { return b.command(b.goroot, "doc", "-all", a.Name) }},
	{"page_snapshot", "Shows a page of the manual as a tree of roles and names.", (*bench).snapshot},
}

// serve starts the server and connects to it.
func (b *bench) serve(ctx context.Context) error {
	server := mcp.NewServer(&mcp.Implementation{Name: "packages", Version: "1"}, nil)
	for _, t := range served {
		mcp.AddTool(server, &mcp.Tool{Name: t.name, Description: t.description}, func(_ context.Context, _ *mcp.CallToolRequest, a asked) (*mcp.CallToolResult, any, error) {
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: t.answer(b, a)}}}, nil, nil
		})
	}
	here, there := mcp.NewInMemoryTransports()
	if _, err := server.Connect(ctx, there, nil); err != nil {
		return err
	}
	session, err := mcp.NewClient(&mcp.Implementation{Name: "thrift", Version: "1"}, nil).Connect(ctx, here, nil)
	b.session = session
	return err
}

func (b *bench) listPackages(a asked) string {
	type entry struct {
		ImportPath string   `json:"import_path"`
		Files      []string `json:"files"`
		Bytes      int64    `json:"bytes"`
	}
	var out []entry
	for _, p := range b.packages {
		if !strings.Contains(p, a.Query) {
			continue
		}
		e := entry{ImportPath: p}
		found, _ := os.ReadDir(filepath.Join(b.goroot, "src", p))
		for _, f := range found {
			if info, err := f.Info(); err == nil && !f.IsDir() {
				e.Files, e.Bytes = append(e.Files, f.Name()), e.Bytes+info.Size()
			}
		}
		out = append(out, e)
	}
	text, _ := json.MarshalIndent(out, "", "  ")
	return string(text)
}

var element = regexp.MustCompile(`<(h[1-6]|p|li|pre|a|td|dt|dd|code)\b[^>]*>([^<]{2,200})`)

// snapshot shows a part of the language's specification as a browser tool would.
func (b *bench) snapshot(a asked) string {
	data, err := os.ReadFile(filepath.Join(b.goroot, "doc", "go_spec.html"))
	if err != nil {
		return err.Error()
	}
	roles := map[string]string{"p": "paragraph", "li": "listitem", "pre": "code", "a": "link", "td": "cell", "dt": "term", "dd": "definition", "code": "code"}
	var all []string
	for i, m := range element.FindAllStringSubmatch(string(data), -1) {
		role := roles[m[1]]
		if role == "" {
			role = "heading"
		}
		all = append(all, fmt.Sprintf("%s- %s %q [ref=e%d]", strings.Repeat("  ", 1+i%3), role, strings.Join(strings.Fields(m[2]), " "), i))
	}
	const each = 250
	pages := slices.Collect(slices.Chunk(all, each))
	return strings.Join(pages[a.Page%len(pages)], "\n")
}
