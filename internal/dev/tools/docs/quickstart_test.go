// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var clone = regexp.MustCompile(`(?m)^git clone .*$`)

// TestQuickstart_CommandsWork runs the commands of the page one after the other in an empty folder, with this checkout
// in place of the clone. Then it adds the import of mcptools, as the page says.
func TestQuickstart_CommandsWork(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a program")
	}
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("no shell")
	}
	page, _, found := strings.Cut(read(t, "docs/quickstart.md"), "\n## Next")
	require.True(t, found)
	commands := "set -e\n"
	for _, m := range fence.FindAllStringSubmatch(page, -1) {
		if m[1] == "sh" {
			commands += m[2]
		}
	}
	require.Regexp(t, clone, commands)
	dir, err := filepath.Abs(root)
	require.NoError(t, err)
	commands = clone.ReplaceAllLiteralString(commands, "ln -s '"+dir+"' einolean")
	commands += `printf 'package main\n\nimport _ "` + module + `/toolsearch/mcptools"\n' > mcp.go
go mod tidy
go list -deps . > deps.txt
`
	cmd := exec.Command("sh", "-c", commands)
	cmd.Dir = t.TempDir()
	cmd.Env = append(os.Environ(), "GOFLAGS=-trimpath -buildvcs=false", "GOWORK=off")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Contains(t, string(out), "Yes, it will rain at noon.")
	deps, err := os.ReadFile(filepath.Join(cmd.Dir, "agent", "deps.txt"))
	require.NoError(t, err)
	require.Contains(t, string(deps), module+"/toolsearch/mcptools\n")
}
