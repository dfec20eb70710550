// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package truncate

// Streams: those that are too long are cut with bounded memory, others go to a handler.
//
//	source : C1 --- C2 --- C3 --- C4 (over the limit) --- … --- EOF
//	out    : C1 --- [C2, C3 held back] ------------------------ head of C2 + notice
//
// Chunks are passed on until the notice needs the rest of the limit. Later ones are held
// back. If the source ends within the limit, they follow, whole. If it goes over the
// limit, everything is written to the store as it arrives, and its tail goes into the
// notice. If the source fails, the chunks held back follow, then the error, at once; the
// source is not read again, so a tool that forgets to close it blocks nobody. The end of
// one source of a merged stream is not a failure, and is passed on.

import (
	"cmp"
	"context"
	"errors"
	"io"
	"math"
	"strings"
	"sync/atomic"
	"unicode/utf8"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean"
	"github.com/einolean/einolean/internal/display"
	"github.com/einolean/einolean/internal/jsontext"
	previews "github.com/einolean/einolean/internal/preview"
	"github.com/einolean/einolean/internal/safe"
	"github.com/einolean/einolean/reduction/internal/notice"
	"github.com/einolean/einolean/reduction/internal/offload"
	"github.com/einolean/einolean/reduction/internal/report"
	"github.com/einolean/einolean/reduction/internal/rounds"
	"github.com/einolean/einolean/reduction/internal/toolpolicy"
)

const (
	// maxTail is the most of a stream's end that a notice shows, in bytes.
	maxTail = 8 << 10

	// tailShare is the largest share of the limit for the end: a third.
	tailShare = 3

	// longPath is the assumed length of a path from a user's generator. A longer one
	// leaves less room for the end.
	longPath = 256

	// maxErrorBytes is the most that the errors of a stream take.
	maxErrorBytes = 4 << 10
)

// takeOver takes over a stream that a tool has made, for the code that wraps or copies it.
//
// Eino sets every stream that it sends as an event to be closed by a finalizer, and that
// closes the tool's stream, however deep it is wrapped. Whatever was closed before Eino
// sets this is then closed twice, which crashes the process. So the rule is:
//
//   - A stream that is passed on unchanged is not touched here.
//   - Every other one is set here, before anything can close it: from then on closing it
//     twice is harmless, and the garbage collector cleans up after a reader that leaves early.
//   - A part of a merged stream that ended before this is not set, now or later. For it,
//     the stream is only closed through a copy (see [oneOf]), which closes it at most once.
//   - A stream that a TruncHandler returns is closed here only if it is not passed on, and
//     Eino never sees it then.
func ownStream[T any](src *schema.StreamReader[T]) *schema.StreamReader[T] {
	src.SetAutomaticClose()
	return src
}

// oneOf returns a reader of src that may be closed more than once, and that can then be
// read without asking src.
func closeOnce[T any](src *schema.StreamReader[T]) *schema.StreamReader[T] {
	both := src.Copy(2)
	both[1].Close()
	return both[0]
}

// shut closes a stream. It recovers the panic of a stream that its maker has already
// closed.
func closeStream[T any](s *schema.StreamReader[T]) {
	_ = safe.Call("closing a stream", func() error {
		s.Close()
		return nil
	})
}

// isSourceEnd reports whether an error says that one source of a merged stream has ended,
// which is not a failure: the others continue.
func isSourceEnd(err error) bool {
	_, ok := schema.GetSourceName(err)
	return ok
}

// Streamed is the call of a tool whose stream is cut.
func WrapStreamable[A, T any](ctx context.Context, of *Truncator, called *adk.ToolContext, endpoint func(context.Context, A, ...tool.Option) (*schema.StreamReader[T], error)) func(context.Context, A, ...tool.Option) (*schema.StreamReader[T], error) {
	c, ok := of.callOf(ctx, called)
	if !ok {
		return endpoint
	}
	return func(ctx context.Context, argument A, opts ...tool.Option) (*schema.StreamReader[T], error) {
		out, err := endpoint(ctx, argument, opts...)
		if err != nil || out == nil {
			return nil, err
		}
		return wrapStream(ctx, c, asArgument(argument), out)
	}
}

