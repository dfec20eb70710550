// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package mcptools

// This file reads what a program writes to its standard output. Many write more than
// messages there: a banner, a debug print, a line of a log. Other clients pass over such
// lines, and so does this one.

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// messages is the part of a text that is messages, one on each line. A line that is longer
// than the buffer is taken for what its first byte says.
type messages struct {
	in    *bufio.Reader
	other func(line []byte) // receives each line that is not a message
	ended func()            // is told of the end
	ready []byte
	err   error
	long  bool // in a line that is longer than the buffer,
	keep  bool // which is a message
}

func newMessages(r io.Reader, other func([]byte), ended func()) *messages {
	return &messages{in: bufio.NewReaderSize(r, maxLine), other: other, ended: ended}
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

// next makes the next line, or piece of a long one, ready if it is to be read.
func (m *messages) next() {
	piece, err := m.in.ReadSlice('\n')
	partial := errors.Is(err, bufio.ErrBufferFull)
	if err != nil && !partial {
		if m.err = err; err == io.EOF {
			m.ended()
		}
	}
	whole := !m.long && !partial
	if !m.long {
		piece = bytes.TrimLeft(bytes.TrimPrefix(piece, []byte("\uFEFF")), " \t\r\n")
		m.keep = len(piece) > 0 && (piece[0] == '{' || piece[0] == '[')
	}
	if whole {
		piece = bytes.TrimRight(piece, " \t\r\n")
		m.keep = m.keep && isMessage(piece)
	}
	switch {
	case len(piece) == 0:
	case m.keep:
		m.ready = piece
		if whole {
			m.ready = append(piece, '\n') // in place of what was cut off, or of the end of the text
		}
	case !m.long:
		m.other(piece)
	}
	m.long = partial
}

// isMessage reports whether the client can read a line.
func isMessage(line []byte) bool {
	if line[0] == '{' {
		_, err := jsonrpc.DecodeMessage(line)
		return err == nil
	}
	var batch []json.RawMessage
	if json.Unmarshal(line, &batch) != nil {
		return false
	}
	for _, m := range batch {
		if _, err := jsonrpc.DecodeMessage(m); err != nil {
			return false
		}
	}
	return len(batch) > 0
}
