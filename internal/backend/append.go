// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package backend

// Adding to the end of files, which no other call waits for but those that add to the same file.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

// Appender is a store that can add to the end of a file, or make it, without writing it again.
// Its method has no capital: the one of Eino v0.10 with that name has a type of its own.
type Appender interface {
	append(ctx context.Context, filePath, content string) error
}

// Append adds to the end of a file.
func Append(ctx context.Context, a Appender, filePath, content string) (err error) {
	defer describe(&err, "appending to", filePath)
	return a.append(ctx, filePath, content)
}

var (
	_ Appender = (*Dir)(nil)
	_ Appender = (*Memory)(nil)
)

// append implements [Appender]. Content is copied outside of the store's lock, and so seldom that
// many small pieces take linear time.
func (m *Memory) append(ctx context.Context, filePath, content string) error {
	name, err := m.name(ctx, filePath)
	if err != nil {
		return err
	}
	free, err := m.growing.Take(ctx, name)
	if err != nil {
		return err
	}
	defer free()
	for {
		old := m.find(name)
		longer, err := old.with(name, content, m.max)
		if err != nil || m.swap(old, longer) {
			return err
		}
		// It was written or deleted meanwhile.
	}
}

// with returns a file with more content: f, which may be nil, and its end.
func (f *file) with(name, end string, most int64) (*file, error) {
	longer := &file{name: name, grows: &strings.Builder{}}
	start := ""
	if f != nil {
		start = f.content
	}
	if cost := longer.cost() + int64(len(start)) + int64(len(end)); cost > most {
		return nil, errTooLarge(most)
	}
	if f != nil && f.grows != nil {
		longer.grows = f.grows // what f.content shows of it never changes
	} else {
		longer.grows.WriteString(start)
	}
	longer.grows.WriteString(end)
	longer.content = longer.grows.String()
	return longer, nil
}

func (m *Memory) find(name string) *file {
	m.mu.Lock()
	defer m.mu.Unlock()
	if e := m.files[name]; e != nil {
		return e.Value.(*file)
	}
	return nil
}

// swap puts a file in the place of another, or of none, and reports whether that was still there.
func (m *Memory) swap(old, to *file) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	var is *file
	if e := m.files[to.name]; e != nil {
		is = e.Value.(*file)
	}
	return is == old && m.place(to, true) == nil
}

var (
	// errBusy says that another process adds to the file.
	errBusy = errors.New("another process is writing the file")

	// errReplaced says that the file is not that of its name any more.
	errReplaced = errors.New("the file was replaced or deleted")

	// errLinked says that the file may be one outside of the store as well.
	errLinked = errors.New("the file has another name on this machine")
)

const (
	// longestPause bounds the pause before a file is tried again that another process has.
	longestPause = 50 * time.Millisecond

	// settles is how long a file may be found replaced, or with two names: another process gives it
	// its name and then removes the temporary one.
	settles = 100 * time.Millisecond
)

// append implements [Appender]. Unlike a write, a crash may leave a part of the content.
func (d *Dir) append(ctx context.Context, filePath, content string) error {
	name, err := diskName(ctx, filePath)
	if err != nil {
		return err
	}
	free, err := d.growing.Take(ctx, name)
	if err != nil {
		return err
	}
	defer free()
	began := time.Now()
	for pause := time.Millisecond; ; pause = min(2*pause, longestPause) {
		err := d.grow(name, content)
		passes := errors.Is(err, errLinked) || errors.Is(err, errReplaced)
		if !errors.Is(err, errBusy) && (!passes || time.Since(began) > settles) {
			return err
		}
		select {
		case <-ctx.Done():
			return errors.Join(ctx.Err(), err)
		case <-time.After(pause):
		}
	}
}

// grow adds to a file once it is nobody else's.
func (d *Dir) grow(name, content string) error {
	d.names.RLock()
	defer d.names.RUnlock()
	at, f, err := d.openIn(name, openEnd)
	if err != nil {
		return err
	}
	at.close()
	return errors.Join(writeEnd(f, content), f.Close())
}

// writeEnd adds to an open file all of the content or nothing.
func writeEnd(f *os.File, content string) error {
	if !lockFile(f) { // closing it unlocks it
		return errBusy
	}
	info, err := f.Stat()
	if err != nil {
		return err
	}
	switch links := linksOf(info); {
	case links == 0:
		return errReplaced
	case links > 1:
		return errLinked
	}
	if _, err = io.WriteString(f, content); err != nil {
		if cut := f.Truncate(info.Size()); cut != nil {
			return errors.Join(err, fmt.Errorf("cutting back what was added: %w", cut))
		}
	}
	return err
}
