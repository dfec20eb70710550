// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package session

import (
	"context"
	"errors"
	"maps"
	"testing"

	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/leanctx/leanctx/internal/adktest"
)

// extras are what adapters write into messages that their provider keeps, as the
// adapter does and as it comes back from a store.
var extras = map[string]map[string]any{
	"ark":               {"ark-response-id": "r", "ark-response-cache-expire-at": float64(9), "ark-context-id": "r", "mine": "x"},
	"an early ark":      {"ark-response-id": "r", "ark-response-caching": "enabled"},
	"agenticopenai":     {"_eino_ext_agenticopenai_auto_cached": true, "mine": "x"},
	"ark, with no TTL":  {"ark-response-id": "r", "mine": "x"},
	"another provider":  {"mine": "x"},
	"a message without": nil,
}

var ids = map[string]string{
	"ark": "ark-response-id", "an early ark": "ark-response-id", "agenticopenai": "_eino_ext_agenticopenai_auto_cached",
}

func TestOnlyTheResponseIDIsTakenOffACopy(t *testing.T) {
	t.Run("plain", restarts[*schema.Message])
	t.Run("agentic", restarts[*schema.AgenticMessage])
}

func restarts[M Message](t *testing.T) {
	for name, extra := range extras {
		t.Run(name, func(t *testing.T) {
			m := withExtra(adktest.Assistant[M]("hello", adktest.ToolCall{ID: "1", Name: "f", Args: "{}"}), maps.Clone(extra))
			msgs := []M{adktest.User[M]("hi"), m}
			asked := 0
			out := Restart(msgs, func(i int, tools bool) bool {
				asked++
				require.Equal(t, 1, i)
				require.Equal(t, name != "agenticopenai", tools)
				return true
			})
			id, kept := ids[name]
			require.Equal(t, kept, Any(msgs))
			require.Equal(t, map[bool]int{true: 1}[kept], asked)
			require.Equal(t, extra, extraOf(m), "what was handed in never changes")
			if !kept {
				require.Same(t, &msgs[0], &out[0])
				return
			}
			require.False(t, Any(out))
			want := maps.Clone(extra)
			delete(want, id)
			require.Equal(t, withExtra(m, want), out[1], "everything else stays")
			same := Restart(msgs, func(int, bool) bool { return false })
			require.Same(t, &msgs[0], &same[0])
		})
	}
}

func TestAnswersThatAreKeptAreMarkedOnce(t *testing.T) {
	t.Run("plain", marks[*schema.Message])
	t.Run("agentic", marks[*schema.AgenticMessage])
}

func marks[M Message](t *testing.T) {
	ctx := t.Context()
	kept := func() M { return withExtra(adktest.Assistant[M]("a"), maps.Clone(extras["ark"])) }
	plain := adktest.Assistant[M]("b")
	input := []M{adktest.User[M]("hi")}
	mark := "m"
	wrap := func(chunks []M, err error) *marking[M] {
		m := fixed[M]{chunks, err}
		return Marking(m, "k", func(in []M) string { require.Equal(t, input, in); return mark }).(*marking[M])
	}

	first := kept()
	out, err := wrap([]M{first}, nil).Generate(ctx, input)
	require.NoError(t, err)
	require.Equal(t, "m", MarkOf(out, "k"))
	require.Equal(t, extras["ark"], extraOf(first))
	out, err = wrap([]M{plain}, nil).Generate(ctx, input)
	require.NoError(t, err)
	require.Equal(t, plain, out)

	stream, err := wrap([]M{plain, kept(), kept()}, nil).Stream(ctx, input)
	require.NoError(t, err)
	var got []string
	for {
		chunk, err := stream.Recv()
		if err != nil {
			break
		}
		got = append(got, MarkOf(chunk, "k"))
	}
	require.Equal(t, []string{"", "m", ""}, got)

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

// A message that is nil, and an answer that is, stay as they are.
func TestMissingMessagesAreLeftAlone(t *testing.T) {
	t.Run("plain", missing[*schema.Message])
	t.Run("agentic", missing[*schema.AgenticMessage])
}

func missing[M Message](t *testing.T) {
	kept := withExtra(adktest.Assistant[M]("a"), maps.Clone(extras["ark"]))
	msgs := []M{nil, kept, nil}
	require.False(t, Any([]M{nil}))
	require.False(t, Any[M](nil))
	require.True(t, Any(msgs))
	require.Empty(t, MarkOf[M](nil, "k"))
	require.Empty(t, MarkOf(kept, "k"))
	require.Empty(t, MarkOf(kept, "ark-response-cache-expire-at"), "no text")
	out := Restart(msgs, func(i int, _ bool) bool { require.Equal(t, 1, i); return true })
	require.Nil(t, out[0])
	require.Nil(t, out[2])
	require.Empty(t, Restart[M](nil, func(int, bool) bool { return true }))

	mark := func([]M) string { return "m" }
	none := Marking[M](silent[M]{}, "k", mark)
	answer, err := none.Generate(t.Context(), nil)
	require.NoError(t, err)
	require.Nil(t, answer)
	stream, err := none.Stream(t.Context(), nil)
	require.NoError(t, err)
	require.Nil(t, stream)

	wrong := errors.New("wrong")
	failing := Marking[M](silent[M]{answer: kept, err: wrong}, "k", mark)
	answer, err = failing.Generate(t.Context(), nil)
	require.ErrorIs(t, err, wrong)
	require.Same(t, kept, answer, "what comes with an error is passed on as it is")
	stream, err = failing.Stream(t.Context(), nil)
	require.ErrorIs(t, err, wrong)
	chunk, err := stream.Recv()
	require.NoError(t, err)
	require.Same(t, kept, chunk)
}

// Each of several messages that must not be built on is another one; the others stay.
func TestRestartReplacesWhatIsStale(t *testing.T) {
	kept := func() *schema.Message {
		return &schema.Message{Role: schema.Assistant, Extra: maps.Clone(extras["ark"])}
	}
	both := maps.Clone(extras["ark"])
	maps.Copy(both, extras["agenticopenai"])
	msgs := []*schema.Message{kept(), kept(), {Role: schema.User}, {Role: schema.Assistant, Extra: both}}
	out := Restart(msgs, func(i int, tools bool) bool { require.True(t, tools); return i != 1 })
	require.NotSame(t, msgs[0], out[0])
	require.Same(t, msgs[1], out[1])
	require.Same(t, msgs[2], out[2])
	require.Equal(t, map[string]any{"ark-response-cache-expire-at": float64(9), "ark-context-id": "r", "mine": "x"}, out[0].Extra)
	require.Equal(t, out[0].Extra, out[3].Extra, "the ids of both adapters are gone")
	require.Equal(t, extras["ark"], msgs[0].Extra)
	require.Len(t, both, 5)
}

// silent is a model that answers with one message, and an error.
type silent[M Message] struct {
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
type fixed[M Message] struct {
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
