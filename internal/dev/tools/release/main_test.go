// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTaggedModFile_HasNoReplaceLines(t *testing.T) {
	require.Equal(t, `module github.com/einolean/einolean/sub

require (
	example.com/other v1.2.3
	github.com/einolean/einolean v0.4.0
	github.com/einolean/einolean/examples v0.4.0 // indirect
)

require github.com/einolean/einolean/more v0.4.0
`, taggedModFile(`module github.com/einolean/einolean/sub

require (
	example.com/other v1.2.3
	github.com/einolean/einolean v0.0.0
	github.com/einolean/einolean/examples v0.0.0 // indirect
)

require github.com/einolean/einolean/more v0.1.0

replace github.com/einolean/einolean => ../..

replace (
	github.com/einolean/einolean/examples => ..
)
`, "v0.4.0"))
}

// sample is a repository with a root module, a nested one, and one that nobody can import.
func sample(t *testing.T) repository {
	t.Helper()
	r := repository{t.TempDir()}
	for _, name := range []string{"GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL"} {
		t.Setenv(name, "sample")
	}
	for file, text := range map[string]string{
		"go.mod":            "module " + module + "\n",
		"sub/go.mod":        "module " + module + "/sub\n\nrequire " + module + " v0.0.0\n\nreplace " + module + " => ..\n",
		"internal/x/go.mod": "module " + module + "/internal/x\n",
	} {
		file = filepath.Join(r.dir, file)
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o700))
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	}
	for _, args := range [][]string{{"init", "-q"}, {"add", "."}, {"commit", "-qm", "sample"}} {
		git(t, r, args...)
	}
	return r
}

func git(t *testing.T, r repository, args ...string) string {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git here")
	}
	out, err := r.git(nil, args...)
	require.NoError(t, err)
	return out
}

func TestRelease_WithoutTagTagsNothing(t *testing.T) {
	r := sample(t)
	var out strings.Builder
	require.NoError(t, release(&out, r.dir, "v0.1.0", false))
	require.Equal(t, "would tag v0.1.0 at HEAD\nwould tag sub/v0.1.0 without replace\nto publish: git push origin v0.1.0 sub/v0.1.0\n", out.String())
	require.Empty(t, git(t, r, "tag"))
}

func TestRelease_TagsNestedModulesWithoutReplace(t *testing.T) {
	r := sample(t)
	head := git(t, r, "rev-parse", "HEAD")
	require.NoError(t, release(io.Discard, r.dir, "v0.1.0", true))
	require.Equal(t, "sub/v0.1.0\nv0.1.0", git(t, r, "tag"))
	require.Equal(t, head, git(t, r, "rev-parse", "v0.1.0"))
	require.Equal(t, "module "+module+"/sub\n\nrequire "+module+" v0.1.0", git(t, r, "show", "sub/v0.1.0:sub/go.mod"))
	require.Equal(t, head, git(t, r, "rev-parse", "HEAD"))
	require.Empty(t, git(t, r, "status", "--porcelain"))
}

// The go command computes the sums of the tagged modules. The go.sum of each module that requires them has the same.
func TestRelease_TaggedModulesHaveSumsOfOthers(t *testing.T) {
	r := sample(t)
	for file, text := range map[string]string{
		"LICENSE":           "as you like\n",
		"a.go":              "package einolean\n",
		"sub/b.go":          "package sub\n",
		"sub/deep/c.go":     "package deep\n",
		"sub/more/go.mod":   "module " + module + "/sub/more\n\nrequire (\n\t" + module + " v0.0.0\n\t" + module + "/sub v0.0.0\n)\n\nreplace " + module + " => ../..\n\nreplace " + module + "/sub => ..\n",
		"sub/more/go.sum":   "example.com/other v1.0.0 h1:x=\n",
		"sub/more/LICENSE":  "not at all\n",
		"internal/x/d.go":   "package x\n",
		"testdata/y/go.mod": "module y\n",
	} {
		file = filepath.Join(r.dir, file)
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o700))
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	}
	git(t, r, "add", ".")
	git(t, r, "commit", "-qm", "more")
	require.NoError(t, release(io.Discard, r.dir, "v0.1.0", true))
	lines := git(t, r, "show", "sub/more/v0.1.0:sub/more/go.sum")
	require.Contains(t, lines, "example.com/other v1.0.0 h1:x=")
	require.Equal(t, 5, len(strings.Split(lines, "\n")), lines)
	require.Contains(t, lines, git(t, r, "show", "sub/v0.1.0:sub/go.sum"))
	t.Setenv("GIT_CONFIG_COUNT", "1")
	t.Setenv("GIT_CONFIG_KEY_0", "url.file://"+r.dir+".insteadOf")
	t.Setenv("GIT_CONFIG_VALUE_0", "https://"+module)
	for key, value := range map[string]string{"GOPROXY": "direct", "GOPRIVATE": module, "GOMODCACHE": t.TempDir(), "GOFLAGS": "-modcacherw", "GOWORK": "off", "GOTOOLCHAIN": "local", "GIT_ALLOW_PROTOCOL": "file:https"} {
		t.Setenv(key, value)
	}
	for _, sub := range []string{"", "/sub"} {
		cmd := exec.Command("go", "mod", "download", "-json", module+sub+"@v0.1.0")
		cmd.Dir = t.TempDir()
		out, err := cmd.Output()
		require.NoError(t, err, string(out))
		var got struct{ Sum, GoModSum string }
		require.NoError(t, json.Unmarshal(out, &got))
		require.Contains(t, lines, module+sub+" v0.1.0 "+got.Sum+"\n")
		require.Contains(t, lines, module+sub+" v0.1.0/go.mod "+got.GoModSum)
	}
}

func TestRelease_RejectsCyclicModules(t *testing.T) {
	r := sample(t)
	for file, other := range map[string]string{"sub/go.mod": "two", "two/go.mod": "sub"} {
		require.NoError(t, os.MkdirAll(filepath.Join(r.dir, filepath.Dir(file)), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(r.dir, file), []byte("module "+module+"/"+filepath.Dir(file)+"\n\nrequire "+module+"/"+other+" v0.0.0\n"), 0o600))
	}
	git(t, r, "add", ".")
	git(t, r, "commit", "-qm", "more")
	require.ErrorContains(t, release(io.Discard, r.dir, "v0.1.0", true), "the modules sub, two, sub require each other")
}

func TestRelease_RejectsInvalidVersionAndDirtyTree(t *testing.T) {
	r := sample(t)
	require.ErrorContains(t, release(io.Discard, r.dir, "0.1", false), "not a version")
	require.NoError(t, release(io.Discard, r.dir, "v0.1.0", true))
	require.ErrorContains(t, release(io.Discard, r.dir, "v0.1.0", true), "the tag exists")
	require.NoError(t, os.WriteFile(filepath.Join(r.dir, "new"), nil, 0o600))
	require.ErrorContains(t, release(io.Discard, r.dir, "v0.2.0", true), "commit these first")
}
