// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package window_test

import (
	"bytes"
	"io/fs"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/formats"
	"github.com/einolean/einolean/window"
)

// Logs of earlier builds are read whole, with the same totals.
func TestReadJSON_ReadsLogsOfEarlierBuilds(t *testing.T) {
	samples := map[string]window.Totals{
		"v1/window-plain.jsonl":    {Calls: 4, Helped: 1, Sent: 7913, Without: 12334, Same: 3720, Omissions: 2, OmittedBefore: 3480, OmittedAfter: 1270},
		"v1/window-agentic.jsonl":  {Calls: 5, Helped: 2, Sent: 7182, Without: 10959, Same: 4963, Omissions: 1, OmittedBefore: 2996, OmittedAfter: 33},
		"v1/window-programs.jsonl": {Calls: 2, Sent: 1425, Without: 11889, Same: 686, Programs: 1, ProgramsRead: 11545},
	}
	names, err := fs.Glob(formats.Files(), "*/window-*.jsonl")
	require.NoError(t, err)
	require.Len(t, names, len(samples), "a sample of which no test says what it holds")
	for _, name := range names {
		text, err := fs.ReadFile(formats.Files(), name)
		require.NoError(t, err)
		all, err := window.ReadJSON(bytes.NewReader(text))
		require.NoError(t, err, name)
		require.Len(t, all, 1, name)
		c := all[0]
		got := c.Totals()
		want := samples[name]
		require.Equal(t, want, window.Totals{Calls: got.Calls, Helped: got.Helped, Sent: got.Sent, Without: got.Without, Same: got.Same, Omissions: got.Omissions, OmittedBefore: got.OmittedBefore, OmittedAfter: got.OmittedAfter, Programs: got.Programs, ProgramsRead: got.ProgramsRead}, name)
		require.NotEmpty(t, c.Run(1).Question, name)
		for _, call := range c.Calls {
			require.NotEmpty(t, call.By, name)
			tokens := 0
			for _, p := range call.Parts() {
				require.Contains(t, window.Categories(), p.Category, name)
				require.NotEmpty(t, c.Texts[p.Text], "%s: call %d, %s", name, call.N, p.Label)
				tokens += p.Tokens
			}
			require.Equal(t, call.Tokens.Estimated, tokens, name)
		}
		var again bytes.Buffer
		require.NoError(t, c.WriteJSON(&again))
		back, err := window.ReadJSON(&again)
		require.NoError(t, err, name)
		require.Equal(t, got, back[0].Totals(), name)
		require.Equal(t, c.Texts, back[0].Texts, name)
	}
}
