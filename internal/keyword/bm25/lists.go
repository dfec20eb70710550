// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package bm25

// This file reads the lines of the word lists.

import (
	"embed"
	"strings"
)

//go:embed lists/*.txt
var listFiles embed.FS

// eachLine visits the lines of an embedded file, except empty ones and comments.
func eachLine(name string, visit func(fields []string)) {
	text, err := listFiles.ReadFile("lists/" + name)
	if err != nil {
		panic(err) // the file is embedded
	}
	for line := range strings.Lines(string(text)) {
		if fields := strings.Fields(line); len(fields) > 0 && fields[0] != "#" {
			visit(fields)
		}
	}
}
