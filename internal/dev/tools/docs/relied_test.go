// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// reliedOn finds fields that are read by reflection, and keys that adapters and Eino keep to themselves.
var reliedOn = regexp.MustCompile(`FieldByName\("(\w+)"\)|"((?:_eino_|_agenticclaude_|_reduction_mw_|ark-response-|openai-tool-|__toolsearch_)[\w-]*)"`)

// UPSTREAM.md lists everything that the code relies on and Eino does not promise.
func TestUpstream_ListsAllThatCodeReliesOn(t *testing.T) {
	_, page, found := strings.Cut(read(t, "internal/dev/UPSTREAM.md"), "## What einolean relies on")
	require.True(t, found)
	page, _, _ = strings.Cut(page, "\n## ")
	top, err := filepath.Abs(root)
	require.NoError(t, err)
	seen := 0
	require.NoError(t, filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
		name, _ := filepath.Rel(top, path)
		if d.IsDir() && (strings.HasPrefix(d.Name(), ".") && name != "." || d.Name() == "testdata" || name == "examples" || name == "internal/dev") {
			return filepath.SkipDir
		}
		if err != nil || filepath.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go") {
			return err
		}
		for _, m := range reliedOn.FindAllStringSubmatch(read(t, name), -1) {
			seen++
			require.Contains(t, page, "`"+m[1]+m[2]+"`", name)
		}
		return nil
	}))
	require.Greater(t, seen, 15)
}
