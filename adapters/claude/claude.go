// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

// Package claude wraps eino-ext's claude adapter (v0.1.20 to v0.1.25) and works around five of its
// faults. To use it, change the import path. The first three concern Anthropic's own tool search, which
// toolsearch.ClaudeHosted uses; the fourth every stream, and the last every model that thinks.
//
//   - The adapter declares the provider's search tool without its type, which the Messages
//     API requires.
//   - When streaming, it appends the query of the provider's search to a client tool call without
//     a name.
//   - Its record of a search in Message.Extra is of a type that Eino can neither join from
//     the chunks of a stream nor put into a checkpoint.
//   - Its Stream and the goroutine that reads the stream write the same variable.
//   - Of thinking, it sends back one block at most: none if its text is empty, as it is by
//     default with newer models; the last of several, or, if the answer was streamed, one that
//     joins the texts and the signatures of all. The API expects all blocks unchanged.
package claude

import (
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/cloudwego/eino-ext/components/model/claude"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"
)

func init() {
	gob.RegisterName("einolean_claude_tool_search_events", []claude.ToolSearchEvent{})
	compose.RegisterStreamChunkConcatFunc(func(chunks [][]claude.ToolSearchEvent) ([]claude.ToolSearchEvent, error) {
		return slices.Concat(chunks...), nil
	})
}

// Config is the adapter's own.
type Config = claude.Config

// ChatModel is eino-ext's ChatModel with the fixes of this package.
type ChatModel struct{ *claude.ChatModel }

// NewChatModel returns the model. config is required and is not changed; its HTTPClient is copied, and
// its Transport wrapped. The errors are those of eino-ext. The fixes of requests apply only to
// Anthropic's own API; with Vertex or Bedrock, only streams are fixed.
func NewChatModel(ctx context.Context, config *Config) (*ChatModel, error) {
	own, client := *config, http.Client{}
	if config.HTTPClient != nil {
		client = *config.HTTPClient
	}
	if client.Transport == nil {
		client.Transport = http.DefaultTransport
	}
	client.Transport = transport{client.Transport}
	own.HTTPClient = &client
	m, err := claude.NewChatModel(ctx, &own)
	if err != nil {
		return nil, fmt.Errorf("claude: making the adapter: %w", err)
	}
	return &ChatModel{m}, nil
}

// WithTools returns a copy of the model with these tools. Its type is *ChatModel.
func (m *ChatModel) WithTools(tools []*schema.ToolInfo) (model.ToolCallingChatModel, error) {
	bound, err := m.ChatModel.WithTools(tools)
	if err != nil {
		return nil, err
	}
	inner, ok := bound.(*claude.ChatModel)
	if !ok {
		return nil, errors.New("claude: WithTools: the adapter returned a model of another kind")
	}
	return &ChatModel{inner}, nil
}

// returned is the key of a channel that is closed when Stream has returned. Until then the
// adapter's goroutine gets nothing to read, and so writes nothing.
type returned struct{}

// Generate asks the model.
func (m *ChatModel) Generate(ctx context.Context, input []*schema.Message, opts ...model.Option) (*schema.Message, error) {
	ctx, x := newExchange(ctx, input)
	out, err := m.ChatModel.Generate(ctx, input, opts...)
	if err != nil {
		return out, err
	}
	return x.finish(out, true), nil
}

// Stream asks the model.
func (m *ChatModel) Stream(ctx context.Context, input []*schema.Message, opts ...model.Option) (*schema.StreamReader[*schema.Message], error) {
	done := make(chan struct{})
	defer close(done)
	ctx, x := newExchange(context.WithValue(ctx, returned{}, done), input)
	out, err := m.ChatModel.Stream(ctx, input, opts...)
	if err != nil || out == nil {
		return out, err
	}
	return schema.StreamReaderWithConvert(out, func(chunk *schema.Message) (*schema.Message, error) {
		last := chunk != nil && chunk.ResponseMeta != nil && chunk.ResponseMeta.FinishReason != ""
		return x.finish(chunk, last), nil
	}), nil
}
