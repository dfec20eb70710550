// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package walks_test

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/tools/walks"
)

// The four walks of CONTRIBUTING.md as somebody takes them who skips nothing: what the Example that is
// this sentence executes of its package and those below it. The figures only go down.
var all = map[string][]struct {
	example          string
	functions, files int
}{
	"toolsearch": {
		{"ExampleNew", 201, 22},           // search, load, call
		{"ExampleConfig_source", 233, 23}, // a server's list changes
	},
	"reduction": {
		{"Example", 127, 16},         // a long result, stored and read back
		{"ExampleNewTyped", 139, 16}, // a conversation grows, and is cleared
	},
}

func TestTheWalksThroughTheCodeStayShort(t *testing.T) {
	if testing.Short() {
		t.Skip("it compiles two packages once more, for coverage")
	}
	const module, root = "github.com/einolean/einolean", "../../../.."
	for pkg, examples := range all {
		program := filepath.Join(t.TempDir(), "program")
		build := exec.CommandContext(t.Context(), "go", "test", "-c", "-o", program, "-covermode=set", "-coverpkg=./"+pkg+"/...", "./"+pkg)
		build.Dir = root
		out, err := build.CombinedOutput()
		require.NoError(t, err, "%s", out)
		for _, w := range examples {
			profile := filepath.Join(t.TempDir(), "profile")
			run := exec.CommandContext(t.Context(), program, "-test.run=^"+w.example+"$", "-test.v", "-test.coverprofile="+profile)
			run.Dir = filepath.Join(root, pkg)
			out, err := run.CombinedOutput()
			require.NoError(t, err, "%s", out)
			require.Contains(t, string(out), "--- PASS: "+w.example)
			f, err := os.Open(profile)
			require.NoError(t, err)
			executed, err := walks.Executed(f, module, root)
			require.NoError(t, err)
			require.NoError(t, f.Close())
			functions := 0
			for _, file := range slices.Sorted(maps.Keys(executed)) {
				functions += len(executed[file])
				t.Logf("%s %d: %s", file, len(executed[file]), strings.Join(executed[file], " "))
			}
			t.Logf("%s: %d functions in %d files", w.example, functions, len(executed))
			require.LessOrEqual(t, functions, w.functions, "%s: functions", w.example)
			require.LessOrEqual(t, len(executed), w.files, "%s: files", w.example)
		}
	}
}
