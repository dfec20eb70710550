// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

// Package internal_test holds the rules of the repository that a machine can
// check. A rule looks at the tracked files and returns what breaks it; each one
// carries small trees that break it, so that a rule which has gone blind fails.
package internal_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// self is where this file stands: no list of the files is whole without it.
const self = "internal/policy_test.go"

// modulePath is the root module's, and starts that of every nested one.
const modulePath = "github.com/einolean/einolean"

// rule is one thing that is true of every tracked file.
type rule struct {
	name  string
	mend  string // what to do about a finding
	check func(*tree) []string
	bad   []sample            // each gives exactly its findings
	good  []map[string]string // each gives none
}

// sample is a tree of files, and what a rule says of it.
type sample struct {
	files map[string]string // text by path
	found []string
}

var rules = []rule{
	licenceHeader, packageComments,
	rootRequirements, oneVersion, workspace, testifyInTests, importBans, downwards, keywordImports,
	messageSwitch, noInternalAliases, documentedNames, wholeExamples, shownInUse,
	openEnds, oneName, onlyText, frozen, markdownLinks, namedTests, codeTour, translations,
}

func TestPolicy_RepositoryKeepsEveryRule(t *testing.T) {
	repository, err := load("..")
	require.NoError(t, err)
	for _, r := range rules {
		t.Run(r.name, func(t *testing.T) {
			if found := r.check(repository); len(found) > 0 {
				t.Errorf("\n%s\nTo mend it: %s.", strings.Join(found, "\n"), r.mend)
			}
		})
	}
}

func TestRules_FindWhatBreaksThem(t *testing.T) {
	for _, r := range rules {
		t.Run(r.name, func(t *testing.T) {
			require.NotEmpty(t, r.bad)
			require.NotEmpty(t, r.mend)
			for _, s := range r.bad {
				require.Equal(t, s.found, check(t, r, s.files))
			}
			for _, files := range r.good {
				require.Empty(t, check(t, r, files))
			}
		})
	}
}

func TestTracked_WithoutGitListsEveryFile(t *testing.T) {
	root := t.TempDir()
	_, err := tracked(root)
	require.ErrorContains(t, err, self, "a list that is not whole is no list")
	for _, p := range []string{self, "a/b.go", ".ci/run", ".git/config", "a/.cache/c.go"} {
		full := filepath.Join(root, filepath.FromSlash(p))
		require.NoError(t, os.MkdirAll(filepath.Dir(full), 0o700))
		require.NoError(t, os.WriteFile(full, nil, 0o600))
	}
	list, err := tracked(root)
	require.NoError(t, err)
	require.Equal(t, []string{".ci/run", "a/b.go", self}, list)
}

func check(t *testing.T, r rule, files map[string]string) []string {
	t.Helper()
	sampleTree, err := newTree(files)
	require.NoError(t, err)
	return r.check(sampleTree)
}

// tree is a set of files, those of Go parsed.
type tree struct {
	fset  *token.FileSet
	files []*file  // by path
	other []string // paths of files that hold no text
}

// file is one tracked text file.
type file struct {
	path string // from the root, with slashes
	text string
	ast  *ast.File // nil where it is not Go, or test data
}

func (f *file) dir() string    { return path.Dir(f.path) }
func (f *file) isTest() bool   { return strings.HasSuffix(f.path, "_test.go") }
func (f *file) testdata() bool { return within("testdata", f.path) }

// load reads the repository whose root is given.
func load(root string) (*tree, error) {
	paths, err := tracked(root)
	if err != nil {
		return nil, err
	}
	files := make(map[string]string)
	for _, p := range paths {
		text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(p)))
		if os.IsNotExist(err) {
			continue // deleted, and not committed yet
		}
		if err != nil {
			return nil, err
		}
		files[p] = string(text)
	}
	return newTree(files)
}

// tracked lists what git tracks below root. Where there is no git, or the
// repository belongs to something else, it is every file but the hidden ones.
func tracked(root string) ([]string, error) {
	out, err := exec.Command("git", "-C", root, "ls-files", "-z").Output()
	if list := strings.Split(strings.TrimRight(string(out), "\x00"), "\x00"); err == nil && slices.Contains(list, self) {
		return list, nil
	}
	var list []string
	err = fs.WalkDir(os.DirFS(root), ".", func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && p != "." && strings.HasPrefix(d.Name(), ".") && p != ".ci":
			return fs.SkipDir
		case d.Type().IsRegular():
			list = append(list, p)
		}
		return nil
	})
	if err == nil && !slices.Contains(list, self) {
		err = fmt.Errorf("listing %q: %s is not there", root, self)
	}
	return list, err
}

// newTree makes a tree of texts by path. Files that hold a zero byte are not
// text: only their paths count.
func newTree(files map[string]string) (*tree, error) {
	t := &tree{fset: token.NewFileSet()}
	for p, text := range files {
		if strings.Contains(text, "\x00") {
			t.other = append(t.other, p)
			continue
		}
		f := &file{path: p, text: text}
		if strings.HasSuffix(p, ".go") && !f.testdata() {
			var err error
			if f.ast, err = parser.ParseFile(t.fset, p, text, parser.ParseComments|parser.SkipObjectResolution); err != nil {
				return nil, err
			}
		}
		t.files = append(t.files, f)
	}
	slices.SortFunc(t.files, func(a, b *file) int { return strings.Compare(a.path, b.path) })
	return t, nil
}

// code returns the Go files, without test data.
func (t *tree) code() []*file {
	return t.where(func(f *file) bool { return f.ast != nil })
}

// product returns the Go files that are not tests.
func (t *tree) product() []*file {
	return t.where(func(f *file) bool { return f.ast != nil && !f.isTest() })
}

func (t *tree) where(keep func(*file) bool) []*file {
	var out []*file
	for _, f := range t.files {
		if keep(f) {
			out = append(out, f)
		}
	}
	return out
}

// at says where a node is, for a finding.
func (t *tree) at(pos token.Pos) string {
	p := t.fset.Position(pos)
	return fmt.Sprintf("%s:%d", p.Filename, p.Line)
}

// under reports whether p is dir or lies below it.
func under(dir, p string) bool { return p == dir || strings.HasPrefix(p, dir+"/") }

// within reports whether one of the elements of p is name.
func within(name, p string) bool { return slices.Contains(strings.Split(p, "/"), name) }

// spdx is how every Go file begins, for samples.
const spdx = "// Copyright einolean authors\n// SPDX-License-Identifier: Apache-2.0\n\n"
