// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package docs

// Which test holds which claim of the documents. Documents name no tests, so that both can be renamed and moved;
// internal/dev/CLAIMS.md is made from claims.txt, docs/differences.md and the tests.

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const (
	claimsPage = "internal/dev/CLAIMS.md"
	claimList  = "internal/dev/tools/docs/claims.txt"
	claimMark  = "//claim:"
)

// claim is something that a document says: a line of claims.txt, or a row of docs/differences.md.
type claim struct{ id, text string }

// testFile is what a file of tests says about claims.
type testFile struct {
	path   string
	tests  []string
	marked map[string][]string // ids of claims by test
	quoted []string            // string literals, among them the ids of scenarios
}

func readTestFile(name, text string) (testFile, error) {
	parsed, err := parser.ParseFile(token.NewFileSet(), name, text, parser.ParseComments)
	if err != nil {
		return testFile{}, err
	}
	file := testFile{path: name, marked: map[string][]string{}}
	attached := 0
	for _, decl := range parsed.Decls {
		fn, ok := decl.(*ast.FuncDecl)
		if !ok || fn.Recv != nil || !testName.MatchString(fn.Name.Name) {
			continue
		}
		file.tests = append(file.tests, fn.Name.Name)
		if fn.Doc == nil {
			continue
		}
		for _, comment := range fn.Doc.List {
			if ids, ok := strings.CutPrefix(comment.Text, claimMark); ok {
				attached++
				file.marked[fn.Name.Name] = append(file.marked[fn.Name.Name], strings.Fields(ids)...)
			}
		}
	}
	ast.Inspect(parsed, func(n ast.Node) bool {
		if literal, ok := n.(*ast.BasicLit); ok && literal.Kind == token.STRING {
			file.quoted = append(file.quoted, strings.Trim(literal.Value, "`\""))
		}
		return true
	})
	if all := strings.Count("\n"+text, "\n"+claimMark); all != attached {
		return testFile{}, fmt.Errorf("%s: %d of %d claim marks are not in the comment of a test", name, all-attached, all)
	}
	return file, nil
}

var testName = regexp.MustCompile(`^(?:Test|Fuzz|Benchmark)[A-Z]`)

// isNamedAfter reports whether the name of a test holds the id of a row: TestTS16_X or TestX_TS16.
func isNamedAfter(test, id string) bool {
	return regexp.MustCompile(`(?:^[A-Z][a-z]+|_)` + strings.ReplaceAll(id, "-", "") + `(?:_|$)`).MatchString(test)
}

func testFiles(t *testing.T) (files []testFile) {
	t.Helper()
	out, err := exec.Command("git", "-C", root, "ls-files", "--cached", "--others", "--exclude-standard", "*_test.go").Output()
	if err != nil {
		t.Skipf("not a git checkout: %v", err)
	}
	for name := range strings.Lines(string(out)) {
		name = strings.TrimSpace(name)
		text, err := os.ReadFile(filepath.Join(root, name))
		if os.IsNotExist(err) {
			continue // deleted, and not committed yet
		}
		require.NoError(t, err)
		file, err := readTestFile(name, string(text))
		require.NoError(t, err)
		files = append(files, file)
	}
	require.NotEmpty(t, files)
	return files
}

// claimsOf reads the lines of claims.txt.
func claimsOf(text string) (claims []claim, err error) {
	known := map[string]bool{}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		id, text, found := strings.Cut(line, " ")
		if !found || known[id] {
			return nil, fmt.Errorf("claims.txt: %s has no text, or is there twice", id)
		}
		known[id] = true
		claims = append(claims, claim{id, text})
	}
	return claims, nil
}

// claimTable lists claims with the tests that are marked with their ids.
func claimTable(claims []claim, files []testFile) (string, error) {
	tests := map[string][]string{}
	for _, file := range files {
		for _, test := range file.tests {
			for _, id := range file.marked[test] {
				if !slices.ContainsFunc(claims, func(c claim) bool { return c.id == id }) {
					return "", fmt.Errorf("%s: %s is marked with %s, which claims.txt does not have", file.path, test, id)
				}
				tests[id] = append(tests[id], quoteTest(file, test))
			}
		}
	}
	var b strings.Builder
	b.WriteString("| id | claim | tests |\n|---|---|---|\n")
	for _, c := range claims {
		if len(tests[c.id]) == 0 {
			return "", fmt.Errorf("no test is marked with %s: %s", c.id, c.text)
		}
		slices.Sort(tests[c.id])
		fmt.Fprintf(&b, "| %s | %s | %s |\n", c.id, c.text, strings.Join(tests[c.id], ", "))
	}
	return b.String(), nil
}

func quoteTest(file testFile, test string) string { return "`" + test + "` in " + path.Dir(file.path) }

var differencesRow = regexp.MustCompile(`(?m)^\| ([A-Z]+-[0-9]+[a-z]?) \|`)

