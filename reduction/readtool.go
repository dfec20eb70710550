// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package reduction

// The tool that reads stored content back. Package reader finds an agent's read tool.

import (
	"context"
	"errors"

	"github.com/cloudwego/eino/components/tool"

	"github.com/einolean/einolean/internal/readtool"
	"github.com/einolean/einolean/internal/safe"
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
	// The answer for a forbidden path is that for a missing file. If nil, every path in
	// the store may be read, so set it if the store holds more than results, as a file
	// system of the machine does. It must be safe for concurrent use.
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
		return nil, fieldError("ReadToolConfig", "is nil: pass a &reduction.ReadToolConfig{Backend: ...}")
	}
	if errs := config.validate(); len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	lines, _ := store.As[store.Reader](config.Backend)
	ranges, _ := store.As[store.RangeReader](config.Backend)
	return readtool.New(readtool.Options{
		Name: config.Name, Lines: lines, Ranges: ranges, MayRead: config.Allowed,
		MaxLines: config.MaxLines, MaxBytes: config.MaxBytes, OnError: config.OnError, JSONQuery: config.JSONQuery,
	}), nil
}

// validate checks the fields, with one error for each invalid one.
func (c *ReadToolConfig) validate() (out []error) {
	_, reads := store.As[store.Reader](c.Backend)
	_, ranges := store.As[store.RangeReader](c.Backend)
	switch {
	case safe.IsNil(c.Backend):
		out = append(out, fieldError("ReadToolConfig.Backend", "is required"))
	case !reads && !ranges:
		out = append(out, fieldError("ReadToolConfig.Backend",
			"is a %T, and must implement store.Reader or store.RangeReader", c.Backend))
	}
	if c.MaxLines < 0 {
		out = append(out, fieldError("ReadToolConfig.MaxLines", "is %d, and must not be negative", c.MaxLines))
	}
	if c.MaxBytes != 0 && c.MaxBytes < readtool.MinMaxBytes {
		out = append(out, fieldError("ReadToolConfig.MaxBytes",
			"is %d, and must be at least %d", c.MaxBytes, readtool.MinMaxBytes))
	}
	return out
}
