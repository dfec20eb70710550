// Copyright leanctx authors
// SPDX-License-Identifier: Apache-2.0

package backendtest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
)

var anyCases = []testCase{
	{"streamed content is stored under the first free name", testAnyFirstFree},
	{"a name that is taken while content arrives is skipped", testAnyTakenMeanwhile},
	{"concurrent calls with the same names each keep their content", testAnyRace},
	{"nothing is stored if no name is free", testAnyNoName},
	{"content that fails to read leaves nothing under any name", testAnyFails},
	{"a context that ends midway leaves nothing under any name", testAnyCancelled},
	{"an invalid name is an error, and no later name is tried", testAnyRefused},
}

// largeStream is more content than the stores of this module hold at once.
const largeStream = 6 << 20

func (s *suite) needsCreateAny(t *testing.T) {
	t.Helper()
	if s.any == nil {
		t.Skip("the store has no CreateAny")
	}
}

// numbered returns the first limit names of a list, and the ones asked for so far.
func (s *suite) numbered(base string, limit int) (names func(int) string, asked *[]int) {
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
			t.Errorf("CreateAny asked for the names %v, want each once and in order", asked)
			return
		}
	}
}

func testAnyFirstFree(t *testing.T, s *suite) {
	s.needsCreateAny(t)
	for way, reader := range readersOf("some content\nof two lines") {
		base := "any/" + way
		for want := range 3 {
			names, asked := s.numbered(base, 5)
			content, expected := reader, "some content\nof two lines"
			if want > 0 {
				expected = fmt.Sprint("content ", want)
				content = strings.NewReader(expected)
			}
			got, err := s.any.CreateAny(t.Context(), names, content)
			if name := s.path(fmt.Sprintf("%s-%d", base, want)); err != nil || got != name {
				t.Fatalf("CreateAny (%s) = %q, %v, want %q", way, got, err, name)
			}
			s.holds(t, got, expected)
			inOrder(t, *asked)
		}
	}
}

// testAnyTakenMeanwhile takes the first two names while content arrives, one by
// Write and one by Create.
func testAnyTakenMeanwhile(t *testing.T, s *suite) {
	s.needsCreateAny(t)
	for _, size := range []int{0, 1, 200_000, largeStream} {
		content := strings.Repeat("0123456789abcde\n", size/16+1)[:size]
		if !s.fits(content) {
			continue
		}
		base := fmt.Sprint("meanwhile/", size)
		names, asked := s.numbered(base, 5)
		take := sync.OnceFunc(func() {
			s.write(t, s.path(base+"-0"), "taken by Write")
			if s.creator == nil {
				s.write(t, s.path(base+"-1"), "taken by Create")
			} else if err := s.creator.Create(t.Context(), s.path(base+"-1"), strings.NewReader("taken by Create")); err != nil {
				t.Error(err)
			}
		})
		rest := strings.NewReader(content)
		got, err := s.any.CreateAny(t.Context(), names, readerFunc(func(p []byte) (int, error) {
			if rest.Len() <= size/2 {
				take()
			}
			return rest.Read(p)
		}))
		if want := s.path(base + "-2"); err != nil || got != want {
			t.Errorf("CreateAny of %d bytes = %q, %v, want %q", size, got, err, want)
			continue
		}
		s.holds(t, got, content)
		s.holds(t, s.path(base+"-0"), "taken by Write")
		s.holds(t, s.path(base+"-1"), "taken by Create")
		inOrder(t, *asked)
	}
}

func testAnyRace(t *testing.T, s *suite) {
	s.needsCreateAny(t)
	const writers = 8
	got := make([]string, writers)
	var ready, done sync.WaitGroup
	ready.Add(writers)
	for i := range writers {
		done.Go(func() {
			begun := sync.OnceFunc(func() { ready.Done(); ready.Wait() })
			defer begun()
			content := strings.NewReader(raceContent(i))
			names, asked := s.numbered("any-race/one", 2*writers)
			var err error
			got[i], err = s.any.CreateAny(t.Context(), names, readerFunc(func(p []byte) (int, error) {
				begun()
				return content.Read(p)
			}))
			if err != nil {
				t.Errorf("CreateAny of %d: %v", i, err)
			}
			inOrder(t, *asked)
		})
	}
	done.Wait()
	owner := make(map[string]int)
	for i, name := range got {
		if other, twice := owner[name]; twice {
			t.Errorf("CreateAny stored %d and %d under %q", other, i, name)
		}
		owner[name] = i
		s.holds(t, name, raceContent(i))
	}
}

