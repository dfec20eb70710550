// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package main

// This file asks for queries, one after another.

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"golang.org/x/term"

	"github.com/leanctx/leanctx/toolsearch"
)

// prompt answers queries until there are no more. A number explains that place of the
// answer before.
func (a *searcher) prompt(ctx context.Context, s streams) error {
	ask := newAsker(s, a.common)
	if ask.interactive {
		a.common.note(s, "%s. Type what a model would search for, or the number of a found tool to see why it was found; an empty line ends.", plural(len(a.tools), "tool"))
	}
	talk := dialog{searcher: a, echo: !ask.interactive && !a.common.json && !a.common.quiet}
	a.common.quiet = true // the count of tools is said once
	for {
		line, err := ask.line()
		line = strings.TrimSpace(line)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case line == "" && errors.Is(err, io.EOF), line == "" && err == nil && ask.interactive:
			return nil
		case line == "" && err != nil:
			return err
		case line == "":
			continue
		}
		if err := talk.say(ctx, s, line); err != nil {
			return err
		}
	}
}

// dialog is what was asked last, and what was found.
type dialog struct {
	*searcher
	echo  bool // queries are repeated in the output, since nobody types them there
	query string
	hits  []hitJSON
}

// say answers a line: a query, or the place of a hit.
func (t *dialog) say(ctx context.Context, s streams, line string) (err error) {
	if n, err := strconv.Atoi(line); err == nil && n >= 1 && n <= len(t.hits) && !t.common.json {
		t.explain(s, t.query, t.hits[n-1].Name)
		return nil
	}
	if t.echo {
		fmt.Fprintf(s.out, "%s\n", t.painter.bold("> "+line))
	}
	t.query = line
	t.hits, err = t.answer(ctx, s, line)
	return err
}

// explain says why a tool ranks where it does.
func (a *searcher) explain(s streams, query, name string) {
	why := ""
	if x, can := a.x.(toolsearch.Explainer); can {
		why = x.Explain(toolsearch.Query{Text: query, Limit: a.k}, name)
	}
	if why == "" {
		why = "this index gives no explanations"
	}
	showWhy(s, a.painter, why)
}

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
