// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package reduction_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/leanctx/leanctx/internal/adktest"
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

// TestNothingThatALivingConversationNamesIsDeleted has two processes on one directory:
// conversations go on in this one, and the other one deletes what nobody has used.
func TestNothingThatALivingConversationNamesIsDeleted(t *testing.T) {
	if dir := os.Getenv(childCase); dir != "" {
		store, err := reduction.NewDirBackend(dir)
		require.NoError(t, err)
		files, bytes, err := store.DeleteUnused(context.Background(), "", time.Now().Add(-24*time.Hour))
		fmt.Println(files, bytes, err)
		os.Exit(0)
	}
	forBoth(t, livingKeep[*schema.Message], livingKeep[*schema.AgenticMessage])
}

func livingKeep[M adk.MessageType](t *testing.T) {
	dir := t.TempDir()
	store, err := reduction.NewDirBackend(dir)
	require.NoError(t, err)
	defer store.Close()
	g := newGen[M](7)
	var all []*living[M]
	for i := range 12 {
		key := fmt.Sprint("tenant/", i)
		c := &living[M]{T: t, gen: g, dir: dir, scope: reduction.Scope{Key: func(context.Context) (string, error) { return key, nil }}}
		c.store = reduction.Scoped(store, c.scope)
		c.goOn(4)
		all = append(all, c)
	}
	for day := range 4 {
		files, bytes, err := store.Stored(context.Background(), "")
		require.NoError(t, err)
		past := time.Now().Add(-36 * time.Hour)
		require.NoError(t, filepath.WalkDir(dir, func(file string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			return os.Chtimes(file, past, past)
		}))
		var dead []*living[M]
		for i, c := range all {
			switch {
			case c.dead:
			case i%4 == day: // nobody goes on with it
				c.dead = true
				dead = append(dead, c)
			default:
				c.goOn(g.IntN(2))
			}
		}
		added, _, err := store.Stored(context.Background(), "")
		require.NoError(t, err)
		cmd := exec.Command(os.Args[0], "-test.run=^TestNothingThatALivingConversationNamesIsDeleted$")
		cmd.Env = append(os.Environ(), childCase+"="+dir)
		out, err := cmd.Output()
		require.NoError(t, err)
		var gone, size int
		_, err = fmt.Sscanf(string(out), "%d %d <nil>", &gone, &size)
		require.NoError(t, err, "%s", out)
		require.Positive(t, gone)
		left, rest, err := store.Stored(context.Background(), "")
		require.NoError(t, err)
		require.Equal(t, added-gone, left, "%d of %d files were deleted", gone, files)
		require.Less(t, rest, bytes+int64(1<<20))
		for i, c := range all {
			if !c.dead {
				require.Zero(t, c.missing(), "conversation %d on day %d", i, day)
			}
		}
		for _, c := range dead {
			require.Positive(t, c.missing(), "a dead conversation is kept")
		}
	}
}

// living is a conversation whose results are stored, and which goes on now and then.
type living[M adk.MessageType] struct {
	*testing.T
	*gen[M]
	dir   string
	scope reduction.Scope
	store reduction.Backend
	msgs  []M
	dead  bool
}

// goOn is a run in a new process: nothing is known but the history and the store.
func (c *living[M]) goOn(rounds int) {
	dir, err := reduction.NewDirBackend(c.dir)
	require.NoError(c.T, err)
	defer dir.Close()
	mw := typed(c.T, &reduction.TypedConfig[M]{Backend: reduction.Scoped(dir, c.scope), MaxTokensForClear: 1, MaxLengthForTrunc: 1000, ReferToRepeats: true, ClearArgumentsOver: 300, WindowTokens: 1 << 30})
	ctx, _, err := mw.BeforeAgent(context.Background(), &adk.ChatModelAgentContext{})
	require.NoError(c.T, err)
	for range 1 + rounds {
		_, state, err := mw.BeforeModelRewriteState(ctx, &adk.TypedChatModelAgentState[M]{Messages: c.msgs}, nil)
		require.NoError(c.T, err)
		c.ids++
		id := fmt.Sprint("call_", c.ids)
		text := strings.Repeat(fmt.Sprintln("line", c.ids), 100)
		c.msgs = append(state.Messages[:len(state.Messages):len(state.Messages)],
			adktest.Assistant[M]("", adktest.ToolCall{ID: id, Name: "write", Args: render(map[string]any{"content": text})}),
			c.shape.result(id, "write", part{text: text}, part{medium: "image", data: strings.Repeat(fmt.Sprint(c.ids%10), 400)}))
	}
}

// missing counts the paths in the history that give nothing.
func (c *living[M]) missing() (n int) {
	for _, m := range c.msgs {
		for _, path := range somePaths.FindAllString(adktest.Dump(m), -1) {
			r, _, err := c.store.(reduction.RangeReader).ReadRange(context.Background(), path, 0, 1)
			if err != nil {
				require.ErrorIs(c.T, err, fs.ErrNotExist)
				n++
				continue
			}
			require.NoError(c.T, r.Close())
		}
	}
	return n
}

var somePaths = regexp.MustCompile(`/tmp/(?:trunc|clear)/[A-Za-z0-9_-]+`)
