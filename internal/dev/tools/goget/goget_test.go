// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package goget

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/race"
)

const (
	module = "github.com/einolean/einolean"
	root   = "../../../.."
)

// published are the modules that strangers require here, of those that a release tags.
var published = []string{"", "reduction/blobbackend", "adapters/claude", "toolsearch/mcptools", "programs/javascript", "demo", "cmd/einolean"}

// TestRelease_WorksFromAnEmptyModule tags the committed tree with `make release`, and uses the tagged modules in
// programs outside of the repository.
func TestRelease_WorksFromAnEmptyModule(t *testing.T) {
	if testing.Short() {
		t.Skip("builds programs from modules")
	}
	race.Skip(t, "builds programs from modules, without the detector")
	clone := release(t)
	checkModFiles(t, clone)
	s := stranger{proxy: makeProxy(t, clone), cache: borrowCache(t)}
	t.Run("README", s.runTheReadme)
	t.Run("command", s.runTheCommand)
	t.Run("nested modules", s.buildNestedModules)
}

// TestReadme_CommandsWorkBesideAClone runs the commands that README gives for the time before the first release, in
// an empty folder with the repository beside it, and then uses mcptools as README does.
func TestReadme_CommandsWorkBesideAClone(t *testing.T) {
	if testing.Short() {
		t.Skip("builds programs from modules")
	}
	race.Skip(t, "builds programs from modules, without the detector")
	parent, s := t.TempDir(), stranger{proxy: t.TempDir(), cache: borrowCache(t)}
	dir := filepath.Join(parent, "agent")
	require.NoError(t, os.Mkdir(dir, 0o700))
	top, err := filepath.Abs(root)
	require.NoError(t, err)
	require.NoError(t, os.Symlink(top, filepath.Join(parent, "einolean")))
	var out string
	for line := range strings.Lines(readmeRegion(t, "use", "sh")) {
		out = s.command(t, dir, "sh", "-c", line)
	}
	require.Contains(t, out, "=> tool_search")

	lines := strings.ReplaceAll(readmeRegion(t, "mcp", "go"), "\n", "\n\tif err != nil {\n\t\treturn nil, err\n\t}\n\t")
	program := "package main\n\nimport (\n\t\"context\"\n\n\t\"" + module + "/toolsearch\"\n\t\"" + module + "/toolsearch/mcptools\"\n)\n\n" +
		"func connect(ctx context.Context) (*toolsearch.Config, error) {\n\t" + lines + "return &toolsearch.Config{Source: servers}, nil\n}\n"
	require.NoError(t, os.WriteFile(filepath.Join(dir, "mcp.go"), []byte(program), 0o600))
	s.command(t, dir, "go", "mod", "tidy")
	s.command(t, dir, "go", "list", "-export", ".") // compiles, and links nothing
}

func (s stranger) runTheReadme(t *testing.T) {
	dir := t.TempDir()
	snippet, err := os.ReadFile("testdata/main.go.txt")
	require.NoError(t, err)
	lines := readmeRegion(t, "readme", "go")
	// A README leaves out what every Go program does after a call.
	code := strings.ReplaceAll(lines, "// ...", "if err != nil {\n\treturn err\n}")
	program := strings.Replace(string(snippet), "\tSNIPPET\n", code, 1)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "main.go"), []byte(program), 0o600))

	s.command(t, dir, "go", "mod", "init", "example.com/stranger")
	s.command(t, dir, "go", "get", module+"@"+version)
	s.command(t, dir, "go", "mod", "tidy")
	mod, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	require.NoError(t, err)
	require.NotContains(t, string(mod), "replace")
	out := s.command(t, dir, "go", "run", ".")
	require.Equal(t, strings.Repeat("tool_search call_tool read_file \n", 4)+"found: true\n", out)
}

