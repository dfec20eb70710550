// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package truncate

// Streams, which are truncated in bounded memory.
//
//	source : C1 --- C2 --- C3 --- C4 (over the limit) --- … --- EOF
//	out    : C1 --- [C2, C3 buffered] ------------------------- head of C2 + notice
//
// Chunks are passed on as long as the rest of the limit has room for the notice. Later chunks are buffered.
//
//   - If the source ends within the limit, the buffered chunks follow unchanged.
//   - If it exceeds the limit, the whole stream is written to the store as it arrives. The notice has its last bytes.
//   - If it fails, the buffered chunks follow at once, and then the error. The source is not read again, so a tool
//     that forgets to close its stream blocks nobody. The end of one source of a merged stream is not a failure, and
//     is passed on.
//
// A stream that is JSON may be compacted: see compactor.

import (
	"cmp"
	"context"
	"errors"
	"io"
	"strings"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean"
	"github.com/einolean/einolean/internal/jsontext"
	previews "github.com/einolean/einolean/internal/preview"
	"github.com/einolean/einolean/reduction/internal/notice"
	"github.com/einolean/einolean/reduction/internal/offload"
	"github.com/einolean/einolean/reduction/internal/report"
	"github.com/einolean/einolean/reduction/internal/toolpolicy"
)

// WrapStreamable wraps the endpoint of a tool that returns streams, so that long ones are truncated.
func WrapStreamable[A, T any](
	ctx context.Context,
	truncator *Truncator,
	called *adk.ToolContext,
	endpoint func(context.Context, A, ...tool.Option) (*schema.StreamReader[T], error),
) func(context.Context, A, ...tool.Option) (*schema.StreamReader[T], error) {
	t, ok := truncator.newTruncation(ctx, called)
	if !ok {
		return endpoint
	}
	return func(ctx context.Context, argument A, opts ...tool.Option) (*schema.StreamReader[T], error) {
		out, err := endpoint(ctx, argument, opts...)
		if err != nil || out == nil {
			return nil, err
		}
		t := t.withArguments(toArgument(argument))
		if t.policy.SkipReason == "" && t.policy.HasHandler {
			return applyStreamHandler(ctx, t, out)
		}
		return truncateStream(ctx, t, out), nil
	}
}

// truncateStream returns a stream that ends within the limit. Closing it closes src.
func truncateStream[T any](
	ctx context.Context, call truncation, src *schema.StreamReader[T],
) *schema.StreamReader[T] {
	truncator := call.truncator
	s := &streamTruncation[T]{ctx: offload.WithPass(ctx), call: call}
	s.notice = streamNotice{texts: notice.Current(), limit: call.policy.Limit}
	s.notice.common.Tool, s.notice.common.CanSearch = truncator.Reader.Of(ctx)
	s.notice.common.CanPass = truncator.CanPass
	if truncator.Previews(call.tool.Name) {
		s.notice.errors = new(previews.Errors)
	}
	truncator.Files.ReservePaths(ctx, truncator.NoticePaths(ctx))
	s.maxHead = s.notice.maxHead(len(call.defaultPlace().Path)+offload.SuffixSize, truncator.Name != nil)
	mayCompact := call.mayCompact()
	if s.maxHead < 0 || call.policy.SkipReason != "" {
		if truncator.Report == nil && !mayCompact {
			return src
		}
		s.state = statePassing
	}
	if mayCompact {
		s.compactor = new(compactor)
	}
	s.source.open(src, s.onSourceError)
	return schema.StreamReaderWithConvert(s.source.reader, s.processChunk,
		schema.WithErrWrapper(s.errorAfterEnd), schema.WithOnEOF(s.finish))
}

// streamState is the state of the truncation of a stream.
type streamState int

const (
	stateBuffering  streamState = iota // chunks that leave no room for the notice are buffered
	statePassing                       // all chunks are passed on, whatever their length
	stateCompacting                    // all text is passed on as compact JSON
	stateDone                          // the last chunk was passed on: only errors follow
)

// streamTruncation is the truncation of one stream. It is used by one goroutine at a time.
type streamTruncation[T any] struct {
	ctx  context.Context
	call truncation

	state     streamState
	source    sourceStream[T]
	received  receivedText
	buffer    chunkBuffer[T]
	compactor *compactor // nil: the text is not JSON, or is not compacted
	notice    streamNotice
	maxHead   int // bytes that may be passed on before the notice
}

// onSourceError handles an error of the source. The end of one source of a merged stream follows the buffered
// chunks. Any other error ends the stream.
func (s *streamTruncation[T]) onSourceError(err error) error {
	if !isSourceEnd(err) {
		s.source.fail(err)
		return io.EOF
	}
	if !s.hasPending() {
		return err
	}
	s.source.ends = append(s.source.ends, err)
	return nil
}

// hasPending reports whether something was received that is still to be passed on.
func (s *streamTruncation[T]) hasPending() bool {
	return len(s.buffer.chunks) > 0 || len(s.source.ends) > 0
}

