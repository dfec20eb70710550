// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

// Package walks measures how far a reader has to walk to follow one sentence through the code: which
// functions of a package an Example executes, and in how many files they stand.
package walks

import (
	"bufio"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"path"
	"slices"
	"strings"
)

// Executed returns the functions that a coverage profile says were executed, by file. Files are
// relative to the module, whose path module is; root is where it is.
func Executed(profile io.Reader, module, root string) (map[string][]string, error) {
	blocks := map[string][][2]int{} // lines
	lines := bufio.NewScanner(profile)
	for lines.Scan() {
		var from, to, column, statements, count int
		file, rest, _ := strings.Cut(lines.Text(), ":")
		n, _ := fmt.Sscanf(rest, "%d.%d,%d.%d %d %d", &from, &column, &to, &column, &statements, &count)
		if name, ok := strings.CutPrefix(file, module+"/"); ok && n == 6 && count > 0 {
			blocks[name] = append(blocks[name], [2]int{from, to})
		}
	}
	executed := map[string][]string{}
	for name, ran := range blocks {
		set := token.NewFileSet()
		f, err := parser.ParseFile(set, path.Join(root, name), nil, 0)
		if err != nil {
			return nil, err
		}
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			from, to := set.Position(fn.Pos()).Line, set.Position(fn.End()).Line
			if slices.ContainsFunc(ran, func(b [2]int) bool { return b[0] >= from && b[1] <= to }) {
				executed[name] = append(executed[name], fn.Name.Name)
			}
		}
	}
	return executed, lines.Err()
}
