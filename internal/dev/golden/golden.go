// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

// Package golden keeps what tests print in files, so that a change of it shows in a review.
package golden

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Update is the environment variable with which files are written.
const Update = "EINOLEAN_UPDATE"

// Check fails the test, and shows the changed lines, if text differs from the file. If Update
// is set, to anything, it writes the file instead, and the folders above it.
func Check(t testing.TB, file, text string) {
	t.Helper()
	if os.Getenv(Update) != "" {
		if err := write(file, text); err != nil {
			t.Errorf("golden: %v", err)
		}
		return
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Errorf("golden: %v (%s=1 writes it)", err, Update)
		return
	}
	want := strings.ReplaceAll(string(data), "\r\n", "\n")
	if text != want {
		t.Errorf("%s has changed; %s=1 rewrites it:\n%s", file, Update, changes(want, text))
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
