// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package continuation

import (
	"context"
	"errors"
	"maps"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/schema"
	"github.com/cloudwego/eino/schema/claude"
	"github.com/cloudwego/eino/schema/gemini"
	"github.com/cloudwego/eino/schema/openai"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/adktest"
	"github.com/einolean/einolean/internal/message"
)

// extras are the Extra maps of answers, as adapters write them or as a store returns them.
var extras = map[string]map[string]any{
	"ark":                {"ark-response-id": "r", "ark-response-cache-expire-at": float64(9), "ark-context-id": "r", "mine": "x"},
	"early ark":          {"ark-response-id": "r", "ark-response-caching": "enabled"},
	"agenticopenai":      {"_eino_ext_agenticopenai_auto_cached": true, "mine": "x"},
	"ark, with no TTL":   {"ark-response-id": "r", "mine": "x"},
	"claude":             {"_eino_claude_thinking": "hm", "_eino_claude_thinking_signature": "s", "mine": "x"},
	"einolean claude":    {"_einolean_claude_thinking": "[]", "mine": "x"},
	"claude, not signed": {"_eino_claude_thinking": "hm", "_eino_claude_thinking_signature": "", "mine": "x"},
	"another provider":   {"mine": "x", "_gemini_thought_signature": "s", "reasoning-content": "hm"},
	"no extra":           nil,
}

// ids are the keys of the provider state in extras, which DropStale removes.
var ids = map[string]string{
	"ark": "ark-response-id", "early ark": "ark-response-id", "agenticopenai": "_eino_ext_agenticopenai_auto_cached",
	"claude": "_eino_claude_thinking_signature", "einolean claude": "_einolean_claude_thinking",
}

var kinds = map[string]Continuation{
	"ark": StoredWithTools, "early ark": StoredWithTools, "agenticopenai": Stored,
	"claude": SignedThinking, "einolean claude": SignedThinking,
}

func TestDropStale_RemovesOnlyStateFromCopy(t *testing.T) {
	adktest.EachType(t,
		testDropStaleRemovesOnlyStateFromCopy[*schema.Message], testDropStaleRemovesOnlyStateFromCopy[*schema.AgenticMessage])
}

func testDropStaleRemovesOnlyStateFromCopy[M adk.MessageType](t *testing.T) {
	for name, extra := range extras {
		t.Run(name, func(t *testing.T) {
			m := message.WithExtra(adktest.Assistant[M]("hello", adktest.ToolCall{ID: "1", Name: "f", Args: "{}"}), maps.Clone(extra))
			msgs := []M{adktest.User[M]("hi"), m}
			asked := 0
			stale := func(i int, state Continuation) bool {
				asked++
				require.Equal(t, 1, i)
				require.Equal(t, kinds[name], state)
				return true
			}
			out, changed := DropStale(msgs, stale)
			id, kept := ids[name]
			require.Equal(t, kept, Any(msgs))
			require.Equal(t, kept, asked > 0)
			require.Equal(t, kept, changed)
			require.Equal(t, kinds[name] == Stored || kinds[name] == StoredWithTools, AnyStored(msgs))
			require.Equal(t, extra, message.Extra(m), "what was handed in never changes")
			if !kept {
				require.Same(t, &msgs[0], &out[0])
				return
			}
			require.False(t, Any(out))
			want := maps.Clone(extra)
			delete(want, id)
			require.Equal(t, message.WithExtra(m, want), out[1], "everything else stays")
			same, changed := DropStale(msgs, func(int, Continuation) bool { return false })
			require.Same(t, &msgs[0], &same[0])
			require.False(t, changed)
		})
	}
}

func TestGuard_MarksAnswersWithStateOnce(t *testing.T) {
	adktest.EachType(t, testGuardMarksAnswersWithStateOnce[*schema.Message], testGuardMarksAnswersWithStateOnce[*schema.AgenticMessage])
}

func testGuardMarksAnswersWithStateOnce[M adk.MessageType](t *testing.T) {
	ctx := t.Context()
	kept := func() M { return message.WithExtra(adktest.Assistant[M]("a"), maps.Clone(extras["ark"])) }
	plain := adktest.Assistant[M]("b")
	input := []M{adktest.User[M]("hi")}
	mark := "m"
	wrap := func(chunks []M, err error) model.BaseModel[M] {
		m := fixed[M]{chunks, err}
		return Guard[M]{Key: "k", Mark: func(in []M, _ Continuation) string { require.Equal(t, input, in); return mark }}.Model(m)
	}

	first := kept()
	out, err := wrap([]M{first}, nil).Generate(ctx, input)
	require.NoError(t, err)
	require.Equal(t, "m", MarkOf(out, "k"))
	require.Equal(t, extras["ark"], message.Extra(first))
	out, err = wrap([]M{plain}, nil).Generate(ctx, input)
	require.NoError(t, err)
	require.Equal(t, plain, out)

	stream, err := wrap([]M{plain, kept(), kept()}, nil).Stream(ctx, input)
	require.NoError(t, err)
	require.Equal(t, []string{"", "m", ""}, chunkMarks(t, stream))

	mark = ""
	out, err = wrap([]M{first}, nil).Generate(ctx, input)
	require.NoError(t, err)
	require.Equal(t, first, out)
	wrong := errors.New("wrong")
	_, err = wrap(nil, wrong).Generate(ctx, input)
	require.ErrorIs(t, err, wrong)
	_, err = wrap(nil, wrong).Stream(ctx, input)
	require.ErrorIs(t, err, wrong)
}

