// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package main

// Following files that grow, and opening pages.

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

// tail returns a reader that waits for more data at the end of the file. Standard input is returned as it is.
func tail(ctx context.Context, s streams, common options, name string) (r io.Reader, done func(), err error) {
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

// tailed reads a file that grows. It starts over when the file is rewritten.
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
	t.restart()
	return err
}

// restart resets the position to the beginning of a file. Read then ends a truncated line first.
func (t *tailed) restart() { t.torn, t.at, t.last = len(t.last) > 0, 0, nil }

func (t *tailed) close() {
	if t.file != nil {
		_ = t.file.Close()
	}
}

// Read blocks until the file grows.
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
			t.checkReplaced()
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

// compared is how many of the last bytes are read again to detect a rewritten file.
const compared = 256

// check starts over if the last bytes read are no longer in the file: it was rewritten, and it may be longer
// now.
func (t *tailed) check() {
	previous := make([]byte, len(t.last))
	n, err := t.file.ReadAt(previous, t.at-int64(len(t.last)))
	if n == len(previous) && bytes.Equal(previous, t.last) || err != nil && !errors.Is(err, io.EOF) {
		return
	}
	if _, err := t.file.Seek(0, io.SeekStart); err == nil {
		t.restart()
	}
}

// checkReplaced detects that the name refers to another file, or that the file was truncated.
func (t *tailed) checkReplaced() {
	open, err := t.file.Stat()
	if err != nil {
		return
	}
	current, err := os.Stat(t.name)
	switch {
	case err != nil: // removed, perhaps to be replaced
	case !os.SameFile(open, current):
		t.close()
		t.file = nil
	case current.Size() < t.at:
		if _, err := t.file.Seek(0, io.SeekStart); err == nil {
			t.restart()
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

// waitShortly waits for a program that fails at once. A program that still runs is a browser, which outlives
// this program.
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
