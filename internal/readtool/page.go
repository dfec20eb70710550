// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package readtool

// Answers with pages: windows of lines, windows of bytes, and the end; and with what a JSON query
// finds in a file.

import (
	"bytes"
	"context"
	"unicode/utf8"

	"github.com/einolean/einolean/internal/display"
	"github.com/einolean/einolean/internal/preview"
	"github.com/einolean/einolean/internal/safe"
)

// pageAnswer is the answer with a part of the content as it is stored.
type pageAnswer struct {
	answerHeader
	FirstLine, LastLine int64 // lines; zero: not known
	Fence, Content      string
	IsLineCut           bool   // the last line goes on after EndByte
	LacksNewline        bool   // the content does not end with a newline
	IsRequestedPart     bool   // it is the part that was asked for, and more follows
	RequestedBytes      int64  // bytes, if there are fewer; else zero
	PreviousCall        string // the arguments of a call for what comes before
}

// ByteCount is how many bytes the answer has.
func (w pageAnswer) ByteCount() int64 { return w.EndByte - w.FirstByte }

func (w pageAnswer) render(v readCall, content []byte) string {
	w.Content, w.Fence, w.InvalidUTF8 = frameContent(content)
	w.LacksNewline = !bytes.HasSuffix(content, []byte{'\n'})
	return v.texts.Render("page", w)
}

