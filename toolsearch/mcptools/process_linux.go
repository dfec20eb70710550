// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package mcptools

// What outlives a process group: the server of a program that was killed, and what a server started
// in a session of its own.

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

// endWithParent makes the kernel kill a program when the thread that started it ends.
func endWithParent(a *syscall.SysProcAttr) { a.Pdeathsig = syscall.SIGKILL }

// killMarked kills every process that has a variable in its environment.
func killMarked(variable string) {
	files, _ := filepath.Glob("/proc/[0-9]*/environ") // the pattern is good
	for _, file := range files {
		hasMark := func() bool {
			data, err := os.ReadFile(file)
			return err == nil && bytes.Contains(append([]byte{0}, data...), []byte("\x00"+variable+"\x00"))
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		if err != nil || pid == os.Getpid() || !hasMark() {
			continue
		}
		if p, err := os.FindProcess(pid); err == nil && hasMark() { // what is found now keeps its number
			_ = p.Kill()
		}
	}
}
