// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package backendtest

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"strings"
	"time"

	"github.com/cloudwego/eino/adk/filesystem"

	"github.com/einolean/einolean/internal/backend"
	"github.com/einolean/einolean/store"
)

// anyStore is a store whose CreateFirstFree is create.
type anyStore struct {
	*backend.Memory
	create func(m *backend.Memory, ctx context.Context, names func(int) string, content io.Reader) (string, error)
}

func (a anyStore) CreateFirstFree(ctx context.Context, names func(int) string, content io.Reader) (string, error) {
	return a.create(a.Memory, ctx, names, content)
}

func anyBy(create func(m *backend.Memory, ctx context.Context, names func(int) string, content io.Reader) (string, error)) func() store.Backend {
	return func() store.Backend { return anyStore{backend.NewMemory(0), create} }
}

func has(m *backend.Memory, ctx context.Context, filePath string) bool {
	_, err := m.Read(ctx, &filesystem.ReadRequest{FilePath: filePath})
	return err == nil
}

// firstFree is the first name that no file has, or an error.
func firstFree(m *backend.Memory, ctx context.Context, names func(int) string) (string, error) {
	for attempt := 0; ; attempt++ {
		name := names(attempt)
		switch {
		case name == "":
			return "", fs.ErrExist
		case !has(m, ctx, name):
			return name, nil
		}
	}
}

const (
	lawFirstFree = "streamed content is stored under the first free name"
	lawMeanwhile = "a name that is taken while content arrives is skipped"
	lawAnyRace   = "concurrent calls with the same names each keep their content"
	lawNoName    = "nothing is stored if no name is free"
	lawAnyFails  = "content that fails to read leaves nothing under any name"
	lawAnyEnds   = "a context that ends midway leaves nothing under any name"
	lawRefused   = "an invalid name is an error, and no later name is tried"
)

