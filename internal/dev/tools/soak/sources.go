// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package main

// The tools, whose streams come from all kinds of sources and may fail at
// every place.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean/internal/dev/adktest"
	"github.com/einolean/einolean/internal/dev/race"
)

// order is the arguments of a tool: what it returns, and how.
type order struct {
	Key    string `json:"key"`
	Size   int    `json:"size"`
	Source source `json:"source"`
	Chunk  int    `json:"chunk"` // bytes of a chunk, which may end inside a character
	// Dropped says that nobody may read the stream. Eino closes a merged one only when
	// nobody holds its parts, and so never while a part waits for its reader: none does.
	Dropped bool `json:"dropped"`
	Fails   bool `json:"fails"`
	At      int  `json:"at"` // bytes that come before the failure
}

// source is what a stream is made of.
type source int

const (
	fromArray source = iota
	fromPipe
	readCopied
	leftOpen // the end is never closed, if the stream fails
	readMerged
	readNamed // merged, and the end of each source is told by its name
	sources
)

var errTool = errors.New("the tool failed, as it was told to")

// producers are five tools of each form; each returns content that its arguments choose.
func producers(p *plan, books *ledger) (all []tool.BaseTool) {
	for name, form := range adktest.Forms {
		name = strings.ReplaceAll(name, " ", "_")
		for i := range 5 {
			info := &schema.ToolInfo{Name: fmt.Sprintf("%s__produce_%d", name, i), Desc: "produces a long text"}
			t := &producer{info, p, books}
			switch form {
			case adktest.Streamable:
				all = append(all, &texts{t})
			case adktest.EnhancedStreamable:
				all = append(all, &parts{t})
			default:
				all = append(all, adktest.Tool(form, info, t.produce))
			}
		}
	}
	return all
}

type producer struct {
	info  *schema.ToolInfo
	plan  *plan
	books *ledger
}

// Info implements tool.BaseTool.
func (t *producer) Info(context.Context) (*schema.ToolInfo, error) { return t.info, nil }

// parseOrder returns what a call is to give.
func (t *producer) parseOrder(ctx context.Context, args string) (o order, text string, err error) {
	if t.plan.interrupt && t.books.stopOnce() {
		return o, "", tool.Interrupt(ctx, "wait")
	}
	if err := json.Unmarshal([]byte(args), &o); err != nil {
		return o, "", fmt.Errorf("arguments %q: %w", args, err)
	}
	key := t.plan.owner + "/" + o.Key
	if o.Fails {
		t.books.failed.Store(true)
		return o, content(failingPrefix+key, o.Size), nil
	}
	text = content(key, o.Size)
	t.books.note(o.Key, text, o.Size)
	return o, text, nil
}

func (t *producer) produce(ctx context.Context, args string) (string, error) {
	o, text, err := t.parseOrder(ctx, args)
	if err == nil && o.Fails {
		err = errTool
	}
	return text, err
}

type texts struct{ *producer }

// StreamableRun implements tool.StreamableTool.
func (t *texts) StreamableRun(ctx context.Context, args string, _ ...tool.Option) (*schema.StreamReader[string], error) {
	o, text, err := t.parseOrder(ctx, args)
	if err != nil {
		return nil, err
	}
	return stream(o, text, func(s string) string { return s }), nil
}

type parts struct{ *producer }

// StreamableRun implements tool.EnhancedStreamableTool.
func (t *parts) StreamableRun(ctx context.Context, args *schema.ToolArgument, _ ...tool.Option) (*schema.StreamReader[*schema.ToolResult], error) {
	o, text, err := t.parseOrder(ctx, args.Text)
	if err != nil {
		return nil, err
	}
	return stream(o, text, func(s string) *schema.ToolResult {
		return &schema.ToolResult{Parts: []schema.ToolOutputPart{{Type: schema.ToolPartTypeText, Text: s}}}
	}), nil
}

// stream streams a text as the order says.
func stream[T any](o order, text string, chunk func(string) T) *schema.StreamReader[T] {
	if o.Fails {
		text = text[:min(o.At, len(text))]
	}
	kind := o.Source
	if race.Enabled && kind >= readMerged {
		kind = readCopied
	}
	switch kind {
	case readCopied:
		both := piece(o, text, chunk, nil, nil).Copy(2)
		both[1].Close()
		return both[0]
	case readMerged, readNamed:
		first := text[:len(text)/3]
		if o.Dropped {
			first = "" // parts that do not wait have no order
		}
		next := make(chan struct{})
		whole := o
		whole.Fails = false
		a, b := piece(whole, first, chunk, nil, next), piece(o, text[len(first):], chunk, next, nil)
		if kind == readMerged {
			return schema.MergeStreamReaders([]*schema.StreamReader[T]{a, b})
		}
		return schema.MergeNamedStreamReaders(map[string]*schema.StreamReader[T]{"a": a, "b": b})
	case fromArray:
		if !o.Fails {
			return schema.StreamReaderFromArray(chunks(o, text, chunk))
		}
	}
	return piece(o, text, chunk, nil, nil)
}

func chunks[T any](o order, text string, chunk func(string) T) (all []T) {
	for ; len(text) > o.Chunk; text = text[o.Chunk:] {
		all = append(all, chunk(text[:o.Chunk]))
	}
	return append(all, chunk(text))
}

// piece streams a text once it may begin, and says when it has ended.
func piece[T any](o order, text string, chunk func(string) T, begin, end chan struct{}) *schema.StreamReader[T] {
	room := 0
	if o.Dropped {
		room = len(text)/o.Chunk + 2
	}
	r, w := schema.Pipe[T](room)
	go func() {
		if end != nil {
			defer close(end)
		}
		if o.Source != leftOpen || !o.Fails {
			defer w.Close()
		}
		if begin != nil {
			<-begin
		}
		for _, c := range chunks(o, text, chunk) {
			if w.Send(c, nil) {
				return
			}
		}
		if o.Fails {
			w.Send(*new(T), errTool)
		}
	}()
	return r
}
