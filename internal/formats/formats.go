// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

// Package formats has samples of everything that outlives a process: conversations with their notices
// and keys, names in stores, checkpoints and logs. Each version of the formats has a folder. A sample is
// what some build has written, and every later build must read it: samples may be added, and none is
// ever changed. Conversations that Eino's own package made are among them.
package formats

import (
	"embed"
	"io/fs"
)

//go:embed testdata
var files embed.FS

// Files are the samples, as v1/name.
func Files() fs.FS {
	sub, err := fs.Sub(files, "testdata")
	if err != nil {
		panic(err)
	}
	return sub
}
