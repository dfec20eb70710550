// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package main

// A model whose provider keeps the conversation: the adapter sends what follows
// the last response that it can build on, and the provider has the rest.

import (
	"context"
	"fmt"
	"slices"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean/internal/dev/adktest"
)

// adapter says how an adapter of eino-ext marks a response that it builds on.
type adapter struct {
	name  string
	id    string // the key of Extra
	with  string // a key that must be there as well; "": none
	tools bool   // the provider keeps the tools, too
}

var adapters = []adapter{
	{name: "Ark", id: "ark-response-id", with: "ark-response-cache-expire-at", tools: true},
	{name: "OpenAI", id: "_eino_ext_agenticopenai_auto_cached"},
}

// hosted is such a model. It serves one run.
type hosted[M adk.MessageType] struct {
	*adapter
	answers *adktest.Model[M] // is asked with the conversation that the provider has
	said    adktest.Turn      // its last answer
	kept    map[string]conversation[M]
	built   int
	wrong   []string
}

type conversation[M adk.MessageType] struct {
	messages []M
	tools    []*schema.ToolInfo
}

func newHosted[M adk.MessageType](a *adapter, respond func(int, adktest.Wire[M]) adktest.Turn) *hosted[M] {
	h := &hosted[M]{adapter: a, kept: map[string]conversation[M]{}}
	h.answers = &adktest.Model[M]{Respond: func(n int, w adktest.Wire[M]) adktest.Turn {
		h.said = respond(n, w)
		return h.said
	}}
	return h
}

// Generate implements model.BaseModel.
func (h *hosted[M]) Generate(ctx context.Context, input []M, opts ...model.Option) (M, error) {
	has, opts := h.receive(input, opts)
	out, err := h.answers.Generate(ctx, has.messages, opts...)
	if err == nil {
		out = adktest.WithExtra(out, h.keep(has))
	}
	return out, err
}

// Stream implements model.BaseModel.
func (h *hosted[M]) Stream(ctx context.Context, input []M, opts ...model.Option) (*schema.StreamReader[M], error) {
	has, opts := h.receive(input, opts)
	out, err := h.answers.Stream(ctx, has.messages, opts...)
	if err != nil {
		return nil, err
	}
	extra := h.keep(has)
	first := true
	return schema.StreamReaderWithConvert(out, func(chunk M) (M, error) {
		if first {
			first = false
			chunk = adktest.WithExtra(chunk, extra)
		}
		return chunk, nil
	}), nil
}

// receive returns the conversation that the provider has for a request. It must be the one
// that the middlewares made.
func (h *hosted[M]) receive(input []M, opts []model.Option) (has conversation[M], with []model.Option) {
	given := model.GetCommonOptions(&model.Options{}, opts...)
	has = conversation[M]{messages: input, tools: given.Tools}
	for i := len(input) - 1; i >= 0; i-- {
		id, ok := adktest.Extra(input[i])[h.id].(string)
		if h.with != "" {
			_, both := adktest.Extra(input[i])[h.with]
			ok = ok && both
		}
		if !ok {
			continue
		}
		h.built++
		before := h.kept[id]
		has.messages = slices.Concat(before.messages, input[i+1:])
		if h.tools {
			has.tools = before.tools
		}
		break
	}
	if want, got := dumps(input), dumps(has.messages); !slices.Equal(want, got) {
		h.wrong = append(h.wrong, fmt.Sprintf("the provider has %.1500q and not %.1500q", got, want))
	}
	if want, got := adktest.Names(given.Tools), adktest.Names(has.tools); !slices.Equal(want, got) {
		h.wrong = append(h.wrong, fmt.Sprintf("the provider has the tools %q and not %q", got, want))
	}
	return has, append(slices.Clone(opts), model.WithTools(has.tools))
}

// keep keeps the conversation with the answer, and returns what the adapter adds to that.
func (h *hosted[M]) keep(has conversation[M]) map[string]any {
	id := fmt.Sprintf("response-%d", len(h.kept))
	answer := adktest.Assistant[M](h.said.Text, h.said.Calls...)
	h.kept[id] = conversation[M]{slices.Concat(has.messages, []M{answer}), has.tools}
	extra := map[string]any{h.id: id}
	if h.with != "" {
		extra[h.with] = int64(1)
	}
	return extra
}

func dumps[M adk.MessageType](messages []M) (all []string) {
	for _, m := range messages {
		all = append(all, adktest.Dump(m))
	}
	return all
}
