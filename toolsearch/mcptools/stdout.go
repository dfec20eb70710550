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

// messages is the part of a text that is messages, one on each line. A line that is longer
// than the buffer is kept until its end if it begins like a message.
type messages struct {
	in    *bufio.Reader
	other func(line []byte) // receives each line that is not a message
	ended func()            // is told of the end
	wire  *wire
	pace  *pace
	ready []byte
	err   error
	long  bool // in a line that is longer than the buffer,
	keep  bool // which begins like a message:
	line  bounded
}

func newMessages(r io.Reader, other func([]byte), ended func(), w *wire, p *pace) *messages {
	return &messages{in: bufio.NewReaderSize(r, maxLine), other: other, ended: ended, wire: w, pace: p}
}

// Read reads the next piece of the messages.
func (m *messages) Read(p []byte) (int, error) {
	for len(m.ready) == 0 && m.err == nil {
		m.next()
	}
	if len(m.ready) == 0 {
		return 0, m.err
	}
	n := copy(p, m.ready)
	m.ready = m.ready[n:]
	return n, nil
}

// next makes the next line ready if it is to be read.
func (m *messages) next() {
	piece, err := m.in.ReadSlice('\n')
	partial := errors.Is(err, bufio.ErrBufferFull)
	if err != nil && !partial {
		if m.err = err; err == io.EOF {
			m.ended()
		}
	}
	first := !m.long
	if first {
		piece = bytes.TrimLeft(bytes.TrimPrefix(piece, []byte("\uFEFF")), " \t\r\n")
		m.keep = len(piece) > 0 && (piece[0] == '{' || piece[0] == '[')
	}
	m.long = partial
	switch {
	case m.keep:
		if m.line.add(piece); !partial {
			m.take()
		}
	case first && len(piece) > 0:
		m.pace.wait(1, len(piece))
		m.other(bytes.TrimRight(piece, " \t\r\n"))
	default: // the rest of a line that is not a message
		m.pace.wait(0, len(piece))
	}
}

// take makes a line ready if it is a message.
func (m *messages) take() {
	size := m.line.size
	line := bytes.TrimRight(m.line.taken(m.wire), " \t\r\n")
	over := m.line.over()
	m.line = bounded{}
	if over && line == nil {
		m.ready, m.err = nil, errTooLarge
		return
	}
	is, answer := isMessage(line)
	if !answer || !m.pace.answered() {
		m.pace.wait(1, size)
	}
	if is {
		m.ready = append(line, '\n') // in place of what was cut off, or of the end of the text
		return
	}
	m.other(line[:min(len(line), maxLine)])
}

// isMessage reports whether the client can read a line, and whether it answers a request.
func isMessage(line []byte) (is, answer bool) {
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

// mostNested is how many levels of lists and objects a message may have. The client refuses
// the whole of a message that has more than a thousand.
const mostNested = 500

// levels cuts what is nested too deeply from a text of JSON that comes in pieces.
type levels struct {
	depth           int
	inText, escaped bool
}

// cut replaces lists and objects beyond the last level by zeros, in place.
func (l *levels) cut(data []byte) []byte {
	out := data[:0]
	for _, c := range data {
		drop := l.depth > mostNested
		switch {
		case l.escaped:
			l.escaped = false
		case l.inText:
			l.escaped, l.inText = c == '\\', c != '"'
		case c == '"':
			l.inText = true
		case c == '{' || c == '[':
			if l.depth++; l.depth == mostNested+1 {
				out = append(out, '0')
				continue
			}
		case c == '}' || c == ']':
			l.depth = max(0, l.depth-1)
		}
		if !drop {
			out = append(out, c)
		}
	}
	return out
}
