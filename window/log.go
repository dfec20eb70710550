// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package window

// This file writes calls as they end, for others to watch while the agent runs.

import (
	"bytes"
	"encoding/json"

	"github.com/leanctx/leanctx/internal/safe"
)

// logCall queues a call, after the lines that it depends on. The collector's mutex is
// held.
func (c *Collector) logCall(r *recorded) {
	if c.cfg.Log == nil {
		return
	}
	v, to := r.conv, &c.log
	add := func(l line) { to.wait = append(to.wait, l) }
	if v.logged == nil {
		v.logged = []string{}
		add(line{Schema: schemaName, Conversation: &Conversation{ID: v.id}})
	}
	for i := range r.Run {
		switch {
		case i == len(v.logged):
			v.logged = append(v.logged, v.runs[i].Question)
		case i == r.Run-1 && v.logged[i] != v.runs[i].Question:
			v.logged[i] = v.runs[i].Question
		default:
			continue
		}
		run := v.runs[i]
		add(line{Of: v.id, Run: &run})
	}
	text := func(id int) {
		if t := v.texts.byID[id]; t != nil && !t.logged {
			t.logged = true
			add(line{Of: v.id, ID: id, Text: &t.value})
		}
	}
	for _, p := range r.Parts {
		text(p.Text)
	}
	for _, l := range r.Left {
		text(l.Text)
	}
	done := *r.ModelCall
	add(line{Call: &done})
}

// flush writes the queue. After an error of the writer it writes nothing more: the
// last line may be incomplete.
func (c *Collector) flush() {
	if c.cfg.Log == nil {
		return
	}
	to := &c.log
	to.mu.Lock()
	defer to.mu.Unlock()
	c.mu.Lock()
	wait := to.wait
	to.wait = nil
	c.mu.Unlock()
	if to.failed || len(wait) == 0 {
		return
	}
	to.failed = safe.Call("Log", func() error {
		var b bytes.Buffer
		encode := json.NewEncoder(&b)
		for _, l := range wait {
			if err := encode.Encode(l); err != nil {
				return err
			}
		}
		_, err := c.cfg.Log.Write(b.Bytes())
		return err
	}) != nil
}
