// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package backendtest

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"
)

var cleanCases = []testCase{
	{"a directory that holds nothing is told from one that was cleaned", testCleanMissing, []requirement{cleaner}},
	{"newer files stay", testCleanNothing, []requirement{cleaner}},
	{"older files are deleted, below the directory only", testCleanBelow, []requirement{cleaner}},
	{"a deleted name can be written again", testCleanAgain, []requirement{cleaner}},
	{"files and bytes are counted, and marking files as used adds nothing", testStored, []requirement{cleaner}},
	{"cleaning with an ended context deletes nothing", testCleanEnded, []requirement{cleaner, contexts}},
	{"old files that were used stay", testUsedStay, []requirement{cleaner, canAge}},
	{"an old file that is used during its deletion is missing or stays", testUsedMeanwhile, []requirement{cleaner, canAge}},
}

func longAgo() time.Time  { return time.Now().AddDate(-1, 0, 0) }
func tomorrow() time.Time { return time.Now().AddDate(0, 0, 1) }

func requireDeleted(t *testing.T, s *suite, dir string, at time.Time, want int) {
	t.Helper()
	if got, _, err := s.cleaner.DeleteUnused(t.Context(), dir, at); got != want || err != nil {
		t.Errorf("DeleteUnused(%q, %v) = %d, %v, want %d", dir, at, got, err, want)
	}
}

func requireStored(t *testing.T, s *suite, dir string, files int, bytes int64) {
	t.Helper()
	if n, size, err := s.cleaner.Stored(t.Context(), dir); n != files || size != bytes || err != nil {
		t.Errorf("Stored(%q) = %d, %d, %v, want %d, %d", dir, n, size, err, files, bytes)
	}
}

func testCleanMissing(t *testing.T, s *suite) {
	s.write(t, s.path("dir/file"), "content")
	for range 2 {
		for _, dir := range []string{"missing", "dir2", "di", "dir/file/x"} {
			if n, size, err := s.cleaner.DeleteUnused(t.Context(), s.path(dir), tomorrow()); n != 0 || size != 0 || !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("DeleteUnused(%q), which holds nothing, = %d, %d, %v, want an error that is fs.ErrNotExist", s.path(dir), n, size, err)
			}
		}
		s.requireContent(t, s.path("dir/file"), "content")
		requireDeleted(t, s, s.path("dir"), longAgo(), 0) // it holds a file, which is in use
	}
}

func testCleanNothing(t *testing.T, s *suite) {
	s.write(t, s.path("dir/file"), "content")
	requireDeleted(t, s, s.Prefix, longAgo(), 0)
	s.requireContent(t, s.path("dir/file"), "content")
}

func testCleanBelow(t *testing.T, s *suite) {
	go1, go2 := s.path("dir/a"), s.path("dir/deep/er/b")
	stay1, stay2, stay3 := s.path("dir2/c"), s.path("d"), s.path("dir-e")
	for _, name := range []string{go1, go2, stay1, stay2, stay3} {
		s.write(t, name, "content")
	}
	requireDeleted(t, s, s.path("dir"), tomorrow(), 2)
	for _, name := range []string{go1, go2} {
		s.requireMissing(t, name)
	}
	for _, name := range []string{stay1, stay2, stay3} {
		s.requireContent(t, name, "content")
	}
	requireDeleted(t, s, s.Prefix, tomorrow(), 3)
}

func testCleanAgain(t *testing.T, s *suite) {
	name := s.path("dir/again")
	s.write(t, name, "first")
	requireDeleted(t, s, "/", tomorrow(), 1)
	s.write(t, name, "second")
	s.requireContent(t, name, "second")
	requireDeleted(t, s, "", tomorrow(), 1)
	s.requireMissing(t, name)
}

