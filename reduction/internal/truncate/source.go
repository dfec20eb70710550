// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package truncate

// Reading and closing the stream of a tool.

import (
	"errors"
	"io"

	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean/internal/safe"
)

// ownStream takes over a stream that a tool has made, for the code that wraps or copies it.
//
// Eino sets every stream that it sends as an event to be closed by a finalizer. The finalizer closes the tool's
// stream, however deep it is wrapped. Whatever was closed before Eino sets this is then closed twice, which crashes
// the process. So the rules are:
//
//   - A stream that is passed on unchanged is not touched here.
//   - Every other stream is set here, before anything can close it. From then on closing it twice is harmless, and
//     the garbage collector cleans up after a reader that leaves early.
//   - A part of a merged stream that ended before this is not set, now or later. For it, the stream is only closed
//     through a copy (see [closeOnce]), which closes it at most once.
//   - A stream that a TruncHandler returns is closed here only if it is not passed on. Eino never sees it then.
func ownStream[T any](src *schema.StreamReader[T]) *schema.StreamReader[T] {
	src.SetAutomaticClose()
	return src
}

// closeOnce returns a reader of src that may be closed more than once. Once it is closed, reading from it does not
// read from src.
func closeOnce[T any](src *schema.StreamReader[T]) *schema.StreamReader[T] {
	copies := src.Copy(2)
	copies[1].Close()
	return copies[0]
}

// closeStream closes a stream. It recovers the panic of a stream that its maker has already closed.
func closeStream[T any](s *schema.StreamReader[T]) {
	_ = safe.Call("closing a stream", func() error {
		s.Close()
		return nil
	})
}

// isSourceEnd reports whether an error says that one source of a merged stream has ended. This is not a failure:
// the other sources continue.
func isSourceEnd(err error) bool {
	_, ok := schema.GetSourceName(err)
	return ok
}

// sourceStream is the stream of a tool, with the errors that are still to be passed on.
type sourceStream[T any] struct {
	tool   *schema.StreamReader[T] // the tool's own stream; nil if it is known to have ended
	reader *schema.StreamReader[T] // a copy of it that ends at its first error; see [closeOnce]
	ends   []error                 // ends of its sources, to be passed on after the buffered chunks
	err    error                   // its first error, to be passed on last
}

// open starts to read a tool's stream. onError maps each of its errors, and may drop one by returning nil.
func (s *sourceStream[T]) open(tool *schema.StreamReader[T], onError func(error) error) {
	unchanged := func(chunk T) (T, error) { return chunk, nil }
	s.tool = ownStream(tool)
	s.reader = closeOnce(schema.StreamReaderWithConvert(s.tool, unchanged, schema.WithErrWrapper(onError)))
}

// fail records the error that ends the stream. It closes the reader, which tells the tool that nobody listens.
func (s *sourceStream[T]) fail(err error) {
	s.err = err
	closeStream(s.reader)
}

// nextError takes the next of the errors that follow the last chunk, io.EOF at the end.
func (s *sourceStream[T]) nextError() (err error) {
	if len(s.ends) > 0 {
		err, s.ends = s.ends[0], s.ends[1:]
		return err
	}
	if err, s.err = s.err, nil; err == nil {
		return io.EOF
	}
	return err
}

// drain reads the tool's stream to its end, and calls take with each chunk. An error of the stream goes to onError,
// and ends the reading unless that returns nil. It does not read from s.reader, which would allocate for each chunk.
func (s *sourceStream[T]) drain(take func(chunk T), onError func(error) error) {
	for s.tool != nil {
		chunk, err := s.tool.Recv()
		switch {
		case err == nil:
			take(chunk)
		case errors.Is(err, io.EOF) || onError(err) != nil:
			return
		}
	}
}
