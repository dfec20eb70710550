// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

//go:build !unix

package mcptools

// For systems without process groups.

import "os/exec"

func inGroup(*exec.Cmd) {}

func terminate(cmd *exec.Cmd) { kill(cmd) }

func kill(cmd *exec.Cmd) { _ = cmd.Process.Kill() }
