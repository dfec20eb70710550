// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package readtool

// Answers with pages: windows of lines, windows of bytes, and the end; and with what a JSON query
// finds in a file.

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/cloudwego/eino/adk/filesystem"

	"github.com/einolean/einolean/internal/backend"
	"github.com/einolean/einolean/internal/display"
	"github.com/einolean/einolean/internal/preview"
	"github.com/einolean/einolean/internal/safe"
)

// enclosed renders a sentence around content that f describes.
func enclosed(v visit, sentence string, f facts, content []byte) string {
	f.Content = string(content)
	f.Fence = fence(f.Content)
	f.Garbled = !utf8.Valid(content)
	if !strings.HasSuffix(f.Content, "\n") {
		f.Content += "\n" // the fence is a line of its own; To says where the content ends
	}
	return v.say.say(sentence, f)
}

// lineWindow answers with whole lines from a line on. A line that alone is too
// long for an answer is cut, and goes on in windows of bytes.
func lineWindow(v visit) (string, error) {
	content, size, err := v.src(v.ctx, 0, -1)
	if err != nil {
		return "", err
	}
	defer content.Close()
	lines := newScanner(guardedStream(v, content, size))
	first := max(v.req.offset, 1)
	if err := lines.skip(first); err != nil {
		return "", err
	}
	from := lines.start
	ahead, err := take(lines.r, min(v.bytes+utf8.UTFMax, size-from))
	if err != nil {
		return "", err
	}
	if len(ahead) == 0 {
		return pastEnd(v, lines.number-1, size), nil
	}
	limit := v.lines
	if v.req.limit > 0 {
		limit = min(limit, v.req.limit)
	}
	cut, n := takeLines(ahead, limit, v.bytes)
	f := facts{From: from, To: from + int64(cut), Size: size, First: first, Last: first + n - 1}
	switch {
	case n == 0:
		f.To, f.Last, f.Cut = from+int64(display.Floor(ahead, int(v.bytes))), first, true
		f.Next = v.req.follow("byte_offset", f.To)
	case f.To < size:
		f.Next = v.req.follow("offset", f.Last+1, "limit", v.req.limit)
	}
	return enclosed(v, "page", f, ahead[:f.To-from]), nil
}

// takeLines counts the whole lines at the start of ahead that are at most limit,
// and room bytes. ahead holds more than room bytes unless the content ends with it.
func takeLines(ahead []byte, limit, room int64) (cut int, n int64) {
	for n < limit && cut < len(ahead) {
		end := bytes.IndexByte(ahead[cut:], '\n') + 1
		if end == 0 {
			end = len(ahead) - cut
		}
		if int64(cut+end) > room {
			break
		}
		cut += end
		n++
	}
	return cut, n
}

// byteWindow answers with the bytes from an offset on. Where one of its ends lies
// inside a character, it is moved back to the start of that.
func byteWindow(v visit) (string, error) {
	const back = utf8.UTFMax - 1
	want := v.req.byteOffset
	base := max(want-back, 0)
	part, size, err := v.part(base, want-base+v.bytes+utf8.UTFMax)
	if err != nil {
		return "", err
	}
	if want >= size {
		return pastEnd(v, 0, size), nil
	}
	room := v.bytes
	if v.req.byteLimit > 0 {
		room = min(room, v.req.byteLimit)
	}
	start, end := display.Floor(part, int(want-base)), display.Floor(part, int(want-base+room))
	if end <= start { // asked for less than one character
		end = display.Floor(part, int(want-base+utf8.UTFMax))
	}
	f := facts{From: base + int64(start), To: base + int64(end), Size: size}
	if f.To < size {
		f.Next = v.req.follow("byte_offset", f.To, "byte_limit", v.req.byteLimit)
	}
	return enclosed(v, "page", f, part[start:end]), nil
}