func testAnyNoName(t *testing.T, s *suite) {
	s.needsCreateAny(t)
	s.write(t, s.path("none/x-0"), "first")
	for _, limit := range []int{0, 1} {
		names, _ := s.numbered("none/x", limit)
		content := &countingReader{Reader: strings.NewReader("second")}
		if got, err := s.any.CreateAny(t.Context(), names, content); !errors.Is(err, fs.ErrExist) {
			t.Errorf("CreateAny with %d names, all taken = %q, %v, want fs.ErrExist", limit, got, err)
		}
		if content.calls > 0 {
			t.Error("CreateAny read from the content though every name was taken")
		}
	}
	// The last name is taken while the content arrives.
	names, _ := s.numbered("late/x", 1)
	rest := strings.NewReader("second")
	_, err := s.any.CreateAny(t.Context(), names, readerFunc(func(p []byte) (int, error) {
		n, err := rest.Read(p)
		if err != nil {
			s.write(t, s.path("late/x-0"), "first")
		}
		return n, err
	}))
	if !errors.Is(err, fs.ErrExist) {
		t.Errorf("CreateAny whose only name was taken meanwhile: %v, want fs.ErrExist", err)
	}
	s.holds(t, s.path("none/x-0"), "first")
	s.holds(t, s.path("late/x-0"), "first")
}

func testAnyFails(t *testing.T, s *suite) {
	s.needsCreateAny(t)
	for _, before := range []int{0, 1, 200_000} {
		names, asked := s.numbered(fmt.Sprint("any-fails/", before), 3)
		broken := io.MultiReader(strings.NewReader(strings.Repeat("x", before)), iotest.ErrReader(ErrInjected))
		if got, err := s.any.CreateAny(t.Context(), names, broken); !errors.Is(err, ErrInjected) || got != "" {
			t.Errorf("CreateAny of content that fails after %d bytes = %q, %v, want the content's error", before, got, err)
		}
		inOrder(t, *asked)
		for attempt := range 3 {
			s.missing(t, s.path(fmt.Sprintf("any-fails/%d-%d", before, attempt)))
		}
	}
}

func testAnyCancelled(t *testing.T, s *suite) {
	s.needsCreateAny(t)
	if s.IgnoresContext {
		t.Skip("Options.IgnoresContext")
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	names, _ := s.numbered("any-cancelled", 3)
	reads := 0
	_, err := s.any.CreateAny(ctx, names, readerFunc(func(p []byte) (int, error) {
		reads++
		switch reads {
		case 3:
			cancel()
		case 100:
			return 0, io.EOF
		}
		return copy(p, "some content"), nil
	}))
	if err == nil {
		t.Error("CreateAny succeeded though its context ended halfway")
	}
	for attempt := range 3 {
		s.missing(t, s.path(fmt.Sprintf("any-cancelled-%d", attempt)))
	}
}

// testAnyRefused has a name that names nothing, before the content and after it: the
// error is told, and no other name is taken in its place.
func testAnyRefused(t *testing.T, s *suite) {
	s.needsCreateAny(t)
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
		got, err := s.any.CreateAny(t.Context(), names, readerFunc(func(p []byte) (int, error) {
			late()
			return rest.Read(p)
		}))
		if err == nil || got != "" {
			t.Errorf("CreateAny whose name %d is \"/\" = %q, %v, want an error", bad, got, err)
		}
		for attempt := range bad {
			s.holds(t, s.path(fmt.Sprintf("%s-%d", base, attempt)), "taken")
		}
		s.missing(t, s.path(fmt.Sprintf("%s-%d", base, bad+1)))
	}
}
