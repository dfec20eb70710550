// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package golden_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/dev/golden"
)

// listener is a testing.TB that keeps what a helper reports.
type listener struct {
	testing.TB
	said []string
}

func (l *listener) Helper() {}
func (l *listener) Errorf(format string, args ...any) {
	l.said = append(l.said, fmt.Sprintf(format, args...))
}

func TestCheck_ShowsDifferencesAndUpdatesFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "deep", "golden.txt")
	l := &listener{TB: t}
	t.Setenv(golden.Update, "")
	golden.Check(l, file, "one\ntwo\n")
	require.Len(t, l.said, 1, "the file is not there")
	require.Contains(t, l.said[0], golden.Update)

	t.Setenv(golden.Update, "1")
	golden.Check(l, file, "one\ntwo\n")
	t.Setenv(golden.Update, "")
	golden.Check(l, file, "one\ntwo\n")
	require.Len(t, l.said, 1)

	golden.Check(l, file, "one\nthree\n")
	require.Contains(t, l.said[1], "-two\n+three")
	require.NotContains(t, l.said[1], "one")
	golden.Check(l, file, "two\none\n")
	require.Contains(t, l.said[2], "another order")
	golden.Check(l, file, strings.Repeat("many\n", 1000))
	require.Less(t, strings.Count(l.said[3], "\n"), 100)

	require.NoError(t, os.WriteFile(file, []byte("one\r\ntwo\r\n"), 0o600))
	golden.Check(l, file, "one\ntwo\n")
	require.Len(t, l.said, 4, "line ends are those of the checkout")
}
