// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package window_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/adktest"
	"github.com/einolean/einolean/window"
)

// A call passed to OnCall has the parts that the collector has, and keeps them.
func TestOnCall_CallHasItsParts(t *testing.T) {
	adktest.Both(t, handsOut[*schema.Message], handsOut[*schema.AgenticMessage])
}

func handsOut[M adk.MessageType](t *testing.T, streaming bool) {
	var told []*window.ModelCall
	s := newScene(t, streaming, window.Config{OnCall: func(_ context.Context, c *window.ModelCall) { told = append(told, c) }}, script[M]())
	require.NoError(t, s.agent.Run(t.Context(), []M{adktest.System[M]("Help."), adktest.User[M]("begin")}).Err)
	calls := only(t, s.see).Calls
	require.Len(t, told, len(calls))
	for i, c := range told {
		require.NotEmpty(t, c.Parts(), "call %d", c.N)
		require.Equal(t, calls[i].Parts(), c.Parts(), "call %d", c.N)
	}
}

// A loop over Conversations may stop at any of them.
func TestConversations_IterationMayStop(t *testing.T) {
	n := 0
	see := window.New(window.Config{Conversation: func(context.Context) (string, error) { n++; return fmt.Sprint(n), nil }})
	for range 4 {
		agent := adktest.Agent[*schema.Message]{Model: adktest.Script[*schema.Message](), Handlers: adktest.Handlers(window.HandlerFor[*schema.Message](see))}
		require.NoError(t, agent.Run(t.Context(), []*schema.Message{schema.UserMessage("go")}).Err)
	}
	for most := range 5 {
		var read []string
		for c := range see.Conversations() {
			if len(read) == most {
				break
			}
			read = append(read, c.ID)
		}
		require.Equal(t, []string{"4", "3", "2", "1"}[:most], append([]string{}, read...))
	}
}
