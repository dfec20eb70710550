// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

//go:build !unix

package mcptools

import (
	"os/exec"
	"testing"
	"time"
)

func used(t *testing.T) time.Duration {
	t.Skip("processor time is read on Unix only")
	return 0
}

func leaveSession(*exec.Cmd) {} // Windows has no sessions