// brokenAnyStores each break another promise of CreateFirstFree.
var brokenAnyStores = map[string]broken{
	"CreateFirstFree writes over a name that is taken meanwhile": {anyBy(func(m *backend.Memory, ctx context.Context, names func(int) string, content io.Reader) (string, error) {
		name, err := firstFree(m, ctx, names)
		if err != nil {
			return "", err
		}
		all, err := io.ReadAll(content)
		if err == nil {
			err = ctx.Err()
		}
		if err == nil {
			err = m.Write(ctx, &filesystem.WriteRequest{FilePath: name, Content: string(all)})
		}
		return nameUnless(err, name), err
	}), []string{lawMeanwhile, lawAnyRace, lawNoName, lawRefused}},
	"CreateFirstFree gives up when a name is taken meanwhile": {anyBy(func(m *backend.Memory, ctx context.Context, names func(int) string, content io.Reader) (string, error) {
		name, err := firstFree(m, ctx, names)
		if err == nil {
			err = m.Create(ctx, name, content)
		}
		return nameUnless(err, name), err
	}), []string{lawMeanwhile, lawAnyRace}},
	"CreateFirstFree streams again into the next name": {anyBy(func(m *backend.Memory, ctx context.Context, names func(int) string, content io.Reader) (string, error) {
		for attempt := 0; ; attempt++ {
			name := names(attempt)
			if name == "" {
				return "", fs.ErrExist
			}
			if err := m.Create(ctx, name, content); !errors.Is(err, fs.ErrExist) {
				return nameUnless(err, name), err
			}
		}
	}), []string{lawMeanwhile, lawAnyRace}},
	"CreateFirstFree names another file than it wrote": {anyBy(func(m *backend.Memory, ctx context.Context, names func(int) string, content io.Reader) (string, error) {
		name, err := m.CreateFirstFree(ctx, names, content)
		return strings.Replace(name, "-0", "-1", 1), err
	}), []string{lawFirstFree, lawAnyRace}},
	"CreateFirstFree leaves the first free name out": {anyBy(func(m *backend.Memory, ctx context.Context, names func(int) string, content io.Reader) (string, error) {
		return m.CreateFirstFree(ctx, func(attempt int) string { return names(attempt + 1) }, content)
	}), []string{lawFirstFree, lawMeanwhile, lawAnyRace, lawNoName, lawAnyFails, lawRefused}},
	"CreateFirstFree asks for every name first": {anyBy(func(m *backend.Memory, ctx context.Context, names func(int) string, content io.Reader) (string, error) {
		for attempt := 9; attempt > 0; attempt-- {
			names(attempt)
		}
		return m.CreateFirstFree(ctx, names, content)
	}), []string{lawFirstFree, lawMeanwhile, lawAnyRace, lawAnyFails}},
	"CreateFirstFree reads before it looks for a name": {anyBy(func(m *backend.Memory, ctx context.Context, names func(int) string, content io.Reader) (string, error) {
		all, err := io.ReadAll(content)
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return "", err
		}
		return m.CreateFirstFree(ctx, names, strings.NewReader(string(all)))
	}), []string{lawNoName}},
	"CreateFirstFree has an error of its own where no name is free": {anyBy(func(m *backend.Memory, ctx context.Context, names func(int) string, content io.Reader) (string, error) {
		name, err := m.CreateFirstFree(ctx, names, content)
		if errors.Is(err, fs.ErrExist) {
			err = errors.New("no name is free")
		}
		return name, err
	}), []string{lawNoName}},
	"CreateFirstFree keeps half a stream": {anyBy(func(m *backend.Memory, ctx context.Context, names func(int) string, content io.Reader) (string, error) {
		var failed error
		name, err := m.CreateFirstFree(context.WithoutCancel(ctx), names, readerFunc(func(p []byte) (n int, err error) {
			if n, failed = content.Read(p); failed != nil {
				return n, io.EOF
			}
			return n, nil
		}))
		if err == nil && !errors.Is(failed, io.EOF) {
			err = failed
		}
		return nameUnless(err, name), err
	}), []string{lawAnyFails, lawAnyEnds}},
	"CreateFirstFree names a file though it failed": {anyBy(func(m *backend.Memory, ctx context.Context, names func(int) string, content io.Reader) (string, error) {
		name, err := m.CreateFirstFree(ctx, names, content)
		if errors.Is(err, ErrInjected) {
			name = names(0)
		}
		return name, err
	}), []string{lawAnyFails}},
	"CreateFirstFree ignores the context": {anyBy(func(m *backend.Memory, ctx context.Context, names func(int) string, content io.Reader) (string, error) {
		return m.CreateFirstFree(context.WithoutCancel(ctx), names, content)
	}), []string{lawAnyEnds}},
	"CreateFirstFree passes over a name that is refused": {anyBy(func(m *backend.Memory, ctx context.Context, names func(int) string, content io.Reader) (string, error) {
		skipped := 0
		return m.CreateFirstFree(ctx, func(attempt int) string {
			name := names(attempt + skipped)
			if name == "/" {
				skipped++
				name = names(attempt + skipped)
			}
			return name
		}, content)
	}), []string{lawRefused}},
	"CreateFirstFree loses the end of a stream": {func() store.Backend {
		return anyStore{backend.NewMemory(0), func(m *backend.Memory, ctx context.Context, names func(int) string, content io.Reader) (string, error) {
			return NewFaulty(m, Every(Fault{Mode: Torn, After: 5}, OpCreate)).CreateFirstFree(ctx, names, content)
		}}
	}, []string{lawFirstFree, lawMeanwhile, lawAnyRace, lawNoName, lawAnyFails, lawAnyEnds}},
	"CreateFirstFree fails after it stored": {func() store.Backend {
		return anyStore{backend.NewMemory(0), func(m *backend.Memory, ctx context.Context, names func(int) string, content io.Reader) (string, error) {
			return NewFaulty(m, Every(Fault{Mode: Late}, OpCreate)).CreateFirstFree(ctx, names, content)
		}}
	}, []string{lawFirstFree, lawMeanwhile, lawAnyRace}},
	"CreateFirstFree fails": {func() store.Backend {
		return anyStore{backend.NewMemory(0), func(m *backend.Memory, ctx context.Context, names func(int) string, content io.Reader) (string, error) {
			return NewFaulty(m, Every(Fault{Mode: Fail}, OpCreate)).CreateFirstFree(ctx, names, content)
		}}
	}, []string{lawFirstFree, lawMeanwhile, lawAnyRace, lawNoName, lawRefused}},
	"CreateFirstFree stores a short stream and says so": {func() store.Backend {
		return anyStore{backend.NewMemory(0), func(m *backend.Memory, ctx context.Context, names func(int) string, content io.Reader) (string, error) {
			return NewFaulty(m, Every(Fault{Mode: Short, After: 5}, OpCreate)).CreateFirstFree(ctx, names, content)
		}}
	}, []string{lawFirstFree, lawMeanwhile, lawAnyRace, lawNoName, lawAnyFails, lawAnyEnds}},
}

func nameUnless(err error, name string) string {
	if err != nil {
		return ""
	}
	return name
}

// reading is a store whose ReadRange is read.
type reading struct {
	*backend.Memory
	read func(m *backend.Memory, ctx context.Context, filePath string, offset, length int64) (io.ReadCloser, int64, error)
}

func (r reading) ReadRange(ctx context.Context, filePath string, offset, length int64) (io.ReadCloser, int64, error) {
	return r.read(r.Memory, ctx, filePath, offset, length)
}

func readingBy(read func(m *backend.Memory, ctx context.Context, filePath string, offset, length int64) (io.ReadCloser, int64, error)) func() store.Backend {
	return func() store.Backend { return reading{backend.NewMemory(0), read} }
}

