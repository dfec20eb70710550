// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package main

// Queries, typed as a person types them.

import (
	"context"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"github.com/creack/pty"
	"github.com/stretchr/testify/require"
)

func TestSearch_PromptAnswersQueriesAndExplainsRanks(t *testing.T) {
	for _, c := range []struct {
		name    string
		env     []string
		end     string
		escapes bool
	}{
		{"an empty line ends it", nil, "\r", true},
		{"Ctrl-D ends it", nil, "\x04", true},
		{"Ctrl-C ends it", nil, "\x03", true},
		{"without colors", []string{"NO_COLOR=1"}, "\n", false},
		{"without colors, Ctrl-D", []string{"TERM=dumb"}, "\x04", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := program(t, c.env, "search", file(t, three))
			keyboard, err := pty.StartWithSize(p, &pty.Winsize{Rows: 40, Cols: 100})
			if err != nil {
				t.Skipf("this system has no pseudo-terminals: the program was not run on one: %v", err)
			}
			defer keyboard.Close()
			head := until(t, keyboard, "> ")
			require.Contains(t, head, "3 tools. Type what")
			enter := "\r"
			if !c.escapes {
				enter = "\n"
			}
			for _, step := range []struct{ typed, want string }{{"electronic mail", "mail__draft"}, {"1", "electronic"}, {"zzzzqqqq", "no tool fits"}, {"1", "no tool fits"}} {
				_, err = io.WriteString(keyboard, step.typed+enter)
				require.NoError(t, err)
				got := until(t, keyboard, step.want)
				got += until(t, keyboard, "> ")
				if !c.escapes || step.want != "no tool fits" {
					require.Equal(t, c.escapes, strings.Contains(got, "\x1b"), "%q", got)
				}
			}
			_, err = io.WriteString(keyboard, c.end)
			require.NoError(t, err)
			_, _ = io.Copy(io.Discard, keyboard)
			require.NoError(t, p.Wait())
		})
	}
}

func TestSearch_ReadsQueriesFromPipe(t *testing.T) {
	tools := file(t, three)
	out, messages, code := call(t, "electronic mail\n\nweather", "search", tools)
	require.Zero(t, code, messages)
	require.Contains(t, out, "> electronic mail\n 1  mail__")
	require.Contains(t, out, "> weather\n 1  x")
	require.Empty(t, messages, "nobody is asked to type")
	out, _, code = call(t, "electronic mail\nweather\n", "search", tools, "--json")
	require.Zero(t, code)
	d := json.NewDecoder(strings.NewReader(out))
	for _, want := range []string{"electronic mail", "weather"} {
		var got searchJSON
		require.NoError(t, d.Decode(&got))
		require.Equal(t, want, got.Query)
	}
	_, messages, code = call(t, three, "search", "-")
	require.Equal(t, exitUsage, code)
	require.Contains(t, messages, "give the query as an argument")
}

func TestInterruptibleReader_EndsWithContext(t *testing.T) {
	never, write := io.Pipe()
	defer write.Close()
	ctx, cancel := context.WithCancel(context.Background())
	p := &interruptibleReader{ctx: ctx, r: never}
	go cancel()
	_, err := io.ReadAll(p)
	require.ErrorIs(t, err, context.Canceled)

	text := strings.Repeat("0123456789", 20_000)
	got, err := io.ReadAll(&interruptibleReader{ctx: context.Background(), r: strings.NewReader(text)})
	require.NoError(t, err)
	require.Equal(t, text, string(got))
}
