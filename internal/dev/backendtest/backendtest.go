// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

// Package backendtest checks that a store keeps the contract of package backend. It
// also has a store that breaks on demand, to test code that uses stores.
//
// [Run] finds out which capabilities a store has and tests those: a store that can only
// write is tested for writing. [Options] says what a store cannot promise, so that
// its test documents it.
package backendtest

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"path"
	"testing"
	"time"

	"github.com/cloudwego/eino/adk/filesystem"

	"github.com/einolean/einolean/internal/backend"
	"github.com/einolean/einolean/store"
)

// Options say what a store does not promise, and where the suite writes. The zero
// value asks for the whole contract.
type Options struct {
	// Prefix is the directory inside the store below which everything is written,
	// except by the test of hostile names. If empty, defaults to "/backendtest".
	Prefix string
	// MaxBytes is the largest content that the store takes, at least 1 MiB; larger
	// content is not tried. If zero, it takes everything that the suite writes (8 MiB).
	MaxBytes int
	// AnyMissingError: reading a missing file is an error, but need not be
	// fs.ErrNotExist.
	AnyMissingError bool
	// IgnoresContext: a call may succeed though its context has ended.
	IgnoresContext bool
	// LiteralPaths: "/a/b" and "a/b" need not be the same file.
	LiteralPaths bool
	// ReadBack reads content back for a store that has neither Read nor
	// ReadRange. If nil, the content of such a store is not checked.
	ReadBack func(ctx context.Context, files store.Backend, filePath string) (string, error)
	// Age sets the last use of a file back by a duration. If nil, it is not tested which
	// files DeleteUnused keeps because they were used.
	Age func(t *testing.T, files store.Backend, filePath string, by time.Duration)
	// Outside fails the test if something changed outside of the store. It is called
	// after hostile names were tried. If nil, this is not checked.
	Outside func(t *testing.T)
}

// Backend is what Run tests: a name for packages that must not import package store.
type Backend = store.Backend

// Run tests a store. Every subtest calls open at least once; open returns a store
// that holds nothing below Options.Prefix, and releases it with t.Cleanup.
func Run(t *testing.T, open func(t *testing.T) store.Backend, opts Options) {
	t.Helper()
	if opts.Prefix == "" {
		opts.Prefix = "/backendtest"
	}
	for _, cases := range [][]testCase{contentCases, windowCases, createCases, anyCases, nameCases, sharedCases, cleanCases} {
		for _, c := range cases {
			t.Run(c.name, func(t *testing.T) {
				s := newSuite(open(t), opts)
				for _, n := range c.requirements {
					if !n.isMet(s) {
						t.Skip("this needs " + n.name)
					}
				}
				c.run(t, s)
			})
		}
	}
}

// testCase is one law of the contract.
type testCase struct {
	name         string
	run          func(t *testing.T, s *suite)
	requirements []requirement
}

// requirement is what a store must be able to do for a law to speak of it.
type requirement struct {
	name  string
	isMet func(s *suite) bool
}

var (
	lines           = requirement{"Read", func(s *suite) bool { return s.reader != nil }}
	ranges          = requirement{"ReadRange", func(s *suite) bool { return s.ranger != nil }}
	create          = requirement{"Create", func(s *suite) bool { return s.creator != nil }}
	createFirstFree = requirement{"CreateFirstFree", func(s *suite) bool { return s.firstFreeCreator != nil }}
	cleaner         = requirement{"DeleteUnused", func(s *suite) bool { return s.cleaner != nil }}
	readable        = requirement{"Read, ReadRange or Options.ReadBack", func(s *suite) bool { return len(s.readers()) > 0 }}
	canAge          = requirement{"Options.Age", func(s *suite) bool { return s.Age != nil }}
	contexts        = requirement{"that Options.IgnoresContext is unset", func(s *suite) bool { return !s.IgnoresContext }}
	cleansPaths     = requirement{"that Options.LiteralPaths is unset", func(s *suite) bool { return !s.LiteralPaths }}
)

