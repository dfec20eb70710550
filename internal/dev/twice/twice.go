// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

// Package twice goes through the tests of a package a second time in the same process, so
// that a test sees what an earlier pass left in caches, pools and variables.
package twice

import (
	"flag"
	"os"
	"testing"
)

// env asks for the second pass.
const env = "EINOLEAN_TWICE"

// Run runs the tests. Where EINOLEAN_TWICE is set and they pass, their quick part (-short)
// runs again after them. It returns the code to exit with.
func Run(m *testing.M) int {
	again := os.Getenv(env) != ""
	_ = os.Unsetenv(env) // processes that tests start run once
	code := m.Run()
	if code != 0 || !again {
		return code
	}
	if err := flag.Set("test.short", "true"); err != nil {
		panic(err) // every test binary has the flag
	}
	return m.Run()
}
