// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package backend

import (
	"io/fs"
	"math/rand/v2"
	"path"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/race"
)

func TestName_EquivalentPaths(t *testing.T) {
	for filePath, want := range map[string]string{
		"/tmp/trunc/x":     "tmp/trunc/x",
		"tmp/trunc/x":      "tmp/trunc/x",
		"//tmp//trunc///x": "tmp/trunc/x",
		"./tmp/./trunc/x/": "tmp/trunc/x",
		"tmp/a/../trunc/x": "tmp/trunc/x",
		"...":              "...",
		`a\..\b`:           `a\..\b`,
		"a\nb":             "a\nb",
	} {
		got, err := Name(filePath)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
}

func TestName_InvalidPaths(t *testing.T) {
	for _, filePath := range []string{
		"", "/", ".", "./", "a/..", "..", "../x", "/..", "/../x", "a/../../x", "x\x00y",
		strings.Repeat("x", maxElement+1), strings.Repeat("x/", maxName),
	} {
		_, err := Name(filePath)
		require.ErrorIs(t, err, fs.ErrInvalid, "%q", filePath)
	}
}

func FuzzName(f *testing.F) {
	for _, p := range []string{"/tmp/trunc/x", "../x", "a//b/./../c", "\x00", ""} {
		f.Add(p)
	}
	f.Fuzz(func(t *testing.T, filePath string) {
		name, err := Name(filePath)
		if err != nil {
			return
		}
		require.True(t, fs.ValidPath(strings.ToValidUTF8(name, "?")), "%q", name)
		require.False(t, path.IsAbs(name))
		require.NotContains(t, strings.Split(name, "/"), "..")
		again, err := Name("/" + name)
		require.NoError(t, err)
		require.Equal(t, name, again)
	})
}

func TestOnDisk_EscapesWindowsNames(t *testing.T) {
	for element, want := range map[string]string{
		"call_1":           "call_1",
		"functions.grep:0": "functions.grep=3a0",
		"a=3ab":            "a=3d3ab",
		`C:\x`:             "C=3a=5cx",
		"con":              "=63on",
		"NUL.txt":          "=4eUL.txt",
		"com1":             "=63om1",
		"lpt¹.log":         "=6cpt¹.log",
		"command":          "command",
		"COM":              "COM",
		"trailing.":        "trailing=2e",
		"trailing ":        "trailing=20",
		"a*?\"<>|":         "a=2a=3f=22=3c=3e=7c",
		"\x01":             "=01",
	} {
		require.Equal(t, want, onDisk("windows", element), "%q", element)
	}
}

func TestWindowsElement_IsInjective(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	pieces := []string{"a", "=", "=3a", ":", "con", "com", "1", ".", " ", "\\", "=63on", "\x1f"}
	seen := make(map[string]string)
	for range race.Cases(20_000) {
		var b strings.Builder
		for range 1 + r.IntN(4) {
			b.WriteString(pieces[r.IntN(len(pieces))])
		}
		got := windowsElement(b.String())
		if other, taken := seen[got]; taken {
			require.Equal(t, other, b.String(), "both become %q", got)
		}
		seen[got] = b.String()
		require.False(t, isDevice(got), "%q", got)
		require.Equal(t, strings.TrimRight(got, ". "), got)
	}
}

// No file has the name of a temporary file, and different elements have different names.
func TestOnDisk_EscapesTemporaryNames(t *testing.T) {
	seen := make(map[string]string)
	for _, start := range []string{"", "=", "=2e", "=2E", "=3d", "=3D", "=3d3d", "=3d2e", ".", "2e", "=2e2e", "x"} {
		for _, rest := range []string{".einolean-x", "einolean-x", ".Einolean-X", "2eeinolean-x", ".einolean"} {
			for _, goos := range []string{"linux", "windows"} {
				element := start + rest
				got := onDisk(goos, "a/"+element)
				require.False(t, strings.HasPrefix(strings.ToLower(got), "a/"+tempPrefix), "%q becomes %q", element, got)
				if other, taken := seen[goos+got]; taken {
					require.Equal(t, other, element, "both become %q", got)
				}
				seen[goos+got] = element
			}
		}
	}
	require.Equal(t, ".einolean/=x/=2eab", onDisk("linux", ".einolean/=x/=2eab"), "other names stay")
}

// Elements that look like temporary files and elements that look like their escapes have different names.
func TestOnDisk_IsInjective(t *testing.T) {
	for element, want := range map[string]string{
		".einolean-x":          "=2eeinolean-x",
		".Einolean-x":          "=2eEinolean-x",
		"=2eeinolean-x":        "=3d2eeinolean-x",
		"=3d2eeinolean-x":      "=3d3d2eeinolean-x",
		"=3D2Eeinolean-x":      "=3d3D2Eeinolean-x",
		"=3deeinolean-x":       "=3deeinolean-x",
		"=3dd2eeinolean-x":     "=3dd2eeinolean-x",
		"=2eeinolean":          "=2eeinolean",
		".einolean":            ".einolean",
		"=3d3d2eeinolean-/.ei": "=3d3d3d2eeinolean-/.ei",
		"a/.einolean-/b":       "a/=2eeinolean-/b",
	} {
		require.Equal(t, want, onDisk("linux", element), "%q", element)
	}
}
