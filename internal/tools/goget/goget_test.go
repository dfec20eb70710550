// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package goget

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/leanctx/leanctx/internal/race"
)

const (
	module = "github.com/leanctx/leanctx"
	root   = "../../.."
)

// published are the modules that strangers require here, of those that a release tags.
var published = []string{"", "reduction/blobbackend", "examples/native/mended", "toolsearch/mcptools", "toolsearch/javascript", "examples", "cmd/leanctx"}

func TestAReleaseIsUsedFromAnEmptyModule(t *testing.T) {
	if testing.Short() {
		t.Skip("builds programs from modules")
	}
	race.Skip(t, "builds programs from modules, without the detector")
	proxy, version := makeProxy(t)
	t.Run("README", func(t *testing.T) { runTheReadme(t, proxy, version) })
	t.Run("command", func(t *testing.T) { runTheCommand(t, proxy, version) })
	t.Run("nested modules", func(t *testing.T) { buildNestedModules(t, proxy, version) })
}

func runTheReadme(t *testing.T, proxy, version string) {
	dir := t.TempDir()
	snippet, err := os.ReadFile("testdata/main.go.txt")
	require.NoError(t, err)
	lines := readmeLines(t)
	// A README leaves out what every Go program does after a call.
	code := strings.ReplaceAll(lines, "// ...", "if err != nil {\n\treturn err\n}")
	code = strings.ReplaceAll(code, "/var/lib/agent/results", filepath.ToSlash(filepath.Join(dir, "results")))
	program := strings.Replace(string(snippet), "\tSNIPPET\n", code+"\nif err != nil {\n\treturn err\n}\n", 1)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "main.go"), []byte(program), 0o600))

	command(t, dir, proxy, "go", "mod", "init", "example.com/stranger")
	command(t, dir, proxy, "go", "get", module+"@"+version)
	command(t, dir, proxy, "go", "mod", "tidy")
	mod, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	require.NoError(t, err)
	require.NotContains(t, string(mod), "replace")
	out := command(t, dir, proxy, "go", "run", ".")
	require.Equal(t, "tool_search read_file \ntool_search read_file archive__read \ntool_search read_file archive__read \ntool_search read_file archive__read \nfound: true\n", out)
}

// runTheCommand follows the documentation with nothing but Go and a file.
func runTheCommand(t *testing.T, proxy, version string) {
	dir := t.TempDir()
	tools := `{"name":"mail_send","description":"Sends electronic mail to people"}`
	require.NoError(t, os.WriteFile(filepath.Join(dir, "tools.json"), []byte(tools), 0o600))
	out := command(t, dir, proxy, "go", "run", module+"/cmd/leanctx@"+version, "eval", "tools.json")
	require.Equal(t, "1 of 1 tool is found by their own words\n\n", out)
	chat := `[{"role":"user","content":"hello"},{"role":"assistant","content":"hello"}]`
	require.NoError(t, os.WriteFile(filepath.Join(dir, "chat.json"), []byte(chat), 0o600))
	out = command(t, dir, proxy, "go", "run", module+"/cmd/leanctx@"+version, "replay", "chat.json", "--policy", "leanctx", "--color", "never")
	require.Contains(t, out, "No policy costs more than doing nothing")
}

func buildNestedModules(t *testing.T, proxy, version string) {
	if _, err := os.Stat(filepath.Join(moduleCache(t), "gocloud.dev")); err != nil {
		t.Skip("gocloud.dev has not been downloaded yet; the tests of reduction/blobbackend do that")
	}
	dir := t.TempDir()
	program := "package main\n\nimport (\n\t_ \"" + module + "/reduction/blobbackend\"\n\t_ \"" + module + "/examples/native/mended\"\n)\n\nfunc main() {}\n"
	require.NoError(t, os.WriteFile(filepath.Join(dir, "main.go"), []byte(program), 0o600))
	command(t, dir, proxy, "go", "mod", "init", "example.com/stranger")
	command(t, dir, proxy, "go", "get", module+"/reduction/blobbackend@"+version, module+"/examples/native/mended@"+version)
	command(t, dir, proxy, "go", "list", "-export", ".") // compiles, and links nothing
}

var region = regexp.MustCompile("(?s)<!-- region: readme -->\n```go\n(.*?)```")

func readmeLines(t *testing.T) string {
	t.Helper()
	readme, err := os.ReadFile(filepath.Join(root, "README.md"))
	require.NoError(t, err)
	found := region.FindSubmatch(readme)
	require.NotNil(t, found, "README.md has no region named readme")
	return string(found[1])
}

// makeProxy releases the committed tree, and lays what was tagged out as a module proxy does,
// each module on its own. The version is made of the tree's hash and the process, so that no two
// trees, and no two runs side by side, share one in the module cache.
func makeProxy(t *testing.T) (dir, version string) {
	t.Helper()
	clone, version := release(t)
	forget(t, version)
	t.Cleanup(func() { forget(t, version) })
	dir = t.TempDir()
	for _, sub := range published {
		tree := tagged(t, clone, strings.TrimPrefix(sub+"/"+version, "/"))
		mod := tree[strings.TrimPrefix(sub+"/go.mod", "/")]
		require.NotContains(t, string(mod), "replace", "%s", sub)
		path := strings.TrimSuffix(module+"/"+sub, "/")
		at := filepath.Join(dir, filepath.FromSlash(path), "@v")
		require.NoError(t, os.MkdirAll(at, 0o700))
		info, err := json.Marshal(map[string]string{"Version": version, "Time": "2026-01-01T00:00:00Z"})
		require.NoError(t, err)
		for name, data := range map[string][]byte{
			"list": []byte(version + "\n"), version + ".info": info, version + ".mod": mod,
			version + ".zip": archive(t, tree, sub, path+"@"+version+"/"),
		} {
			require.NotEmpty(t, data, "%s of %s", name, path)
			require.NoError(t, os.WriteFile(filepath.Join(at, name), data, 0o600))
		}
	}
	return dir, version
}

