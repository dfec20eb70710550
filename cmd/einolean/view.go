// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package main

// einolean view shows recorded conversations.

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/cloudwego/eino/adk"

	"github.com/einolean/einolean/internal/display"
	"github.com/einolean/einolean/window"
	"github.com/einolean/einolean/window/inspect"
)

// The names of what viewJSON and callJSON are.
const (
	viewSchema = "einolean.view/1"
	callSchema = "einolean.view.call/1"
)

// viewJSON is what --json writes.
type viewJSON struct {
	Schema        string `json:"schema"`
	Conversations []struct {
		ID     string        `json:"id"`
		Totals window.Totals `json:"totals"`
	} `json:"conversations"`
}

// callJSON is what --json writes with --call.
type callJSON struct {
	Schema       string            `json:"schema"`
	Conversation string            `json:"conversation"`
	Call         *window.ModelCall `json:"call"`
	Parts        []window.Part     `json:"parts"`
	Texts        map[string]string `json:"texts"` // by the "text" of parts
}

// view says what to show, and where.
type view struct {
	common       options
	text         inspect.TextOptions
	file         string
	page         string
	conversation string
	open, follow bool
	lang         string
	call         int
}

func (v *view) flags(f *flag.FlagSet) {
	f.StringVar(&v.page, "o", "", "the HTML file to write; without it, lines are printed")
	f.BoolVar(&v.open, "open", false, "write the page (without -o to a temporary file) and open it in the browser")
	f.BoolVar(&v.follow, "follow", false, "print a line for each model call as it is written to the file, until interrupted; waits for a file that does not exist yet")
	f.IntVar(&v.call, "call", 0, "print the window of the model call with this number")
	f.StringVar(&v.lang, "lang", environmentLanguage(), "en or zh: the language of lines and pages; by default that of LANG, and on a page otherwise the browser's")
	f.StringVar(&v.conversation, "conversation", "", "which conversation of the file to show; by default all in the terminal, and the last on the page or with --call")
}

// environmentLanguage is zh where the environment asks for Chinese, as programs on a terminal do.
func environmentLanguage() string {
	if strings.HasPrefix(cmp.Or(os.Getenv("LC_ALL"), os.Getenv("LC_MESSAGES"), os.Getenv("LANG")), "zh") {
		return "zh"
	}
	return "en"
}

// check refuses flags that exclude each other.
func (v *view) check(rest []string, set map[string]bool) error {
	page := v.page != "" || v.open
	switch {
	case len(rest) != 1:
		return fail(exitUsage, "give one file written by window.Collector.WriteJSON or window.Config.Log")
	case v.follow && (page || v.common.json || set["call"]):
		return fail(exitUsage, "--follow prints lines; it does not go with -o, --open, --call or --json")
	case set["call"] && page:
		return fail(exitUsage, "--call prints one call; it does not go with -o or --open")
	case v.common.json && page:
		return fail(exitUsage, "--json does not go with -o or --open")
	case v.lang != "en" && v.lang != "zh":
		return fail(exitUsage, "--lang is en or zh, not %q", v.lang)
	case set["call"] && v.call < 1:
		return fail(exitUsage, "--call takes the number of a call, from 1")
	}
	v.file = rest[0]
	return nil
}

func runView(ctx context.Context, s streams, args []string) error {
	var v view
	f := flags(s, "view", &v.common)
	v.flags(f)
	rest, err := parse(f, args)
	if err != nil {
		return err
	}
	set := map[string]bool{}
	f.Visit(func(f *flag.Flag) { set[f.Name] = true })
	switch {
	case v.common.schema && set["call"]:
		return writeSchema[callJSON](s.out, callSchema)
	case v.common.schema:
		return writeSchema[viewJSON](s.out, viewSchema)
	}
	if err := v.check(rest, set); err != nil {
		return err
	}
	if v.lang == "zh" {
		if err := adk.SetLanguage(adk.LanguageChinese); err != nil {
			return err
		}
		defer func() { _ = adk.SetLanguage(adk.LanguageEnglish) }()
	}
	color, err := v.common.colored(s.out)
	if err != nil {
		return err
	}
	v.text = inspect.TextOptions{Color: color, Width: columns(s.out)}
	if v.follow {
		return v.following(ctx, s)
	}
	return v.show(ctx, s)
}