// wrapStream returns the replacement of a stream. On an error, which is that of a user's
// callback, src is closed.
func wrapStream[T any](ctx context.Context, c truncation, args *schema.ToolArgument, src *schema.StreamReader[T]) (*schema.StreamReader[T], error) {
	c = c.with(args)
	if c.rule.SkipReason != "" || !c.rule.Handled {
		return cutStream(ctx, c, src), nil
	}
	both := ownStream(src).Copy(2)
	out, byDefault, err := replaced(ctx, c, both[1])
	if err != nil || out == nil {
		closeStream(both[1])
	}
	switch {
	case byDefault:
		c.rule = c.rule.ByDefault()
		return cutStream(ctx, c, both[0]), nil
	case err == nil && out == nil:
		c.rule.SkipReason = toolpolicy.Handler
		return cutStream(ctx, c, both[0]), nil
	}
	closeStream(both[0])
	return out, err
}

// replaced gives a copy of a stream to the user's handler, and returns what replaces the stream, or
// nil, and whether that is decided without the handler.
func replaced[T any](ctx context.Context, c truncation, copied *schema.StreamReader[T]) (out *schema.StreamReader[T], byDefault bool, err error) {
	var size atomic.Int64 // bytes that the handler has read, on any goroutine
	detail := c.detail(nil)
	detail.Stream = schema.StreamReaderWithConvert(copied, func(chunk T) (*schema.ToolResult, error) {
		eachString(chunk, func(text string) { size.Add(int64(len(text))) })
		return asResult(chunk), nil
	})
	got, err := c.TruncHandler(ctx, detail)
	if err != nil || got.ByDefault {
		if got.Stream != nil {
			closeStream(got.Stream)
		}
		return nil, got.ByDefault, err
	}
	if !got.Replaces || got.Stream == nil && (got.Result == nil || len(got.Result.Parts) == 0) {
		return nil, false, nil
	}
	read := int(size.Load())
	if ok, err := c.offload(ctx, got, report.Outcome{Before: read, After: read, Stream: true}); !ok {
		if got.Stream != nil {
			closeStream(got.Stream)
		}
		return nil, false, err
	}
	return replacing(got, copied, func(after int) {
		c.tell(ctx, report.Outcome{Kind: einolean.KindResultCut, By: report.ByHandler, Before: int(size.Load()), After: after, Path: got.Path, Stream: true})
	}), false, nil
}

// replacing is the stream of a handler's answer. When it ends, it says how many bytes it had, and
// closes the handler's copy of the original, which the handler may have left unread.
func replacing[T any](got Answer, copied *schema.StreamReader[T], done func(bytes int)) *schema.StreamReader[T] {
	if got.Stream == nil {
		closeStream(copied)
		done(rounds.Bytes(got.Result.Parts))
		return schema.StreamReaderFromArray([]T{ofResult[T](got.Result)})
	}
	ended, size := false, 0
	closing := func(err error) error {
		switch {
		case isSourceEnd(err):
			return err
		case ended && errors.Is(err, schema.ErrRecvAfterClosed):
			return io.EOF
		}
		if !ended {
			done(size)
		}
		ended = true
		closeStream(copied)
		return err
	}
	return schema.StreamReaderWithConvert(got.Stream, func(r *schema.ToolResult) (T, error) {
		chunk := ofResult[T](r)
		eachString(chunk, func(text string) { size += len(text) })
		return chunk, nil
	}, schema.WithErrWrapper(closing), schema.WithOnEOF(func() (any, error) { return nil, closing(io.EOF) }))
}

