// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package toolsearcheval

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// UpdateVariable names the environment variable with which Golden writes its files.
const UpdateVariable = "EINOLEAN_UPDATE"

// Ranks is a text with a line for each case, in their order: the place of the first
// relevant result, the case's ID, and its query. A dash means that no relevant tool is
// among the first Depth results. A case without a relevant tool has "none" if it got no
// result, as it should, and "some" otherwise.
func (r *Report) Ranks() string {
	var b strings.Builder
	for _, c := range r.Cases {
		place := fmt.Sprint(c.Rank)
		switch {
		case len(c.Case.Relevant) == 0 && len(c.Results) == 0:
			place = "none"
		case len(c.Case.Relevant) == 0:
			place = "some"
		case c.Rank == 0:
			place = "-"
		}
		b.WriteString(strings.TrimRight(fmt.Sprintf("%4s  %-14s %s", place, c.Case.ID, oneLine(c.Case.Query)), " ") + "\n")
	}
	return b.String()
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// Golden fails the test, and shows the changed lines, if text differs from the file. If
// the environment variable EINOLEAN_UPDATE is set, to anything, it writes the file instead,
// and the folders above it. A file of a Report's table and Ranks shows in a review the
// effect of a change of the ranking, or of a tool's description.
func Golden(t testing.TB, file, text string) {
	t.Helper()
	if os.Getenv(UpdateVariable) != "" {
		if err := write(file, text); err != nil {
			t.Errorf("toolsearcheval: %v", err)
		}
		return
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Errorf("toolsearcheval: %v (%s=1 writes it)", err, UpdateVariable)
		return
	}
	want := strings.ReplaceAll(string(data), "\r\n", "\n")
	if text != want {
		t.Errorf("%s has changed; %s=1 rewrites it:\n%s", file, UpdateVariable, changes(want, text))
	}
}

func write(file, text string) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	return os.WriteFile(file, []byte(text), 0o644)
}

// maxChanges is how many changed lines a failure shows.
const maxChanges = 60

// changes lists the lines that only one of two texts has, in the order of the texts.
func changes(before, after string) string {
	var all []string
	all = append(all, onlyIn("-", before, after)...)
	all = append(all, onlyIn("+", after, before)...)
	if len(all) == 0 {
		return "the same lines in another order"
	}
	if more := len(all) - maxChanges; more > 0 {
		all = append(all[:maxChanges], fmt.Sprintf("… and %d more lines", more))
	}
	return strings.Join(all, "\n")
}

func onlyIn(mark, text, other string) (lines []string) {
	count := map[string]int{}
	for line := range strings.SplitSeq(other, "\n") {
		count[line]++
	}
	for line := range strings.SplitSeq(text, "\n") {
		if count[line]--; count[line] < 0 {
			lines = append(lines, mark+line)
		}
	}
	return lines
}
