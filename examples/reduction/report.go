// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"io/fs"
	"strings"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/model"

	"github.com/einolean/einolean/demo/lab"
	"github.com/einolean/einolean/store"
)

// scene is everything that takes part.
type scene[M adk.MessageType] struct {
	store       *store.Dir
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

func newScene[M adk.MessageType](ctx context.Context, files fs.FS, kept *store.Dir, streaming bool) (*scene[M], error) {
	s := &scene[M]{store: kept, witness: &witness{}, events: &lab.Events{}}
	var err error
	s.lean, err = lab.New(streaming, func(chat model.BaseModel[M]) (*adk.TypedChatModelAgent[M], error) {
		return newAgent(ctx, chat, newTools(files, s.witness), kept, s.events.Add)
	})
	if err != nil {
		return nil, err
	}
	s.lean.BeforeCalls(s.events.Next)
	s.plain, err = lab.New(streaming, func(chat model.BaseModel[M]) (*adk.TypedChatModelAgent[M], error) {
		return lab.PlainAgent(ctx, chat, newTools(files, &witness{}))
	})
	return s, err
}

// play has the conversation with both agents, prints what happens, and looks at
// the store in the end.
func (s *scene[M]) play(ctx context.Context, screen *lab.Screen, questions []lab.Question, dir string) error {
	screen.Title("reduction", "An agent whose tools return up to 5 MB, and an offline model: long results are cut,\n"+
		"old ones cleared, and the model reads back what it needs.")
	wrong := 0
	for _, q := range questions {
		first := s.lead.calls
		if err := s.ask(ctx, q.Text); err != nil {
			return err
		}
		answer := lab.Answer{Text: s.with.Answer(), With: s.with.Tokens(), Without: s.without.Tokens()}
		if !q.Holds(answer.Text) {
			answer.Wrong = "WRONG, it should hold " + strings.Join(q.Truth(), " and ")
			wrong++
		} else if !q.Holds(s.without.Answer()) {
			answer.Wrong = "WRONG without the middleware"
			wrong++
		}
		screen.Show(q.Text, lab.Steps(s.with, s.without, s.events.From(first)), answer)
	}
	files, size, err := s.verify(ctx, screen, dir)
	switch {
	case err != nil:
		return err
	case wrong > 0:
		return fmt.Errorf("%d answers are wrong", wrong)
	case s.lost > 0:
		return fmt.Errorf("an image was missing in %d model calls", s.lost)
	}
	s.totals(screen)
	screen.Print("The store holds %d originals, %s bytes, each with the SHA-256 of what its tool returned.\n", files, lab.Thousands(size))
	if s.drawn {
		screen.Print("The image that came with the load stayed in the conversation.\n")
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

// totals ends the demo with what the conversation cost.
func (s *scene[M]) totals(screen *lab.Screen) {
	a, b := s.lead, s.baseline
	screen.Total("Every answer is right. %s tokens instead of %s, %s fewer.", lab.Thousands(a.tokens), lab.Thousands(b.tokens), lab.Ratio(b.tokens, a.tokens))
	screen.Print("Largest call: %s tokens instead of %s. Calls over %s tokens: %d instead of %d.\n",
		lab.Thousands(a.largest), lab.Thousands(b.largest), lab.Thousands(window), a.huge, b.huge)
	cut, cleared, reads, size := s.events.Counts()
	screen.Print("Model calls: %d instead of %d. Results cut: %d, cleared: %d, read back: %d times, %s bytes.\n",
		a.calls, b.calls, cut, cleared, reads, lab.Thousands(size))
}
