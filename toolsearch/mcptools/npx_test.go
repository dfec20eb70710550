// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package mcptools

// Servers that others publish, where npx and the registry are there.

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/schema"
	"github.com/stretchr/testify/require"

	"github.com/leanctx/leanctx/internal/race"
)

// fetch gets a package ahead of the connection's time limit.
func fetch(t *testing.T, pkg string) string {
	t.Helper()
	race.Skip(t, "waits for programs of others")
	if testing.Short() {
		t.Skip("waits for programs of others")
	}
	t.Parallel()
	npx, err := exec.LookPath("npx")
	if err != nil {
		t.Skip("did not run: npx is not installed")
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	if out, err := exec.CommandContext(ctx, npx, "-y", "-p", pkg, "node", "-e", "0").CombinedOutput(); err != nil {
		t.Skipf("did not run: %s cannot be fetched: %v %.300s", pkg, err, out)
	}
	return npx
}

func TestPublishedServerEverything(t *testing.T) {
	const pkg = "@modelcontextprotocol/server-everything"
	npx := fetch(t, pkg)
	s := open(t, map[string]Server{"everything": {Command: npx, Args: []string{"-y", pkg, "stdio"}}}, Options{Media: true, MaxWait: 5 * time.Second})
	until(t, "it is up", func() bool { return statusOf(s, "everything").State == StateUp && len(namesIn(t, ctx, s)) > 0 })
	st := statusOf(s, "everything")
	t.Logf("%s ran: %d tools, protocol %s", pkg, st.Tools, st.Protocol)
	run := func(name, args string) []schema.ToolOutputPart {
		r, err := find(t, ctx, s, "everything__"+name).(tool.EnhancedInvokableTool).InvokableRun(ctx, &schema.ToolArgument{Text: args})
		require.NoError(t, err)
		return r.Parts
	}
	require.Contains(t, run("echo", `{"message":"hello"}`)[0].Text, "hello")
	require.Contains(t, run("echo", `{"message":5}`)[0].Text, "error: ")
	image := false
	for _, p := range run("get-tiny-image", `{}`) {
		image = image || p.Type == schema.ToolPartTypeImage && *p.Image.Base64Data != ""
	}
	require.True(t, image)
}

func TestPublishedServerFilesystem(t *testing.T) {
	const pkg = "@modelcontextprotocol/server-filesystem"
	npx := fetch(t, pkg)
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	file := filepath.Join(dir, "note.txt")
	require.NoError(t, os.WriteFile(file, []byte("forty-two"), 0o600))
	s := open(t, map[string]Server{"files": {Command: npx, Args: []string{"-y", pkg, dir}}}, Options{})
	until(t, "it is up", func() bool { return statusOf(s, "files").State == StateUp && len(namesIn(t, ctx, s)) > 0 })
	st := statusOf(s, "files")
	t.Logf("%s ran: %d tools, protocol %s", pkg, st.Tools, st.Protocol)
	require.Contains(t, ask(t, ctx, s, "files__read_text_file", fmt.Sprintf(`{"path":%q}`, file)), "forty-two")
	require.Contains(t, ask(t, ctx, s, "files__read_text_file", `{"path":"/etc/passwd"}`), "error: ")
	for name, want := range map[string]Hints{
		"read_text_file": {Server: "files", Tool: "read_text_file", ReadOnly: true},
		"write_file":     {Server: "files", Tool: "write_file", Destructive: true},
	} {
		info, err := find(t, ctx, s, "files__"+name).Info(ctx)
		require.NoError(t, err)
		h := HintsOf(info)
		require.Equal(t, want.ReadOnly, h.ReadOnly, name)
		require.Equal(t, want.Destructive, h.Destructive, name)
	}
}
