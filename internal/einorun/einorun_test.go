// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package einorun

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/adktest"
)

type adds[M adk.MessageType] struct {
	*adk.TypedBaseChatModelAgentMiddleware[M]
}

func (adds[M]) Begin(ctx context.Context, run *RunContext) (context.Context, error) {
	if run != nil {
		run.Tools = append(run.Tools, adktest.Simple("added", "d"))
	}
	return ctx, nil
}

func TestNew_BeginsRunsInBothVersions(t *testing.T) {
	adktest.Both(t, begins[*schema.Message], begins[*schema.AgenticMessage])
}

func begins[M adk.MessageType](t *testing.T, streaming bool) {
	m := adktest.Script[M](adktest.Do(adktest.ToolCall{ID: "1", Name: "added", Args: "{}"}))
	h := New[M](adds[M]{})
	out := adktest.Agent[M]{Model: m, Streaming: streaming, Tools: []tool.BaseTool{adktest.Simple("own", "d")}, Handlers: adktest.Handlers(h)}.
		Run(context.Background(), []M{adktest.User[M]("please")})
	require.NoError(t, out.Err)
	require.Equal(t, []string{"own", "added"}, m.Wires()[0].ToolNames)
	require.Equal(t, "echo {}", adktest.Text(out.Messages[1]))

	run := &RunContext{ReturnDirectly: map[string]bool{"own": true}}
	_, err := Begin(context.Background(), h, run)
	require.NoError(t, err)
	require.Len(t, run.Tools, 1)
	require.True(t, run.ReturnDirectly["own"])
	_, rc, err := h.BeforeAgent(context.Background(), nil)
	require.NoError(t, err)
	require.Nil(t, rc)
}

// What the events say leads to the same messages, and none names one that is not in the log.
func TestSession_EventsRebuildMessages(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	for i := range uint64(5000) {
		r := rand.New(rand.NewPCG(seed, i))
		tells(t, r, fmt.Sprintf("seed %d/%d", seed, i))
	}
}

func tells(t *testing.T, r *rand.Rand, seed string) {
	s := &loggedSession[*schema.Message]{unlogged: map[string]bool{}}
	var before, log []*schema.Message
	for i := range r.IntN(8) {
		m := schema.UserMessage(fmt.Sprint("m", i))
		m.Extra = map[string]any{"_eino_msg_id": fmt.Sprint("id", i)}
		switch r.IntN(6) {
		case 0: // of the agent
			m.Extra[generatedKey] = true
		case 1: // of a function for the model's input
			s.unlogged[fmt.Sprint("id", i)] = true
		case 2: // of another handler, which told the log
			s.unlogged[fmt.Sprint("id", i)] = true
			m.Extra["mark"] = true
			log = append(log, m)
		case 3: // of a handler that knows nothing of sessions
			m.Extra = nil
		default:
			log = append(log, m)
		}
		before = append(before, m)
	}
	var after []*schema.Message
	for i, m := range before {
		switch r.IntN(6) {
		case 0:
			continue
		case 1:
			c := *m
			c.Content, c.Extra = "changed", maps.Clone(m.Extra)
			m = &c
		case 2:
			after = append(after, schema.UserMessage(fmt.Sprint("new", i)))
		case 3:
			if r.IntN(8) == 0 && len(after) > 0 {
				after = slices.Insert(after, r.IntN(len(after)), m)
				continue
			}
		}
		after = append(after, m)
	}
	if r.IntN(4) == 0 {
		after = append(after, schema.UserMessage("last"))
	}
	isOurs := func(m *schema.Message) bool { return s.isLogged(m) || s.isProbablyLogged(m) }
	hidden := maps.Clone(s.unlogged)
	d := s.newDiff(before, after)
	if d.needsReplace {
		return
	}
	for _, e := range d.events {
		var err error
		log, err = applied(s, log, e)
		require.NoError(t, err, seed)
	}
	require.Equal(t, hidden, s.unlogged, seed)
	want := slices.DeleteFunc(slices.Clone(d.after), func(m *schema.Message) bool { return !isOurs(m) })
	require.Equal(t, texts(want), texts(log), seed)
}

func texts(msgs []*schema.Message) (out []string) {
	for _, m := range msgs {
		out = append(out, m.Content)
	}
	return out
}

// applied is the log after an event, as Eino rebuilds it.
func applied(s *loggedSession[*schema.Message], log []*schema.Message, e change) ([]*schema.Message, error) {
	find := func(id string) int {
		return slices.IndexFunc(log, func(m *schema.Message) bool { return idOf(m) == id && !s.unlogged[id] })
	}
	fields := e.content.(map[string]any)
	switch e.field {
	case "MessageUpdated":
		at, m := find(fields["MessageID"].(string)), fields["Message"].(*schema.Message)
		if at < 0 || idOf(m) != fields["MessageID"] {
			return nil, fmt.Errorf("updates %v", fields)
		}
		log[at] = m
	case "MessageInserted":
		at, m := len(log), fields["Message"].(*schema.Message)
		if id := fields["BeforeMessageID"].(string); id != "" {
			if at = find(id); at < 0 {
				return nil, fmt.Errorf("before %s", id)
			}
		}
		log = slices.Insert(log, at, m)
	case "MessagesDeleted":
		for _, id := range fields["MessageIDs"].([]string) {
			at := find(id)
			if at < 0 {
				return nil, fmt.Errorf("deletes %s", id)
			}
			log = slices.Delete(log, at, at+1)
		}
	}
	return log, nil
}

// Results of parallel calls stand in the order of the calls, and nothing else moves.
func TestSession_SortsResultsByCall(t *testing.T) {
	adktest.Both(t, ordersResults[*schema.Message], ordersResults[*schema.AgenticMessage])
}

func ordersResults[M adk.MessageType](t *testing.T, _ bool) {
	call := func(id string) adktest.ToolCall { return adktest.ToolCall{ID: id, Name: "t", Args: "{}"} }
	result := func(id string) M { return adktest.Result[M](id, "t", id) }
	msgs := []M{adktest.User[M]("x"), adktest.Assistant[M]("", call("a"), call("b"), call("c")), result("c"), result("a"), result("b"),
		result("stray"), adktest.Assistant[M]("", call("d"), call("e")), result("e"), adktest.User[M]("y"), result("d"), *new(M)}
	var got string
	for _, m := range sortResults(msgs) {
		got += resultOf(m) + " "
	}
	require.Equal(t, "  a b c stray  e  d  ", got)
}