func testStored(t *testing.T, s *suite) {
	requireStored(t, s, s.path("missing"), 0, 0)
	s.write(t, s.path("dir/a"), "content")
	s.write(t, s.path("dir/deep/b"), "more content")
	s.write(t, s.path("other"), "x")
	for range 2 {
		requireStored(t, s, s.Prefix, 3, 20)
		requireStored(t, s, s.path("dir"), 2, 19)
		if err := s.cleaner.MarkUsed(t.Context(), s.path("dir/a"), s.path("dir/deep/b"), s.path("dir/missing")); err != nil {
			t.Errorf("MarkUsed: %v", err)
		}
	}
	s.requireMissing(t, s.path("dir/missing"))
	requireDeleted(t, s, s.path("dir"), tomorrow(), 2)
	requireStored(t, s, s.Prefix, 1, 1)
	requireStored(t, s, s.path("dir"), 0, 0)
}

func testCleanEnded(t *testing.T, s *suite) {
	s.write(t, s.path("dir/file"), "content")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if deleted, _, err := s.cleaner.DeleteUnused(ctx, s.Prefix, tomorrow()); err == nil || deleted != 0 {
		t.Errorf("DeleteUnused with an ended context = %d, %v", deleted, err)
	}
	s.requireContent(t, s.path("dir/file"), "content")
}

// use is a way to use a file. It reports whether the file was there, or is since.
type use func(t *testing.T, filePath string) bool

// uses are all the ways to use a file of the store that its methods offer.
func (s *suite) uses() map[string]use {
	uses := map[string]use{
		"Write": func(t *testing.T, filePath string) bool {
			err := s.tryWrite(t.Context(), filePath, contentOf(filePath))
			if err != nil {
				t.Errorf("Write(%q): %v", filePath, err)
			}
			return err == nil
		},
	}
	for way, read := range s.readers() {
		if way == "ReadBack" {
			continue // not a method of the store
		}
		uses[way] = func(t *testing.T, filePath string) bool {
			_, err := read(t.Context(), filePath)
			if err != nil && !errors.Is(err, fs.ErrNotExist) && !s.AnyMissingError {
				t.Errorf("%s(%q): %v", way, filePath, err)
			}
			return err == nil
		}
	}
	return uses
}

// plantOld writes a file that was last used two days ago.
func (s *suite) plantOld(t *testing.T, name string) (filePath string) {
	t.Helper()
	filePath = s.path(name)
	s.write(t, filePath, contentOf(filePath))
	s.Age(t, s.store, filePath, 48*time.Hour)
	return filePath
}

func yesterday() time.Time { return time.Now().Add(-24 * time.Hour) }

func testUsedStay(t *testing.T, s *suite) {
	for way, use := range s.uses() {
		used := s.plantOld(t, "used/"+way)
		if !use(t, used) {
			t.Errorf("%s(%q) does not find the file", way, used)
		}
	}
	marked := s.plantOld(t, "used/marked")
	if err := s.cleaner.MarkUsed(t.Context(), s.path("used/missing"), marked); err != nil {
		t.Errorf("MarkUsed: %v", err)
	}
	unused := s.plantOld(t, "other/unused")
	requireDeleted(t, s, s.Prefix, yesterday(), 1)
	s.requireMissing(t, unused)
	s.requireContent(t, marked, contentOf(marked))
	for way := range s.uses() {
		used := s.path("used/" + way)
		s.requireContent(t, used, contentOf(used))
	}
}

func testUsedMeanwhile(t *testing.T, s *suite) {
	const rounds = 100
	uses := s.uses()
	ways := slices.Sorted(maps.Keys(uses))
	for n := range rounds {
		way := ways[n%len(ways)]
		filePath := s.plantOld(t, "meanwhile/file")
		var deletion sync.WaitGroup
		deletion.Go(func() {
			if _, _, err := s.cleaner.DeleteUnused(t.Context(), s.Prefix, yesterday()); err != nil {
				t.Errorf("DeleteUnused: %v", err)
			}
		})
		inUse := uses[way](t, filePath)
		deletion.Wait()
		if inUse {
			s.requireContent(t, filePath, contentOf(filePath))
		}
		if t.Failed() {
			t.Fatalf("after %s in round %d", way, n)
		}
	}
}
