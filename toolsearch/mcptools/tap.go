// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package mcptools

// What goes to HTTP servers and comes from them, message by message.

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"mime"
	"net/http"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// tap shows the messages of requests and answers to a wire.
type tap struct {
	inner http.RoundTripper // nil: that of net/http
	wire  *wire
	pace  *pace
}

// RoundTrip makes a request.
func (t *tap) RoundTrip(r *http.Request) (*http.Response, error) {
	var message []byte
	if r.Method == http.MethodPost && r.GetBody != nil {
		if body, err := r.GetBody(); err == nil {
			if message, err = io.ReadAll(body); err == nil {
				t.wire.sent(message)
			}
			_ = body.Close()
		}
	}
	inner := t.inner
	if inner == nil {
		inner = http.DefaultTransport
	}
	resp, err := inner.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode >= http.StatusBadRequest {
		resp = refusalIn(r, message, resp)
	}
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	isStream := kind == "text/event-stream"
	if isStream && r.Method == http.MethodPost {
		t.pace.ask()
	}
	resp.Body = newBody(resp.Body, isStream, t.wire, t.pace)
	if resp.ContentLength > 0 {
		resp.ContentLength = -1 // the client may read a frame in place of the answer
	}
	return resp, nil
}

// body is the body of a server's answer, within all bounds: one message, or a stream of events.
type body struct {
	io.Closer
	in     *bufio.Reader
	stream bool
	wire   *wire
	pace   *pace

	ready []byte
	err   error // when ready has been read
}

func newBody(in io.ReadCloser, stream bool, w *wire, p *pace) *body {
	return &body{Closer: in, in: bufio.NewReader(in), stream: stream, wire: w, pace: p}
}

// Read reads the next piece. Events of a stream are read at the server's pace.
func (b *body) Read(p []byte) (int, error) {
	for len(b.ready) == 0 && b.err == nil {
		if b.stream {
			b.event()
		} else {
			b.message()
		}
	}
	if len(b.ready) == 0 {
		return 0, b.err
	}
	n := copy(p, b.ready)
	b.ready = b.ready[n:]
	return n, nil
}

// message reads the whole body. One that breaks off is left to the client as it is.
func (b *body) message() {
	var all bounded
	for b.err == nil {
		piece, err := b.in.ReadSlice('\n')
		all.add(piece)
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			b.err = err
		}
	}
	b.ready = all.taken(b.wire)
	if all.over() && b.ready == nil {
		b.err = errTooLarge
	}
}

// event reads the next event of a stream, with the empty line at its end.
func (b *body) event() {
	var fields []byte
	var data bounded
	has := false
	for first, size := true, 0; ; {
		piece, err := b.in.ReadSlice('\n')
		partial := errors.Is(err, bufio.ErrBufferFull)
		size += len(piece)
		isData := first && bytes.HasPrefix(piece, []byte("data:")) || !first && has && data.open
		switch {
		case isData:
			has = true
			data.line(piece, first, partial)
		case len(fields)+len(piece) > maxLine:
			b.err = errTooLarge
			return
		case first && len(bytes.TrimRight(piece, "\r\n")) == 0 && (err == nil || size == 0):
			b.end(fields, has, &data, size, err)
			return
		default:
			fields = append(fields, piece...)
		}
		if err != nil && !partial {
			b.end(fields, has, &data, size, err)
			return
		}
		first = !partial
	}
}

// end makes an event ready that has these fields and this data.
func (b *body) end(fields []byte, has bool, data *bounded, size int, err error) {
	b.err = err
	if size == 0 {
		return
	}
	b.ready = fields
	if has {
		message := data.taken(b.wire)
		if message == nil && data.over() {
			b.ready, b.err = nil, errTooLarge
			return
		}
		b.ready = append(append(b.ready, "data: "...), bytes.TrimRight(message, " ")...)
		b.ready = append(b.ready, '\n')
	}
	if err == nil {
		b.ready = append(b.ready, '\n')
		if !b.pace.answered() {
			b.pace.wait(1, 0)
		}
	}
	b.pace.wait(0, size)
}

// bounded is a message that comes in pieces: the whole, or both ends of one that is too large.
type bounded struct {
	chunks [][]byte // growing one slice would take twice the memory
	tail   []byte
	size   int
	open   bool // more of its line comes
}

func (m *bounded) over() bool { return m.size > maxMessage }

// add adds a piece.
func (m *bounded) add(piece []byte) {
	m.size += len(piece)
	if m.over() && len(m.chunks) > 0 {
		if len(m.chunks) > 1 {
			m.tail, m.chunks = bytes.Clone(m.chunks[len(m.chunks)-1]), m.chunks[:1]
		}
		m.tail = append(m.tail, piece...)
		m.tail = append(m.tail[:0], m.tail[max(0, len(m.tail)-ends):]...)
		return
	}
	last := len(m.chunks) - 1
	if last < 0 || len(m.chunks[last])+len(piece) > cap(m.chunks[last]) {
		m.chunks, last = append(m.chunks, make([]byte, 0, max(len(piece), min(m.size, 1<<20)))), last+1
	}
	m.chunks[last] = append(m.chunks[last], piece...)
}

// line adds a piece of a line of data: the first one, or one of the rest.
func (m *bounded) line(piece []byte, first, partial bool) {
	if first {
		piece = bytes.TrimLeft(piece[len("data:"):], " \t")
	}
	m.open = partial
	m.add(bytes.TrimRight(piece, "\r\n"))
	if !partial {
		m.add([]byte{' '}) // a line break of several lines of data is white space
	}
}

// taken is what the client reads of the message; nil if it is too large, and it is not known what
// it answers.
func (m *bounded) taken(w *wire) []byte {
	if m.over() {
		head := m.chunks[0]
		return w.tooLarge(head[:min(len(head), ends)], append(head[max(0, len(head)-ends):len(head):len(head)], m.tail...))
	}
	if len(m.chunks) == 1 {
		return w.came(m.chunks[0])
	}
	whole := make([]byte, 0, m.size)
	for i, chunk := range m.chunks {
		whole, m.chunks[i] = append(whole, chunk...), nil
	}
	return w.came(whole)
}

// listening is a transport of the user's, whose messages are shown to the wire: one over HTTP here,
// and another one when it has connected.
func (w *wire) listening(t mcp.Transport) mcp.Transport {
	client := func(own *http.Client) *http.Client {
		if own == nil {
			own = http.DefaultClient
		}
		shown := *own
		shown.Transport = &tap{own.Transport, w, nil}
		return &shown
	}
	switch t := t.(type) {
	case *mcp.StreamableClientTransport:
		own := *t
		own.HTTPClient = client(t.HTTPClient)
		return &own
	case *mcp.SSEClientTransport:
		own := *t
		own.HTTPClient = client(t.HTTPClient)
		return &own
	}
	return t
}
