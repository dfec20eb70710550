// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package window_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean"
	"github.com/einolean/einolean/internal/dev/race"
	"github.com/einolean/einolean/internal/einorun"
	"github.com/einolean/einolean/window"
)

// changes makes random changes of a history, as agents, handlers and users do.
type changes struct {
	*rand.Rand
	history []*schema.Message
	tools   []*schema.ToolInfo
	calls   int
	cleared bool // the result "again"
}

func (c *changes) result() {
	c.calls++
	id := fmt.Sprint("call-", c.calls)
	if c.IntN(12) == 0 {
		id = "again" // some models repeat their IDs
	}
	name := []string{"read", "tool_search", "read_file", ""}[c.IntN(4)]
	arguments := "{}"
	if c.cleared { // who has not read a notice names no path
		arguments = `{"file_path":"/tmp/clear/again"}`
	}
	text := fmt.Sprint(c.IntN(3), strings.Repeat(" words", c.IntN(40)))
	c.history = append(c.history, schema.AssistantMessage(text, []schema.ToolCall{{ID: id, Function: schema.FunctionCall{Name: name, Arguments: arguments}}}),
		schema.ToolMessage(text, id))
}

// step changes something, without changing a message or a slice that was handed on.
func (c *changes) step(tell func(einolean.Event)) {
	next := append([]*schema.Message(nil), c.history...)
	c.history = next
	switch c.IntN(9) {
	case 0:
		c.history = append(next, schema.UserMessage(fmt.Sprint("question ", c.IntN(3))))
	case 1: // a reminder, at the end or inside
		at := c.IntN(len(next) + 1)
		reminder := schema.UserMessage("<available-deferred-tools>\n" + fmt.Sprint("tool", c.IntN(4)) + "\n</available-deferred-tools>")
		c.history = append(next[:at:at], append([]*schema.Message{reminder}, next[at:]...)...)
	case 2: // the start goes
		c.history = next[min(len(next), c.IntN(14)):]
	case 3: // results are cleared
		for i, m := range next {
			if m.Role == schema.Tool && c.IntN(3) == 0 {
				c.cleared = c.cleared || m.ToolCallID == "again"
				tell(einolean.Event{Kind: einolean.KindResultCleared, CallID: m.ToolCallID, Output: &einolean.OutputChange{Before: einolean.Size{Bytes: len(m.Content)}, Path: "/tmp/clear/" + m.ToolCallID}})
				next[i] = schema.ToolMessage("<persisted-output>An old result of 99 bytes was removed and saved to: /tmp/clear/"+m.ToolCallID+". Read it.</persisted-output>", m.ToolCallID)
			}
		}
	case 4:
		c.tools = append(c.tools[:0:0], c.tools...)
		c.tools = append(c.tools, &schema.ToolInfo{Name: fmt.Sprint("tool", c.IntN(5)), Desc: fmt.Sprint(c.IntN(2))})
		tell(einolean.Event{Kind: einolean.KindToolsLoaded, Tools: &einolean.ToolChange{Added: []string{fmt.Sprint("tool", c.IntN(5))}}})
	case 5:
		tell(einolean.Event{Kind: einolean.KindResultRead, CallID: fmt.Sprint("call-", c.calls+c.IntN(2)), Output: &einolean.OutputChange{}})
		c.result()
	default:
		c.result()
	}
}

// A run reads only what is new in a request, and records the same as if it read everything.
func TestRecording_LongRunEqualsNewRuns(t *testing.T) {
	for n := range race.Cases(100) {
		seed := uint64(time.Now().UnixNano()) + uint64(n)
		goesOn := window.New(window.Config{Conversation: named("c"), MaxBytes: 200_000})
		anew := window.New(window.Config{Conversation: named("c"), MaxBytes: 200_000})
		ctxOf := func(see *window.Collector) (context.Context, model.BaseModel[*schema.Message]) {
			h := see.Handler()
			ctx, err := einorun.Begin(context.Background(), h, &einorun.RunContext{})
			require.NoError(t, err)
			m, err := h.WrapModel(ctx, answering{}, nil)
			require.NoError(t, err)
			return ctx, m
		}
		once, first := ctxOf(goesOn)
		c := changes{Rand: rand.New(rand.NewPCG(seed, 1)), history: []*schema.Message{schema.SystemMessage("Be brief.")}}
		for range 30 {
			again, second := ctxOf(anew)
			for range 1 + c.IntN(3) {
				c.step(func(e einolean.Event) { goesOn.Event(once, e); anew.Event(again, e) })
			}
			_, err := first.Generate(once, c.history, model.WithTools(c.tools))
			require.NoError(t, err)
			_, err = second.Generate(again, c.history, model.WithTools(c.tools))
			require.NoError(t, err)
			require.Equal(t, recordOf(t, anew), recordOf(t, goesOn), "seed %d", seed)
		}
		_, err := goesOn.Kept()
		require.NoError(t, err)
	}
}

// recordOf is what the newest call holds, without the times and the number of its run.
func recordOf(t *testing.T, see *window.Collector) string {
	t.Helper()
	calls := see.Conversation("c").Calls
	call := *calls[len(calls)-1]
	call.Run, call.Start, call.Took, call.First, call.Events, call.Attempt = 0, time.Time{}, 0, 0, nil, 0
	parts := call.Parts()
	for i := range parts {
		parts[i].Text = 0
		if l := parts[i].Omission; l != nil {
			without := *l
			without.Text = 0
			parts[i].Omission = &without
		}
	}
	text, err := json.MarshalIndent(struct {
		Call  window.ModelCall
		Parts []window.Part
	}{call, parts}, "", " ")
	require.NoError(t, err)
	return string(text)
}

// The cost of recording a call does not depend on how much text earlier calls had.
func TestRecording_CostDependsOnNewText(t *testing.T) {
	race.Skip(t, "the detector is what takes long")
	cost := func(size int) time.Duration {
		c := newChat(t, window.New(window.Config{}))
		for range 500 {
			c.result(size)
		}
		c.ask(t)
		return race.Fastest(0, func() {
			c.result(10)
			c.ask(t)
		})
	}
	short, long := cost(100), cost(20_000)
	t.Logf("after 50 KB of results %s, after 10 MB %s", short, long)
	require.Less(t, long, 5*short, "what reads all again takes fifty times as long")
	require.Less(t, long, 3*time.Millisecond)
}
