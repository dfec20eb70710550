// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package backendtest

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
)

var contentCases = []testCase{
	{"content comes back byte for byte", testRoundTrip, nil},
	{"writing again replaces the whole content", testOverwrite, []requirement{readable}},
	{"a file that was never written is missing", testMissing, []requirement{readable}},
	{"files do not affect each other", testNeighbours, []requirement{readable}},
	{"a call whose context has ended changes nothing", testEndedContext, []requirement{contexts}},
}

// Contents returns texts and bytes of the kinds that tools return and stores corrupt.
// The map belongs to the caller.
func Contents() map[string]string {
	var all strings.Builder
	for c := range 256 {
		all.WriteByte(byte(c))
	}
	return map[string]string{
		"empty":                  "",
		"one newline":            "\n",
		"NUL bytes":              "\x00a\x00\x00b\n\x00",
		"invalid UTF-8":          "ok \xff\xfe \xc3( \xe2\x82 \xf0\x9f\x98 end\x80",
		"every byte":             all.String(),
		"CRLF":                   "first\r\nsecond\r\n\r\nlast\r\n",
		"lone CR":                "a\rb\r\rc",
		"no newline at the end":  "first\nsecond",
		"blank lines at the end": "first\n\n\n",
		"byte order mark":        "\ufefftext\n",
		"many scripts":           "日本語 中文 한국어 עברית 👩‍👩‍👧 e\u0301\n",
		"spaces at both ends":    "  \t text \t  ",
		"many short lines":       strings.Repeat("line\n", 50_000),
		"5 MB in one line":       strings.Repeat(`{"id":12345,"名":"值"},`, 5_000_000/24),
	}
}

func testRoundTrip(t *testing.T, s *suite) {
	contents := Contents()
	for i, kind := range slices.Sorted(maps.Keys(contents)) {
		if !s.isWithinLimit(contents[kind]) {
			continue
		}
		t.Run(kind, func(t *testing.T) {
			name := s.path(fmt.Sprintf("round/trip-%d", i))
			s.write(t, name, contents[kind])
			s.requireContent(t, name, contents[kind])
		})
	}
}

func testOverwrite(t *testing.T, s *suite) {
	name := s.path("again")
	for _, content := range []string{"short", strings.Repeat("much longer\n", 1000), "", "the end"} {
		s.write(t, name, content)
		s.requireContent(t, name, content)
	}
}

func testMissing(t *testing.T, s *suite) {
	s.requireMissing(t, s.path("nothing/here"))
	s.write(t, s.path("something"), "x")
	s.requireMissing(t, s.path("some"))
	s.requireMissing(t, s.path("something2"))
}

func testNeighbours(t *testing.T, s *suite) {
	names := []string{"trunc/call_1", "clear/call_1", "trunc/call_10", "trunc/deep/er/call_1", "trunc/call-1", "call_1"}
	for _, name := range names {
		s.write(t, s.path(name), "content of "+name)
	}
	for _, name := range names {
		s.requireContent(t, s.path(name), "content of "+name)
	}
}

func testEndedContext(t *testing.T, s *suite) {
	kept, fresh := s.path("kept"), s.path("fresh")
	s.write(t, kept, "old")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, name := range []string{kept, fresh} {
		if err := s.tryWrite(ctx, name, "new"); err == nil {
			t.Errorf("Write(%q) with an ended context succeeded", name)
		}
	}
	for way, read := range s.readers() {
		if _, err := read(ctx, kept); err == nil && way != "ReadBack" {
			t.Errorf("%s with an ended context succeeded", way)
		}
	}
	s.requireContent(t, kept, "old")
	s.requireMissing(t, fresh)
}

// difference says where two texts differ first, without printing megabytes.
func difference(got, want string) string {
	at := 0
	for at < min(len(got), len(want)) && got[at] == want[at] {
		at++
	}
	return fmt.Sprintf("%d bytes against %d, different from byte %d on: %q against %q",
		len(got), len(want), at, piece(got, at), piece(want, at))
}

func piece(s string, at int) string { return s[at:min(len(s), at+40)] }

var windowCases = []testCase{
	{"reading lines returns exactly those lines", testLines, []requirement{lines}},
	{"reading a range returns exactly those bytes", testBytes, []requirement{ranges}},
	{"a negative byte offset is an error", testNegativeOffset, []requirement{ranges}},
	{"an open range still reads the old file after it was replaced", testSnapshot, []requirement{ranges}},
	{"a range may be closed before its end", testEarlyClose, []requirement{ranges}},
}

var windowContents = []string{"", "\n", "one", "one\n", "one\ntwo\nthree", "one\n\n\nfour\n", "\r\n\xff\n\x00\n"}

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
	name := s.path("lines")
	for _, content := range windowContents {
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

func testBytes(t *testing.T, s *suite) {
	const huge = int64(^uint64(0) >> 1)
	name := s.path("bytes")
	for _, content := range windowContents {
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
	name := s.path("negative")
	s.write(t, name, "content")
	if content, _, err := s.ranger.ReadRange(t.Context(), name, -1, 3); err == nil {
		content.Close()
		t.Error("ReadRange with offset -1 succeeded")
	}
}

func testSnapshot(t *testing.T, s *suite) {
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

var sharedCases = []testCase{
	{"concurrent writers and readers of their own files", testOwnFiles, nil},
	{"readers of a file being written see the old content or the new", testSharedFile, []requirement{readable}},
}

func testOwnFiles(t *testing.T, s *suite) {
	var wg sync.WaitGroup
	for worker := range 8 {
		wg.Go(func() {
			for round := range 10 {
				name := s.path(fmt.Sprintf("own/%d/%d", worker%3, worker*100+round))
				content := strings.Repeat(fmt.Sprintln("worker", worker, "round", round), 50)
				if err := s.tryWrite(t.Context(), name, content); err != nil {
					t.Errorf("Write(%q): %v", name, err)
					return
				}
				s.requireContent(t, name, content)
			}
		})
	}
	wg.Wait()
}

func testSharedFile(t *testing.T, s *suite) {
	const versions = 4
	version := func(i int) string { return strings.Repeat(fmt.Sprint(i%versions), 20_000+i%versions) }
	name := s.path("shared/file")
	s.write(t, name, version(0))
	known := make(map[string]bool)
	for i := range versions {
		known[version(i)] = true
	}
	var wg sync.WaitGroup
	for worker := range 4 {
		wg.Go(func() {
			for i := range 10 {
				if err := s.tryWrite(t.Context(), name, version(worker+i)); err != nil {
					t.Errorf("Write(%q): %v", name, err)
				}
			}
		})
		wg.Go(func() {
			for way, read := range s.readers() {
				for range 10 {
					if got, err := read(t.Context(), name); err != nil || !known[got] {
						t.Errorf("%s during a Write: %v, %d bytes %q…, want one of the versions written", way, err, len(got), piece(got, 0))
					}
				}
			}
		})
	}
	wg.Wait()
}
