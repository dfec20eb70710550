// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package main

// The program, run as people run it: on a terminal, and into a pipe.

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/creack/pty"
	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/race"
)

// program is the test's own binary as the program, with an environment that says
// nothing about terminals but what env adds.
func program(t *testing.T, env []string, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	c := exec.Command(self, args...)
	c.Env = append([]string{runSelf + "=1", "TERM=xterm-256color", "PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "GORACE=" + os.Getenv("GORACE")}, env...)
	return c
}

// onTerminal runs the program on a pseudo-terminal of a width, which takes its output and its
// messages.
func onTerminal(t *testing.T, columns uint16, env []string, args ...string) (text string, code int) {
	t.Helper()
	c := program(t, env, args...)
	master, err := pty.StartWithSize(c, &pty.Winsize{Rows: 40, Cols: columns})
	if errors.Is(err, pty.ErrUnsupported) {
		t.Skip("this system has no pseudo-terminals: the program was not run on one")
	}
	require.NoError(t, err)
	defer master.Close()
	var all bytes.Buffer
	_, _ = io.Copy(&all, master) // ends with an error when the program has gone
	_ = c.Wait()
	return strings.ReplaceAll(all.String(), "\r\n", "\n"), c.ProcessState.ExitCode()
}

// intoPipe runs the program with pipes for its output and its messages.
func intoPipe(t *testing.T, env []string, args ...string) (out, messages string, code int) {
	t.Helper()
	c := program(t, env, args...)
	var o, e bytes.Buffer
	c.Stdout, c.Stderr = &o, &e
	_ = c.Run()
	return o.String(), e.String(), c.ProcessState.ExitCode()
}

var escape = regexp.MustCompile("\x1b\\[[0-9;]*m")

// commandsToShow are the commands with what they read.
func commandsToShow(t *testing.T) map[string][]string {
	t.Helper()
	long := `{"name":"mail__send","description":"` + strings.TrimSpace(strings.Repeat("Sends electronic mail to people ", 9)) + `"}`
	return map[string][]string{
		"eval":   {"eval", file(t, three)},
		"search": {"search", file(t, long), "electronic", "mail", "--why"},
		"replay": {"replay", file(t, jsonOf(t, talk(12, resultLines()))), "--trigger", strconv.Itoa(20 * resultLines()), "--policy", "mask all"},
		"view":   {"view", recorded(t)},
	}
}

func TestTerminal_HasColorsAndPipeHasNone(t *testing.T) {
	race.Skip(t, "starts dozens of processes")
	for name, args := range commandsToShow(t) {
		t.Run(name, func(t *testing.T) {
			terminal, code := onTerminal(t, 100, nil, args...)
			require.Zero(t, code, terminal)
			require.Regexp(t, escape, terminal)
			pipe, messages, code := intoPipe(t, nil, args...)
			require.Zero(t, code, messages)
			require.NotContains(t, pipe, "\x1b")
			require.NotContains(t, messages, "\x1b")
			forced, _, _ := intoPipe(t, nil, append(args, "--color", "always")...)
			require.Regexp(t, escape, forced)
			if name != "view" { // letters take the place of its colours
				require.Equal(t, pipe, escape.ReplaceAllString(forced, ""), "the words are the same")
			}
			for _, env := range [][]string{{"NO_COLOR=1"}, {"TERM=dumb"}} {
				plain, code := onTerminal(t, 100, env, args...)
				require.Zero(t, code, plain)
				require.NotContains(t, plain, "\x1b", "%v", env)
			}
			never, _ := onTerminal(t, 100, nil, append(args, "--color", "never")...)
			require.NotContains(t, never, "\x1b")
		})
	}
}

// widest is the longest line.
func widest(text string) (n int) {
	for _, line := range strings.Split(escape.ReplaceAllString(text, ""), "\n") {
		n = max(n, utf8.RuneCountInString(line))
	}
	return n
}

func TestTerminal_LinesFitWidth(t *testing.T) {
	race.Skip(t, "starts dozens of processes")
	args := commandsToShow(t)["search"][:4] // its descriptions are as long as there is room
	for _, columns := range []uint16{60, 90, 140} {
		text, code := onTerminal(t, columns, nil, args...)
		require.Zero(t, code, text)
		require.LessOrEqual(t, widest(text), int(columns))
		require.Greater(t, widest(text), int(columns)-12, "the width is used:\n%s", text)
	}
	asked, _ := onTerminal(t, 60, []string{"COLUMNS=120"}, args...)
	require.Greater(t, widest(asked), 100, "COLUMNS decides")
	pipe, _, _ := intoPipe(t, nil, args...)
	require.LessOrEqual(t, widest(pipe), defaultColumns)
	require.Greater(t, widest(pipe), defaultColumns-12)
}

func TestCommands_SeparateResultsMessagesAndExitCode(t *testing.T) {
	out, messages, code := intoPipe(t, nil, "search", file(t, three), "mail")
	require.Zero(t, code)
	require.NotContains(t, out, "3 tools")
	require.Contains(t, messages, "3 tools")
	out, messages, code = intoPipe(t, nil, "eval", "none.json")
	require.Equal(t, exitInput, code)
	require.Empty(t, out)
	require.Contains(t, messages, "none.json")
	_, _, code = intoPipe(t, nil, "eval", file(t, three), "--fail-under", ".9")
	require.Equal(t, exitMissed, code)
	_, code = onTerminal(t, 80, nil, "evil")
	require.Equal(t, exitUsage, code)
}
