// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package main

// Reading lines that a person types.

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"

	"golang.org/x/term"
)

// lineReader reads lines. It offers editing and a history on a terminal that supports escape sequences.
// interactive reports whether a person types.
func lineReader(s streams, o options) (line func() (string, error), interactive bool) {
	in := bufio.NewReader(s.in)
	plain := func() (string, error) { return in.ReadString('\n') }
	keyboard, ok := s.in.(*interruptibleReader)
	if !ok {
		return plain, false
	}
	file, ok := keyboard.r.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) {
		return plain, false
	}
	if escapes, err := o.colored(s.out); err != nil || !escapes || !isTerminal(s.out) {
		return func() (string, error) {
			fmt.Fprint(s.err, "> ")
			return plain()
		}, true
	}
	editor := term.NewTerminal(struct {
		io.Reader
		io.Writer
	}{file, s.out}, "> ")
	return func() (string, error) { return readEditedLine(editor, int(file.Fd())) }, true
}

// readEditedLine reads a line from a terminal, which is in raw mode only meanwhile.
func readEditedLine(editor *term.Terminal, fd int) (string, error) {
	oldState, err := term.MakeRaw(fd)
	if err != nil {
		return "", err
	}
	defer func() { _ = term.Restore(fd, oldState) }()
	if columns, rows, err := term.GetSize(fd); err == nil {
		_ = editor.SetSize(columns, rows)
	}
	return editor.ReadLine()
}

// interruptibleReader is a reader whose Read returns when the context ends.
type interruptibleReader struct {
	ctx context.Context
	r   io.Reader

	waits    chan error // result of an abandoned Read; nil if no Read was abandoned
	received []byte     // data of that Read
	unread   []byte     // received and not yet returned
}

func (p *interruptibleReader) Read(dst []byte) (int, error) {
	if len(p.unread) == 0 {
		if p.waits == nil {
			p.waits = make(chan error, 1)
			go func(answer chan<- error) {
				data := make([]byte, 64<<10)
				n, err := p.r.Read(data)
				p.received = data[:n]
				answer <- err
			}(p.waits)
		}
		select {
		case <-p.ctx.Done():
			return 0, p.ctx.Err()
		case err := <-p.waits:
			p.waits, p.unread = nil, p.received
			if len(p.unread) == 0 {
				return 0, err
			}
		}
	}
	n := copy(dst, p.unread)
	p.unread = p.unread[n:]
	return n, nil
}
