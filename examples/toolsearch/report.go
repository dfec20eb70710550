// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/cloudwego/eino/adk"

	"github.com/einolean/einolean/demo/lab"
	"github.com/einolean/einolean/demo/library"
)

// sum adds up what an agent's model calls were sent, in tokens.
type sum struct{ calls, definitions, all int }

func sumOf[M adk.MessageType](requests []lab.Request[M]) (s sum) {
	for _, r := range requests {
		s.add(sum{1, r.Definitions, r.Tokens()})
	}
	return s
}

func (s *sum) add(t sum) {
	s.calls += t.calls
	s.definitions += t.definitions
	s.all += t.all
}

func report[M adk.MessageType](ctx context.Context, screen *lab.Screen, lean, plain *bench[M]) error {
	screen.Title("toolsearch", fmt.Sprintf("An agent with %d tools, of which %d work, and an offline model, without the\n"+
		"middleware and with it: the tools and tokens of each model call. A token is taken to be 4 bytes.", lean.tools, library.Working()))
	wrong := 0
	var with, without sum
	for _, t := range tasks {
		var a, b lab.Outcome[M]
		for _, q := range t {
			var err error
			if a, err = lean.Ask(ctx, a.Messages, q.Text); err != nil {
				return err
			}
			if b, err = plain.Ask(ctx, b.Messages, q.Text); err != nil {
				return err
			}
			answer := lab.Answer{Text: a.Answer(), With: a.Tokens(), Without: b.Tokens()}
			if !q.Holds(answer.Text) {
				answer.Wrong = "WRONG, it should hold " + strings.Join(q.Truth(), " and ")
				wrong++
			}
			screen.Show(q.Text, lab.Steps(a, b, nil), answer)
			with.add(sumOf(a.Requests))
			without.add(sumOf(b.Requests))
		}
	}
	if wrong > 0 {
		return fmt.Errorf("%d answers are wrong", wrong)
	}
	screen.Total("Every answer is right. %s tokens instead of %s, %s fewer.",
		lab.Thousands(with.all), lab.Thousands(without.all), lab.Ratio(without.all, with.all))
	screen.Print("Tool definitions alone: %s tokens instead of %s, %s fewer.\n"+
		"Model calls: %d instead of %d, since searching takes some.\n",
		lab.Thousands(with.definitions), lab.Thousands(without.definitions), lab.Ratio(without.definitions, with.definitions), with.calls, without.calls)
	return nil
}
