// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package toolsearch_test

// This file says how a difference is shown: a scenario that both packages play, and what
// is seen of each.

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/leanctx/leanctx/internal/adktest"
)

// scenario is something that both packages are put through. What is seen of them is a text.
type scenario struct {
	id, what   string
	plain      func(*testing.T, side[*schema.Message]) string
	agentic    func(*testing.T, side[*schema.AgenticMessage]) string
	eino, ours string
}

// play checks what is seen on both sides, for both message types, streaming and not.
func (s scenario) play(t *testing.T) {
	t.Helper()
	for _, streaming := range []bool{false, true} {
		if s.plain != nil {
			t.Run(fmt.Sprintf("%s, Message, stream %v", s.what, streaming), func(t *testing.T) {
				require.Equal(t, s.eino, s.plain(t, einoSide[*schema.Message](streaming)), "Eino's package")
				require.Equal(t, s.ours, s.plain(t, ourSide[*schema.Message](streaming)), "ours")
			})
		}
		if s.agentic != nil {
			t.Run(fmt.Sprintf("%s, AgenticMessage, stream %v", s.what, streaming), func(t *testing.T) {
				require.Equal(t, s.eino, s.agentic(t, einoSide[*schema.AgenticMessage](streaming)), "Eino's package")
				require.Equal(t, s.ours, s.agentic(t, ourSide[*schema.AgenticMessage](streaming)), "ours")
			})
		}
	}
}

// playAll plays the scenarios of one id.
func playAll(t *testing.T, id string) {
	t.Helper()
	n := 0
	for _, s := range allScenarios() {
		if s.id == id {
			n++
			s.play(t)
		}
	}
	require.NotZero(t, n, "no scenario shows %s", id)
}

// told says what a model is told in answer to a search, without our wording.
func told(text string) string {
	var a struct {
		Matches json.RawMessage
		Already json.RawMessage `json:"already_loaded"`
		Hint    string
	}
	if json.Unmarshal([]byte(text), &a) != nil {
		if strings.HasPrefix(text, "[found") || strings.HasPrefix(text, "echo") || strings.HasPrefix(text, "(") {
			return text
		}
		return "a text"
	}
	out := string(a.Matches)
	if a.Already != nil {
		out += " already " + string(a.Already)
	}
	if a.Hint != "" {
		out += " with a hint"
	}
	return out
}

// ended says how a run ended.
func (tr trial[M]) ended() string {
	if tr.Err != nil {
		return fmt.Sprintf("an error ends the run after %d requests", len(tr.wires))
	}
	return fmt.Sprintf("an answer after %d requests", len(tr.wires))
}

// searchesOnce plays one search with the given arguments, and says how it went.
func searchesOnce[M adk.MessageType](args string, dynamic ...string) func(*testing.T, side[M]) string {
	return func(t *testing.T, s side[M]) string {
		tr := s.run(ask[M](), simples("own"), []adktest.Turn{adktest.Do(adktest.ToolCall{ID: "1", Name: "tool_search", Args: args})}, s.mustBuild(t, simples(dynamic...)...))
		if tr.Err != nil {
			return tr.ended()
		}
		return told(tr.result("1"))
	}
}

// failure is the text of an error, or of its absence.
func failure(err error) string {
	if err == nil {
		return "no error"
	}
	return err.Error()
}

// trying turns a panic into text.
func trying(f func() string) (out string) {
	defer func() {
		if p := recover(); p != nil {
			out = "a panic"
		}
	}()
	return f()
}