// chunkMarks reads a stream to its end, and returns the mark of each chunk.
func chunkMarks[M adk.MessageType](t *testing.T, stream *schema.StreamReader[M]) (marks []string) {
	chunks, err := adktest.Drain(stream)
	require.NoError(t, err)
	for _, chunk := range chunks {
		marks = append(marks, MarkOf(chunk, "k"))
	}
	return marks
}

// A nil message in a history and a nil answer stay as they are.
func TestGuard_KeepsNilMessages(t *testing.T) {
	adktest.EachType(t, testGuardKeepsNilMessages[*schema.Message], testGuardKeepsNilMessages[*schema.AgenticMessage])
}

func testGuardKeepsNilMessages[M adk.MessageType](t *testing.T) {
	kept := message.WithExtra(adktest.Assistant[M]("a"), maps.Clone(extras["ark"]))
	msgs := []M{nil, kept, nil}
	require.False(t, Any([]M{nil}) || AnyStored([]M{nil}))
	require.False(t, Any[M](nil) || AnyStored[M](nil))
	require.True(t, Any(msgs))
	require.Empty(t, MarkOf[M](nil, "k"))
	require.Empty(t, MarkOf(kept, "k"))
	require.Empty(t, MarkOf(kept, "ark-response-cache-expire-at"), "no text")
	out, _ := DropStale(msgs, func(i int, _ Continuation) bool { require.Equal(t, 1, i); return true })
	require.Nil(t, out[0])
	require.Nil(t, out[2])
	out, changed := DropStale[M](nil, func(int, Continuation) bool { return true })
	require.Empty(t, out)
	require.False(t, changed)

	guard := Guard[M]{Key: "k", Mark: func([]M, Continuation) string { return "m" }}
	none := guard.Model(silent[M]{})
	answer, err := none.Generate(t.Context(), nil)
	require.NoError(t, err)
	require.Nil(t, answer)
	stream, err := none.Stream(t.Context(), nil)
	require.NoError(t, err)
	require.Nil(t, stream)

	wrong := errors.New("wrong")
	failing := guard.Model(silent[M]{answer: kept, err: wrong})
	answer, err = failing.Generate(t.Context(), nil)
	require.ErrorIs(t, err, wrong)
	require.Same(t, kept, answer, "what comes with an error is passed on as it is")
	stream, err = failing.Stream(t.Context(), nil)
	require.ErrorIs(t, err, wrong)
	chunk, err := stream.Recv()
	require.NoError(t, err)
	require.Same(t, kept, chunk)
}

// Each message with stale state is replaced by a copy. The others stay.
func TestDropStale_ReplacesOnlyStaleMessages(t *testing.T) {
	kept := func() *schema.Message {
		return &schema.Message{Role: schema.Assistant, Extra: maps.Clone(extras["ark"])}
	}
	both := maps.Clone(extras["ark"])
	maps.Copy(both, extras["agenticopenai"])
	msgs := []*schema.Message{kept(), kept(), {Role: schema.User}, {Role: schema.Assistant, Extra: both}}
	out, changed := DropStale(msgs, func(i int, state Continuation) bool {
		require.Equal(t, StoredWithTools, state)
		return i != 1
	})
	require.True(t, changed)
	require.NotSame(t, msgs[0], out[0])
	require.Same(t, msgs[1], out[1])
	require.Same(t, msgs[2], out[2])
	require.Equal(t, map[string]any{"ark-response-cache-expire-at": float64(9), "ark-context-id": "r", "mine": "x"}, out[0].Extra)
	require.Equal(t, out[0].Extra, out[3].Extra, "the ids of both adapters are gone")
	require.Equal(t, extras["ark"], msgs[0].Extra)
	require.Len(t, both, 5)
}

