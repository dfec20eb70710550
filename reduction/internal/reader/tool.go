// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package reader

// The read tool that ProvideReadTool adds.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"

	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean/internal/message"
	"github.com/einolean/einolean/internal/readtool"
	"github.com/einolean/einolean/internal/safe"
	"github.com/einolean/einolean/reduction/internal/notice"
	"github.com/einolean/einolean/reduction/internal/offload"
	"github.com/einolean/einolean/store"
)

// Tool is the read tool that ProvideReadTool adds. It reads only below the default directories of results and the
// catalogs of package toolsearch: the store may be the file system of the machine, or hold the data of others.
// Several stores are read as if they were one.
type Tool struct {
	tool.InvokableTool
	Stores
	readable func(filePath string) bool
}

// NewTool returns the read tool of stores.
func NewTool(name string, stores []*offload.Store, readable func(filePath string) bool, query readtool.JSONQuery) *Tool {
	t := &Tool{Stores: stores, readable: readable}
	options := readtool.Options{Name: name, Ranges: t, MayRead: readable, JSONQuery: query}
	if len(stores) == 1 { // a store that only reads complete files is then called once
		options.Lines, _ = store.As[store.Reader](stores[0].Backend)
		options.Ranges, _ = store.As[store.RangeReader](stores[0].Backend)
	}
	t.InvokableTool = readtool.New(options)
	return t
}

// NamedBy returns the field of the configuration that sets the name. Package toolsearch names it in an error if the
// name is taken.
func (*Tool) NamedBy() string { return "ReadFileToolName" }

// Stores are several stores that are read as if they were one.
type Stores []*offload.Store

// ReadRange reads from the first store that has the file.
func (all Stores) ReadRange(
	ctx context.Context, filePath string, offset, length int64,
) (content io.ReadCloser, size int64, err error) {
	err = &fs.PathError{Op: "read", Path: filePath, Err: fs.ErrNotExist}
	for _, s := range all {
		if !s.Readable() {
			continue
		}
		if content, size, err = s.ReadRange(ctx, filePath, offset, length); err == nil || !offload.IsMissing(err, filePath) {
			return content, size, err
		}
	}
	return nil, 0, err
}

// MaxContent bounds the files that a program can read, and those whose content a call can pass on.
const MaxContent = 64 << 20

// ReadStored implements programturn.Results: the whole content of a readable file.
func (t *Tool) ReadStored(ctx context.Context, filePath string) (string, error) {
	if filePath = offload.Clean(filePath); !t.readable(filePath) {
		return "", errors.New("this path cannot be read")
	}
	content, err := t.ReadAll(ctx, filePath, MaxContent)
	return string(content), err
}

// noResults implements programturn.Results where no tool reads stored results.
type noResults struct{}

// ReadStored implements programturn.Results.
func (noResults) ReadStored(context.Context, string) (string, error) {
	return "", errors.New("this path cannot be read")
}

// ReadAll reads a file of at most maxBytes.
func (all Stores) ReadAll(ctx context.Context, filePath string, maxBytes int64) ([]byte, error) {
	return safe.Value("Backend", func() ([]byte, error) {
		file, size, err := all.ReadRange(ctx, filePath, 0, -1)
		if err != nil {
			return nil, err
		}
		defer file.Close()
		if size > maxBytes {
			return nil, fmt.Errorf("it has %d bytes, of %d at most: read a part of it with the read tool", size, maxBytes)
		}
		return io.ReadAll(io.LimitReader(file, maxBytes))
	})
}

// mediaTool is the provided tool for a model that accepts results of several parts. Eino
// prefers its enhanced form.
type mediaTool struct{ *Tool }

// StreamableRun implements [tool.EnhancedStreamableTool].
func (r *mediaTool) StreamableRun(
	ctx context.Context, argument *schema.ToolArgument, opts ...tool.Option,
) (*schema.StreamReader[*schema.ToolResult], error) {
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

// readBack reads a medium from its file.
func (r *mediaTool) readBack(ctx context.Context, filePath string) (part schema.ToolOutputPart, ok bool) {
	if !notice.IsMediaFile(filePath) || !r.readable(filePath) {
		return schema.ToolOutputPart{}, false
	}
	content, err := r.ReadAll(ctx, filePath, math.MaxInt64)
	if err != nil || json.Unmarshal(content, &part) != nil || message.MediumOf(&part) == nil {
		return schema.ToolOutputPart{}, false // the file may hold something else
	}
	return part, true
}
