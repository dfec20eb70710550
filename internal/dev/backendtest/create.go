// Copyright einolean authors
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
	{"streamed content comes back byte for byte", testCreate, []requirement{create}},
	{"a taken name is refused before the content is read", testCreateTaken, []requirement{create}},
	{"of concurrent calls for one name exactly one succeeds", testCreateRace, []requirement{create}},
	{"content that fails to read leaves nothing behind", testCreateFails, []requirement{create}},
	{"a context that ends midway leaves nothing behind", testCreateCancelled, []requirement{create, contexts}},
}

func testCreate(t *testing.T, s *suite) {
	contents := Contents()
	for i, kind := range slices.Sorted(maps.Keys(contents)) {
		content := contents[kind]
		if !s.isWithinLimit(content) {
			continue
		}
		for way, reader := range readersOf(content) {
			name := s.path(fmt.Sprintf("create/%d/%s", i, way))
			if err := s.creator.Create(t.Context(), name, reader); err != nil {
				t.Errorf("Create of %s (%s): %v", kind, way, err)
				continue
			}
			s.requireContent(t, name, content)
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
		s.requireContent(t, name, "first")
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
	name := s.path("race/one")
	results := make([]error, racers)
	atOnce(func(i int, content io.Reader) { results[i] = s.creator.Create(t.Context(), name, content) })
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
	s.requireContent(t, name, raceContent(winner))
}

const racers = 8

// atOnce calls create for several contents. None of them gets further than the first byte
// before all have begun.
func atOnce(create func(i int, content io.Reader)) {
	var ready, done sync.WaitGroup
	ready.Add(racers)
	for i := range racers {
		done.Go(func() {
			begun := sync.OnceFunc(func() { ready.Done(); ready.Wait() })
			defer begun()
			content := strings.NewReader(raceContent(i))
			create(i, readerFunc(func(p []byte) (int, error) {
				begun()
				return content.Read(p)
			}))
		})
	}
	done.Wait()
}

func raceContent(i int) string { return strings.Repeat(fmt.Sprint("content ", i, "\n"), 1000) }

type readerFunc func(p []byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

func testCreateFails(t *testing.T, s *suite) {
	for _, before := range []int{0, 1, 200_000} {
		name := s.path(fmt.Sprint("fails/", before))
		if err := s.creator.Create(t.Context(), name, failingReader(before)); !errors.Is(err, ErrInjected) {
			t.Errorf("Create of content that fails after %d bytes: %v, want the content's error", before, err)
		}
		s.requireMissing(t, name)
		if err := s.creator.Create(t.Context(), name, strings.NewReader("second try")); err != nil {
			t.Errorf("Create after a failed one: %v", err)
		}
		s.requireContent(t, name, "second try")
	}
}

// failingReader is content that ends in an error after some bytes.
func failingReader(before int) io.Reader {
	return io.MultiReader(strings.NewReader(strings.Repeat("x", before)), iotest.ErrReader(ErrInjected))
}

// cancelMidway is a context, and content in the middle of which it ends.
func cancelMidway(t *testing.T) (context.Context, io.Reader) {
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	reads := 0
	return ctx, readerFunc(func(p []byte) (int, error) {
		reads++
		switch reads {
		case 3:
			cancel()
		case 100:
			return 0, io.EOF
		}
		return copy(p, "some content"), nil
	})
}

func testCreateCancelled(t *testing.T, s *suite) {
	name := s.path("cancelled")
	ctx, content := cancelMidway(t)
	if err := s.creator.Create(ctx, name, content); err == nil {
		t.Error("Create succeeded though its context ended halfway")
	}
	s.requireMissing(t, name)
}

var anyCases = []testCase{
	{"streamed content is stored under the first free name", testAnyFirstFree, []requirement{createFirstFree}},
	{"a name that is taken while content arrives is skipped", testAnyTakenMeanwhile, []requirement{createFirstFree}},
	{"concurrent calls with the same names each keep their content", testAnyRace, []requirement{createFirstFree}},
	{"nothing is stored if no name is free", testAnyNoName, []requirement{createFirstFree}},
	{"content that fails to read leaves nothing under any name", testAnyFails, []requirement{createFirstFree}},
	{"a context that ends midway leaves nothing under any name", testAnyCancelled, []requirement{createFirstFree, contexts}},
	{"an invalid name is an error, and no later name is tried", testAnyRefused, []requirement{createFirstFree}},
}

// largeStream is more content than the stores of this module hold at once.
const largeStream = 6 << 20

// firstNames returns the first limit names of a list, and the ones asked for so far.
func firstNames(s *suite, base string, limit int) (names func(int) string, asked *[]int) {
	asked = new([]int)
	return func(attempt int) string {
		*asked = append(*asked, attempt)
		if attempt >= limit {
			return ""
		}
		return s.path(fmt.Sprintf("%s-%d", base, attempt))
	}, asked
}

// inOrder checks that names were asked for one after another, and none twice.
func inOrder(t *testing.T, asked []int) {
	t.Helper()
	for i, attempt := range asked {
		if attempt != i {
			t.Errorf("CreateFirstFree asked for the names %v, want each once and in order", asked)
			return
		}
	}
}

func testAnyFirstFree(t *testing.T, s *suite) {
	for way, reader := range readersOf("some content\nof two lines") {
		base := "any/" + way
		for want := range 3 {
			names, asked := firstNames(s, base, 5)
			content, expected := reader, "some content\nof two lines"
			if want > 0 {
				expected = fmt.Sprint("content ", want)
				content = strings.NewReader(expected)
			}
			got, err := s.firstFreeCreator.CreateFirstFree(t.Context(), names, content)
			if name := s.path(fmt.Sprintf("%s-%d", base, want)); err != nil || got != name {
				t.Fatalf("CreateFirstFree (%s) = %q, %v, want %q", way, got, err, name)
			}
			s.requireContent(t, got, expected)
			inOrder(t, *asked)
		}
	}
}

// testAnyTakenMeanwhile takes the first two names while content arrives, one by
// Write and one by Create.
func testAnyTakenMeanwhile(t *testing.T, s *suite) {
	for _, size := range []int{0, 1, 200_000, largeStream} {
		content := strings.Repeat("0123456789abcde\n", size/16+1)[:size]
		if !s.isWithinLimit(content) {
			continue
		}
		base := fmt.Sprint("meanwhile/", size)
		names, asked := firstNames(s, base, 5)
		take := sync.OnceFunc(func() {
			s.write(t, s.path(base+"-0"), "taken by Write")
			if s.creator == nil {
				s.write(t, s.path(base+"-1"), "taken by Create")
			} else if err := s.creator.Create(t.Context(), s.path(base+"-1"), strings.NewReader("taken by Create")); err != nil {
				t.Error(err)
			}
		})
		rest := strings.NewReader(content)
		got, err := s.firstFreeCreator.CreateFirstFree(t.Context(), names, readerFunc(func(p []byte) (int, error) {
			if rest.Len() <= size/2 {
				take()
			}
			return rest.Read(p)
		}))
		if want := s.path(base + "-2"); err != nil || got != want {
			t.Errorf("CreateFirstFree of %d bytes = %q, %v, want %q", size, got, err, want)
			continue
		}
		s.requireContent(t, got, content)
		s.requireContent(t, s.path(base+"-0"), "taken by Write")
		s.requireContent(t, s.path(base+"-1"), "taken by Create")
		inOrder(t, *asked)
	}
}

func testAnyRace(t *testing.T, s *suite) {
	got := make([]string, racers)
	atOnce(func(i int, content io.Reader) {
		names, asked := firstNames(s, "any-race/one", 2*racers)
		var err error
		if got[i], err = s.firstFreeCreator.CreateFirstFree(t.Context(), names, content); err != nil {
			t.Errorf("CreateFirstFree of %d: %v", i, err)
		}
		inOrder(t, *asked)
	})
	owner := make(map[string]int)
	for i, name := range got {
		if other, twice := owner[name]; twice {
			t.Errorf("CreateFirstFree stored %d and %d under %q", other, i, name)
		}
		owner[name] = i
		s.requireContent(t, name, raceContent(i))
	}
}

func testAnyNoName(t *testing.T, s *suite) {
	s.write(t, s.path("none/x-0"), "first")
	for _, limit := range []int{0, 1} {
		names, _ := firstNames(s, "none/x", limit)
		content := &countingReader{Reader: strings.NewReader("second")}
		if got, err := s.firstFreeCreator.CreateFirstFree(t.Context(), names, content); !errors.Is(err, fs.ErrExist) {
			t.Errorf("CreateFirstFree with %d names, all taken = %q, %v, want fs.ErrExist", limit, got, err)
		}
		if content.calls > 0 {
			t.Error("CreateFirstFree read from the content though every name was taken")
		}
	}
	// The last name is taken while the content arrives.
	names, _ := firstNames(s, "late/x", 1)
	rest := strings.NewReader("second")
	_, err := s.firstFreeCreator.CreateFirstFree(t.Context(), names, readerFunc(func(p []byte) (int, error) {
		n, err := rest.Read(p)
		if err != nil {
			s.write(t, s.path("late/x-0"), "first")
		}
		return n, err
	}))
	if !errors.Is(err, fs.ErrExist) {
		t.Errorf("CreateFirstFree whose only name was taken meanwhile: %v, want fs.ErrExist", err)
	}
	s.requireContent(t, s.path("none/x-0"), "first")
	s.requireContent(t, s.path("late/x-0"), "first")
}

func testAnyFails(t *testing.T, s *suite) {
	for _, before := range []int{0, 1, 200_000} {
		names, asked := firstNames(s, fmt.Sprint("any-fails/", before), 3)
		got, err := s.firstFreeCreator.CreateFirstFree(t.Context(), names, failingReader(before))
		if !errors.Is(err, ErrInjected) || got != "" {
			t.Errorf("CreateFirstFree of content that fails after %d bytes = %q, %v, want the content's error", before, got, err)
		}
		inOrder(t, *asked)
		for attempt := range 3 {
			s.requireMissing(t, s.path(fmt.Sprintf("any-fails/%d-%d", before, attempt)))
		}
	}
}

func testAnyCancelled(t *testing.T, s *suite) {
	names, _ := firstNames(s, "any-cancelled", 3)
	ctx, content := cancelMidway(t)
	if _, err := s.firstFreeCreator.CreateFirstFree(ctx, names, content); err == nil {
		t.Error("CreateFirstFree succeeded though its context ended halfway")
	}
	for attempt := range 3 {
		s.requireMissing(t, s.path(fmt.Sprintf("any-cancelled-%d", attempt)))
	}
}

// testAnyRefused has a name that names nothing, before the content and after it: the
// error is told, and no other name is taken in its place.
func testAnyRefused(t *testing.T, s *suite) {
	for i, c := range []struct {
		taken     int // names that are taken at first
		meanwhile int // names that are taken while the content arrives
	}{{0, 0}, {2, 0}, {0, 1}, {1, 2}} {
		base := fmt.Sprintf("any-refused/%d", i)
		take := func(from, n int) {
			for attempt := from; attempt < from+n; attempt++ {
				s.write(t, s.path(fmt.Sprintf("%s-%d", base, attempt)), "taken")
			}
		}
		take(0, c.taken)
		late := sync.OnceFunc(func() { take(c.taken, c.meanwhile) })
		bad := c.taken + c.meanwhile
		names := func(attempt int) string {
			if attempt == bad {
				return "/"
			}
			return s.path(fmt.Sprintf("%s-%d", base, attempt))
		}
		rest := strings.NewReader("content")
		got, err := s.firstFreeCreator.CreateFirstFree(t.Context(), names, readerFunc(func(p []byte) (int, error) {
			late()
			return rest.Read(p)
		}))
		if err == nil || got != "" {
			t.Errorf("CreateFirstFree whose name %d is \"/\" = %q, %v, want an error", bad, got, err)
		}
		for attempt := range bad {
			s.requireContent(t, s.path(fmt.Sprintf("%s-%d", base, attempt)), "taken")
		}
		s.requireMissing(t, s.path(fmt.Sprintf("%s-%d", base, bad+1)))
	}
}
