// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package mcptools

// This file ends a process and all that it started, by its process group.

import (
	"os/exec"
	"syscall"
)

// inGroup puts the program into a group of its own.
func inGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

func terminate(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }

func kill(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
