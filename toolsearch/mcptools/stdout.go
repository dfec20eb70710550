// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package mcptools

// Many programs write more than messages to their standard output: a banner, a debug print, a line
// of a log. Other clients pass over such lines, and so does this one.

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// messageReader reads the messages in a text, one on each line. A line longer than the buffer is kept
// until its end if it begins like a message.
type messageReader struct {
	reader     *bufio.Reader
	onOther    func(line []byte) // receives each line that is not a message
	onEnd      func()            // is called at the end
	wire       *wire
	pace       *pace
	ready      []byte
	err        error
	inLongLine bool // in a line that is longer than the buffer,
	keepLine   bool // which begins like a message:
	line       boundedMessage
}

func newMessageReader(r io.Reader, other func([]byte), ended func(), w *wire, p *pace) *messageReader {
	return &messageReader{reader: bufio.NewReaderSize(r, maxLine), onOther: other, onEnd: ended, wire: w, pace: p}
}

// Read reads the next piece of the messages.
func (m *messageReader) Read(p []byte) (int, error) {
	for len(m.ready) == 0 && m.err == nil {
		m.readPiece()
	}
	if len(m.ready) == 0 {
		return 0, m.err
	}
	n := copy(p, m.ready)
	m.ready = m.ready[n:]
	return n, nil
}

// readPiece reads the next piece of a line, and makes the line ready if it is complete.
func (m *messageReader) readPiece() {
	piece, err := m.reader.ReadSlice('\n')
	partial := errors.Is(err, bufio.ErrBufferFull)
	if err != nil && !partial {
		if m.err = err; err == io.EOF {
			m.onEnd()
		}
	}
	first := !m.inLongLine
	if first {
		piece = bytes.TrimLeft(bytes.TrimPrefix(piece, []byte("\uFEFF")), " \t\r\n")
		m.keepLine = len(piece) > 0 && (piece[0] == '{' || piece[0] == '[')
	}
	m.inLongLine = partial
	switch {
	case m.keepLine:
		if m.line.add(piece); !partial {
			m.finishLine()
		}
	case first && len(piece) > 0:
		m.pace.wait(1, len(piece))
		m.onOther(bytes.TrimRight(piece, " \t\r\n"))
	default: // the rest of a line that is not a message
		m.pace.wait(0, len(piece))
	}
}

// finishLine makes a line ready if it is a message.
func (m *messageReader) finishLine() {
	size := m.line.size
	line := bytes.TrimRight(m.line.clientMessage(m.wire), " \t\r\n")
	tooLong := m.line.exceedsLimit()
	m.line = boundedMessage{}
	if tooLong && line == nil {
		m.ready, m.err = nil, errTooLarge
		return
	}
	isRead, answer := isMessage(line)
	if !answer || !m.pace.noteAnswer() {
		m.pace.wait(1, size)
	}
	if isRead {
		m.ready = append(line, '\n') // in place of what was cut off, or of the end of the text
		return
	}
	m.onOther(line[:min(len(line), maxLine)])
}

// isMessage reports whether the client can read a line, and whether it answers a request.
func isMessage(line []byte) (ok, answer bool) {
	if line[0] == '{' {
		m, err := jsonrpc.DecodeMessage(line)
		_, answer = m.(*jsonrpc.Response)
		return err == nil, answer
	}
	var batch []json.RawMessage
	if json.Unmarshal(line, &batch) != nil {
		return false, false
	}
	for _, m := range batch {
		if _, err := jsonrpc.DecodeMessage(m); err != nil {
			return false, false
		}
	}
	return len(batch) > 0, false
}

// maxNesting is how many levels of lists and objects a message may have. The client rejects a message
// with more than a thousand levels.
const maxNesting = 500

// depthLimiter removes nesting beyond a limit from JSON that comes in pieces.
type depthLimiter struct {
	depth              int
	inString, inEscape bool
}

// limit replaces lists and objects beyond the last level by zeros, in place.
func (d *depthLimiter) limit(data []byte) []byte {
	out := data[:0]
	for _, c := range data {
		drop := d.depth > maxNesting
		switch {
		case d.inEscape:
			d.inEscape = false
		case d.inString:
			d.inEscape, d.inString = c == '\\', c != '"'
		case c == '"':
			d.inString = true
		case c == '{' || c == '[':
			if d.depth++; d.depth == maxNesting+1 {
				out = append(out, '0')
				continue
			}
		case c == '}' || c == ']':
			d.depth = max(0, d.depth-1)
		}
		if !drop {
			out = append(out, c)
		}
	}
	return out
}
