// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const (
	skill = "skills/einolean/SKILL.md"
	home  = "https://github.com/einolean/einolean/blob/main/"
)

// The skill is copied to where coding agents read it, so its links are absolute. Its list of pages is that of
// llms.txt.
func TestSkill_GoldenListOfPages(t *testing.T) {
	_, guides, found := strings.Cut(read(t, "llms.txt"), "\n## Guides\n\n")
	require.True(t, found)
	guides, _, _ = strings.Cut(guides, "\n## ")
	guides = regexp.MustCompile(`\]\(([^)]+)\)`).ReplaceAllString(strings.TrimSpace(guides), "]("+home+"$1)")
	text := read(t, skill)
	before, rest, found := strings.Cut(text, "<!-- from llms.txt -->\n")
	require.True(t, found)
	_, after, found := strings.Cut(rest, "<!-- end -->\n")
	require.True(t, found)
	want := before + "<!-- from llms.txt -->\n\n" + guides + "\n\n<!-- end -->\n" + after
	if os.Getenv("EINOLEAN_UPDATE") != "" {
		require.NoError(t, os.WriteFile(filepath.Join(root, skill), []byte(want), 0o644))
	}
	require.Equal(t, want, read(t, skill), "EINOLEAN_UPDATE=1 rewrites it")
}

// The skill has the form that coding agents read, and its table of errors quotes the texts of the code.
func TestSkill_HasFormThatAgentsRead(t *testing.T) {
	text := read(t, skill)
	head := regexp.MustCompile(`\A---\nname: ([a-z0-9-]{1,64})\ndescription: (.+)\n---\n`).FindStringSubmatch(text)
	require.NotNil(t, head)
	require.Equal(t, filepath.Base(filepath.Dir(skill)), head[1])
	require.LessOrEqual(t, len(head[2]), 1024)
	require.LessOrEqual(t, strings.Count(text, "\n"), 120)
	for _, path := range linksOf(t, skill) {
		require.Fail(t, "a link that is not whole", path)
	}
	for words, file := range map[string]string{"adds a read tool named": "reduction/internal/reader/reader.go", "ErrNativeUnsupported": "toolsearch/config.go"} {
		require.Contains(t, text, words)
		require.Contains(t, read(t, file), words)
	}
	for _, line := range []string{
		"| `github.com/cloudwego/eino/adk/middlewares/dynamictool/toolsearch` | `github.com/einolean/einolean/toolsearch` |",
		"| `github.com/cloudwego/eino/adk/middlewares/reduction` | `github.com/einolean/einolean/reduction` |",
	} {
		require.Contains(t, text, line)
	}
}
