// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

// Package emptyresult decides what an empty result of a tool is, and has the model read that there
// is nothing. Some adapters drop an empty result, and the provider then refuses the call that has
// none, in this request and in every later one.
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

var words = prompt.Load(files, "text")

// isBlank reports whether a part of a result shows a model nothing: a text without a character
// that can be seen. Media show something whatever they hold, and so do tools that were found.
func isBlank(p message.Part) bool {
	switch p.Kind {
	case message.Text:
		return strings.TrimSpace(p.Text()) == ""
	case message.Other: // a nil in a list
		return true
	}
	return false
}

// Said returns the messages with every empty result saying that it is. Providers reject a blank
// text beside other parts as well: it joins another text of the result, or is dropped if there is
// none. What it is given never changes; if every result says something, it returns the same slice.
func FillEmpty[M adk.MessageType](msgs []M) []M {
	next := msgs
	for i, m := range msgs {
		said := message.Edit(m, sayNothing)
		if said == m {
			continue
		}
		if &next[0] == &msgs[0] {
			next = slices.Clone(msgs)
		}
		next[i] = said
	}
	return next
}

// sayNothing returns a result without blank parts, or with a text that says that it has no others.
func sayNothing(p message.Part) (message.Part, bool) {
	if p.Kind != message.Result {
		return p, false
	}
	blank, all := 0, 0
	for c := p.Parts(); c.Next(); all++ {
		if isBlank(c.Part) {
			blank++
		}
	}
	switch blank {
	case all:
		return p.With(message.NewText(words.Current().Say("result", nil))), true
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

// Model returns a model that reads of every empty result that it is. Only the request has the
// words: the conversation, its events and its checkpoints stay as they are.
func Model[M adk.MessageType](m model.BaseModel[M]) model.BaseModel[M] { return saying[M]{m} }

type saying[M adk.MessageType] struct{ model model.BaseModel[M] }

// Generate asks the model.
func (s saying[M]) Generate(ctx context.Context, input []M, opts ...model.Option) (M, error) {
	return s.model.Generate(ctx, FillEmpty(input), opts...)
}

// Stream asks the model.
func (s saying[M]) Stream(ctx context.Context, input []M, opts ...model.Option) (*schema.StreamReader[M], error) {
	return s.model.Stream(ctx, FillEmpty(input), opts...)
}

// Streamed is a call of a tool whose stream has one empty chunk if it ends without any: Eino ends
// the run of a tool that streams nothing.
func Streamed[A, T any](call func(context.Context, A, ...tool.Option) (*schema.StreamReader[T], error)) func(context.Context, A, ...tool.Option) (*schema.StreamReader[T], error) {
	return func(ctx context.Context, argument A, opts ...tool.Option) (*schema.StreamReader[T], error) {
		out, err := call(ctx, argument, opts...)
		if err != nil || out == nil {
			return out, err
		}
		return some(out), nil
	}
}

// some is a stream of at least one chunk or one error. It closes nothing that its reader does not
// close.
func some[T any](src *schema.StreamReader[T]) *schema.StreamReader[T] {
	came := false
	pass := func(chunk T) (T, error) {
		came = true
		return chunk, nil
	}
	failed := func(err error) error {
		came = true // also where it says that one source of a merged stream has ended: nothing may follow
		return err
	}
	return schema.StreamReaderWithConvert(src, pass, schema.WithErrWrapper(failed), schema.WithOnEOF(func() (any, error) {
		if came {
			return nil, io.EOF
		}
		return empty[T](), nil
	}))
}

// empty is a chunk with nothing in it.
func empty[T any]() T {
	if r, is := any(&schema.ToolResult{}).(T); is {
		return r
	}
	return *new(T)
}
