// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

// requestWriter is a provider whose model writes two requests for a tool: one with words of its
// description, and one with words that no tool has.
func requestWriter(t *testing.T, status int) (url string, asked *atomic.Int64) {
	asked = new(atomic.Int64)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		var in wireRequest
		body, _ := io.ReadAll(r.Body)
		_ = json.Unmarshal(body, &in)
		w.Header().Set("Content-Type", "application/json")
		if status != http.StatusOK {
			w.WriteHeader(status)
			fmt.Fprint(w, `{"error":{"message":"no","code":"x"}}`)
			return
		}
		_, desc, _ := strings.Cut(in.Messages[1].Content, "\n")
		text, _ := json.Marshal("1. " + desc + "\n\n2) “zyzzyva quux”\n")
		fmt.Fprintf(w, `{"choices":[{"message":{"role":"assistant","content":%s},"finish_reason":"stop"}],"usage":{"prompt_tokens":50,"completion_tokens":10,"total_tokens":60}}`, text)
	}))
	t.Cleanup(server.Close)
	return server.URL, asked
}

// Each tool is asked about once. What the model wrote is measured and kept, and is not paid for twice.
func TestEvalModel_MeasuresAndKeepsWrittenRequests(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "key")
	tools, kept := file(t, three), filepath.Join(t.TempDir(), "requests.jsonl")
	url, asked := requestWriter(t, http.StatusOK)
	args := []string{"eval", tools, "--model", "m", "--base-url", url, "-o", kept}
	out, messages, code := call(t, "", append(args, "--json")...)
	require.Zero(t, code, messages)
	require.Contains(t, messages, "for 5 requests for each of 3 tools")
	require.EqualValues(t, 3, asked.Load())
	var got measuredJSON
	require.NoError(t, json.Unmarshal([]byte(out), &got))
	require.Equal(t, 6, got.All.Queries)
	require.InDelta(t, .5, got.All.Recall5, .01, "what the words of no tool ask for is missed")
	require.Equal(t, "zyzzyva quux", got.Misses[0].Query)
	again, _, _ := call(t, "", "eval", tools, "--queries", kept, "--json")
	require.Equal(t, out, again)
	_, messages, code = call(t, "", args...)
	require.Equal(t, exitUsage, code)
	require.Contains(t, messages, "is there already")
	require.EqualValues(t, 3, asked.Load())
}

func TestEvalModel_ReportsFailures(t *testing.T) {
	tools, folder := file(t, three), t.TempDir()
	t.Setenv("EMPTY", "")
	t.Setenv("OPENAI_API_KEY", "key")
	good, _ := requestWriter(t, http.StatusOK)
	bad, asked := requestWriter(t, http.StatusUnauthorized)
	for name, c := range map[string]struct {
		args []string
		code int
		says string
	}{
		"no key":            {[]string{"--base-url", good, "--key", "EMPTY"}, exitUsage, "EMPTY is not set"},
		"a wrong key":       {[]string{"--base-url", bad}, exitServer, "401"},
		"a small budget":    {[]string{"--base-url", good, "--max-tokens", "100"}, exitUsage, "the budget of 100 tokens does not suffice"},
		"requests and file": {[]string{"--queries", tools}, exitUsage, "--model has one written"},
	} {
		t.Run(name, func(t *testing.T) {
			kept := filepath.Join(folder, strings.ReplaceAll(name, " ", "-"))
			_, messages, code := call(t, "", append([]string{"eval", tools, "--model", "m", "-o", kept}, c.args...)...)
			require.Equal(t, c.code, code, messages)
			require.Contains(t, messages, c.says)
			_, err := os.Stat(kept)
			require.ErrorIs(t, err, os.ErrNotExist, "there is nothing to keep")
		})
	}
	require.EqualValues(t, 1, asked.Load())
}

func TestRequestsIn_SplitsAnswerIntoLines(t *testing.T) {
	require.Equal(t, []string{"one", "two 2.5", "三", "four", "five"}, requestsIn("1. one\n- \"two 2.5\"\n\n3、三\n(4) four\n* five\nsix"))
	require.Equal(t, []string{"一"}, requestsIn("  • 一  "))
	require.Empty(t, requestsIn("\n \n"))
}
