// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package calltool_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/message"
	"github.com/einolean/einolean/toolsearch/internal/calltool"
)

// testHost renames calls of call_tool whose tool is known.
type testHost struct{ hidden map[string]bool }

func (h testHost) Declared() calltool.Declared {
	return calltool.Declared{CallTool: true, IsHidden: func(name string) bool { return h.hidden[name] }}
}

func (h testHost) RenameCall(_ context.Context, c message.ToolCall) (message.ToolCall, calltool.Renaming) {
	if c.Name == "near" {
		return message.ToolCall{ID: c.ID, Name: "own", Args: c.Args}, calltool.Repaired
	}
	w, err := calltool.Parse(c.Args)
	if err != nil || !h.hidden[w.Name] || c.Name != "call_tool" {
		return c, calltool.NotRenamed
	}
	return message.ToolCall{ID: c.ID, Name: w.Name, Args: w.Arguments}, calltool.Unwrapped
}

func (h testHost) MayRename(name string) bool { return name == "call_tool" || name == "near" }

// scripted is a model whose answer is a list of chunks.
type scripted[M adk.MessageType] struct {
	chunks []M
	err    error // at the end
	asked  [][]M
}

func (m *scripted[M]) Generate(_ context.Context, input []M, _ ...model.Option) (M, error) {
	m.asked = append(m.asked, input)
	out, err := message.Join(m.chunks)
	return out, errors.Join(err, m.err)
}

func (m *scripted[M]) Stream(_ context.Context, input []M, _ ...model.Option) (*schema.StreamReader[M], error) {
	m.asked = append(m.asked, input)
	r, w := schema.Pipe[M](len(m.chunks) + 1)
	defer w.Close()
	for _, c := range m.chunks {
		w.Send(c, nil)
	}
	if m.err != nil {
		w.Send(*new(M), m.err)
	}
	return r, nil
}

func readAll[M adk.MessageType](s *schema.StreamReader[M]) (chunks []M, err error) {
	defer s.Close()
	for {
		c, err := s.Recv()
		if errors.Is(err, io.EOF) {
			return chunks, nil
		}
		if err != nil {
			return chunks, err
		}
		chunks = append(chunks, c)
	}
}

// piece is a piece of a call of an answer with an index, in both message types.
func piece[M adk.MessageType](index int, id, name, args string) M {
	switch any(*new(M)).(type) {
	case *schema.Message:
		m := &schema.Message{Role: schema.Assistant, ToolCalls: []schema.ToolCall{{
			Index: &index, ID: id, Type: "function", Function: schema.FunctionCall{Name: name, Arguments: args},
		}}}
		return any(m).(M)
	}
	block := schema.NewContentBlockChunk(&schema.FunctionToolCall{CallID: id, Name: name, Arguments: args},
		&schema.StreamingMeta{Index: index})
	return any(&schema.AgenticMessage{Role: schema.AgenticRoleTypeAssistant, ContentBlocks: []*schema.ContentBlock{block}}).(M)
}

func text[M adk.MessageType](index int, text string) M {
	switch any(*new(M)).(type) {
	case *schema.Message:
		return any(&schema.Message{Role: schema.Assistant, Content: text}).(M)
	}
	block := schema.NewContentBlockChunk(&schema.AssistantGenText{Text: text}, &schema.StreamingMeta{Index: index})
	return any(&schema.AgenticMessage{Role: schema.AgenticRoleTypeAssistant, ContentBlocks: []*schema.ContentBlock{block}}).(M)
}

func finish[M adk.MessageType](reason string) M {
	switch any(*new(M)).(type) {
	case *schema.Message:
		return any(&schema.Message{Role: schema.Assistant, ResponseMeta: &schema.ResponseMeta{FinishReason: reason}}).(M)
	}
	return any(&schema.AgenticMessage{Role: schema.AgenticRoleTypeAssistant, ResponseMeta: &schema.AgenticResponseMeta{
		TokenUsage: &schema.TokenUsage{TotalTokens: 7},
	}}).(M)
}

// randomAnswer returns the chunks of an answer: texts, and calls in pieces, two of which may come interleaved.
func randomAnswer[M adk.MessageType](r *rand.Rand) (chunks []M) {
	index := 0
	add := func(c ...M) { chunks = append(chunks, c...) }
	for range r.IntN(5) {
		if r.IntN(3) == 0 {
			add(text[M](index, fmt.Sprint("text ", index)))
			index++
			continue
		}
		var open [][]M
		together := 1 + r.IntN(2)
		for range together {
			open = append(open, randomCall[M](r, index))
			index++
		}
		for len(open) > 0 {
			i := r.IntN(len(open))
			add(open[i][0])
			if open[i] = open[i][1:]; len(open[i]) == 0 {
				open = append(open[:i], open[i+1:]...)
			}
		}
	}
	if r.IntN(2) == 0 {
		add(finish[M]("tool_calls"))
	}
	return chunks
}

