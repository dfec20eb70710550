// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package backend

import (
	"container/list"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"sync"
	"time"

	"github.com/cloudwego/eino/adk/filesystem"
)

// DefaultMemoryBytes is the bound of a [Memory] for which none is given: 256 MiB.
const DefaultMemoryBytes = 256 << 20

// fileOverhead is what a file counts in addition to its name and content, so that the number of empty files is
// bounded too.
const fileOverhead = 128

// Memory keeps content in memory, up to a number of bytes. It has all capabilities of a
// store.Backend, must be made with [NewMemory], and is safe for concurrent use.
// store.Memory says what it promises.
type Memory struct {
	max int64
	now func() time.Time

	mu    sync.Mutex
	used  int64
	files map[string]*list.Element // of *file
	order list.List                // oldest write first
}

// file never changes once it is in a Memory, except for the time of its last use.
type file struct {
	name, content string
	lastUsed      time.Time
}

func (f *file) size() int64 { return int64(len(f.name)+len(f.content)) + fileOverhead }

// NewMemory returns an empty store bounded to maxBytes; zero or less means [DefaultMemoryBytes].
func NewMemory(maxBytes int64) *Memory {
	if maxBytes <= 0 {
		maxBytes = DefaultMemoryBytes
	}
	return &Memory{max: maxBytes, now: time.Now, files: make(map[string]*list.Element)}
}

// Write implements store.Backend. The content is kept without a copy.
func (m *Memory) Write(ctx context.Context, req *filesystem.WriteRequest) (err error) {
	defer describe(&err, "writing", req.FilePath)
	name, err := m.name(ctx, req.FilePath)
	if err != nil {
		return err
	}
	return m.store(&file{name: name, content: req.Content}, true)
}

// Create implements store.Creator.
func (m *Memory) Create(ctx context.Context, filePath string, content io.Reader) (err error) {
	defer describe(&err, "creating", filePath)
	name, err := m.checkFree(ctx, filePath)
	if err != nil {
		return err
	}
	text, err := m.collect(ctx, content)
	if err != nil {
		return err
	}
	return m.store(&file{name: name, content: text}, false)
}

// CreateFirstFree implements backend.FirstFreeCreator.
func (m *Memory) CreateFirstFree(ctx context.Context, names func(attempt int) string, content io.Reader) (string, error) {
	n := nameSequence{names: names}
	err := m.createFirstFree(ctx, &n, content)
	describe(&err, "creating", n.filePath)
	return n.result(err)
}

func (m *Memory) createFirstFree(ctx context.Context, n *nameSequence, content io.Reader) error {
	err := n.firstFree(func(filePath string) error {
		_, err := m.checkFree(ctx, filePath)
		return err
	})
	if err != nil {
		return err
	}
	text, err := m.collect(ctx, content)
	if err != nil {
		return err
	}
	store := func(filePath string) error {
		name, err := Name(filePath)
		if err != nil {
			return err
		}
		return m.store(&file{name: name, content: text}, false)
	}
	if err := store(n.filePath); !errors.Is(err, fs.ErrExist) {
		return err
	}
	return n.firstFree(store)
}

// Text is a whole content as a stream. A store in memory keeps it without a copy.
type Text struct {
	strings.Reader
	text   string
	onRead func() // nil, or called after each read
}

// NewText returns the stream of a content.
func NewText(content string) *Text {
	return &Text{Reader: *strings.NewReader(content), text: content}
}

// Observed returns the same content, with a function that is called when a part of it was read.
func (t *Text) Observed(onRead func()) *Text {
	return &Text{Reader: t.Reader, text: t.text, onRead: onRead}
}

// Read implements io.Reader.
func (t *Text) Read(p []byte) (int, error) {
	n, err := t.Reader.Read(p)
	t.observe()
	return n, err
}

// WriteTo implements io.WriterTo.
func (t *Text) WriteTo(w io.Writer) (written int64, err error) {
	for t.Len() > 0 && err == nil {
		var n int
		part := t.text[len(t.text)-t.Len():]
		n, err = io.WriteString(w, part[:min(len(part), writeSize)])
		written += int64(n)
		_, _ = t.Seek(int64(n), io.SeekCurrent)
		t.observe()
	}
	return written, err
}

// writeSize is how many bytes a Text writes at once.
const writeSize = 1 << 20

func (t *Text) observe() {
	if t.onRead != nil {
		t.onRead()
	}
}

// collect reads content to its end, unless it does not fit.
func (m *Memory) collect(ctx context.Context, content io.Reader) (string, error) {
	if t, ok := content.(*Text); ok && t.Len() == len(t.text) {
		return t.text, ctx.Err()
	}
	b := &boundedBuilder{max: m.max}
	if err := copyUntilEOF(ctx, b, content); err != nil {
		return "", err
	}
	return b.String(), nil
}

