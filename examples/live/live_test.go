// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	servers "github.com/einolean/einolean/internal/dev/provider"
)

func script() []servers.Turn {
	return []servers.Turn{
		{Calls: []servers.Call{{Name: "tool_search", Args: `{"query":"sha-256 hash of a text"}`}}},
		{Calls: []servers.Call{{Name: "hash__sha256", Args: `{"text":"leap"}`}}},
		{Text: "The digest is 5f2b."},
	}
}

func start(t *testing.T, api servers.API, turns ...servers.Turn) *servers.Server {
	t.Helper()
	s := servers.Start(api, turns...)
	t.Cleanup(s.Close)
	return s
}

func environment(pairs ...string) func(string) string {
	return func(name string) string {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1]
			}
		}
		return ""
	}
}

func TestRun_SpeaksOpenAIWireFormat(t *testing.T) {
	server := start(t, servers.Chat, script()...)
	var out bytes.Buffer
	err := run(context.Background(), environment("OPENAI_BASE_URL", server.URL(), "OPENAI_API_KEY", "k", "OPENAI_MODEL", "m"), nil,
		strings.NewReader("What is the SHA-256 of leap?\n\n"), &out)
	require.NoError(t, err, out.String())
	text := out.String()
	require.Contains(t, text, "The digest is 5f2b.")
	require.Contains(t, text, `hash__sha256 {"text":"leap"}`)
	all := server.Requests()
	require.Contains(t, text, fmt.Sprintf("%d tokens in (0 cached), 10 out; 2 of ", all[0].Tokens()))
	require.Len(t, all, 3)
	require.Len(t, all[0].Tools, 2, "at first only tool_search and the read tool go out")
	require.Contains(t, servers.Names(all[1].Tools), "hash__sha256")
}

func TestRun_SpeaksClaudeWireFormat(t *testing.T) {
	for _, native := range []string{"", "1"} {
		t.Run("native="+native, func(t *testing.T) {
			server := start(t, servers.Anthropic, script()...)
			var out bytes.Buffer
			err := run(context.Background(), environment("ANTHROPIC_BASE_URL", server.URL(), "ANTHROPIC_API_KEY", "k", "ANTHROPIC_MODEL", "claude", "NATIVE_TOOL_SEARCH", native),
				[]string{"What is the SHA-256 of leap?"}, strings.NewReader(""), &out)
			require.NoError(t, err, out.String())
			require.Contains(t, out.String(), "The digest is 5f2b.")
			all := server.Requests()
			require.Contains(t, out.String(), fmt.Sprintf("%d tokens in", all[0].Tokens()))
			require.Len(t, all, 3)
			require.Equal(t, native != "", len(all[1].Deferred()) > 0)
		})
	}
}

func TestRun_FailedAnswerDoesNotEndConversation(t *testing.T) {
	server := start(t, servers.Chat, servers.Turn{Status: http.StatusForbidden}, servers.Turn{Status: http.StatusForbidden})
	var out bytes.Buffer
	err := run(context.Background(), environment("OPENAI_BASE_URL", server.URL(), "OPENAI_API_KEY", "k", "OPENAI_MODEL", "m"), nil,
		strings.NewReader("one\ntwo\n\n"), &out)
	require.NoError(t, err)
	require.Equal(t, 2, strings.Count(out.String(), "error:"), out.String())
}

func TestRun_NamesMissingVariables(t *testing.T) {
	err := run(context.Background(), environment(), nil, strings.NewReader(""), io.Discard)
	require.ErrorIs(t, err, errNoModel)
	require.Less(t, strings.Count(usage, "\n"), 25, "one screen")
	for _, name := range []string{"OPENAI_BASE_URL", "OPENAI_API_KEY", "OPENAI_MODEL", "ANTHROPIC_API_KEY", "ANTHROPIC_MODEL"} {
		require.Contains(t, usage, name)
	}
	err = run(context.Background(), environment("OPENAI_API_KEY", "k"), nil, strings.NewReader(""), io.Discard)
	require.ErrorContains(t, err, "OPENAI_MODEL is not")
}
