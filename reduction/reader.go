// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package reduction

// This file makes the tool that reads stored content back.

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/cloudwego/eino/adk/filesystem"
	"github.com/cloudwego/eino/components/tool"

	"github.com/leanctx/leanctx/internal/readtool"
	"github.com/leanctx/leanctx/reduction/internal/vault"
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
func (m *middleware[M]) newReader(ctx context.Context, c *TypedConfig[M]) (*provided, error) {
	stores := m.truncator.files.Stores()
	face, err := NewReadTool(ctx, &ReadToolConfig{Name: c.ReadFileToolName, Backend: stores[0].Backend()})
	if err != nil {
		return nil, err
	}
	may := []permit{{by: m.truncator.policy, roots: m.truncator.stored.roots}}
	return &provided{InvokableTool: face, name: c.ReadFileToolName, stores: stores, may: may}, nil
}

// provided is the tool that ProvideReadTool adds. It reads what lies below the
// default roots, the catalogues of package toolsearch, and beyond them what the
// conversation's notices show, and nothing else of a store: that may be the file
// system of the machine, or hold what belongs to others.
type provided struct {
	tool.InvokableTool // what the model is told
	name               string
	stores             []*vault.Store
	may                []permit
}

// permit is what one middleware lets its tool read.
type permit struct {
	by    *policy
	roots func(filePath string) bool
}

func (p *provided) allowed(ctx context.Context, filePath string) bool {
	for _, each := range p.may {
		if each.roots(filePath) {
			return true
		}
	}
	return slices.Contains(readableIn(ctx), vault.Clean(filePath))
}

// InvokableRun reads as the run allows.
func (p *provided) InvokableRun(ctx context.Context, arguments string, opts ...tool.Option) (string, error) {
	cfg := ReadToolConfig{Name: p.name, Backend: p.stores[0].Backend()}
	if len(p.stores) > 1 {
		cfg.Backend = &union{p.stores}
	}
	cfg.Allowed = func(filePath string) bool { return p.allowed(ctx, filePath) }
	t, err := NewReadTool(ctx, &cfg)
	if err != nil {
		return "", err
	}
	return t.InvokableRun(ctx, arguments, opts...)
}

// joinReaders is the tool of an agent that has one of this package's already: of
// two middlewares that provide one, each stores where it likes.
func joinReaders(there tool.BaseTool, ours *provided) tool.BaseTool {
	p, ok := there.(*provided)
	if !ok {
		return there // the user's own, which reads what the user says
	}
	joined := *p
	joined.stores, joined.may = slices.Clone(p.stores), slices.Clone(p.may)
	for i, s := range ours.stores {
		if !slices.ContainsFunc(joined.stores, func(known *vault.Store) bool { return known.Same(s) }) {
			joined.stores = append(joined.stores, ours.stores[i])
		}
	}
	if !slices.ContainsFunc(joined.may, func(m permit) bool { return m.by == ours.may[0].by }) {
		joined.may = append(joined.may, ours.may...)
	}
	return &joined
}

// union reads from several stores as if they were one.
type union struct{ stores []*vault.Store }

// Write is there because a store has it; nothing calls it.
func (u *union) Write(ctx context.Context, req *filesystem.WriteRequest) error {
	return u.stores[0].Backend().Write(ctx, req)
}

// ReadRange reads from the first store that has the file.
func (u *union) ReadRange(ctx context.Context, filePath string, offset, length int64) (content io.ReadCloser, size int64, err error) {
	for _, s := range u.stores {
		if content, size, err = s.ReadRange(ctx, filePath, offset, length); err == nil || !vault.Missing(err, filePath) {
			return content, size, err
		}
	}
	return nil, 0, err
}
