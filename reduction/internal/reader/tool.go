// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package reader

// The tool that ProvideReadTool adds.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
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

// Tool is the tool that ProvideReadTool adds. It reads what is below the default roots, and
// the catalogues of package toolsearch: the store may be the file system of the machine, or hold the
// data of others. It reads from several stores as if they were one.
type Tool struct {
	tool.InvokableTool
	stores   []*offload.Store
	readable func(filePath string) bool
}

// NewTool returns the read tool of stores.
func NewTool(name string, stores []*offload.Store, readable func(filePath string) bool, query readtool.JSONQuery) *Tool {
	t := &Tool{stores: stores, readable: readable}
	options := readtool.Options{Name: name, Ranges: t, Allowed: readable, JSONQuery: query}
	if len(stores) == 1 { // one that only reads whole files is then asked once
		options.Lines, _ = store.As[store.Reader](stores[0].Backend)
		options.Ranges, _ = store.As[store.RangeReader](stores[0].Backend)
	}
	t.InvokableTool = readtool.New(options)
	return t
}

// NamedBy returns the field that sets the name. Package toolsearch says it where the name
// is taken.
func (*Tool) NamedBy() string { return "ReadFileToolName" }

// ReadRange reads from the first store that has the file.
func (t *Tool) ReadRange(ctx context.Context, filePath string, offset, length int64) (content io.ReadCloser, size int64, err error) {
	for _, s := range t.stores {
		if content, size, err = s.ReadRange(ctx, filePath, offset, length); err == nil || !offload.Missing(err, filePath) {
			return content, size, err
		}
	}
	return nil, 0, err
}

// maxStored is the most that a program reads of a file, in bytes.
const maxStored = 64 << 20

// ReadStored implements virtual.Results: the whole content of a readable file.
func (t *Tool) ReadStored(ctx context.Context, filePath string) (string, error) {
	if filePath = offload.Clean(filePath); !t.readable(filePath) {
		return "", errors.New("this path cannot be read")
	}
	content, err := t.whole(ctx, filePath, maxStored)
	return string(content), err
}

// unread is virtual.Results where no tool reads what was stored.
type unread struct{}

// ReadStored implements virtual.Results.
func (unread) ReadStored(context.Context, string) (string, error) {
	return "", errors.New("this path cannot be read")
}

// whole reads a file of at most so many bytes.
func (t *Tool) whole(ctx context.Context, filePath string, most int64) ([]byte, error) {
	return safe.Value("Backend", func() ([]byte, error) {
		file, size, err := t.ReadRange(ctx, filePath, 0, -1)
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

// mediaTool is the provided tool for a model that accepts results of several parts. Eino
// prefers its enhanced form.
type mediaTool struct{ *Tool }

// StreamableRun implements [tool.EnhancedStreamableTool].
func (r *mediaTool) StreamableRun(ctx context.Context, argument *schema.ToolArgument, opts ...tool.Option) (*schema.StreamReader[*schema.ToolResult], error) {
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
func (r *mediaTool) readBack(ctx context.Context, filePath string) (part schema.ToolOutputPart, ok bool) {
	if !notice.IsMediaFile(filePath) || !r.readable(filePath) {
		return schema.ToolOutputPart{}, false
	}
	content, err := r.whole(ctx, filePath, math.MaxInt64)
	if err != nil || json.Unmarshal(content, &part) != nil || message.MediumOf(&part) == nil {
		return schema.ToolOutputPart{}, false // the file may hold something else
	}
	return part, true
}
