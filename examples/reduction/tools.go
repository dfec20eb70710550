// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/components/tool/utils"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean/demo/lab"
)

// original is a result as its tool returned it.
type original struct {
	call, tool string
	bytes      int
	sum        [sha256.Size]byte
}

// witness keeps in mind what tools returned. It is safe for concurrent use.
type witness struct {
	mu   sync.Mutex
	seen []original
}

func (w *witness) saw(ctx context.Context, toolName, text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.seen = append(w.seen, original{compose.GetToolCallID(ctx), toolName, len(text), sha256.Sum256([]byte(text))})
}

// original is what the tool returned to a call.
func (w *witness) original(call string) original {
	w.mu.Lock()
	defer w.mu.Unlock()
	i := slices.IndexFunc(w.seen, func(o original) bool { return o.call == call })
	if i < 0 {
		return original{call: call}
	}
	return w.seen[i]
}

type folderIn struct {
	Folder string `json:"folder" jsonschema:"required" jsonschema_description:"The folder's path, such as src/net"`
}

type fileIn struct {
	File string `json:"file" jsonschema:"required" jsonschema_description:"The file's path, such as src/sort/sort.go"`
}

type packageIn struct {
	Package string `json:"package" jsonschema:"required" jsonschema_description:"The name of the package"`
}

type serviceIn struct {
	Service string `json:"service" jsonschema:"required" jsonschema_description:"The name of the service"`
}

type hostIn struct {
	Host string `json:"host" jsonschema:"required" jsonschema_description:"The name of the host"`
}

type noneIn struct{}

// newTools makes the tools: one of each form that Eino has for results.
func newTools(files fs.FS, w *witness) []tool.BaseTool {
	follow, err := utils.InferStreamTool("follow_log", "Follows the log of a service while it runs.",
		func(ctx context.Context, _ serviceIn) (*schema.StreamReader[string], error) {
			return w.stream(ctx), nil
		})
	load, err2 := utils.InferEnhancedTool("draw_load", "Draws the load of a host, minute by minute, and lists the values.",
		func(ctx context.Context, _ hostIn) (*schema.ToolResult, error) { return w.chart(ctx), nil })
	if err = cmp.Or(err, err2); err != nil {
		panic(err) // the types of their arguments are part of the program
	}
	return []tool.BaseTool{
		textTool(w, "list_files", "Lists all files below a folder, with their sizes.", func(in folderIn) (string, error) { return listing(files, in.Folder) }),
		textTool(w, "show_file", "Shows the text of a file.", func(in fileIn) (string, error) {
			text, err := fs.ReadFile(files, in.File)
			return string(text), err
		}),
		textTool(w, "export_orders", "Exports all orders as JSON.", func(noneIn) (string, error) { return orders(), nil }),
		textTool(w, "run_tests", "Runs the tests of a package and returns the test log.", func(packageIn) (string, error) { return testLog(), nil }),
		follow, load,
	}
}

// textTool makes a tool that returns text. A failure is an answer, too.
func textTool[T any](w *witness, name, desc string, run func(T) (string, error)) tool.BaseTool {
	t, err := utils.InferTool(name, desc, func(ctx context.Context, in T) (string, error) {
		text, err := run(in)
		if err != nil {
			text = "error: " + err.Error()
		}
		w.saw(ctx, name, text)
		return text, nil
	})
	if err != nil {
		panic(err) // the type of its arguments is part of the program
	}
	return t
}

// stream sends the log in pieces, which may end in the middle of a character.
func (w *witness) stream(ctx context.Context) *schema.StreamReader[string] {
	text := serviceLog()
	w.saw(ctx, "follow_log", text)
	reader, writer := schema.Pipe[string](1)
	go func() {
		defer writer.Close()
		for len(text) > 0 {
			n := min(1000, len(text))
			if writer.Send(text[:n], nil) {
				return
			}
			text = text[n:]
		}
	}()
	return reader
}

// chart returns the values as text, and an image.
func (w *witness) chart(ctx context.Context) *schema.ToolResult {
	text, image := loads(), base64.StdEncoding.EncodeToString(drawing())
	w.saw(ctx, "draw_load", text)
	return &schema.ToolResult{Parts: []schema.ToolOutputPart{
		{Type: schema.ToolPartTypeText, Text: text},
		{Type: schema.ToolPartTypeImage, Image: &schema.ToolOutputImage{MessagePartCommon: schema.MessagePartCommon{MIMEType: "image/png", Base64Data: &image}}},
	}}
}

// listing is a line for each file below a folder.
func listing(files fs.FS, folder string) (string, error) {
	var b strings.Builder
	err := fs.WalkDir(files, path.Clean(folder), func(p string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(&b, "%s %d bytes\n", p, info.Size())
		return err
	})
	return b.String(), err
}

// onGoRoot is a demo about the files of the Go installation.
func onGoRoot(run func(context.Context, *lab.Screen, fs.FS, bool) error) lab.Demo {
	return func(ctx context.Context, screen *lab.Screen, streaming bool) error {
		files, err := goRoot()
		if err != nil {
			return err
		}
		return run(ctx, screen, files, streaming)
	}
}

// goRoot is the directory of the Go installation.
func goRoot() (fs.FS, error) {
	dir, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return nil, fmt.Errorf("asking go for its root: %w", err)
	}
	return os.DirFS(strings.TrimSpace(string(dir))), nil
}
