// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package main

// Files that grow are followed, and pages are opened.

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"runtime"
	"time"
)

// tailEvery is how long to wait for a file to grow.
const tailEvery = 150 * time.Millisecond

// tail returns a reader of the file that waits where the file ends. Standard input ends by
// itself.
func tail(ctx context.Context, s streams, common options, name string) (from io.Reader, done func(), err error) {
	if name == "-" {
		return s.in, func() {}, nil
	}
	t := &tailed{ctx: ctx, name: name}
	switch err := t.open(); {
	case errors.Is(err, fs.ErrNotExist):
		common.note(s, "waiting for %s; end with Ctrl-C", name)
	case err != nil:
		return nil, nil, fail(exitInput, "%s: %w", name, unnamed(err))
	default:
		common.note(s, "following %s; end with Ctrl-C", name)
	}
	return t, t.close, nil
}

// tailed is a file that grows. It starts again where the file is rewritten.
type tailed struct {
	ctx  context.Context
	name string
	file *os.File // nil until it is there
	at   int64
	last []byte // what was read before at
	torn bool   // what was read before may end inside a line
}

func (t *tailed) open() (err error) {
	t.file, err = os.Open(t.name)
	if err != nil {
		t.file = nil
	}
	t.again()
	return err
}

// again starts at the beginning of a file, on a new line.
func (t *tailed) again() { t.torn, t.at, t.last = len(t.last) > 0, 0, nil }

func (t *tailed) close() {
	if t.file != nil {
		_ = t.file.Close()
	}
}

// Read waits for more.
func (t *tailed) Read(p []byte) (int, error) {
	for {
		if t.file != nil {
			t.check()
			if t.torn {
				t.torn = false
				return copy(p, "\n"), nil
			}
			n, err := t.file.Read(p)
			t.at += int64(n)
			t.last = append(t.last, p[:n]...)
			t.last = append([]byte(nil), t.last[max(0, len(t.last)-compared):]...)
			if n > 0 || err != nil && !errors.Is(err, io.EOF) {
				return n, err
			}
			t.anew()
		}
		select {
		case <-t.ctx.Done():
			return 0, t.ctx.Err()
		case <-time.After(tailEvery):
		}
		if t.file == nil {
			if err := t.open(); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return 0, err
			}
		}
	}
}

// compared is how many bytes tell whether a file was rewritten.
const compared = 256

// check starts again if the file no longer has what was read of it: it was rewritten, and
// may be longer now.
func (t *tailed) check() {
	was := make([]byte, len(t.last))
	if n, err := t.file.ReadAt(was, t.at-int64(len(t.last))); n == len(was) && bytes.Equal(was, t.last) || err != nil && !errors.Is(err, io.EOF) {
		return
	}
	if _, err := t.file.Seek(0, io.SeekStart); err == nil {
		t.again()
	}
}

// anew reports whether the name now refers to another file, or to a shorter one.
func (t *tailed) anew() {
	mine, err := t.file.Stat()
	if err != nil {
		return
	}
	now, err := os.Stat(t.name)
	switch {
	case err != nil: // it was taken away: perhaps for another one
	case !os.SameFile(mine, now):
		t.close()
		t.file = nil
	case now.Size() < t.at:
		if _, err := t.file.Seek(0, io.SeekStart); err == nil {
			t.again()
		}
	}
}

// openPage shows a file in the browser: the one that BROWSER names, or the system's.
func openPage(name string) error {
	var tries [][]string
	if browser := os.Getenv("BROWSER"); browser != "" {
		tries = append(tries, []string{browser, name})
	}
	switch runtime.GOOS {
	case "darwin":
		tries = append(tries, []string{"open", name})
	case "windows":
		tries = append(tries, []string{"rundll32", "url.dll,FileProtocolHandler", name})
	default:
		tries = append(tries, []string{"xdg-open", name})
	}
	err := errNoBrowser
	for _, try := range tries {
		path, missing := exec.LookPath(try[0])
		if missing != nil {
			continue
		}
		c := exec.Command(path, try[1:]...) // a browser outlives this program
		if err = c.Start(); err != nil {
			continue
		}
		return waitShortly(c)
	}
	return err
}

// waitShortly waits for a program that says quickly what is wrong; one that goes on is a
// browser at work, which outlives this program.
func waitShortly(c *exec.Cmd) error {
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	select {
	case err := <-ended:
		return err
	case <-time.After(2 * time.Second):
		return nil
	}
}
