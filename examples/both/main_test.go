// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/demo/lab"
	"github.com/einolean/einolean/demo/lab/labtest"
	"github.com/einolean/einolean/window"
)

// TestRun_GoldenOutput runs the whole demo. With EINOLEAN_UPDATE=1 it writes the golden files first.
func TestRun_GoldenOutput(t *testing.T) {
	labtest.Golden(t,
		func(screen *lab.Screen, streaming bool) error {
			return run[*schema.Message](context.Background(), screen, streaming, "")
		},
		func(screen *lab.Screen, streaming bool) error {
			return run[*schema.AgenticMessage](context.Background(), screen, streaming, "")
		})
}

func TestTrial_LoadedToolsAndSearchAnswersOutliveClearing(t *testing.T) {
	ctx := context.Background()
	both, err := newTrial[*schema.Message](ctx, "both", t.TempDir(), true, parts{search: true, reduce: true})
	require.NoError(t, err)
	defer both.store.Close()
	for _, q := range lab.FileQuestions {
		right, err := both.ask(ctx, q)
		require.NoError(t, err)
		require.True(t, right, q.Text)
	}
	_, cleared, reads, _ := both.events.Counts()
	require.Positive(t, cleared, "nothing was put to the test")
	require.Positive(t, reads)
	for _, w := range []watched{both.loaded, both.found} {
		require.Greater(t, w.shown, len(w.seen), "each was shown again")
		require.Zero(t, w.lost)
	}
	last := both.last.Requests[len(both.last.Requests)-1]
	require.Contains(t, last.Tools, "hash__sha256", "it was loaded nine runs ago")
}

func TestTotals_ComputedCostIsNearMeasured(t *testing.T) {
	ctx := context.Background()
	see := window.New(window.Config{Conversation: func(context.Context) (string, error) { return "c", nil }})
	both, err := newTrial[*schema.Message](ctx, "both", t.TempDir(), true, parts{search: true, reduce: true, see: see})
	require.NoError(t, err)
	defer both.store.Close()
	unseen := window.New(window.Config{Conversation: func(context.Context) (string, error) { return "c", nil }})
	none, err := newTrial[*schema.Message](ctx, "none", t.TempDir(), true, parts{see: unseen})
	require.NoError(t, err)
	defer none.store.Close()
	for _, q := range lab.FileQuestions {
		for _, tr := range []*trial[*schema.Message]{both, none} {
			_, err := tr.ask(ctx, q)
			require.NoError(t, err)
		}
	}
	computed, measured := see.Conversation("c").Totals(), unseen.Conversation("c").Totals()
	require.Equal(t, measured.Calls, computed.Calls-computed.Helped, "the calls that would not have been made are known")
	require.InEpsilon(t, measured.Sent, computed.Without, .02, "computed %d, measured %d", computed.Without, measured.Sent)
	require.Equal(t, measured.Sent, measured.Without, "without the middlewares nothing is saved")
}

func TestRun_WritesPage(t *testing.T) {
	page := filepath.Join(t.TempDir(), "page.html")
	require.NoError(t, run[*schema.AgenticMessage](context.Background(), lab.NewScreen(io.Discard, false), true, page))
	text, err := os.ReadFile(page)
	require.NoError(t, err)
	require.Contains(t, string(text), "access.log")
}

func TestVerdict_LostToolOrAnswerIsAnError(t *testing.T) {
	answer := func(text string) *schema.Message {
		return schema.ToolMessage(text, "c1", schema.WithToolName("tool_search"))
	}
	request := func(text string, tools ...string) lab.Request[*schema.Message] {
		return lab.Request[*schema.Message]{Messages: []*schema.Message{answer(text)}, Tools: tools}
	}
	found := map[string]string{"c1": "found"}
	for name, c := range map[string]struct {
		second lab.Request[*schema.Message]
		err    string
	}{
		"nothing is lost":           {request("found", "b", "a", "c"), ""},
		"a tool is lost":            {request("found", "a"), "loaded tools were missing 1 times"},
		"an answer is replaced":     {request("saved elsewhere", "a", "b"), "answers of tool_search were incomplete 1 times"},
		"an answer is missing":      {lab.Request[*schema.Message]{Tools: []string{"a", "b"}}, "answers of tool_search were incomplete 1 times"},
		"an answer of another call": {lab.Request[*schema.Message]{Messages: []*schema.Message{schema.ToolMessage("found", "c2")}, Tools: []string{"a", "b"}}, "incomplete 1 times"},
	} {
		t.Run(name, func(t *testing.T) {
			tr := &trial[*schema.Message]{}
			tr.watch(request("found", "a", "b"), found)
			tr.watch(c.second, nil)
			err := tr.verdict(lab.NewScreen(io.Discard, false), []*trial[*schema.Message]{tr})
			if c.err == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, c.err)
		})
	}
}

func TestVerdict_WrongAnswerIsAnError(t *testing.T) {
	tr := &trial[*schema.Message]{}
	require.ErrorContains(t, tr.verdict(lab.NewScreen(io.Discard, false), []*trial[*schema.Message]{tr, {wrong: 2}}), "2 answers are wrong")
}
