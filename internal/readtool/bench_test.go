// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package readtool

import (
	"fmt"
	"strings"
	"testing"
)

// BenchmarkAnswer reads in 5 MB: of lines, and in one line.
func BenchmarkAnswer(b *testing.B) {
	contents := map[string]string{
		"lines":    strings.Repeat("2025-01-01T00:00:00Z INFO request served in 12ms by worker 7\n", 80_000) + "FAIL at the end\n",
		"one line": "[" + strings.Repeat(`{"id":12345,"name":"some name","tags":["a","b"]},`, 100_000) + `{"id":1,"status":"FAIL"}]`,
	}
	for kind, content := range contents {
		read := New(from(stored(b, content), Options{}))
		for name, rest := range map[string]string{
			"first page":  ``,
			"byte window": `,"byte_offset":4000000`,
			"tail":        `,"tail":50`,
			"deep line":   `,"offset":70000`,
			"literal":     `,"pattern":"FAIL"`,
			"pattern":     `,"pattern":"(?i)fai[lr]ed|status.{3}fail"`,
			"query":       `,"query":"why did it fail at the end"`,
		} {
			b.Run(kind+"/"+name, func(b *testing.B) {
				b.SetBytes(int64(len(content)))
				b.ReportAllocs()
				arguments := fmt.Sprintf(`{"file_path":%q%s}`, testPath, rest)
				for b.Loop() {
					ask(b, read, arguments)
				}
			})
		}
	}
}
