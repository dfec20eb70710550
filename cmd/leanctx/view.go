// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package main

// This file is the command that shows recorded conversations.

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"github.com/leanctx/leanctx/window"
	"github.com/leanctx/leanctx/window/inspect"
)

// viewJSON is what --json writes.
type viewJSON struct {
	Schema        string             `json:"schema"`
	Conversations []conversationJSON `json:"conversations"`
}

type conversationJSON struct {
	ID     string        `json:"id"`
	Totals window.Totals `json:"totals"`
}

func runView(ctx context.Context, s streams, args []string) error {
	var common options
	f := flags(s, "view", &common)
	page := f.String("o", "", "the HTML file to write; without it, lines are printed")
	id := f.String("conversation", "", "which conversation of the file; without it, all in the terminal and the last on the page")
	rest, err := parse(f, args)
	if err != nil {
		return err
	}
	if len(rest) != 1 {
		return fail(exitUsage, "it takes one file that window.Collector.WriteJSON wrote")
	}
	color, err := common.colored(s.out)
	if err != nil {
		return err
	}
	all, err := conversations(s, rest[0], *id)
	if err != nil {
		return err
	}
	switch {
	case common.json:
		v := viewJSON{Schema: "leanctx.view/1"}
		for _, c := range all {
			v.Conversations = append(v.Conversations, conversationJSON{c.ID, c.Totals()})
		}
		return writeJSON(s.out, v)
	case *page != "":
		if err := inspect.WriteFile(*page, all[len(all)-1]); err != nil {
			return err
		}
		common.note(s, "wrote %s", *page)
		return nil
	}
	for i, c := range all {
		if i > 0 {
			fmt.Fprintln(s.out)
		}
		if err := inspect.WriteText(s.out, c, inspect.TextOptions{Color: color, Width: columns(s.out)}); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// conversations reads those of a file, or the one with an ID.
func conversations(s streams, name, id string) ([]*window.Conversation, error) {
	text, err := readAll(s, name)
	if err != nil {
		return nil, err
	}
	all, err := window.ReadJSON(bytes.NewReader(text))
	if err != nil {
		return nil, fail(exitInput, "%s: %w", name, err)
	}
	if id != "" {
		all = slices.DeleteFunc(all, func(c *window.Conversation) bool { return c.ID != id })
	}
	if len(all) == 0 {
		return nil, fail(exitInput, "%s holds no such conversation", name)
	}
	return all, nil
}
