// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package analysis

import (
	"embed"
	"io/fs"
)

//go:embed lists
var listFiles embed.FS

// Lists returns the word lists that come with the module, one file for each kind, for Read. A
// program that never calls it does not link them.
func Lists() fs.FS {
	lists, err := fs.Sub(listFiles, "lists")
	if err != nil {
		panic(err) // the directory is embedded
	}
	return lists
}