// suite is one store under test. A capability that the store lacks is nil.
type suite struct {
	Options
	store            store.Backend
	reader           store.Reader
	ranger           store.RangeReader
	creator          store.Creator
	firstFreeCreator backend.FirstFreeCreator
	cleaner          store.Cleaner
}

func newSuite(files store.Backend, opts Options) *suite {
	s := &suite{Options: opts, store: files}
	s.reader, _ = store.As[store.Reader](files)
	s.ranger, _ = store.As[store.RangeReader](files)
	s.creator, _ = store.As[store.Creator](files)
	s.firstFreeCreator, _ = store.As[backend.FirstFreeCreator](files)
	s.cleaner, _ = store.As[store.Cleaner](files)
	return s
}

func (s *suite) path(name string) string { return path.Join(s.Prefix, name) }

func (s *suite) isWithinLimit(content string) bool {
	return s.MaxBytes <= 0 || len(content) <= s.MaxBytes
}

func (s *suite) write(t *testing.T, filePath, content string) {
	t.Helper()
	if err := s.tryWrite(t.Context(), filePath, content); err != nil {
		t.Fatalf("Write(%q): %v", filePath, err)
	}
}

func (s *suite) tryWrite(ctx context.Context, filePath, content string) error {
	return s.store.Write(ctx, &filesystem.WriteRequest{FilePath: filePath, Content: content})
}

// readers are all the ways to read a whole file of the store.
func (s *suite) readers() map[string]func(ctx context.Context, filePath string) (string, error) {
	ways := make(map[string]func(context.Context, string) (string, error))
	if s.reader != nil {
		ways["Read"] = func(ctx context.Context, filePath string) (string, error) {
			return s.lines(ctx, filePath, 0, 0)
		}
	}
	if s.ranger != nil {
		ways["ReadRange"] = func(ctx context.Context, filePath string) (string, error) {
			content, _, err := s.bytes(ctx, filePath, 0, -1)
			return content, err
		}
	}
	if s.ReadBack != nil {
		ways["ReadBack"] = func(ctx context.Context, filePath string) (string, error) {
			return s.ReadBack(ctx, s.store, filePath)
		}
	}
	return ways
}

func (s *suite) lines(ctx context.Context, filePath string, offset, limit int) (string, error) {
	got, err := s.reader.Read(ctx, &filesystem.ReadRequest{FilePath: filePath, Offset: offset, Limit: limit})
	if err != nil {
		return "", err
	}
	if got == nil {
		return "", errors.New("Read returned neither content nor an error")
	}
	return got.Content, nil
}

func (s *suite) bytes(ctx context.Context, filePath string, offset, length int64) (string, int64, error) {
	content, size, err := s.ranger.ReadRange(ctx, filePath, offset, length)
	if err != nil {
		return "", 0, err
	}
	got, err := io.ReadAll(content)
	return string(got), size, errors.Join(err, content.Close())
}

// requireContent checks that every way of reading a file returns this content.
func (s *suite) requireContent(t *testing.T, filePath, want string) {
	t.Helper()
	for way, read := range s.readers() {
		got, err := read(t.Context(), filePath)
		if err != nil {
			t.Errorf("%s(%q): %v", way, filePath, err)
		} else if got != want {
			t.Errorf("%s(%q) is not what was stored: %s", way, filePath, difference(got, want))
		}
	}
}

// requireMissing checks that there is no such file.
func (s *suite) requireMissing(t *testing.T, filePath string) {
	t.Helper()
	for way, read := range s.readers() {
		got, err := read(t.Context(), filePath)
		switch {
		case err == nil:
			t.Errorf("%s(%q) = %d bytes, want an error: there must be no such file", way, filePath, len(got))
		case !s.AnyMissingError && way != "ReadBack" && !errors.Is(err, fs.ErrNotExist):
			t.Errorf("%s(%q): errors.Is(%q, fs.ErrNotExist) is false", way, filePath, err)
		}
	}
}
