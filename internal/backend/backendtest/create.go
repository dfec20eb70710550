// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package backendtest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
)

var createCases = []testCase{
	{"streamed content comes back byte for byte", testCreate},
	{"a taken name is refused before the content is read", testCreateTaken},
	{"of concurrent calls for one name exactly one succeeds", testCreateRace},
	{"content that fails to read leaves nothing behind", testCreateFails},
	{"a context that ends midway leaves nothing behind", testCreateCancelled},
}

func (s *suite) needsCreate(t *testing.T) {
	t.Helper()
	if s.creator == nil {
		t.Skip("the store has no Create")
	}
}

func testCreate(t *testing.T, s *suite) {
	s.needsCreate(t)
	contents := Contents()
	for i, kind := range slices.Sorted(maps.Keys(contents)) {
		content := contents[kind]
		if !s.fits(content) {
			continue
		}
		for way, reader := range readersOf(content) {
			name := s.path(fmt.Sprintf("create/%d/%s", i, way))
			if err := s.creator.Create(t.Context(), name, reader); err != nil {
				t.Errorf("Create of %s (%s): %v", kind, way, err)
				continue
			}
			s.holds(t, name, content)
		}
	}
}

// readersOf yields content in the various ways that io.Reader allows. The slow
// ones are left out for large content.
func readersOf(content string) map[string]io.Reader {
	readers := map[string]io.Reader{
		"plain":        strings.NewReader(content),
		"data-and-EOF": iotest.DataErrReader(strings.NewReader(content)),
	}
	if len(content) < 100_000 {
		readers["one-byte"] = iotest.OneByteReader(strings.NewReader(content))
		readers["half"] = iotest.HalfReader(strings.NewReader(content))
	}
	return readers
}

func testCreateTaken(t *testing.T, s *suite) {
	s.needsCreate(t)
	first, second := s.path("taken/created"), s.path("taken/written")
	if err := s.creator.Create(t.Context(), first, strings.NewReader("first")); err != nil {
		t.Fatal(err)
	}
	s.write(t, second, "first")
	for _, name := range []string{first, second} {
		content := &countingReader{Reader: strings.NewReader("second")}
		if err := s.creator.Create(t.Context(), name, content); !errors.Is(err, fs.ErrExist) {
			t.Errorf("Create(%q) on an existing file: %v, want fs.ErrExist", name, err)
		}
		if content.calls > 0 {
			t.Errorf("Create(%q) on an existing file read from the content", name)
		}
		s.holds(t, name, "first")
	}
}

type countingReader struct {
	io.Reader
	calls int
}

func (r *countingReader) Read(p []byte) (int, error) {
	r.calls++
	return r.Reader.Read(p)
}

func testCreateRace(t *testing.T, s *suite) {
	s.needsCreate(t)
	const writers = 8
	name := s.path("race/one")
	results := make([]error, writers)
	var ready, done sync.WaitGroup
	ready.Add(writers)
	for i := range writers {
		done.Go(func() {
			// Nobody gets further than the first byte before all have begun.
			begun := sync.OnceFunc(func() { ready.Done(); ready.Wait() })
			defer begun()
			content := strings.NewReader(raceContent(i))
			results[i] = s.creator.Create(t.Context(), name, readerFunc(func(p []byte) (int, error) {
				begun()
				return content.Read(p)
			}))
		})
	}
	done.Wait()
	winner := -1
	for i, err := range results {
		switch {
		case err == nil && winner >= 0:
			t.Errorf("Create succeeded for %d and for %d", winner, i)
		case err == nil:
			winner = i
		case !errors.Is(err, fs.ErrExist):
			t.Errorf("Create of the loser %d: %v, want fs.ErrExist", i, err)
		}
	}
	if winner < 0 {
		t.Fatal("no Create succeeded")
	}
	s.holds(t, name, raceContent(winner))
}

func raceContent(i int) string { return strings.Repeat(fmt.Sprint("content ", i, "\n"), 1000) }

type readerFunc func(p []byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

func testCreateFails(t *testing.T, s *suite) {
	s.needsCreate(t)
	for _, before := range []int{0, 1, 200_000} {
		name := s.path(fmt.Sprint("fails/", before))
		broken := io.MultiReader(strings.NewReader(strings.Repeat("x", before)), iotest.ErrReader(ErrInjected))
		if err := s.creator.Create(t.Context(), name, broken); !errors.Is(err, ErrInjected) {
			t.Errorf("Create of content that fails after %d bytes: %v, want the content's error", before, err)
		}
		s.missing(t, name)
		if err := s.creator.Create(t.Context(), name, strings.NewReader("second try")); err != nil {
			t.Errorf("Create after a failed one: %v", err)
		}
		s.holds(t, name, "second try")
	}
}

func testCreateCancelled(t *testing.T, s *suite) {
	s.needsCreate(t)
	if s.IgnoresContext {
		t.Skip("Options.IgnoresContext")
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	name := s.path("cancelled")
	reads := 0
	content := readerFunc(func(p []byte) (int, error) {
		reads++
		switch reads {
		case 3:
			cancel()
		case 100:
			return 0, io.EOF
		}
		return copy(p, "some content"), nil
	})
	if err := s.creator.Create(ctx, name, content); err == nil {
		t.Error("Create succeeded though its context ended halfway")
	}
	s.missing(t, name)
}
