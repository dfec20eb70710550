// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// wireRequest is what both providers' requests have in common for this test.
type wireRequest struct {
	Stream   bool              `json:"stream"`
	Messages []json.RawMessage `json:"messages"`
	Tools    []struct {
		Name         string `json:"name"`          // Claude
		DeferLoading bool   `json:"defer_loading"` // Claude
		Function     struct {
			Name string `json:"name"`
		} `json:"function"` // OpenAI
	} `json:"tools"`
}

func (r wireRequest) has(tool string) bool {
	for _, t := range r.Tools {
		if t.Name == tool || t.Function.Name == tool {
			return true
		}
	}
	return false
}

// step is one turn of the scripted model: a call, or text.
type step struct{ tool, args, text string }

var script = []step{
	{tool: "tool_search", args: `{"query":"sha-256 hash of a text"}`},
	{tool: "hash__sha256", args: `{"text":"leap"}`},
	{text: "The digest is 5f2b."},
}

// serve plays a provider: it streams the script, and refuses calls of tools that the
// request does not show.
func serve(t *testing.T, stream func(w io.Writer, s step)) (url string, requests func() []wireRequest) {
	t.Helper()
	var all []wireRequest
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var req wireRequest
		body, err := io.ReadAll(r.Body)
		if err == nil {
			err = json.Unmarshal(body, &req)
		}
		if err != nil || !req.Stream || len(all) >= len(script) {
			http.Error(w, `{"error":{"message":"bad request"}}`, http.StatusBadRequest)
			return
		}
		s := script[len(all)]
		all = append(all, req)
		if s.tool != "" && !req.has(s.tool) {
			http.Error(w, fmt.Sprintf(`{"error":{"message":"no tool %s"}}`, s.tool), http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		stream(w, s)
	}))
	t.Cleanup(srv.Close)
	return srv.URL, func() []wireRequest { return all }
}

func openAIStream(w io.Writer, s step) {
	chunk := func(delta string, more string) {
		fmt.Fprintf(w, "data: {\"id\":\"r\",\"object\":\"chat.completion.chunk\",\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":%s%s}]}\n\n", delta, more)
	}
	if s.tool == "" {
		for _, word := range strings.SplitAfter(s.text, " ") {
			chunk(fmt.Sprintf(`{"role":"assistant","content":%q}`, word), "")
		}
		chunk(`{}`, `,"finish_reason":"stop"`)
	} else {
		chunk(fmt.Sprintf(`{"role":"assistant","tool_calls":[{"index":0,"id":"call_%s","type":"function","function":{"name":%q,"arguments":""}}]}`, s.tool, s.tool), "")
		half := len(s.args) / 2
		for _, part := range []string{s.args[:half], s.args[half:]} {
			chunk(fmt.Sprintf(`{"tool_calls":[{"index":0,"function":{"arguments":%q}}]}`, part), "")
		}
		chunk(`{}`, `,"finish_reason":"tool_calls"`)
	}
	fmt.Fprint(w, "data: {\"id\":\"r\",\"object\":\"chat.completion.chunk\",\"model\":\"m\",\"choices\":[],\"usage\":{\"prompt_tokens\":321,\"completion_tokens\":12,\"total_tokens\":333,\"prompt_tokens_details\":{\"cached_tokens\":64}}}\n\n")
	fmt.Fprint(w, "data: [DONE]\n\n")
}

func claudeStream(w io.Writer, s step) {
	event := func(name, data string) { fmt.Fprintf(w, "event: %s\ndata: %s\n\n", name, data) }
	event("message_start", `{"type":"message_start","message":{"id":"m","type":"message","role":"assistant","model":"claude","content":[],"stop_reason":null,"usage":{"input_tokens":321,"output_tokens":1}}}`)
	reason := "end_turn"
	if s.tool == "" {
		event("content_block_start", `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`)
		for _, word := range strings.SplitAfter(s.text, " ") {
			event("content_block_delta", fmt.Sprintf(`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":%q}}`, word))
		}
	} else {
		reason = "tool_use"
		event("content_block_start", fmt.Sprintf(`{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"toolu_%s","name":%q,"input":{}}}`, s.tool, s.tool))
		event("content_block_delta", fmt.Sprintf(`{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":%q}}`, s.args))
	}
	event("content_block_stop", `{"type":"content_block_stop","index":0}`)
	event("message_delta", fmt.Sprintf(`{"type":"message_delta","delta":{"stop_reason":%q},"usage":{"output_tokens":12}}`, reason))
	event("message_stop", `{"type":"message_stop"}`)
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

func TestAConversationOverOpenAIsWireFormat(t *testing.T) {
	url, requests := serve(t, openAIStream)
	var out bytes.Buffer
	err := run(context.Background(), environment("OPENAI_BASE_URL", url, "OPENAI_API_KEY", "k", "OPENAI_MODEL", "m"), nil,
		strings.NewReader("What is the SHA-256 of leap?\n\n"), &out)
	require.NoError(t, err, out.String())
	text := out.String()
	require.Contains(t, text, "The digest is 5f2b.")
	require.Contains(t, text, `hash__sha256 {"text":"leap"}`)
	require.Contains(t, text, "321 tokens in (64 cached), 12 out")
	require.Contains(t, text, "2 of ")
	all := requests()
	require.Len(t, all, 3)
	require.Len(t, all[0].Tools, 2, "at first only tool_search and the read tool go out")
	require.True(t, all[1].has("hash__sha256"))
}

func TestAConversationOverClaudesWireFormat(t *testing.T) {
	for _, native := range []string{"", "1"} {
		t.Run("native="+native, func(t *testing.T) {
			url, requests := serve(t, claudeStream)
			var out bytes.Buffer
			err := run(context.Background(), environment("ANTHROPIC_BASE_URL", url, "ANTHROPIC_API_KEY", "k", "ANTHROPIC_MODEL", "claude", "NATIVE_TOOL_SEARCH", native),
				[]string{"What is the SHA-256 of leap?"}, strings.NewReader(""), &out)
			require.NoError(t, err, out.String())
			require.Contains(t, out.String(), "The digest is 5f2b.")
			require.Contains(t, out.String(), "321 tokens in")
			require.Len(t, requests(), 3)
			require.Equal(t, native != "", requests()[1].Tools[len(requests()[1].Tools)-1].DeferLoading)
		})
	}
}

func TestAFailedAnswerDoesNotEndTheConversation(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, `{"error":{"message":"no such model"}}`, http.StatusNotFound)
	}))
	t.Cleanup(srv.Close)
	var out bytes.Buffer
	err := run(context.Background(), environment("OPENAI_BASE_URL", srv.URL, "OPENAI_API_KEY", "k", "OPENAI_MODEL", "m"), nil,
		strings.NewReader("one\ntwo\n\n"), &out)
	require.NoError(t, err)
	require.Equal(t, 2, strings.Count(out.String(), "error:"), out.String())
}

func TestWithoutConfigurationItSaysWhatToSet(t *testing.T) {
	err := run(context.Background(), environment(), nil, strings.NewReader(""), io.Discard)
	require.ErrorIs(t, err, errNoModel)
	require.Less(t, strings.Count(usage, "\n"), 25, "one screen")
	for _, name := range []string{"OPENAI_BASE_URL", "OPENAI_API_KEY", "OPENAI_MODEL", "ANTHROPIC_API_KEY", "ANTHROPIC_MODEL"} {
		require.Contains(t, usage, name)
	}
	err = run(context.Background(), environment("OPENAI_API_KEY", "k"), nil, strings.NewReader(""), io.Discard)
	require.ErrorContains(t, err, "OPENAI_MODEL is not")
}
