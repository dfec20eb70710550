// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package mcptools

// Servers in health: what they offer, and what their tools answer.

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/leanctx/leanctx"
)

var ctx = context.Background()

// ways are the ways to reach a server.
func ways(t testing.TB) map[string]Server {
	return map[string]Server{
		"stdio":  child(t, "yes"),
		"http":   {URL: newFixture().web(t, nil).URL},
		"memory": newFixture().inMemory(),
	}
}

func TestToolsOfEveryKindOfServerAreFoundAndRun(t *testing.T) {
	var events recorder
	s := open(t, ways(t), Options{OnEvent: events.record})
	names := namesIn(t, ctx, s)
	for _, way := range []string{"http", "memory", "stdio"} {
		require.Contains(t, names, way+"__echo")
		require.Equal(t, "hello", ask(t, ctx, s, way+"__echo", `{"text":"hello"}`))
		st := statusOf(s, way)
		require.Equal(t, StateUp, st.State)
		require.Equal(t, 11, st.Tools)
		require.NotEmpty(t, st.Protocol)
		require.NoError(t, st.Err)
	}
	require.True(t, strings.HasPrefix(names[0], "http__"), "servers are in alphabetical order")
	require.Len(t, events.of(leanctx.KindServerUp), 3)
	listed := events.of(leanctx.KindServerListed)
	require.Len(t, listed, 3)
	require.Equal(t, 11, listed[0].Tools.AddedCount)
	require.Len(t, listed[0].Tools.Added, 11)
	require.Positive(t, listed[0].Tools.Tokens)
}

func TestTheSetIsTheSameWhileNothingChanges(t *testing.T) {
	s := open(t, ways(t), Options{})
	one, err := s.Tools(ctx)
	require.NoError(t, err)
	require.Equal(t, "x", ask(t, ctx, s, "http__echo", `{"text":"x"}`))
	require.Contains(t, ask(t, ctx, s, "http__fail", `{}`), "error: ", "its list is read again, and is the same")
	two, err := s.Tools(ctx)
	require.NoError(t, err)
	require.Same(t, one, two)
}

func TestWhateverAToolDoesIsAnAnswer(t *testing.T) {
	for way, server := range ways(t) {
		t.Run(way, func(t *testing.T) {
			s := open(t, map[string]Server{"srv": server}, Options{})
			require.Equal(t, "error: it does not work: today", ask(t, ctx, s, "srv__fail", `{"text":"today"}`))
			require.Contains(t, ask(t, ctx, s, "srv__protocol_error", `{}`), "error: ")
			require.Contains(t, ask(t, ctx, s, "srv__protocol_error", `{}`), "the handler broke")
			require.Contains(t, ask(t, ctx, s, "srv__echo", `{"text":`), "not a JSON object")
			require.Contains(t, ask(t, ctx, s, "srv__echo", `[1]`), "not a JSON object")
			require.Equal(t, "", ask(t, ctx, s, "srv__echo", ""))
			require.Equal(t, "", ask(t, ctx, s, "srv__echo", "null"))
			gone := find(t, ctx, s, "srv__remove_tool")
			require.Equal(t, "removed remove_tool", ask(t, ctx, s, "srv__remove_tool", `{"text":"remove_tool"}`))
			answer, _, err := gone.(*textTool).call(ctx, `{}`)
			require.NoError(t, err)
			require.Nil(t, answer)
			require.NotContains(t, namesIn(t, ctx, s), "srv__remove_tool")
		})
	}
}

// A tool that a call makes available is there in the next model call, and one that it
// removes is not.
func TestWhatACallChangesIsThereNext(t *testing.T) {
	for way, server := range ways(t) {
		t.Run(way, func(t *testing.T) {
			s := open(t, map[string]Server{"srv": server}, Options{MaxWait: 1e10})
			for i := range 20 {
				name := "made_" + strings.Repeat("i", i)
				ask(t, ctx, s, "srv__add_tool", `{"text":"`+name+`"}`)
				require.Contains(t, namesIn(t, ctx, s), "srv__"+name)
				require.Equal(t, "ran "+name, ask(t, ctx, s, "srv__"+name, `{}`))
				ask(t, ctx, s, "srv__remove_tool", `{"text":"`+name+`"}`)
				require.NotContains(t, namesIn(t, ctx, s), "srv__"+name)
			}
		})
	}
}