// Thinking in blocks is Claude's only if Claude's adapter says so; that of others stays.
func TestDropStale_RemovesOnlyClaudesThinking(t *testing.T) {
	thinking := schema.NewContentBlock(&schema.Reasoning{Text: "hm", Signature: "s"})
	text := schema.NewContentBlock(&schema.AssistantGenText{Text: "hello"})
	all := func(int, Continuation) bool { return true }
	answer := func(meta *schema.AgenticResponseMeta, blocks ...*schema.ContentBlock) *schema.AgenticMessage {
		return &schema.AgenticMessage{Role: schema.AgenticRoleTypeAssistant, ResponseMeta: meta, ContentBlocks: blocks}
	}
	ours := &schema.AgenticResponseMeta{ClaudeExtension: &claude.ResponseMetaExtension{ID: "m"}}
	for _, other := range []*schema.AgenticResponseMeta{
		nil, {}, {GeminiExtension: &gemini.ResponseMetaExtension{}}, {OpenAIExtension: &openai.ResponseMetaExtension{}},
	} {
		msgs := []*schema.AgenticMessage{answer(other, thinking, text)}
		require.False(t, Any(msgs))
		out, _ := DropStale(msgs, all)
		require.Same(t, &msgs[0], &out[0])
	}
	given := answer(ours, thinking, text, nil, thinking)
	out, changed := DropStale([]*schema.AgenticMessage{given}, all)
	require.True(t, changed)
	require.Equal(t, []*schema.ContentBlock{text, nil}, out[0].ContentBlocks)
	require.Len(t, given.ContentBlocks, 4)
	out, _ = DropStale([]*schema.AgenticMessage{answer(ours, thinking)}, all)
	require.Equal(t, ellipsis, out[0].ContentBlocks[0].AssistantGenText.Text)
	require.False(t, Any([]*schema.AgenticMessage{answer(ours, text)}))
	plain, _ := DropStale([]*schema.Message{{Role: schema.Assistant, Extra: maps.Clone(extras["claude"])}}, all)
	require.Equal(t, ellipsis, plain[0].Content, "no provider takes an empty message")

	guard := Guard[*schema.AgenticMessage]{Key: "k", Mark: func(_ []*schema.AgenticMessage, state Continuation) string {
		require.Equal(t, SignedThinking, state)
		return "m"
	}}
	chunks := []*schema.AgenticMessage{answer(nil, thinking), answer(ours), answer(ours, text)}
	stream, err := guard.Model(fixed[*schema.AgenticMessage]{chunks: chunks}).Stream(t.Context(), nil)
	require.NoError(t, err)
	require.Equal(t, []string{"", "m", ""}, chunkMarks(t, stream))
}

// Once a conversation has thinking, answers without thinking are marked as well. So it is known which state was
// dropped before them, and that is not reported again.
func TestGuard_ReportsChangeOnce(t *testing.T) {
	now, reports := "one", 0
	guard := Guard[*schema.Message]{
		Key: "k", Mark: func([]*schema.Message, Continuation) string { return now },
		Stale: func([]*schema.Message) func(int, Continuation, string) bool {
			return func(_ int, _ Continuation, mark string) bool { return mark != now }
		},
		Changed: func(context.Context) { reports++ },
	}
	thinks := &schema.Message{Role: schema.Assistant, Content: "a", Extra: maps.Clone(extras["claude"])}
	history := []*schema.Message{schema.UserMessage("hi")}
	ask := func(answer *schema.Message) (sent []*schema.Message) {
		m := &recording{answer: answer}
		out, err := guard.Model(m).Generate(t.Context(), history)
		require.NoError(t, err)
		history = append(history, out, schema.UserMessage("and?"))
		return m.got
	}
	ask(thinks)
	require.True(t, Any(ask(thinks)))
	require.Zero(t, reports)
	now = "two"
	require.False(t, Any(ask(schema.AssistantMessage("b", nil))))
	require.False(t, Any(ask(schema.AssistantMessage("c", nil))))
	require.Equal(t, 1, reports)
	require.True(t, Any(history))
	now = "one"
	require.True(t, Any(ask(schema.AssistantMessage("d", nil))), "the state comes back with the request that it belongs to")
}

type recording struct {
	answer *schema.Message
	got    []*schema.Message
}

func (m *recording) Generate(_ context.Context, in []*schema.Message, _ ...model.Option) (*schema.Message, error) {
	m.got = in
	return m.answer, nil
}

func (m *recording) Stream(context.Context, []*schema.Message, ...model.Option) (*schema.StreamReader[*schema.Message], error) {
	return nil, errors.ErrUnsupported
}

// silent is a model that answers with one message, and an error.
type silent[M adk.MessageType] struct {
	answer M
	err    error
}

func (m silent[M]) Generate(context.Context, []M, ...model.Option) (M, error) { return m.answer, m.err }

func (m silent[M]) Stream(context.Context, []M, ...model.Option) (*schema.StreamReader[M], error) {
	if m.answer == nil {
		return nil, m.err
	}
	return schema.StreamReaderFromArray([]M{m.answer}), m.err
}

// fixed is a model that answers with the given chunks, or an error.
type fixed[M adk.MessageType] struct {
	chunks []M
	err    error
}

func (m fixed[M]) Generate(context.Context, []M, ...model.Option) (out M, err error) {
	if m.err != nil {
		return out, m.err
	}
	return m.chunks[0], nil
}

func (m fixed[M]) Stream(context.Context, []M, ...model.Option) (*schema.StreamReader[M], error) {
	if m.err != nil {
		return nil, m.err
	}
	return schema.StreamReaderFromArray(m.chunks), nil
}
