// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package backendtest

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

var contentCases = []testCase{
	{"content comes back byte for byte", testRoundTrip},
	{"writing again replaces the whole content", testOverwrite},
	{"a file that was never written is missing", testMissing},
	{"files do not affect each other", testNeighbours},
	{"a call whose context has ended changes nothing", testEndedContext},
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
		if !s.fits(contents[kind]) {
			continue
		}
		t.Run(kind, func(t *testing.T) {
			name := s.path(fmt.Sprintf("round/trip-%d", i))
			s.write(t, name, contents[kind])
			s.holds(t, name, contents[kind])
		})
	}
}

func testOverwrite(t *testing.T, s *suite) {
	s.readable(t)
	name := s.path("again")
	for _, content := range []string{"short", strings.Repeat("much longer\n", 1000), "", "the end"} {
		s.write(t, name, content)
		s.holds(t, name, content)
	}
}

func testMissing(t *testing.T, s *suite) {
	s.readable(t)
	s.missing(t, s.path("nothing/here"))
	s.write(t, s.path("something"), "x")
	s.missing(t, s.path("some"))
	s.missing(t, s.path("something2"))
}

func testNeighbours(t *testing.T, s *suite) {
	s.readable(t)
	names := []string{"trunc/call_1", "clear/call_1", "trunc/call_10", "trunc/deep/er/call_1", "trunc/call-1", "call_1"}
	for _, name := range names {
		s.write(t, s.path(name), "content of "+name)
	}
	for _, name := range names {
		s.holds(t, s.path(name), "content of "+name)
	}
}

func testEndedContext(t *testing.T, s *suite) {
	if s.IgnoresContext {
		t.Skip("Options.IgnoresContext")
	}
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
	s.holds(t, kept, "old")
	s.missing(t, fresh)
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
