// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"testing"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/leanctx/leanctx/examples/lab"
)

// The golden files hold what the demo prints, and what it prints with -v.
const brief, verbose = "testdata/output.golden.txt", "testdata/verbose.golden.txt"

// TestGoldenOutput runs the whole demo. With LEANCTX_UPDATE=1 it writes the golden files first.
func TestGoldenOutput(t *testing.T) {
	for name, form := range map[string]func(*testing.T, string) []byte{
		"Message, streaming":        func(t *testing.T, file string) []byte { return output[*schema.Message](t, file, true) },
		"Message, whole":            func(t *testing.T, file string) []byte { return output[*schema.Message](t, file, false) },
		"AgenticMessage, streaming": func(t *testing.T, file string) []byte { return output[*schema.AgenticMessage](t, file, true) },
		"AgenticMessage, whole":     func(t *testing.T, file string) []byte { return output[*schema.AgenticMessage](t, file, false) },
	} {
		t.Run(name, func(t *testing.T) {
			file := verbose
			if name == "Message, streaming" {
				file = brief
			}
			got := form(t, file)
			if os.Getenv("LEANCTX_UPDATE") != "" {
				require.NoError(t, os.WriteFile(file, got, 0o644))
			}
			want, err := os.ReadFile(file)
			require.NoError(t, err)
			require.Equal(t, string(want), string(got))
		})
	}
}

func output[M adk.MessageType](t *testing.T, file string, streaming bool) []byte {
	t.Helper()
	var out bytes.Buffer
	require.NoError(t, run[M](context.Background(), lab.NewScreen(&out, file == verbose), streaming))
	return out.Bytes()
}

func TestEveryTaskHasATruthThatAWrongAnswerMisses(t *testing.T) {
	for _, task := range tasks {
		for _, q := range task.questions {
			require.NotEmpty(t, q.truth(), q.text)
			require.False(t, q.holds(""), q.text)
			require.False(t, q.holds("I could not do that ("+q.text+")"), "repeating the question is no answer: %s", q.text)
		}
	}
}

func TestAWrongAnswerIsAnError(t *testing.T) {
	old := tasks
	defer func() { tasks = old }()
	tasks = []task{{[]question{{`Reverse the text "abc"`, func() []string { return []string{"abc reversed"} }}}}}
	require.ErrorContains(t, run[*schema.Message](context.Background(), lab.NewScreen(io.Discard, false), true), "1 answers are wrong")
}
