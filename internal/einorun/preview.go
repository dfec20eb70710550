// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package einorun

import (
	"context"

	"github.com/cloudwego/eino/adk"
)

// Preview returns the state with the messages and the tools that a later handler will set for this model call. The tools
// do not include slots, which no request has.
type Preview[M adk.MessageType] func(
	context.Context, *adk.TypedChatModelAgentState[M],
) (*adk.TypedChatModelAgentState[M], error)

type previewKey[M adk.MessageType] struct{}

// WithPreview returns a context for a run in which the hooks of earlier handlers can call [PreviewOf]. Package toolsearch
// sets it when a run begins.
func WithPreview[M adk.MessageType](ctx context.Context, preview Preview[M]) context.Context {
	return context.WithValue(ctx, previewKey[M]{}, preview)
}

// WithoutPreview removes the preview of an earlier handler, whose hook has already changed the state when a later one is
// called. It also removes that of a parent agent.
func WithoutPreview[M adk.MessageType](ctx context.Context) context.Context {
	return WithPreview[M](ctx, nil)
}

// PreviewOf returns the preview of a state; the state itself if no later handler has set one.
func PreviewOf[M adk.MessageType](
	ctx context.Context, state *adk.TypedChatModelAgentState[M],
) (*adk.TypedChatModelAgentState[M], error) {
	if preview, _ := ctx.Value(previewKey[M]{}).(Preview[M]); preview != nil {
		return preview(ctx, state)
	}
	return state, nil
}
