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

// window is the answer with a part of the content as it is stored.
type window struct {
	answerHeader
	First, Last    int64 // lines; zero: not known
	Fence, Content string
	Cut            bool   // the last line goes on after To
	Open           bool   // the content does not end with a newline
	Exact          bool   // it is the part that was asked for, and more follows
	Asked          int64  // bytes, if there are fewer; else zero
	Before         string // the arguments of a call for what comes before
}

// Got is how many bytes the answer has.
func (w window) Got() int64 { return w.To - w.From }

func (w window) show(v readCall, content []byte) string {
	w.Content, w.Fence, w.Garbled = framed(content)
	w.Open = !bytes.HasSuffix(content, []byte{'\n'})
	return v.say.Say("page", w)
}

// lineWindow answers with whole lines from a line on. A line that alone is too
// long for an answer is cut, and goes on in windows of bytes.
func lineWindow(v readCall) (string, error) {
	content, size, err := v.stream()
	if err != nil {
		return "", err
	}
	defer content.Close()
	lines := newScanner(content)
	first := max(v.req.offset, 1)
	if err := lines.skip(first); err != nil {
		return "", err
	}
	from := lines.start
	ahead, err := readFull(lines.r, min(v.bytes+utf8.UTFMax, size-from))
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
	f := window{answerHeader: v.told("", size), First: first, Last: first + n - 1}
	f.From, f.To = from, from+int64(cut)
	switch {
	case n == 0:
		f.To, f.Last, f.Cut = from+int64(display.Floor(ahead, int(v.bytes))), first, true
		f.Next = v.req.nextArguments("byte_offset", f.To)
	case f.To < size && n == v.req.limit:
		f.Exact = true
	case f.To < size && v.req.limit > 0:
		f.Next = v.req.nextArguments("offset", f.Last+1, "limit", v.req.limit-n)
	case f.To < size:
		f.Next = v.req.nextArguments("offset", f.Last+1)
	}
	return f.show(v, ahead[:f.To-from]), nil
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
	full := v.req.byteLimit > 0 && v.req.byteLimit <= v.bytes
	if lines := bytes.LastIndexByte(part[:end], '\n') + 1; !full && base+int64(end) < size && lines > end-(end-start)/4 {
		end = lines
	}
	f := window{answerHeader: v.told("", size)}
	f.From, f.To = base+int64(start), base+int64(end)
	switch {
	case f.To == size:
	case full:
		f.Exact = true
	case v.req.byteLimit > 0:
		f.Asked = min(v.req.byteLimit, size-f.From)
		f.Next = v.req.nextArguments("byte_offset", f.To, "byte_limit", f.Asked-f.Got())
	default:
		f.Next = v.req.nextArguments("byte_offset", f.To)
	}
	return f.show(v, part[start:end]), nil
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
	base := max(size-v.bytes-utf8.UTFMax, 0)
	part, size, err := v.part(base, v.bytes+utf8.UTFMax)
	if err != nil {
		return "", err
	}
	start := tailStart(part, min(v.req.tail, v.lines), v.bytes, base > 0)
	f := window{answerHeader: v.told("", size)}
	f.From, f.To = base+int64(start), base+int64(len(part))
	if f.From > 0 {
		before := max(f.From-v.bytes, 0)
		f.Before = v.req.nextArguments("byte_offset", before, "byte_limit", f.From-before)
	}
	return f.show(v, part[start:]), nil
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
		return v.say.plain("empty")
	}
	f := window{answerHeader: v.told("", size), Last: lines}
	f.Next = v.req.nextArguments("tail", int64(20))
	if lines == 1 {
		f.Next = v.req.nextArguments("byte_offset", max(0, size-v.bytes))
	}
	return v.say.Say("past_end", f)
}

// maxReason is how much of a query's error is shown, in bytes.
const maxReason = 1500

// JSONQuery answers a query about a JSON document with at most maxBytes bytes. An error is
// a text for the model.
type JSONQuery = func(ctx context.Context, query string, document []byte, maxBytes int) ([]byte, error)

// found is the answer to a JSON query.
type found struct {
	answerHeader
	Content, Fence string
	Reason         string // why it is not answered
	Missing        bool   // the end of the document is missing
	More           bool   // there is more of the answer
}

// askJSON answers a JSON query. What the function returns is bounded once more, and it may
// panic.
func askJSON(v readCall, f JSONQuery) (string, error) {
	content, size, err := v.stream()
	if err != nil {
		return "", err
	}
	defer content.Close()
	said := found{answerHeader: v.told(v.req.jq, size)}
	v.bytes -= int64(len(said.Path))
	if size > preview.MaxDocument {
		return v.say.Say("jq_large", said), nil
	}
	whole, err := readFull(content, size)
	if err != nil {
		return "", err
	}
	document, cut, ok := preview.Document(string(whole))
	if !ok {
		return v.say.Say("jq_no_json", said), nil
	}
	answer, err := safe.Value("JSONQuery", func() ([]byte, error) { return f(v.ctx, v.req.jq, document, int(v.bytes)) })
	if ended := v.ctx.Err(); ended != nil {
		return "", ended
	}
	if err != nil {
		said.Reason = display.Short(display.Line(safe.ErrorText(err)), maxReason)
		return v.say.Say("jq_failed", said), nil
	}
	if int64(len(answer)) > v.bytes {
		answer = answer[:display.Floor(answer, int(v.bytes))]
		if lines := bytes.LastIndexByte(answer, '\n') + 1; lines > 0 {
			answer = answer[:lines]
		}
		said.More = true
	}
	if len(bytes.TrimSpace(answer)) == 0 {
		return v.say.Say("jq_nothing", said), nil
	}
	said.Missing = cut
	said.Content, said.Fence, said.Garbled = framed(answer)
	return v.say.Say("jq_answer", said), nil
}
