// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package mcptools

// Processes that would outlive what started them.

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// runs reports whether a process runs, and is not only waited for.
func runs(pid int) bool {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && !strings.Contains(string(data), ") Z ")
}

//claim:mcp-33
func TestClose_EndsProcessesInOtherSessions(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pid")
	server := child(t, "escapes")
	server.Env[deathsVar] = file
	s := open(t, map[string]Server{"srv": server}, Options{})
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	var pid int
	_, err = fmt.Sscan(string(data), &pid)
	require.NoError(t, err)
	require.True(t, runs(pid))
	require.NoError(t, s.Close())
	until(t, "it has ended", func() bool { return !runs(pid) })
}

// kill -9 of the program ends its servers, even those that heed neither the end of their
// input nor a signal.
//
//claim:mcp-34
func TestProcess_EndsWithKilledParent(t *testing.T) {
	self := child(t, "opens")
	cmd := exec.Command(self.Command)
	cmd.Env = environment(self.Env)
	require.NoError(t, cmd.Start())
	pid := 0
	until(t, "its server runs", func() bool {
		files, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", cmd.Process.Pid))
		require.NoError(t, err)
		for _, file := range files {
			if data, err := os.ReadFile(file); err == nil && len(data) > 0 {
				_, _ = fmt.Sscan(string(data), &pid)
			}
		}
		return pid != 0
	})
	require.NoError(t, cmd.Process.Signal(syscall.SIGKILL))
	_ = cmd.Wait() // it was killed
	until(t, "the server has ended", func() bool { return !runs(pid) })
}