func randomCall[M adk.MessageType](r *rand.Rand, index int) (pieces []M) {
	name := []string{"call_tool", "call_tool", "own", "near"}[r.IntN(4)]
	args := []string{
		`{"name":"t","arguments":{"a":"}{ \" x"}}`, `{ "arguments" : {"n":12345678901234567890}, "Name":"u" }`,
		`{"name":"unknown","arguments":{}}`, `{"name":"t","arguments":{"a":`, `{}`, `{"name":"t","b":1}`,
	}[r.IntN(6)]
	args += strings.Repeat(" ", r.IntN(3))
	first := name
	if r.IntN(4) == 0 { // the name comes later than the id
		pieces = append(pieces, piece[M](index, fmt.Sprint("id", index), "", ""))
	}
	for args != "" || first != "" {
		n := min(len(args), r.IntN(12))
		pieces = append(pieces, piece[M](index, fmt.Sprint("id", index), first, args[:n]))
		args, first = args[n:], ""
	}
	return pieces
}

// Streamed or not, an answer comes to the same; text passes at once; nothing comes after the finish reason.
func TestWrapModel_StreamEqualsAnswer(t *testing.T) {
	t.Run("Message", testStreamEqualsAnswer[*schema.Message])
	t.Run("AgenticMessage", testStreamEqualsAnswer[*schema.AgenticMessage])
}

func testStreamEqualsAnswer[M adk.MessageType](t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	host, ctx := testHost{map[string]bool{"t": true, "u": true}}, context.Background()
	for range 3000 {
		chunks := randomAnswer[M](r)
		if len(chunks) == 0 {
			continue
		}
		inner := &scripted[M]{chunks: chunks}
		m := calltool.WrapModel[M](inner, &calltool.Requests[M]{}, host)
		whole, err := m.Generate(ctx, nil)
		require.NoError(t, err)
		s, err := m.Stream(ctx, nil)
		require.NoError(t, err)
		got, err := readAll(s)
		require.NoError(t, err)
		for i, c := range got[:len(got)-1] {
			require.Empty(t, message.FinishReason(c), "chunk %d of %d", i, len(got))
		}
		joined, err := message.Join(got)
		require.NoError(t, err)
		require.Equal(t, message.Calls(whole), message.Calls(joined))
		require.Equal(t, len(message.Parts(whole).All()), len(message.Parts(joined).All()))

		// The next request shows what the model wrote.
		original, err := message.Join(chunks)
		require.NoError(t, err)
		for _, answer := range []M{whole, joined} {
			shown := (&calltool.Requests[M]{}).Show([]M{answer}, host.Declared())
			require.Equal(t, withRepairedNames(message.Calls(original)), message.Calls(shown[0]))
			require.Equal(t, message.Extra(original), message.Extra(shown[0]))
		}
	}
}

// withRepairedNames returns calls with the right name in place of a near one.
func withRepairedNames(calls []message.ToolCall) []message.ToolCall {
	for i := range calls {
		if calls[i].Name == "near" {
			calls[i].Name = "own"
		}
	}
	return calls
}

// What is held comes before an error, once.
func TestWrapModel_HeldCallComesBeforeError(t *testing.T) {
	t.Run("Message", testHeldCallComesBeforeError[*schema.Message])
	t.Run("AgenticMessage", testHeldCallComesBeforeError[*schema.AgenticMessage])
}

func testHeldCallComesBeforeError[M adk.MessageType](t *testing.T) {
	broken := errors.New("the connection is gone")
	for _, args := range []string{`{"name":"t","argu`, `{"name":"t","arguments":{}}`} {
		inner := &scripted[M]{chunks: []M{piece[M](0, "1", "call_tool", args)}, err: broken}
		s, err := calltool.WrapModel[M](inner, &calltool.Requests[M]{}, testHost{map[string]bool{"t": true}}).Stream(context.Background(), nil)
		require.NoError(t, err)
		got, err := readAll(s)
		require.ErrorIs(t, err, broken)
		require.Len(t, got, 1)
		require.Equal(t, strings.HasSuffix(args, "}"), message.Calls(got[0])[0].Name == "t")
	}
}

// Text passes while a call is held. Once nobody reads, the model is no longer read either.
func TestWrapModel_TextPassesWhileCallIsHeld(t *testing.T) {
	r, w := schema.Pipe[*schema.Message](0)
	inner := streamOf{r}
	s, err := calltool.WrapModel[*schema.Message](inner, &calltool.Requests[*schema.Message]{}, testHost{}).Stream(context.Background(), nil)
	require.NoError(t, err)
	go func() {
		w.Send(piece[*schema.Message](0, "1", "call_tool", `{"name":`), nil)
		w.Send(text[*schema.Message](0, "hello"), nil)
	}()
	c, err := s.Recv()
	require.NoError(t, err)
	require.Equal(t, "hello", c.Content)
	s.Close()
	require.Eventually(t, func() bool { return w.Send(text[*schema.Message](0, "more"), nil) }, 10e9, 1e6, "the reader is gone")
}

type streamOf struct {
	r *schema.StreamReader[*schema.Message]
}

func (s streamOf) Generate(context.Context, []*schema.Message, ...model.Option) (*schema.Message, error) {
	return nil, nil
}

func (s streamOf) Stream(context.Context, []*schema.Message, ...model.Option) (*schema.StreamReader[*schema.Message], error) {
	return s.r, nil
}