// runTheCommand follows the documentation with nothing but Go and a file.
func (s stranger) runTheCommand(t *testing.T) {
	dir := t.TempDir()
	tools := `{"name":"mail_send","description":"Sends electronic mail to people"}`
	require.NoError(t, os.WriteFile(filepath.Join(dir, "tools.json"), []byte(tools), 0o600))
	out := s.command(t, dir, "go", "run", module+"/cmd/einolean@"+version, "eval", "tools.json")
	require.Equal(t, "1 of 1 tool is found by their own words\nno model or user was asked: words that they use and no tool has are not counted; --queries or --model measures them\n\n", out)
	chat := `[{"role":"user","content":"hello"},{"role":"assistant","content":"hello"}]`
	require.NoError(t, os.WriteFile(filepath.Join(dir, "chat.json"), []byte(chat), 0o600))
	out = s.command(t, dir, "go", "run", module+"/cmd/einolean@"+version, "replay", "chat.json", "--policy", "einolean", "--color", "never")
	require.Contains(t, out, "All policies cost the same: this is too short")
}

func (s stranger) buildNestedModules(t *testing.T) {
	if _, err := os.Stat(filepath.Join(s.cache, "cache", "download", "gocloud.dev")); err != nil {
		t.Skip("gocloud.dev has not been downloaded yet; the tests of reduction/blobbackend do that")
	}
	dir := t.TempDir()
	program := "package main\n\nimport (\n\t_ \"" + module + "/reduction/blobbackend\"\n\t_ \"" + module + "/adapters/claude\"\n)\n\nfunc main() {}\n"
	require.NoError(t, os.WriteFile(filepath.Join(dir, "main.go"), []byte(program), 0o600))
	s.command(t, dir, "go", "mod", "init", "example.com/stranger")
	s.command(t, dir, "go", "get", module+"/reduction/blobbackend@"+version, module+"/adapters/claude@"+version)
	s.command(t, dir, "go", "list", "-export", ".") // compiles, and links nothing
}

// readmeRegion is a marked block of code of the README.
func readmeRegion(t *testing.T, name, language string) string {
	t.Helper()
	readme, err := os.ReadFile(filepath.Join(root, "README.md"))
	require.NoError(t, err)
	_, text, found := strings.Cut(string(readme), "<!-- region: "+name+" -->\n```"+language+"\n")
	require.True(t, found, "README.md has no region named %s", name)
	text, _, found = strings.Cut(text, "```")
	require.True(t, found)
	return text
}

// version is the same in each run, so that what an earlier run compiled of packages that have not
// changed since need not be compiled again.
const version = "v0.1.0"

// ourRequirement is the requirement of a module of this repository in a go.mod.
var ourRequirement = regexp.MustCompile(`(?m)^(?:require )?\s*(` + regexp.QuoteMeta(module) + `(?:/\S+)?) (v\S+)`)

// modFileProblems are the lines of a released go.mod that users cannot build with: replacements, and requirements of
// modules of this repository in another version.
func modFileProblems(mod string) (problems []string) {
	if strings.Contains(mod, "\nreplace ") {
		problems = append(problems, "replaces a module")
	}
	for _, m := range ourRequirement.FindAllStringSubmatch(mod, -1) {
		if m[2] != version {
			problems = append(problems, "requires "+m[1]+" "+m[2])
		}
	}
	return problems
}

func TestModFileProblems_ReplacementsAndOtherVersions(t *testing.T) {
	const mod = "module " + module + "/sub\n\nrequire " + module + " " + version + "\n"
	require.Empty(t, modFileProblems(mod))
	require.Equal(t, []string{"replaces a module"}, modFileProblems(mod+"\nreplace "+module+" => ..\n"))
	require.Equal(t, []string{"replaces a module"}, modFileProblems(mod+"\nreplace (\n\t"+module+" => ..\n)\n"))
	require.Equal(t, []string{"requires " + module + "/a v0.0.0"}, modFileProblems(mod+"\nrequire (\n\t"+module+"/a v0.0.0 // indirect\n)\n"))
}

// checkModFiles checks the go.mod of every tag in a clone.
func checkModFiles(t *testing.T, clone string) {
	t.Helper()
	tags := strings.Fields(string(output(t, exec.Command("git", "-C", clone, "tag", "--list"))))
	require.Contains(t, tags, version)
	for _, sub := range published {
		require.Contains(t, tags, strings.TrimPrefix(sub+"/"+version, "/"))
	}
	for _, tag := range tags {
		file := strings.TrimSuffix(tag, version) + "go.mod"
		mod := string(output(t, exec.Command("git", "-C", clone, "show", tag+":"+file)))
		require.Empty(t, modFileProblems(mod), tag)
	}
}

