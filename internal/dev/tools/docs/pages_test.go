// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"encoding/xml"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// mod is what a go.mod says.
type mod struct {
	path, golang string
	requires     map[string]string // directly, with versions
}

var (
	modPath  = regexp.MustCompile(`(?m)^module (\S+)`)
	modGo    = regexp.MustCompile(`(?m)^go (\S+)`)
	required = regexp.MustCompile(`(?m)^(?:require )?\s*([\w./-]+\.[\w./-]+) (v\S+)$`)
)

func modOf(t *testing.T, dir string) mod {
	t.Helper()
	text := read(t, filepath.Join(dir, "go.mod"))
	m := mod{modPath.FindStringSubmatch(text)[1], strings.TrimSuffix(modGo.FindStringSubmatch(text)[1], ".0"), map[string]string{}}
	for _, r := range required.FindAllStringSubmatch(text, -1) {
		m.requires[r[1]] = r[2]
	}
	require.NotEmpty(t, m.requires)
	return m
}

const (
	einoPath = "github.com/cloudwego/eino"
	adapters = "github.com/cloudwego/eino-ext/components/model/"
)

// offered are the modules that users require, and what for.
var offered = []struct{ dir, about string }{
	{".", "both middlewares, `store`, `programs`, `window`, `toolerror`, `einoleantest`"},
	{"toolsearch/mcptools", "tools of MCP servers"},
	{"reduction/blobbackend", "stores in S3, Google Cloud Storage and Azure"},
	{"reduction/jq", "jq queries on stored results"},
	{"programs/javascript", "programs that call tools"},
	{"window/windowotel", "OpenTelemetry"},
	{"adapters/claude", "eino-ext's Claude adapter, with all thinking and native search"},
	{"cmd/einolean", "the command"},
}

func moduleTable(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("| module | what it is for | Go | Eino | also requires |\n|---|---|---|---|---|\n")
	for _, o := range offered {
		m := modOf(t, o.dir)
		var besides []string
		for _, path := range sortedKeys(m.requires) {
			if path != einoPath && !strings.HasPrefix(path, module) && !strings.HasSuffix(path, "/testify") && path != "github.com/creack/pty" { // both for tests
				besides = append(besides, "`"+path+"` "+m.requires[path])
			}
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s |\n", m.path, o.about, m.golang, m.requires[einoPath], strings.Join(besides, ", "))
	}
	return b.String()
}

// tried are the modules that test adapters, and for what.
var tried = []struct{ dir, about string }{
	{"examples/native", "native tool search, on the wire"},
	{"internal/dev/adaptertest", "conversations that the provider keeps, on the wire"},
	{"examples/models", "the lines of models.md, on the wire"},
	{"examples/live", "an agent, on the wire"},
}

func adapterTable(t *testing.T) string {
	t.Helper()
	versions, about := map[string]string{}, map[string][]string{}
	for _, in := range tried {
		for path, version := range modOf(t, in.dir).requires {
			if name, ok := strings.CutPrefix(path, adapters); ok {
				require.Contains(t, []string{"", version}, versions[name], "%s is tried in two versions", name)
				versions[name] = version
				about[name] = append(about[name], in.about)
			}
		}
	}
	var b strings.Builder
	b.WriteString("| adapter | version | tested for |\n|---|---|---|\n")
	for _, name := range sortedKeys(versions) {
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", name, versions[name], strings.Join(about[name], "; "))
	}
	return b.String()
}

func TestMigrating_GoldenVersions(t *testing.T) {
	const page = "docs/migrating.md"
	text := read(t, page)
	for name, table := range map[string]string{"modules": moduleTable(t), "adapters": adapterTable(t)} {
		begin, end := "<!-- versions: "+name+" -->\n", "<!-- end -->"
		before, rest, found := strings.Cut(text, begin)
		_, after, closed := strings.Cut(rest, end)
		require.True(t, found && closed, name)
		text = before + begin + "\n" + table + "\n" + end + after
	}
	if os.Getenv("EINOLEAN_UPDATE") != "" {
		require.NoError(t, os.WriteFile(filepath.Join(root, page), []byte(text), 0o644))
	}
	require.Equal(t, text, read(t, page), "EINOLEAN_UPDATE=1 rewrites it")
}

// next is the module that runs our tests with the version of Eino to come.
const next = "internal/dev/einonext"

// What the page says of all modules holds for each of them.
func TestModules_RequireSameVersions(t *testing.T) {
	top := modOf(t, ".")
	n := 0
	require.NoError(t, filepath.WalkDir(root, func(name string, d os.DirEntry, err error) error {
		if d != nil && d.IsDir() && (d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") && len(d.Name()) > 2) {
			return filepath.SkipDir
		}
		if err != nil || d.Name() != "go.mod" {
			return err
		}
		dir, err := filepath.Rel(root, filepath.Dir(name))
		if err != nil {
			return err
		}
		m := modOf(t, dir)
		n++
		require.Equal(t, top.golang, m.golang, "the go line of %s", dir)
		if dir == next {
			require.NotEqual(t, top.requires[einoPath], m.requires[einoPath], "Eino of %s", dir)
			return nil
		}
		require.Equal(t, top.requires[einoPath], m.requires[einoPath], "Eino of %s", dir)
		return nil
	}))
	require.Greater(t, n, len(offered))
}

// badge is a small picture with a name and a value.
type badge struct{ file, name, value string }

func (b badge) svg() string {
	const letter, pad, height = 6.6, 7.0, 20
	left := float64(utf8.RuneCountInString(b.name))*letter + 2*pad
	right := float64(utf8.RuneCountInString(b.value))*letter + 2*pad
	font := `font-family="Verdana, 'DejaVu Sans', sans-serif" font-size="11"`
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%d" role="img" aria-label="%s: %s"><title>%s: %s</title>`+
		`<rect width="%.0f" height="%d" rx="4" fill="#3f4a5c"/><path d="M%.0f 0h%.0fa4 4 0 0 1 4 4v12a4 4 0 0 1-4 4h-%.0fz" fill="#2d5be3"/>`+
		`<g fill="#fff" text-anchor="middle" %s><text x="%.1f" y="14" textLength="%.0f">%s</text><text x="%.1f" y="14" textLength="%.0f">%s</text></g></svg>`+"\n",
		left+right, height, b.name, b.value, b.name, b.value, left+right, height, left, right-4, right-4,
		font, left/2, left-2*pad, b.name, left+right/2, right-2*pad, b.value)
}

