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
)

const golden = "testdata/output.golden.txt"

// TestOutput runs the whole demo. With LEANCTX_UPDATE=1 it writes what came out
// to the golden file first.
func TestOutput(t *testing.T) {
	if os.Getenv("LEANCTX_UPDATE") != "" {
		require.NoError(t, os.MkdirAll("testdata", 0o755))
		require.NoError(t, os.WriteFile(golden, output[*schema.Message](t, true), 0o644))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	for name, got := range map[string][]byte{
		"Message, streaming":        output[*schema.Message](t, true),
		"Message, whole":            output[*schema.Message](t, false),
		"AgenticMessage, streaming": output[*schema.AgenticMessage](t, true),
		"AgenticMessage, whole":     output[*schema.AgenticMessage](t, false),
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, string(want), string(got)) })
	}
}

func output[M adk.MessageType](t *testing.T, streaming bool) []byte {
	t.Helper()
	var out bytes.Buffer
	require.NoError(t, run[M](context.Background(), &out, streaming))
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
	tasks = []task{{"wrong", []question{{`Reverse the text "abc"`, func() []string { return []string{"abc reversed"} }}}}}
	require.ErrorContains(t, run[*schema.Message](context.Background(), io.Discard, true), "1 answers are wrong")
}
