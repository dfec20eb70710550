// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package window_test

import (
	"bytes"
	"context"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/adktest"
	"github.com/einolean/einolean/window"
)

func TestWrapModel_WorksOutsideARun(t *testing.T) {
	adktest.Both(t, outsideARun[*schema.Message], outsideARun[*schema.AgenticMessage])
}

func outsideARun[M adk.MessageType](t *testing.T, streaming bool) {
	see := window.New(window.Config{})
	m, err := window.HandlerFor[M](see).WrapModel(context.Background(), adktest.Script[M](adktest.Say("hello")), nil)
	require.NoError(t, err)
	if streaming {
		out, err := m.Stream(context.Background(), []M{adktest.User[M]("hi")})
		require.NoError(t, err)
		_, err = adktest.Drain(out)
		require.NoError(t, err)
	} else {
		out, err := m.Generate(context.Background(), []M{adktest.User[M]("hi")})
		require.NoError(t, err)
		require.Equal(t, "hello", adktest.Text(out))
	}
	for range see.Conversations() {
		t.Error("nothing is recorded without a run")
	}
}

func TestWriteJSON_WritesConversationsMadeByHand(t *testing.T) {
	var file bytes.Buffer
	for _, id := range []string{"a", "b"} {
		c := window.Conversation{ID: id, Calls: []*window.ModelCall{{N: 1}, {N: 2}}}
		require.NoError(t, c.WriteJSON(&file))
	}
	all, err := window.ReadJSON(&file)
	require.NoError(t, err)
	require.Len(t, all, 2)
	for i, id := range []string{"a", "b"} {
		require.Equal(t, id, all[i].ID)
		require.Len(t, all[i].Calls, 2)
	}
}
