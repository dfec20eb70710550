// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package claude

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"strings"
)

// events is a stream in which calls of the provider's tools come whole.
type events struct {
	ctx  context.Context // the request's
	body io.Closer
	in   *bufio.Reader
	out  bytes.Buffer
	held map[int]*heldCall                  // by index of the block
	open map[int]map[string]json.RawMessage // blocks that have begun, as far as thinking needs them
	err  error
}

// heldCall is a call whose words are still to come.
type heldCall struct {
	block map[string]json.RawMessage
	words strings.Builder
}

func mendEvents(ctx context.Context, body io.ReadCloser) io.ReadCloser {
	return &events{ctx: ctx, body: body, in: bufio.NewReader(body), held: map[int]*heldCall{}, open: map[int]map[string]json.RawMessage{}}
}

// Close closes the stream.
func (e *events) Close() error { return e.body.Close() }

// Read reads from the stream, once Stream has returned.
func (e *events) Read(p []byte) (int, error) {
	if err := e.wait(); err != nil {
		return 0, err
	}
	for e.out.Len() == 0 && e.err == nil {
		var frame []byte
		frame, e.err = e.frame()
		e.pass(frame)
	}
	if e.out.Len() == 0 {
		return 0, e.err
	}
	return e.out.Read(p)
}

func (e *events) wait() error {
	done, ok := e.ctx.Value(returned{}).(chan struct{})
	if !ok {
		return nil
	}
	select {
	case <-done:
		return nil
	case <-e.ctx.Done():
		return e.ctx.Err()
	}
}

// frame reads up to the empty line after an event, or to the end of the stream.
func (e *events) frame() (frame []byte, err error) {
	for {
		line, err := e.in.ReadBytes('\n')
		frame = append(frame, line...)
		if err != nil || len(bytes.TrimSpace(line)) == 0 {
			return frame, err
		}
	}
}

// pass passes a frame on, holds it back, or passes on what was held back before it.
func (e *events) pass(frame []byte) {
	var ev struct {
		Type  string                     `json:"type"`
		Index int                        `json:"index"`
		Block map[string]json.RawMessage `json:"content_block"`
		Delta struct {
			PartialJSON string `json:"partial_json"`
			Text        string `json:"text"`
			Thinking    string `json:"thinking"`
			Signature   string `json:"signature"`
		} `json:"delta"`
	}
	if json.Unmarshal(data(frame), &ev) != nil {
		e.out.Write(frame)
		return
	}
	switch ev.Type {
	case "content_block_start":
		e.open[ev.Index] = maps.Clone(ev.Block)
	case "content_block_delta":
		e.grow(ev.Index, map[string]string{"text": ev.Delta.Text, "thinking": ev.Delta.Thinking, "signature": ev.Delta.Signature})
	case "content_block_stop":
		e.note(ev.Index)
	}
	call := e.held[ev.Index]
	switch {
	case ev.Type == "content_block_start" && string(ev.Block["type"]) == `"server_tool_use"`:
		e.held[ev.Index] = &heldCall{block: ev.Block}
		return
	case ev.Type == "content_block_delta" && call != nil:
		call.words.WriteString(ev.Delta.PartialJSON)
		return
	case ev.Type == "content_block_stop" && call != nil:
		delete(e.held, ev.Index)
		e.out.Write(call.start(ev.Index))
	}
	e.out.Write(frame)
}

// grow adds the pieces of a delta to a block.
func (e *events) grow(index int, pieces map[string]string) {
	block := e.open[index]
	for key, piece := range pieces {
		if block == nil || piece == "" {
			continue
		}
		block[key], _ = json.Marshal(text(block[key]) + piece) // a text always can be
	}
}

// note notes a whole block.
func (e *events) note(index int) {
	block, x := e.open[index], exchangeOf(e.ctx)
	delete(e.open, index)
	if raw, err := json.Marshal(block); err == nil && block != nil && x != nil {
		x.add(raw)
	}
}

func data(frame []byte) []byte {
	for line := range bytes.Lines(frame) {
		if rest, ok := bytes.CutPrefix(line, []byte("data:")); ok {
			return bytes.TrimSpace(rest)
		}
	}
	return nil
}

// start is the event that starts the block, with all words of the call.
func (c *heldCall) start(index int) []byte {
	if words := c.words.String(); json.Valid([]byte(words)) {
		c.block["input"] = json.RawMessage(words)
	}
	const name = "content_block_start"
	text, err := json.Marshal(map[string]any{"type": name, "index": index, "content_block": c.block})
	if err != nil {
		return nil
	}
	return fmt.Appendf(nil, "event: %s\ndata: %s\n\n", name, text)
}
