// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

// Package standin stands in for eino-ext's agenticclaude adapter, which cannot be
// downloaded everywhere. Of its mapping to Anthropic's Messages API it has what tools and
// tool search need:
//
//   - tools are sent unchanged, then deferred tools with defer_loading, then the client's
//     search tool as a tool like any other; no search of the provider's own is added;
//   - a result of the client's search becomes a tool_result of tool_references, and
//     nothing is added to the tools for it;
//   - adjacent messages of tool results become one;
//   - anything unknown is an error.
package standin

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"

	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/schema"
)

// Model speaks the Messages API for agents on *schema.AgenticMessage. It is safe for
// concurrent use.
type Model struct {
	// URL is where the server is.
	URL string
	// Key is the key it is shown.
	Key string
	// Name is the name of the model.
	Name string
}

// GetType is the type that the adapter reports.
func (*Model) GetType() string { return "AgenticClaude" }

// IsCallbacksEnabled leaves callbacks to Eino.
func (*Model) IsCallbacksEnabled() bool { return false }

// Generate asks for an answer in one piece.
func (m *Model) Generate(ctx context.Context, input []*schema.AgenticMessage, opts ...model.Option) (*schema.AgenticMessage, error) {
	body, err := m.ask(ctx, input, opts, false)
	if err != nil {
		return nil, err
	}
	defer body.Close()
	var a struct {
		Content []block `json:"content"`
	}
	if err := json.NewDecoder(body).Decode(&a); err != nil {
		return nil, fmt.Errorf("standin: reading the answer: %w", err)
	}
	msg := &schema.AgenticMessage{Role: schema.AgenticRoleTypeAssistant}
	for _, b := range a.Content {
		c, err := fromBlock(b)
		if err != nil {
			return nil, err
		}
		msg.ContentBlocks = append(msg.ContentBlocks, c)
	}
	return msg, nil
}

// Stream asks for an answer in pieces.
func (m *Model) Stream(ctx context.Context, input []*schema.AgenticMessage, opts ...model.Option) (*schema.StreamReader[*schema.AgenticMessage], error) {
	body, err := m.ask(ctx, input, opts, true)
	if err != nil {
		return nil, err
	}
	r, w := schema.Pipe[*schema.AgenticMessage](1)
	go func() {
		defer w.Close()
		defer body.Close()
		if err := readEvents(body, func(m *schema.AgenticMessage) bool { return w.Send(m, nil) }); err != nil {
			w.Send(nil, err)
		}
	}()
	return r, nil
}

// ask sends a request, and returns the body of the answer.
func (m *Model) ask(ctx context.Context, input []*schema.AgenticMessage, opts []model.Option, stream bool) (io.ReadCloser, error) {
	q, err := m.request(input, model.GetCommonOptions(&model.Options{}, opts...))
	if err != nil {
		return nil, err
	}
	q.Stream = stream
	text, err := json.Marshal(q)
	if err != nil {
		return nil, fmt.Errorf("standin: writing the request: %w", err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, m.URL+"/v1/messages", bytes.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("standin: making the request: %w", err)
	}
	req.Header.Set("x-api-key", m.Key)
	req.Header.Set("anthropic-version", "2023-06-01")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, fmt.Errorf("standin: sending the request: %w", err)
	}
	if resp.StatusCode != http.StatusOK {
		defer resp.Body.Close()
		said, _ := io.ReadAll(io.LimitReader(resp.Body, 4096)) // the status is the error; this is its text
		return nil, fmt.Errorf("standin: %s: %s", resp.Status, said)
	}
	return resp.Body, nil
}