// forget removes the made-up version from the machine's module cache.
func forget(t *testing.T, version string) {
	t.Helper()
	cache := moduleCache(t)
	for _, sub := range published {
		path := filepath.FromSlash(strings.TrimSuffix(module+"/"+sub, "/"))
		require.NoError(t, os.RemoveAll(filepath.Join(filepath.Dir(filepath.Dir(cache)), path+"@"+version)))
		files, err := filepath.Glob(filepath.Join(cache, path, "@v", version+".*"))
		require.NoError(t, err)
		for _, f := range files {
			if err := os.Remove(f); err != nil && !errors.Is(err, fs.ErrNotExist) {
				require.NoError(t, err)
			}
		}
	}
}

// release runs the release of HEAD in a clone of the repository, and returns where that is.
func release(t *testing.T) (clone, version string) {
	t.Helper()
	hash, err := exec.Command("git", "-C", root, "rev-parse", "--short=12", "HEAD^{tree}").Output()
	if err != nil {
		t.Skipf("not a git checkout: %v", err)
	}
	version = fmt.Sprintf("v0.1.1-tree.%s.p%d", strings.TrimSpace(string(hash)), os.Getpid())
	clone = filepath.Join(t.TempDir(), "clone")
	from, err := filepath.Abs(root)
	require.NoError(t, err)
	output(t, exec.Command("git", "clone", "-q", from, clone))
	cmd := exec.Command("go", "run", "./internal/tools/release", "-version", version, "-tag")
	cmd.Dir, cmd.Env = clone, os.Environ()
	for _, who := range []string{"AUTHOR", "COMMITTER"} {
		cmd.Env = append(cmd.Env, "GIT_"+who+"_NAME=stranger", "GIT_"+who+"_EMAIL=stranger@example.com")
	}
	output(t, cmd)
	return clone, version
}

func output(t *testing.T, cmd *exec.Cmd) []byte {
	t.Helper()
	var out, problem bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &problem
	require.NoError(t, cmd.Run(), "%s: %s", cmd, problem.String())
	return out.Bytes()
}

// tagged is the tree of a tag.
func tagged(t *testing.T, clone, tag string) map[string][]byte {
	t.Helper()
	out := output(t, exec.Command("git", "-C", clone, "archive", "--format=zip", tag))
	z, err := zip.NewReader(bytes.NewReader(out), int64(len(out)))
	require.NoError(t, err)
	tree := map[string][]byte{}
	for _, f := range z.File {
		if f.FileInfo().IsDir() {
			continue
		}
		r, err := f.Open()
		require.NoError(t, err)
		data, err := io.ReadAll(r)
		require.NoError(t, err)
		tree[f.Name] = data
	}
	return tree
}

// archive is the zip of one module: its folder without the modules below it.
func archive(t *testing.T, tree map[string][]byte, sub, prefix string) []byte {
	t.Helper()
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for name, data := range tree {
		rest, inside := strings.CutPrefix(name, strings.TrimPrefix(sub+"/", "/"))
		if !inside || nested(tree, sub, name) {
			continue
		}
		w, err := z.Create(prefix + rest)
		require.NoError(t, err)
		_, err = w.Write(data)
		require.NoError(t, err)
	}
	require.NoError(t, z.Close())
	return out.Bytes()
}

// nested reports whether a file belongs to a module below sub.
func nested(tree map[string][]byte, sub, name string) bool {
	for dir := filepath.ToSlash(filepath.Dir(name)); dir != "." && dir != sub; dir = filepath.ToSlash(filepath.Dir(dir)) {
		if tree[dir+"/go.mod"] != nil {
			return true
		}
	}
	return false
}

func moduleCache(t *testing.T) string {
	t.Helper()
	out, err := exec.Command("go", "env", "GOMODCACHE").Output()
	require.NoError(t, err)
	return filepath.Join(strings.TrimSpace(string(out)), "cache", "download")
}

// command runs a command as a new user would. Modules other than ours come from those that
// are downloaded already, or else from where this machine gets them; -trimpath lets what
// `make check` compiled of them count.
func command(t *testing.T, dir, proxy string, name string, args ...string) string {
	t.Helper()
	usual, err := exec.Command("go", "env", "GOPROXY").Output()
	require.NoError(t, err)
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod -modcacherw -ldflags=-w -trimpath", "GOWORK=off", "GONOSUMDB="+module, "GONOSUMCHECK=1", "GOSUMDB=off",
		"GOPROXY=file://"+filepath.ToSlash(proxy)+",file://"+filepath.ToSlash(moduleCache(t))+","+strings.TrimSpace(string(usual)))
	var out, problem bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &problem
	require.NoError(t, cmd.Run(), "%s %v: %s", name, args, problem.String())
	return out.String()
}
