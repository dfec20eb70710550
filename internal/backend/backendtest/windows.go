// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package backendtest

import (
	"io"
	"strings"
	"testing"
)

var windowCases = []testCase{
	{"reading lines returns exactly those lines", testLines},
	{"reading a range returns exactly those bytes", testBytes},
	{"a negative byte offset is an error", testNegativeOffset},
	{"an open range still reads the old file after it was replaced", testSnapshot},
	{"a range may be closed before its end", testEarlyClose},
}

var windowed = []string{"", "\n", "one", "one\n", "one\ntwo\nthree", "one\n\n\nfour\n", "\r\n\xff\n\x00\n"}

// wantLines computes in the simplest way which lines a window holds.
func wantLines(content string, offset, limit int) string {
	all := strings.SplitAfter(content, "\n")
	all = all[min(max(offset-1, 0), len(all)):]
	if limit <= 0 || limit >= len(all) {
		return strings.Join(all, "")
	}
	return strings.TrimSuffix(strings.Join(all[:limit], ""), "\n")
}

func testLines(t *testing.T, s *suite) {
	if s.reader == nil {
		t.Skip("the store has no Read")
	}
	name := s.path("lines")
	for _, content := range windowed {
		s.write(t, name, content)
		for offset := -1; offset < 8; offset++ {
			for limit := -1; limit < 8; limit++ {
				got, err := s.lines(t.Context(), name, offset, limit)
				if want := wantLines(content, offset, limit); err != nil || got != want {
					t.Errorf("lines of %q, offset %d, limit %d: got %q, %v, want %q", content, offset, limit, got, err, want)
				}
			}
		}
	}
}

func (s *suite) needsRanges(t *testing.T) {
	t.Helper()
	if s.ranger == nil {
		t.Skip("the store has no ReadRange")
	}
}

func testBytes(t *testing.T, s *suite) {
	s.needsRanges(t)
	const huge = int64(^uint64(0) >> 1)
	name := s.path("bytes")
	for _, content := range windowed {
		s.write(t, name, content)
		end := int64(len(content))
		for _, offset := range []int64{0, 1, end - 1, end, end + 1, huge} {
			for _, length := range []int64{-huge, -1, 0, 1, 2, end, end + 1, huge} {
				checkBytes(t, s, content, max(offset, 0), length)
			}
		}
	}
}

func checkBytes(t *testing.T, s *suite, content string, offset, length int64) {
	t.Helper()
	end := int64(len(content))
	want := content[min(offset, end):]
	if length >= 0 {
		want = want[:min(int64(len(want)), length)]
	}
	got, size, err := s.bytes(t.Context(), s.path("bytes"), offset, length)
	if err != nil || got != want || size != end {
		t.Errorf("bytes of %q, offset %d, length %d: got %q of %d, %v, want %q of %d",
			content, offset, length, got, size, err, want, end)
	}
}

func testNegativeOffset(t *testing.T, s *suite) {
	s.needsRanges(t)
	name := s.path("negative")
	s.write(t, name, "content")
	if content, _, err := s.ranger.ReadRange(t.Context(), name, -1, 3); err == nil {
		content.Close()
		t.Error("ReadRange with offset -1 succeeded")
	}
}

func testSnapshot(t *testing.T, s *suite) {
	s.needsRanges(t)
	name := s.path("snapshot")
	old := strings.Repeat("old ", 5000)
	s.write(t, name, old)
	content, size, err := s.ranger.ReadRange(t.Context(), name, 0, -1)
	if err != nil {
		t.Fatal(err)
	}
	defer content.Close()
	s.write(t, name, "new")
	got, err := io.ReadAll(content)
	if err != nil || string(got) != old || size != int64(len(old)) {
		t.Errorf("after the file was written again, the open content changed: %v, %s", err, difference(string(got), old))
	}
}

func testEarlyClose(t *testing.T, s *suite) {
	s.needsRanges(t)
	name := s.path("early")
	s.write(t, name, strings.Repeat("x", 1<<20))
	content, _, err := s.ranger.ReadRange(t.Context(), name, 0, -1)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(content, make([]byte, 10)); err != nil {
		t.Errorf("reading the first bytes: %v", err)
	}
	if err := content.Close(); err != nil {
		t.Errorf("closing: %v", err)
	}
}
