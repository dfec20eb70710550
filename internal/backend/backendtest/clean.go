// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package backendtest

import (
	"context"
	"testing"
	"time"
)

var cleanCases = []testCase{
	{"newer files stay", testCleanNothing},
	{"older files are deleted, below the directory only", testCleanBelow},
	{"a deleted name can be written again", testCleanAgain},
	{"files and bytes are counted, and marking files as used adds nothing", testStored},
	{"cleaning with an ended context deletes nothing", testCleanEnded},
}

func (s *suite) needsClean(t *testing.T) {
	t.Helper()
	if s.cleaner == nil {
		t.Skip("the store is no Cleaner")
	}
}

func longAgo() time.Time  { return time.Now().AddDate(-1, 0, 0) }
func tomorrow() time.Time { return time.Now().AddDate(0, 0, 1) }

func (s *suite) cleans(t *testing.T, dir string, at time.Time, want int) {
	t.Helper()
	if got, _, err := s.cleaner.DeleteUnused(t.Context(), dir, at); got != want || err != nil {
		t.Errorf("DeleteUnused(%q, %v) = %d, %v, want %d", dir, at, got, err, want)
	}
}

func (s *suite) keeps(t *testing.T, dir string, files int, bytes int64) {
	t.Helper()
	if n, size, err := s.cleaner.Stored(t.Context(), dir); n != files || size != bytes || err != nil {
		t.Errorf("Stored(%q) = %d, %d, %v, want %d, %d", dir, n, size, err, files, bytes)
	}
}

func testCleanNothing(t *testing.T, s *suite) {
	s.needsClean(t)
	s.cleans(t, s.Prefix, tomorrow(), 0) // nothing there yet
	s.write(t, s.path("dir/file"), "content")
	s.cleans(t, s.Prefix, longAgo(), 0)
	s.cleans(t, s.path("missing"), tomorrow(), 0)
	s.holds(t, s.path("dir/file"), "content")
}

func testCleanBelow(t *testing.T, s *suite) {
	s.needsClean(t)
	go1, go2 := s.path("dir/a"), s.path("dir/deep/er/b")
	stay1, stay2, stay3 := s.path("dir2/c"), s.path("d"), s.path("dir-e")
	for _, name := range []string{go1, go2, stay1, stay2, stay3} {
		s.write(t, name, "content")
	}
	s.cleans(t, s.path("dir"), tomorrow(), 2)
	for _, name := range []string{go1, go2} {
		s.missing(t, name)
	}
	for _, name := range []string{stay1, stay2, stay3} {
		s.holds(t, name, "content")
	}
	s.cleans(t, s.path("dir"), tomorrow(), 0)
	s.cleans(t, s.Prefix, tomorrow(), 3)
}

func testCleanAgain(t *testing.T, s *suite) {
	s.needsClean(t)
	name := s.path("dir/again")
	s.write(t, name, "first")
	s.cleans(t, "/", tomorrow(), 1)
	s.write(t, name, "second")
	s.holds(t, name, "second")
	s.cleans(t, "", tomorrow(), 1)
	s.missing(t, name)
}

func testStored(t *testing.T, s *suite) {
	s.needsClean(t)
	s.keeps(t, s.path("missing"), 0, 0)
	s.write(t, s.path("dir/a"), "content")
	s.write(t, s.path("dir/deep/b"), "more content")
	s.write(t, s.path("other"), "x")
	for range 2 {
		s.keeps(t, s.Prefix, 3, 20)
		s.keeps(t, s.path("dir"), 2, 19)
		if err := s.cleaner.MarkUsed(t.Context(), s.path("dir/a"), s.path("dir/deep/b"), s.path("dir/missing")); err != nil {
			t.Errorf("MarkUsed: %v", err)
		}
	}
	s.missing(t, s.path("dir/missing"))
	s.cleans(t, s.path("dir"), tomorrow(), 2)
	s.keeps(t, s.Prefix, 1, 1)
	s.keeps(t, s.path("dir"), 0, 0)
}

func testCleanEnded(t *testing.T, s *suite) {
	s.needsClean(t)
	if s.IgnoresContext {
		t.Skip("Options.IgnoresContext")
	}
	s.write(t, s.path("dir/file"), "content")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if deleted, _, err := s.cleaner.DeleteUnused(ctx, s.Prefix, tomorrow()); err == nil || deleted != 0 {
		t.Errorf("DeleteUnused with an ended context = %d, %v", deleted, err)
	}
	s.holds(t, s.path("dir/file"), "content")
}
