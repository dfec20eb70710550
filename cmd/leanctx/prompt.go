// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package main

// This file reads lines that a person types.

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"

	"golang.org/x/term"
)

// asker reads lines: with editing and a history on a terminal that takes escape
// sequences, plainly elsewhere.
type asker struct {
	interactive bool // a person types
	editor      *term.Terminal
	fd          int
	plain       *bufio.Reader
	err         io.Writer
}

func newAsker(s streams, o options) *asker {
	a := &asker{plain: bufio.NewReader(s.in), err: s.err}
	keyboard, on := s.in.(*patient)
	if !on {
		return a
	}
	file, is := keyboard.from.(*os.File)
	if !is || !term.IsTerminal(int(file.Fd())) {
		return a
	}
	a.interactive, a.fd = true, int(file.Fd())
	if escapes, err := o.colored(s.out); err == nil && escapes && isTerminal(s.out) {
		a.editor = term.NewTerminal(struct {
			io.Reader
			io.Writer
		}{file, s.out}, "> ")
	}
	return a
}

// line reads a line. The terminal is in its raw mode only while somebody types.
func (a *asker) line() (string, error) {
	if a.editor == nil {
		if a.interactive {
			fmt.Fprint(a.err, "> ")
		}
		return a.plain.ReadString('\n')
	}
	before, err := term.MakeRaw(a.fd)
	if err != nil {
		return "", err
	}
	defer func() { _ = term.Restore(a.fd, before) }()
	if columns, rows, err := term.GetSize(a.fd); err == nil {
		_ = a.editor.SetSize(columns, rows)
	}
	return a.editor.ReadLine()
}

// patient is a reader whose Read ends when the context does, as where a program waits
// for somebody to type.
type patient struct {
	ctx  context.Context
	from io.Reader

	waits chan read // of a Read that was given up, nil if there is none
	left  []byte    // read, and not asked for yet
}

type read struct {
	data []byte
	err  error
}

func (p *patient) Read(to []byte) (int, error) {
	if len(p.left) == 0 {
		if p.waits == nil {
			p.waits = make(chan read, 1)
			go func(answer chan<- read) {
				data := make([]byte, 64<<10)
				n, err := p.from.Read(data)
				answer <- read{data[:n], err}
			}(p.waits)
		}
		select {
		case <-p.ctx.Done():
			return 0, p.ctx.Err()
		case got := <-p.waits:
			p.waits, p.left = nil, got.data
			if len(got.data) == 0 {
				return 0, got.err
			}
		}
	}
	n := copy(to, p.left)
	p.left = p.left[n:]
	return n, nil
}
