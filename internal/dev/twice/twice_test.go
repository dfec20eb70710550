// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package twice

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// role says what TestRun_ChildProcess is in a process that TestRun_SecondPassSeesStateOfFirst starts.
const role = "EINOLEAN_TEST_ROLE"

func TestMain(m *testing.M) { os.Exit(Run(m)) }

var passes int

func TestRun_ChildProcess(t *testing.T) {
	passes++
	switch os.Getenv(role) {
	case "leaves nothing":
		require.Equal(t, passes == 2, testing.Short(), "only the second pass is quick")
	case "leaves something":
		require.Equal(t, 1, passes)
	}
}

func TestRun_SecondPassSeesStateOfFirst(t *testing.T) {
	for _, c := range []struct {
		role, twice    string
		passed, failed int
	}{
		{"leaves something", "", 1, 0},
		{"leaves nothing", "1", 2, 0},
		{"leaves something", "1", 1, 1},
	} {
		t.Run(c.role+" "+c.twice, func(t *testing.T) {
			cmd := exec.Command(os.Args[0], "-test.run=^TestRun_ChildProcess$", "-test.v")
			cmd.Env = append(os.Environ(), role+"="+c.role, env+"="+c.twice)
			out, err := cmd.CombinedOutput()
			require.Equal(t, c.failed > 0, err != nil, "%s", out)
			require.Equal(t, c.passed, strings.Count(string(out), "--- PASS"), "%s", out)
			require.Equal(t, c.failed, strings.Count(string(out), "--- FAIL"), "%s", out)
		})
	}
}
