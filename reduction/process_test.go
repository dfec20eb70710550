// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package reduction_test

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/leanctx/leanctx/internal/backend"
	"github.com/leanctx/leanctx/reduction"
)

// sharedDirs are the ways in which processes may share a directory.
var sharedDirs = map[string]func(*reduction.DirBackend) reduction.Backend{
	"all powers": func(d *reduction.DirBackend) reduction.Backend { return d },
	"create only": func(d *reduction.DirBackend) reduction.Backend {
		return struct {
			reduction.Backend
			backend.Creator
		}{d, d}
	},
	"create and read": func(d *reduction.DirBackend) reduction.Backend {
		return struct {
			reduction.Backend
			backend.Creator
			backend.RangeReader
		}{d, d, d}
	},
}

func TestProcessesThatStreamUnderOneCallIDLoseNothing(t *testing.T) {
	if job := os.Getenv(childCase); job != "" {
		streamInChild(t, strings.Split(job, "|"))
		os.Exit(0)
	}
	for kind := range sharedDirs {
		t.Run(kind, func(t *testing.T) {
			dir := t.TempDir()
			var ins []io.Writer
			var outs []*bufio.Reader
			for i := range 2 {
				cmd := exec.Command(os.Args[0], "-test.run=^TestProcessesThatStreamUnderOneCallIDLoseNothing$")
				cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%s|%s|%d", childCase, kind, dir, i))
				in, err := cmd.StdinPipe()
				require.NoError(t, err)
				out, err := cmd.StdoutPipe()
				require.NoError(t, err)
				require.NoError(t, cmd.Start())
				t.Cleanup(func() { _ = cmd.Wait() })
				ins, outs = append(ins, in), append(outs, bufio.NewReader(out))
			}
			line := func(i int) string {
				s, err := outs[i].ReadString('\n')
				require.NoError(t, err, s)
				return strings.TrimSpace(s)
			}
			for i := range outs {
				require.Equal(t, "streaming", line(i))
			}
			store, err := reduction.NewDirBackend(dir)
			require.NoError(t, err)
			defer store.Close()
			for i := range ins {
				fmt.Fprintln(ins[i], "go on")
				path := line(i)
				require.NotEmpty(t, path, "not saved")
				require.Equal(t, strings.Repeat(fmt.Sprint(i), 5000), stored(t, store, path), path)
			}
		})
	}
}

// streamInChild streams more than the limit, and its end when it is told to.
func streamInChild(t *testing.T, job []string) {
	dir, err := reduction.NewDirBackend(job[1])
	require.NoError(t, err)
	mw := typed(t, &reduction.Config{Backend: sharedDirs[job[0]](dir), MaxLengthForTrunc: 1000})
	src, w := schema.Pipe[string](0)
	go func() {
		defer w.Close()
		w.Send(strings.Repeat(job[2], 4000), nil)
		w.Send(strings.Repeat(job[2], 500), nil)
		fmt.Println("streaming")
		_, _ = bufio.NewReader(os.Stdin).ReadString('\n')
		w.Send(strings.Repeat(job[2], 500), nil)
	}()
	got, err := drain(streamOf(t, mw, src))
	require.NoError(t, err)
	fmt.Println(pathIn(strings.Join(got, "")))
}
