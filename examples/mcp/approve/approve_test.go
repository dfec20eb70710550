// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/demo/offline"
	"github.com/einolean/einolean/toolsearch/mcptools"
)

func connect(t *testing.T, n *notebook, media bool) *mcptools.Servers {
	t.Helper()
	s, err := mcptools.Open(context.Background(), map[string]mcptools.Server{"notes": n.server()}, mcptools.Options{Media: media})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

func TestRun_DestructiveToolNeedsApproval(t *testing.T) {
	for _, media := range []bool{false, true} {
		for said, left := range map[string]string{"yes\n": "", "no\n": "milk, bread", "": "milk, bread"} {
			n := newNotebook("milk", "bread")
			var out bytes.Buffer
			require.NoError(t, run(context.Background(), strings.NewReader(said), &out, connect(t, n, media), offline.New[*schema.Message]()))
			require.Contains(t, out.String(), "May notes run delete_notes with {}?")
			require.Equal(t, left, n.all(), "%q: %s", said, out.String())
			if left != "" {
				require.Contains(t, out.String(), refusal)
			}
		}
	}
}

func TestRunner_ReadOnlyToolNeedsNoApproval(t *testing.T) {
	ctx, n := context.Background(), newNotebook("milk")
	runner, err := newRunner(ctx, connect(t, n, false), offline.New[*schema.Message](), newStore())
	require.NoError(t, err)
	var out bytes.Buffer
	asks, err := follow(&out, runner.Run(ctx, []*schema.Message{schema.UserMessage("List all notes")}))
	require.NoError(t, err)
	require.Empty(t, asks)
	require.Contains(t, out.String(), "milk")
}

// The answer may arrive in another process, which has only the store.
func TestRunner_ResumesInAnotherProcess(t *testing.T) {
	ctx, n, kept := context.Background(), newNotebook("milk"), newStore()
	first, err := newRunner(ctx, connect(t, n, false), offline.New[*schema.Message](), kept)
	require.NoError(t, err)
	asks, err := follow(io.Discard, first.Run(ctx, []*schema.Message{schema.UserMessage("Delete all notes")}, adk.WithCheckPointID("one")))
	require.NoError(t, err)
	require.Len(t, asks, 1)
	require.Equal(t, "milk", n.all())

	second, err := newRunner(ctx, connect(t, n, false), offline.New[*schema.Message](), kept)
	require.NoError(t, err)
	events, err := second.ResumeWithParams(ctx, "one", &adk.ResumeParams{Targets: map[string]any{asks[0].ID: true}})
	require.NoError(t, err)
	asks, err = follow(io.Discard, events)
	require.NoError(t, err)
	require.Empty(t, asks)
	require.Empty(t, n.all())
}
