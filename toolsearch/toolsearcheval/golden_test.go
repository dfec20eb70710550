// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package toolsearcheval_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/einolean/einolean/internal/dev/golden"
	"github.com/einolean/einolean/internal/dev/race"
)

func TestIndexes_RankingMatchesGolden(t *testing.T) {
	race.Skip(t, "ranks every tool for every query")
	own, lib := ownSet(t), librarySet(t)
	for _, x := range indexes {
		t.Run(x.name, func(t *testing.T) {
			t.Parallel()
			text := goldenHead(x.name, "on the whole catalogue", own) + tableOf(t, x, own)
			if x.name == "keyword" {
				text += "\n\n" + goldenHead(x.name, "on the library alone", lib) + tableOf(t, x, lib)
			}
			golden.Check(t, filepath.Join("testdata", "golden", x.name+".txt"), text)
		})
	}
}

func goldenHead(index, where string, g graded) string {
	title := fmt.Sprintf("%s %s: %d tools, %d queries", index, where, len(g.tools), len(g.cases()))
	return title + "\n" + strings.Repeat("=", len(title)) + "\n"
}

// tableOf has the tables first, then each query's place. The queries of the half to judge
// by are not shown: who tunes an index reads this file.
func tableOf(t testing.TB, x namedIndex, g graded) string {
	dev, heldout := evaluate(t, x, g.tools, g.dev), evaluate(t, x, g.tools, g.heldout)
	for i := range heldout.Cases {
		heldout.Cases[i].Case.Query = ""
	}
	loaded := loadedCases(g.cases())
	again := evaluate(t, loadedIndex(t, x, loaded), g.tools, loaded)
	var b strings.Builder
	section := func(title, text string) { fmt.Fprintf(&b, "\n%s\n\n%s", title, text) }
	section("To tune on (dev)", dev.String())
	section("To judge by (heldout)", heldout.String())
	section("Once the relevant tools are loaded (dev and heldout)", again.String())
	section("Place of the first relevant tool (dev)", dev.Ranks())
	section("Place of the first relevant tool (heldout)", heldout.Ranks())
	return b.String()
}
