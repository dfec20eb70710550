// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/golden"
)

// TestPrint_GoldenTable checks what is shown, by kind and budget. With EINOLEAN_UPDATE=1 it writes the golden file
// first.
func TestPrint_GoldenTable(t *testing.T) {
	results, err := graded()
	require.NoError(t, err)
	var out bytes.Buffer
	print(&out, results)
	golden.Check(t, "testdata/table.golden.txt", out.String())
}

// TestPrintReads_GoldenTable checks how many calls of the read tool find what is not shown.
func TestPrintReads_GoldenTable(t *testing.T) {
	results, err := graded()
	require.NoError(t, err)
	var out bytes.Buffer
	require.NoError(t, printReads(&out, results))
	golden.Check(t, "testdata/reads.golden.txt", out.String())
}

func TestFacts_AreInTheirResults(t *testing.T) {
	results, err := graded()
	require.NoError(t, err)
	for _, r := range results {
		require.NotEmpty(t, r.facts, r.name)
		for _, f := range r.facts {
			require.True(t, holds(r.text, f), "%s, %s: %s", r.kind, r.name, f)
		}
	}
}

// holds reports whether a fact is in a text; tags and spaces may stand inside it.
func holds(text, fact string) bool {
	for _, f := range []string{fact, escaped(fact), escaped(escaped(fact))} {
		if strings.Contains(text, f) {
			return true
		}
	}
	return strings.Contains(strings.Join(strings.Fields(text), ""), strings.ReplaceAll(fact, " ", ""))
}