// rowTable lists the rows of a section of docs/differences.md, with the files that have a scenario of the row and
// the tests that are named after it. The package of the section runs every scenario through both packages.
func rowTable(section, pkg string, files []testFile) (string, error) {
	var b strings.Builder
	b.WriteString("| row | scenarios | named after it |\n|---|---|---|\n")
	for _, m := range differencesRow.FindAllStringSubmatch(section, -1) {
		id, scenarios, tests := m[1], []string{}, []string{}
		for _, file := range files {
			isOwn := strings.HasPrefix(file.path, pkg+"/")
			isOther := !isOwn && (strings.HasPrefix(file.path, "toolsearch/") || strings.HasPrefix(file.path, "reduction/"))
			if isOwn && slices.Contains(file.quoted, id) {
				scenarios = append(scenarios, file.path)
			}
			for _, test := range file.tests {
				if !isOther && isNamedAfter(test, id) {
					tests = append(tests, quoteTest(file, test))
				}
			}
		}
		if len(scenarios) == 0 {
			return "", fmt.Errorf("no file of %s has a scenario of %s", pkg, id)
		}
		slices.Sort(tests)
		fmt.Fprintf(&b, "| %s | %s | %s |\n", id, strings.Join(scenarios, ", "), strings.Join(tests, ", "))
	}
	return b.String(), nil
}

// The test writes the page of claims and tests. It fails if a claim or a row has no test.
func TestClaims_GoldenPage(t *testing.T) {
	files := testFiles(t)
	claims, err := claimsOf(read(t, claimList))
	require.NoError(t, err)
	table, err := claimTable(claims, files)
	require.NoError(t, err)
	page := "# Claims and the tests that hold them\n\n" +
		"`make golden` writes this page from [claims.txt](tools/docs/claims.txt), [differences.md](../../docs/differences.md) and the tests. " +
		"A test is marked by a line `" + claimMark + "ID` in its comment, and keeps the mark when it is renamed or moved.\n\n" +
		"## Claims of the documents\n\n" + table
	for _, pkg := range []string{"toolsearch", "reduction"} {
		_, section, found := strings.Cut(read(t, "docs/differences.md"), "\n## "+pkg+"\n")
		require.True(t, found)
		section, _, _ = strings.Cut(section, "\n## ")
		rows, err := rowTable(section, pkg, files)
		require.NoError(t, err)
		page += "\n## Differences from Eino: " + pkg + "\n\n" +
			"The parity tests of the package run each scenario through both packages. They fail if a row has none, and if a row is no longer true.\n\n" + rows
	}
	if os.Getenv("EINOLEAN_UPDATE") != "" {
		require.NoError(t, os.WriteFile(filepath.Join(root, claimsPage), []byte(page), 0o644))
	}
	require.Equal(t, page, read(t, claimsPage), "EINOLEAN_UPDATE=1 rewrites it")
}

func TestClaims_FaultsAreErrors(t *testing.T) {
	file, err := readTestFile("a/b_test.go", "package b\n\n// A test.\n//\n//claim:x-01 x-02\nfunc TestAny_TS16(t *testing.T) { _ = \"TS-01\" }\n")
	require.NoError(t, err)
	require.Equal(t, map[string][]string{"TestAny_TS16": {"x-01", "x-02"}}, file.marked)

	table, err := claimTable([]claim{{"x-01", "One."}, {"x-02", "Two."}}, []testFile{file})
	require.NoError(t, err)
	require.Contains(t, table, "| x-01 | One. | `TestAny_TS16` in a |\n")
	_, err = claimTable([]claim{{"x-01", "One."}}, []testFile{file})
	require.ErrorContains(t, err, "x-02, which claims.txt does not have")
	_, err = claimTable([]claim{{"x-01", "One."}, {"x-02", "Two."}, {"x-03", "Three."}}, []testFile{file})
	require.ErrorContains(t, err, "no test is marked with x-03")

	_, err = readTestFile("a/b_test.go", "package b\n\n//claim:x-01\n\nfunc TestAny(t *testing.T) {}\n")
	require.ErrorContains(t, err, "1 of 1 claim marks")
	_, err = claimsOf("x-01 One.\nx-01 Two.\n")
	require.ErrorContains(t, err, "x-01")
	_, err = claimsOf("x-01\n")
	require.ErrorContains(t, err, "x-01")

	file.path = "toolsearch/b_test.go"
	rows, err := rowTable("| TS-01 | a |\n", "toolsearch", []testFile{file})
	require.NoError(t, err)
	require.Contains(t, rows, "| TS-01 | toolsearch/b_test.go |  |\n")
	_, err = rowTable("| TS-16 | a |\n", "toolsearch", []testFile{file})
	require.ErrorContains(t, err, "no file of toolsearch has a scenario of TS-16")
	_, err = rowTable("| TS-01 | a |\n", "reduction", []testFile{file})
	require.Error(t, err, "a scenario of another package")

	require.True(t, isNamedAfter("TestAny_TS16", "TS-16"))
	require.True(t, isNamedAfter("TestTS16_Any", "TS-16"))
	require.False(t, isNamedAfter("TestTS16b_Any", "TS-16"))
}
