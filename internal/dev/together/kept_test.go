// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package together

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/race"
)

// The tests of toolsearch, of its slots and of the examples pass with a future Eino that caches the table
// of a list of tools: all but those of tools that join in the middle of a run, which are answered there,
// and those that count how often Eino asks.
//
//claim:eino-01
func TestEino_MayCacheItsToolTable(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds another Eino")
	}
	race.Skip(t, "it builds other programs, which have no detector")
	root, err := filepath.Abs("../../..")
	require.NoError(t, err)
	eino := keepingEino(t, root)
	runs := [][]string{
		{".", "test", "-vet=off", "-short", "-skip", strings.Join(joining, "|"), "./toolsearch", "./toolsearch/internal/..."},
		{"examples", "test", "-vet=off", "-short", "./quickstart", "./toolsearch", "./protocols", "./both"},
	}
	for _, run := range runs {
		cmd := exec.Command("go", run[1:]...)
		cmd.Dir = filepath.Join(root, run[0])
		cmd.Env = append(os.Environ(), "GOFLAGS=-buildvcs=false -trimpath -modfile="+modfile(t, cmd.Dir, eino), "EINOLEAN_KEEPING=1")
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
		require.NotContains(t, string(out), "no tests to run")
	}
}

// joining are the tests of tools that join in the middle of a run, of names that no listed tool has, and of how often
// Eino asks.
var joining = []string{
	"TestEino_RereadsToolNames", "TestSlots_EinoReadsInfoBeforeEachRound", "TestSlots_InfoIsReadOnce_TS17", "TestParity_EveryDifferenceIsListed",
	"TestMemory_DoesNotGrowWithTools", "TestSlots_InitialToolsHaveTheirOwn",
	"TestAlwaysVisible_AppliesToLateTools", "TestSource_LateToolIsFoundInNextCall", "TestSource_ModelCallShowsCurrentTools",
	"TestSlots_MoreCallsThanSlotsAreAnswered", "TestCallTool_RunsLateTools", "ExampleConfig_source",
	"TestSource_NoCallEndsRunWhileItFails", "TestSource_AnswerReportsServersDown", "TestSource_ResumesWhileItFails",
	"TestCallbacks_SeeHiddenTools/through_call_tool/enhanced", "TestSource_EagerToolExecution/.*/.*/joining",
}

// keepingEino copies Eino, and has its tools node keep the table that it made of a list.
func keepingEino(t *testing.T, root string) string {
	list := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/cloudwego/eino")
	list.Dir = root
	from, err := list.Output()
	require.NoError(t, err)
	to := filepath.Join(t.TempDir(), "eino")
	source := strings.TrimSpace(string(from))
	require.NoError(t, filepath.WalkDir(source, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasSuffix(path, "_test.go") || filepath.Ext(path) != ".go" && d.Name() != "go.mod" {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name := filepath.Join(to, strings.TrimPrefix(path, source))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return err
		}
		return os.WriteFile(name, text, 0o600)
	}))
	name := filepath.Join(to, "compose", "tool_node.go")
	text, err := os.ReadFile(name)
	require.NoError(t, err)
	next := string(text)
	for _, change := range [][2]string{
		{"\ttoolAliasConfigs                  map[string]ToolAliasConfig\n}", "\ttoolAliasConfigs                  map[string]ToolAliasConfig\n\tkeeping sync.Mutex\n\tkept *toolsTuple\n\tkeptFor []tool.BaseTool\n}"},
		{"\tp := convToolsParams{\n", "\ttn.keeping.Lock()\n\tdefer tn.keeping.Unlock()\n\tif tn.kept != nil && len(tools) > 0 && len(tools) == len(tn.keptFor) && &tools[0] == &tn.keptFor[0] {\n\t\treturn tn.kept, nil\n\t}\n\tp := convToolsParams{\n"},
		{"from call option: %w\", err)\n\t}\n", "from call option: %w\", err)\n\t}\n\ttn.kept, tn.keptFor = tuple, tools\n"},
	} {
		require.Equal(t, 1, strings.Count(next, change[0]), "Eino has changed: %s", change[0])
		next = strings.Replace(next, change[0], change[1], 1)
	}
	require.NoError(t, os.WriteFile(name, []byte(next), 0o600))
	return to
}

// modfile writes the go.mod of a module, with another Eino.
func modfile(t *testing.T, module, eino string) string {
	to := filepath.Join(t.TempDir(), "go.mod")
	for _, name := range []string{"go.mod", "go.sum"} {
		text, err := os.ReadFile(filepath.Join(module, name))
		require.NoError(t, err)
		if name == "go.mod" {
			text = append(text, "\nreplace github.com/cloudwego/eino => "+eino+"\n"...)
		}
		require.NoError(t, os.WriteFile(filepath.Join(filepath.Dir(to), name), text, 0o600))
	}
	return to
}
