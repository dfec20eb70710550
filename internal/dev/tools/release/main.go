// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

// Command release tags a version of every module that is published. In the tree, nested
// modules build with the code beside them, by replace lines; what is tagged requires the
// version itself. So the root is tagged where HEAD is, and the nested modules at a commit
// after it, in which only their go.mod and go.sum differ. Nothing is pushed.
//
//	go run ./internal/dev/tools/release -version v0.1.0         # prints what it would do
//	go run ./internal/dev/tools/release -version v0.1.0 -tag    # makes the tags
package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path"
	"regexp"
	"slices"
	"strings"
)

const module = "github.com/einolean/einolean"

func main() {
	version := flag.String("version", "", "the version, such as v0.1.0")
	tag := flag.Bool("tag", false, "make the tags; without it, only print them")
	flag.Parse()
	if err := release(os.Stdout, ".", *version, *tag); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

var semantic = regexp.MustCompile(`^v\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$`)

// release tags version in the repository that holds dir, or says what it would tag.
func release(out io.Writer, dir, version string, tag bool) error {
	r := repository{dir: dir}
	if !semantic.MatchString(version) {
		return fmt.Errorf("%q is not a version such as v0.1.0", version)
	}
	top, err := r.git(nil, "rev-parse", "--show-toplevel")
	if err != nil {
		return err
	}
	r.dir = top
	if err := r.mustBeEmpty("commit these first", "status", "--porcelain"); err != nil {
		return err
	}
	if err := r.mustBeEmpty("the tag exists", "tag", "--list", version); err != nil {
		return err
	}
	modules, err := r.modules()
	if err != nil {
		return err
	}
	commit := "HEAD^{commit}"
	if tag {
		if commit, err = r.commit(modules, version); err != nil {
			return err
		}
	}
	return r.tag(out, modules, version, commit, tag)
}

// tag makes or prints the tags: the root's at HEAD, the others' at commit.
func (r repository) tag(out io.Writer, modules []string, version, commit string, really bool) error {
	verb := "would tag"
	if really {
		verb = "tagged"
	}
	var tags []string
	for _, sub := range modules {
		at, where := "HEAD^{commit}", "at HEAD"
		if sub != "" {
			at, where = commit, "without replace"
		}
		name := tagOf(sub, version)
		if really {
			if _, err := r.git(nil, "tag", name, at); err != nil {
				return err
			}
		}
		tags = append(tags, name)
		fmt.Fprintln(out, verb, name, where)
	}
	fmt.Fprintln(out, "to publish: git push origin", strings.Join(tags, " "))
	return nil
}

// tagOf is how Go names a version of the module in a directory.
func tagOf(sub, version string) string { return path.Join(sub, version) }

type repository struct{ dir string }

// git runs git with further environment, and returns what it prints.
func (r repository) git(env []string, args ...string) (string, error) {
	return r.gitWith(env, "", args...)
}

func (r repository) gitWith(env []string, input string, args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	var out, problem bytes.Buffer
	cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = r.dir, strings.NewReader(input), &out, &problem
	cmd.Env = append(os.Environ(), env...)
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("git %s: %w: %s", args[0], err, strings.TrimSpace(problem.String()))
	}
	return strings.TrimRight(out.String(), "\n"), nil
}

// mustBeEmpty runs git and returns an error if it prints anything.
func (r repository) mustBeEmpty(problem string, args ...string) error {
	out, err := r.git(nil, args...)
	if err == nil && out != "" {
		err = fmt.Errorf("%s:\n%s", problem, out)
	}
	return err
}

// modules are the directories of the published modules, the root's first: all but those that
// nobody can import.
func (r repository) modules() ([]string, error) {
	files, err := r.git(nil, "ls-files", "go.mod", "*/go.mod")
	if err != nil {
		return nil, err
	}
	var subs []string
	for _, f := range strings.Fields(files) {
		sub := strings.TrimSuffix(strings.TrimSuffix(f, "go.mod"), "/")
		elements := strings.Split(sub, "/")
		if !slices.Contains(elements, "internal") && !slices.Contains(elements, "testdata") {
			subs = append(subs, sub)
		}
	}
	slices.Sort(subs)
	return subs, nil
}

// commit makes a commit after HEAD in which the nested modules require version, have its sums and
// replace nothing, and leaves the branch and the files on disk unchanged.
func (r repository) commit(modules []string, version string) (string, error) {
	index, err := os.MkdirTemp("", "einolean-release-")
	if err != nil {
		return "", err
	}
	defer func() { _ = os.RemoveAll(index) }()
	env := []string{"GIT_INDEX_FILE=" + path.Join(index, "index")}
	if _, err := r.git(env, "read-tree", "HEAD"); err != nil {
		return "", err
	}
	p := publication{repository: r, env: env, version: version, sums: map[string][]string{}}
	for _, sub := range modules {
		if err := p.module(sub, nil); err != nil {
			return "", err
		}
	}
	tree, err := r.git(env, "write-tree")
	if err != nil {
		return "", err
	}
	return r.git(env, "commit-tree", tree, "-p", "HEAD", "-m", "release: require "+version+" in the nested modules")
}

// publication is a tree in which modules become as they are tagged.
type publication struct {
	repository
	env     []string // that of the index
	version string
	sums    map[string][]string // the lines of go.sum, by the directory of the module
}

