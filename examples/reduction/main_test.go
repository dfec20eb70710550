// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"

	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/demo/lab"
	"github.com/einolean/einolean/demo/lab/labtest"
	"github.com/einolean/einolean/store"
)

// TestRun_GoldenOutput runs the whole demo. With EINOLEAN_UPDATE=1 it writes the golden files first.
func TestRun_GoldenOutput(t *testing.T) {
	files := sourceTree()
	labtest.Golden(t,
		func(screen *lab.Screen, streaming bool) error {
			return run[*schema.Message](context.Background(), screen, files, streaming)
		},
		func(screen *lab.Screen, streaming bool) error {
			return run[*schema.AgenticMessage](context.Background(), screen, files, streaming)
		})
}

// sourceTree has as many files as that of Go, roughly, and those of the questions.
func sourceTree() fs.FS {
	content := bytes.Repeat([]byte("// a line of a file of no interest, again and again\n"), 4000)
	tree := fstest.MapFS{}
	for p := range 120 {
		folder := "src/lib" // before those of the questions, or after them
		if p%2 == 0 {
			folder = "src/tool"
		}
		for n := range 60 {
			tree[fmt.Sprintf("%s%03d/file%04d_of_sixty.go", folder, p, n)] = &fstest.MapFile{Data: content[:(p*997+n*131)%20_000]}
		}
	}
	for n := range 400 {
		tree[fmt.Sprintf("src/net/conn%03d.go", n)] = &fstest.MapFile{Data: content[:n*37]}
	}
	for i, name := range []string{"src/net/http/server.go", "src/net/ip.go", "src/net/dial.go", "src/sort/sort.go"} {
		tree[name] = &fstest.MapFile{Data: content[:100_000-i*7_777]}
	}
	proc := append(bytes.Clone(content), "func schedule() {\n}\n"...)
	tree["src/runtime/proc.go"] = &fstest.MapFile{Data: append(proc, content...)}
	return tree
}

func TestRun_WorksOnGoInstallation(t *testing.T) {
	files, err := goRoot()
	require.NoError(t, err)
	require.NoError(t, run[*schema.Message](context.Background(), lab.NewScreen(io.Discard, false), files, true))
}

func TestConversation_TruthsRejectWrongAnswers(t *testing.T) {
	for _, q := range conversation(sourceTree()) {
		require.NotEmpty(t, q.Truth(), q.Text)
		require.False(t, q.Holds(""), q.Text)
		require.False(t, q.Holds("I have no tool for this: "+q.Text), "repeating the question is no answer: %s", q.Text)
	}
}

// played has a conversation of one question whose truth is the given function.
func played(t *testing.T, truth func(dir string) []string) error {
	t.Helper()
	ctx, dir, files := context.Background(), t.TempDir(), sourceTree()
	kept, err := store.NewDir(dir)
	require.NoError(t, err)
	defer kept.Close()
	s, err := newScene[*schema.Message](ctx, files, kept, true)
	require.NoError(t, err)
	return s.play(ctx, lab.NewScreen(io.Discard, false), []lab.Question{{
		Text:  `List the files in src. How long is "src/sort/sort.go"?`,
		Truth: func() []string { return truth(dir) },
	}}, dir)
}

func TestRun_EveryMistakeIsAnError(t *testing.T) {
	right := sizeOf(sourceTree(), "src/sort/sort.go")
	for name, c := range map[string]struct {
		truth func(dir string) []string
		err   string
	}{
		"no mistake":               {func(string) []string { return right() }, ""},
		"a wrong answer":           {func(string) []string { return []string{"no such line"} }, "answers are wrong"},
		"an original that differs": {func(dir string) []string { change(t, dir, "tmp/trunc/call_1_1_1"); return right() }, "1 files in the store"},
		"an unexpected file":       {func(dir string) []string { change(t, dir, "tmp/trunc/other"); return right() }, "1 files in the store"},
	} {
		t.Run(name, func(t *testing.T) {
			err := played(t, c.truth)
			if c.err == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, c.err)
		})
	}
}

// change adds a byte to a file of the store.
func change(t *testing.T, dir, name string) {
	t.Helper()
	f, err := os.OpenFile(filepath.Join(dir, name), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	require.NoError(t, err)
	_, err = f.WriteString("x")
	require.NoError(t, err)
	require.NoError(t, f.Close())
}
