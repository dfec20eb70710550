// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package backend

import (
	"bufio"
	"context"
	"errors"
	"io"
	"strings"
	"sync"

	"github.com/cloudwego/eino/adk/filesystem"
)

const bufferSize = 64 << 10

var buffers = sync.Pool{New: func() any { return new([bufferSize]byte) }}

// noProgress is how many empty reads in a row mean a broken reader.
const noProgress = 100

// copyUntilEOF copies src to dst until io.EOF, and checks ctx before every read. The first error ends it.
func copyUntilEOF(ctx context.Context, dst io.Writer, src io.Reader) error {
	buf := buffers.Get().(*[bufferSize]byte)
	defer buffers.Put(buf)
	for empty := 0; empty < noProgress; {
		if err := ctx.Err(); err != nil {
			return err
		}
		n, err := src.Read(buf[:])
		if n > 0 {
			empty = 0
			if _, werr := dst.Write(buf[:n]); werr != nil {
				return werr
			}
		} else {
			empty++
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
	return io.ErrNoProgress
}

// wantsAll reports whether a request is for the whole content.
func wantsAll(req *filesystem.ReadRequest) bool {
	return req.Offset <= 1 && req.Limit <= 0
}

// Lines reads the window of content that req asks for, in the way that
// store.Reader describes. It holds no more than the window.
func Lines(content io.Reader, req *filesystem.ReadRequest) (string, error) {
	r := bufio.NewReaderSize(content, bufferSize)
	if ok, err := skipLines(r, req.Offset-1); !ok {
		return "", err
	}
	var b strings.Builder
	if req.Limit <= 0 {
		_, err := io.Copy(&b, r)
		return b.String(), err
	}
	for left := req.Limit; left > 0; {
		part, err := r.ReadSlice('\n')
		b.Write(part)
		switch {
		case err == nil:
			left--
		case errors.Is(err, io.EOF):
			return b.String(), nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return "", err
		}
	}
	return strings.TrimSuffix(b.String(), "\n"), nil
}

// skipLines reads n lines; ok is false if there are fewer or reading fails.
func skipLines(r *bufio.Reader, n int) (ok bool, err error) {
	for n > 0 {
		_, err := r.ReadSlice('\n')
		switch {
		case err == nil:
			n--
		case errors.Is(err, io.EOF):
			return false, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return false, err
		}
	}
	return true, nil
}

// Window is a window of bytes of content in memory, as a store.RangeReader returns it: a
// negative length means to the end, and what lies past the end is empty.
func Window(content string, offset, length int64) (window io.ReadCloser, size int64) {
	size = int64(len(content))
	from, n := clipRange(size, offset, length)
	return io.NopCloser(strings.NewReader(content[from : from+n])), size
}

// clipRange clips a range of bytes to content of size bytes. A negative length means to the end. What lies past the
// end is empty.
func clipRange(size, offset, length int64) (from, n int64) {
	from = min(offset, size)
	if n = size - from; length >= 0 {
		n = min(n, length)
	}
	return from, n
}
