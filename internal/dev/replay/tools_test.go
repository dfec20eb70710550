// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package replay

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"
)

// catalogue is n tools, of which the conversation of office calls some.
func catalogue(n int) (all []*schema.ToolInfo) {
	for i := range n {
		all = append(all, &schema.ToolInfo{Name: fmt.Sprintf("office__%s_%d", []string{"send_mail", "list_files", "book_room", "read_page"}[i%4], i),
			Desc: fmt.Sprintf("Does office work of kind %d, and says at length how it does it and when.", i),
			ParamsOneOf: schema.NewParamsOneOfByParams(map[string]*schema.ParameterInfo{
				"subject": {Type: schema.String, Desc: "what it is about", Required: true}, "count": {Type: schema.Integer, Desc: "how many of them"},
			})})
	}
	return all
}

// office is a conversation of turns with calls of random tools, some at once, and with a tool of
// the host's own.
func office(r *rand.Rand, tools []*schema.ToolInfo, turns int) (msgs []*schema.Message) {
	msgs = append(msgs, schema.SystemMessage("Be brief."))
	for t := range turns {
		msgs = append(msgs, schema.UserMessage(fmt.Sprintf("request %d", t)))
		for range 1 + r.IntN(3) {
			var calls []schema.ToolCall
			for k := range 1 + r.IntN(2) {
				name := tools[r.IntN(len(tools))].Name
				if r.IntN(8) == 0 {
					name = "host_ask"
				}
				args := fmt.Sprintf([]string{`{"subject":"s%d"}`, `{"subject": "<s%d> & more"}`, `{"nothing of the kind": %d}`, `%d is no JSON`}[r.IntN(4)], len(msgs)+k)
				calls = append(calls, schema.ToolCall{ID: fmt.Sprintf("c%d_%d", len(msgs), k), Type: "function", Function: schema.FunctionCall{Name: name, Arguments: args}})
			}
			msgs = append(msgs, schema.AssistantMessage("", calls))
			for _, c := range calls {
				msgs = append(msgs, schema.ToolMessage(fmt.Sprintf("result of %s: %d", c.ID, r.IntN(1000)), c.ID))
			}
		}
		msgs = append(msgs, schema.AssistantMessage(fmt.Sprintf("answer %d", t), nil))
	}
	return msgs
}

// every returns how often each text stands in the messages.
func every(msgs []*schema.Message, role schema.RoleType) map[string]int {
	n := map[string]int{}
	for _, m := range msgs {
		if m.Role == role {
			n[textOf(m)]++
		}
	}
	return n
}

// However the tools of a random conversation are hidden, every recorded result and answer is there once, and only
// searches are added.
func TestHide_KeepsAnswersAndResults(t *testing.T) {
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 1))
		tools := catalogue(5 + r.IntN(60))
		c := New(office(r, tools, 1+r.IntN(4))).WithTools(tools)
		for _, h := range Hidings() {
			got, err := c.Hide(context.Background(), h)
			require.NoError(t, err, "seed %d, %s", seed, h.Name)
			there := every(got.Messages(), schema.Tool)
			for text, n := range every(c.Messages(), schema.Tool) {
				require.GreaterOrEqual(t, there[text], n, "seed %d, %s: %s", seed, h.Name, text)
			}
			answers := every(got.Messages(), schema.Assistant)
			for text := range every(c.Messages(), schema.Assistant) {
				require.Contains(t, answers, text, "seed %d, %s", seed, h.Name)
			}
			require.GreaterOrEqual(t, got.Calls(), c.Calls(), "seed %d, %s", seed, h.Name)
			require.Len(t, got.definitions, got.Calls(), "seed %d, %s: each call has its tools", seed, h.Name)
			require.Equal(t, every(c.Messages(), schema.User)["request 0"], 1)
		}
	}
}

func TestBill_IncludesToolDefinitions(t *testing.T) {
	tools := catalogue(300)
	var defined int64
	for _, info := range tools {
		defined += ToolTokens(info)
	}
	r := rand.New(rand.NewPCG(7, 7))
	without := New(office(r, tools, 3))
	c := without.WithTools(tools)
	none := Policies()[0]
	bare, err := without.Run(context.Background(), none, Options{})
	require.NoError(t, err)
	listed, err := c.Run(context.Background(), none, Options{})
	require.NoError(t, err)
	require.Equal(t, bare.Written+defined, listed.Written, "they are written once")
	require.Equal(t, bare.Cached+int64(c.Calls()-1)*defined, listed.Cached, "and read from the cache after that")
	require.Equal(t, bare.Largest+defined, listed.Largest)
	require.Equal(t, int64(c.Calls())*defined, listed.Definitions)
	for _, h := range Hidings()[1:] {
		hidden, err := c.Hide(context.Background(), h)
		require.NoError(t, err)
		bill, err := hidden.Run(context.Background(), none, Options{})
		require.NoError(t, err)
		require.Less(t, bill.Written+bill.Cached, (listed.Written+listed.Cached)*4/5, h.Name)
		require.Less(t, bill.Definitions, listed.Definitions/4, h.Name)
		require.Greater(t, bill.Calls, listed.Calls-1, h.Name)
	}
}

func TestHide_RecordingMayEndWithResult(t *testing.T) {
	tools := catalogue(40)
	msgs := office(rand.New(rand.NewPCG(3, 3)), tools, 2)
	c := New(msgs[:len(msgs)-1]).WithTools(tools)
	for _, h := range Hidings() {
		got, err := c.Hide(context.Background(), h)
		require.NoError(t, err, h.Name)
		require.Len(t, got.definitions, got.Calls(), h.Name)
	}
}

func TestHide_WithoutToolsChangesNothing(t *testing.T) {
	c := New(rounds(2, func(int) string { return "x" }))
	for _, h := range Hidings() {
		got, err := c.Hide(context.Background(), h)
		require.NoError(t, err)
		require.Same(t, c, got)
	}
}
