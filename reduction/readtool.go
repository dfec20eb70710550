// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package reduction

// The tool that reads stored content back, and how an agent's read tool is found. Handlers
// add tools in any order, so it is known only in a run.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/cloudwego/eino/adk/filesystem"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean/internal/message"
	"github.com/einolean/einolean/internal/readtool"
	"github.com/einolean/einolean/internal/safe"
	"github.com/einolean/einolean/internal/toolschema"
	"github.com/einolean/einolean/reduction/internal/notice"
	"github.com/einolean/einolean/reduction/internal/vault"
	"github.com/einolean/einolean/store"
)

// ReadToolConfig configures a read tool. Backend is required.
type ReadToolConfig struct {
	// Name is the tool's name. If empty, defaults to "read_file".
	Name string
	// Backend is the store to read from. It must be a [store.Reader] or a [store.RangeReader]; if
	// it is both, the second is used.
	Backend Backend
	// Allowed reports whether a path may be read. It gets the path that would be read, with
	// a slash at its start, single slashes, and without "." and "..": "/ok/../x" is "/x".
	// The answer for a forbidden path is that for a missing file. If nil, every path in the store may be read, so set it
	// if the store holds more than results, as a file system of the machine does. It
	// must be safe for concurrent use.
	Allowed func(filePath string) bool
	// MaxLines is the largest number of lines of content in an answer. If zero,
	// defaults to 2,000.
	MaxLines int
	// MaxBytes is the largest number of bytes in an answer, its frame included, and at
	// least 4,096. If zero, defaults to 24,000.
	MaxBytes int
	// OnError receives the store's error if a read failed, which the model does not
	// see. A missing file is not a failure. If nil, errors are dropped. It must be safe
	// for concurrent use.
	OnError func(ctx context.Context, filePath string, err error)
	// JSONQuery answers queries about results that are JSON, as that of module
	// reduction/jq does. If nil, the tool has no argument jq.
	JSONQuery JSONQuery
}

// NewReadTool returns a tool that reads stored results back, a bounded page at a time: by
// lines, by bytes, from the end, by regular expression, or the passages that match a query
// best; with a JSONQuery, also answers from JSON. Each page says how to get the next one.
// The tool fails only if its context ends; otherwise it explains what it could not read. It
// is safe for concurrent use.
//
// Give it the name in ReadFileToolName, or set ProvideReadTool, which does all this.
// The error joins a [einolean.FieldError] for each field that is wrong.
func NewReadTool(_ context.Context, config *ReadToolConfig) (tool.InvokableTool, error) {
	if config == nil {
		return nil, wrongField("ReadToolConfig", "is nil")
	}
	if wrong := config.wrong(); len(wrong) > 0 {
		return nil, errors.Join(wrong...)
	}
	lines, _ := store.As[store.Reader](config.Backend)
	ranges, _ := store.As[store.RangeReader](config.Backend)
	return readtool.New(readtool.Options{
		Name: config.Name, Lines: lines, Ranges: ranges, Allowed: config.Allowed,
		MaxLines: config.MaxLines, MaxBytes: config.MaxBytes, OnError: config.OnError, JSONQuery: config.JSONQuery,
	}), nil
}

// wrong validates the fields, with one error for each invalid one.
func (c *ReadToolConfig) wrong() (out []error) {
	_, reads := store.As[store.Reader](c.Backend)
	_, ranges := store.As[store.RangeReader](c.Backend)
	switch {
	case safe.IsNil(c.Backend):
		out = append(out, wrongField("ReadToolConfig.Backend", "is missing"))
	case !reads && !ranges:
		out = append(out, wrongField("ReadToolConfig.Backend", "is a %T, which cannot read: it has neither Read nor ReadRange", c.Backend))
	}
	if c.MaxLines < 0 {
		out = append(out, wrongField("ReadToolConfig.MaxLines", "is %d, and must not be negative", c.MaxLines))
	}
	if c.MaxBytes != 0 && c.MaxBytes < readtool.MinMaxBytes {
		out = append(out, wrongField("ReadToolConfig.MaxBytes", "is %d, and must be at least %d", c.MaxBytes, readtool.MinMaxBytes))
	}
	return out
}

// maxDescription is how much of another tool's description an error quotes, in bytes.
const maxDescription = 80

func returnsParts(t tool.BaseTool) bool {
	switch t.(type) {
	case tool.EnhancedInvokableTool, tool.EnhancedStreamableTool:
		return true
	}
	return false
}

// readerKind is the kind of tool that an agent has under the name of the read tool.
type readerKind string

const (
	noReader      readerKind = "none"
	foreignReader readerKind = "foreign" // some tool of that name
	pagesReader   readerKind = "pages"   // one that is made for reading page by page
	ownReader     readerKind = "own"     // one of this package's
)

// readerAmong looks for the tools of a name. Of several, the least trusted one counts. It
// skips tools whose Info fails; the agent itself reports them.
func readerAmong(ctx context.Context, tools []tool.BaseTool, name string) (found readerKind, at int) {
	found, at = noReader, -1
	for i, t := range tools {
		if t == nil {
			continue
		}
		info, err := t.Info(ctx)
		if err != nil || info == nil || info.Name != name {
			continue
		}
		if r := kindOf(info); at < 0 || found == ownReader || r == foreignReader {
			found, at = r, i
		}
	}
	return found, at
}