// cutStream returns a stream that ends within the limit. Closing it closes src.
func cutStream[T any](ctx context.Context, of truncation, src *schema.StreamReader[T]) *schema.StreamReader[T] {
	c := &streamCut[T]{truncation: of, ctx: ctx, noticeTexts: noticeTexts{notices: notice.Current()}}
	c.data.Tool, c.data.Finds = c.Reader.Of(ctx)
	if c.Previews(c.tool.Name) {
		c.errors = new(previews.Errors)
	}
	c.Files.ReservePaths(ctx, c.NoticePaths(ctx))
	if c.allowance = c.reserve(); c.allowance < 0 || c.rule.SkipReason != "" {
		if c.Report == nil && !c.compacts() {
			return src
		}
		c.state = whole
	}
	if c.compacts() {
		c.json = new(jsonStream)
	}
	c.source = ownStream(src)
	same := func(chunk T) (T, error) { return chunk, nil }
	c.in = closeOnce(schema.StreamReaderWithConvert(src, same, schema.WithErrWrapper(c.failed)))
	return schema.StreamReaderWithConvert(c.in, c.next, schema.WithErrWrapper(c.afterEnd), schema.WithOnEOF(c.finish))
}

// streamState is how far the cutting of a stream is.
type streamState int

const (
	holding    streamState = iota // what leaves room for the notice is passed on, the rest is held back
	whole                         // everything is passed on
	compacting                    // everything is passed on, as shorter JSON
	stateDone                     // the last chunk is out: only errors follow
)

// streamCut is the cutting of one stream. It is used by one goroutine at a time.
type streamCut[T any] struct {
	truncation
	ctx context.Context
	noticeTexts
	incoming[T]
	arrived[T]

	state  streamState
	errors *previews.Errors // lines that look like errors, if results have a preview
	json   *jsonStream      // nil: its text is not JSON, or stays
}

// words are those of the notice.
type noticeTexts struct {
	notices   *notice.Texts
	data      notice.Data // common to all notices
	allowance int         // bytes that may be passed on before the notice
}

// incoming is what the tool sends.
type incoming[T any] struct {
	source *schema.StreamReader[T] // the tool's own; nil if it is known to have ended
	in     *schema.StreamReader[T] // the same, ending at its first error
	ends   []error                 // ends of its sources, to pass on after the chunks held back
	err    error                   // its first error, which comes last
}

// arrived is what has come so far.
type arrived[T any] struct {
	texts    []string // all text, until it is stored
	total    int      // bytes
	passed   int      // of them passed on
	buffered []T      // chunks that were not
	waited   int      // of them for the end of JSON
}

// reserve is how many bytes can be passed on if the notice must fit after them; negative
// if it does not fit at all.
func (c *streamCut[T]) reserve() int {
	path := len(c.defaultPlace().Path) + offload.SuffixSize
	most := c.dataFor(c.rule.Limit, "")
	most.Bytes, most.TailBytes = math.MaxInt, c.rule.Limit
	most = c.notices.WithHint(most)
	saved, unsaved := c.notices.Stream.Length(most), c.notices.Unsaved.Length(most)
	if c.Name != nil {
		path = max(path, min(longPath, c.rule.Limit-saved-utf8.UTFMax))
	}
	free := c.rule.Limit - max(saved+path, unsaved) - utf8.UTFMax
	return free - min(maxTail, free/tailShare)
}

// failed passes on the end of one source, after the chunks held back. It records any other
// error as the end, and signals the tool that nobody listens any more.
func (c *streamCut[T]) failed(err error) error {
	if isSourceEnd(err) {
		if len(c.buffered)+len(c.ends) == 0 {
			return err
		}
		c.ends = append(c.ends, err)
		return nil
	}
	c.err = err
	closeStream(c.in)
	return io.EOF
}

// afterEnd returns what follows the last chunk once c.in is closed.
func (c *streamCut[T]) afterEnd(err error) error {
	switch {
	case !errors.Is(err, schema.ErrRecvAfterClosed):
		return err // one source has ended
	case c.state != stateDone:
		return io.EOF // the reader has closed it
	}
	return c.nextError()
}

