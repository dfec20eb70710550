// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package readtool

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/einolean/einolean/internal/backend"
)

var update = flag.Bool("update", false, "write testdata/answers.txt")

// counted counts the readers of a store that are open.
type counted struct {
	*backend.Memory
	open atomic.Int64
}

type countedReader struct {
	io.ReadCloser
	open *atomic.Int64
}

func (c *counted) ReadRange(ctx context.Context, filePath string, offset, length int64) (io.ReadCloser, int64, error) {
	content, size, err := c.Memory.ReadRange(ctx, filePath, offset, length)
	if err != nil {
		return nil, 0, err
	}
	c.open.Add(1)
	return countedReader{content, &c.open}, size, nil
}

func (c countedReader) Close() error {
	c.open.Add(-1)
	return c.ReadCloser.Close()
}

// exactContents are small contents with everything that changes an answer's form.
var exactContents = []struct{ name, content string }{
	{"lines", "one\ntwo needle\nthree\nfour\nfive needle, needle\nsix\nseven\neight\nnine needle\nten"},
	{"crlf", "one\r\ntwo needle\r\nthree\r\n\r\nneedle\r\n"},
	{"characters", "aé天😀b\xff\xe4\xb8c"},
	{"long line", "short needle\n" + strings.Repeat("x", 150) + "needle" + strings.Repeat("天", 60) + "needle" + strings.Repeat("y", 300) + "needle needle\nend\n"},
	{"line at the limit", strings.Repeat("x", maxShown-6) + "needle\n" + strings.Repeat("x", maxShown-5) + "needle\n"},
	{"fences", "-----\n-----1-----\nneedle\n"},
	{"empty", ""},
	{"blocks", strings.Repeat("filler\n", 19) + "needle\n" + strings.Repeat("filler\n", 80_000) + "needle pin\nmore\nneedle needle pin"},
}

var exactArguments = []string{
	``, `"offset":2`, `"offset":2,"limit":1`, `"offset":3,"limit":2`, `"offset":11`, `"offset":10,"limit":5`, `"limit":1`,
	`"byte_offset":1`, `"byte_offset":2`, `"byte_offset":2,"byte_limit":1`, `"byte_offset":4,"byte_limit":2`, `"byte_offset":5,"byte_limit":1`,
	`"byte_limit":3`, `"byte_limit":1`, `"byte_offset":7,"byte_limit":3`, `"byte_offset":12,"byte_limit":1`, `"byte_offset":99999999`,
	`"tail":1`, `"tail":2`, `"tail":99`,
	`"pattern":"needle"`, `"pattern":"needle","limit":1`, `"pattern":"needle","limit":2,"context":1`, `"pattern":"needle","context":1`, `"pattern":"needle","context":2`,
	`"pattern":"needle","context":99`, `"pattern":"needle","offset":3`, `"pattern":"needle","byte_offset":5`, `"pattern":"needle","byte_offset":4,"context":1`,
	`"pattern":"needle$"`, `"pattern":"^$"`, `"pattern":"o"`, `"pattern":"天"`, `"pattern":"zebra"`, `"pattern":"zebra","limit":1,"context":3`, `"pattern":"("`,
	`"query":"needle"`, `"query":"needle","limit":1`, `"query":"pin needle","limit":2`, `"query":"pin","byte_offset":140000`, `"query":"zebra"`,
}

// Every answer is the one in testdata/answers.txt, byte by byte. Run it with -update to write the file, and read the
// difference.
func TestTool_AnswersAreExact(t *testing.T) {
	var got strings.Builder
	for _, c := range exactContents {
		for _, arguments := range exactArguments {
			if c.name == "blocks" && !strings.Contains(arguments, "query") {
				continue
			}
			arguments = strings.TrimSuffix(`{"file_path":"`+testPath+`",`+arguments, ",") + "}"
			answers := make(map[string]bool)
			for kind, store := range readers(stored(t, c.content)) {
				ranged := &counted{Memory: stored(t, c.content)}
				if kind == "by ranges" {
					store = ranged
				}
				answers[ask(t, New(from(store, Options{MaxBytes: MinMaxBytes})), arguments)] = true
				require.Zero(t, ranged.open.Load(), "a reader stays open after %s", arguments)
			}
			require.Len(t, answers, 1, "both kinds of stores give the same answer")
			fmt.Fprintf(&got, "== %s %s\n", c.name, arguments)
			for answer := range answers {
				for line := range strings.Lines(answer) {
					fmt.Fprintf(&got, "%q\n", line)
				}
			}
		}
	}
	if *update {
		require.NoError(t, os.WriteFile("testdata/answers.txt", []byte(got.String()), 0o644))
	}
	want, err := os.ReadFile("testdata/answers.txt")
	require.NoError(t, err)
	wantParts, gotParts := strings.Split(string(want), "== "), strings.Split(got.String(), "== ")
	require.Len(t, gotParts, len(wantParts))
	for i := range wantParts {
		require.Equal(t, wantParts[i], gotParts[i])
	}
}