// Read implements store.Reader.
func (m *Memory) Read(ctx context.Context, req *filesystem.ReadRequest) (_ *filesystem.FileContent, err error) {
	defer describe(&err, "reading", req.FilePath)
	f, err := m.open(ctx, req.FilePath)
	if err != nil {
		return nil, err
	}
	if wantsAll(req) {
		return &filesystem.FileContent{Content: f.content}, nil
	}
	content, err := Lines(strings.NewReader(f.content), req)
	return &filesystem.FileContent{Content: content}, err
}

// ReadRange implements store.RangeReader.
func (m *Memory) ReadRange(ctx context.Context, filePath string, offset, length int64) (content io.ReadCloser, size int64, err error) {
	defer describe(&err, "reading", filePath)
	if offset < 0 {
		return nil, 0, errNegativeOffset(offset)
	}
	f, err := m.open(ctx, filePath)
	if err != nil {
		return nil, 0, err
	}
	content, size = Window(f.content, offset, length)
	return content, size, nil
}

// MarkUsed implements store.Cleaner.
func (m *Memory) MarkUsed(ctx context.Context, filePaths ...string) error {
	return markAll(filePaths, func(filePath string) error {
		_, err := m.open(ctx, filePath)
		return err
	})
}

// DeleteUnused implements store.Cleaner.
func (m *Memory) DeleteUnused(ctx context.Context, dir string, since time.Time) (files int, bytes int64, err error) {
	defer describe(&err, "cleaning", dir)
	stored := strings.Trim(dir, "/") == ""
	err = m.forEachBelow(ctx, dir, func(e *list.Element, f *file) {
		stored = true
		if f.lastUsed.Before(since) {
			m.remove(e)
			files++
			bytes += int64(len(f.content))
		}
	})
	if err == nil && !stored {
		err = ErrNothing
	}
	return files, bytes, err
}

// Stored implements store.Cleaner.
func (m *Memory) Stored(ctx context.Context, dir string) (files int, bytes int64, err error) {
	defer describe(&err, "looking through", dir)
	err = m.forEachBelow(ctx, dir, func(_ *list.Element, f *file) {
		files++
		bytes += int64(len(f.content))
	})
	return files, bytes, err
}

// forEachBelow calls f for each file below a directory. f may remove the file.
func (m *Memory) forEachBelow(ctx context.Context, dir string, f func(*list.Element, *file)) error {
	below, err := DirName(dir)
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return err
	}
	if below != "" {
		below += "/"
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for e := m.order.Front(); e != nil; {
		next := e.Next()
		if each := e.Value.(*file); strings.HasPrefix(each.name, below) {
			f(e, each)
		}
		e = next
	}
	return nil
}

func (m *Memory) name(ctx context.Context, filePath string) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	return Name(filePath)
}

func (m *Memory) open(ctx context.Context, filePath string) (*file, error) {
	name, err := m.name(ctx, filePath)
	if err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	e := m.files[name]
	if e == nil {
		return nil, fs.ErrNotExist
	}
	f := e.Value.(*file)
	f.lastUsed = m.now()
	return f, nil
}

// checkFree returns the name of a path, and fs.ErrExist if it is taken.
func (m *Memory) checkFree(ctx context.Context, filePath string) (string, error) {
	name, err := m.name(ctx, filePath)
	m.mu.Lock()
	defer m.mu.Unlock()
	if err == nil && m.files[name] != nil {
		err = fs.ErrExist
	}
	return name, err
}

// store adds f as the newest file and drops the oldest files if there is no room.
func (m *Memory) store(f *file, replace bool) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	cost := f.size()
	if cost > m.max {
		return errTooLarge(m.max)
	}
	if old := m.files[f.name]; old != nil {
		if !replace {
			return fs.ErrExist
		}
		m.remove(old)
	}
	for m.used+cost > m.max {
		m.remove(m.order.Front())
	}
	f.lastUsed = m.now()
	m.files[f.name] = m.order.PushBack(f)
	m.used += cost
	return nil
}

// remove removes a file. m.mu is held.
func (m *Memory) remove(e *list.Element) {
	f := m.order.Remove(e).(*file)
	delete(m.files, f.name)
	m.used -= f.size()
}

// boundedBuilder collects a stream, and fails as soon as it is too long.
type boundedBuilder struct {
	strings.Builder
	max int64
}

func (b *boundedBuilder) Write(p []byte) (int, error) {
	if int64(b.Len()+len(p)) > b.max {
		return 0, errTooLarge(b.max)
	}
	return b.Builder.Write(p)
}

// String releases the spare memory of a builder that grew far beyond need.
func (b *boundedBuilder) String() string {
	if s := b.Builder.String(); b.Cap()-len(s) > len(s)/8 {
		return strings.Clone(s)
	}
	return b.Builder.String()
}

func errTooLarge(limit int64) error {
	return fmt.Errorf("content is larger than the whole store (%d bytes)", limit)
}

func errNegativeOffset(offset int64) error {
	return fmt.Errorf("negative offset %d: %w", offset, fs.ErrInvalid)
}