// module publishes the module in a directory, after those that it requires: a go.sum has the sums
// of what they are then. Above are the modules that need it.
func (p *publication) module(sub string, above []string) error {
	if p.sums[sub] != nil {
		return nil
	}
	if slices.Contains(above, sub) {
		return fmt.Errorf("the modules %s require each other", strings.Join(append(above, sub), ", "))
	}
	if sub != "" {
		text, err := p.git(nil, "show", "HEAD:"+path.Join(sub, "go.mod"))
		if err != nil {
			return err
		}
		text = taggedModFile(text, p.version)
		var lines []string
		for _, found := range ours.FindAllStringSubmatch(text, -1) {
			other := strings.TrimPrefix(strings.TrimPrefix(found[2], module), "/")
			if err := p.module(other, append(above, sub)); err != nil {
				return err
			}
			lines = append(lines, p.sums[other]...)
		}
		if err := p.write(path.Join(sub, "go.mod"), text); err != nil {
			return err
		}
		before, _ := p.git(nil, "show", "HEAD:"+path.Join(sub, "go.sum")) // there may be none
		lines = append(lines, strings.Split(before, "\n")...)
		slices.Sort(lines)
		if err := p.write(path.Join(sub, "go.sum"), strings.TrimLeft(strings.Join(slices.Compact(lines), "\n")+"\n", "\n")); err != nil {
			return err
		}
	}
	var err error
	p.sums[sub], err = p.sum(sub)
	return err
}

// write puts a file into the index.
func (p *publication) write(file, text string) error {
	blob, err := p.gitWith(nil, text, "hash-object", "-w", "--stdin")
	if err == nil {
		_, err = p.git(p.env, "update-index", "--add", "--cacheinfo", "100644,"+blob+","+file)
	}
	return err
}

// sum returns the lines of go.sum for a module as it is in the index: the hashes that the go
// command makes of its files and of its go.mod.
func (p *publication) sum(sub string) ([]string, error) {
	files, nested, err := p.files()
	if err != nil {
		return nil, err
	}
	name := path.Join(module, sub)
	var all, mod []string
	add := func(shown, blob string) error {
		content, err := exec.Command("git", "-C", p.dir, "cat-file", "blob", blob).Output()
		if err != nil {
			return err
		}
		line := fmt.Sprintf("%x  ", sha256.Sum256(content))
		all = append(all, line+name+"@"+p.version+"/"+shown+"\n")
		if shown == "go.mod" {
			mod = append(mod, line+"go.mod\n")
		}
		return nil
	}
	for _, file := range slices.Sorted(maps.Keys(files)) {
		inside, is := strings.CutPrefix(file, sub+"/")
		if sub == "" {
			inside, is = file, true
		}
		if is && moduleOf(nested, file) == path.Clean("./"+sub) {
			if err := add(inside, files[file]); err != nil {
				return nil, err
			}
		}
	}
	if licence := files["LICENSE"]; licence != "" && files[path.Join(sub, "LICENSE")] == "" {
		if err := add("LICENSE", licence); err != nil { // as the go command does
			return nil, err
		}
	}
	return []string{name + " " + p.version + " " + hash1(all), name + " " + p.version + "/go.mod " + hash1(mod)}, nil
}

// files returns the blobs of all files in the index by their paths, and the directories of modules.
func (p *publication) files() (blobs map[string]string, modules map[string]bool, err error) {
	listed, err := p.git(p.env, "ls-files", "-s")
	blobs, modules = map[string]string{}, map[string]bool{}
	for _, line := range strings.Split(listed, "\n") {
		about, file, _ := strings.Cut(line, "\t")
		if fields := strings.Fields(about); len(fields) == 3 && strings.HasPrefix(fields[0], "100") {
			blobs[file] = fields[1]
		}
		if dir, name := path.Split(file); name == "go.mod" {
			modules[path.Clean("./"+dir)] = true
		}
	}
	return blobs, modules, err
}

// moduleOf is the directory of the module that a file belongs to.
func moduleOf(modules map[string]bool, file string) string {
	dir := path.Dir(file)
	for dir != "." && !modules[dir] {
		dir = path.Dir(dir)
	}
	return dir
}

// hash1 is the hash of go.sum over lines with the hash and the name of each file.
func hash1(lines []string) string {
	slices.SortFunc(lines, func(a, b string) int { return strings.Compare(a[64:], b[64:]) })
	sum := sha256.Sum256([]byte(strings.Join(lines, "")))
	return "h1:" + base64.StdEncoding.EncodeToString(sum[:])
}

var (
	replaceBlock = regexp.MustCompile(`(?ms)^replace \(\n.*?^\)\n`)
	replaceLine  = regexp.MustCompile(`(?m)^replace [^(\n]*\n`)
	ours         = regexp.MustCompile(`(?m)^((?:require )?\s*(` + regexp.QuoteMeta(module) + `(?:/\S+)?)) v\S+`)
	emptyLines   = regexp.MustCompile(`\n{3,}`)
)

// taggedModFile is a go.mod as it is tagged: without replace, and with our own modules at version.
func taggedModFile(text, version string) string {
	text = replaceLine.ReplaceAllString(replaceBlock.ReplaceAllString(text+"\n", ""), "")
	text = ours.ReplaceAllString(text, "${1} "+version)
	return strings.TrimRight(emptyLines.ReplaceAllString(text, "\n\n"), "\n") + "\n"
}
