// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package reduction

// This file cuts streams that are too long, with bounded memory.
//
//	source : C1 --- C2 --- C3 --- C4 (over the limit) --- … --- EOF
//	out    : C1 --- [C2, C3 held back] ------------------------ head of C2 + notice
//
// Chunks are passed on until what is left of the limit is needed for the notice.
// Those after that are held back: if the source ends within the limit they
// follow, whole. If it does not, everything goes to the store as it comes, and
// the tail of it into the notice. If the source fails, what was held back
// follows, and then the error, at once. After that the source is not asked
// again: a tool that forgets to close it blocks nobody.

import (
	"context"
	"errors"
	"io"
	"math"

	"github.com/cloudwego/eino/schema"
)

const (
	// maxTail is the most of a stream's end that is shown, in bytes.
	maxTail = 8 << 10

	// tailShare is the part of the limit that the end may have at most: a third.
	tailShare = 3

	// longPath is what a path that a user's generator is going to make is assumed
	// to need. If it needs more, the end gets less.
	longPath = 256

	// charSlack is how much longer the head can get so that no character is split.
	charSlack = 4
)

// cutStream returns a stream that ends within the limit. Closing it closes src.
func cutStream[T any](ctx context.Context, t *truncator, j job, chunks chunker[T], src *schema.StreamReader[T]) *schema.StreamReader[T] {
	c := &cut[T]{ctx: ctx, t: t, job: j, chunks: chunks, words: wordingNow(), reader: t.readTool(ctx)}
	t.files.note(shownIn(ctx))
	if c.pass = c.reserve(); c.pass < 0 || j.leave != "" {
		if t.report == nil {
			return src
		}
		c.through = true
	}
	c.source = src
	same := func(chunk T) (T, error) { return chunk, nil }
	c.in = oneOf(schema.StreamReaderWithConvert(src, same, schema.WithErrWrapper(c.failed)))
	out := schema.StreamReaderWithConvert(c.in, c.next, schema.WithErrWrapper(closed), schema.WithOnEOF(c.rest))
	return schema.StreamReaderWithConvert(out, same, schema.WithOnEOF(c.failure))
}

// oneOf returns a reader of src that may be closed more than once, and that can
// be read after that without asking src.
func oneOf[T any](src *schema.StreamReader[T]) *schema.StreamReader[T] {
	both := src.Copy(2)
	both[1].Close()
	return both[0]
}

// closed is what reading from a closed reader comes to.
func closed(err error) error {
	if errors.Is(err, schema.ErrRecvAfterClosed) {
		return io.EOF
	}
	return err
}

// cut is one stream on its way. It is used by one goroutine at a time.
type cut[T any] struct {
	job
	ctx    context.Context
	t      *truncator
	chunks chunker[T]
	words  *wording
	reader string // the read tool's name
	pass   int    // bytes that may be passed on before the notice

	source *schema.StreamReader[T] // the tool's own
	in     *schema.StreamReader[T] // the same, ending at its first error
	err    error                   // that error

	through bool     // everything is passed on
	ended   bool     // the notice is out
	texts   []string // everything so far, until it is stored
	total   int      // bytes so far
	passed  int      // of them passed on
	held    []T
}

// reserve is how many bytes can be passed on if the notice is to fit behind them;
// negative if it does not fit at all.
func (c *cut[T]) reserve() int {
	path := len(c.t.defaultSpot(c.job).path) + suffixSize
	most := facts{bytes: math.MaxInt, headBytes: c.limit, tailBytes: c.limit, tool: c.reader}
	most = c.words.hinted(most)
	saved, unsaved := c.words.stream.size(most), c.words.unsaved.size(most)
	if c.t.path != nil {
		path = max(path, min(longPath, c.limit-saved-charSlack))
	}
	free := c.limit - max(saved+path, unsaved) - charSlack
	return free - min(maxTail, free/tailShare)
}

// failed notes the error of the source, makes an end of it, and tells the tool
// that nobody listens any more.
func (c *cut[T]) failed(err error) error {
	c.err = err
	c.in.Close()
	return io.EOF
}

// failure gives the error of the source to the reader, last of all.
func (c *cut[T]) failure() (any, error) {
	if c.err != nil {
		return nil, c.err
	}
	return nil, io.EOF
}

// next decides about a chunk.
func (c *cut[T]) next(chunk T) (T, error) {
	var none T
	c.chunks.each(chunk, func(text string) {
		c.total += len(text)
		if !c.through {
			c.texts = append(c.texts, text)
		}
	})
	if c.through {
		return chunk, nil
	}
	if len(c.held) == 0 && c.total <= c.pass {
		c.passed = c.total
		return chunk, nil
	}
	c.held = append(c.held, chunk)
	if c.total <= c.limit {
		return none, schema.ErrNoValue
	}
	return c.overflow()
}

// rest follows when the source has ended: what was held back, if it was not cut.
func (c *cut[T]) rest() (any, error) {
	if c.ended {
		return nil, io.EOF
	}
	c.ended = true
	if why := c.reason(); c.err == nil {
		c.t.report.send(c.ctx, c.left(why, c.total))
	}
	if len(c.held) == 0 {
		return nil, io.EOF
	}
	return c.chunks.join(c.held), nil
}

func (c *cut[T]) reason() Reason {
	switch {
	case c.leave != "":
		return c.leave
	case c.total <= c.limit:
		return ReasonWithinLimit
	}
	return ReasonNotSmaller
}