// The badges of the README say what go.mod and the license say. They are files of this repository and use no service.
func TestReadme_GoldenBadges(t *testing.T) {
	top, license := modOf(t, "."), read(t, "LICENSE")
	require.Contains(t, license, "Apache License")
	require.Contains(t, license, "Version 2.0")
	readme := read(t, "README.md")
	for _, b := range []badge{{"go", "Go", top.golang + "+"}, {"eino", "Eino", top.requires[einoPath]},
		{"license", "license", "Apache-2.0"}} {
		file := "docs/img/badge-" + b.file + ".svg"
		if os.Getenv("EINOLEAN_UPDATE") != "" {
			require.NoError(t, os.WriteFile(filepath.Join(root, file), []byte(b.svg()), 0o644))
		}
		require.Equal(t, b.svg(), read(t, file), "EINOLEAN_UPDATE=1 rewrites it")
		var any struct{}
		require.NoError(t, xml.Unmarshal([]byte(b.svg()), &any))
		require.Contains(t, readme, fmt.Sprintf(`<img alt="%s: %s" src="%s">`, b.name, b.value, file))
	}
	require.NotRegexp(t, `(?i)src="https?://`, readme, "pictures come from the repository")
}

var link = regexp.MustCompile(`\]\(([^)#\s]+)`)

// linksOf are the files that a page leads to, seen from the root.
func linksOf(t *testing.T, page string) (all []string) {
	t.Helper()
	for _, m := range link.FindAllStringSubmatch(read(t, page), -1) {
		if !strings.Contains(m[1], "://") {
			all = append(all, filepath.ToSlash(filepath.Join(filepath.Dir(page), m[1])))
		}
	}
	return all
}

