// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

// Package emptyresult replaces empty tool results by a text that says so. Some adapters drop an
// empty result. The provider then rejects the call without a result, in this request and in every
// later one.
package emptyresult

import (
	"context"
	"embed"
	"io"
	"slices"
	"strings"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean/internal/message"
	"github.com/einolean/einolean/internal/prompt"
)

//go:embed text
var files embed.FS

var prompts = prompt.Load(files, "text")

// isBlank reports whether a part of a result has no visible content: a text of white space, or nil.
// Media and tool references are never blank.
func isBlank(p message.Part) bool {
	switch p.Kind {
	case message.Text:
		return isBlankText(p.Text())
	case message.Other: // a nil in a list
		return true
	}
	return false
}

func isBlankText(text string) bool { return strings.TrimSpace(text) == "" }

// FillEmpty returns messages in which every empty result says that it is empty. Providers reject
// blank texts beside other parts as well: a blank text joins another text of its result, or is
// dropped if there is none. The input never changes. If nothing is empty, the result is msgs
// itself.
func FillEmpty[M adk.MessageType](msgs []M) []M {
	next := msgs
	for i, m := range msgs {
		if !hasBlank(m) {
			continue
		}
		if &next[0] == &msgs[0] {
			next = slices.Clone(msgs)
		}
		next[i] = message.Edit(m, fillResult)
	}
	return next
}

// hasBlank reports whether a result in a message has a blank part, or no part. It runs for all messages of every model
// call, because a handler may edit an old message in place: so it allocates nothing.
func hasBlank[M adk.MessageType](m M) bool {
	if !message.HasResult(m) {
		return false
	}
	if text, ok := message.ResultText(m); ok { // as most results are
		return isBlankText(text)
	}
	for p := message.Parts(m); p.Next(); {
		if p.Kind != message.Result {
			continue
		}
		if blank, all := countParts(p.Part); blank > 0 || all == 0 {
			return true
		}
	}
	return false
}

// countParts returns how many parts a result has, and how many of them are blank.
func countParts(result message.Part) (blank, all int) {
	for c := result.Parts(); c.Next(); all++ {
		if isBlank(c.Part) {
			blank++
		}
	}
	return blank, all
}

// fillResult returns a result without blank parts. If it has no other parts, it gets the text for
// empty results.
func fillResult(p message.Part) (message.Part, bool) {
	if p.Kind != message.Result {
		return p, false
	}
	blank, all := countParts(p)
	switch blank {
	case all:
		return p.With(message.NewText(prompts.Current().Render("result", nil))), true
	case 0:
		return p, false
	}
	return p.With(joinBlanks(p.Parts().All())...), true
}

// joinBlanks returns parts without blank ones. The concatenated text stays the same: white space joins
// the text before it, or the first text if there is none before it. Without any text it is dropped.
func joinBlanks(parts []message.Part) (joined []message.Part) {
	var space strings.Builder // since the last text
	text := -1                // the last text in joined
	endText := func() {
		if text >= 0 && space.Len() > 0 {
			joined[text] = joined[text].WithText(joined[text].Text() + space.String())
			space.Reset()
		}
	}
	for _, p := range parts {
		if isBlank(p) {
			space.WriteString(p.Text())
			continue
		}
		if p.Kind == message.Text {
			if endText(); space.Len() > 0 {
				p = p.WithText(space.String() + p.Text())
				space.Reset()
			}
			text = len(joined)
		}
		joined = append(joined, p)
	}
	endText()
	return joined
}

// Model returns a model whose requests go through [FillEmpty]. The history, its events and its
// checkpoints stay unchanged.
func Model[M adk.MessageType](m model.BaseModel[M]) model.BaseModel[M] { return fillingModel[M]{m} }

// fillingModel is the model that [Model] returns.
type fillingModel[M adk.MessageType] struct{ model model.BaseModel[M] }

// Generate calls the model with filled results.
func (s fillingModel[M]) Generate(ctx context.Context, input []M, opts ...model.Option) (M, error) {
	return s.model.Generate(ctx, FillEmpty(input), opts...)
}

// Stream calls the model with filled results.
func (s fillingModel[M]) Stream(ctx context.Context, input []M, opts ...model.Option) (*schema.StreamReader[M], error) {
	return s.model.Stream(ctx, FillEmpty(input), opts...)
}

// EnsureChunk wraps a streaming tool call: a stream that ends without a chunk gets an empty one.
// Eino ends the run of a tool that streams nothing.
func EnsureChunk[A, T any](call func(context.Context, A, ...tool.Option) (*schema.StreamReader[T], error)) func(context.Context, A, ...tool.Option) (*schema.StreamReader[T], error) {
	return func(ctx context.Context, argument A, opts ...tool.Option) (*schema.StreamReader[T], error) {
		out, err := call(ctx, argument, opts...)
		if err != nil || out == nil {
			return out, err
		}
		return withChunk(out), nil
	}
}

// withChunk returns a stream with at least one chunk or one error. Closing src is left to the
// reader.
func withChunk[T any](src *schema.StreamReader[T]) *schema.StreamReader[T] {
	hasItem := false
	pass := func(chunk T) (T, error) {
		hasItem = true
		return chunk, nil
	}
	failed := func(err error) error {
		hasItem = true // also where it says that one source of a merged stream has ended: nothing may follow
		return err
	}
	return schema.StreamReaderWithConvert(src, pass, schema.WithErrWrapper(failed), schema.WithOnEOF(func() (any, error) {
		if hasItem {
			return nil, io.EOF
		}
		return emptyChunk[T](), nil
	}))
}

// emptyChunk returns a chunk without content.
func emptyChunk[T any]() T {
	if r, ok := any(&schema.ToolResult{}).(T); ok {
		return r
	}
	return *new(T)
}