// kindOf returns the kind of a tool. Eino's own read_file, the usual companion, answers
// page by page, by offset and limit; a tool with the same arguments is assumed to do the
// same. Nothing is known about other tools of that name, which may answer anything.
func kindOf(info *schema.ToolInfo) readerKind {
	if readtool.Made(info) {
		return ownReader
	}
	have := toolschema.Names(info.ParamsOneOf)
	for _, want := range []string{"file_path", "offset", "limit"} {
		if !slices.Contains(have, want) {
			return foreignReader
		}
	}
	return pagesReader
}

// provided is the tool that ProvideReadTool adds. It reads what is below the default roots, and
// the catalogues of package toolsearch: the store may be the file system of the machine, or hold the
// data of others. It reads from several stores as if they were one.
type provided struct {
	tool.InvokableTool // what the model is told
	name               string
	stores             []*vault.Store
	readable           func(filePath string) bool
	query              JSONQuery
}

// NamedBy returns the field that sets the name. Package toolsearch says it where the name
// is taken.
func (*provided) NamedBy() string { return "ReadFileToolName" }

// InvokableRun reads what is readable.
func (p *provided) InvokableRun(ctx context.Context, arguments string, opts ...tool.Option) (string, error) {
	cfg := ReadToolConfig{Name: p.name, Backend: p, Allowed: p.readable, JSONQuery: p.query}
	if len(p.stores) == 1 { // one that only reads whole files is then asked once
		cfg.Backend = p.stores[0].Backend
	}
	t, err := NewReadTool(ctx, &cfg)
	if err != nil {
		return "", err
	}
	return t.InvokableRun(ctx, arguments, opts...)
}

// Write makes it a store, as the read tool wants one; nothing calls it.
func (p *provided) Write(ctx context.Context, req *filesystem.WriteRequest) error {
	return p.stores[0].Backend.Write(ctx, req)
}

// ReadRange reads from the first store that has the file.
func (p *provided) ReadRange(ctx context.Context, filePath string, offset, length int64) (content io.ReadCloser, size int64, err error) {
	for _, s := range p.stores {
		if content, size, err = s.ReadRange(ctx, filePath, offset, length); err == nil || !vault.Missing(err, filePath) {
			return content, size, err
		}
	}
	return nil, 0, err
}

// maxStored is the most that a program reads of a file, in bytes.
const maxStored = 64 << 20

// Stored implements virtual.Results: the whole content of a readable file.
func (p *provided) Stored(ctx context.Context, filePath string) (string, error) {
	if filePath = vault.Clean(filePath); !p.readable(filePath) {
		return "", errors.New("this path cannot be read")
	}
	content, err := p.whole(ctx, filePath, maxStored)
	return string(content), err
}

// unread is virtual.Results where no tool reads what was stored.
type unread struct{}

// Stored implements virtual.Results.
func (unread) Stored(context.Context, string) (string, error) {
	return "", errors.New("this path cannot be read")
}

// whole reads a file of at most so many bytes.
func (p *provided) whole(ctx context.Context, filePath string, most int64) ([]byte, error) {
	return safe.Value("Backend", func() ([]byte, error) {
		file, size, err := p.ReadRange(ctx, filePath, 0, -1)
		if err != nil {
			return nil, err
		}
		defer file.Close()
		if size > most {
			return nil, fmt.Errorf("it has %d bytes, of %d at most: read a part of it with the read tool", size, most)
		}
		return io.ReadAll(io.LimitReader(file, most))
	})
}

// mediaReader is the provided tool for a model that accepts results of several parts. Eino
// prefers its enhanced form.
type mediaReader struct{ *provided }

// StreamableRun implements [tool.EnhancedStreamableTool].
func (r *mediaReader) StreamableRun(ctx context.Context, argument *schema.ToolArgument, opts ...tool.Option) (*schema.StreamReader[*schema.ToolResult], error) {
	args := ""
	if argument != nil {
		args = argument.Text
	}
	if part, ok := r.readBack(ctx, readtool.Path(args)); ok {
		return schema.StreamReaderFromArray([]*schema.ToolResult{{Parts: []schema.ToolOutputPart{part}}}), nil
	}
	text, err := r.InvokableRun(ctx, args, opts...)
	if err != nil {
		return nil, err
	}
	return schema.StreamReaderFromArray([]*schema.ToolResult{{Parts: []schema.ToolOutputPart{{Type: schema.ToolPartTypeText, Text: text}}}}), nil
}

// readBack reads a medium back.
func (r *mediaReader) readBack(ctx context.Context, filePath string) (part schema.ToolOutputPart, ok bool) {
	if !notice.IsMediaFile(filePath) || !r.readable(filePath) {
		return schema.ToolOutputPart{}, false
	}
	content, err := r.whole(ctx, filePath, math.MaxInt64)
	if err != nil || json.Unmarshal(content, &part) != nil || message.MediumOf(&part) == nil {
		return schema.ToolOutputPart{}, false // the file may hold something else
	}
	return part, true
}
