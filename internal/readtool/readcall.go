// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package readtool

// One call, and the content that it is about.

import (
	"context"
	"errors"
	"io"

	"github.com/cloudwego/eino/adk/filesystem"

	"github.com/einolean/einolean/internal/backend"
	"github.com/einolean/einolean/internal/display"
)

// RangeReader is a store.RangeReader.
type RangeReader interface {
	ReadRange(ctx context.Context, filePath string, offset, length int64) (content io.ReadCloser, size int64, err error)
}

// Reader is a store.Reader.
type Reader interface {
	Read(ctx context.Context, req *filesystem.ReadRequest) (*filesystem.FileContent, error)
}

// readCall is one call: what it asks for, its source, and the limits of the answer.
type readCall struct {
	ctx      context.Context
	texts    replyTexts
	src      source
	req      request
	maxLines int64 // the most lines of content
	maxBytes int64 // the most bytes of content
}

// part reads the bytes from offset on, at most length of them, into memory.
func (v readCall) part(offset, length int64) (part []byte, size int64, err error) {
	content, size, err := v.src(v.ctx, offset, length)
	if err != nil {
		return nil, 0, err
	}
	defer content.Close()
	part, err = readFull(content, min(length, max(size-offset, 0)))
	return part, size, err
}

// header returns the header of an answer about so much content.
func (v readCall) header(subject string, size int64) answerHeader {
	return answerHeader{Tool: v.texts.tool, Path: display.Quoted(subject), Size: size}
}

// source reads the content of a path: from offset on, at most length bytes, or to the end if that is negative.
type source = func(ctx context.Context, offset, length int64) (content io.ReadCloser, size int64, err error)

// openSource opens the content of a path. A store that only reads whole files is read here, once.
func openSource(ctx context.Context, ranges RangeReader, lines Reader, filePath string) (source, error) {
	if ranges != nil {
		return func(ctx context.Context, offset, length int64) (io.ReadCloser, int64, error) {
			return ranges.ReadRange(ctx, filePath, offset, length)
		}, nil
	}
	page, err := lines.Read(ctx, &filesystem.ReadRequest{FilePath: filePath})
	if err != nil {
		return nil, err
	}
	if page == nil {
		return nil, errors.New("readtool: reading: the store returned neither content nor an error")
	}
	return contentSource(page.Content), nil
}

// contentSource is a source of content in memory.
func contentSource(content string) source {
	return func(_ context.Context, offset, length int64) (io.ReadCloser, int64, error) {
		window, size := backend.Window(content, offset, length)
		return window, size, nil
	}
}

// readFull reads n bytes. It fails if the content ends before the size that the store named.
func readFull(r io.Reader, n int64) ([]byte, error) {
	b := make([]byte, n)
	_, err := io.ReadFull(r, b)
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return b, err
}

// stream opens the content, to be read from its start to its end.
func (v readCall) stream() (content io.ReadCloser, size int64, err error) {
	content, size, err = v.src(v.ctx, 0, -1)
	if err != nil {
		return nil, 0, err
	}
	return struct {
		io.Reader
		io.Closer
	}{v.withContext(content, size), content}, size, nil
}

// withContext reads content of size bytes. It fails once the context has ended, since large content takes time, and
// if the content ends too early.
func (v readCall) withContext(content io.Reader, size int64) io.Reader {
	return &contextReader{ctx: v.ctx, r: content, remaining: size}
}

type contextReader struct {
	ctx       context.Context
	r         io.Reader
	remaining int64
}

func (g *contextReader) Read(p []byte) (int, error) {
	if err := g.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := g.r.Read(p)
	if g.remaining -= int64(n); errors.Is(err, io.EOF) && g.remaining > 0 {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}
