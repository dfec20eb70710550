// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/cloudwego/eino/adk"

	"github.com/einolean/einolean/demo/lab"
	"github.com/einolean/einolean/window"
	"github.com/einolean/einolean/window/inspect"
)

const name = "examples/both" // of the conversation

// run has the conversation with both middlewares, with each one and with none. It
// is an error if an answer is wrong, a loaded tool vanishes, or an answer of
// tool_search is not as it was. The window of the first agent goes into the file page,
// unless that is "".
func run[M adk.MessageType](ctx context.Context, screen *lab.Screen, streaming bool, page string) error {
	dir, err := os.MkdirTemp("", "einolean-both-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	var trials []*trial[M]
	for i, use := range []parts{{search: true, reduce: true}, {search: true}, {reduce: true}, {}} {
		use.see = window.New(window.Config{Conversation: func(context.Context) (string, error) { return name, nil }})
		t, err := newTrial[M](ctx, []string{"both", "toolsearch", "reduction", "none"}[i], filepath.Join(dir, fmt.Sprint(i)), streaming, use)
		if err != nil {
			return err
		}
		defer t.store.Close()
		trials = append(trials, t)
	}
	if err := play(ctx, screen, trials); err != nil {
		return err
	}
	return show(screen, trials[0].see.Conversation(name), page)
}

// show prints what was in the window of each call, and writes the page.
func show(screen *lab.Screen, c *window.Conversation, page string) error {
	screen.Print("\nWhat was in the window of each call of the first agent:\n\n")
	if err := inspect.WriteText(screen.Writer(), c, inspect.TextOptions{Color: screen.Colour()}); err != nil {
		return err
	}
	if page == "" {
		return nil
	}
	if err := inspect.WriteFile(page, c); err != nil {
		return err
	}
	screen.Print("\nThe same as a page, with every part and why it is there: open %s\n", page)
	return nil
}

func play[M adk.MessageType](ctx context.Context, screen *lab.Screen, trials []*trial[M]) error {
	both, none := trials[0], trials[len(trials)-1]
	screen.Title("both", fmt.Sprintf("An agent with %d tools, and both middlewares: toolsearch for the tools, reduction\n"+
		"for their results. One conversation of %d questions.", both.tools, len(lab.FileQuestions)))
	for _, q := range lab.FileQuestions {
		first := both.calls
		answer := lab.Answer{}
		for _, t := range trials {
			right, err := t.ask(ctx, q)
			if err != nil {
				return err
			}
			if !right {
				answer.Wrong = fmt.Sprintf("WRONG with %s, it should hold %s", t.title, strings.Join(q.Truth(), " and "))
			}
		}
		answer.Text, answer.With, answer.Without = both.last.Answer(), both.last.Tokens(), none.last.Tokens()
		screen.Show(q.Text, lab.Steps(both.last, none.last, both.events.From(first)), answer)
	}
	return both.verdict(screen, trials)
}

// table is what the conversation cost each agent.
func table[M adk.MessageType](screen *lab.Screen, trials []*trial[M]) {
	const row = "  %-14s %12s %12s %14s %8s\n"
	screen.Print("\n"+row, "middlewares", "model calls", "tokens", "largest call", "saved")
	all := trials[len(trials)-1].tokens
	for _, t := range trials {
		screen.Print(row, t.title, fmt.Sprint(t.calls), lab.Thousands(t.tokens), lab.Thousands(t.largest), lab.Ratio(all, t.tokens))
	}
}

// verdict ends the demo: it says whether everything that must stay has stayed.
func (t *trial[M]) verdict(screen *lab.Screen, trials []*trial[M]) error {
	wrong := 0
	for _, each := range trials {
		wrong += each.wrong
	}
	switch {
	case wrong > 0:
		return fmt.Errorf("%d answers are wrong", wrong)
	case t.loaded.lost > 0:
		return fmt.Errorf("loaded tools were missing %d times", t.loaded.lost)
	case t.found.lost > 0:
		return fmt.Errorf("answers of tool_search were incomplete %d times", t.found.lost)
	}
	table(screen, trials)
	all := trials[len(trials)-1]
	screen.Total("Every answer is right. %s tokens instead of %s, %s fewer.", lab.Thousands(t.tokens), lab.Thousands(all.tokens), lab.Ratio(all.tokens, t.tokens))
	cut, cleared, reads, _ := t.events.Counts()
	screen.Print("Results cut: %d, cleared: %d, read back: %d times. Every tool that was loaded stayed loaded.\n", cut, cleared, reads)
	return nil
}
