// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package together

import (
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/race"
	"github.com/einolean/einolean/internal/formats"
)

var (
	text    = regexp.MustCompile(`\.(en|zh)\.(md|tmpl)$`)
	noTexts = regexp.MustCompile(`^(docs|demo|examples|cmd|internal/dev)(/|$)|(^|/)(testdata|\..+)$`)
)

// Every sample continues in a build whose texts for models are worded differently: notices, results of search tools,
// lists of tools and descriptions of tools.
func TestTexts_SamplesContinueWithOtherWording(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds two packages with other texts")
	}
	race.Skip(t, "it builds other programs, which have no detector")
	root, err := filepath.Abs("../../..")
	require.NoError(t, err)
	dir, replace := t.TempDir(), map[string]string{}
	require.NoError(t, fs.WalkDir(os.DirFS(root), ".", func(name string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() && name != "." && noTexts.MatchString(name) {
			return fs.SkipDir
		}
		if err != nil || entry.IsDir() || !text.MatchString(name) {
			return err
		}
		words, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			return err
		}
		at, err := os.CreateTemp(dir, "text-*")
		if err != nil {
			return err
		}
		_, err = at.WriteString(formats.Reworded(string(words)))
		replace[filepath.Join(root, name)] = at.Name()
		return err
	}))
	require.Greater(t, len(replace), 40)
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	require.NoError(t, err)
	file := filepath.Join(dir, "overlay.json")
	require.NoError(t, os.WriteFile(file, overlay, 0o600))
	cmd := exec.Command("go", "test", "-overlay", file, "-vet=off", "-ldflags=-w",
		"-run", "OfAnotherBuild|FoundByProvider|TestStored|TestFormats_", "./reduction", "./internal/dev/together")
	cmd.Dir, cmd.Env = root, append(os.Environ(), "EINOLEAN_OTHER_WORDS=1")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.NotContains(t, string(out), "no tests to run")
}
