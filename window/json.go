// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package window

// This file writes and reads the format for other programs.

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
)

// schemaName names the format of WriteJSON.
const schemaName = "leanctx.window/1"

// line is one line of the format: a conversation, and then its texts and calls. In a
// log, conversations alternate: Of says which one a run or a text belongs to.
type line struct {
	Schema       string        `json:"schema,omitempty"`
	Conversation *Conversation `json:"conversation,omitempty"`
	Of           string        `json:"of,omitempty"`
	Run          *Run          `json:"run,omitempty"`
	ID           int           `json:"id,omitempty"`
	Text         *string       `json:"text,omitempty"`
	Call         *ModelCall    `json:"call,omitempty"`
}

// WriteJSON writes one conversation in the format of [Collector.WriteJSON].
func (c *Conversation) WriteJSON(w io.Writer) error {
	buffered := bufio.NewWriter(w)
	to := json.NewEncoder(buffered)
	if err := to.Encode(line{Schema: schemaName, Conversation: c}); err != nil {
		return err
	}
	for _, id := range slices.Sorted(maps.Keys(c.Texts)) {
		text := c.Texts[id]
		if err := to.Encode(line{ID: id, Text: &text}); err != nil {
			return err
		}
	}
	for _, call := range c.Calls {
		if err := to.Encode(line{Call: call}); err != nil {
			return err
		}
	}
	return buffered.Flush()
}

// ReadJSON reads what WriteJSON or Config.Log wrote. If a conversation occurs several
// times, as in a file that was appended to, its last version is returned. An error names
// the line; everything before it is returned too.
func ReadJSON(r io.Reader) ([]*Conversation, error) {
	var d decoder
	err := d.read(r, func(*Conversation, *ModelCall) error { return nil })
	return d.all, err
}

// FollowJSON reads what [ReadJSON] reads, and passes each call to each as soon as it is
// read, with its conversation so far, which belongs to the decoder until FollowJSON
// returns. It returns at the end of r, or when r or each fails. To follow a growing
// file, give it an r that waits at the end of the file.
func FollowJSON(r io.Reader, each func(*Conversation, *ModelCall) error) error {
	return new(decoder).read(r, each)
}

// decoder reads lines.
type decoder struct {
	all  []*Conversation
	byID map[string]*Conversation
	last *Conversation
}

func (d *decoder) read(r io.Reader, each func(*Conversation, *ModelCall) error) error {
	from := bufio.NewReader(r)
	for n := 1; ; n++ {
		text, err := from.ReadBytes('\n')
		if len(text) > 1 {
			if err := d.line(text, each); err != nil {
				return fmt.Errorf("line %d: %w", n, err)
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (d *decoder) line(text []byte, each func(*Conversation, *ModelCall) error) error {
	var l line
	if err := json.Unmarshal(text, &l); err != nil {
		return err
	}
	if l.Conversation != nil {
		if l.Schema != schemaName {
			return fmt.Errorf("the format is %q, not %q", l.Schema, schemaName)
		}
		d.open(l.Conversation)
		return nil
	}
	if l.Call != nil {
		l.Of = l.Call.Conversation
	}
	now := d.last
	if of := d.byID[l.Of]; of != nil {
		now = of
	}
	switch {
	case now == nil:
		return errors.New("no conversation precedes it")
	case l.Run != nil:
		now.Runs = put(now.Runs, *l.Run, func(r Run) int { return r.N })
	case l.Text != nil:
		now.Texts[l.ID] = *l.Text
	case l.Call != nil:
		now.Calls = put(now.Calls, l.Call, func(c *ModelCall) int { return c.N })
		return each(now, l.Call)
	default:
		return errors.New("it holds neither a conversation, nor a text, nor a call")
	}
	return nil
}

func (d *decoder) open(c *Conversation) {
	c.Texts = map[int]string{}
	if d.byID == nil {
		d.byID = map[string]*Conversation{}
	}
	if old := d.byID[c.ID]; old != nil {
		d.all = slices.DeleteFunc(d.all, func(other *Conversation) bool { return other == old })
	}
	d.all, d.byID[c.ID], d.last = append(d.all, c), c, c
}

// put adds a run or a call, or replaces the earlier one: a log has calls in the order in
// which they ended, and a second time if an answer was read to its end later.
func put[T any](all []T, one T, n func(T) int) []T {
	at, known := slices.BinarySearchFunc(all, n(one), func(other T, want int) int { return n(other) - want })
	if known {
		all[at] = one
		return all
	}
	return slices.Insert(all, at, one)
}