// lineWindow answers with whole lines from a line on. A line that alone is too
// long for an answer is cut, and goes on in windows of bytes.
func lineWindow(v readCall) (string, error) {
	content, size, err := v.stream()
	if err != nil {
		return "", err
	}
	defer content.Close()
	lines := newLineScanner(content)
	first := max(v.req.offset, 1)
	if err := lines.skip(first); err != nil {
		return "", err
	}
	from := lines.start
	ahead, err := readFull(lines.r, min(v.maxBytes+utf8.UTFMax, size-from))
	if err != nil {
		return "", err
	}
	if len(ahead) == 0 {
		return pastEnd(v, lines.number-1, size), nil
	}
	limit := v.maxLines
	if v.req.limit > 0 {
		limit = min(limit, v.req.limit)
	}
	cut, n := takeLines(ahead, limit, v.maxBytes)
	f := pageAnswer{answerHeader: v.header("", size), FirstLine: first, LastLine: first + n - 1}
	f.FirstByte, f.EndByte = from, from+int64(cut)
	switch {
	case n == 0:
		f.EndByte, f.LastLine, f.IsLineCut = from+int64(display.Floor(ahead, int(v.maxBytes))), first, true
		f.NextCall = v.req.nextArguments("byte_offset", f.EndByte)
	case f.EndByte < size && n == v.req.limit:
		f.IsRequestedPart = true
	case f.EndByte < size && v.req.limit > 0:
		f.NextCall = v.req.nextArguments("offset", f.LastLine+1, "limit", v.req.limit-n)
	case f.EndByte < size:
		f.NextCall = v.req.nextArguments("offset", f.LastLine+1)
	}
	return f.render(v, ahead[:f.EndByte-from]), nil
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
func byteWindow(v readCall) (string, error) {
	const back = utf8.UTFMax - 1
	want := v.req.byteOffset
	base := max(want-back, 0)
	part, size, err := v.part(base, want-base+v.maxBytes+utf8.UTFMax)
	if err != nil {
		return "", err
	}
	if want >= size {
		return pastEnd(v, 0, size), nil
	}
	room := v.maxBytes
	if v.req.byteLimit > 0 {
		room = min(room, v.req.byteLimit)
	}
	start, end := display.Floor(part, int(want-base)), display.Floor(part, int(want-base+room))
	if end <= start { // asked for less than one character
		end = display.Floor(part, int(want-base+utf8.UTFMax))
	}
	full := v.req.byteLimit > 0 && v.req.byteLimit <= v.maxBytes
	if lines := bytes.LastIndexByte(part[:end], '\n') + 1; !full && base+int64(end) < size && lines > end-(end-start)/4 {
		end = lines
	}
	f := pageAnswer{answerHeader: v.header("", size)}
	f.FirstByte, f.EndByte = base+int64(start), base+int64(end)
	switch {
	case f.EndByte == size:
	case full:
		f.IsRequestedPart = true
	case v.req.byteLimit > 0:
		f.RequestedBytes = min(v.req.byteLimit, size-f.FirstByte)
		f.NextCall = v.req.nextArguments("byte_offset", f.EndByte, "byte_limit", f.RequestedBytes-f.ByteCount())
	default:
		f.NextCall = v.req.nextArguments("byte_offset", f.EndByte)
	}
	return f.render(v, part[start:end]), nil
}

// lastLines answers with the last lines, as many of those asked for as fit; of a
// last line that alone is too long, with its end.
func lastLines(v readCall) (string, error) {
	_, size, err := v.part(0, 0)
	if err != nil {
		return "", err
	}
	if size == 0 {
		return pastEnd(v, 0, 0), nil
	}
	base := max(size-v.maxBytes-utf8.UTFMax, 0)
	part, size, err := v.part(base, v.maxBytes+utf8.UTFMax)
	if err != nil {
		return "", err
	}
	start := tailStart(part, min(v.req.tail, v.maxLines), v.maxBytes, base > 0)
	f := pageAnswer{answerHeader: v.header("", size)}
	f.FirstByte, f.EndByte = base+int64(start), base+int64(len(part))
	if f.FirstByte > 0 {
		before := max(f.FirstByte-v.maxBytes, 0)
		f.PreviousCall = v.req.nextArguments("byte_offset", before, "byte_limit", f.FirstByte-before)
	}
	return f.render(v, part[start:]), nil
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
func pastEnd(v readCall, lines, size int64) string {
	if size == 0 {
		return v.texts.plainAnswer("empty")
	}
	f := pageAnswer{answerHeader: v.header("", size), LastLine: lines}
	f.NextCall = v.req.nextArguments("tail", int64(20))
	if lines == 1 {
		f.NextCall = v.req.nextArguments("byte_offset", max(0, size-v.maxBytes))
	}
	return v.texts.Render("past_end", f)
}

// maxReason is how much of a query's error is shown, in bytes.
const maxReason = 1500

// JSONQuery answers a query about a JSON document with at most maxBytes bytes. An error is
// a text for the model.
type JSONQuery = func(ctx context.Context, query string, document []byte, maxBytes int) ([]byte, error)

// jqAnswer is the answer to a JSON query.
type jqAnswer struct {
	answerHeader
	Content, Fence string
	Reason         string // why it is not answered
	IsIncomplete   bool   // the end of the document is missing
	HasMore        bool   // there is more of the answer
}

// runJSONQuery answers a JSON query. It bounds the output of the function again and recovers its panics.
func runJSONQuery(v readCall, f JSONQuery) (string, error) {
	content, size, err := v.stream()
	if err != nil {
		return "", err
	}
	defer content.Close()
	out := jqAnswer{answerHeader: v.header(v.req.jq, size)}
	v.maxBytes -= int64(len(out.Path))
	if size > preview.MaxDocument {
		return v.texts.Render("jq_large", out), nil
	}
	text, err := readFull(content, size)
	if err != nil {
		return "", err
	}
	document, cut, ok := preview.Document(string(text))
	if !ok {
		return v.texts.Render("jq_no_json", out), nil
	}
	answer, err := safe.Value("JSONQuery", func() ([]byte, error) { return f(v.ctx, v.req.jq, document, int(v.maxBytes)) })
	if ended := v.ctx.Err(); ended != nil {
		return "", ended
	}
	if err != nil {
		out.Reason = display.Short(display.Line(safe.ErrorText(err)), maxReason)
		return v.texts.Render("jq_failed", out), nil
	}
	if int64(len(answer)) > v.maxBytes {
		answer = answer[:display.Floor(answer, int(v.maxBytes))]
		if lines := bytes.LastIndexByte(answer, '\n') + 1; lines > 0 {
			answer = answer[:lines]
		}
		out.HasMore = true
	}
	if len(bytes.TrimSpace(answer)) == 0 {
		return v.texts.Render("jq_nothing", out), nil
	}
	out.IsIncomplete = cut
	out.Content, out.Fence, out.InvalidUTF8 = frameContent(answer)
	return v.texts.Render("jq_answer", out), nil
}
