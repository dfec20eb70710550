// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package compare

import (
	"context"
	_ "embed"
	"encoding/json"
	"strings"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean"
	"github.com/einolean/einolean/demo/lab"
	"github.com/einolean/einolean/demo/library"
	"github.com/einolean/einolean/toolsearch"
)

// smallTalk has messages that ask for no tool. The rule for offers was written with one half of them; the other half
// was only counted afterwards.
//
//go:embed testdata/small_talk.jsonl
var smallTalk string

// The rule must not get worse. Without it, 9 of the 20 messages for tuning and 11 of the held-out ones get an offer:
// a word of talk that is also one of a tool ("who built you?") cannot be told from a request.
func TestRecommended_OffersFewToolsForSmallTalk(t *testing.T) {
	tools, err := library.Tools(t.TempDir())
	require.NoError(t, err)
	offered := false
	config := toolsearch.Recommended(tools)
	config.OnEvent = func(_ context.Context, e einolean.Event) {
		offered = offered || e.Kind == einolean.KindToolsPrefetched
	}
	search, err := toolsearch.New(t.Context(), config)
	require.NoError(t, err)
	agent, err := adk.NewChatModelAgent(t.Context(), &adk.ChatModelAgentConfig{
		Name: "assistant", Description: "answers with tools", Model: silent{}, Handlers: handlers{search},
	})
	require.NoError(t, err)
	runner := adk.NewRunner(t.Context(), adk.RunnerConfig{Agent: agent})

	offers, messages := map[string]int{}, map[string]int{}
	for dec := json.NewDecoder(strings.NewReader(smallTalk)); dec.More(); {
		var line struct{ Lang, Half, Text string }
		require.NoError(t, dec.Decode(&line))
		offered = false
		_, err := lab.Collect(runner.Run(t.Context(), []*schema.Message{schema.UserMessage(line.Text)}))
		require.NoError(t, err)
		messages[line.Half]++
		if offered {
			offers[line.Half]++
			t.Logf("an offer for %q", line.Text)
		}
	}
	require.Equal(t, map[string]int{"tuning": 20, "held out": 20}, messages)
	require.LessOrEqual(t, offers["tuning"], 1)
	require.LessOrEqual(t, offers["held out"], 8)
}