func TestIndexPages_ListEveryPage(t *testing.T) {
	for _, page := range []string{"docs/README.md", "llms.txt"} {
		links := linksOf(t, page)
		for _, name := range links {
			_, err := os.Stat(filepath.Join(root, name))
			require.NoError(t, err, "%s leads to %s", page, name)
		}
		for _, name := range documents(t) {
			if filepath.Dir(name) == "docs" && name != page || name == "examples/README.md" || name == "CONTRIBUTING.md" {
				require.True(t, slices.Contains(links, name), "%s does not lead to %s", page, name)
			}
		}
	}
	require.Contains(t, linksOf(t, "README.md"), "docs/README.md")
}

// The pages show the output that the test of the example expects.
func TestQuickstart_PrintsWhatPagesShow(t *testing.T) {
	_, output, found := strings.Cut(read(t, "examples/quickstart/main_test.go"), "\t// Output:\n")
	require.True(t, found)
	var printed strings.Builder
	for line := range strings.Lines(output) {
		if text, is := strings.CutPrefix(line, "\t//"); is {
			printed.WriteString(strings.TrimPrefix(text, " "))
		}
	}
	pages := 0
	for _, name := range documents(t) {
		if filepath.Base(name) == "quickstart.md" {
			pages++
			require.Contains(t, read(t, name), "```\n"+printed.String()+"```\n", name)
		}
	}
	require.Positive(t, pages)
}

// TestReadme_ChangesAreRowsOfDifferences checks that both README files name the same rows of docs/differences.md,
// which tests of both packages hold.
func TestReadme_ChangesAreRowsOfDifferences(t *testing.T) {
	ids := regexp.MustCompile(`(?m)^\| .* \| ((?:[A-Z]+-\d+\w?(?:, )?)+) \|$`)
	rows := map[string][]string{}
	for _, name := range []string{"README.md", "README.zh.md"} {
		for _, m := range ids.FindAllStringSubmatch(read(t, name), -1) {
			rows[name] = append(rows[name], strings.Split(m[1], ", ")...)
		}
	}
	require.GreaterOrEqual(t, len(rows["README.md"]), 7)
	require.Equal(t, rows["README.md"], rows["README.zh.md"])
	differences := read(t, "docs/differences.md")
	for _, id := range rows["README.md"] {
		require.Contains(t, differences, "\n| "+id+" |")
	}
}

// llms.txt has a title, a summary, and sections with lists of links.
func TestLlmsTxt_HasRequiredForm(t *testing.T) {
	text := read(t, "llms.txt")
	require.Regexp(t, `\A# einolean\n\n> .+\n`, text)
	require.Less(t, len(text), 4<<10)
	_, sections, found := strings.Cut(text, "\n## ")
	require.True(t, found)
	for _, line := range strings.Split(sections, "\n")[1:] {
		require.Regexp(t, `^($|## \S|- \[[^\]]+\]\([^)]+\)(: .+)?$)`, line)
	}
	for _, function := range []string{"toolsearch.New(ctx, toolsearch.Recommended(tools))", "reduction.New(ctx, reduction.Recommended(store))"} {
		require.Contains(t, text, function)
	}
}

var pageLink = regexp.MustCompile(`\]\(([^)#\s:]+\.md)(#[^)]*)?\)(（英文）)?`)

// A link from a Chinese page to a page that exists only in English says so.
func TestChinesePages_LinkToChinesePages(t *testing.T) {
	n := 0
	for _, name := range documents(t) {
		if name != "README.zh.md" && filepath.Dir(name) != "docs/zh" {
			continue
		}
		text := read(t, name)
		for _, m := range pageLink.FindAllStringSubmatchIndex(text, -1) {
			to := filepath.ToSlash(filepath.Join(filepath.Dir(name), text[m[2]:m[3]]))
			if text[max(0, m[0]-len("[English")):m[0]] == "[English" {
				continue
			}
			n++
			isChinese := strings.HasPrefix(to, "docs/zh/") || to == "README.zh.md"
			require.Equal(t, isChinese, m[6] < 0, "%s: a link to %s", name, to)
			if !isChinese && filepath.Dir(to) == "docs" {
				_, err := os.Stat(filepath.Join(root, "docs/zh", filepath.Base(to)))
				require.True(t, os.IsNotExist(err), "%s: %s is there in Chinese", name, to)
			}
		}
	}
	require.Greater(t, n, 20)
}
