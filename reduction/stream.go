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
// again: a tool that forgets to close it blocks nobody. That one source of a merged
// stream has ended is no failure, and is passed on.

import (
	"context"
	"errors"
	"io"
	"math"

	"github.com/cloudwego/eino/schema"

	"github.com/leanctx/leanctx/internal/safe"
	"github.com/leanctx/leanctx/reduction/internal/vault"
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

// own takes over a stream that a tool has made, for whoever wraps or copies it.
//
// Eino sets every stream that it sends as an event to be closed by a finalizer,
// and that closes the tool's stream, however deep it is wrapped. Whatever has been
// closed before Eino sets this is then closed twice, which ends the process. So
// the rule is:
//
//   - A stream that goes on as it is, nobody here touches.
//   - Every other one is set here, before anything can close it: from then on
//     closing it twice is harmless, and a reader who goes away early is made good
//     by the garbage collector.
//   - A part of a merged stream that ended before this is not set, now or later.
//     For it, the stream is only closed through a copy (see [oneOf]), which closes
//     it once at the most.
//   - A stream that a TruncHandler returns is closed here only if it does not go
//     on, and is never seen by Eino then.
func own[T any](src *schema.StreamReader[T]) *schema.StreamReader[T] {
	src.SetAutomaticClose()
	return src
}

// oneOf returns a reader of src that may be closed more than once, and that can
// be read after that without asking src.
func oneOf[T any](src *schema.StreamReader[T]) *schema.StreamReader[T] {
	both := src.Copy(2)
	both[1].Close()
	return both[0]
}

// shut closes a stream. One that its maker has closed already panics.
func shut[T any](s *schema.StreamReader[T]) {
	_ = safe.Call("closing a stream", func() error {
		s.Close()
		return nil
	})
}

// isSourceEnd reports whether an error says that one source of a merged stream
// has ended, which is no failure: the others go on.
func isSourceEnd(err error) bool {
	_, ok := schema.GetSourceName(err)
	return ok
}

// cutStream returns a stream that ends within the limit. Closing it closes src.
func cutStream[T any](ctx context.Context, t *truncator, j job, chunks chunker[T], src *schema.StreamReader[T]) *schema.StreamReader[T] {
	c := &cut[T]{ctx: ctx, t: t, job: j, chunks: chunks, words: wordingNow(), reader: t.policy.readerName(ctx)}
	t.files.Note(ctx, shownIn(ctx))
	if c.pass = c.reserve(); c.pass < 0 || j.leave != "" {
		if t.report == nil {
			return src
		}
		c.through = true
	}
	c.source = own(src)
	same := func(chunk T) (T, error) { return chunk, nil }
	c.in = oneOf(schema.StreamReaderWithConvert(src, same, schema.WithErrWrapper(c.failed)))
	return schema.StreamReaderWithConvert(c.in, c.next, schema.WithErrWrapper(c.after), schema.WithOnEOF(c.rest))
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
	ends   []error                 // ends of its sources that follow what is held back
	err    error                   // its first error, which follows last of all

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
	path := len(c.t.defaultPlace(c.job).Path) + vault.SuffixSize
	most := facts{bytes: math.MaxInt, headBytes: c.limit, tailBytes: c.limit, tool: c.reader}
	most = c.words.hinted(most)
	saved, unsaved := c.words.stream.size(most), c.words.unsaved.size(most)
	if c.t.path != nil {
		path = max(path, min(longPath, c.limit-saved-charSlack))
	}
	free := c.limit - max(saved+path, unsaved) - charSlack
	return free - min(maxTail, free/tailShare)
}

// failed passes on that one source has ended, behind what is held back. Any other
// error it notes and makes an end of it, and tells the tool that nobody listens
// any more.
func (c *cut[T]) failed(err error) error {
	if isSourceEnd(err) {
		if len(c.held)+len(c.ends) == 0 {
			return err
		}
		c.ends = append(c.ends, err)
		return nil
	}
	c.err = err
	shut(c.in)
	return io.EOF
}

// after is what reading comes to once c.in is closed: what follows the last
// chunk.
func (c *cut[T]) after(err error) error {
	switch {
	case !errors.Is(err, schema.ErrRecvAfterClosed):
		return err // one source has ended
	case !c.ended:
		return io.EOF // the reader has closed it
	}
	return c.following()
}

// following takes the next of the errors that follow the last chunk.
func (c *cut[T]) following() (err error) {
	if len(c.ends) > 0 {
		err, c.ends = c.ends[0], c.ends[1:]
		return err
	}
	if err, c.err = c.err, nil; err == nil {
		return io.EOF
	}
	return err
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
		return c.passOn(chunk)
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

// passOn passes a chunk on behind what is still to come before it.
func (c *cut[T]) passOn(chunk T) (T, error) {
	if len(c.held)+len(c.ends) == 0 {
		return chunk, nil
	}
	c.held = append(c.held, chunk)
	if len(c.ends) > 0 {
		var none T
		return none, c.following()
	}
	return c.release(), nil
}

func (c *cut[T]) release() T {
	out := c.chunks.join(c.held)
	c.held = nil
	return out
}

// rest follows when the source has ended: what was held back, if it was not cut.
func (c *cut[T]) rest() (any, error) {
	shut(c.in) // so that after is called from now on
	if !c.ended {
		c.ended = true
		if c.err == nil {
			c.kept(c.ctx, c.t, output{reason: c.reason(), before: c.total, stream: true}, "")
		}
	}
	if len(c.held) > 0 {
		return c.release(), nil
	}
	return nil, c.following()
}

func (c *cut[T]) reason() Reason {
	if c.leave != "" {
		return c.leave
	}
	return ReasonNotSmaller
}
