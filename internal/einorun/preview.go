// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package einorun

import (
	"context"

	"github.com/cloudwego/eino/adk"
)

// Preview returns a state with the messages and the tools that a later handler will make of it for this model call. The
// result may be the state itself. It has no slots, as no request has them.
type Preview[M adk.MessageType] func(
	context.Context, *adk.TypedChatModelAgentState[M],
) (*adk.TypedChatModelAgentState[M], error)

type previewKey[M adk.MessageType] struct{}

// WithPreview returns a context for the handlers before this one, whose hooks get it. Package toolsearch calls it as a
// run begins.
func WithPreview[M adk.MessageType](ctx context.Context, preview Preview[M]) context.Context {
	return context.WithValue(ctx, previewKey[M]{}, preview)
}

// WithoutPreview returns a context without the preview of an earlier handler, which has done its work when the hook of
// this one is called, and of an agent around this one.
func WithoutPreview[M adk.MessageType](ctx context.Context) context.Context {
	return WithPreview[M](ctx, nil)
}

// PreviewOf returns the state as the handlers after this one will make it.
func PreviewOf[M adk.MessageType](
	ctx context.Context, state *adk.TypedChatModelAgentState[M],
) (*adk.TypedChatModelAgentState[M], error) {
	if preview, _ := ctx.Value(previewKey[M]{}).(Preview[M]); preview != nil {
		return preview(ctx, state)
	}
	return state, nil
}
