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

// line is one line of the format: a conversation, and then its texts and calls.
type line struct {
	Schema       string        `json:"schema,omitempty"`
	Conversation *Conversation `json:"conversation,omitempty"`
	ID           int           `json:"id,omitempty"`
	Text         *string       `json:"text,omitempty"`
	Call         *ModelCall    `json:"call,omitempty"`
}

// WriteJSON writes all conversations, the one with the newest call first, as JSON
// Lines of the format "leanctx.window/1": a line for each conversation, followed by
// one for each of its texts and calls. [ReadJSON] is the reverse.
func (c *Collector) WriteJSON(w io.Writer) error {
	for conversation := range c.Conversations() {
		if err := conversation.WriteJSON(w); err != nil {
			return err
		}
	}
	return nil
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

// ReadJSON reads what WriteJSON wrote. A conversation that stands there several times,
// as in a file that was appended to, is returned as it stands last. An error names the
// line; what came before it is returned too.
func ReadJSON(r io.Reader) ([]*Conversation, error) {
	from := bufio.NewReader(r)
	var all []*Conversation
	for n := 1; ; n++ {
		text, err := from.ReadBytes('\n')
		if len(text) > 1 {
			if err := readLine(text, &all); err != nil {
				return all, fmt.Errorf("line %d: %w", n, err)
			}
		}
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return all, err
		}
	}
}

func readLine(text []byte, all *[]*Conversation) error {
	var l line
	if err := json.Unmarshal(text, &l); err != nil {
		return err
	}
	if l.Conversation != nil {
		if l.Schema != schemaName {
			return fmt.Errorf("the format is %q, not %q", l.Schema, schemaName)
		}
		l.Conversation.Texts = map[int]string{}
		*all = slices.DeleteFunc(*all, func(c *Conversation) bool { return c.ID == l.Conversation.ID })
		*all = append(*all, l.Conversation)
		return nil
	}
	if len(*all) == 0 {
		return errors.New("no conversation comes first")
	}
	now := (*all)[len(*all)-1]
	switch {
	case l.Text != nil:
		now.Texts[l.ID] = *l.Text
	case l.Call != nil:
		now.Calls = append(now.Calls, l.Call)
	default:
		return errors.New("it holds neither a conversation, nor a text, nor a call")
	}
	return nil
}