// lastLines answers with the last lines, as many of those asked for as fit; of a
// last line that alone is too long, with its end.
func lastLines(v visit) (string, error) {
	_, size, err := v.part(0, 0)
	if err != nil {
		return "", err
	}
	if size == 0 {
		return pastEnd(v, 0, 0), nil
	}
	base := max(size-v.bytes-utf8.UTFMax, 0)
	part, size, err := v.part(base, v.bytes+utf8.UTFMax)
	if err != nil {
		return "", err
	}
	start := tailStart(part, min(v.req.tail, v.lines), v.bytes, base > 0)
	f := facts{From: base + int64(start), To: base + int64(len(part)), Size: size}
	if f.From > 0 {
		before := max(f.From-v.bytes, 0)
		f.Before = v.req.follow("byte_offset", before, "byte_limit", f.From-before)
	}
	return enclosed(v, "page", f, part[start:]), nil
}

// tailStart finds where the last n lines of part begin, at most room bytes before
// its end. torn says that part begins in the middle of the content.
func tailStart(part []byte, n, room int64, torn bool) int {
	start := len(part)
	for ; n > 0 && start > 0; n-- {
		line := bytes.LastIndexByte(part[:start-1], '\n') + 1
		if int64(len(part)-line) > room || line == 0 && torn {
			break
		}
		start = line
	}
	if start < len(part) {
		return start
	}
	return display.Ceil(part, len(part)-int(room))
}

// pastEnd answers a window past the end of the content. lines is zero if they were
// not counted.
func pastEnd(v visit, lines, size int64) string {
	if size == 0 {
		return v.say.plain("empty")
	}
	return v.say.say("past_end", facts{
		Last: lines,
		Size: size,
		Next: v.req.follow("tail", int64(20)),
	})
}

// open finds the content of a path, and returns what reads it by ranges. From a store that only
// reads whole files it is read here, once.
func (o *Options) open(ctx context.Context, filePath string) (src func(ctx context.Context, offset, length int64) (content io.ReadCloser, size int64, err error), err error) {
	if o.Ranges != nil {
		return func(ctx context.Context, offset, length int64) (io.ReadCloser, int64, error) {
			return o.Ranges.ReadRange(ctx, filePath, offset, length)
		}, nil
	}
	got, err := o.Lines.Read(ctx, &filesystem.ReadRequest{FilePath: filePath})
	if err != nil {
		return nil, err
	}
	if got == nil {
		return nil, errors.New("readtool: reading: the store returned neither content nor an error")
	}
	return whole(got.Content), nil
}

// whole is open for content in memory.
func whole(content string) func(ctx context.Context, offset, length int64) (content io.ReadCloser, size int64, err error) {
	return func(_ context.Context, offset, length int64) (io.ReadCloser, int64, error) {
		window, size := backend.Window(content, offset, length)
		return window, size, nil
	}
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

// maxReason is how much of a query's error is shown, in bytes.
const maxReason = 1500

// askJSON answers a JSON query. What the function returns is bounded once more, and it may
// panic.
func askJSON(v visit, f JSONQuery) (string, error) {
	content, size, err := v.src(v.ctx, 0, -1)
	if err != nil {
		return "", err
	}
	defer content.Close()
	said := facts{Path: display.Quoted(v.req.jq), Size: size}
	v.bytes -= int64(len(said.Path))
	if size > preview.MaxDocument {
		return v.say.say("jq_large", said), nil
	}
	whole, err := take(guardedStream(v, content, size), size)
	if err != nil {
		return "", err
	}
	document, cut, ok := preview.Document(string(whole))
	if !ok {
		return v.say.say("jq_no_json", said), nil
	}
	answer, err := safe.Value("JSONQuery", func() ([]byte, error) { return f(v.ctx, v.req.jq, document, int(v.bytes)) })
	if ended := v.ctx.Err(); ended != nil {
		return "", ended
	}
	if err != nil {
		said.Reason = display.Short(display.Line(safe.ErrorText(err)), maxReason)
		return v.say.say("jq_failed", said), nil
	}
	if int64(len(answer)) > v.bytes {
		answer = answer[:display.Floor(answer, int(v.bytes))]
		if lines := bytes.LastIndexByte(answer, '\n') + 1; lines > 0 {
			answer = answer[:lines]
		}
		said.More = true
	}
	if len(bytes.TrimSpace(answer)) == 0 {
		return v.say.say("jq_nothing", said), nil
	}
	said.Missing = cut
	return enclosed(v, "jq_answer", said, answer), nil
}
