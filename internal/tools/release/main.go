// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

// Command release tags a version of every module that is published. In the tree, nested
// modules build with the code beside them, by replace lines; what is tagged requires the
// version itself. So the root is tagged where HEAD is, and the nested modules at a commit
// after it, in which only their go.mod differs. Nothing is pushed.
//
//	go run ./internal/tools/release -version v0.1.0         # prints what it would do
//	go run ./internal/tools/release -version v0.1.0 -tag    # makes the tags
package main

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"regexp"
	"slices"
	"strings"
)

const module = "github.com/leanctx/leanctx"

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

// commit makes a commit after HEAD in which the nested modules require version and replace
// nothing, and leaves the branch and the files on disk unchanged.
func (r repository) commit(modules []string, version string) (string, error) {
	index, err := os.MkdirTemp("", "leanctx-release-")
	if err != nil {
		return "", err
	}
	defer func() { _ = os.RemoveAll(index) }()
	env := []string{"GIT_INDEX_FILE=" + path.Join(index, "index")}
	if _, err := r.git(env, "read-tree", "HEAD"); err != nil {
		return "", err
	}
	for _, sub := range modules {
		if sub == "" {
			continue
		}
		file := path.Join(sub, "go.mod")
		text, err := r.git(nil, "show", "HEAD:"+file)
		if err != nil {
			return "", err
		}
		blob, err := r.gitWith(nil, published(text, version), "hash-object", "-w", "--stdin")
		if err != nil {
			return "", err
		}
		if _, err := r.git(env, "update-index", "--cacheinfo", "100644,"+blob+","+file); err != nil {
			return "", err
		}
	}
	tree, err := r.git(env, "write-tree")
	if err != nil {
		return "", err
	}
	return r.git(env, "commit-tree", tree, "-p", "HEAD", "-m", "release: require "+version+" in the nested modules")
}

var (
	replaceBlock = regexp.MustCompile(`(?ms)^replace \(\n.*?^\)\n`)
	replaceLine  = regexp.MustCompile(`(?m)^replace [^(\n]*\n`)
	ours         = regexp.MustCompile(`(?m)^((?:require )?\s*` + regexp.QuoteMeta(module) + `(?:/\S+)?) v\S+`)
	emptyLines   = regexp.MustCompile(`\n{3,}`)
)

// published is a go.mod as it is tagged: without replace, and with our own modules at version.
func published(text, version string) string {
	text = replaceLine.ReplaceAllString(replaceBlock.ReplaceAllString(text+"\n", ""), "")
	text = ours.ReplaceAllString(text, "${1} "+version)
	return strings.TrimRight(emptyLines.ReplaceAllString(text, "\n\n"), "\n") + "\n"
}
