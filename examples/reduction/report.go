// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package main

// This file has the conversation with both agents and prints what happened.

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/model"

	"github.com/leanctx/leanctx/examples/lab"
	"github.com/leanctx/leanctx/reduction"
)

// scene is everything that takes part.
type scene[M adk.MessageType] struct {
	store       *reduction.DirBackend
	lean, plain *lab.Agent[M]
	witness     *witness // of what the lean agent's tools return
	events      *lab.Events

	with, without  lab.Outcome[M] // of the last question
	lead, baseline sum
	drawn          bool // a tool has returned an image
	lost           int  // requests without it
}

// sum is what all model calls of an agent cost.
type sum struct{ calls, tokens, largest, huge int }

// window is how many tokens the larger models of today take at once.
const window = 200_000

func newScene[M adk.MessageType](ctx context.Context, files fs.FS, store *reduction.DirBackend, streaming bool) (*scene[M], error) {
	s := &scene[M]{store: store, witness: &witness{}, events: &lab.Events{}}
	var err error
	s.lean, err = lab.New(streaming, func(chat model.BaseModel[M]) (*adk.TypedChatModelAgent[M], error) {
		return newAgent(ctx, chat, newTools(files, s.witness), store, s.events.Add)
	})
	if err != nil {
		return nil, err
	}
	s.lean.BeforeCalls(s.events.Next)
	s.plain, err = lab.New(streaming, func(chat model.BaseModel[M]) (*adk.TypedChatModelAgent[M], error) {
		return newPlainAgent(ctx, chat, newTools(files, &witness{}))
	})
	return s, err
}

// play has the conversation with both agents, prints what happens, and looks at
// the store in the end.
func (s *scene[M]) play(ctx context.Context, out io.Writer, questions []lab.Question, dir string) error {
	fmt.Fprint(out, "An agent whose tools return a lot, an offline model, and one conversation of several runs. For each\n"+
		"model call: its tokens with the middleware and without, and what happened. Tokens are estimates, a\n"+
		"quarter of the bytes of messages and tool definitions. Each answer is checked against one worked out\n"+
		"by other means.\n\n")
	wrong := 0
	for _, q := range questions {
		first := s.lead.calls
		if err := s.ask(ctx, q.Text); err != nil {
			return err
		}
		fmt.Fprintf(out, "> %s\n", q.Text)
		s.print(out, s.events.From(first))
		verdict := "ok"
		if !q.Holds(s.with.Answer()) {
			verdict = "WRONG, it should hold " + strings.Join(q.Truth(), " and ")
			wrong++
		}
		if !q.Holds(s.without.Answer()) {
			verdict += "; WRONG without the middleware"
			wrong++
		}
		fmt.Fprintf(out, "%s\n  %s\n\n", lab.Indent(s.with.Answer(), "  "), verdict)
	}
	s.totals(out)
	bad, err := s.verify(ctx, out, dir)
	switch {
	case err != nil:
		return err
	case wrong > 0:
		return fmt.Errorf("%d answers are wrong", wrong)
	case bad > 0:
		return fmt.Errorf("%d files in the store are not what they should be", bad)
	case s.lost > 0:
		return fmt.Errorf("an image was missing in %d model calls", s.lost)
	}
	fmt.Fprintln(out, "\nEvery answer is right, and every original can be read back, byte for byte.")
	if s.drawn {
		fmt.Fprintln(out, "The image that came with the load stayed in the conversation.")
	}
	return nil
}

func (s *scene[M]) ask(ctx context.Context, text string) (err error) {
	if s.with, err = s.lean.Ask(ctx, s.with.Messages, text); err != nil {
		return err
	}
	if s.without, err = s.plain.Ask(ctx, s.without.Messages, text); err != nil {
		return err
	}
	for _, r := range s.with.Requests {
		s.lead.add(r.Tokens())
		if images := lab.Images(r.Messages); images > 0 {
			s.drawn = true
		} else if s.drawn {
			s.lost++
		}
	}
	for _, r := range s.without.Requests {
		s.baseline.add(r.Tokens())
	}
	return nil
}

func (s *sum) add(tokens int) {
	s.calls++
	s.tokens += tokens
	if s.largest = max(s.largest, tokens); tokens > window {
		s.huge++
	}
}

// left is the width of the column of the costs.
const left = 23

// print prints a line for each model call, with what became of results before it.
func (s *scene[M]) print(out io.Writer, calls []lab.Happened) {
	fmt.Fprint(out, lab.Columns(left, "    with    without", "what happened"))
	call := 0
	for _, t := range s.with.Turns {
		for _, r := range t.Results {
			fmt.Fprint(out, lab.Columns(left, "", lab.Became(calls[call].Tools[r.ID], r.Text)))
		}
		if len(t.Results) > 0 {
			continue
		}
		if cleared := calls[call].Cleared; len(cleared) > 0 {
			fmt.Fprint(out, lab.Columns(left, "", lab.TakenOut(cleared)))
		}
		head := s.costs(call)
		for _, text := range lab.Did(t) {
			fmt.Fprint(out, lab.Columns(left, head, text))
			head = ""
		}
		call++
	}
	for ; call < len(s.without.Requests); call++ {
		fmt.Fprint(out, lab.Columns(left, s.costs(call), ""))
	}
}

// costs is the left part of a line: what a model call cost, and what it cost
// without the middleware.
func (s *scene[M]) costs(call int) string {
	cell := func(requests []lab.Request[M]) string {
		if call >= len(requests) {
			return "-"
		}
		return lab.Thousands(requests[call].Tokens())
	}
	return fmt.Sprintf("%8s %10s", cell(s.with.Requests), cell(s.without.Requests))
}

// totals is the closing table of the costs.
func (s *scene[M]) totals(out io.Writer) {
	line := func(title, with, without, more string) {
		fmt.Fprintln(out, strings.TrimRight(fmt.Sprintf("%-42s %10s %12s  %s", title, with, without, more), " "))
	}
	tokens := func(title string, with, without int) {
		line(title, lab.Thousands(with), lab.Thousands(without), lab.Ratio(without, with))
	}
	a, b := s.lead, s.baseline
	line("", "with", "without", "")
	line("model calls", fmt.Sprint(a.calls), fmt.Sprint(b.calls), "")
	tokens("tokens, all calls", a.tokens, b.tokens)
	tokens("tokens, the largest call", a.largest, b.largest)
	line("calls of more than "+lab.Thousands(window)+" tokens", fmt.Sprint(a.huge), fmt.Sprint(b.huge), "")
	cut, cleared, reads, size := s.events.Counts()
	fmt.Fprintf(out, "\n%d results were cut, %d taken out later, and read_file was called %d times, for %s bytes in all.\n\n",
		cut, cleared, reads, lab.Thousands(size))
}