// makeProxy lays what was tagged out as a module proxy does, each module on its own.
func makeProxy(t *testing.T, clone string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	trees := map[string]map[string][]byte{} // by commit; nested modules have one in common
	for _, sub := range published {
		commit := strings.TrimSpace(string(output(t, exec.Command("git", "-C", clone, "rev-parse", strings.TrimPrefix(sub+"/"+version, "/")+"^{commit}"))))
		if trees[commit] == nil {
			trees[commit] = treeOf(t, clone, commit)
		}
		tree := trees[commit]
		mod := tree[strings.TrimPrefix(sub+"/go.mod", "/")]
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
	return dir
}

// borrowCache makes a module cache in which all is that the machine's own has, and nothing of ours:
// the same version has other files in each run.
func borrowCache(t *testing.T) string {
	t.Helper()
	out, err := exec.Command("go", "env", "GOMODCACHE").Output()
	require.NoError(t, err)
	theirs, ours := strings.TrimSpace(string(out)), t.TempDir()
	apart := []string{"cache", "cache/download", "github.com", "cache/download/github.com"}
	for _, dir := range append(apart, ".") {
		require.NoError(t, os.MkdirAll(filepath.Join(ours, dir), 0o700))
		entries, err := os.ReadDir(filepath.Join(theirs, dir))
		require.NoError(t, err)
		for _, e := range entries {
			name := filepath.Join(dir, e.Name())
			if e.IsDir() && e.Name() != "einolean" && !slices.Contains(apart, filepath.ToSlash(name)) {
				require.NoError(t, os.Symlink(filepath.Join(theirs, name), filepath.Join(ours, name)))
			}
		}
	}
	return ours
}

// release runs `make release` for HEAD in a clone of the repository, and returns where that is.
func release(t *testing.T) (clone string) {
	t.Helper()
	if err := exec.Command("git", "-C", root, "rev-parse", "HEAD").Run(); err != nil {
		t.Skipf("not a git checkout: %v", err)
	}
	clone = filepath.Join(t.TempDir(), "clone")
	from, err := filepath.Abs(root)
	require.NoError(t, err)
	output(t, exec.Command("git", "clone", "-q", "--no-tags", from, clone)) // version may be released already
	cmd := exec.Command("make", "--no-print-directory", "release", "VERSION="+version, "TAG=1")
	cmd.Dir = clone
	// The variables of the make that runs this test are not meant for that one.
	cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "MAKE") || strings.HasPrefix(v, "MFLAGS") })
	for _, who := range []string{"AUTHOR", "COMMITTER"} {
		cmd.Env = append(cmd.Env, "GIT_"+who+"_NAME=stranger", "GIT_"+who+"_EMAIL=stranger@example.com")
	}
	output(t, cmd)
	return clone
}

func output(t *testing.T, cmd *exec.Cmd) []byte {
	t.Helper()
	var out, problem bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &problem
	require.NoError(t, cmd.Run(), "%s: %s", cmd, problem.String())
	return out.Bytes()
}

func treeOf(t *testing.T, clone, commit string) map[string][]byte {
	t.Helper()
	out := output(t, exec.Command("git", "-C", clone, "archive", "--format=zip", "-0", commit))
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
		w, err := z.CreateHeader(&zip.FileHeader{Name: prefix + rest, Method: zip.Store})
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

// stranger is a machine where only Go is.
type stranger struct {
	proxy, cache string // of modules
}

// command runs a command as a new user would. Modules other than ours come from those that
// are downloaded already, or else from where this machine gets them; -trimpath lets what
// `make check` compiled of them count.
func (s stranger) command(t *testing.T, dir string, name string, args ...string) string {
	t.Helper()
	usual, err := exec.Command("go", "env", "GOPROXY").Output()
	require.NoError(t, err)
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod -modcacherw -ldflags=-w -trimpath", "GOWORK=off", "GONOSUMDB="+module, "GONOSUMCHECK=1", "GOSUMDB=off",
		"GOMODCACHE="+s.cache, "GOPROXY=file://"+filepath.ToSlash(s.proxy)+",file://"+filepath.ToSlash(filepath.Join(s.cache, "cache", "download"))+","+strings.TrimSpace(string(usual)))
	var out, problem bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &problem
	require.NoError(t, cmd.Run(), "%s %v: %s", name, args, problem.String())
	return out.String()
}
