// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"io"
	"testing"

	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/demo/lab"
	"github.com/einolean/einolean/demo/lab/labtest"
)

// TestRun_GoldenOutput runs the whole demo. With EINOLEAN_UPDATE=1 it writes the golden files first.
func TestRun_GoldenOutput(t *testing.T) {
	labtest.Golden(t,
		func(screen *lab.Screen, streaming bool) error {
			return run[*schema.Message](context.Background(), screen, streaming)
		},
		func(screen *lab.Screen, streaming bool) error {
			return run[*schema.AgenticMessage](context.Background(), screen, streaming)
		})
}

func TestRun_WrongAnswerIsAnError(t *testing.T) {
	old := tasks
	defer func() { tasks = old }()
	tasks = [][]lab.Question{{{Text: `Reverse the text "abc"`, Truth: lab.Is("abc reversed")}}}
	require.ErrorContains(t, run[*schema.Message](context.Background(), lab.NewScreen(io.Discard, false), true), "1 answers are wrong")
}