// following takes the next of the errors that follow the last chunk.
func (c *streamCut[T]) nextError() (err error) {
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
func (c *streamCut[T]) next(chunk T) (T, error) {
	var none T
	eachString(chunk, func(text string) {
		c.total += len(text)
		if c.state == holding {
			c.texts = append(c.texts, text)
		}
	})
	if c.json != nil {
		eachString(chunk, c.json.add)
	}
	switch waits := c.shouldBuffer(); {
	case c.state == compacting:
		return c.passOn(c.withText(chunk, c.json.take()))
	case waits:
		c.buffered = append(c.buffered, chunk)
		return none, schema.ErrNoValue
	case c.state == whole && c.json != nil:
		c.state = compacting
		chunk, c.buffered = join(append(c.buffered, chunk)), nil
		return c.passOn(c.withText(chunk, c.json.take()))
	case c.state == whole:
		return c.passOn(chunk)
	}
	if c.total <= c.allowance && len(c.ends) == 0 && len(c.buffered) == c.waited {
		c.passed, c.waited = c.total, 0
		return c.passOn(chunk)
	}
	c.buffered = append(c.buffered, chunk)
	if c.total <= c.rule.Limit {
		return none, schema.ErrNoValue
	}
	return c.overflow()
}

// jsonStream is the JSON in a stream, in fewer bytes.
type jsonStream struct {
	w     jsontext.CompactWriter
	out   []byte
	size  int  // bytes that came out
	other bool // something else came
}

// add takes a text. What follows the document comes out as it is.
func (j *jsonStream) add(text string) {
	n, before := 0, len(j.out)
	if !j.other {
		n = j.w.Write(text)
		j.out = append(j.out, j.w.Take()...)
		j.other = n < len(text) && (!j.w.IsComplete() || strings.Trim(text[n:], " \t\r\n") != "")
	}
	if j.other {
		j.out = append(j.out, text[n:]...)
	}
	j.size += len(j.out) - before
}

// take returns what has come out since the last call.
func (j *jsonStream) take() string {
	out := string(j.out)
	j.out = j.out[:0]
	return out
}

// worthIt reports whether what came out is shorter than size bytes by a twentieth.
func (j *jsonStream) worthIt(size int) bool { return size-j.size >= max(1, size/20) }

// decideAt is how many bytes of a stream tell whether compacting it is worth it.
const decideAt = 4 << 10

// waits reports whether what has come is held back because it may become shorter JSON. It
// gives up where that does not come about.
func (c *streamCut[T]) shouldBuffer() bool {
	switch j := c.json; {
	case j == nil || c.state == compacting:
		return false
	case c.state == whole && !j.other && c.total < decideAt, c.state == holding && !j.other && j.size <= c.rule.Limit && c.total <= maxShrink*c.rule.Limit:
		c.waited = len(c.buffered) + 1
		return true
	case c.state == holding || j.other || !j.worthIt(c.total):
		c.json = nil
	}
	return false
}

func (c *streamCut[T]) withText(chunk T, text string) T {
	r := asResult(chunk)
	if r == nil {
		return chunk
	}
	return ofResult[T](&schema.ToolResult{Parts: withNotice(r.Parts, text)})
}

// endJSON is the end of a stream that may be JSON. It reports whether what was held back must
// be cut.
func (c *streamCut[T]) endJSON() (tooLong bool) {
	j := c.json
	switch {
	case j == nil:
		return false
	case c.state == compacting:
		if rest := string(j.w.Pending()); rest != "" && !j.other {
			c.buffered = append(c.buffered, ofResult[T](textResult(rest)))
		}
		c.reportCompacted(j.size)
		return false
	}
	text, ok := "", false
	if c.state == whole && j.w.IsComplete() && !j.other {
		if text, ok = jsontext.Compact(string(j.out)); !ok {
			ok = j.worthIt(c.total)
		}
	} else if c.state == holding {
		text, ok = jsontext.Compact(strings.Join(c.texts, ""))
	}
	if !ok || c.err != nil || c.state == holding && len(text) > c.rule.Limit {
		return c.state == holding && c.total > c.rule.Limit
	}
	c.buffered = []T{c.withText(join(c.buffered), text)}
	c.reportCompacted(len(text))
	return false
}

func (c *streamCut[T]) reportCompacted(after int) {
	c.tell(c.ctx, report.Outcome{Kind: einolean.KindResultCompacted, Before: c.total, After: after, Stream: true})
}

// passOn passes a chunk on after everything that precedes it.
func (c *streamCut[T]) passOn(chunk T) (T, error) {
	if len(c.buffered)+len(c.ends) == 0 {
		return chunk, nil
	}
	c.buffered = append(c.buffered, chunk)
	if len(c.ends) > 0 {
		var none T
		return none, c.nextError()
	}
	return c.release(), nil
}

func (c *streamCut[T]) release() T {
	out := join(c.buffered)
	c.buffered = nil
	return out
}

// rest ends the stream after its source: it returns the chunks held back, if nothing was
// cut.
func (c *streamCut[T]) finish() (any, error) {
	if c.state != stateDone && c.endJSON() {
		c.source = nil
		out, err := c.overflow()
		if c.state != stateDone { // it stays whole
			c.state = stateDone
			closeStream(c.in)
		}
		return out, err
	}
	closeStream(c.in) // after is called from now on
	if c.state != stateDone {
		c.state = stateDone
		if c.err == nil {
			c.reportKept(c.ctx, report.Outcome{Reason: cmp.Or(c.rule.SkipReason, toolpolicy.NotSmaller), Before: c.total, Stream: true}, "")
		}
	}
	if len(c.buffered) > 0 {
		return c.release(), nil
	}
	return nil, c.nextError()
}

// overflow handles a stream that is known to be too long. It reads the source to its end.
func (c *streamCut[T]) overflow() (T, error) {
	var none T
	at, err := c.place(c.ctx, func() *schema.ToolResult { return textResult(strings.Join(c.texts, "")) })
	if err != nil {
		c.state, c.buffered, c.ends = stateDone, nil, nil
		closeStream(c.in)
		return none, err
	}
	head := c.boundary(c.allowance)
	fits := func() bool {
		_, ok := c.notices.RenderStreamEnd(c.notices.Stream, c.dataFor(head, at.Path+offload.Padding), "", c.rule.Limit-head)
		return ok && notice.Showable(at.Path)
	}
	if !fits() {
		at = c.defaultPlace() // the limit has room for this one
	}
	if !fits() {
		c.texts, c.state = nil, whole
		return c.release(), nil
	}
	return c.drainAndStore(at, head), nil
}

// boundary is how many bytes of the stream come before an offset, without splitting a
// character, and at least as many as are passed on already.
func (c *streamCut[T]) boundary(offset int) int {
	from := max(0, offset-utf8.UTFMax)
	around := bytesBetween(c.texts, from, offset+utf8.UTFMax)
	if at := from + display.Floor(around, offset-from); at >= c.passed {
		return at
	}
	return from + display.Ceil(around, c.passed-from)
}

// bytesBetween returns the bytes between two offsets of consecutive texts.
func bytesBetween(texts []string, from, to int) string {
	var out []byte
	for _, t := range texts {
		if from < len(t) && to > 0 {
			out = append(out, t[max(0, from):min(to, len(t))]...)
		}
		from, to = from-len(t), to-len(t)
	}
	return string(out)
}

func (c *streamCut[T]) dataFor(head int, path string) notice.Data {
	data := c.data
	data.Bytes, data.HeadBytes, data.Path = c.total, head, path
	return data
}

// swallow reads the source to its end, stores everything, and returns what follows: the
// rest of the head with a notice, or, if the source failed, the rest of the text within
// the limit.
func (c *streamCut[T]) drainAndStore(at offload.Place, head int) T {
	c.state = stateDone
	full := c.boundary(c.rule.Limit)
	end := &tail{max: c.rule.Limit - head}
	end.skip(c.texts, head)
	for _, text := range c.texts {
		c.errors.Add(text)
	}
	file := c.Files.Stream(c.ctx, c.rule.Store, at, c.texts)
	defer file.Abort() // for a source that panics
	c.texts = nil
	media := c.drain(file, end)
	closeStream(c.in)
	path, err := file.Commit(c.copies(at))
	notice := ""
	if c.err == nil {
		notice = c.endNotice(path, head, end)
	} else {
		head = full
	}
	c.report(path, err, head+len(notice))
	last := []T{startOf(join(c.buffered), head-c.passed)}
	if notice != "" {
		last = append(last, ofResult[T](textResult(notice)))
	}
	c.buffered = nil
	return join(append(last, media...))
}

// copies are the files that may already hold this Stream: the first choice, from an
// earlier call, and files that the call reads.
func (c *streamCut[T]) copies(at offload.Place) []string {
	out := []string{at.Path}
	for _, p := range offload.PathsIn(c.Root, c.text) {
		if len(p) <= len(at.Path)+len(offload.Padding) {
			out = append(out, p)
		}
	}
	return out
}

// drain reads the source to its end and returns the non-text parts. It reads past c.in,
// which would make garbage for each chunk.
func (c *streamCut[T]) drain(file offload.Sink, end *tail) (media []T) {
	take := func(text string) {
		c.total += len(text)
		end.add(text)
		c.errors.Add(text)
		file.Write(text)
	}
	for c.source != nil {
		chunk, err := c.source.Recv()
		if errors.Is(err, io.EOF) {
			return media
		}
		if err != nil {
			if c.failed(err) != nil {
				return media
			}
			continue // one source has ended
		}
		eachString(chunk, take)
		rest := startOf(chunk, 0)
		if r, ok := any(rest).(*schema.ToolResult); ok && r != nil && len(r.Parts) > 0 {
			media = append(media, rest)
		}
	}
	return media
}

// endNotice ends the stream. Without a path the notice says that nothing was stored.
func (c *streamCut[T]) endNotice(path string, head int, end *tail) string {
	if path != "" {
		if text := c.withErrors(c.dataFor(head, path), end); text != "" {
			return text
		}
		if text, ok := c.notices.RenderStreamEnd(c.notices.Stream, c.dataFor(head, path), end.text(), c.rule.Limit-head); ok {
			return text
		}
	}
	text, _ := c.notices.RenderStreamEnd(c.notices.Unsaved, c.dataFor(head, ""), end.text(), c.rule.Limit-head)
	return text
}

// errorShare is the share of the room after the head for errors: a half.
const errorShare = 2

// withErrors ends the stream with the errors between head and tail. It is empty if there
// are none, or no room for them.
func (c *streamCut[T]) withErrors(v notice.Data, end *tail) string {
	v.TailBytes = c.total
	room := (c.rule.Limit - v.HeadBytes - c.notices.Found.Length(c.notices.WithHint(v))) / errorShare
	v.Shown = c.errors.Lines(v.HeadBytes, c.total, min(room, maxErrorBytes))
	v.Shown = c.errors.Lines(v.HeadBytes, c.total-(2*room-len(v.Shown)), min(room, maxErrorBytes))
	if v.Shown == "" {
		return ""
	}
	text, _ := c.notices.RenderStreamEnd(c.notices.Found, v, end.text(), c.rule.Limit-v.HeadBytes)
	return text
}

func (c *streamCut[T]) report(path string, err error, after int) {
	o := report.Outcome{Kind: einolean.KindResultCut, By: report.ByLimit, Before: c.total, After: after, Path: path, Stream: true, Err: c.err}
	if err != nil {
		o.Kind, o.Path, o.Err = einolean.KindStoreFailed, "", err
	}
	c.tell(c.ctx, o)
}

// tail keeps the last bytes of its input.
type tail struct {
	max  int
	buf  []byte
	lost bool // not everything is in buf
}

// skip adds the bytes after the first n of texts.
func (t *tail) skip(texts []string, n int) {
	for _, s := range texts {
		t.add(s[min(max(n, 0), len(s)):])
		n -= len(s)
	}
}

func (t *tail) add(s string) {
	if len(s) > t.max {
		s, t.buf, t.lost = s[len(s)-t.max:], t.buf[:0], true
	}
	if t.buf = append(t.buf, s...); len(t.buf) > 2*t.max {
		t.trim()
	}
}

func (t *tail) trim() {
	if drop := len(t.buf) - t.max; drop > 0 {
		t.buf, t.lost = append(t.buf[:0], t.buf[drop:]...), true
	}
}

// text is the tail, starting at a whole character.
func (t *tail) text() string {
	t.trim()
	from := 0
	for t.lost && from < min(utf8.UTFMax-1, len(t.buf)) && !utf8.RuneStart(t.buf[from]) {
		from++
	}
	return string(t.buf[from:])
}
