// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package main

// Lines that a person types.

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"

	"golang.org/x/term"
)

// lineReader reads lines: with editing and a history on a terminal that takes escape sequences,
// plainly elsewhere. interactive says that a person types.
func lineReader(s streams, o options) (line func() (string, error), interactive bool) {
	in := bufio.NewReader(s.in)
	plain := func() (string, error) { return in.ReadString('\n') }
	keyboard, on := s.in.(*patient)
	if !on {
		return plain, false
	}
	file, is := keyboard.from.(*os.File)
	if !is || !term.IsTerminal(int(file.Fd())) {
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
	return func() (string, error) { return edited(editor, int(file.Fd())) }, true
}

// edited reads a line from a terminal, which is in its raw mode only while somebody types.
func edited(editor *term.Terminal, fd int) (string, error) {
	before, err := term.MakeRaw(fd)
	if err != nil {
		return "", err
	}
	defer func() { _ = term.Restore(fd, before) }()
	if columns, rows, err := term.GetSize(fd); err == nil {
		_ = editor.SetSize(columns, rows)
	}
	return editor.ReadLine()
}

// patient is a reader whose Read ends when the context does, as where a program waits
// for somebody to type.
type patient struct {
	ctx  context.Context
	from io.Reader

	waits chan error // of a Read that was given up, nil if there is none
	came  []byte     // by that
	left  []byte     // read, and not asked for yet
}

func (p *patient) Read(to []byte) (int, error) {
	if len(p.left) == 0 {
		if p.waits == nil {
			p.waits = make(chan error, 1)
			go func(answer chan<- error) {
				data := make([]byte, 64<<10)
				n, err := p.from.Read(data)
				p.came = data[:n]
				answer <- err
			}(p.waits)
		}
		select {
		case <-p.ctx.Done():
			return 0, p.ctx.Err()
		case err := <-p.waits:
			p.waits, p.left = nil, p.came
			if len(p.left) == 0 {
				return 0, err
			}
		}
	}
	n := copy(to, p.left)
	p.left = p.left[n:]
	return n, nil
}
