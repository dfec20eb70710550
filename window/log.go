// Copyright einolean authors
// SPDX-License-Identifier: Apache-2.0

package window

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/einolean/einolean/internal/safe"
)

const (
	maxLogWait = time.Second // that a run waits for the log
	maxBacklog = 4 << 20     // bytes that wait to be written
)

// logger writes lines in their order, in a goroutine that lives as long as there are any.
// No lock is held while it writes.
type logger struct {
	writer io.Writer

	mu      sync.Mutex
	isBusy  bool
	isStuck bool // a run has waited in vain for the write under way
	isTorn  bool // what was written last may end inside a line
	backlog
	loss
}

// backlog is what waits to be written.
type backlog struct {
	wait []line
	size int64         // approximately
	done chan struct{} // closed when what waits now was written or lost
}

// loss is what the log lacks.
type loss struct {
	lostCalls  int // calls
	unreported int // of these, those that no line has reported yet
	lossEvents int // counts events of loss: what was logged before is unknown to readers
	err        error
}

// add queues the lines of one call, and returns a function that waits until they are
// written, but not for long.
func (l *logger) add(lines []line) (wait func()) {
	size := int64(0)
	for _, one := range lines {
		size += 1200
		if one.Text != nil {
			size += int64(len(*one.Text))
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.size > 0 && l.size+size > maxBacklog {
		l.lose(1, errors.New("the log writer is too slow"))
		return func() {}
	}
	if l.size == 0 {
		l.done = make(chan struct{})
	}
	l.wait, l.size = append(l.wait, lines...), l.size+size
	if !l.isBusy {
		l.isBusy = true
		go l.drain()
	}
	written, stuck := l.done, l.isStuck
	return func() {
		if stuck {
			return
		}
		late := time.NewTimer(maxLogWait)
		defer late.Stop()
		select {
		case <-written:
		case <-late.C:
			l.mu.Lock()
			l.isStuck = l.isBusy
			l.mu.Unlock()
		}
	}
}

// lose counts calls that are not in the log. The mutex is held.
func (l *logger) lose(calls int, why error) {
	l.lostCalls += calls
	l.unreported += calls
	l.lossEvents++
	l.err = why
}

// lossCount returns how often something was lost.
func (l *logger) lossCount() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.lossEvents
}

func (l *logger) missingError() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lostCalls == 0 {
		return nil
	}
	return fmt.Errorf("window: %d calls are missing in the log: %w", l.lostCalls, l.err)
}

// drain writes until nothing waits.
func (l *logger) drain() {
	for {
		l.mu.Lock()
		if len(l.wait) == 0 {
			l.isBusy, l.isStuck = false, false
			l.mu.Unlock()
			return
		}
		lines, written, torn := l.wait, l.done, l.isTorn
		if l.unreported > 0 {
			lines = append([]line{{Lost: l.unreported}}, lines...)
		}
		l.wait, l.size, l.unreported = nil, 0, 0
		l.mu.Unlock()
		l.write(lines, torn, written)
	}
}

// write writes lines in one Write. A writer that panics or ends its goroutine is one that
// failed.
func (l *logger) write(lines []line, torn bool, written chan struct{}) {
	err := errors.New("its Write ended the goroutine")
	returned := false
	defer func() {
		l.mu.Lock()
		l.isTorn, l.isStuck = err != nil, false
		if err != nil {
			l.lostCalls -= lines[0].Lost // they are counted again
			l.lose(callsIn(lines), err)
		}
		if !returned {
			go l.drain()
		}
		l.mu.Unlock()
		close(written)
	}()
	text := encodeLines(lines, torn)
	err = safe.Call("Log", func() error {
		n, err := l.writer.Write(text)
		if err == nil && n < len(text) {
			err = io.ErrShortWrite
		}
		return err
	})
	returned = true
}

// encodeLines returns lines as text. Lines that cannot be encoded are left out.
func encodeLines(lines []line, torn bool) []byte {
	var b bytes.Buffer
	if torn {
		b.WriteByte('\n')
	}
	to := json.NewEncoder(&b)
	for _, one := range lines {
		if at := b.Len(); to.Encode(one) != nil {
			b.Truncate(at)
		}
	}
	return b.Bytes()
}

func callsIn(lines []line) (n int) {
	for _, one := range lines {
		n += one.Lost
		if one.Call != nil {
			n++
		}
	}
	return n
}
