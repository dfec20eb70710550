// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package calltool

import (
	"cmp"
	"context"
	"errors"
	"io"
	"slices"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/schema"

	"github.com/einolean/einolean/internal/jsontext"
	"github.com/einolean/einolean/internal/message"
	"github.com/einolean/einolean/internal/safe"
)

// Host is the run whose calls get other names.
type Host interface {
	// Declared returns what the requests of this model call declare.
	Declared() Declared
	// RenameCall returns the call that the agent makes for a call of the model. It is asked when the call is whole.
	RenameCall(context.Context, message.ToolCall) (message.ToolCall, Renaming)
	// MayRename reports whether RenameCall may return another call for one of this name.
	MayRename(name string) bool
}

// WrapModel returns a model whose answers have the names of the tools that run, and whose requests have the calls as the
// model wrote them.
func WrapModel[M adk.MessageType](inner model.BaseModel[M], requests *Requests[M], host Host) model.BaseModel[M] {
	return renamingModel[M]{inner, requests, host}
}

type renamingModel[M adk.MessageType] struct {
	model    model.BaseModel[M]
	requests *Requests[M]
	host     Host
}

// Generate calls the model.
func (m renamingModel[M]) Generate(ctx context.Context, input []M, opts ...model.Option) (M, error) {
	out, err := m.model.Generate(ctx, m.requests.Show(input, m.host.Declared()), opts...)
	if err != nil {
		return out, err
	}
	return Rename(out, m.rename(ctx)), nil
}

func (m renamingModel[M]) rename(ctx context.Context) func(message.ToolCall) (message.ToolCall, Renaming) {
	return func(c message.ToolCall) (message.ToolCall, Renaming) { return m.host.RenameCall(ctx, c) }
}

// Stream calls the model. Everything passes at once but calls that may get another name, which are held until they are
// whole.
func (m renamingModel[M]) Stream(ctx context.Context, input []M, opts ...model.Option) (*schema.StreamReader[M], error) {
	in, err := m.model.Stream(ctx, m.requests.Show(input, m.host.Declared()), opts...)
	if err != nil || in == nil {
		return in, err
	}
	out, writer := schema.Pipe[M](1)
	s := &stream[M]{rename: m.rename(ctx), mayRename: m.host.MayRename, calls: map[int]*heldCall{}}
	go func() {
		defer writer.Close()
		defer in.Close()
		if err := safe.Call("reading the model's stream", func() error { return s.copy(in, writer) }); err != nil {
			writer.Send(*new(M), err)
		}
	}()
	return out, nil
}

// stream is a streamed answer. A call that may get another name is held until it is whole and something else follows, or
// the answer ends: more bytes of a call may follow its closing brace.
type stream[M adk.MessageType] struct {
	rename    func(message.ToolCall) (message.ToolCall, Renaming)
	mayRename func(name string) bool
	calls     map[int]*heldCall // by index; nil for a call that passes
	held      []*heldCall       // in order
}

// heldCall is the pieces of a call that have come.
type heldCall struct {
	index   int
	pieces  []message.Part
	scanner jsontext.ValueScanner // of the arguments
	isWhole bool
}

// copy hands on a stream. What is held comes before the end, or before an error.
func (s *stream[M]) copy(in *schema.StreamReader[M], out *schema.StreamWriter[M]) error {
	for {
		chunk, err := in.Recv()
		if _, isSource := schema.GetSourceName(err); isSource { // the end of one of several streams
			continue
		}
		if err != nil {
			if len(s.held) > 0 && out.Send(s.release(), nil) || errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		for _, c := range s.next(chunk) {
			if out.Send(c, nil) { // nobody reads
				return nil
			}
		}
	}
}

// next takes a chunk, and returns what passes on.
func (s *stream[M]) next(chunk M) []M {
	if message.IsNil(chunk) {
		return []M{chunk}
	}
	chunk = s.renameWhole(chunk)
	isEnd, hadHeld, hasPieces := message.FinishReason(chunk) != "", len(s.held) > 0, hasPieces(chunk)
	rest, isHolding := s.hold(chunk)
	isEmpty := message.IsEmptyChunk(rest)
	switch {
	case isEnd && len(s.held) > 0, !hasPieces && !isEmpty && hadHeld && s.areWhole():
		if isEmpty {
			return []M{s.release()}
		}
		return []M{s.release(), rest}
	case isHolding && isEmpty:
		return nil
	}
	return []M{rest}
}

// renameWhole renames the calls of a chunk that did not come in pieces.
func (s *stream[M]) renameWhole(chunk M) M {
	for p := message.Parts(chunk); p.Next(); {
		if _, isPiece := message.StreamIndex(p.Part); p.Kind == message.Call && !isPiece && s.mayRename(p.Name()) {
			return Rename(chunk, s.rename)
		}
	}
	return chunk
}

// hasPieces reports whether a chunk has pieces of calls: more of a call that is held may come beside those of another.
func hasPieces[M adk.MessageType](chunk M) bool {
	for p := message.Parts(chunk); p.Next(); {
		if _, isPiece := message.StreamIndex(p.Part); p.Kind == message.Call && isPiece {
			return true
		}
	}
	return false
}

// hold takes the pieces of calls that are held out of a chunk.
func (s *stream[M]) hold(chunk M) (rest M, isHolding bool) {
	for p := message.Parts(chunk); p.Next(); {
		isHolding = s.isHeld(p.Part) || isHolding
	}
	if !isHolding {
		return chunk, false
	}
	return message.Replace(chunk, func(p message.Part) []message.Part {
		if !s.isHeld(p) {
			return nil
		}
		index, _ := message.StreamIndex(p)
		c := s.calls[index]
		c.pieces = append(c.pieces, p)
		c.isWhole = c.scanner.Add(p.Text()) || c.isWhole
		return []message.Part{}
	}), true
}

// isHeld reports whether a part is a piece of a call that is held. The first piece decides; one without a name is held.
func (s *stream[M]) isHeld(p message.Part) bool {
	index, isPiece := message.StreamIndex(p)
	if p.Kind != message.Call || !isPiece {
		return false
	}
	c, isKnown := s.calls[index]
	if !isKnown {
		if p.Name() == "" || s.mayRename(p.Name()) {
			c = &heldCall{index: index}
			s.held = append(s.held, c)
		}
		s.calls[index] = c
	}
	return c != nil
}

func (s *stream[M]) areWhole() bool {
	return !slices.ContainsFunc(s.held, func(c *heldCall) bool { return !c.isWhole })
}

// release returns the held calls as one chunk, with their names in the agent, in the order of the answer. What follows of
// them passes.
func (s *stream[M]) release() M {
	slices.SortFunc(s.held, func(a, b *heldCall) int { return cmp.Compare(a.index, b.index) })
	var parts []message.Part
	for _, c := range s.held {
		parts = append(parts, joinPieces[M](c)...)
		s.calls[c.index] = nil
	}
	s.held = nil
	return Rename(message.New[M](schema.Assistant, parts...), s.rename)
}

// joinPieces returns a held call as one part of its message; its pieces, if they do not fit together, as Eino will say.
func joinPieces[M adk.MessageType](c *heldCall) []message.Part {
	chunks := make([]M, len(c.pieces))
	for i, p := range c.pieces {
		chunks[i] = message.New[M](schema.Assistant, p)
	}
	whole, err := message.Join(chunks)
	if err != nil || message.IsNil(whole) {
		return c.pieces
	}
	for p := message.Parts(whole); p.Next(); {
		if p.Kind == message.Call {
			return []message.Part{message.WithStreamIndex(p.Part, c.index)}
		}
	}
	return c.pieces
}
