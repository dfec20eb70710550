// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"os"
	"path/filepath"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/model"

	"github.com/einolean/einolean"
	"github.com/einolean/einolean/demo/lab"
	"github.com/einolean/einolean/demo/library"
	"github.com/einolean/einolean/demo/offline"
	"github.com/einolean/einolean/store"
	"github.com/einolean/einolean/window"
)

// trial is one agent and its conversation.
type trial[M adk.MessageType] struct {
	title  string
	agent  *lab.Agent[M]
	events lab.Events
	store  *store.Dir
	see    *window.Collector
	tools  int // in its library

	last                   lab.Outcome[M]
	calls, tokens, largest int // of all model calls
	wrong                  int // answers
	loaded, found          watched
}

// watched is something that every later model call must show as it was.
type watched struct {
	seen  map[string]string // what was shown, by name
	shown int               // how often any of it was shown again
	lost  int               // how often it was not, or not as it was
}

// first records what is shown from now on; a known name keeps its text.
func (w *watched) first(name, text string) {
	if w.seen == nil {
		w.seen = map[string]string{}
	}
	if _, known := w.seen[name]; !known {
		w.seen[name] = text
	}
}

// check compares what a model call shows with what was seen before.
func (w *watched) check(now map[string]string) {
	for name, text := range w.seen {
		if got, ok := now[name]; ok && got == text {
			w.shown++
		} else {
			w.lost++
		}
	}
}

// newTrial makes an agent with a folder below dir.
func newTrial[M adk.MessageType](ctx context.Context, title, dir string, streaming bool, use parts) (*trial[M], error) {
	t := &trial[M]{title: title}
	folder := filepath.Join(dir, "files")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, err
	}
	if err := lab.WriteFiles(folder); err != nil {
		return nil, err
	}
	tools, err := library.Tools(folder)
	if err != nil {
		return nil, err
	}
	files, err := store.NewDir(filepath.Join(dir, "store"))
	if err != nil {
		return nil, err
	}
	t.store, t.tools = files, len(tools)
	use.store, use.watch, t.see = files, t.events.Add, use.see
	use.watch = einolean.Tee(t.events.Add, use.see.Event)
	t.agent, err = lab.New(streaming, func(chat model.BaseModel[M]) (*adk.TypedChatModelAgent[M], error) {
		return newAgent(ctx, chat, tools, use)
	})
	if err != nil {
		return nil, err
	}
	t.agent.BeforeCalls(t.events.Next)
	return t, nil
}

// ask continues the conversation and reports whether the answer is right.
func (t *trial[M]) ask(ctx context.Context, q lab.Question) (right bool, err error) {
	if t.last, err = t.agent.Ask(ctx, t.last.Messages, q.Text); err != nil {
		return false, err
	}
	original := map[string]string{} // answers of this run's searches
	for _, turn := range t.last.Turns {
		for _, r := range turn.Results {
			if r.Name == "tool_search" {
				original[r.ID] = r.Text
			}
		}
	}
	for _, r := range t.last.Requests {
		t.watch(r, original)
	}
	if t.see != nil {
		for c := range t.see.Conversations() { // the only one
			sent := c.Totals()
			t.calls, t.tokens, t.largest = sent.Calls, sent.Sent, sent.Largest
		}
	}
	if right = q.Holds(t.last.Answer()); !right {
		t.wrong++
	}
	return right, nil
}

// watch looks at what a model call was sent: the tools of the calls before it are
// there, and the answers of tool_search are those that the search gave.
func (t *trial[M]) watch(r lab.Request[M], original map[string]string) {
	tools, answers := map[string]string{}, map[string]string{}
	for _, name := range r.Tools {
		tools[name] = ""
	}
	for _, m := range r.Messages {
		for _, result := range offline.Read(m).Results {
			answers[result.ID] = result.Text
		}
	}
	t.loaded.check(tools)
	t.found.check(answers)
	for name := range tools {
		t.loaded.first(name, "")
	}
	for id, text := range original {
		if _, shown := answers[id]; shown {
			t.found.first(id, text)
		}
	}
}
