// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package backendtest

import (
	"fmt"
	"strings"
	"sync"
	"testing"
)

var sharedCases = []testCase{
	{"concurrent writers and readers of their own files", testOwnFiles},
	{"readers of a file being written see the old content or the new", testSharedFile},
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
				s.holds(t, name, content)
			}
		})
	}
	wg.Wait()
}

func testSharedFile(t *testing.T, s *suite) {
	s.readable(t)
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
