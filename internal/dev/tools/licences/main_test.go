// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"compress/gzip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestForeign_FindsTextsOfOthers(t *testing.T) {
	for text, want := range map[string]string{
		"// Copyright einolean authors\n// SPDX-License-Identifier: Apache-2.0\n":           "",
		"// Copyright " + "2011 The Go Authors.":                                            "Copyright " + "2011",
		"Copyright " + "(c) somebody":                                                       "Copyright " + "(c)",
		"// SPDX-License-" + "Identifier: GPL-3.0":                                          "GPL-3.0",
		"under the terms of the GNU Free\n  Documentation " + "License":                     "gnu free",
		"the copyright of a picture, and all that is said about licenses in prose, is fine": "",
	} {
		found := strings.Join(foreign(text), "; ")
		if want == "" {
			require.Empty(t, found, text)
		} else {
			require.Contains(t, found, want, text)
		}
	}
}

func TestRun_ReadsCompressedFiles(t *testing.T) {
	root := t.TempDir()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, err := z.Write([]byte("// Copyright " + "2011 The Go Authors."))
	require.NoError(t, err)
	require.NoError(t, z.Close())
	require.NoError(t, os.WriteFile(filepath.Join(root, "runs.gz"), b.Bytes(), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(root, "good.txt"), []byte("ours"), 0o600))
	require.NoError(t, exec.Command("git", "init", "-q", root).Run())
	err = run(&b, root)
	require.ErrorContains(t, err, "runs.gz")
	require.NotContains(t, err.Error(), "good.txt")
}

func TestLicenceIn_NeedsKnownLicence(t *testing.T) {
	for text, want := range map[string]string{
		"Apache  License\nVersion 2.0": "Apache-2.0", "Permission is hereby\n" + "granted, free of charge, to": "MIT", "GNU GENERAL " + "PUBLIC LICENSE": "", "": "",
	} {
		dir := filepath.Join(t.TempDir(), "a", "b")
		require.NoError(t, os.MkdirAll(dir, 0o700))
		_, err := licenceIn(dir)
		require.Error(t, err, "there is none")
		require.NoError(t, os.WriteFile(filepath.Join(filepath.Dir(dir), "LICENSE.md"), []byte(text), 0o600))
		got, err := licenceIn(dir)
		require.Equal(t, want, got)
		require.Equal(t, want == "", err != nil)
	}
}
