// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package reduction

// This file makes the tool that reads stored content back.

import (
	"context"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/adk/filesystem"
	"github.com/cloudwego/eino/components/tool"

	"github.com/leanctx/leanctx/internal/readtool"
)

// ReadToolConfig configures a read tool. Backend is required.
type ReadToolConfig struct {
	// Name is the tool's name. If empty, defaults to "read_file".
	Name string
	// Backend is the store to read from. It must be a [Reader] or a [RangeReader]; the
	// second is used where it is both.
	Backend Backend
	// Allowed reports whether a path may be read. A path that may not is answered like
	// one that does not exist. If nil, every path that the store knows may be read, so
	// set it where the store holds more than results, as a file system of the machine
	// does. It must be safe for concurrent use.
	Allowed func(filePath string) bool
	// MaxLines is the most lines of content in an answer. If zero, defaults to 2,000.
	MaxLines int
	// MaxBytes is the most bytes in an answer, its frame included, and at least 4,096.
	// If zero, defaults to 24,000.
	MaxBytes int
	// OnError is told why a read failed, with the store's own error, which the model
	// does not see. A missing file is no failure. If nil, nobody is told. It must be
	// safe for concurrent use.
	OnError func(ctx context.Context, filePath string, err error)
}

// NewReadTool returns a tool that reads stored results back, a bounded page at a
// time: by lines, by bytes, from the end, by regular expression, or the passages
// that match a query best. Each page says how to get the next one. The tool never
// fails but for its context: what it cannot read it explains. It is safe for
// concurrent use.
//
// Give it the name that ReadFileToolName has, or set ProvideReadTool, which does
// it all.
func NewReadTool(_ context.Context, config *ReadToolConfig) (tool.InvokableTool, error) {
	if config == nil {
		return nil, fmt.Errorf("reduction: making a read tool: config is nil")
	}
	t, err := readtool.New(readtool.Options{
		Name: config.Name, Backend: config.Backend, Allowed: config.Allowed,
		MaxLines: config.MaxLines, MaxBytes: config.MaxBytes, OnError: config.OnError,
	})
	if err != nil {
		return nil, fmt.Errorf("reduction: making a read tool: %w", err)
	}
	return t, nil
}

// newReader makes the tool that ProvideReadTool adds.
func (m *middleware[M]) newReader(ctx context.Context, c *TypedConfig[M]) (tool.BaseTool, error) {
	stores := m.truncator.files.stores
	cfg := ReadToolConfig{Name: c.ReadFileToolName, Backend: stores[0].backend}
	if len(stores) > 1 {
		cfg.Backend = &union{stores}
	}
	if !customPaths(c) {
		cfg.Allowed = readtool.Under(path.Join(c.RootDir, truncDir), path.Join(c.RootDir, clearDir))
	}
	return NewReadTool(ctx, &cfg)
}

// customPaths reports whether content may be stored outside of RootDir.
func customPaths[M adk.MessageType](c *TypedConfig[M]) bool {
	if c.GenTruncOffloadFilePath != nil || c.GenClearOffloadFilePath != nil {
		return true
	}
	for _, own := range c.ToolConfig {
		if own.TruncHandler != nil || own.ClearHandler != nil {
			return true
		}
	}
	return false
}

// union reads from several stores as if they were one.
type union struct{ stores []*store }

// Write is there because a store has it; nothing calls it.
func (u *union) Write(ctx context.Context, req *filesystem.WriteRequest) error {
	return u.stores[0].write(ctx, req.FilePath, req.Content)
}

// ReadRange reads from the first store that has the file.
func (u *union) ReadRange(ctx context.Context, filePath string, offset, length int64) (content io.ReadCloser, size int64, err error) {
	for _, s := range u.stores {
		if content, size, err = s.window(ctx, filePath, offset, length); err == nil || !missing(err) {
			return content, size, err
		}
	}
	return nil, 0, err
}

// window is ReadRange, also for a store that has only whole contents.
func (s *store) window(ctx context.Context, filePath string, offset, length int64) (io.ReadCloser, int64, error) {
	if s.ranges != nil {
		return s.ranges.ReadRange(ctx, filePath, offset, length)
	}
	text, err := s.text(ctx, filePath)
	if err != nil {
		return nil, 0, err
	}
	size := int64(len(text))
	from := min(max(offset, 0), size)
	to := size
	if length >= 0 {
		to = min(size, from+length)
	}
	return io.NopCloser(strings.NewReader(text[from:to])), size, nil
}