// lazy reads a file when it is asked for bytes, and again for every byte.
type lazy struct {
	io.Closer
	read func(at int64) (byte, error)
	at   int64
}

func (l *lazy) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	b, err := l.read(l.at)
	if err != nil {
		return 0, err
	}
	p[0] = b
	l.at++
	return 1, nil
}

// badCloser cannot be closed before its end.
type badCloser struct {
	io.Reader
	done bool
}

func (b *badCloser) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	b.done = b.done || err != nil
	return n, err
}

func (b *badCloser) Close() error {
	if !b.done {
		return errors.New("closed too early")
	}
	return nil
}

// brokenReaders break promises of reading and of deleting.
var brokenReaders = map[string]broken{
	"names a size that is not the file's": {readingBy(func(m *backend.Memory, ctx context.Context, filePath string, offset, length int64) (io.ReadCloser, int64, error) {
		content, size, err := m.ReadRange(ctx, filePath, offset, length)
		if length >= 0 {
			size = min(size, length)
		}
		return content, size, err
	}), []string{"reading a range returns exactly those bytes"}},
	"reads from the start where the offset is negative": {readingBy(func(m *backend.Memory, ctx context.Context, filePath string, offset, length int64) (io.ReadCloser, int64, error) {
		return m.ReadRange(ctx, filePath, max(offset, 0), length)
	}), []string{"a negative byte offset is an error"}},
	"cannot be closed early": {readingBy(func(m *backend.Memory, ctx context.Context, filePath string, offset, length int64) (io.ReadCloser, int64, error) {
		content, size, err := m.ReadRange(ctx, filePath, offset, length)
		return &badCloser{Reader: content}, size, err
	}), []string{"a range may be closed before its end"}},
	"reads on in a file that is written again": {readingBy(func(m *backend.Memory, ctx context.Context, filePath string, offset, length int64) (io.ReadCloser, int64, error) {
		content, size, err := m.ReadRange(ctx, filePath, offset, length)
		if err != nil || !strings.HasSuffix(filePath, "snapshot") { // many small reads are slow
			return content, size, err
		}
		return &lazy{Closer: content, read: func(at int64) (byte, error) {
			got, err := m.Read(context.WithoutCancel(ctx), &filesystem.ReadRequest{FilePath: filePath})
			if err == nil && offset+at >= int64(len(got.Content)) {
				err = io.EOF
			}
			if err != nil {
				return 0, err
			}
			return got.Content[offset+at], nil
		}}, size, nil
	}), []string{"an open range still reads the old file after it was replaced"}},
	"gives another file's content": {func() store.Backend { return lastWritten{backend.NewMemory(0), new(string)} }, []string{
		"files do not affect each other"}},
	"deletes nothing and says that it did": {faulty(Fault{Mode: Torn}, OpDelete), []string{
		"a directory that holds nothing is told from one that was cleaned", "older files are deleted, below the directory only", "a deleted name can be written again", "files and bytes are counted, and marking files as used adds nothing",
		"cleaning with an ended context deletes nothing"}},
	"cannot delete": {faulty(Fault{Mode: Fail}, OpDelete), []string{
		"a directory that holds nothing is told from one that was cleaned", "newer files stay", "older files are deleted, below the directory only", "a deleted name can be written again", "files and bytes are counted, and marking files as used adds nothing"}},
	"deletes and reports an error": {faulty(Fault{Mode: Late}, OpDelete), []string{
		"a directory that holds nothing is told from one that was cleaned", "newer files stay", "older files are deleted, below the directory only", "a deleted name can be written again", "files and bytes are counted, and marking files as used adds nothing"}},
	"deletes with an ended context": {func() store.Backend { return eager{backend.NewMemory(0)} }, []string{
		"cleaning with an ended context deletes nothing"}},
}

// lastWritten gives the content that was written last under every name.
type lastWritten struct {
	*backend.Memory
	last *string
}

func (l lastWritten) Write(ctx context.Context, req *filesystem.WriteRequest) error {
	err := l.Memory.Write(ctx, req)
	if err == nil && strings.Contains(req.FilePath, "call") {
		*l.last = req.Content
	}
	return err
}

func (l lastWritten) ReadRange(ctx context.Context, filePath string, offset, length int64) (io.ReadCloser, int64, error) {
	content, size, err := l.Memory.ReadRange(ctx, filePath, offset, length)
	if err != nil || !strings.Contains(filePath, "call") {
		return content, size, err
	}
	return io.NopCloser(strings.NewReader(*l.last)), int64(len(*l.last)), nil
}

type eager struct{ *backend.Memory }

func (e eager) DeleteUnused(ctx context.Context, dir string, t time.Time) (int, int64, error) {
	return e.Memory.DeleteUnused(context.WithoutCancel(ctx), dir, t)
}
