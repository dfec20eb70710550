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
	name      string
	id        string // the key of Extra
	alsoNeeds string // a key that must be there as well; "": none
	tools     bool   // the provider keeps the tools, too
}

var adapters = []adapter{
	{name: "Ark", id: "ark-response-id", alsoNeeds: "ark-response-cache-expire-at", tools: true},
	{name: "OpenAI", id: "_eino_ext_agenticopenai_auto_cached"},
}

// storedModel is such a model. It serves one run.
type storedModel[M adk.MessageType] struct {
	*adapter
	answers    *adktest.Model[M] // is asked with the conversation that the provider has
	lastAnswer adktest.Turn      // its last answer
	stored     map[string]conversation[M]
	continued  int
	problems   []string
}

type conversation[M adk.MessageType] struct {
	messages []M
	tools    []*schema.ToolInfo
}

func newHosted[M adk.MessageType](a *adapter, respond func(int, adktest.Wire[M]) adktest.Turn) *storedModel[M] {
	h := &storedModel[M]{adapter: a, stored: map[string]conversation[M]{}}
	h.answers = &adktest.Model[M]{Respond: func(n int, w adktest.Wire[M]) adktest.Turn {
		h.lastAnswer = respond(n, w)
		return h.lastAnswer
	}}
	return h
}

// Generate implements model.BaseModel.
func (h *storedModel[M]) Generate(ctx context.Context, input []M, opts ...model.Option) (M, error) {
	has, opts := h.receive(input, opts)
	out, err := h.answers.Generate(ctx, has.messages, opts...)
	if err == nil {
		out = adktest.WithExtra(out, h.store(has))
	}
	return out, err
}

// Stream implements model.BaseModel.
func (h *storedModel[M]) Stream(ctx context.Context, input []M, opts ...model.Option) (*schema.StreamReader[M], error) {
	has, opts := h.receive(input, opts)
	out, err := h.answers.Stream(ctx, has.messages, opts...)
	if err != nil {
		return nil, err
	}
	extra := h.store(has)
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
func (h *storedModel[M]) receive(input []M, opts []model.Option) (has conversation[M], with []model.Option) {
	given := model.GetCommonOptions(&model.Options{}, opts...)
	has = conversation[M]{messages: input, tools: given.Tools}
	for i := len(input) - 1; i >= 0; i-- {
		id, ok := adktest.Extra(input[i])[h.id].(string)
		if h.alsoNeeds != "" {
			_, both := adktest.Extra(input[i])[h.alsoNeeds]
			ok = ok && both
		}
		if !ok {
			continue
		}
		h.continued++
		before := h.stored[id]
		has.messages = slices.Concat(before.messages, input[i+1:])
		if h.tools {
			has.tools = before.tools
		}
		break
	}
	if want, got := dumps(input), dumps(has.messages); !slices.Equal(want, got) {
		h.problems = append(h.problems, fmt.Sprintf("the provider has %.1500q and not %.1500q", got, want))
	}
	if want, got := adktest.Names(given.Tools), adktest.Names(has.tools); !slices.Equal(want, got) {
		h.problems = append(h.problems, fmt.Sprintf("the provider has the tools %q and not %q", got, want))
	}
	return has, append(slices.Clone(opts), model.WithTools(has.tools))
}

// store keeps the conversation with the answer, and returns what the adapter adds to that.
func (h *storedModel[M]) store(has conversation[M]) map[string]any {
	id := fmt.Sprintf("response-%d", len(h.stored))
	answer := adktest.Assistant[M](h.lastAnswer.Text, h.lastAnswer.Calls...)
	h.stored[id] = conversation[M]{slices.Concat(has.messages, []M{answer}), has.tools}
	extra := map[string]any{h.id: id}
	if h.alsoNeeds != "" {
		extra[h.alsoNeeds] = int64(1)
	}
	return extra
}

func dumps[M adk.MessageType](messages []M) (all []string) {
	for _, m := range messages {
		all = append(all, adktest.Dump(m))
	}
	return all
}