// errorAfterEnd returns what follows the last chunk, once the reader of the source is closed.
func (s *streamTruncation[T]) errorAfterEnd(err error) error {
	switch {
	case !errors.Is(err, schema.ErrRecvAfterClosed):
		return err // one source has ended
	case s.state != stateDone:
		return io.EOF // the reader of the truncated stream has closed it
	}
	return s.source.nextError()
}

// processChunk returns what is passed on for a chunk, or schema.ErrNoValue if it is buffered.
func (s *streamTruncation[T]) processChunk(chunk T) (T, error) {
	s.receive(chunk)
	if s.state == stateCompacting {
		return s.passOn(withText(chunk, s.compactor.take()))
	}
	if s.mustWaitForJSON() {
		s.buffer.addForJSON(chunk)
		return noChunk[T]()
	}
	s.stopCompacting()
	if s.state == statePassing {
		return s.passAll(chunk)
	}
	return s.passWithinLimit(chunk)
}

func noChunk[T any]() (none T, err error) { return none, schema.ErrNoValue }

// receive records the text of a chunk.
func (s *streamTruncation[T]) receive(chunk T) {
	eachText(chunk, func(text string) {
		s.received.bytes += len(text)
		if s.state == stateBuffering {
			s.received.texts = append(s.received.texts, text)
		}
		if s.compactor != nil {
			s.compactor.add(text)
		}
	})
}

// passAll passes a chunk on whatever its length. From here on, JSON is compacted.
func (s *streamTruncation[T]) passAll(chunk T) (T, error) {
	if s.compactor == nil {
		return s.passOn(chunk)
	}
	s.state = stateCompacting
	s.buffer.add(chunk)
	return s.passOn(withText(s.buffer.take(), s.compactor.take()))
}

// passWithinLimit passes a chunk on if the notice has room after it. Otherwise it buffers the chunk, and truncates
// the stream once that exceeds the limit.
func (s *streamTruncation[T]) passWithinLimit(chunk T) (T, error) {
	if s.received.bytes <= s.maxHead && len(s.source.ends) == 0 && s.buffer.isOnlyForJSON() {
		s.received.passed, s.buffer.forJSON = s.received.bytes, 0
		return s.passOn(chunk)
	}
	s.buffer.add(chunk)
	if s.received.bytes <= s.call.policy.Limit {
		return noChunk[T]()
	}
	return s.truncate()
}

// passOn passes a chunk on after everything that precedes it.
func (s *streamTruncation[T]) passOn(chunk T) (T, error) {
	if !s.hasPending() {
		return chunk, nil
	}
	s.buffer.add(chunk)
	if len(s.source.ends) > 0 {
		var none T
		return none, s.source.nextError()
	}
	return s.buffer.take(), nil
}

// minCompactSample is how many bytes of a stream are compacted before that is judged to be worthwhile or not.
const minCompactSample = 4 << 10

// mustWaitForJSON reports whether chunks are buffered because the text may become shorter JSON.
func (s *streamTruncation[T]) mustWaitForJSON() bool {
	if s.compactor == nil || s.compactor.hasNonJSON {
		return false
	}
	switch limit := s.call.policy.Limit; s.state {
	case statePassing:
		return s.received.bytes < minCompactSample
	case stateBuffering:
		return s.compactor.size <= limit && s.received.bytes <= maxCompactRatio*limit
	}
	return false
}

// stopCompacting drops the compactor where it does not help: where the stream is truncated anyway, or where the JSON
// hardly becomes shorter.
func (s *streamTruncation[T]) stopCompacting() {
	if c := s.compactor; c != nil &&
		(s.state == stateBuffering || c.hasNonJSON || !c.isWorthwhile(s.received.bytes)) {
		s.compactor = nil
	}
}

// finish ends the stream after its source. It returns the buffered chunks, or the notice if they exceed the limit
// although they were compacted.
func (s *streamTruncation[T]) finish() (any, error) {
	if s.state != stateDone && s.finishJSON() {
		s.source.tool = nil
		out, err := s.truncate()
		if s.state != stateDone { // there is no room for the notice
			s.state = stateDone
			closeStream(s.source.reader)
		}
		return out, err
	}
	closeStream(s.source.reader) // errorAfterEnd is called from now on
	if s.state != stateDone {
		s.state = stateDone
		if s.source.err == nil {
			s.reportKept()
		}
	}
	if len(s.buffer.chunks) > 0 {
		return s.buffer.take(), nil
	}
	return nil, s.source.nextError()
}

// finishJSON compacts the buffered chunks at the end of the stream. It reports whether the stream must be truncated.
func (s *streamTruncation[T]) finishJSON() (mustTruncate bool) {
	switch {
	case s.compactor == nil:
		return false
	case s.state == stateCompacting:
		if rest := string(s.compactor.writer.Pending()); rest != "" && !s.compactor.hasNonJSON {
			s.buffer.add(fromResult[T](textResult(rest)))
		}
		s.reportCompacted(s.compactor.size)
		return false
	}
	limit, isBuffering := s.call.policy.Limit, s.state == stateBuffering
	text, ok := s.compactedText()
	if !ok || s.source.err != nil || isBuffering && len(text) > limit {
		return isBuffering && s.received.bytes > limit
	}
	s.buffer.chunks = []T{withText(s.buffer.joined(), text)}
	s.reportCompacted(len(text))
	return false
}

