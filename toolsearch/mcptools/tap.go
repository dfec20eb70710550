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
				t.wire.recordSent(message)
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
		resp = convertRefusal(r, message, resp)
	}
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	isStream := kind == "text/event-stream"
	if isStream && r.Method == http.MethodPost {
		t.pace.noteRequest()
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
	reader   *bufio.Reader
	isStream bool
	wire     *wire
	pace     *pace

	ready []byte
	err   error // when ready has been read
}

func newBody(in io.ReadCloser, stream bool, w *wire, p *pace) *body {
	return &body{Closer: in, reader: bufio.NewReader(in), isStream: stream, wire: w, pace: p}
}

// Read reads the next piece. Events of a stream are read at the server's pace.
func (b *body) Read(p []byte) (int, error) {
	for len(b.ready) == 0 && b.err == nil {
		if b.isStream {
			b.readEvent()
		} else {
			b.readMessage()
		}
	}
	if len(b.ready) == 0 {
		return 0, b.err
	}
	n := copy(p, b.ready)
	b.ready = b.ready[n:]
	return n, nil
}

// readMessage reads the whole body. A body that ends early is passed to the client unchanged.
func (b *body) readMessage() {
	var all boundedMessage
	for b.err == nil {
		piece, err := b.reader.ReadSlice('\n')
		all.add(piece)
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			b.err = err
		}
	}
	b.ready = all.clientMessage(b.wire)
	if all.exceedsLimit() && b.ready == nil {
		b.err = errTooLarge
	}
}

// readEvent reads the next event of a stream, with the empty line at its end.
func (b *body) readEvent() {
	var fields []byte
	var data boundedMessage
	hasData := false
	for first, size := true, 0; ; {
		piece, err := b.reader.ReadSlice('\n')
		partial := errors.Is(err, bufio.ErrBufferFull)
		size += len(piece)
		isData := first && bytes.HasPrefix(piece, []byte("data:")) || !first && hasData && data.lineOpen
		switch {
		case isData:
			hasData = true
			data.addLine(piece, first, partial)
		case len(fields)+len(piece) > maxLine:
			b.err = errTooLarge
			return
		case first && len(bytes.TrimRight(piece, "\r\n")) == 0 && (err == nil || size == 0):
			b.finishEvent(fields, hasData, &data, size, err)
			return
		default:
			fields = append(fields, piece...)
		}
		if err != nil && !partial {
			b.finishEvent(fields, hasData, &data, size, err)
			return
		}
		first = !partial
	}
}

// finishEvent makes an event with these fields and this data ready.
func (b *body) finishEvent(fields []byte, hasData bool, data *boundedMessage, size int, err error) {
	b.err = err
	if size == 0 {
		return
	}
	b.ready = fields
	if hasData {
		message := data.clientMessage(b.wire)
		if message == nil && data.exceedsLimit() {
			b.ready, b.err = nil, errTooLarge
			return
		}
		b.ready = append(append(b.ready, "data: "...), bytes.TrimRight(message, " ")...)
		b.ready = append(b.ready, '\n')
	}
	if err == nil {
		b.ready = append(b.ready, '\n')
		if !b.pace.noteAnswer() {
			b.pace.wait(1, 0)
		}
	}
	b.pace.wait(0, size)
}

// boundedMessage is a message that comes in pieces. It keeps the whole, or both ends if the message is
// too large.
type boundedMessage struct {
	chunks   [][]byte // growing one slice would take twice the memory
	tail     []byte
	size     int
	lineOpen bool // more of its line comes
}

func (m *boundedMessage) exceedsLimit() bool { return m.size > maxMessage }

// add adds a piece.
func (m *boundedMessage) add(piece []byte) {
	m.size += len(piece)
	if m.exceedsLimit() && len(m.chunks) > 0 {
		if len(m.chunks) > 1 {
			m.tail, m.chunks = bytes.Clone(m.chunks[len(m.chunks)-1]), m.chunks[:1]
		}
		m.tail = append(m.tail, piece...)
		m.tail = append(m.tail[:0], m.tail[max(0, len(m.tail)-edgeSize):]...)
		return
	}
	last := len(m.chunks) - 1
	if last < 0 || len(m.chunks[last])+len(piece) > cap(m.chunks[last]) {
		m.chunks, last = append(m.chunks, make([]byte, 0, max(len(piece), min(m.size, 1<<20)))), last+1
	}
	m.chunks[last] = append(m.chunks[last], piece...)
}

// addLine adds a piece of a line of data: the first one, or one of the rest.
func (m *boundedMessage) addLine(piece []byte, first, partial bool) {
	if first {
		piece = bytes.TrimLeft(piece[len("data:"):], " \t")
	}
	m.lineOpen = partial
	m.add(bytes.TrimRight(piece, "\r\n"))
	if !partial {
		m.add([]byte{' '}) // a line break of several lines of data is white space
	}
}

// clientMessage returns what the client reads of the message; nil if it is too large and it is unknown
// which request it answers.
func (m *boundedMessage) clientMessage(w *wire) []byte {
	if m.exceedsLimit() {
		head := m.chunks[0]
		return w.tooLarge(head[:min(len(head), edgeSize)], append(head[max(0, len(head)-edgeSize):len(head):len(head)], m.tail...))
	}
	if len(m.chunks) == 1 {
		return w.receive(m.chunks[0])
	}
	joined := make([]byte, 0, m.size)
	for i, chunk := range m.chunks {
		joined, m.chunks[i] = append(joined, chunk...), nil
	}
	return w.receive(joined)
}

// tapTransport returns a transport of the user whose messages are shown to the wire. Only an HTTP
// transport is changed; for others see tapConn.
func (w *wire) tapTransport(t mcp.Transport) mcp.Transport {
	client := func(clone *http.Client) *http.Client {
		if clone == nil {
			clone = http.DefaultClient
		}
		shown := *clone
		shown.Transport = &tap{clone.Transport, w, nil}
		return &shown
	}
	switch t := t.(type) {
	case *mcp.StreamableClientTransport:
		clone := *t
		clone.HTTPClient = client(t.HTTPClient)
		return &clone
	case *mcp.SSEClientTransport:
		clone := *t
		clone.HTTPClient = client(t.HTTPClient)
		return &clone
	}
	return t
}
