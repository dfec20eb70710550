// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package readtool

// This file gives the two kinds of readable stores one interface.

import (
	"context"
	"errors"
	"io"
	"strings"

	"github.com/cloudwego/eino/adk/filesystem"

	"github.com/leanctx/leanctx"
)

// source is one stored content, read by ranges. size is that of the whole; a
// negative length means to the end.
type source func(ctx context.Context, offset, length int64) (content io.ReadCloser, size int64, err error)

// open finds the content of a path. From a store that only reads whole files it is
// read here, once.
func open(ctx context.Context, store leanctx.Backend, filePath string) (source, error) {
	if r, ok := store.(leanctx.RangeReader); ok {
		return func(ctx context.Context, offset, length int64) (io.ReadCloser, int64, error) {
			return r.ReadRange(ctx, filePath, offset, length)
		}, nil
	}
	got, err := store.(leanctx.Reader).Read(ctx, &filesystem.ReadRequest{FilePath: filePath})
	if err != nil {
		return nil, err
	}
	if got == nil {
		return nil, errors.New("readtool: reading: the store returned neither content nor an error")
	}
	return whole(got.Content), nil
}

// whole is a source over content in memory.
func whole(content string) source {
	return func(_ context.Context, offset, length int64) (io.ReadCloser, int64, error) {
		size := int64(len(content))
		from := min(offset, size)
		to := size
		if length >= 0 && length < size-from {
			to = from + length
		}
		return io.NopCloser(strings.NewReader(content[from:to])), size, nil
	}
}

// part reads the bytes from offset on, at most length of them, into memory.
func (s source) part(ctx context.Context, offset, length int64) (part []byte, size int64, err error) {
	content, size, err := s(ctx, offset, length)
	if err != nil {
		return nil, 0, err
	}
	defer content.Close()
	part, err = take(content, min(length, max(size-offset, 0)))
	return part, size, err
}

// take reads n bytes. Content that ends before the size that the store named is
// not what was stored.
func take(r io.Reader, n int64) ([]byte, error) {
	b := make([]byte, n)
	_, err := io.ReadFull(r, b)
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return b, err
}

// bufferSize is how much content is read at a time.
const bufferSize = 64 << 10

// guardedStream reads content of size bytes from its start to its end. It fails once
// the context has ended, since large content takes time, and if the content ends too
// early.
func guardedStream(v visit, content io.Reader, size int64) io.Reader {
	return &guarded{ctx: v.ctx, r: content, left: size}
}

type guarded struct {
	ctx  context.Context
	r    io.Reader
	left int64
}

func (g *guarded) Read(p []byte) (int, error) {
	if err := g.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := g.r.Read(p)
	if g.left -= int64(n); errors.Is(err, io.EOF) && g.left > 0 {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}
