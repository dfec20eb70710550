// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package goget

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const (
	module = "github.com/leanctx/leanctx"
	root   = "../../.."
	// required is the version of this module that reduction/blobbackend requires.
	required = "v0.1.0"
)

// published are the modules that strangers require.
var published = []string{"", "reduction/blobbackend"}

func TestTheReadmeRunsInAnEmptyModule(t *testing.T) {
	proxy, version := makeProxy(t)
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

func TestTheStoreForReplicasBuildsInAnEmptyModule(t *testing.T) {
	if _, err := os.Stat(filepath.Join(moduleCache(t), "gocloud.dev")); err != nil {
		t.Skip("gocloud.dev has not been downloaded yet; the tests of reduction/blobbackend do that")
	}
	proxy, version := makeProxy(t)
	dir := t.TempDir()
	program := "package main\n\nimport _ \"" + module + "/reduction/blobbackend\"\n\nfunc main() {}\n"
	require.NoError(t, os.WriteFile(filepath.Join(dir, "main.go"), []byte(program), 0o600))
	command(t, dir, proxy, "go", "mod", "init", "example.com/stranger")
	command(t, dir, proxy, "go", "get", module+"@"+version, module+"/reduction/blobbackend@"+version)
	command(t, dir, proxy, "go", "vet", ".")
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

// makeProxy lays the committed tree out as a module proxy does, each module on its own. The
// version is made of the tree's hash, so that no two trees share one in the module cache.
func makeProxy(t *testing.T) (dir, version string) {
	t.Helper()
	tree, hash := committed(t)
	version = "v0.1.1-tree." + hash
	forget(t, version)
	t.Cleanup(func() { forget(t, version) })
	dir = t.TempDir()
	for _, sub := range published {
		path := strings.TrimSuffix(module+"/"+sub, "/")
		at := filepath.Join(dir, filepath.FromSlash(path), "@v")
		require.NoError(t, os.MkdirAll(at, 0o700))
		info, err := json.Marshal(map[string]string{"Version": version, "Time": "2026-01-01T00:00:00Z"})
		require.NoError(t, err)
		for name, data := range map[string][]byte{
			"list": []byte(version + "\n"), version + ".info": info,
			version + ".mod":  tree[strings.TrimPrefix(sub+"/go.mod", "/")],
			required + ".mod": tree[strings.TrimPrefix(sub+"/go.mod", "/")],
			version + ".zip":  archive(t, tree, sub, path+"@"+version+"/"),
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
		for _, f := range append(files, filepath.Join(cache, path, "@v", required+".mod")) {
			if err := os.Remove(f); err != nil && !errors.Is(err, fs.ErrNotExist) {
				require.NoError(t, err)
			}
		}
	}
}

// committed is the tree of HEAD, and its hash.
func committed(t *testing.T) (map[string][]byte, string) {
	t.Helper()
	var out, problem bytes.Buffer
	cmd := exec.Command("git", "archive", "--format=zip", "HEAD")
	cmd.Dir, cmd.Stdout, cmd.Stderr = root, &out, &problem
	if err := cmd.Run(); err != nil {
		t.Skipf("not a git checkout: %v %s", err, problem.String())
	}
	z, err := zip.NewReader(bytes.NewReader(out.Bytes()), int64(out.Len()))
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
	sum := sha256.Sum256(out.Bytes())
	return tree, hex.EncodeToString(sum[:6])
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

// command runs a command of the stranger's. Modules other than ours come from those that
// are downloaded already, or else from where this machine gets them.
func command(t *testing.T, dir, proxy string, name string, args ...string) string {
	t.Helper()
	usual, err := exec.Command("go", "env", "GOPROXY").Output()
	require.NoError(t, err)
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod -modcacherw", "GOWORK=off", "GONOSUMDB="+module, "GONOSUMCHECK=1", "GOSUMDB=off",
		"GOPROXY=file://"+filepath.ToSlash(proxy)+",file://"+filepath.ToSlash(moduleCache(t))+","+strings.TrimSpace(string(usual)))
	var out, problem bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &problem
	require.NoError(t, cmd.Run(), "%s %v: %s", name, args, problem.String())
	return out.String()
}
