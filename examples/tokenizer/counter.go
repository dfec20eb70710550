// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"sync"

	"github.com/cloudwego/eino/schema"
	"github.com/tiktoken-go/tokenizer"
)

// counter is a TokenCounter for o200k. It remembers what it has counted, since a
// tokenizer reads about a megabyte in a second and a conversation is counted before
// every model call. It is safe for concurrent use.
type counter struct {
	codec tokenizer.Codec

	mu    sync.Mutex
	known map[string]int64
	bytes int
}

// mostBytes is how much text a counter remembers before it starts again.
const mostBytes = 64 << 20

func newCounter() (*counter, error) {
	codec, err := tokenizer.Get(tokenizer.O200kBase)
	return &counter{codec: codec, known: make(map[string]int64)}, err
}

// Count is for Config.TokenCounter. What stands around messages and calls is about
// what OpenAI's models are sent.
func (c *counter) Count(_ context.Context, msgs []*schema.Message, tools []*schema.ToolInfo) (total int64, err error) {
	add := func(text string) {
		if err == nil && text != "" {
			var n int64
			n, err = c.tokens(text)
			total += n
		}
	}
	for _, m := range msgs {
		total += 4
		add(m.Content)
		add(m.ReasoningContent)
		for _, part := range m.UserInputMultiContent {
			add(part.Text)
		}
		for _, tc := range m.ToolCalls {
			total += 4
			add(tc.Function.Name)
			add(tc.Function.Arguments)
		}
	}
	for _, t := range tools {
		params, bad := t.ToJSONSchema()
		text, _ := json.Marshal(params)
		if bad != nil {
			return 0, bad
		}
		add(t.Name)
		add(t.Desc)
		add(string(text))
	}
	return total, err
}

func (c *counter) tokens(text string) (int64, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if n, ok := c.known[text]; ok {
		return n, nil
	}
	n, err := c.codec.Count(text)
	if err != nil {
		return 0, err
	}
	if c.bytes += len(text); c.bytes > mostBytes {
		clear(c.known)
		c.bytes = len(text)
	}
	c.known[text] = int64(n)
	return int64(n), nil
}
