// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch

// The constructors; the hooks are in eino.go.

import (
	"context"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"

	"github.com/leanctx/leanctx/toolsearch/internal/wire"
)

// New returns the middleware for agents on *schema.Message. See NewTyped.
func New(ctx context.Context, config *Config) (adk.ChatModelAgentMiddleware, error) {
	return NewTyped[*schema.Message](ctx, config)
}

// NewTyped returns the middleware for agents on either message type. Put it into Handlers
// of the agent's configuration. One instance serves any number of agents and concurrent
// runs. It calls Info of each dynamic tool once, and never again.
//
// The error names everything that is wrong with config at once; it wraps
// ErrNativeUnsupported where config.Model has no tool search of its own.
func NewTyped[M adk.MessageType](ctx context.Context, config *Config) (adk.TypedChatModelAgentMiddleware[M], error) {
	c, isAgentic := wire.CodecFor[M]()
	set, err := newSettings(ctx, config, isAgentic)
	if err != nil {
		return nil, err
	}
	if _, err := groupOf(ctx, []member{{settings: set}}); err != nil {
		return nil, err
	}
	return &middleware[M]{settings: set, codec: c}, nil
}
