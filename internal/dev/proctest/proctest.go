// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

// Package proctest runs tests again in processes of their own: those that may end a process,
// need two, or must not see what other tests leave behind.
package proctest

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// role is the environment variable that tells a process which case it is to run.
const role = "EINOLEAN_TEST_CASE"

// Case returns the case that this process is to run: "" in the first one.
func Case() string { return os.Getenv(role) }

// Command returns the command that runs the test from its start, in a process in which
// [Case] returns name. The process ends with the test at the latest.
func Command(t testing.TB, name string) *exec.Cmd {
	test, _, _ := strings.Cut(t.Name(), "/")
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+test+"$", "-test.count=1")
	cmd.Env = append(os.Environ(), role+"="+name)
	return cmd
}

// Alone runs the test in a process of its own, and fails it if it fails there. It is true in
// that process; in the first one, in which it is false, nothing is left to do.
func Alone(t testing.TB) bool {
	t.Helper()
	if Case() == t.Name() {
		return true
	}
	cmd := Command(t, t.Name())
	cmd.Args = append(cmd.Args, "-test.v") // so that it says which tests passed
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS: "+t.Name()) {
		t.Fatalf("in a process of its own: %v\n%s", err, out)
	}
	return false
}
