// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package blobbackend_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// taskVar holds what a process has to do, as JSON.
const taskVar = "EINOLEAN_TEST_TASK"

func TestMain(m *testing.M) {
	if text := os.Getenv(taskVar); text != "" {
		os.Exit(runTask(text))
	}
	code := m.Run()
	stopServer()
	os.Exit(code)
}

func runTask(text string) int {
	var t task
	err := json.Unmarshal([]byte(text), &t)
	if err == nil {
		switch t.Do {
		case "watch":
			err = watch(t.Command)
		case "agent":
			err = t.agent(context.Background())
		default:
			err = fmt.Errorf("nothing to do in %q", text)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// command is this program with a task.
func command(ctx context.Context, t task) *exec.Cmd {
	text, err := json.Marshal(t)
	if err != nil {
		panic(err)
	}
	cmd := exec.CommandContext(ctx, os.Args[0])
	cmd.Env = append(os.Environ(), taskVar+"="+string(text))
	return cmd
}

// watch runs a command until it ends or whoever started this process is gone.
func watch(args []string) error {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Start(); err != nil {
		return err
	}
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin) // ends with the parent
		_ = cmd.Process.Kill()
	}()
	return cmd.Wait()
}

// process is another process that says how far it is.
type process struct {
	t     *testing.T
	cmd   *exec.Cmd
	in    io.WriteCloser
	lines *bufio.Scanner
	said  []string
	errs  *strings.Builder
}

func start(t *testing.T, job task) *process {
	t.Helper()
	p := &process{t: t, cmd: command(t.Context(), job), errs: &strings.Builder{}}
	p.cmd.Stderr = p.errs
	out, err := p.cmd.StdoutPipe()
	require.NoError(t, err)
	p.in, err = p.cmd.StdinPipe()
	require.NoError(t, err)
	p.lines = bufio.NewScanner(out)
	require.NoError(t, p.cmd.Start())
	t.Cleanup(func() { _ = p.cmd.Process.Kill() })
	return p
}

// await reads what the process says up to a line.
func (p *process) await(line string) {
	p.t.Helper()
	for p.lines.Scan() {
		p.said = append(p.said, p.lines.Text())
		if p.lines.Text() == line {
			return
		}
	}
	_ = p.cmd.Wait()
	p.t.Fatalf("the process ended before %q: said %q\n%s", line, p.said, p.errs)
}

// tell lets a process that waits go on.
func (p *process) tell() {
	p.t.Helper()
	_, err := fmt.Fprintln(p.in, "go on")
	require.NoError(p.t, err)
}

// kill ends the process as a crash of the machine would: nothing in it gets to run.
func (p *process) kill() {
	p.t.Helper()
	require.NoError(p.t, p.cmd.Process.Kill())
	require.Error(p.t, p.cmd.Wait(), "the process had ended by itself")
}

// finish waits for the process to end by itself.
func (p *process) finish() {
	p.t.Helper()
	for p.lines.Scan() {
		p.said = append(p.said, p.lines.Text())
	}
	require.NoError(p.t, p.cmd.Wait(), "%q\n%s", p.said, p.errs)
}
