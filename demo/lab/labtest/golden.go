// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

// Package labtest compares what a demo prints with golden files.
package labtest

import (
	"bytes"
	"testing"

	"github.com/einolean/einolean/demo/lab"
	"github.com/einolean/einolean/internal/dev/golden"
)

// The golden files hold what a demo prints, and what it prints with -v.
const brief, verbose = "testdata/output.golden.txt", "testdata/verbose.golden.txt"

// Demo runs a demo with one message type; streaming says whether the model answers in chunks.
type Demo func(screen *lab.Screen, streaming bool) error

// Golden runs a demo with both message types, streaming and whole, and fails the test
// where it fails or does not print what the golden files hold. With EINOLEAN_UPDATE=1 it
// writes them first.
func Golden(t *testing.T, message, agentic Demo) {
	for name, form := range map[string]struct {
		demo      Demo
		streaming bool
		file      string
	}{
		"Message, streaming":        {message, true, brief},
		"Message, whole":            {message, false, verbose},
		"AgenticMessage, streaming": {agentic, true, verbose},
		"AgenticMessage, whole":     {agentic, false, verbose},
	} {
		t.Run(name, func(t *testing.T) {
			var got bytes.Buffer
			if err := form.demo(lab.NewScreen(&got, form.file == verbose), form.streaming); err != nil {
				t.Fatal(err)
			}
			golden.Check(t, form.file, got.String())
		})
	}
}