// show shows what is in the file now.
func (v *view) show(ctx context.Context, s streams) error {
	all, err := v.conversations(s)
	if err != nil {
		return err
	}
	last := all[len(all)-1]
	switch {
	case v.call > 0:
		return v.showCall(s, last)
	case v.common.json:
		out := viewJSON{Schema: viewSchema}
		for _, c := range all {
			each := appendZero(&out.Conversations)
			each.ID, each.Totals = c.ID, c.Totals()
		}
		return writeJSON(s.out, out)
	case v.page != "" || v.open:
		return v.writePage(s, last)
	}
	for i, c := range all {
		if i > 0 {
			fmt.Fprintln(s.out)
		}
		if err := inspect.WriteText(s.out, c, v.text); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// showCall shows one call of a conversation.
func (v *view) showCall(s streams, c *window.Conversation) error {
	at := slices.IndexFunc(c.Calls, func(call *window.ModelCall) bool { return call.N == v.call })
	if at < 0 {
		return fail(exitInput, "%s has %s in conversation %s, and no call %d", v.file, plural(len(c.Calls), "call"), display.Line(c.ID), v.call)
	}
	if !v.common.json {
		return inspect.WriteCall(s.out, c, v.call, v.text)
	}
	out := callJSON{callSchema, c.ID, c.Calls[at], c.Calls[at].Parts(), map[string]string{}}
	for _, p := range out.Parts {
		if text, ok := c.Texts[p.Text]; ok {
			out.Texts[strconv.Itoa(p.Text)] = text
		}
	}
	return writeJSON(s.out, out)
}

// writePage writes the page, and opens it.
func (v *view) writePage(s streams, c *window.Conversation) error {
	if v.page == "" {
		folder, err := os.MkdirTemp("", "einolean-")
		if err != nil {
			return err
		}
		v.page = filepath.Join(folder, "window.html")
	}
	if err := inspect.WriteFile(v.page, c); err != nil {
		return err
	}
	v.common.note(s, "wrote %s", v.page)
	if !v.open {
		return nil
	}
	if err := openPage(v.page); err != nil {
		return fail(exitInput, "wrote %s, but no browser opened it: %w", v.page, err)
	}
	return nil
}

// following prints a line for each call as it arrives.
func (v *view) following(ctx context.Context, s streams) error {
	show := inspect.Follow(s.out, v.text)
	r, done, err := tail(ctx, s, v.common, v.file)
	if err != nil {
		return err
	}
	defer done()
	err = window.FollowJSON(r, func(c *window.Conversation, _ *window.ModelCall) error {
		if v.conversation != "" && c.ID != v.conversation {
			return nil
		}
		return show(c)
	}, func(err error) { v.common.note(s, "%s, %v", v.file, err) })
	switch {
	case ctx.Err() != nil:
		return nil // an interrupt is how it ends
	case err != nil:
		return fail(exitInput, "%s: %w", v.file, err)
	}
	return nil
}

// conversations reads those of a file, or the one with an ID.
func (v *view) conversations(s streams) ([]*window.Conversation, error) {
	name, id := v.file, v.conversation
	text, err := readAll(s, name)
	if err != nil {
		return nil, err
	}
	all, err := window.ReadJSON(bytes.NewReader(text))
	switch {
	case err == nil:
	case len(all) == 0:
		return nil, fail(exitInput, "%s", notOurs(name, text))
	default:
		v.common.note(s, "%s: what cannot be read is left out: %v", name, err)
	}
	if id == "" && len(all) > 0 {
		return all, nil
	}
	var ids []string
	for _, c := range all {
		if c.ID == id {
			return []*window.Conversation{c}, nil
		}
		ids = append(ids, display.Line(c.ID))
	}
	if len(ids) == 0 {
		return nil, fail(exitInput, "%s holds no conversation", name)
	}
	return nil, fail(exitInput, "%s has no such conversation; it has: %s", name, strings.Join(ids, ", "))
}

// notOurs describes a file that contains no conversation of package window.
func notOurs(name string, text []byte) string {
	problem := "holds no line of package window"
	var r recording
	first, _, _ := bytes.Cut(bytes.TrimSpace(text), []byte("\n"))
	switch {
	case len(first) == 0:
		return name + " is empty"
	case json.Unmarshal(first, &r) == nil && strings.HasPrefix(r.Schema, "einolean.window/"):
		problem = fmt.Sprintf("is of the format %q, which this version of einolean does not read", r.Schema)
	case first[0] == '[', json.Unmarshal(text, &r) == nil && (r.Messages != nil || r.Input != nil), json.Unmarshal(first, &r) == nil && (r.Messages != nil || r.Input != nil):
		problem = "looks like a conversation or a list, not like a record of windows; einolean replay reads conversations"
	}
	return fmt.Sprintf("%s %s. view reads files that window.Collector.WriteJSON or window.Config.Log wrote", name, problem)
}

var errNoBrowser = errors.New("found neither xdg-open nor a browser in BROWSER; open the file by hand")