// compactedText returns the text of a buffered stream as compact JSON. ok is false if it is not JSON or does not
// become shorter.
func (s *streamTruncation[T]) compactedText() (text string, ok bool) {
	switch {
	case s.state == stateBuffering:
		return jsontext.Compact(strings.Join(s.received.texts, ""))
	case s.state != statePassing || !s.compactor.isDocument():
		return "", false
	}
	text, ok = jsontext.Compact(string(s.compactor.output))
	return text, ok || s.compactor.isWorthwhile(s.received.bytes)
}

// truncate ends a stream that is known to exceed the limit. It reads the source to its end. If there is no room for
// the notice, the stream is passed on unchanged.
func (s *streamTruncation[T]) truncate() (T, error) {
	place, err := s.call.choosePlace(s.ctx, func() *schema.ToolResult {
		return textResult(strings.Join(s.received.texts, ""))
	})
	if err != nil {
		s.state, s.buffer.chunks, s.source.ends = stateDone, nil, nil
		closeStream(s.source.reader)
		var none T
		return none, err
	}
	head := s.received.boundary(s.maxHead)
	if !s.notice.fits(s.received.bytes, head, place.Path) {
		place = s.call.defaultPlace() // it may fit into the limit
	}
	if !s.notice.fits(s.received.bytes, head, place.Path) {
		s.received.texts, s.state = nil, statePassing
		return s.buffer.take(), nil
	}
	return s.storeAndNotify(place, head), nil
}

// storeAndNotify reads the source to its end and stores the whole stream. It returns the last chunk: the rest of the
// head with a notice or, if the source failed, the rest of the text within the limit. Parts that are not text follow.
func (s *streamTruncation[T]) storeAndNotify(place offload.Place, head int) T {
	s.state = stateDone
	headOnFailure := s.received.boundary(s.call.policy.Limit)
	end := &tail{max: s.call.policy.Limit - head}
	end.skip(s.received.texts, head)
	for _, text := range s.received.texts {
		s.notice.errors.Add(text)
	}
	sink := s.call.truncator.Files.Stream(s.ctx, s.call.policy.Store, place, s.received.texts)
	defer sink.Abort() // for a source that panics
	s.received.texts = nil
	media := s.drain(sink, end)
	closeStream(s.source.reader)
	path, err := sink.Commit(s.possibleCopies(place))
	text := ""
	if s.source.err == nil {
		text = s.notice.render(s.received.bytes, head, path, end.text())
	} else {
		head = headOnFailure
	}
	s.reportTruncated(path, err, head+len(text))
	last := []T{firstBytes(s.buffer.take(), head-s.received.passed)}
	if text != "" {
		last = append(last, fromResult[T](textResult(text)))
	}
	return join(append(last, media...))
}

// drain reads the source to its end, writes its text to the sink, and returns its parts that are not text.
func (s *streamTruncation[T]) drain(sink offload.Sink, end *tail) (media []T) {
	addText := func(text string) {
		s.received.bytes += len(text)
		end.add(text)
		s.notice.errors.Add(text)
		sink.Write(text)
	}
	s.source.drain(func(chunk T) {
		eachText(chunk, addText)
		rest := firstBytes(chunk, 0)
		if r, ok := any(rest).(*schema.ToolResult); ok && r != nil && len(r.Parts) > 0 {
			media = append(media, rest)
		}
	}, s.onSourceError)
	return media
}

// possibleCopies returns the paths that may already hold the stream: the chosen one, from an earlier call, and files
// that the call reads.
func (s *streamTruncation[T]) possibleCopies(place offload.Place) []string {
	out := []string{place.Path}
	for _, p := range offload.PathsIn(s.call.truncator.Root, s.call.argsText) {
		if len(p) <= len(place.Path)+len(offload.Padding) {
			out = append(out, p)
		}
	}
	return out
}

func (s *streamTruncation[T]) reportTruncated(path string, storeErr error, after int) {
	o := report.Outcome{
		Kind: einolean.KindResultTruncated, Rule: report.ByLimit,
		Before: s.received.bytes, After: after, Path: path, Stream: true, Err: s.source.err,
	}
	if storeErr != nil {
		o.Kind, o.Path, o.Err = einolean.KindStoreFailed, "", storeErr
	}
	s.call.report(s.ctx, o)
}

func (s *streamTruncation[T]) reportCompacted(after int) {
	s.call.report(s.ctx, report.Outcome{
		Kind: einolean.KindResultCompacted, Before: s.received.bytes, After: after, Stream: true,
	})
}

func (s *streamTruncation[T]) reportKept() {
	reason := cmp.Or(s.call.policy.SkipReason, toolpolicy.NotSmaller)
	s.call.reportKept(s.ctx, report.Outcome{Reason: reason, Before: s.received.bytes, Stream: true}, "")
}
