// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

var (
	instrument = regexp.MustCompile(`(?m)^\t(counter|histogram|seconds)\(&all\.\w+, ("[^"]+"|\w+), (?:"(\{\w+\})", )?`)
	metricRow  = regexp.MustCompile("(?m)^\\| `([a-z_.]+)` \\| `([^`]+)` \\|")
	constant   = `(?m)^\t%s += "([^"]+)"$`
)

// The metrics are read from the source of window/windowotel, which is a separate module.
func TestOperations_NamesEveryMetricWithUnit(t *testing.T) {
	source, units, listed := read(t, "window/windowotel/windowotel.go"), map[string]string{}, map[string]string{}
	for _, m := range instrument.FindAllStringSubmatch(source, -1) {
		name := strings.Trim(m[2], `"`)
		if name == m[2] {
			name = regexp.MustCompile(strings.Replace(constant, "%s", name, 1)).FindStringSubmatch(source)[1]
		}
		units[name] = m[3]
		switch m[1] {
		case "histogram":
			units[name] = "{token}"
		case "seconds":
			units[name] = "s"
		}
	}
	for _, m := range metricRow.FindAllStringSubmatch(read(t, "docs/operations.md"), -1) {
		listed[m[1]] = m[2]
	}
	require.Greater(t, len(units), 10)
	require.Equal(t, units, listed)
}

// Pages and table cells have a maximum length.
func TestPages_AreShort(t *testing.T) {
	for _, name := range documents(t) {
		text := read(t, name)
		if strings.HasPrefix(name, "docs/") && name != "docs/differences.md" {
			require.LessOrEqual(t, strings.Count(text, "\n"), 400, name)
		}
		if name != "docs/benchmarks.md" {
			continue
		}
		for line := range strings.Lines(text) {
			if strings.HasPrefix(line, "|") {
				for cell := range strings.SplitSeq(line, "|") {
					require.LessOrEqual(t, utf8.RuneCountInString(strings.TrimSpace(cell)), 200, line)
				}
			}
		}
	}
}

// TestDifferences_CellsAreShort: details are footnotes below the tables.
func TestDifferences_CellsAreShort(t *testing.T) {
	cells := 0
	for line := range strings.Lines(read(t, "docs/differences.md")) {
		if !strings.HasPrefix(line, "|") {
			continue
		}
		for cell := range strings.SplitSeq(line, "|") {
			cells++
			require.LessOrEqual(t, len(strings.Fields(cell)), 40, cell)
		}
	}
	require.Greater(t, cells, 200)
}
